"""What padding and packing cost as counts, without a clock; the lengths of a data set, and ways to batch it."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import torch
from torch import Generator, Tensor

from packviz.compute.record import Refusal, Trace
from packviz.errors import PackvizError
from packviz.inputs.module import directions
from packviz.inputs.parsing.lines import is_gap
from packviz.text import Brief, quoted, shown
from packviz.validate import integer, is_integer, is_number

__all__ = ["Amount", "Batching", "Counts", "counts_of", "draw_lengths", "read_lengths", "ways"]

POOL = 10  # batches in a bucket, within which sequences are sorted
MAX_LENGTHS = 100_000
MAX_STEPS = 1_000_000  # in one sequence

_TOKEN = re.compile(r"[^\s,;|\[\](){}\"']+")  # everything else separates
_LENGTH = re.compile(r"\+?0*([0-9]{1,12})(?:\.0*)?")
_HEADER = re.compile(r"[^\W\d][^\n,;|]*")


@dataclass(frozen=True)
class Amount:
    """One count on both sides."""

    padded: int
    packed: int


@dataclass(frozen=True)
class Counts:
    """What a batch costs as counts, padded and packed."""

    updates: Amount  # cell updates in all layers and directions: B·T·L·D and N·L·D
    steps: Amount  # sequential steps in each layer and direction: the width of the grid, and the longest length
    inputs: Amount  # bytes of the padded (B, T, F) and of the packed data (N, F)
    indices: Amount  # bytes of the int64 tensors beside the input: lengths; batch_sizes and, if sorted, the two orders

    @property
    def spared(self) -> int:
        """Return the cell updates that packing saves."""
        return self.updates.padded - self.updates.packed

    @property
    def both_inputs(self) -> int:
        """Return the bytes while packing, which copies: the padded and the packed input exist at once."""
        return self.inputs.padded + self.inputs.packed + self.indices.padded + self.indices.packed


def counts_of(trace: Trace | Refusal) -> Counts:
    """Count what the batch of a trace costs in its own module; the grid may be wider than its longest sequence."""
    module, padded, D = trace.module, trace.padded, directions(trace.module)
    orders = 0 if isinstance(trace, Trace) and trace.sorted.sorted_indices is None else 2 * len(padded.mask)
    (B, T), N, longest = padded.mask.shape, int(padded.lengths.sum()), int(padded.lengths.max())

    def both(factor: int) -> Amount:
        return Amount(B * T * factor, N * factor)

    return Counts(
        updates=both(module.num_layers * D),
        steps=Amount(T, longest),
        inputs=both(padded.values.size(2) * padded.values.itemsize),
        indices=Amount(B * torch.int64.itemsize, (longest + orders) * torch.int64.itemsize),
    )


def read_lengths(text: str | bytes) -> Tensor:
    r"""Read lengths as (any number,) int64, from numbers separated by spaces, commas, semicolons, lines or brackets.

    The first line may be a column name, as in a CSV file. Bytes are read as UTF-8. Raises PackvizError, with the line,
    for anything that is not an integer from 1 to 1,000,000, and for more than 100,000 lengths.

    >>> read_lengths("length\n5\n3\n12").tolist()
    [5, 3, 12]
    """
    tokens = [(token, number) for number, line in enumerate(_lines(text), 1) for token in _TOKEN.findall(line)]
    lengths = [int(match[1]) if (match := _LENGTH.fullmatch(token)) else None for token, _ in tokens]
    return _checked(lengths, [f"{quoted(token)} in line {number:,}" for token, number in tokens])


def check_lengths(lengths: Tensor | Sequence[int]) -> Tensor:
    """Return lengths (B,) int64; raises PackvizError for none, too many, or invalid ones."""
    given = lengths.tolist() if isinstance(lengths, Tensor) else lengths
    given = list(given) if isinstance(given, Iterable) else []  # a number is not a list of lengths
    return _checked(given, [f"lengths[{b}] = {shown(length)}" for b, length in enumerate(given)])


def _checked(lengths: Sequence[object], places: Sequence[str]) -> Tensor:
    """Return lengths as int64; places: how an error describes each."""
    if not 1 <= len(lengths) <= MAX_LENGTHS:
        fix = "give one number, such as 12, for each sequence; of a large data set, take a random sample"
        got = f"{len(lengths):,}" if lengths else "none"
        raise PackvizError("lengths", expected=f"1 to {MAX_LENGTHS:,} lengths", got=got, fix=fix)
    for length, place in zip(lengths, places, strict=True):
        if not is_integer(length, 1, MAX_STEPS):
            expected, fix = f"integers from 1 to {MAX_STEPS:,}", "correct that length, or leave it out"
            raise PackvizError("lengths", expected=expected, got=place, fix=fix)
    return torch.tensor(lengths, dtype=torch.int64, device="cpu")


def reachable(batch_size: int, steps: int, fill: float) -> bool:
    """Return whether B lengths from 1 to T, the longest T, can fill this share of the grid, to the nearest cell.

    Raises PackvizError for a size below 1, and for a share that is not above 0.0 and at most 1.0.
    """
    batch_size, steps = _size("batch_size", batch_size), _size("steps", steps)
    if not is_number(fill) or not 0 < fill <= 1:
        raise PackvizError("fill", expected="a fraction above 0, at most 1", got=shown(fill), fix="choose 0.05 to 1.0")
    return steps + batch_size - 1 <= round(fill * batch_size * steps)


def _size(name: str, size: object) -> int:
    return integer(name, size, 1, fix="choose 1 or more")


def draw_lengths(batch_size: int, steps: int, fill: float, seed: int = 0) -> Tensor:
    """Return (B,) int64 lengths in random order: the longest is T, and their sum is `fill` of B·T, to the nearest cell.

    All others are spread evenly around their mean. They are 1 if the share is too small.
    """
    batch_size, steps = _size("batch_size", batch_size), _size("steps", steps)
    reachable(batch_size, steps, fill)
    others = batch_size - 1
    wanted = min(max(round(fill * batch_size * steps) - steps, others), others * steps)
    mean = wanted / max(others, 1)
    reach = min(mean - 1, steps - mean) if others > 1 else 0.0
    spread = torch.linspace(mean - reach, mean + reach, others, dtype=torch.float64, device="cpu")
    ends = (spread.cumsum(0) + 0.5).floor().long()  # rounding the running sum keeps the total exact
    lengths = torch.cat((ends.diff(prepend=ends.new_zeros(1)), ends.new_tensor([steps])))
    generator = torch.Generator("cpu").manual_seed(seed)
    return lengths[torch.randperm(batch_size, generator=generator, device="cpu")]


def _lines(text: str | bytes) -> list[str]:
    """Return the lines, the first one empty if it is a column name."""
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


@dataclass(frozen=True, eq=False, repr=False)
class Batching(Brief):
    """How a data set is cut into batches."""

    name: str  # "random", "sorted", "buckets" or "token budget"
    lengths: Tensor  # (any number,) int64, of the whole data set
    batches: tuple[Tensor, ...]  # indices into lengths, (B,) int64 for each batch; each index once

    @property
    def cells(self) -> tuple[int, ...]:
        """Return B·T of each batch, padded to its own longest sequence."""
        return tuple(len(batch) * int(self.lengths[batch].max()) for batch in self.batches)

    @property
    def share(self) -> float:
        """Return the share of all cells that is padding: 0.0 to 1.0."""
        return (sum(self.cells) - int(self.lengths.sum())) / sum(self.cells)


def ways(lengths: Tensor | Sequence[int], batch_size: int = 32, seed: int = 0) -> tuple[Batching, ...]:
    """Cut a data set into batches in four ways; the last batch of each may be smaller, as in a DataLoader.

    random        shuffled, then cut
    sorted        sorted by length, then cut
    buckets       shuffled and cut into buckets of ten batches; each bucket is sorted, then cut: most of the shuffle's
                  randomness remains
    token budget  sorted; each batch takes sequences while B·T stays within the cells of `batch_size` sequences of mean
                  length, or within the longest length if that is more: many short sequences, or few long ones

    Except for `random`, the batches are shuffled afterwards. Raises PackvizError for lengths and sizes below 1.
    """
    known = check_lengths(lengths)
    batch_size = _size("batch_size", batch_size)
    generator = torch.Generator("cpu").manual_seed(seed)
    shuffled, by_length = _shuffled(len(known), generator), known.argsort(stable=True)
    pools = torch.split(shuffled, POOL * batch_size)
    budgeted = [0]  # the sizes of the batches that fit into the budget
    budget = max(int(known.max()), round(batch_size * int(known.sum()) / len(known)))
    for length in known[by_length].tolist():
        if (budgeted[-1] + 1) * length > budget:
            budgeted.append(0)
        budgeted[-1] += 1
    cuts = {
        "sorted": torch.split(by_length, batch_size),
        "buckets": torch.split(torch.cat([pool[known[pool].argsort(stable=True)] for pool in pools]), batch_size),
        "token budget": torch.split(by_length, budgeted),
    }
    in_random_order = ((name, [cut[i] for i in _shuffled(len(cut), generator)]) for name, cut in cuts.items())
    every = [("random", torch.split(shuffled, batch_size)), *in_random_order]
    return tuple(Batching(name, known, tuple(cut)) for name, cut in every)


def _shuffled(count: int, generator: Generator) -> Tensor:
    return torch.randperm(count, generator=generator, device="cpu")
