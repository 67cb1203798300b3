"""A Python or JSON list, read into a tree of its brackets: sequences of numbers, of words, or of feature vectors."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import NamedTuple

from packviz.errors import PackvizError
from packviz.inputs.parsing.lines import split_words
from packviz.inputs.parsing.tokens import AS_WORDS, NUMBER, Parsed, ReadAs, are_numbers, number_refusal
from packviz.text import quoted

DEPTH = 3  # a list of sequences of feature vectors
EXAMPLE = "[[1, 2, 3], [4, 5]]"

_QUOTE_WORDS = "put quotes around every word"
_LIST = re.compile(r"\s*(?:\[|\(\s*\[|\(\s*\(\s*[-+.\d'\"\[(])")
_CLOSING = {"[": "]", "(": ")"}
_TOKEN = re.compile(
    r"""\s*+(?: (?P<opening>[\[(])
              | (?: (?P<closing>[\])])
                  | (?P<string>'[^'\\\r\n]*+(?:\\.[^'\\\r\n]*+)*+' | "[^"\\\r\n]*+(?:\\.[^"\\\r\n]*+)*+")
                  | (?P<atom>[^\s\[\](),'"]++)
                )(?:\s*+(?P<comma>,))?
              | (?P<odd>[,'"]) )""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.))", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "/": "/", "\\": "\\", "'": "'", '"': '"'}


class Atom(NamedTuple):
    """Hold one item that is not a list: its text (unquoted), and where it stands."""

    text: str
    offset: int
    quoted: bool


class Group(NamedTuple):
    """Hold one list or tuple: its items, where its bracket stands, and which bracket it is."""

    items: list[Atom | Group]
    offset: int
    bracket: str

    @property
    def atoms(self) -> list[Atom]:
        """Return the items that are not lists."""
        return [item for item in self.items if isinstance(item, Atom)]

    @property
    def groups(self) -> list[Group]:
        """Return the items that are lists."""
        return [item for item in self.items if isinstance(item, Group)]


def is_list(text: str) -> bool:
    """Tell whether a text is meant as a list: it starts with a bracket (a round one only if a second follows)."""
    return _LIST.match(text) is not None


def read_list(text: str, kind: ReadAs) -> Parsed:
    """Read a list of sequences: each a list of numbers, of strings, or of lists of numbers; or a list of lines.

    Raises PackvizError, with the place, where the list is broken or its items are not all of one kind.
    """
    return read_tree(text, _read_brackets(text), kind)


def read_tree(text: str, root: Group, kind: ReadAs) -> Parsed:
    """Read the tree of a text's brackets as `read_list` does."""
    if not root.items:
        raise list_refusal(text, root.offset, "a list of sequences", "an empty list", f"write one such as {EXAMPLE}")
    sequences = root.groups
    if not sequences:
        return _list_of_lines(text, root.atoms, kind)
    if len(sequences) < len(root.items):
        raise _mixture(text, root, "sequences, each in brackets of its own")
    if any(sequence.groups for sequence in sequences):
        if kind == "words":
            raise list_refusal(text, root.offset, "sequences of words", "feature vectors", "read the text as numbers")
        return _vectors(text, sequences)
    rows = [sequence.atoms for sequence in sequences]
    first = next(chain.from_iterable(rows), None)
    if kind == "words" or (kind == "auto" and first is not None and first.quoted):
        _check_words(text, chain.from_iterable(rows), bare_numbers=kind == "words")
        return Parsed("words", _texts(rows))
    _check_numbers(text, [*chain.from_iterable(rows)])
    return Parsed("numbers", _texts(rows))


def list_refusal(text: str, offset: int, expected: str, got: str, fix: str) -> PackvizError:
    """Return the error for what stands at an offset of a list."""
    return PackvizError("text", expected=expected, got=f"{got} at {_position(text, offset)}", fix=fix)


def check_depth(text: str, group: Group, depth: int) -> None:
    """Raise PackvizError for a list, itself so many brackets deep, in which lists are nested too deeply."""
    if depth > DEPTH:
        expected = f"lists at most {DEPTH} deep (sequences, steps, features)"
        raise list_refusal(text, group.offset, expected, "a deeper one", f"take brackets away, as in {EXAMPLE}")
    for inner in group.groups:
        check_depth(text, inner, depth + 1)


def unquoted(string: str) -> str:
    """Return what a quoted string says; an escape that is none stays as it is typed."""
    if "\\" not in string:
        return string[1:-1]
    said = _ESCAPE.sub(_unescaped, string[1:-1])
    return said.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")  # joins the halves of \ud83d\ude00


def _unescaped(match: re.Match[str]) -> str:
    digits = match[1] or match[2]
    return chr(int(digits, 16)) if digits else _ESCAPED.get(match[3], match[0])


def _position(text: str, offset: int) -> str:
    """Return where an offset is, as an editor counts: "line 1, column 4"."""
    before = text[:offset]
    return f"line {before.count(chr(10)) + 1}, column {len(before) - before.rfind(chr(10))}"


def _read_brackets(text: str) -> Group:
    """Return the tree of a text that starts with a bracket: at most three brackets deep, commas between items."""
    opened: list[Group] = []
    comma_due = False
    # without its end: a search in spaces that nothing follows would take quadratic time
    for match in _TOKEN.finditer(text.rstrip()):
        part = next(name for name in ("opening", "closing", "string", "atom", "odd") if match[name])
        found, offset = match[part], match.start(part)
        if comma_due and part != "closing":
            fix = "put a comma between items" + ("" if NUMBER.fullmatch(found) else f", or {AS_WORDS}")
            raise list_refusal(text, offset, "a comma or a closing bracket", quoted(found), fix)
        comma_due = part != "opening" and not match["comma"]
        if part == "opening":
            group = Group([], offset, found)
            if opened:
                opened[-1].items.append(group)
            opened.append(group)
            check_depth(text, group, len(opened))
        elif part == "closing":
            group = opened.pop()
            if _CLOSING[group.bracket] != found:
                raise list_refusal(text, offset, _to_close(text, group), f"'{found}'", "make the brackets match")
            if not opened:
                rest = text[match.end() :].lstrip()
                if not rest:
                    return group
                fix = f"put all sequences into one list, as in {EXAMPLE}, or {AS_WORDS}"
                raise list_refusal(text, len(text) - len(rest), "nothing after the list", "more text", fix)
        elif part == "odd":
            raise _odd(text, found, offset)
        else:
            string = part == "string"
            opened[-1].items.append(Atom(unquoted(found) if string else found, offset, string))
    fix = f"add the missing '{_CLOSING[opened[-1].bracket]}'"
    raise PackvizError("text", expected=_to_close(text, opened[-1]), got="the end of the text", fix=fix)


def _to_close(text: str, group: Group) -> str:
    return f"'{_CLOSING[group.bracket]}' to close the '{group.bracket}' at {_position(text, group.offset)}"


def _odd(text: str, odd: str, offset: int) -> PackvizError:
    if odd == ",":
        return list_refusal(text, offset, "an item before each comma", "none", "write the item, or remove the comma")
    return list_refusal(text, offset, "a closed string", "one that is not closed", f"add the missing {odd} at its end")


def _list_of_lines(text: str, atoms: list[Atom], kind: ReadAs) -> Parsed:
    """Read a flat list of strings as one sequence of words each; refuse one of numbers, with its repair."""
    if all(atom.quoted for atom in atoms) and kind != "numbers":
        return Parsed("words", tuple(tuple(split_words(atom.text)) for atom in atoms))
    _check_numbers(text, atoms)
    flat = f"[{', '.join(atom.text for atom in atoms)}]"
    repair = f"[{flat}]" if len(flat) <= 40 else "[[1, 2, 3]], not [1, 2, 3]"
    fix = f"put a second pair of brackets around it: {repair}"
    raise PackvizError("text", expected="a list of sequences, each a list", got="a flat list", fix=fix)


def _vectors(text: str, sequences: list[Group]) -> Parsed:
    """Read sequences of feature vectors, all of the same length."""
    for sequence in sequences:
        if sequence.atoms:
            raise _mixture(text, sequence, "steps that are all numbers or all feature vectors")
    batch = [[step.atoms for step in sequence.groups] for sequence in sequences]
    _check_numbers(text, [atom for steps in batch for step in steps for atom in step])
    features = next(len(steps[0]) for steps in batch if steps)
    for b, steps in enumerate(batch, 1):
        for t, step in enumerate(steps, 1):
            if len(step) != features or features == 0:
                same = f"{_features(features)} in every step, as in the first" if features else "at least one feature"
                got = f"{_features(len(step))} in sequence {b}, step {t}"
                fix = "give every step the same number of features"
                raise PackvizError("text", expected=same, got=got, fix=fix)
    return Parsed("vectors", _texts(chain.from_iterable(steps) for steps in batch), features=features)


def _features(count: int) -> str:
    return f"{count or 'no'} feature{'' if count == 1 else 's'}"


def _texts(rows: Iterable[Iterable[Atom]]) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(atom.text for atom in row) for row in rows)


def _check_numbers(text: str, atoms: Sequence[Atom]) -> None:
    if are_numbers(atom.text for atom in atoms) and not any(atom.quoted for atom in atoms):
        return
    odd = next(atom for atom in atoms if atom.quoted or not are_numbers([atom.text]))
    if odd.quoted:
        fix = "remove the quotes" if NUMBER.fullmatch(odd.text) else "write a number there"
        raise list_refusal(text, odd.offset, "numbers only", f"the string {quoted(odd.text)}", fix)
    raise number_refusal(odd.text, f"at {_position(text, odd.offset)}", f"{_QUOTE_WORDS}, or {AS_WORDS}")


def _check_words(text: str, atoms: Iterable[Atom], *, bare_numbers: bool) -> None:
    for atom in atoms:
        if not atom.quoted and not (bare_numbers and NUMBER.fullmatch(atom.text)):
            raise list_refusal(text, atom.offset, "strings only", quoted(atom.text), _QUOTE_WORDS)
        if not atom.text:
            raise list_refusal(text, atom.offset, "words", "an empty string", "write a word there, or remove it")


def _mixture(text: str, group: Group, expected: str) -> PackvizError:
    odd = group.atoms[0]
    return list_refusal(text, odd.offset, expected, quoted(odd.text), f"bring all to the same depth, as in {EXAMPLE}")
