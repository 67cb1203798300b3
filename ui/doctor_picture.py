"""The picture of what is given to the doctor, and its sequences as a text for the overview."""

import json
from collections.abc import Sequence
from itertools import accumulate, pairwise
from math import isfinite

import torch
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence

from packviz.charts import Panel
from packviz.doctor import Finding
from packviz.inputs.batch import sequence_label
from ui.given import Given, Lengths
from ui.runs import MAX_SEQUENCES, MAX_STEPS

WIDE = 8  # cells that have room beside the findings
_ROWS, _COLUMNS = 12, 16  # of x that are drawn
_MAX_TYPED = 2_000  # numbers that the overview is given as a text


def panel(given: Given, findings: Sequence[Finding]) -> Panel | None:
    """Return the picture of x, with every cell marked that a finding is about; None where it has none."""
    return _packed(given.x) if isinstance(given.x, PackedSequence) else _padded(given, findings)


def _packed(x: PackedSequence) -> Panel | None:
    """Return a PackedSequence of one number a row, a row for each time step; None where its fields cannot be that."""
    data, sizes = x.data, x.batch_sizes
    if data.dim() == 0 or data.numel() != len(data) or not 0 < data.numel() <= _ROWS * _COLUMNS:
        return None
    if sizes.dim() != 1 or sizes.is_floating_point() or not len(sizes) or int(sizes.min()) < 1:
        return None
    cut = _cut(sizes.tolist(), len(data))
    steps = [step.flatten().tolist() for step in torch.split(data[: sum(cut)], cut)]
    letters = _letters(x.sorted_indices, max(cut))
    owners = tuple(tuple(letters[: len(step)]) for step in steps)
    texts = tuple(tuple(_shown(value) for value in step) for step in steps)
    return Panel("data, a row for each time step", texts, owners, rows=tuple(f"t={t}" for t in range(len(texts))))


def _cut(sizes: list[int], rows: int) -> list[int]:
    """Return the sizes as far as there are rows."""
    ends = [min(end, rows) for end in accumulate(sizes)]
    return [end - start for start, end in pairwise([0, *ends]) if end > start]


def _letters(sorted_indices: Tensor | None, count: int) -> list[int]:
    """Return the sequence of each place in a time step; as they come where the indices are none."""
    if sorted_indices is None or sorted_indices.dim() != 1 or sorted_indices.is_floating_point():
        return list(range(count))
    known = [index if 0 <= index < count else 0 for index in sorted_indices.tolist()]
    return [*known, *range(len(known), count)]


def _padded(given: Given, findings: Sequence[Finding]) -> Panel | None:
    """Return x (B, T), or (B, T, F) with a name for each step; and up to two steps that lengths claim and x lacks."""
    x = given.x
    if not isinstance(x, Tensor) or x.dim() not in (2, 3) or x.numel() == 0:
        return None
    grid = x if given.batch_first else x.transpose(0, 1)
    B, T = min(_ROWS, grid.size(0)), min(_COLUMNS, grid.size(1))
    ends = [*(as_integers(given.lengths) or []), *[T] * B][:B]
    wide = [max(T, min(end, T + 2)) if grid.size(1) == T else T for end in ends]
    one = grid.dim() == 2 or grid.size(2) == 1
    texts = tuple(
        tuple(
            "?" if t >= T else _shown(grid[b, t].item()) if one else f"{sequence_label(b)}{t}" for t in range(wide[b])
        )
        for b in range(B)
    )
    owners = tuple(tuple(b if t < min(ends[b], T) else None for t in range(wide[b])) for b in range(B))
    places = {place for each in findings for place in zip(each.sequences, each.timesteps, strict=False)}
    wrong = frozenset((b, t) for b, t in places if b < B and t < wide[b])
    title = "x, as torch reads it" if grid.shape[:2] == (B, T) else f"x: {B} of {len(grid)} sequences, {T} steps"
    return Panel(
        title, texts, owners, (), wrong, tuple(map(sequence_label, range(B))), tuple(map(str, range(max(wide))))
    )


def _shown(value: float) -> str:
    """Return a number in as few letters as a cell has room for."""
    return str(value) if isinstance(value, bool) else f"{value:.3g}".replace("e+0", "e").replace("-", "−")


def as_integers(lengths: Lengths) -> list[int] | None:
    """Return the lengths as integers, as torch reads them; None where they are none, or not in one row."""
    if lengths is None or (isinstance(lengths, Tensor) and (lengths.dim() != 1 or lengths.device.type == "meta")):
        return None
    numbers = [float(length) for length in lengths]
    return [int(number) for number in numbers] if all(map(isfinite, numbers)) else None


def as_text(given: Given) -> str | None:
    """Return the sequences as one would type them, those that the lengths leave; None where they are no batch."""
    x, lengths = given.x, as_integers(given.lengths)
    if not isinstance(x, Tensor) or x.dim() not in (2, 3) or lengths is None or not bool(x.isfinite().all()):
        return None
    grid = x if given.batch_first else x.transpose(0, 1)
    fits = len(lengths) == len(grid) <= MAX_SEQUENCES and grid.size(1) <= MAX_STEPS and x.numel() <= _MAX_TYPED
    if not fits or not all(1 <= n <= grid.size(1) for n in lengths):
        return None
    rows = [row[:n].tolist() for row, n in zip(grid, lengths, strict=True)]
    return json.dumps(rows) if x.dim() == 3 else "\n".join(" ".join(f"{value:g}" for value in row) for row in rows)
