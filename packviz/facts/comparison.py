"""The same module, the same weights and the same initial state on the padded batch and on the packed one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from torch import Tensor

from packviz.compute.determinism import exact_arithmetic
from packviz.compute.record import Trace
from packviz.compute.trace import trace as run
from packviz.compute.verify import apart, differing, distance, tolerance_of
from packviz.errors import PackvizError
from packviz.facts.padded_run import Answer, layer_states, packed_grid, run_padded, valid_cells
from packviz.facts.readings import Reading, readings
from packviz.facts.readouts import WAYS
from packviz.inputs.config import Config
from packviz.inputs.module import directions
from packviz.text import counted, letters, two_digits

__all__ = ["Comparison", "Finding", "Switch", "compare", "switches"]

_MAX_LAYERS = 4


@dataclass(frozen=True)
class Finding:
    """Hold one verdict.

    key        what it is about: forward, backward, pads, h_n_forward, packed_pads and so on
    same       whether both sides agree up to rounding
    largest    the largest difference; for packed_pads how many there are
    sequences  those that differ
    told       the sentence
    """

    key: str
    same: bool
    largest: float
    sequences: tuple[int, ...]
    told: str


@dataclass(frozen=True, eq=False)
class Comparison:
    """Hold one module's run over the padded grid beside its run over the packed one; all batch first.

    padded      (B, T, D*H), torch's output on the padded grid, pads computed on
    packed      (B, T, D*H), the packed output unpacked to the same width, with filler after each end
    valid       (B, T) bool: the cells that were packed, t < length
    real        (B, T) bool: the cells that hold a token; other ones than valid only after padding on the left
    findings    what is equal and what is not, with what it rests on
    readings    last column, last valid step, and h_n of the top layer for each direction
    """

    padded: Tensor
    packed: Tensor
    valid: Tensor
    real: Tensor
    findings: tuple[Finding, ...]
    readings: tuple[Reading, ...]

    @property
    def tolerance(self) -> float:
        """Return up to where two numbers are called equal."""
        return tolerance_of(self.padded.dtype)

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
    def told(self) -> dict[str, str]:
        """Return the sentences of all findings, and of the two readings of the output, by key."""
        findings = {each.key: each.told for each in self.findings}
        return findings | {each.key: each.told for each in self.readings[:2]}

    @property
    def verdicts(self) -> dict[str, tuple[bool, ...]]:
        """Return by key what is well: that both sides agree; of a reading also that it is right, padded and packed."""
        verdicts: dict[str, tuple[bool, ...]] = {each.key: (each.same,) for each in self.findings}
        for each in self.readings[:2]:
            verdicts[each.key] = (not each.differs, each.padded.right, each.packed.right)
        return verdicts


def compare(trace: Trace) -> Comparison:
    """Run torch's module over the padded grid, pads and all, and set it beside the packed run of the trace.

    Raises PackvizError where torch refused to pack the lengths.
    """
    with exact_arithmetic():
        packed, ran = packed_grid(trace), run_padded(trace)
        found = tuple(_findings(trace, ran, packed))
        read = readings(trace, ran[0], packed, ran[1])
    return Comparison(ran[0], packed, valid_cells(trace), trace.padded.mask, found, read)


def _findings(trace: Trace, ran: Answer, packed: Tensor) -> Iterator[Finding]:
    """Yield the verdicts: each half of the output, the pads, h_n and c_n by direction, and what was packed."""
    padded, D, valid = ran[0], directions(trace.module), valid_cells(trace).unsqueeze(2)
    left = bool((valid_cells(trace) != trace.padded.mask).any())
    place = "packed position" if left else "valid position"
    for d in range(D):
        name = f"{WAYS[d].capitalize()} half" if D == 2 else "Output"
        differs = f"{name}: differs at {place}s of {{}}, by up to {{}}{_why_half(trace, d, left=left)}."
        equal = f"{name}: equal at every {place} (largest difference {{}}){_why_equal(trace, d, left=left)}."
        yield _finding(
            WAYS[d], [grid.chunk(D, 2)[d].masked_fill(~valid, 0.0) for grid in (padded, packed)], differs, equal
        )
    if count := int((~valid).sum()):
        where = f"{counted(count, 'position')} that packing left out" if left else counted(count, "pad")
        filler = f"{trace.padding_value:g}"
        differs = f"At the {where} the padded output goes on, up to {{1}} away from the filler {filler}."
        equal = f"At the {where} the padded output is the filler {filler}, too (largest difference {{}})."
        yield _finding("pads", [grid.masked_fill(valid, 0.0) for grid in (padded, packed)], differs, equal)
    for name, ours, theirs in (("h_n", ran[1], trace.h_n), ("c_n", ran[2], trace.c_n)):
        for d in range(0 if ours is None or theirs is None else D):
            what = f"{name}, {WAYS[d]} half," if D == 2 else name
            layers = [state[d::D].transpose(0, 1) for state in (ours, theirs) if state is not None]  # (B, L, H)
            differs = f"{what} differs for {{}}, by up to {{}}{_why_final(trace, d, left=left)}."
            equal = f"{what} is equal for every sequence (largest difference {{}})."
            yield _finding(f"{name}_{WAYS[d]}", layers, differs, equal)
    yield from _packed_pads(trace)


def _finding(key: str, sides: list[Tensor], differs: str, equal: str) -> Finding:
    """Compare (B, ...), padded and packed, row by row.

    differs takes the letters of the sequences and the largest difference, equal only the latter.
    """
    padded, packed = sides
    off, most = differing(padded, packed, tolerance_of(padded.dtype)), distance(padded, packed)
    told = differs.format(letters(off), two_digits(most)) if off else equal.format(two_digits(most))
    return Finding(key, not off, most, off, told)


def _why_half(trace: Trace, d: int, *, left: bool) -> str:
    if d == 0:
        deep = trace.module.bidirectional and trace.module.num_layers > 1
        return ": it reads the backward half of the layer below" if deep else ""
    if left:
        return f": padded, it starts at t = {trace.padded.mask.size(1) - 1}, packed at t = length - 1"
    return ": it starts in the padding"


def _why_equal(trace: Trace, d: int, *, left: bool) -> str:
    unpacked = ~valid_cells(trace)
    if not bool(unpacked.any()):
        return ": there is no padding in this batch"
    if d == 0 or left or any(bool(layer[d][unpacked].any()) for layer in layer_states(trace)):
        return ""
    return ": its state stays 0 in the padding"


def _why_final(trace: Trace, d: int, *, left: bool) -> str:
    if left:
        return (
            f": padded, it has read all {counted(trace.padded.mask.size(1), 'column')}; packed, as many as the length"
        )
    return ": it starts in the padding" if d else ": padded, it is the state after the pads"


def _packed_pads(trace: Trace) -> Iterator[Finding]:
    packed = trace.packed.sequence[trace.packed_is_pad].tolist()
    if packed:
        count, sequences = len(packed), tuple(sorted(set(packed)))
        are, dropped = ("is a pad", "one token") if count == 1 else ("are pads", "as many tokens")
        told = (
            f"Padding was packed: {count} of the {counted(len(trace.output), 'packed row')} {are}, and {dropped} of "
            f"{letters(sequences)} {'was' if count == 1 else 'were'} dropped."
        )
        yield Finding("packed_pads", False, float(count), sequences, told)


@dataclass(frozen=True)
class Switch:
    """Hold what one changed setting does to the verdicts.

    setting  the name of the setting in Config
    before   its value in the trace
    after    the value that was tried
    changed  the verdicts that change, from equal to different, from right to wrong, or back: the sentence with the
             changed setting by key; a half that is not there counts as equal
    """

    setting: str
    before: object
    after: object
    changed: dict[str, str]

    @property
    def told(self) -> str:
        """Return what the changed setting does, with the sentences of the verdicts that change."""
        head = f"{self.setting}={self.after!r} instead of {self.before!r}"
        if not self.changed:
            return f"{head}: no verdict on the outputs changes."
        count = len(self.changed)
        return f"{head}: {count} verdict{' changes' if count == 1 else 's change'}. {' '.join(self.changed.values())}"


def switches(trace: Trace) -> tuple[Switch, ...]:
    """Trace and compare the batch again with one setting changed at a time: which verdicts change?

    The weights are drawn from the same seed. A change that makes the module too large is left out. Return () for a
    module of your own. Raises PackvizError where torch refused to pack the lengths.
    """
    now = compare(trace)
    if trace.batch is None or trace.config is None:
        return ()
    done = []
    for setting, value in _changes(trace.config, embedded=trace.padded.embedding is not None):
        try:
            then = compare(run(trace.batch, replace(trace.config, **{setting: value})))
        except PackvizError:
            continue
        done.append(Switch(setting, getattr(trace.config, setting), value, _changed(now, then)))
    return tuple(done)


def _changes(config: Config, *, embedded: bool) -> Iterator[tuple[str, Any]]:
    yield "bias", not config.bias
    yield "bidirectional", not config.bidirectional
    yield "padding_side", "left" if config.padding_side == "right" else "right"
    if embedded:
        yield "padding_idx", 0 if config.padding_idx is None else None
    if config.num_layers < _MAX_LAYERS:
        yield "num_layers", config.num_layers + 1


def _changed(now: Comparison, then: Comparison) -> dict[str, str]:
    before, after, told = now.verdicts, then.verdicts, then.told

    def amiss(verdicts: dict[str, tuple[bool, ...]], key: str) -> tuple[bool, ...]:
        """Return the verdict, () where all is well, or where there is no such thing."""
        return () if all(verdicts.get(key, ())) else verdicts[key]

    changed = [key for key in dict.fromkeys((*before, *after)) if amiss(before, key) != amiss(after, key)]
    return {key: told.get(key, f"{_named(key)}: no longer there.") for key in changed}


def _named(key: str) -> str:
    if key == "packed_pads":
        return "Packed pads"
    name, _, half = key.rpartition("_")
    return f"{name}, {half} half" if name else f"{key.capitalize()} half"
