"""read_lengths(): the lengths of a data set, as somebody typed or uploaded them."""

from __future__ import annotations

import re

import torch
from torch import Tensor

from packviz.cost.setup import MOST_LENGTHS, MOST_STEPS
from packviz.errors import PackvizError
from packviz.parsing.numbers import is_gap
from packviz.visible import quoted

__all__ = ["read_lengths"]

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
        if len(lengths) + len(tokens) > MOST_LENGTHS:
            came, mend = f"more, up to line {number:,}", "give a random part of them"
            raise PackvizError("lengths", expected=f"at most {MOST_LENGTHS:,} lengths", came=came, mend=mend)
        lengths.extend(_length(token, number) for token in tokens)
    if not lengths:
        mend = "type numbers such as 12 7 30, or upload a file with one number a line"
        raise PackvizError("lengths", expected="at least one length", came="no number at all", mend=mend)
    return torch.tensor(lengths, dtype=torch.int64, device="cpu")


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
    if match is None or not 1 <= length <= MOST_STEPS:
        raise PackvizError(
            "lengths",
            expected=f"whole numbers from 1 to {MOST_STEPS:,}",
            came=f"{quoted(token)} in line {line:,}",
            mend="mend that length, or leave it out",
        )
    return length
