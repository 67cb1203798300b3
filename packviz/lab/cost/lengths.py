"""The lengths of a data set: read from what was typed or uploaded, checked, or drawn."""

import re
from collections.abc import Sequence

import torch
from torch import Tensor

from packviz.errors import PackvizError
from packviz.inputs.parsing.lines import is_gap
from packviz.text import quoted, shown
from packviz.validate import integer, is_integer, is_number

__all__ = ["check_lengths", "draw_lengths", "reachable", "read_lengths"]

MAX_LENGTHS = 100_000
MAX_STEPS = 1_000_000  # in one sequence

_TOKEN = re.compile(r"[^\s,;|\[\](){}\"']+")  # everything else separates
_LENGTH = re.compile(r"\+?0*([0-9]{1,12})(?:\.0*)?")
_HEADER = re.compile(r"[^\W\d][^\n,;|]*")


def read_lengths(text: str | bytes) -> Tensor:
    r"""Read lengths as (any number,) int64, from numbers between blanks, commas, semicolons, lines or brackets.

    The first line may be the name of a column, as in a CSV file. Bytes are read as UTF-8. Raises PackvizError, with
    the line, for anything that is not a length: a whole number from 1 to 1,000,000, and at most 100,000 of them.

    >>> read_lengths("length\n5\n3\n12").tolist()
    [5, 3, 12]
    """
    lengths: list[int] = []
    for number, line in enumerate(_lines(text), 1):
        tokens = _TOKEN.findall(line)
        if len(lengths) + len(tokens) > MAX_LENGTHS:
            got, fix = f"more, up to line {number:,}", "give a random part of them"
            raise PackvizError("lengths", expected=f"at most {MAX_LENGTHS:,} lengths", got=got, fix=fix)
        for token in tokens:
            match = _LENGTH.fullmatch(token)
            lengths.append(_checked(int(match[1]) if match else None, f"{quoted(token)} in line {number:,}"))
    if not lengths:
        fix = "type numbers such as 12 7 30, or upload a file with one number a line"
        raise PackvizError("lengths", expected="at least one length", got="no number at all", fix=fix)
    return torch.tensor(lengths, dtype=torch.int64, device="cpu")


def check_lengths(lengths: Tensor | Sequence[int]) -> list[int]:
    """Return lengths (B,) as whole numbers; raises PackvizError for none, too many, and anything that is no length."""
    given = lengths.tolist() if isinstance(lengths, Tensor) else list(lengths)
    if not (isinstance(given, list) and 1 <= len(given) <= MAX_LENGTHS):
        got = f"{len(given):,}" if isinstance(given, list) else "one number"
        expected, fix = f"1 to {MAX_LENGTHS:,} lengths", "give one length for each sequence"
        raise PackvizError("lengths", expected=expected, got=got, fix=fix)
    return [_checked(length, f"{shown(length)} as length {b}") for b, length in enumerate(given, 1)]


def reachable(batch_size: int, steps: int, fill: float) -> bool:
    """Return whether B lengths from 1 to T, the longest T, can fill this share of the grid, to the nearest cell.

    Raises PackvizError for a size below 1 and for a share outside 0.0 to 1.0.
    """
    integer("batch_size", batch_size, 1, fix="choose 1 or more")
    integer("steps", steps, 1, fix="choose 1 or more")
    if not is_number(fill) or not 0 < fill <= 1:
        raise PackvizError("fill", expected="a share above 0.0, up to 1.0", got=shown(fill), fix="choose 0.05 to 1.0")
    return steps + batch_size - 1 <= round(fill * batch_size * steps)


def draw_lengths(batch_size: int, steps: int, fill: float, seed: int = 0) -> Tensor:
    """Return (B,) int64 lengths in random order: the longest is T, and their sum the share of B·T, to the nearest cell.

    All others are spread evenly around their mean. Where the share is too small for one sequence of T, they are 1.
    """
    reachable(batch_size, steps, fill)
    others = batch_size - 1
    wanted = min(max(round(fill * batch_size * steps) - steps, others), others * steps)
    mean = wanted / max(others, 1)
    reach = min(mean - 1, steps - mean) if others > 1 else 0.0
    spread = torch.linspace(mean - reach, mean + reach, others, dtype=torch.float64, device="cpu")
    ends = (spread.cumsum(0) + 0.5).floor().long()  # rounding the running sum keeps the whole sum exact
    lengths = torch.cat((ends.diff(prepend=ends.new_zeros(1)), ends.new_tensor([steps])))
    generator = torch.Generator("cpu").manual_seed(seed)
    return lengths[torch.randperm(batch_size, generator=generator, device="cpu")]


def _checked(length: object, got: str) -> int:
    if is_integer(length, 1, MAX_STEPS):
        return length
    expected = f"whole numbers from 1 to {MAX_STEPS:,}"
    raise PackvizError("lengths", expected=expected, got=got, fix="fix that length, or leave it out")


def _lines(text: str | bytes) -> list[str]:
    """Return the lines, the first one empty where it is the name of a column."""
    if isinstance(text, bytes):
        try:
            text = text.decode("utf-8")
        except UnicodeDecodeError as reason:
            got, fix = f"an invalid byte at position {reason.start + 1:,}", "save the file as plain text or CSV"
            raise PackvizError("lengths", expected="text in UTF-8", got=got, fix=fix) from None
    first, *rest = text.removeprefix("\ufeff").split("\n")
    name = first.strip(" \t\r,;|\"'")
    named = bool(rest) and _HEADER.fullmatch(name) is not None and not is_gap(name)
    return ["" if named else first, *rest]
