"""The same module, the same weights and the same initial state on the padded batch and on the packed one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_packed_sequence

from packviz.compute.determinism import exact_arithmetic
from packviz.compute.record import Trace
from packviz.compute.verify import apart, differing, distance, tolerance_of
from packviz.facts.padded_run import layer_states, run_padded
from packviz.facts.reading import WAYS, Reading, read_both
from packviz.inputs.module import directions
from packviz.text import counted, letters, two_digits

__all__ = ["Comparison", "Finding", "compare"]


@dataclass(frozen=True)
class Finding:
    """Hold one verdict.

    key        what it is about: forward, backward, pads, h_n_forward, last_column and so on
    same       whether both sides agree up to rounding
    largest    the largest difference; for packed_pads how many there are
    sequences  those that differ
    told       the sentence
    right      of a reading: whether it is right for every sequence, padded and packed; else ()
    """

    key: str
    same: bool
    largest: float
    sequences: tuple[int, ...]
    told: str
    right: tuple[bool, ...] = ()

    @property
    def verdict(self) -> tuple[bool, ...]:
        """Return same and right together: when this changes, the verdict has changed."""
        return (self.same, *self.right)

    @property
    def right_padded(self) -> bool | None:
        """Return whether the padded reading is right for every sequence; None for what is no reading."""
        return self.right[0] if self.right else None

    @property
    def right_packed(self) -> bool | None:
        """Return whether the packed reading is right for every sequence; None for what is no reading."""
        return self.right[1] if self.right else None


@dataclass(frozen=True, eq=False)
class Comparison:
    """Hold one module's run over the padded grid beside its run over the packed one; all batch first.

    padded      (B, T, D*H), torch's output on the padded grid, pads computed on
    packed      (B, T, D*H), the packed output unpacked to the same width, with filler after each end
    valid       (B, T) bool: the cells that were packed, t < length
    real        (B, T) bool: the cells that hold a token; other ones than valid only after padding on the left
    filler      what unpacking puts where nothing was packed: padding_value
    h_n_padded, h_n_packed   (L*D, B, H), in the order in which the sequences came
    c_n_padded, c_n_packed   (L*D, B, H) for an LSTM, else None
    readings    naive last column, last valid step, h_n of the top layer for each direction
    states      states[l][d] (B, T, H): the padded side's h at every cell, pads too
    directions  D
    tolerance   up to where two numbers are called equal, as compute.verify.tolerance_of says
    findings    the verdicts with what they rest on
    """

    padded: Tensor
    packed: Tensor
    valid: Tensor
    real: Tensor
    filler: float
    h_n_padded: Tensor
    h_n_packed: Tensor
    c_n_padded: Tensor | None
    c_n_packed: Tensor | None
    readings: tuple[Reading, ...]
    states: tuple[tuple[Tensor, ...], ...]
    directions: int
    tolerance: float
    findings: tuple[Finding, ...] = ()

    @cached_property
    def difference(self) -> Tensor:
        """Return padded - packed, (B, T, D*H)."""
        return self.padded - self.packed

    @cached_property
    def apart(self) -> Tensor:
        """Return (B, T): the largest difference in each cell, float64."""
        return apart(self.padded, self.packed).amax(2)

    @property
    def at_valid(self) -> float:
        """Return the largest difference at the cells that were packed."""
        return distance(self.padded[self.valid], self.packed[self.valid])

    @property
    def at_pads(self) -> float:
        """Return the largest difference at the other cells, where the packed side has filler; 0.0 without any."""
        return distance(self.padded[~self.valid], self.packed[~self.valid])

    @property
    def verdicts(self) -> tuple[str, ...]:
        """Return the sentences of all findings."""
        return tuple(finding.told for finding in self.findings)

    def finding(self, key: str) -> Finding | None:
        """Return the finding of this key, or None where the run has no such thing."""
        return next((finding for finding in self.findings if finding.key == key), None)

    def half(self, d: int) -> tuple[Tensor, Tensor]:
        """Return (B, T, H) padded and packed: the forward half of the output for d = 0, the backward one for 1."""
        return self.padded.chunk(self.directions, 2)[d], self.packed.chunk(self.directions, 2)[d]


def compare(trace: Trace) -> Comparison:
    """Run torch's module over the padded grid, pads and all, and set it beside the packed run of the trace.

    Raises PackvizError where torch refused to pack the lengths.
    """
    h_n_packed, lengths, T = trace.h_n, trace.padded.lengths, trace.padded.mask.size(1)
    with exact_arithmetic():
        padded, h_n_padded, c_n_padded = run_padded(trace)
        output = trace.packed_sequence._replace(data=trace.output)
        packed, _ = pad_packed_sequence(output, True, trace.padding_value, T)  # (B, T, D*H)
        done = Comparison(
            padded=padded,
            packed=packed,
            valid=torch.arange(T, device="cpu") < lengths.unsqueeze(1),
            real=trace.padded.mask,
            filler=trace.padding_value,
            h_n_padded=h_n_padded,
            h_n_packed=h_n_packed,
            c_n_padded=c_n_padded,
            c_n_packed=trace.c_n,
            readings=read_both(trace, padded, packed, h_n_padded, tolerance_of(padded.dtype)),
            states=layer_states(trace),
            directions=directions(trace.module),
            tolerance=tolerance_of(padded.dtype),
        )
    return replace(done, findings=_findings(done, trace))


def _findings(done: Comparison, trace: Trace) -> tuple[Finding, ...]:
    """Return the verdicts: each half of the output, the pads, h_n and c_n by direction, and the readings."""
    halves = [_half(done, d) for d in range(done.directions)]
    states = [
        _final(done, name, d, padded, packed)
        for name, padded, packed in _final_states(done)
        for d in range(done.directions)
    ]
    readings = [_reading(reading) for reading in done.readings[:2]]
    return (*halves, *_pads(done), *states, *readings, *_packed_pads(trace))


def _half(done: Comparison, d: int) -> Finding:
    padded, packed = (part.masked_fill(~done.valid.unsqueeze(2), 0.0) for part in done.half(d))
    differ, most = differing(padded, packed, done.tolerance), distance(padded, packed)
    name = f"{WAYS[d].capitalize()} half" if done.directions == 2 else "Output"
    place = "packed position" if _left(done) else "valid position"
    if differ:
        told = f"{name}: differs at {place}s of {letters(differ)}, by up to {two_digits(most)}{_why(done, d)}."
    else:
        told = f"{name}: equal at every {place} (largest difference {two_digits(most)}){_why_equal(done, d)}."
    return Finding(WAYS[d], not differ, most, differ, told)


def _why(done: Comparison, d: int) -> str:
    if d == 0:
        return ": it reads the backward half of the layer below" if _reads_backward(done) else ""
    if _left(done):
        return f": padded, it starts at t = {done.valid.size(1) - 1}, packed at t = length - 1"
    return ": it starts in the padding"


def _why_equal(done: Comparison, d: int) -> str:
    unpacked = ~done.valid
    if not bool(unpacked.any()):
        return ": there is no padding in this batch"
    still = all(not bool(layer[d][unpacked].any()) for layer in done.states)
    return ": its state stays 0 in the padding" if d == 1 and still and not _left(done) else ""


def _reads_backward(done: Comparison) -> bool:
    return done.directions == 2 and len(done.states) > 1


def _left(done: Comparison) -> bool:
    return not bool((done.valid == done.real).all())


def _pads(done: Comparison) -> Iterator[Finding]:
    """Say what the padded side has where the packed one has filler."""
    unpacked = ~done.valid
    if not bool(unpacked.any()):
        return
    outside = unpacked.unsqueeze(2)
    padded, packed = done.padded.masked_fill(~outside, 0.0), done.packed.masked_fill(~outside, 0.0)
    differ, most, filler = differing(padded, packed, done.tolerance), done.at_pads, f"{done.filler:g}"
    count = int(unpacked.sum())
    where = counted(count, "position") + " that packing left out" if _left(done) else counted(count, "pad")
    if differ:
        told = f"At the {where} the padded output goes on, up to {two_digits(most)} away from the filler {filler}."
    else:
        told = f"At the {where} the padded output is the filler {filler}, too (largest difference {two_digits(most)})."
    yield Finding("pads", not differ, most, differ, told)


def _final_states(done: Comparison) -> Iterator[tuple[str, Tensor, Tensor]]:
    yield "h_n", done.h_n_padded, done.h_n_packed
    if done.c_n_padded is not None and done.c_n_packed is not None:
        yield "c_n", done.c_n_padded, done.c_n_packed


def _final(done: Comparison, name: str, d: int, padded: Tensor, packed: Tensor) -> Finding:
    """Compare the final states of one direction, in every layer: (L, B, H)."""
    ours, theirs = (state[d :: done.directions].transpose(0, 1) for state in (padded, packed))  # (B, L, H)
    differ, most = differing(ours, theirs, done.tolerance), distance(ours, theirs)
    what = f"{name}, {WAYS[d]} half," if done.directions == 2 else name
    if differ:
        told = f"{what} differs for {letters(differ)}, by up to {two_digits(most)}{_why_final(done, d)}."
    else:
        told = f"{what} is equal for every sequence (largest difference {two_digits(most)})."
    return Finding(f"{name}_{WAYS[d]}", not differ, most, differ, told)


def _why_final(done: Comparison, d: int) -> str:
    if _left(done):
        return f": padded, it has read all {counted(done.valid.size(1), 'column')}; packed, as many as the length"
    return ": it starts in the padding" if d else ": padded, it is the state after the pads"


def _reading(reading: Reading) -> Finding:
    differ, most = reading.differs, distance(reading.padded, reading.packed)
    right = (reading.right_padded, reading.right_packed)
    return Finding(reading.key, not differ, most, differ, reading.told, right)


def _packed_pads(trace: Trace) -> Iterator[Finding]:
    pads = trace.packed_is_pad
    count = int(pads.sum())
    if count:
        sequences = tuple(sorted(set(trace.packed.sequence[pads].tolist())))
        are, dropped = ("is a pad", "one token") if count == 1 else ("are pads", "as many tokens")
        told = (
            f"Padding was packed: {count} of the {counted(len(pads), 'packed row')} {are}, and {dropped} of "
            f"{letters(sequences)} {'was' if count == 1 else 'were'} dropped."
        )
        yield Finding("packed_pads", False, float(count), sequences, told)
