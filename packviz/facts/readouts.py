"""Which one do I want? Ways to read one vector for each sequence out of a run, and what each of them holds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import nan
from typing import NamedTuple

import torch
from torch import Tensor

from packviz.compute.record import Trace
from packviz.compute.verify import distance
from packviz.facts.unit_arithmetic import rounded
from packviz.text import counted, letters

__all__ = ["WAYS", "Readout", "Spot", "codes", "readouts"]

WAYS = ("forward", "backward")


class Spot(NamedTuple):
    """Name one place of the unpacked grid: sequence b, column t, and half 0 (forward) or 1 (backward) of its row."""

    b: int
    t: int
    half: int


@dataclass(frozen=True, eq=False)
class Readout:
    """Hold one way to read one vector for each sequence.

    key, title  a short name, and how it is written
    code        the same in PyTorch, on the names out, lens and h_n: it makes state
    reason      why it is right or wrong, in one or two sentences with this batch's letters and numbers
    values      (B, width), the state that this code made; None where it is not available
    wrong       the sequences whose row is not the state after their last step, in every direction; for mean and max:
                those that filler entered; and all of which a pad was packed
    halves      the directions that the width is made of
    cells       for each sequence: the places of the unpacked grid where these numbers stand
    steps       for each sequence and half: how many steps of the top layer this half has taken; 0 for filler
    seen        for each sequence and half: how many packed rows of the sequence can have changed it; with two
                directions and several layers that is more than its steps, for the layer below read both ways
    caution     what no readout can mend, where padding was packed among the tokens; else ""
    """

    key: str
    title: str
    code: str
    reason: str
    values: Tensor | None = None
    wrong: tuple[int, ...] = ()
    halves: tuple[str, ...] = ()
    cells: tuple[tuple[Spot, ...], ...] = ()
    steps: tuple[tuple[int, ...], ...] = ()
    seen: tuple[tuple[int, ...], ...] = ()
    caution: str = ""

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
    run, caution = _Run(trace), _caution(trace)
    column, valid = codes(batch_first=trace.padded.batch_first)
    made = (
        _state(run, "last_column", column, column, _last_column(run, column)),
        _state(run, "last_valid", "out at lens - 1", valid, _last_valid(run)),
        _state(run, "h_n", "h_n[-1]", "h_n[-1]", _h_n(run)),
        _state(run, "h_n_both", "cat(h_n[-2], h_n[-1])", "torch.cat((h_n[-2], h_n[-1]), 1)", _both(run)),
        _pooled(run, "mean", "0).sum({}) / lens[:, None]"),
        _pooled(run, "max", 'float("-inf")).amax({})'),
    )
    return tuple(replace(readout, caution=caution) for readout in made)


class _Run:
    """Hold what the readouts ask of a trace: L, D, the lengths, the unpacked grid (B, T, D*H), and its axis of time."""

    def __init__(self, trace: Trace) -> None:
        grid, dim = trace.unpacked.output, int(trace.padded.batch_first)
        self.trace, self.L, self.D, self.dim = trace, len(trace.layers), len(trace.layers[-1]), dim
        self.lengths: list[int] = trace.padded.lengths.tolist()
        self.grid = grid if dim else grid.transpose(0, 1)
        self.width = grid.size(dim)
        self.short = [b for b, length in enumerate(self.lengths) if length < self.width]
        self.filler = f"filler ({trace.padding_value:g})"
        self.padded = set(
            trace.packed.sequence[trace.packed_is_pad].tolist()
        )  # the sequences of which pads were packed
        self.everything = "all that was packed, pads included" if self.padded else "the whole sequence"
        self.last = "last packed row" if self.padded else "last step"

    @property
    def one_step(self) -> str:
        """What the backward half has done at the last valid step: with several layers it has seen more than it read."""
        if self.L > 1:
            return "has taken one step only, the first of its way back"
        return f"has read one {'packed row' if self.padded else 'token'} only"

    def read(self, code: str, grid: Tensor, h_n: Tensor | None = None) -> Tensor:
        """Return the state that the code makes of a grid (B, T, D*H) and h_n: what is shown is what was run."""
        names = {"torch": torch, "out": grid if self.dim else grid.transpose(0, 1)}
        names |= {"lens": self.trace.unpacked.lengths, "h_n": self.trace.h_n if h_n is None else h_n}
        with torch.device("cpu"):
            exec(code, names)  # our own lines, none of a user's
        state = names["state"]
        assert isinstance(state, Tensor)
        return state


def _last_column(run: _Run, code: str) -> str:
    whole, said = [b for b, length in enumerate(run.lengths) if length == run.width], []
    if run.short:
        end = "ends" if len(run.short) == 1 else "end"
        said.append(f"{letters(run.short)} {end} earlier: there {code} is {run.filler}.")
    if whole and run.D == 2 and run.width > 1:
        said.append(f"For {letters(whole)} the backward half {run.one_step}.")
    alike = f"Every sequence is {run.width} long, as wide as the grid: the last column is its last step."
    return " ".join(said) or alike


def _last_valid(run: _Run) -> str:
    longer = [b for b, length in enumerate(run.lengths) if length > 1]
    if run.D == 1:
        return f"lens - 1 is the column of each sequence's own {run.last}."
    if longer:
        return f"The forward half is complete. For {letters(longer)} the backward half {run.one_step}."
    return "Every sequence is one step long, and both directions have taken it."


def _h_n(run: _Run) -> str:
    if run.D == 2:
        return f"It is the backward half alone. It has read {run.everything}; the forward half, h_n[-2], is missing."
    top = " of the top layer" if run.L > 1 else ""
    return f"torch returns the state{top} after each sequence's own {run.last}: it has read {run.everything}."


def _both(run: _Run) -> str:
    if run.D == 2:
        return f"h_n[-2] is the forward half, h_n[-1] the backward half, and each has read {run.everything}."
    if run.L > 1:
        return f"There is one direction: h_n[-2] is the state of layer {run.L - 2}, not of another direction."
    return "There is one direction and one layer: h_n has one row, so there is no h_n[-2]."


def _state(run: _Run, key: str, title: str, code: str, reason: str) -> Readout:
    """Judge a readout of one state for each sequence: by the steps taken, and against the record's last_valid."""
    code = f"state = {code}"
    if key == "h_n_both" and run.D == 1:
        return Readout(key, title, code, reason)
    values, wanted = run.read(code, run.grid), run.trace.unpacked.last_valid
    cells = _cells(run, code)
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
    return Readout(key, title, code, reason, values, tuple(wrong), halves, cells, steps, seen)


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
    filler = torch.arange(run.width, device="cpu") >= run.trace.unpacked.lengths.unsqueeze(1)
    values, other = run.read(code, run.grid), run.read(code, run.grid.masked_fill(filler[:, :, None], nan))
    wrong = tuple(b for b in range(len(values)) if b in run.padded or distance(values[b], other[b]) != 0.0)
    cells = tuple(tuple(Spot(b, t, half) for t in range(n) for half in range(run.D)) for b, n in enumerate(run.lengths))
    every, reason = tuple((n,) * run.D for n in run.lengths), _pool_reason(run, key, values)
    return Readout(key, f"{key} over valid steps", code, reason, values, wrong, WAYS[: run.D], cells, every, every)


def _pool_reason(run: _Run, key: str, values: Tensor) -> str:
    naive = f"out.{'mean' if key == 'mean' else 'amax'}({run.dim})"
    done, every = ("averaged", "counts once") if key == "mean" else ("compared", "is compared")
    if not run.short:
        return f"Every step of every sequence {every}. There is no filler here, so {naive} is the same."
    pooled = f"Only valid steps are {done}."
    if run.padded:
        pooled = f"The pads that were packed are {done} as if they were data."
    if key == "mean":
        off = rounded(distance(run.grid.mean(1)[run.short], values[run.short]))
        return f"{pooled} {naive} counts {run.filler} too: for {letters(run.short)} it is up to {off} off."
    wrong, numbers = int((run.grid.amax(1) > values).sum()), counted(values.numel(), "number")
    if not wrong:
        return f"{pooled} {naive} is the same here, for {run.filler} is nowhere the largest."
    return f"{pooled} {naive} takes {run.filler} for {wrong} of {numbers}."


def _caution(trace: Trace) -> str:
    sequences = trace.packed.sequence[trace.packed_is_pad].tolist()
    if not sequences:
        return ""
    count, spoilt = len(sequences), sorted(set(sequences))
    have = "has" if len(spoilt) == 1 else "have"
    return (
        f"{counted(count, 'pad')} {'was' if count == 1 else 'were'} packed, {counted(count, 'token')} lost: "
        f"{count} of the {len(trace.output)} packed rows {'is a pad' if count == 1 else 'are pads'}, and "
        f"{letters(spoilt)} {have} lost {'a token' if count == 1 else 'as many tokens'}. "
        "No readout brings back what was not packed."
    )
