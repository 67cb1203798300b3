"""Typed text, one sequence per line, of numbers or words; and the result of parsing, the tokens of each sequence."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Literal

from packviz.errors import PackvizError
from packviz.text import joined, quoted

Kind = Literal["words", "numbers", "vectors"]
ReadAs = Literal["auto", "words", "numbers"]
STEPS: dict[Kind, str] = {"words": "word", "numbers": "number", "vectors": "step"}  # what a sequence consists of

AS_WORDS = "read the text as words"

# Possessive quantifiers: no backtracking, so long tokens take linear time.
NUMBER = re.compile(r"[+-]?(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][+-]?[0-9]++)?")
_GAP = re.compile(r"[+-]?(?:nan|inf|infinity)|none|null|n/?a", re.IGNORECASE)
_FLOAT32_END = 2.0**128 - 2.0**103  # from here on, a number rounds to infinity in float32
# What separates tokens: space, tab, line ends, and the spaces of other scripts and of copied web pages.
# Control characters and separators that no keyboard types belong to the token and are shown in it.
_SPACES = " \t\r\n\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000"
_WORD = re.compile(f"[^{_SPACES}]+")
_SEPARATOR = re.compile("[,;]")
_PARTED = re.compile(f";[{_SPACES}]*+[^{_SPACES}]")  # a semicolon that is not at the end of its line
_SEPARATORS = {  # between the numbers of a line: commas without spaces, semicolons, only spaces
    "commas": re.compile(f"[^{_SPACES},;],[^{_SPACES},;]"),
    "semicolons": _PARTED,
    "spaces": re.compile(f"[^{_SPACES},;][{_SPACES}]++[^,;]"),
}
_DECIMAL = re.compile(f"(?<![^{_SPACES};])([+-]?[0-9]++),([0-9]++)(?![^{_SPACES};])")

Rows = list[list[str]]


@dataclass(frozen=True)
class Parsed:
    """The tokens of a text as typed."""

    kind: Kind
    rows: tuple[tuple[str, ...], ...]  # one per sequence; vectors: the features of all its steps, one after the other
    features: int = 1  # vectors: F, so that a row has len * F tokens; else 1
    lines: Sequence[int] | None = None  # the line of each sequence, if each has its own line; else None
    notes: tuple[str, ...] = ()  # remarks on how the text was read

    @property
    def lengths(self) -> list[int]:
        """Return the number of steps of each sequence."""
        return [len(row) // self.features for row in self.rows]

    def place(self, b: int) -> str:
        """Return where sequence b is, counted from 1: "line 3" or "sequence 2"."""
        return f"sequence {b + 1}" if self.lines is None else f"line {self.lines[b]}"


def are_numbers(tokens: Iterable[str]) -> bool:
    """Return whether every token is a number that is finite in float32."""
    different = set(tokens)
    return all(map(NUMBER.fullmatch, different)) and max(map(abs, map(float, different)), default=0.0) < _FLOAT32_END


def is_gap(token: str) -> bool:
    """Return whether a token stands for a missing or infinite number: nan, inf, None, null."""
    return _GAP.fullmatch(token) is not None


def number_refusal(token: str, place: str, words_help: str) -> PackvizError:
    """Return the error for a token that is not a number, or not finite in float32.

    place: in words, where it is. words_help: how it could be read as a word.
    """
    if NUMBER.fullmatch(token):
        expected, fix = "numbers that are finite in float32 (below 3.4e38)", "write a smaller number there"
    elif is_gap(token):
        expected, fix = "finite numbers", "write a number there, or leave it out"
    else:
        expected, fix = "a number", f"write a number there, or {words_help}"
    return PackvizError("text", expected=expected, got=f"{quoted(token)} {place}", fix=fix)


def read_lines(text: str, kind: ReadAs) -> Parsed:
    """Read one sequence per line: according to `kind`, or as numbers if no token is a word.

    Blank lines are skipped; a note names those between sequences, and another the first word among numbers. Raises
    PackvizError for a word if the text must be read as numbers, for numbers that are missing or not finite, and for an
    ambiguous line of numbers.
    """
    numbered = {number: line for number, line in enumerate(text.split("\n"), 1) if _WORD.search(line)}
    places, lines, notes = tuple(numbered), list(numbered.values()), tuple[str, ...]()
    if blank := sorted(set(range(places[0], places[-1])) - set(places)):
        named = f"Lines {joined(list(map(str, blank)))}" if len(blank) <= 5 else f"{len(blank)} lines"
        many = f"{named} are blank and were ignored."
        notes = (f"Line {blank[0]} is blank and was ignored." if len(blank) == 1 else many,)
    rows = words = [split_words(line) for line in lines]
    if kind != "words" and _SEPARATOR.search(text):
        rows = [_split_numbers(line) for line in lines]
    tokens = list(filter(None, chain.from_iterable(rows)))
    word = next((token for token in tokens if not NUMBER.fullmatch(token) and not is_gap(token)), None)
    numbers = sum(map(bool, map(NUMBER.fullmatch, tokens)))
    if kind == "numbers" or (kind == "auto" and numbers and word is None):
        _check_numbers(rows, places)
        _check_separators(lines, places)
        return Parsed("numbers", tuple(map(tuple, rows)), lines=places, notes=(*notes, *_separator_notes(lines)))
    if kind == "auto" and word is not None and 2 * numbers >= len(tokens):
        notes = (*notes, f"{quoted(word)} is not a number, so all of it is read as words.")
    return Parsed("words", tuple(map(tuple, words)), lines=places, notes=notes)


def split_words(line: str) -> list[str]:
    """Split a line at spaces; punctuation stays with the words."""
    return _WORD.findall(line)


def _split_numbers(line: str) -> list[str]:
    """Split a line at spaces, commas and semicolons; "" between two separators with nothing between them.

    A trailing separator is allowed, as in Python.
    """
    if not _SEPARATOR.search(line):
        return split_words(line)
    pieces = [piece for part in _SEPARATOR.split(line) for piece in split_words(part) or [""]]
    return pieces[:-1] if pieces[-1] == "" and len(pieces) > 1 else pieces


def _check_separators(lines: list[str], places: Sequence[int]) -> None:
    """Raise PackvizError for a line of numbers with two kinds of separators, which is ambiguous."""
    for line, number in zip(lines, places, strict=True):
        found = [name for name, pattern in _SEPARATORS.items() if pattern.search(line)]
        if len(found) > 1:
            fix = "start a new line for each sequence, and put only spaces between its numbers"
            if decimal := _DECIMAL.search(line):
                whole, part = decimal.groups()
                fix = f"write {whole}.{part} for one decimal number or {whole} {part} for two numbers"
            got = f"{quoted(line.strip())} in line {number}, with {found[0]} and {found[1]}"
            raise PackvizError("text", expected="one kind of separator between numbers", got=got, fix=fix)


def _separator_notes(lines: list[str]) -> tuple[str, ...]:
    """Explain how separators were read that could also be decimal points, or ends of sequences."""
    if any(map(_PARTED.search, lines)):
        return ("Semicolons separate numbers here. Start a new line for a new sequence.",)
    decimals = [_DECIMAL.fullmatch(line.strip()) for line in lines]
    if any(decimals) and all(found or "," not in line for found, line in zip(decimals, lines, strict=True)):
        return ("Commas separate numbers here. Write 1.5 for a decimal number.",)
    return ()


def _check_numbers(rows: Rows, places: Sequence[int]) -> None:
    if are_numbers(chain.from_iterable(rows)):
        return
    for line, row in zip(places, rows, strict=True):
        for position, token in enumerate(row, 1):
            place = f"in line {line} (token {position})"
            if not token:
                expected, fix = "a number between every two separators", "write a number there, or remove the separator"
                raise PackvizError("text", expected=expected, got=f"nothing {place}", fix=fix)
            if not are_numbers([token]):
                raise number_refusal(token, place, AS_WORDS)
