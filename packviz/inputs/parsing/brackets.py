"""A list as Python or JSON writes it, read into a tree of its brackets and of what stands in them."""

from __future__ import annotations

import re
from typing import NamedTuple

from packviz.errors import PackvizError
from packviz.inputs.parsing.limits import Limits
from packviz.inputs.parsing.numbers import AS_WORDS, NUMBER
from packviz.text import quoted

__all__ = ["DEPTH", "EXAMPLE", "Atom", "Group", "list_refusal", "position", "read_brackets", "too_deep", "unquoted"]

DEPTH = 3  # a list of sequences of feature vectors
EXAMPLE = "[[1, 2, 3], [4, 5]]"

_CLOSING = {"[": "]", "(": ")"}
_TOKEN = re.compile(
    r"""\s*+(?: ([\[(])
              | (?: ([\])])
                  | ('[^'\\\r\n]*+(?:\\.[^'\\\r\n]*+)*+' | "[^"\\\r\n]*+(?:\\.[^"\\\r\n]*+)*+")
                  | ([^\s\[\](),'"]++)
                )(?:\s*+(,))?
              | ([,'"]) )""",
    re.VERBOSE | re.DOTALL,
)
_VISIBLE = re.compile(r"\S")
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.))", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "/": "/", "\\": "\\", "'": "'", '"': '"'}


class Atom(NamedTuple):
    """Hold one item that is no list: its text (unquoted), and where it stands."""

    text: str
    offset: int
    quoted: bool


class Group(NamedTuple):
    """Hold one list or tuple: its items, where its bracket stands, and which bracket it is."""

    items: list[Atom | Group]
    offset: int
    bracket: str


def read_brackets(text: str, limits: Limits) -> Group:
    """Return the tree of a text that starts with a bracket: at most three brackets deep, commas between items.

    Raises PackvizError, with line and column, where the text is no such list, and as soon as a second level of brackets
    shows more sequences or steps than the limits.
    """
    opened: list[Group] = []
    comma_due = False
    # without its end: a search in spaces that nothing follows would take quadratic time
    for match in _TOKEN.finditer(text.rstrip()):
        opening, closing, string, atom, comma, _ = match.groups()
        if comma_due and not closing:
            raise _no_comma(text, match)
        comma_due = not comma
        if atom:
            opened[-1].items.append(Atom(atom, match.start(4), False))
        elif opening:
            group = Group([], match.start(1), opening)
            if opened:
                opened[-1].items.append(group)
            opened.append(group)
            comma_due = False
            if len(opened) > DEPTH:
                raise too_deep(text, group)
        elif closing:
            group = opened.pop()
            if _CLOSING[group.bracket] != closing:
                raise _wrong_bracket(text, match, group)
            if not opened:
                _check_end(text, match)
                return group
        elif string:
            opened[-1].items.append(Atom(unquoted(string), match.start(3), True))
        else:
            raise _odd(text, match)
        if len(opened) == 2 and (len(opened[0].items) > limits.sequences or len(opened[1].items) > limits.steps):
            _check_limits(opened[0], opened[1], limits)
    raise _unclosed(text, opened[-1])


def list_refusal(text: str, offset: int, expected: str, came: str, mend: str) -> PackvizError:
    """Return the error for what stands at an offset of a list."""
    return PackvizError("text", expected=expected, came=f"{came} at {position(text, offset)}", mend=mend)


def position(text: str, offset: int) -> str:
    """Return where an offset is, as an editor counts: "line 1, column 4"."""
    before = text[:offset].replace("\r\n", "\n").replace("\r", "\n")
    return f"line {before.count(chr(10)) + 1}, column {len(before) - before.rfind(chr(10))}"


def _check_end(text: str, closing: re.Match[str]) -> None:
    after = _VISIBLE.search(text, closing.end())
    if after:
        mend = f"put all sequences into one list, as in {EXAMPLE}, or {AS_WORDS}"
        raise list_refusal(text, after.start(), "nothing after the list", "more text", mend)


def _check_limits(sequences: Group, steps: Group, limits: Limits) -> None:
    limits.check_sequences(len(sequences.items), f"more than {limits.sequences}")
    limits.check_steps(len(steps.items), f"more than {limits.steps} in sequence {len(sequences.items)}")


def _no_comma(text: str, match: re.Match[str]) -> PackvizError:
    part = next(number for number in (1, 3, 4, 6) if match[number])
    mend = "put a comma between items" + ("" if NUMBER.fullmatch(match[part]) else f", or {AS_WORDS}")
    return list_refusal(text, match.start(part), "a comma or a closing bracket", quoted(match[part]), mend)


def _odd(text: str, match: re.Match[str]) -> PackvizError:
    odd, offset = match[6], match.start(6)
    if odd == ",":
        return list_refusal(text, offset, "an item before each comma", "none", "write the item, or remove the comma")
    return list_refusal(text, offset, "a closed string", "one that is not closed", f"add the missing {odd} at its end")


def _wrong_bracket(text: str, match: re.Match[str], group: Group) -> PackvizError:
    expected = f"'{_CLOSING[group.bracket]}' to close the '{group.bracket}' at {position(text, group.offset)}"
    return list_refusal(text, match.start(2), expected, f"'{match[2]}'", "make the brackets match")


def too_deep(text: str, group: Group) -> PackvizError:
    """Return the error for a list that is nested too deeply."""
    expected = f"lists at most {DEPTH} deep (sequences, steps, features)"
    return list_refusal(text, group.offset, expected, "a deeper one", f"take brackets away, as in {EXAMPLE}")


def _unclosed(text: str, group: Group) -> PackvizError:
    closing = _CLOSING[group.bracket]
    return PackvizError(
        "text",
        expected=f"'{closing}' to close the '{group.bracket}' at {position(text, group.offset)}",
        came="the end of the text",
        mend=f"add the missing '{closing}'",
    )


def unquoted(string: str) -> str:
    """Return what a quoted string says; an escape that is none stays as it is typed."""
    if "\\" not in string:
        return string[1:-1]
    said = _ESCAPE.sub(_unescaped, string[1:-1])
    return said.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")  # joins the halves of \ud83d\ude00


def _unescaped(match: re.Match[str]) -> str:
    digits = match[1] or match[2]
    return chr(int(digits, 16)) if digits else _ESCAPED.get(match[3], match[0])
