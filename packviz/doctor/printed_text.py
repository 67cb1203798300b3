"""Text that torch, numpy, Python or JSON print for numbers, taken apart and read as literals; nothing is run."""

from __future__ import annotations

import ast
import math
import re

from packviz.errors import PackvizError
from packviz.text import quoted

__all__ = ["Nested", "arguments", "literal", "printed_tensor"]

MAX_CHARACTERS = 2_000_000
MAX_BRACKETS = 8  # within one another

Nested = int | float | bool | list["Nested"]

_WORDS = {"nan": "None", "inf": "1e999", "infinity": "1e999", "true": "True", "false": "False"}
_WORD = re.compile(r"(?<![\w.])(nan|inf|infinity|true|false)(?!\w)", re.IGNORECASE)
_ALLOWED = re.compile(r"(?:[\s\d\[\](),.+-]|(?<=[\d.])[eE]|True|False|None)*+")
_PRINTED = re.compile(r"(?:Parameter containing:\s*)?(?:torch\.|np\.|numpy\.)?(?:tensor|array)\s*\(", re.IGNORECASE)
_GAP = re.compile(r"(?<=[\d.\])ef])\s+(?=[\[(+\-\d.TFN])")
_OPEN, _CLOSE = "([{<", ")]}>"


def printed_tensor(text: str) -> tuple[str, dict[str, str]] | None:
    """Return the list inside a printed tensor, and its further arguments ("dtype", ...), or None for other text."""
    match = _PRINTED.match(text.strip())
    if match is None:
        return None
    inner = text.strip()[match.end() :]
    if not inner.rstrip().endswith(")"):
        raise _refusal("a printed tensor with its closing bracket", "one without", "copy the whole of it")
    parts = arguments(inner.rstrip()[:-1])
    named = dict(part.split("=", 1) for part in parts[1:] if "=" in part)
    return parts[0], {name.strip(): value.strip() for name, value in named.items()}


def arguments(text: str) -> list[str]:
    """Return the parts between the commas that stand in no bracket.

    >>> arguments("[1, 2], dtype=torch.int64, size=(2, 3)")
    ['[1, 2]', 'dtype=torch.int64', 'size=(2, 3)']
    """
    parts, depth, start = [], 0, 0
    for match in re.finditer(r"[\[({<\])}>,]", text):
        if match[0] in _OPEN:
            depth += 1
        elif match[0] in _CLOSE:
            depth -= 1
        elif depth == 0:
            parts.append(text[start : match.start()])
            start = match.end()
    return [part.strip() for part in (*parts, text[start:])]


def literal(text: str) -> Nested:
    """Return the number, or the list of lists of numbers, that a text writes; commas may be missing throughout.

    Raises PackvizError for anything else, for shortened text ("..."), and for more than MAX_CHARACTERS.
    """
    if len(text) > MAX_CHARACTERS:
        came = f"{len(text):,} characters"
        raise _refusal(f"at most {MAX_CHARACTERS:,} characters", came, "upload it as a file: .npy, .npz, .pt")
    if "..." in text or "…" in text:
        mend = "print all of it: torch.set_printoptions(threshold=float('inf')), or upload it as a file"
        raise _refusal("every number", "a shortened text, with '...' in it", mend)
    plain = _WORD.sub(lambda match: _WORDS[match[0].lower()], text.strip())
    if not plain or not _ALLOWED.fullmatch(plain):
        came = quoted(text.strip()) if plain else "nothing"
        raise _refusal("numbers in brackets", came, "write a list such as [[1, 2, 3], [4, 5, 0]]")
    if "," not in plain:
        plain = _GAP.sub(", ", plain)
    _check_depth(plain)
    try:
        return _numbers(ast.literal_eval(plain))
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError) as error:
        said = (str(error).splitlines() or ["too deep"])[0]  # a MemoryError of the parser says nothing
        came = f"{quoted(text.strip())} ({said})"
        raise _refusal("numbers in brackets", came, "close every bracket and set a comma after every item") from None


def _check_depth(text: str) -> None:
    depth = 0
    for match in re.finditer(r"[\[\]()]", text):
        depth += 1 if match[0] in "[(" else -1
        if depth > MAX_BRACKETS:
            came = f"more than {MAX_BRACKETS} brackets within one another"
            raise _refusal("at most three dimensions", came, "write sequences, time steps, and features")


def _numbers(value: object) -> Nested:
    if value is None:
        return math.nan
    if isinstance(value, bool | int | float):
        return value
    if isinstance(value, list | tuple):
        return [_numbers(item) for item in value]
    raise ValueError(f"{value!r} is no number")


def _refusal(expected: str, came: str, mend: str) -> PackvizError:
    return PackvizError("text", expected=expected, came=came, mend=mend)
