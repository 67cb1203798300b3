"""Which one do I want? Six ways to read one vector for each sequence out of a run, and what each of them holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import nan

import torch
from torch import Tensor

from packviz.compute.record import Trace
from packviz.compute.verify import distance
from packviz.facts.reading import WAYS, codes
from packviz.facts.readout_places import Layout, Readout, Spot, Verdict
from packviz.facts.unit_arithmetic import rounded
from packviz.text import counted, letters, sequence_label

__all__ = ["Readout", "Spot", "Verdict", "readouts"]


def readouts(trace: Trace) -> tuple[Readout, ...]:
    """Return six ways to read one vector for each sequence, and what each of them holds in this run.

    Their keys: last_column, last_valid, h_n, h_n_both, mean, max. Raises PackvizError where torch refuses the lengths.
    """
    at = Layout(trace)
    return (_last_column(at), _last_valid(at), _h_n(at), _both(at), *_pools(at))


def _last_column(at: Layout) -> Readout:
    title, _ = codes(batch_first=at.batch_first)
    cells = [tuple(Spot(b, at.width - 1, half) for half in range(at.ways)) for b in range(len(at.lengths))]
    filler = [b for b, length in enumerate(at.lengths) if length < at.width]
    whole = [b for b, length in enumerate(at.lengths) if length == at.width]
    said = []
    if filler:
        verb = "ends" if len(filler) == 1 else "end"
        said.append(f"{letters(filler)} {verb} earlier: there {title} is filler ({at.trace.padding_value:g}).")
    if whole and at.ways == 2 and at.width > 1:
        said.append(f"For {letters(whole)} the backward half {_one_only(at)}.")
    if not said:
        said.append(f"Every sequence is {at.width} long, as wide as the grid: the last column is its last step.")
    return _state(at, "last_column", title, title, " ".join(said), cells)


def _last_valid(at: Layout) -> Readout:
    _, code = codes(batch_first=at.batch_first)
    cells = [tuple(Spot(b, n - 1, half) for half in range(at.ways)) for b, n in enumerate(at.lengths)]
    longer = [b for b, length in enumerate(at.lengths) if length > 1]
    if at.ways == 2 and longer:
        reason = f"The forward half is complete. For {letters(longer)} the backward half {_one_only(at)}."
    elif at.ways == 2:
        reason = "Every sequence is one step long, and both directions have taken it."
    else:
        reason = f"lens - 1 is the column of each sequence's own last {'packed row' if at.pads_packed else 'step'}."
    return _state(at, "last_valid", "out at lens - 1", code, reason, cells)


def _h_n(at: Layout) -> Readout:
    top = " of the top layer" if len(at.trace.layers) > 1 else ""
    half = at.ways - 1
    cells = [(at.final(b, half),) for b in range(len(at.lengths))]
    if half:
        reason = f"It is the backward half alone. It has read {_all(at)}; the forward half, h_n[-2], is missing."
    else:
        last = "packed row" if at.pads_packed else "step"
        reason = f"torch returns the state{top} after each sequence's own last {last}: it has read {_all(at)}."
    return _state(at, "h_n", "h_n[-1]", "h_n[-1]", reason, cells)


def _both(at: Layout) -> Readout:
    title, code = "cat(h_n[-2], h_n[-1])", "torch.cat((h_n[-2], h_n[-1]), 1)"
    if at.ways == 2:
        cells = [(at.final(b, 0), at.final(b, 1)) for b in range(len(at.lengths))]
        reason = f"h_n[-2] is the forward half, h_n[-1] the backward half, and each has read {_all(at)}."
        return _state(at, "h_n_both", title, code, reason, cells)
    below = len(at.trace.layers) - 2
    if below < 0:
        reason = "There is one direction and one layer: h_n has one row, so there is no h_n[-2]."
    else:
        reason = f"There is one direction: h_n[-2] is the state of layer {below}, not of another direction."
    return Readout("h_n_both", title, f"state = {code}", None, right=False, reason=reason, caution=_caution(at))


def _pools(at: Layout) -> tuple[Readout, Readout]:
    dim = 1 if at.batch_first else 0
    columns = "torch.arange(out.size(1)) < lens[:, None]" if dim else "torch.arange(out.size(0))[:, None] < lens"
    head = f"pad = ~({columns})\nstate = out.masked_fill(pad[:, :, None], "
    mean = _pool(at, "mean", f"{head}0).sum({dim}) / lens[:, None]")
    most = _pool(at, "max", f'{head}float("-inf")).amax({dim})')
    return (
        replace(mean, reason=_mean_reason(at, mean, f"out.mean({dim})")),
        replace(most, reason=_max_reason(at, most, f"out.amax({dim})")),
    )


def _mean_reason(at: Layout, mean: Readout, naive: str) -> str:
    short = [b for b, length in enumerate(at.lengths) if length < at.width]
    if not short or mean.values is None:
        return f"Every step of every sequence counts once. There is no filler here, so {naive} is the same."
    off = distance(at.grid.mean(1)[short], mean.values[short])
    filler = f"{naive} counts filler ({at.trace.padding_value:g}) too"
    return f"{_pooled(at, 'averaged')} {filler}: for {letters(short)} it is up to {rounded(off)} off."


def _max_reason(at: Layout, most: Readout, naive: str) -> str:
    if min(at.lengths) == at.width or most.values is None:
        return f"Every step of every sequence is compared. There is no filler here, so {naive} is the same."
    wrong, filler = int((at.grid.amax(1) > most.values).sum()), f"filler ({at.trace.padding_value:g})"
    if not wrong:
        return f"{_pooled(at, 'compared')} {naive} is the same here, for {filler} is nowhere the largest."
    return f"{_pooled(at, 'compared')} {naive} takes {filler} for {wrong} of {counted(most.values.numel(), 'number')}."


def _pooled(at: Layout, done: str) -> str:
    if at.pads_packed:
        return f"The pads that were packed are {done} as if they were data."
    return f"Only valid steps are {done}."


def _pool(at: Layout, key: str, code: str) -> Readout:
    """Read all valid steps; whether filler enters is tried out: other filler must not change anything."""
    values = _run(at, code)
    other = _run(at, code, at.grid.masked_fill(~at.valid[:, :, None], nan))
    rows = tuple(
        Verdict(
            sequence_label(b),
            distance(values[b], other[b]) == 0.0 and not at.packed_pads[b],
            f"{key} of {counted(n, 'step')}{_with_pads(at, b)}",
        )
        for b, n in enumerate(at.lengths)
    )
    every = tuple((n,) * at.ways for n in at.lengths)
    cells = tuple(
        tuple(Spot(b, t, half) for t in range(n) for half in range(at.ways)) for b, n in enumerate(at.lengths)
    )
    title, halves, right = f"{key} over valid steps", WAYS[: at.ways], all(row.right for row in rows)
    return Readout(key, title, code, values, right, "", _caution(at), rows, halves, every, every, cells)


def _state(at: Layout, key: str, title: str, code: str, reason: str, cells: Sequence[tuple[Spot, ...]]) -> Readout:
    """Judge a readout of one state for each sequence: by the steps taken, and against the record's last_valid."""
    code = f"state = {code}"
    values, wanted = _run(at, code), at.trace.unpacked.last_valid
    steps = tuple(tuple(at.steps(spot) for spot in spots) for spots in cells)
    complete = [
        took == (length,) * at.ways and not pads
        for took, length, pads in zip(steps, at.lengths, at.packed_pads, strict=True)
    ]
    halves = tuple(WAYS[spot.half] for spot in cells[0])
    rows = tuple(
        Verdict(sequence_label(b), whole and distance(values[b], wanted[b]) == 0.0, _words(at, b, halves, steps[b]))
        for b, whole in enumerate(complete)
    )
    seen = tuple(tuple(at.seen(spot) for spot in spots) for spots in cells)
    right = all(row.right for row in rows)
    return Readout(key, title, code, values, right, reason, _caution(at), rows, halves, steps, seen, tuple(cells))


def _run(at: Layout, code: str, grid: Tensor | None = None) -> Tensor:
    """Return the state that the code makes: what is shown is what was run. grid (B, T, D*H) stands in for out."""
    unpacked = at.trace.unpacked
    out = unpacked.output if grid is None else grid if at.batch_first else grid.transpose(0, 1)
    names = {"torch": torch, "out": out, "lens": unpacked.lengths, "h_n": at.trace.h_n}
    with torch.device("cpu"):
        exec(code, names)  # our own lines, none of a user's
    state = names["state"]
    assert isinstance(state, Tensor)
    return state


def _words(at: Layout, b: int, halves: tuple[str, ...], steps: tuple[int, ...]) -> str:
    if not any(steps):
        return "filler"
    took = [f"{step} of {counted(at.lengths[b], 'step')}" for step in steps]
    if at.ways == 1:
        return f"{took[0]}{_with_pads(at, b)}"
    missing = [] if len(halves) == 2 else ["forward: missing"]
    told = ", ".join([*missing, *(f"{half}: {words}" for half, words in zip(halves, took, strict=True))])
    return f"{told}{_with_pads(at, b)}"


def _with_pads(at: Layout, b: int) -> str:
    """Say how many of the packed rows of a sequence are pads, if any."""
    return f", {counted(at.packed_pads[b], 'packed pad')}" if at.packed_pads[b] else ""


def _one_only(at: Layout) -> str:
    """Say what the backward half has done at the last valid step: with several layers it has seen more than it read."""
    if len(at.trace.layers) == 1:
        return f"has read one {at.noun} only"
    return "has taken one step only, the first of its way back"


def _all(at: Layout) -> str:
    return "all that was packed, pads included" if at.pads_packed else "the whole sequence"


def _caution(at: Layout) -> str:
    if not at.pads_packed:
        return ""
    spoilt = [b for b, pads in enumerate(at.packed_pads) if pads]
    count, rows = sum(at.packed_pads), len(at.trace.output)
    return (
        f"{counted(count, 'pad')} {'was' if count == 1 else 'were'} packed, {counted(count, 'token')} lost: "
        f"{count} of the {rows} packed rows {'is a pad' if count == 1 else 'are pads'}, and {letters(spoilt)} "
        f"{'has' if len(spoilt) == 1 else 'have'} lost {'a token' if count == 1 else 'as many tokens'}. "
        "No readout brings back what was not packed."
    )
