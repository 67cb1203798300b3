"""Which one do I want? Ways to read one vector for each sequence out of a run, and what each of them holds."""

from dataclasses import dataclass
from math import nan
from typing import NamedTuple

import torch
from torch import Tensor

from packviz.compute.record import Trace
from packviz.compute.verify import distance
from packviz.facts.unit_arithmetic import rounded
from packviz.facts.words import sentence
from packviz.inputs.tensors import valid_mask

__all__ = ["WAYS", "Readout", "Spot", "codes", "readouts"]

WAYS = ("forward", "backward")


class Spot(NamedTuple):
    """Name one place of the unpacked grid: sequence b, column t, and half 0 (forward) or 1 (backward) of its row."""

    b: int
    t: int
    half: int


@dataclass(frozen=True, eq=False)
class Readout:
    """Hold one way to read one vector for each sequence."""

    key: str  # a short name
    title: str  # how it is written
    code: str  # the same in PyTorch, on the names out, lens and h_n: it makes state
    reason: str  # why it is right or wrong, in one or two sentences with this batch's letters and numbers
    caution: str  # what no readout can mend, where padding was packed among the tokens; else ""
    values: Tensor | None = None  # (B, width), the state that this code made; None where it is not available
    # the sequences whose row is not the state after their last step, in every direction; for mean and max: those that
    # filler entered; and all of which a pad was packed
    wrong: tuple[int, ...] = ()
    halves: tuple[str, ...] = ()  # the directions that the width is made of
    # for each sequence: the places of the unpacked grid where these numbers stand
    cells: tuple[tuple[Spot, ...], ...] = ()
    # for each sequence and half: how many steps of the top layer this half has taken; 0 for filler
    steps: tuple[tuple[int, ...], ...] = ()
    # for each sequence and half: how many packed rows of the sequence can have changed it; with two directions and
    # several layers that is more than its steps, for the layer below read both ways
    seen: tuple[tuple[int, ...], ...] = ()

    @property
    def available(self) -> bool:
        """Return whether there is anything to read."""
        return self.values is not None

    @property
    def right(self) -> bool:
        """Return whether every row is right."""
        return self.available and not self.wrong


def codes(*, batch_first: bool) -> tuple[str, str]:
    """Return the lines that read the last column and the last valid step of the unpacked output, `out`."""
    if batch_first:
        return "out[:, -1]", "out[torch.arange(len(lens)), lens - 1]"
    return "out[-1]", "out[lens - 1, torch.arange(len(lens))]"


def readouts(trace: Trace) -> tuple[Readout, ...]:
    """Return six ways to read one vector for each sequence, and what each of them holds in this run.

    Their keys: last_column, last_valid, h_n, h_n_both, mean, max. Raises PackvizError where torch refuses the lengths.
    """
    run = _Run(trace)
    column, valid = codes(batch_first=trace.padded.batch_first)
    return (
        _state(run, "last_column", column, column),
        _state(run, "last_valid", "out at lens - 1", valid),
        _state(run, "h_n", "h_n[-1]", "h_n[-1]"),
        _state(run, "h_n_both", "cat(h_n[-2], h_n[-1])", "torch.cat((h_n[-2], h_n[-1]), 1)"),
        _pooled(run, "mean", "0).sum({}) / lens[:, None]"),
        _pooled(run, "max", 'float("-inf")).amax({})'),
    )


class _Run:
    """Hold what the readouts ask of a trace.

    L, D      how many layers and directions
    lengths   B of them
    grid      (B, T, D*H), the unpacked output; width: T; dim: the axis of time in the output itself
    short     the sequences that are shorter than the grid is wide; whole: the others; longer: those of several steps
    padded    the sequences of which pads were packed
    """

    def __init__(self, trace: Trace) -> None:
        grid, dim = trace.unpacked.output, int(trace.padded.batch_first)
        self.trace, self.L, self.D, self.dim = trace, len(trace.layers), len(trace.layers[-1]), dim
        self.lengths: list[int] = trace.padded.lengths.tolist()
        self.grid = grid if dim else grid.transpose(0, 1)
        self.width = grid.size(dim)
        self.short = [b for b, length in enumerate(self.lengths) if length < self.width]
        self.whole = [b for b, length in enumerate(self.lengths) if length == self.width]
        self.longer = [b for b, length in enumerate(self.lengths) if length > 1]
        self.padded = set(trace.packed.sequence[trace.packed_is_pad].tolist())

    def reason(self, key: str, **known: object) -> str:
        """Return why a readout is right or wrong."""
        everything = "all that was packed, pads included" if self.padded else "the whole sequence"
        return sentence(
            f"readout.{key}",
            run=self,
            everything=everything,
            last="last packed row" if self.padded else "last step",
            filler=f"filler ({self.trace.padding_value:g})",
            **known,
        )

    def read(self, code: str, grid: Tensor, h_n: Tensor | None = None) -> Tensor:
        """Return the state that the code makes of a grid (B, T, D*H) and h_n: what is shown is what was run."""
        names = {"torch": torch, "out": grid if self.dim else grid.transpose(0, 1)}
        names |= {"lens": self.trace.unpacked.lengths, "h_n": self.trace.h_n if h_n is None else h_n}
        with torch.device("cpu"):
            exec(code, names)  # our own lines, none of a user's
        state = names["state"]
        assert isinstance(state, Tensor)
        return state


def _state(run: _Run, key: str, title: str, code: str) -> Readout:
    """Judge a readout of one state for each sequence: by the steps taken, and against the record's last_valid."""
    reason = run.reason(key, code=code, one_step=sentence("readout.one_step", run=run))
    code, caution = f"state = {code}", _caution(run.trace)
    if key == "h_n_both" and run.D == 1:
        return Readout(key, title, code, reason, caution)
    values, wanted, cells = run.read(code, run.grid), run.trace.unpacked.last_valid, _cells(run, code)
    steps = tuple(tuple(_steps(run.lengths[spot.b], spot) for spot in spots) for spots in cells)
    wrong = [
        b
        for b, length in enumerate(run.lengths)
        if b in run.padded or steps[b] != (length,) * run.D or distance(values[b], wanted[b]) != 0.0
    ]
    seen = steps
    if run.D == 2 and run.L > 1:
        seen = tuple(tuple(run.lengths[b] * (step > 0) for step in row) for b, row in enumerate(steps))
    halves = tuple(WAYS[spot.half] for spot in cells[0])
    return Readout(key, title, code, reason, caution, values, tuple(wrong), halves, cells, steps, seen)


def _cells(run: _Run, code: str) -> tuple[tuple[Spot, ...], ...]:
    """Find where the numbers stand that a code reads: a grid that numbers its own cells is read by the same code."""
    B, T, D, P = len(run.lengths), run.width, run.D, run.grid.size(2) // run.D
    number = torch.arange(B * T * D, device="cpu").view(B, T, D)
    rows, ends = torch.arange(B, device="cpu"), run.trace.padded.lengths - 1
    final = torch.stack([number[rows, ends, 0], number[:, 0, -1]][:D])  # (D, B), as in h_n
    read = run.read(code, number.repeat_interleave(P, 2), final.unsqueeze(2).expand(-1, -1, P))
    return tuple(tuple(Spot(n // D // T, n // D % T, n % D) for n in row) for row in read[:, ::P].tolist())


def _steps(length: int, spot: Spot) -> int:
    """Return how many steps a half has taken where it stands; 0 for filler."""
    if spot.t >= length:
        return 0
    return length - spot.t if spot.half else spot.t + 1


def _pooled(run: _Run, key: str, code: str) -> Readout:
    """Read all valid steps; whether filler enters is tried out: other filler must not change anything."""
    columns = "torch.arange(out.size(1)) < lens[:, None]" if run.dim else "torch.arange(out.size(0))[:, None] < lens"
    code = f"pad = ~({columns})\nstate = out.masked_fill(pad[:, :, None], {code.format(run.dim)}"
    filler = ~valid_mask(run.trace.unpacked.lengths, run.width)
    values, other = run.read(code, run.grid), run.read(code, run.grid.masked_fill(filler[:, :, None], nan))
    wrong = tuple(b for b in range(len(values)) if b in run.padded or distance(values[b], other[b]) != 0.0)
    cells = tuple(tuple(Spot(b, t, half) for t in range(n) for half in range(run.D)) for b, n in enumerate(run.lengths))
    every, numbers = tuple((n,) * run.D for n in run.lengths), values.numel()
    off = rounded(distance(run.grid.mean(1)[run.short], values[run.short])) if run.short else ""
    more = int((run.grid.amax(1) > values).sum())
    naive = f"out.{'mean' if key == 'mean' else 'amax'}({run.dim})"
    reason = run.reason(key, naive=naive, off=off, wrong=more, numbers=numbers)
    title, caution, halves = f"{key} over valid steps", _caution(run.trace), WAYS[: run.D]
    return Readout(key, title, code, reason, caution, values, wrong, halves, cells, every, every)


def _caution(trace: Trace) -> str:
    spoilt = trace.packed.sequence[trace.packed_is_pad].tolist()
    known = {"count": len(spoilt), "rows": len(trace.output), "spoilt": sorted(set(spoilt))}
    return sentence("readout.caution", **known) if spoilt else ""
