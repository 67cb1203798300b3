"""What is to be said of a comparison: every sentence follows from its numbers."""

from __future__ import annotations

from collections.abc import Iterator

from torch import Tensor

from packviz.compare.judging import counted, differing, largest, letters, written
from packviz.compare.record import Comparison, Finding, Reading
from packviz.record import Trace

__all__ = ["findings"]

_WAYS = ("forward", "backward")


def findings(done: Comparison, trace: Trace) -> tuple[Finding, ...]:
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
    differ, most = differing(padded, packed, done.tolerance), largest(padded, packed)
    name = f"{_WAYS[d].capitalize()} half" if done.directions == 2 else "Output"
    place = "packed position" if _left(done) else "valid position"
    if differ:
        told = f"{name}: differs at {place}s of {letters(differ)}, by up to {written(most)}{_why(done, d)}."
    else:
        told = f"{name}: equal at every {place} (largest difference {written(most)}){_why_equal(done, d)}."
    return Finding(_WAYS[d], not differ, most, differ, told)


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
        told = f"At the {where} the padded output goes on, up to {written(most)} away from the filler {filler}."
    else:
        told = f"At the {where} the padded output is the filler {filler}, too (largest difference {written(most)})."
    yield Finding("pads", not differ, most, differ, told)


def _final_states(done: Comparison) -> Iterator[tuple[str, Tensor, Tensor]]:
    yield "h_n", done.h_n_padded, done.h_n_packed
    if done.c_n_padded is not None and done.c_n_packed is not None:
        yield "c_n", done.c_n_padded, done.c_n_packed


def _final(done: Comparison, name: str, d: int, padded: Tensor, packed: Tensor) -> Finding:
    """Compare the final states of one direction, in every layer: (L, B, H)."""
    ours, theirs = (state[d :: done.directions].transpose(0, 1) for state in (padded, packed))  # (B, L, H)
    differ, most = differing(ours, theirs, done.tolerance), largest(ours, theirs)
    what = f"{name}, {_WAYS[d]} half," if done.directions == 2 else name
    if differ:
        told = f"{what} differs for {letters(differ)}, by up to {written(most)}{_why_final(done, d)}."
    else:
        told = f"{what} is equal for every sequence (largest difference {written(most)})."
    return Finding(f"{name}_{_WAYS[d]}", not differ, most, differ, told)


def _why_final(done: Comparison, d: int) -> str:
    if _left(done):
        return f": padded, it has read all {counted(done.valid.size(1), 'column')}; packed, as many as the length"
    return ": it starts in the padding" if d else ": padded, it is the state after the pads"


def _reading(reading: Reading) -> Finding:
    differ, most = reading.differs, largest(reading.padded, reading.packed)
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
