"""Typed text, one sequence a line: numbers, or words."""

from __future__ import annotations

import re
from collections import Counter
from itertools import chain

from packviz.errors import PackvizError
from packviz.parsing.limits import Limits
from packviz.parsing.numbers import AS_WORDS, NUMBER, are_numbers, is_gap, number_refusal
from packviz.parsing.record import Parsed, ReadAs

__all__ = ["read_lines", "split_words"]

# What parts tokens: the space, the tab, the ends of lines, and the spaces of other scripts and of copied web pages.
# Control characters and separators that no keyboard types belong to the token, where they are shown.
_SPACES = " \t\r\n\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000"
_WORD = re.compile(f"[^{_SPACES}]+")

Rows = list[list[str]]


def read_lines(text: str, kind: ReadAs, limits: Limits) -> Parsed:
    """Read one sequence a line: as `kind` says, or as numbers where at least half of the tokens are numbers.

    Lines end with \\n, \\r\\n or \\r; blank lines at both ends are left out, one in between is a sequence of length 0.
    Raises PackvizError for a token among numbers that is none, with its line and place, and for more than the limits.
    """
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    filled = [number for number, line in enumerate(lines, 1) if _WORD.search(line)]
    first_line, lines = filled[0], lines[filled[0] - 1 : filled[-1]]
    limits.check_sequences(len(lines))
    words = [split_words(line) for line in lines]
    limits.check(list(map(len, words)), first_line)
    if kind != "words":
        rows = [_split_numbers(line) for line in lines] if "," in text else words
        if kind == "numbers" or _look_like_numbers(rows):
            limits.check(list(map(len, rows)), first_line)
            _check_numbers(rows, first_line)
            return Parsed("numbers", tuple(map(tuple, rows)), first_line=first_line)
    return Parsed("words", tuple(map(tuple, words)), first_line=first_line)


def split_words(line: str) -> list[str]:
    """Return the words of a line: whatever stands between spaces, punctuation and all."""
    return _WORD.findall(line)


def _split_numbers(line: str) -> list[str]:
    """Return what stands between spaces and commas; "" where nothing stands between two commas, or before the first.

    A comma at the end of a line is let pass, as Python does.
    """
    if "," not in line:
        return split_words(line)
    pieces = [piece for part in line.split(",") for piece in split_words(part) or [""]]
    return pieces[:-1] if pieces[-1] == "" and len(pieces) > 1 else pieces


def _look_like_numbers(rows: Rows) -> bool:
    counts = Counter(chain.from_iterable(rows))
    numbers = sum(count for token, count in counts.items() if NUMBER.fullmatch(token))
    gaps = sum(count for token, count in counts.items() if is_gap(token))
    return numbers > 0 and 2 * (numbers + gaps) >= counts.total() - counts[""]


def _check_numbers(rows: Rows, first_line: int) -> None:
    if are_numbers(chain.from_iterable(rows)):
        return
    for line, row in enumerate(rows, first_line):
        for position, token in enumerate(row, 1):
            if not are_numbers([token]):
                raise _refusal(token, f"in line {line} (token {position})")


def _refusal(token: str, place: str) -> PackvizError:
    if token:
        return number_refusal(token, place, AS_WORDS)
    return PackvizError(
        "text",
        expected="a number between every two commas",
        came=f"an empty place {place}",
        mend="write a number there, or remove the comma",
    )
