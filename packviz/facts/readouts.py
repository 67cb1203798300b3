"""Which one do I want? Ways to read one vector for each sequence out of a run, and what each of them holds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import nan
from typing import NamedTuple

import torch
from torch import Tensor

from packviz.compute.record import Trace
from packviz.compute.verify import distance
from packviz.facts.unit_arithmetic import rounded
from packviz.inputs.module import directions
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
    made = (_last_column(run), _last_valid(run), _h_n(run), _both(run), _mean(run), _max(run))
    return tuple(replace(readout, caution=caution) for readout in made)


@dataclass(frozen=True, eq=False)
class _Run:
    """Hold what the readouts ask of a trace: its lengths, D, and the unpacked grid (B, T, D*H)."""

    trace: Trace

    @cached_property
    def lengths(self) -> list[int]:
        return self.trace.padded.lengths.tolist()

    @property
    def first(self) -> bool:
        return self.trace.padded.batch_first

    @property
    def D(self) -> int:
        return directions(self.trace.module)

    @cached_property
    def grid(self) -> Tensor:
        return self.trace.unpacked.output if self.first else self.trace.unpacked.output.transpose(0, 1)

    @property
    def width(self) -> int:
        return self.grid.size(1)

    @property
    def filler(self) -> str:
        return f"filler ({self.trace.padding_value:g})"

    @cached_property
    def padded(self) -> set[int]:
        """The sequences of which pads were packed."""
        return set(self.trace.packed.sequence[self.trace.packed_is_pad].tolist())

    @property
    def last(self) -> str:
        """What stands at the end of a sequence: its last step, unless pads were packed."""
        return "last packed row" if self.padded else "last step"

    @property
    def everything(self) -> str:
        return "all that was packed, pads included" if self.padded else "the whole sequence"

    @property
    def one_step(self) -> str:
        """What the backward half has done at the last valid step: with several layers it has seen more than it read."""
        if len(self.trace.layers) > 1:
            return "has taken one step only, the first of its way back"
        return f"has read one {'packed row' if self.padded else 'token'} only"

    def cells(self, column: Callable[[int, int], int], halves: Sequence[int] = ()) -> tuple[tuple[Spot, ...], ...]:
        """Return for each sequence one place for each half: in column(length, half)."""
        halves = halves or range(self.D)
        return tuple(tuple(Spot(b, column(n, half), half) for half in halves) for b, n in enumerate(self.lengths))

    def state(self, code: str, grid: Tensor | None = None) -> Tensor:
        """Return the state that the code makes: what is shown is what was run. grid (B, T, D*H) stands in for out."""
        grid = self.grid if grid is None else grid
        names = {"torch": torch, "lens": self.trace.unpacked.lengths, "h_n": self.trace.h_n}
        with torch.device("cpu"):
            exec(code, names := {**names, "out": grid if self.first else grid.transpose(0, 1)})  # our own lines
        state = names["state"]
        assert isinstance(state, Tensor)
        return state


def _last_column(run: _Run) -> Readout:
    title, _ = codes(batch_first=run.first)
    short = [b for b, length in enumerate(run.lengths) if length < run.width]
    whole = [b for b, length in enumerate(run.lengths) if length == run.width]
    said = []
    if short:
        said.append(f"{letters(short)} {'ends' if len(short) == 1 else 'end'} earlier: there {title} is {run.filler}.")
    if whole and run.D == 2 and run.width > 1:
        said.append(f"For {letters(whole)} the backward half {run.one_step}.")
    if not said:
        said.append(f"Every sequence is {run.width} long, as wide as the grid: the last column is its last step.")
    return _judged(run, "last_column", title, title, " ".join(said), run.cells(lambda *_: run.width - 1))


def _last_valid(run: _Run) -> Readout:
    _, code = codes(batch_first=run.first)
    longer = [b for b, length in enumerate(run.lengths) if length > 1]
    reason = f"lens - 1 is the column of each sequence's own {run.last}."
    if run.D == 2:
        reason = "Every sequence is one step long, and both directions have taken it."
        if longer:
            reason = f"The forward half is complete. For {letters(longer)} the backward half {run.one_step}."
    return _judged(run, "last_valid", "out at lens - 1", code, reason, run.cells(lambda length, _: length - 1))


def _final(length: int, half: int) -> int:
    """Return the column of a direction's state after its last step: backward that is column 0."""
    return 0 if half else length - 1


def _h_n(run: _Run) -> Readout:
    top = " of the top layer" if len(run.trace.layers) > 1 else ""
    reason = f"torch returns the state{top} after each sequence's own {run.last}: it has read {run.everything}."
    if run.D == 2:
        reason = f"It is the backward half alone. It has read {run.everything}; the forward half, h_n[-2], is missing."
    return _judged(run, "h_n", "h_n[-1]", "h_n[-1]", reason, run.cells(_final, [run.D - 1]))


def _both(run: _Run) -> Readout:
    title, code = "cat(h_n[-2], h_n[-1])", "torch.cat((h_n[-2], h_n[-1]), 1)"
    if run.D == 2:
        reason = f"h_n[-2] is the forward half, h_n[-1] the backward half, and each has read {run.everything}."
        return _judged(run, "h_n_both", title, code, reason, run.cells(_final))
    below = len(run.trace.layers) - 2
    reason = f"There is one direction: h_n[-2] is the state of layer {below}, not of another direction."
    if below < 0:
        reason = "There is one direction and one layer: h_n has one row, so there is no h_n[-2]."
    return Readout("h_n_both", title, f"state = {code}", reason)


def _judged(run: _Run, key: str, title: str, code: str, reason: str, cells: tuple[tuple[Spot, ...], ...]) -> Readout:
    """Judge a readout of one state for each sequence: by the steps taken, and against the record's last_valid."""
    code = f"state = {code}"
    values, wanted = run.state(code), run.trace.unpacked.last_valid
    steps = [[_steps(run.lengths[spot.b], spot) for spot in spots] for spots in cells]
    both_ways = run.D == 2 and len(run.trace.layers) > 1
    wrong = [
        b in run.padded or steps[b] != [length] * run.D or distance(values[b], wanted[b]) != 0.0
        for b, length in enumerate(run.lengths)
    ]
    return Readout(
        key,
        title,
        code,
        reason,
        values,
        tuple(b for b, is_wrong in enumerate(wrong) if is_wrong),
        tuple(WAYS[spot.half] for spot in cells[0]),
        cells,
        tuple(map(tuple, steps)),
        tuple(tuple(run.lengths[b] if step and both_ways else step for step in row) for b, row in enumerate(steps)),
    )


def _steps(length: int, spot: Spot) -> int:
    """Return how many steps a half has taken where it stands; 0 for filler."""
    if spot.t >= length:
        return 0
    return length - spot.t if spot.half else spot.t + 1


def _mean(run: _Run) -> Readout:
    dim = int(run.first)
    mean, naive = _pooled(run, "mean", f"0).sum({dim}) / lens[:, None]"), f"out.mean({dim})"
    short = [b for b, length in enumerate(run.lengths) if length < run.width]
    if not short or mean.values is None:
        return replace(mean, reason=f"Every step of every sequence counts once. {_no_filler(naive)}")
    off = rounded(distance(run.grid.mean(1)[short], mean.values[short]))
    reason = (
        f"{_only_valid(run, 'averaged')} {naive} counts {run.filler} too: for {letters(short)} it is up to {off} off."
    )
    return replace(mean, reason=reason)


def _max(run: _Run) -> Readout:
    dim = int(run.first)
    most, naive = _pooled(run, "max", f'float("-inf")).amax({dim})'), f"out.amax({dim})"
    if min(run.lengths) == run.width or most.values is None:
        return replace(most, reason=f"Every step of every sequence is compared. {_no_filler(naive)}")
    wrong, numbers = int((run.grid.amax(1) > most.values).sum()), counted(most.values.numel(), "number")
    said = f"{naive} is the same here, for {run.filler} is nowhere the largest."
    if wrong:
        said = f"{naive} takes {run.filler} for {wrong} of {numbers}."
    return replace(most, reason=f"{_only_valid(run, 'compared')} {said}")


def _no_filler(naive: str) -> str:
    return f"There is no filler here, so {naive} is the same."


def _only_valid(run: _Run, done: str) -> str:
    return (
        f"The pads that were packed are {done} as if they were data." if run.padded else f"Only valid steps are {done}."
    )


def _pooled(run: _Run, key: str, code: str) -> Readout:
    """Read all valid steps; whether filler enters is tried out: other filler must not change anything."""
    columns = "torch.arange(out.size(1)) < lens[:, None]" if run.first else "torch.arange(out.size(0))[:, None] < lens"
    code = f"pad = ~({columns})\nstate = out.masked_fill(pad[:, :, None], {code}"
    filler = torch.arange(run.width, device="cpu") >= run.trace.unpacked.lengths.unsqueeze(1)
    values, other = run.state(code), run.state(code, run.grid.masked_fill(filler[:, :, None], nan))
    wrong = tuple(b for b in range(len(values)) if b in run.padded or distance(values[b], other[b]) != 0.0)
    cells = tuple(tuple(Spot(b, t, half) for t in range(n) for half in range(run.D)) for b, n in enumerate(run.lengths))
    every = tuple((n,) * run.D for n in run.lengths)
    return Readout(key, f"{key} over valid steps", code, "", values, wrong, WAYS[: run.D], cells, every, every)


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
