"""What a visitor gave to the doctor: as a picture with the cells of the findings, and as text for the overview."""

import json
from collections.abc import Sequence
from itertools import accumulate, pairwise
from math import isfinite

import numpy as np
import torch
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence

from packviz.charts import Panel
from packviz.doctor import Finding
from packviz.inputs.limits import LIMITS
from packviz.text import sequence_label
from ui.views.given import Given, Lengths

_ROWS, _COLUMNS = 12, 16  # of x that are drawn
_MAX_TYPED = 2_000  # numbers that are passed to the overview as text


def packed_panel(x: PackedSequence) -> Panel | None:
    """Return a PackedSequence of single numbers, a row for each time step; None if its fields do not allow that."""
    data, sizes = x.data, x.batch_sizes
    if data.dim() == 0 or data.numel() != len(data) or not 0 < data.numel() <= _ROWS * _COLUMNS:
        return None
    if sizes.dim() != 1 or sizes.is_floating_point() or not len(sizes) or int(sizes.min()) < 1:
        return None
    ends = [min(end, len(data)) for end in accumulate(sizes.tolist())]
    cut = [end - start for start, end in pairwise([0, *ends]) if end > start]  # the sizes, limited to the existing rows
    steps = [step.flatten().tolist() for step in torch.split(data[: sum(cut)], cut)]
    letters = _letters(x.sorted_indices, max(cut))
    owners = tuple(tuple(letters[: len(step)]) for step in steps)
    texts = tuple(tuple(_shown(value) for value in step) for step in steps)
    return Panel("data, a row for each time step", texts, owners, rows=tuple(f"t={t}" for t in range(len(texts))))


def _letters(sorted_indices: Tensor | None, count: int) -> list[int]:
    """Return the sequence at each position in a time step; in the given order if there are no valid indices."""
    if sorted_indices is None or sorted_indices.dim() != 1 or sorted_indices.is_floating_point():
        return list(range(count))
    known = [index if 0 <= index < count else 0 for index in sorted_indices.tolist()]
    return [*known, *range(len(known), count)]


def padded_panel(given: Given, findings: Sequence[Finding]) -> Panel | None:
    """Return x (B, T), or (B, T, F) with a name per step, and up to two steps that the lengths claim but x lacks."""
    x = given.x
    if not isinstance(x, Tensor) or x.dim() not in (2, 3) or x.numel() == 0:
        return None
    grid = x if given.batch_first else x.transpose(0, 1)
    B, T = min(_ROWS, grid.size(0)), min(_COLUMNS, grid.size(1))
    ends = [*(as_integers(given.lengths) or []), *[T] * B][:B]
    wide = [max(T, min(end, T + 2)) if grid.size(1) == T else T for end in ends]
    one = grid.dim() == 2 or grid.size(2) == 1

    def text(b: int, t: int) -> str:
        if t >= T:
            return "?"
        return _shown(grid[b, t].item()) if one else f"{sequence_label(b)}{t}"

    texts = tuple(tuple(text(b, t) for t in range(wide[b])) for b in range(B))
    owners = tuple(tuple(b if t < min(ends[b], T) else None for t in range(wide[b])) for b in range(B))
    places = {place for each in findings for place in zip(each.sequences, each.timesteps, strict=False)}
    wrong = frozenset((b, t) for b, t in places if b < B and t < wide[b])
    title = "x, as torch reads it" if grid.shape[:2] == (B, T) else f"x: {B} of {len(grid)} sequences, {T} steps"
    rows, columns = tuple(map(sequence_label, range(B))), tuple(map(str, range(max(wide))))
    return Panel(title, texts, owners, (), wrong, rows, columns)


def _shown(value: float) -> str:
    """Return a number short enough for a cell."""
    return str(value) if isinstance(value, bool) else f"{value:.3g}".replace("e+0", "e").replace("-", "−")


def as_integers(lengths: Lengths) -> list[int] | None:
    """Return the lengths as integers, as torch reads them; None if there are none, or if they are not 1-D."""
    if lengths is None or (isinstance(lengths, Tensor) and (lengths.dim() != 1 or lengths.device.type == "meta")):
        return None
    numbers = [float(length) for length in lengths]
    return [int(number) for number in numbers] if all(map(isfinite, numbers)) else None


def as_text(given: Given) -> str | None:
    """Return the sequences as one would type them, cut to their lengths; None if they are not a valid batch."""
    x, lengths = given.x, as_integers(given.lengths)
    if not isinstance(x, Tensor) or x.dim() not in (2, 3) or lengths is None or not bool(x.isfinite().all()):
        return None
    grid = x if given.batch_first else x.transpose(0, 1)
    fits = len(lengths) == len(grid) <= LIMITS.sequences and grid.size(1) <= LIMITS.steps and x.numel() <= _MAX_TYPED
    if not fits or not all(1 <= n <= grid.size(1) for n in lengths):
        return None
    rows = [row[:n].tolist() for row, n in zip(grid, lengths, strict=True)]
    return json.dumps(rows) if x.dim() == 3 else "\n".join(" ".join(map(_typed, row)) for row in rows)


def _typed(value: float) -> str:
    """Return a number as one would type it: the shortest text that is read as the same float32."""
    if isinstance(value, int) or abs(value) > torch.finfo(torch.float32).max:
        return str(value)  # the overview refuses a number that is too large for float32, and says so
    return str(float(str(np.float32(value)))).removesuffix(".0")
