"""Experiments of the entries on what is done with the unpacked output: attention, a mask, pooling."""

from __future__ import annotations

import torch
from torch import Tensor

from packviz.batch import sequence_label
from packviz.charts import Panel
from packviz.questions.laboratory import Laboratory
from packviz.questions.model import Outcome
from packviz.questions.pictures import grid, numbers, picture

__all__ = ["attention_to_pads", "pooled_filler", "short_output"]

_NARROW = """\
packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
pad_packed_sequence(gru(packed)[0], batch_first=True)[0].shape
"""


def attention_to_pads(laboratory: Laboratory) -> Outcome:
    """Weigh the outputs of each sequence without a mask and with one; ask how much weight the pads get."""
    free, masked = laboratory.broken.value.detach(), laboratory.fixed.value.detach()
    valid = laboratory.fixed["valid"]
    short = (~valid).any(1).nonzero().flatten().tolist() or list(range(len(valid)))
    leaks, kept = (weights.masked_fill(valid, 0).sum(1) for weights in (free, masked))
    b = max(short, key=lambda b: float(leaks[b]))
    return Outcome(
        {f"for sequence {sequence_label(b)}": float(leaks[b]) == 0 for b in short},
        f"A score of 0 is a score like any other: softmax makes exp(0) = 1 of it. Without a mask "
        f"{_percent(leaks[b])} of the weight of {sequence_label(b)} lies on its pads, with -inf at the pads "
        f"{_percent(kept[b])}. Mask the scores before `softmax`.",
        picture(
            _weights("without a mask", free, (~valid & (free > 0)).nonzero()),
            _weights("with -inf at the pads", masked, (~valid & (masked > 0)).nonzero()),
        ),
    )


def short_output(laboratory: Laboratory) -> Outcome:
    """Unpack with and without total_length, where the longest sequence fills the input and where it does not."""
    broken, fixed = laboratory.broken, laboratory.fixed
    own = laboratory.run(_NARROW)
    shape, T = broken["output"].shape, broken["valid"].size(1)
    lengths = fixed["lengths"].tolist()
    return Outcome(
        {
            "where the longest sequence fills the input": own.value[1] == own["x"].size(1),
            "where the input is wider": shape[1] == T,
            "with total_length": fixed["output"].size(1) == T,
        },
        f"The input is {T} columns wide, the output {shape[1]}: `pad_packed_sequence` knows only the packed rows, and "
        f"the longest sequence has {max(lengths)} steps. With `total_length=x.size(1)` the output is {fixed.value[1]} "
        "columns wide.",
        picture(
            grid("mask", fixed["valid"].int(), lengths, wrong=_beyond(shape, T)),
            grid("output", broken["output"][:, :, 1].detach().round(decimals=2), lengths),
            grid("with total_length", fixed["output"][:, :, 1].detach().round(decimals=2), lengths),
        ),
    )


def pooled_filler(laboratory: Laboratory) -> Outcome:
    """Take mean and max over time with the filler and without it."""
    naive, right = laboratory.broken.value.detach(), laboratory.fixed.value.detach()
    H = right.size(1) // 2
    off = ~naive.isclose(right, atol=1e-6)
    apart = (naive - right).abs()
    columns = ("mean", *[""] * (H - 1), "max", *[""] * (H - 1))
    rows = [sequence_label(b) for b in range(len(right))]
    wrong = [(int(b), int(h)) for b, h in off.nonzero()]
    return Outcome(
        {"for the mean": not bool(off[:, :H].any()), "for the max": not bool(off[:, H:].any())},
        f"Zeros count, too. With them the mean is up to {apart[:, :H].max():.2f} off, and the max up to "
        f"{apart[:, H:].max():.2f}: a zero beats every negative number. Divide the sum by the length, and put -inf "
        "into the pads before the max.",
        picture(
            numbers("over time, filler and all", naive, rows=rows, columns=columns, wrong=wrong),
            numbers("over the valid steps", right, rows=rows, columns=columns),
        ),
    )


def _weights(title: str, weights: Tensor, wrong: Tensor) -> Panel:
    rows = [sequence_label(b) for b in range(len(weights))]
    return numbers(title, weights, rows=rows, wrong=[(int(b), int(t)) for b, t in wrong])


def _beyond(shape: torch.Size, T: int) -> list[tuple[int, int]]:
    return [(b, t) for b in range(shape[0]) for t in range(shape[1], T)]


def _percent(share: Tensor) -> str:
    return f"{100 * float(share):.1f} %"
