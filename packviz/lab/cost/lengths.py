"""The lengths of a data set: read from what was typed or uploaded, and checked."""

from __future__ import annotations

import re
from collections.abc import Sequence

import torch
from torch import Tensor

from packviz.errors import PackvizError
from packviz.inputs.parsing.numbers import is_gap
from packviz.text import quoted, shown
from packviz.validate import is_integer

__all__ = ["check_lengths", "read_lengths"]

MAX_LENGTHS = 100_000
MAX_STEPS = 1_000_000  # in one sequence

_TOKEN = re.compile(r"[^\s,;|\[\](){}\"']+")  # whatever stands between two of these, they separate
_LENGTH = re.compile(r"\+?0*([0-9]{1,12})(?:\.0*)?")
_HEADER = re.compile(r"[^\W\d][^\n,;|]*")


def read_lengths(text: str | bytes) -> Tensor:
    r"""Read lengths as (any number,) int64, from numbers between blanks, commas, semicolons, lines or brackets.

    The first line may be the name of a column, as in a CSV file. Bytes are read as UTF-8. Raises PackvizError, with
    the line, for what is no length: each is a whole number from 1 to 1,000,000, and there are at most 100,000.

    >>> read_lengths("length\n5\n3\n12").tolist()
    [5, 3, 12]
    """
    lengths: list[int] = []
    for number, line in enumerate(_lines(text), 1):
        tokens = _TOKEN.findall(line)
        if len(lengths) + len(tokens) > MAX_LENGTHS:
            came, mend = f"more, up to line {number:,}", "give a random part of them"
            raise PackvizError("lengths", expected=f"at most {MAX_LENGTHS:,} lengths", came=came, mend=mend)
        lengths.extend(_length(token, number) for token in tokens)
    if not lengths:
        mend = "type numbers such as 12 7 30, or upload a file with one number a line"
        raise PackvizError("lengths", expected="at least one length", came="no number at all", mend=mend)
    return torch.tensor(lengths, dtype=torch.int64, device="cpu")


def check_lengths(lengths: Tensor | Sequence[int]) -> list[int]:
    """Return lengths (B,) as whole numbers; raises PackvizError for none, too many, and what is no length."""
    given = lengths.tolist() if isinstance(lengths, Tensor) else list(lengths)
    if not (isinstance(given, list) and 1 <= len(given) <= MAX_LENGTHS):
        came = f"{len(given):,}" if isinstance(given, list) else "one number"
        expected, mend = f"1 to {MAX_LENGTHS:,} lengths", "give one length for each sequence"
        raise PackvizError("lengths", expected=expected, came=came, mend=mend)
    for b, length in enumerate(given):
        if not is_integer(length, 1, MAX_STEPS):
            expected, came = f"whole numbers from 1 to {MAX_STEPS:,}", f"{shown(length)} as length {b + 1}"
            raise PackvizError("lengths", expected=expected, came=came, mend="mend that length, or leave it out")
    return given


def _lines(text: str | bytes) -> list[str]:
    """Return the lines, the first one empty where it is the name of a column."""
    if isinstance(text, bytes):
        try:
            text = text.decode("utf-8")
        except UnicodeDecodeError as reason:
            came, mend = f"a byte that is none, at place {reason.start + 1:,}", "save the file as plain text or CSV"
            raise PackvizError("lengths", expected="text in UTF-8", came=came, mend=mend) from None
    first, *rest = text.removeprefix("\ufeff").split("\n")
    name = first.strip(" \t\r,;|\"'")
    named = bool(rest) and _HEADER.fullmatch(name) is not None and not is_gap(name)
    return ["" if named else first, *rest]


def _length(token: str, line: int) -> int:
    match = _LENGTH.fullmatch(token)
    length = int(match[1]) if match else 0
    if match is None or not 1 <= length <= MAX_STEPS:
        raise PackvizError(
            "lengths",
            expected=f"whole numbers from 1 to {MAX_STEPS:,}",
            came=f"{quoted(token)} in line {line:,}",
            mend="mend that length, or leave it out",
        )
    return length
