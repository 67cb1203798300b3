"""The same module, the same weights and the same initial state on the padded batch and on the packed one."""

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
from packviz.facts.readout import ReadoutPair, readings
from packviz.facts.words import sentence
from packviz.inputs.config import DIRECTIONS
from packviz.inputs.module import directions
from packviz.rules.finding import Finding
from packviz.text import Brief, in_words

__all__ = ["Comparison", "Switch", "compare", "switches"]


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Brief):
    """One module's run over the padded grid beside its run over the packed rows; all batch first."""

    padded: Tensor  # (B, T, D*H), torch's output on the padded grid, including the pads
    packed: Tensor  # (B, T, D*H), the packed output unpacked to the same width, with filler after each sequence
    valid: Tensor  # (B, T) bool: the cells that were packed, t < length
    real: Tensor  # (B, T) bool: the cells that hold a token; they differ from valid only after padding on the left
    # what is equal, as a note, and what is not: forward, backward, pads, h_n_forward, packed_pads etc.
    findings: tuple[Finding, ...]
    readings: tuple[ReadoutPair, ...]  # last column, last valid step, and h_n of the top layer for each direction

    @property
    def tolerance(self) -> float:
        """Return the largest difference that is called equal."""
        return tolerance_of(self.padded.dtype)

    @cached_property
    def apart(self) -> Tensor:
        """Return (B, T): the largest difference in each cell, float64."""
        return apart(self.padded, self.packed).amax(2)

    @property
    def sentences(self) -> dict[str, str]:
        """Return the sentences of all findings, and of the two readings of the output, by key."""
        findings = {each.key: each.found for each in self.findings}
        return findings | {each.key: sentence("reading.both", it=each) for each in self.readings[:2]}

    @property
    def verdicts(self) -> dict[str, tuple[bool, ...]]:
        """Return by key whether both sides agree, and for a reading also whether it is right, padded and packed."""
        verdicts: dict[str, tuple[bool, ...]] = {each.key: (each.severity == "note",) for each in self.findings}
        for each in self.readings[:2]:
            same = not differing(each.padded.values, each.packed.values)
            verdicts[each.key] = (same, each.padded.right, each.packed.right)
        return verdicts


def compare(trace: Trace) -> Comparison:
    """Run torch's module over the padded grid, including the pads, and compare it with the packed run of the trace.

    Raises PackvizError if torch refused to pack the lengths.
    """
    with exact_arithmetic():
        packed, ran = packed_grid(trace), run_padded(trace)
        found = tuple(_findings(trace, ran, packed))
        read = readings(trace, *ran[:2])
    return Comparison(ran[0], packed, valid_cells(trace), trace.padded.mask, found, read)


def _findings(trace: Trace, ran: Answer, packed: Tensor) -> Iterator[Finding]:
    """Yield the verdicts: each half of the output, the pads, h_n and c_n by direction, and what was packed."""
    padded, D, valid = ran[0], directions(trace.module), valid_cells(trace)
    left, pads, inside = bool((valid != trace.padded.mask).any()), int((~valid).sum()), valid.unsqueeze(2)
    T, place = valid.size(1), "packed position" if left else "valid position"
    for d in range(D):
        halves = [grid.chunk(D, 2)[d].masked_fill(~inside, 0.0) for grid in (padded, packed)]
        still = bool(d) and not left and not any(bool(layer[d][~valid].any()) for layer in layer_states(trace))
        equal = "half_equal" if pads and not still else "half_equal_still" if pads else "half_equal_without_pads"
        differs = _of_half(d, D, trace.module.num_layers, left=left)
        half = f"{DIRECTIONS[d]} half" if D == 2 else "output"
        yield _finding(equal, differs, DIRECTIONS[d], *halves, half=half, place=place, last=T - 1)
    if pads:
        grids = [grid.masked_fill(inside, 0.0) for grid in (padded, packed)]
        there = f"{in_words(pads, 'position')} that packing left out" if left else in_words(pads, "pad")
        yield _finding("pads_equal", "pads_differ", "pads", *grids, filler=f"{trace.padding_value:g}", place=there)
    for name, ours, theirs in (("h_n", ran[1], trace.h_n), ("c_n", ran[2], trace.c_n)):
        if ours is not None and theirs is not None:
            for d in range(D):
                layers = [part[d::D].transpose(0, 1) for part in (ours, theirs)]  # (B, L, H)
                state = f"The {DIRECTIONS[d]} half of {name}" if D == 2 else name
                differs = "final_reads_all" if left else "final_from_pads" if d else "final_after_pads"
                yield _finding("final_equal", differs, f"{name}_{DIRECTIONS[d]}", *layers, state=state, T=T)
    if rows := trace.packed.sequence[trace.packed_is_pad].tolist():
        off = tuple(sorted(set(rows)))
        text = sentence("compare.packed_pads", off=off, count=len(rows), rows=len(trace.output))
        yield Finding("packed_pads", "silent", text, sequences=off)


def _of_half(d: int, D: int, L: int, *, left: bool) -> str:
    """Return the sentence that says that half d of the output differs, and why."""
    if d:
        return "half_differs_elsewhere" if left else "half_differs_from_pads"
    return "half_differs_below" if D == 2 and L > 1 else "half_differs"


def _finding(equal: str, differs: str, key: str, padded: Tensor, packed: Tensor, **known: object) -> Finding:
    """Compare (B, ...), padded and packed, row by row, and say one of two sentences."""
    off, most = differing(padded, packed), distance(padded, packed)
    text = sentence(f"compare.{differs if off else equal}", off=off, most=most, **known)
    return Finding(key, "silent" if off else "note", text, sequences=off)


@dataclass(frozen=True, repr=False)
class Switch(Brief):
    """What one changed setting does to the verdicts."""

    setting: str  # the name of the setting in Config
    before: object  # its value in the trace
    after: object  # the value that was tried
    # the verdicts that change between equal and different, or right and wrong: the new sentence by key; a missing half
    # counts as equal
    changed: dict[str, str]

    @property
    def sentence(self) -> str:
        """Return what the changed setting does, with the sentences of the verdicts that change."""
        words = "compare.switch_changes" if self.changed else "compare.switch_changes_nothing"
        changed = [*self.changed.values()]
        return sentence(words, setting=self.setting, before=self.before, after=self.after, changed=changed)


def switches(trace: Trace) -> tuple[Switch, ...]:
    """Trace and compare the batch again with one setting changed at a time, and return which verdicts change.

    The weights are drawn from the same seed. A change that makes the module too large is skipped. Returns () for a
    module of your own. Raises PackvizError if torch refused to pack the lengths.
    """
    now = compare(trace)
    if trace.batch is None or trace.config is None:
        return ()
    done, config = [], trace.config
    changes: dict[str, Any] = {
        "bias": not config.bias,
        "bidirectional": not config.bidirectional,
        "padding_side": "left" if config.padding_side == "right" else "right",
    }
    if trace.padded.embedding is not None:
        changes["padding_idx"] = 0 if config.padding_idx is None else None
    changes["num_layers"] = config.num_layers + 1
    for setting, value in changes.items():
        try:
            then = compare(run(trace.batch, replace(config, **{setting: value})))
        except PackvizError:
            continue
        done.append(Switch(setting, getattr(config, setting), value, _changed(now, then)))
    return tuple(done)


def _changed(now: Comparison, then: Comparison) -> dict[str, str]:
    before, after, sentences = now.verdicts, then.verdicts, then.sentences

    def amiss(verdicts: dict[str, tuple[bool, ...]], key: str) -> tuple[bool, ...]:
        """Return the verdict, or () if all is well or the key is missing."""
        return () if all(verdicts.get(key, ())) else verdicts[key]

    changed = [key for key in dict.fromkeys((*before, *after)) if amiss(before, key) != amiss(after, key)]
    return {key: sentences.get(key) or _gone(key) for key in changed}


def _gone(key: str) -> str:
    """Return that there is no such half now, or that no padding is packed."""
    if key == "packed_pads":
        return sentence("compare.gone_packed_pads")
    state, _, half = key.rpartition("_")
    return sentence("compare.gone_half_of" if state else "compare.gone_half", half=half, state=state)
