"""Ways to read one vector per sequence, and what each contains.

readouts() judges them in the packed run, readings() in both the padded and the packed run.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product, starmap
from math import nan
from typing import NamedTuple, cast

import torch
from torch import Tensor

from packviz.compute.record import Trace
from packviz.compute.verify import differing, distance
from packviz.facts.padded_run import run_tokens, tokens_of
from packviz.facts.unit_arithmetic import rounded
from packviz.facts.words import sentence
from packviz.inputs.config import DIRECTIONS
from packviz.inputs.tensors import valid_mask
from packviz.text import Brief, letters

__all__ = ["Readout", "ReadoutPair", "Spot", "readings", "readouts"]


class Spot(NamedTuple):
    """Name one place in a row of the unpacked grid: column t, and its half 0 (forward) or 1 (backward)."""

    t: int
    half: int


@dataclass(frozen=True, eq=False, repr=False)
class Readout(Brief):
    """One way to read one vector per sequence."""

    key: str  # a short name
    title: str  # how it is written
    code: str  # the PyTorch code, which computes state from out, lens and h_n
    reason: str  # why it is right or wrong, in one or two sentences with this batch's letters and numbers
    caution: str  # a warning if padding was packed, which no readout can repair; else ""
    values: Tensor | None = None  # (B, width), the state that this code computed; None if it is not available
    # the sequences whose row is not the state after their last step in every direction; for mean and max, those that
    # filler entered; and all with a packed pad
    wrong: tuple[int, ...] = ()
    halves: tuple[str, ...] = ()  # the directions that make up the width
    # for each sequence: the places of the unpacked grid that hold these numbers
    cells: tuple[tuple[Spot, ...], ...] = ()
    # for each sequence and half: how many steps the top layer has taken in this half; 0 for filler
    steps: tuple[tuple[int, ...], ...] = ()
    # for each sequence and half: how many packed rows of the sequence can have affected it; with two directions and
    # several layers that is more than its steps, because the layer below read both ways
    seen: tuple[tuple[int, ...], ...] = ()

    @property
    def available(self) -> bool:
        """Return whether this readout exists in this run."""
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
    """Return six ways to read one vector per sequence, and what each contains in this run.

    Their keys: last_column, last_valid, h_n, h_n_both, mean, max. Raises PackvizError if torch refuses the lengths.
    """
    run = _Readable(trace)
    column, valid = codes(batch_first=trace.padded.batch_first)
    return (
        _state(run, "last_column", column, column),
        _state(run, "last_valid", "out at lens - 1", valid),
        _state(run, "h_n", "h_n[-1]", "h_n[-1]"),
        _state(run, "h_n_both", "cat(h_n[-2], h_n[-1])", "torch.cat((h_n[-2], h_n[-1]), 1)"),
        *_pooled(run),
    )


@dataclass(frozen=True, eq=False, repr=False)
class ReadoutSide(Brief):
    """What is read on one side; W is H, or 2*H for both halves together."""

    values: Tensor  # (B, W), as read
    wanted: Tensor  # (B, W), each direction's state after exactly the sequence's own tokens
    reasons: tuple[tuple[str, ...], ...]  # for each sequence and half, why a wrong state is wrong
    wrong: tuple[int, ...]  # the sequences for which values and wanted differ by more than rounding
    sentence: str  # for which sequences they agree, and why not for the others

    @property
    def right(self) -> bool:
        """Return whether it is right for every sequence."""
        return not self.wrong

    @property
    def verdict(self) -> str:
        """Return in a few words whether it is right, or for which sequences it is wrong."""
        return sentence("reading.wrong" if self.wrong else "reading.right", wrong=self.wrong)


@dataclass(frozen=True, eq=False, repr=False)
class ReadoutPair(Brief):
    """One way to read a vector per sequence, on both sides."""

    key: str  # last_column, last_valid, h_n_forward or h_n_backward
    code: str  # the line that reads it
    padded: ReadoutSide
    packed: ReadoutSide

    @property
    def sides(self) -> dict[str, ReadoutSide]:
        """Return both sides by name."""
        return {"padded": self.padded, "packed": self.packed}


class _Readable:
    """What the readouts need from a run: a trace's packed run, or its module's run over the padded grid.

    grid      (B, T, D*H), the output; width: T; dim: the time axis of the output itself
    h_n       (L*D, B, H); L, D: how many layers and directions
    ends      for each sequence, how many columns the cell has read: its length, or all of them
    lengths   B integers
    short     the sequences shorter than T; whole: the others
    padded    the sequences with packed pads
    """

    def __init__(self, trace: Trace, over_pads: tuple[Tensor, Tensor] | None = None) -> None:
        self.trace, self.L, self.D, self.dim = trace, len(trace.layers), len(trace.layers[-1]), trace.padded.batch_first
        output = trace.unpacked.output
        self.grid, self.h_n = over_pads or (output if self.dim else output.transpose(0, 1), trace.h_n)
        self.lengths, self.width = list[int](trace.padded.lengths.tolist()), self.grid.size(1)
        self.ends = [self.width] * len(self.lengths) if over_pads else self.lengths
        self.short = [b for b, length in enumerate(self.lengths) if length < self.width]
        self.whole = [b for b, length in enumerate(self.lengths) if length == self.width]
        spoilt = trace.packed.sequence[trace.packed_is_pad].tolist()
        self.padded = sorted(set(spoilt))
        known = {"count": len(spoilt), "rows": len(trace.output), "spoilt": self.padded}
        self.caution = sentence("readout.caution", **known) if spoilt else ""

    def reason(self, *keys: str, **known: object) -> str:
        """Explain why a readout is right or wrong, in the sentences of these keys."""
        everything = "everything that was packed, pads included" if self.padded else "the whole sequence"
        last = "last packed row" if self.padded else "last step"
        filler = f"padding_value ({self.trace.padding_value:g})"
        known |= {"run": self, "everything": everything, "last": last, "filler": filler}
        return sentence(*(f"readout.{key}" for key in keys), **known)

    def read(self, code: str, grid: Tensor | None = None, h_n: Tensor | None = None) -> Tensor:
        """Run the code shown on this run, or on another grid (B, T, D*H) and h_n, and return state."""
        grid = self.grid if grid is None else grid
        names = {"torch": torch, "out": grid if self.dim else grid.transpose(0, 1)}
        names |= {"lens": self.trace.padded.lengths, "h_n": self.h_n if h_n is None else h_n}
        with torch.device("cpu"):
            exec(code, names)  # our own lines, never a user's
        return cast(Tensor, names["state"])

    def cells(self, code: str) -> tuple[tuple[Spot, ...], ...]:
        """Find the cells that a line of code reads, by running it on a grid of cell numbers."""
        B, T, D = len(self.lengths), self.width, self.D
        number = torch.arange(B * T * D, device="cpu").view(B, T, D)
        rows, ends = torch.arange(B, device="cpu"), torch.tensor(self.ends, device="cpu") - 1
        final = torch.stack([number[rows, ends, 0], number[:, 0, -1]][:D])  # (D, B), as in h_n
        read = self.read(code, number, final.unsqueeze(2))  # one number for each half
        return tuple(tuple(Spot(n // D % T, n % D) for n in row) for row in read.tolist())


def _state(run: _Readable, key: str, title: str, code: str) -> Readout:
    """Judge a readout of one state per sequence: by the steps taken, and against the record's last_valid."""
    reason = _why(run, key)
    code, caution = f"state = {code}", run.caution
    if key == "h_n_both" and run.D == 1:
        return Readout(key, title, code, reason, caution)
    values, wanted, cells = run.read(code), run.trace.unpacked.last_valid, run.cells(code)
    steps = tuple(
        tuple(max(0, length - spot.t) if spot.half else (spot.t + 1) * (spot.t < length) for spot in spots)
        for length, spots in zip(run.lengths, cells, strict=True)
    )
    wrong = [
        b
        for b, length in enumerate(run.lengths)
        if b in run.padded or steps[b] != (length,) * run.D or distance(values[b], wanted[b]) != 0.0
    ]
    everything = tuple(tuple(run.lengths[b] * (step > 0) for step in row) for b, row in enumerate(steps))
    seen = everything if run.D == 2 and run.L > 1 else steps
    halves = tuple(DIRECTIONS[spot.half] for spot in cells[0])
    return Readout(key, title, code, reason, caution, values, tuple(wrong), halves, cells, steps, seen)


def _why(run: _Readable, key: str) -> str:
    """Explain why a readout of one state per sequence is right or wrong."""
    both = run.D == 2
    if key == "last_column":
        if not run.whole:
            said = ["all_end_earlier"]
        elif run.short:
            said = ["ends_earlier", *["backward_one_step"] * both]
        else:
            said = ["backward_all_one_step" if both and run.width > 1 else "same_length"]
    elif key == "last_valid":
        said = ["own_last" if not both else "forward_but_one_step" if max(run.lengths) > 1 else "one_step_each"]
    else:
        said = [f"{key}_{'two_directions' if both else 'layers' if run.L > 1 else 'one_layer'}"]
    return run.reason(*said, layer=run.L - 2)


def _why_pooled(run: _Readable, key: str, *, wrong: int) -> list[str]:
    """Return the sentences on a mean or maximum; wrong: how many numbers of the naive maximum are filler."""
    if not run.short:
        return ["no_padding"]
    packed = ["pads_averaged" if key == "mean" else "pads_compared"] if run.padded else []
    return [*packed, "mean_counts_filler" if key == "mean" else "max_counts_filler" if wrong else "max_is_the_same"]


def _pooled(run: _Readable) -> Iterator[Readout]:
    """Pool over all valid steps; filler enters if replacing it changes the result."""
    columns = "torch.arange(out.size(1)) < lens[:, None]" if run.dim else "torch.arange(out.size(0))[:, None] < lens"
    refilled = run.grid.masked_fill(~valid_mask(run.trace.unpacked.lengths, run.width)[:, :, None], nan)
    valid = {n: tuple(starmap(Spot, product(range(n), range(run.D)))) for n in set(run.lengths)}
    cells = tuple(valid[n] for n in run.lengths)
    every = tuple((n,) * run.D for n in run.lengths)
    for key, filling, end in (("mean", "0", ".sum({}) / lens[:, None]"), ("max", 'float("-inf")', ".amax({})")):
        code = f"pad = ~({columns})\nstate = out.masked_fill(pad[:, :, None], {filling}){end.format(int(run.dim))}"
        values, other = run.read(code), run.read(code, refilled)
        wrong = tuple(b for b in range(len(values)) if b in run.padded or distance(values[b], other[b]) != 0.0)
        off = rounded(distance(run.grid.mean(1)[run.short], values[run.short])) if run.short else ""
        naive = f"out.{'mean' if key == 'mean' else 'amax'}({int(run.dim)})"
        more = int((run.grid.amax(1) > values).sum())
        said = _why_pooled(run, key, wrong=more)
        reason = run.reason(*said, naive=naive, off=off, wrong=more, numbers=values.numel())
        words = key, f"{key} over valid steps", code, reason, run.caution
        yield Readout(*words, values, wrong, DIRECTIONS[: run.D], cells, every, every)


def readings(trace: Trace, padded: Tensor, h_n: Tensor) -> tuple[ReadoutPair, ...]:
    """Read each sequence's vector on both sides: last column, last valid step, h_n of each direction.

    padded, h_n: the output (B, T, D*H) and h_n of the run over the padded grid.
    """
    packed, over_pads = _Readable(trace), _Readable(trace, (padded, h_n))
    named = [*zip(("last_column", "last_valid"), codes(batch_first=trace.padded.batch_first), strict=True)]
    named += [(f"h_n_{way}", f"h_n[{d - packed.D}]") for d, way in enumerate(DIRECTIONS[: packed.D])]
    wanted = trace.unpacked.last_valid  # (B, D*H): the state after exactly each sequence's own tokens
    if packed.padded:
        every = range(len(packed.lengths))
        tokens_alone = run_tokens(trace, [tokens_of(trace, b) for b in every], every)[1]
        wanted = torch.cat(tokens_alone[-packed.D :].unbind(0), 1)
    return tuple(
        ReadoutPair(key, code, _side(over_pads, code, wanted), _side(packed, code, wanted)) for key, code in named
    )


def _side(run: _Readable, code: str, wanted: Tensor) -> ReadoutSide:
    code = f"state = {code}"
    cells, real = run.cells(code), run.trace.padded.mask.tolist()
    both = len(cells[0]) == 2
    rows = zip(cells, run.ends, real, strict=True)
    reasons = tuple(tuple(_reason(spot, end, tokens, both=both) for spot in row) for row, end, tokens in rows)
    values, own = run.read(code), wanted if len(cells[0]) == run.D else wanted.chunk(run.D, 1)[cells[0][0].half]
    wrong, whys = differing(values, own), dict[str, list[int]]()
    for b in wrong:  # the reasons for its wrong halves
        halves = differing(values[b].view(len(cells[b]), -1), own[b].view(len(cells[b]), -1))
        why = ", and ".join(dict.fromkeys(reasons[b][half] for half in halves))
        whys.setdefault(why or "its numbers differ too much", []).append(b)
    # both halves are right only because the length is 1
    single = [b for b, length in enumerate(run.lengths) if both and length == 1 and b not in wrong]
    if wrong:
        said, most = "side_wrong_but_short" if single else "side_wrong", distance(values[list(wrong)], own[list(wrong)])
        which = ", for ".join(f"{letters(off)} ({why})" for why, off in whys.items())
        text = sentence(f"reading.{said}", which=which, most=most, single=single)
    else:
        text = sentence("reading.side_right_short" if len(single) == len(values) else "reading.side_right")
    return ReadoutSide(values, own, reasons, wrong, text)


def _reason(spot: Spot, end: int, real: list[bool], *, both: bool) -> str:
    """Explain why a direction's state at a place is not the one after exactly the sequence's own tokens.

    end   how many columns the cell has read: T padded, the length packed; filler follows them
    real  (T,) bool: the cells that hold a token; both: whether the state has two halves
    """
    it = f"the {DIRECTIONS[spot.half]} half" if both else "the state"
    seen = real[spot.t : end][::-1] if spot.half else real[: spot.t + 1]  # in reading order
    tokens, pads = sum(seen), len(seen) - sum(seen)
    if spot.t >= end or not tokens:
        why = "filler" if spot.t >= end else "no_token"
    elif tokens < sum(real):
        why = "pads" if pads else "few"
    else:
        why = "below" if not pads else "changed" if seen[0] else "start"
    return sentence(f"reading.because_{why}", it=it, tokens=tokens)
