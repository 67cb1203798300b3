"""The vector per sequence that one goes on with: which reading of the output it is, and whether it has seen pads."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import partial
from typing import cast

import torch
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence

from packviz.inputs.module import directions, run_module
from packviz.inputs.torch_answers import ask
from packviz.rules.case import Case
from packviz.rules.finding import Finding, Severity, places
from packviz.text import sequence_label

__all__ = ["check_readout"]

State = Tensor | tuple[Tensor, Tensor]
MAX_ROWS = 2_000  # of a state whose order is looked for


@dataclass(frozen=True, eq=False)
class _Reading:
    """Hold one way to read a state (B, width) from the output, and what is wrong with it."""

    key: str
    severity: Severity
    code: str
    why: str
    value: Tensor


def check_readout(case: Case, lengths: list[int]) -> list[Finding]:
    """Find out which reading the state (B, width) is; one that is none of those that are known is a note.

    Without a module, nothing shows that an output holds two directions: the state at each last step is then right.
    The module is run as in evaluation, so that dropout between its layers does not blur the comparison.
    """
    given = case.output
    if case.state is None or (given is None and case.module is None) or (given is not None and given.dim() != 3):
        return []
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run_of = _packed_run(case, lengths)
        output = run_of.output
        if output is None or output.size(0) != len(lengths) or max(lengths) > output.size(1):
            return []
        state = case.state.detach().to(output.device)
        state = state[0] if state.dim() == 3 and len(state) == 1 else state  # h_n of one layer and direction
        right = _right(output, lengths, _directions(case))
        for value in (right, *_pooled(output, lengths), *_joined(case, run_of, right)):
            if _same(state, value).all():
                return []
        for reading in (*_wrong(case, output, lengths), *_from_states(case, run_of), *_in_another_order(state, right)):
            if reading.value.shape == state.shape and bool(_same(state, reading.value).all()):
                return [_finding(case, reading, right, lengths)]
        return [_unknown(case, state, right, lengths)]


@dataclass(frozen=True, eq=False)
class _Run:
    """Hold the unpacked output (B, T, D*H), and h_n and c_n (L*D, B, H) where a module could be run."""

    output: Tensor | None
    h_n: Tensor | None = None
    c_n: Tensor | None = None


def _packed_run(case: Case, lengths: list[int]) -> _Run:
    """Return the output that was given, else that of the module, with the sequences first; and the final states."""
    output = None
    if case.output is not None:
        output = case.output.detach() if case.batch_first else case.output.detach().transpose(0, 1)
    packed = case.packed
    if packed is None and case.x is not None:
        packed = pack_padded_sequence(case.by_sequence.detach(), lengths, batch_first=True, enforce_sorted=False)
    if case.module is None or packed is None or ask(partial(run_module, case.module, packed, case.hx)).error:
        return _Run(output)
    rows, final = cast("tuple[PackedSequence, State]", run_module(case.module, packed, case.hx))
    h_n, c_n = final if isinstance(final, tuple) else (final, None)
    return _Run(pad_packed_sequence(rows, batch_first=True)[0] if output is None else output, h_n, c_n)


def _directions(case: Case) -> int:
    return 1 if case.module is None else directions(case.module)


def _last(output: Tensor, lengths: list[int]) -> Tensor:
    return output[torch.arange(len(lengths)), torch.tensor(lengths) - 1]


def _right(output: Tensor, lengths: list[int], D: int) -> Tensor:
    """Return (B, D*H): every direction's state after it has seen the whole sequence."""
    forward = _last(output, lengths)
    if D == 1:
        return forward
    H = output.size(2) // 2
    return torch.cat([forward[:, :H], output[:, 0, H:]], 1)


def _pooled(output: Tensor, lengths: list[int]) -> list[Tensor]:
    """Return mean and maximum over the tokens alone, (B, D*H)."""
    rows = [output[b, :length] for b, length in enumerate(lengths)]
    return [torch.stack([row.mean(0) for row in rows]), torch.stack([row.amax(0) for row in rows])]


def _joined(case: Case, packed: _Run, right: Tensor) -> list[Tensor]:
    """Return right readings of another shape: both directions added, and the final states of all layers."""
    sums = [right.chunk(2, 1)[0] + right.chunk(2, 1)[1]] if _directions(case) == 2 else []
    layers = [packed.h_n.transpose(0, 1).flatten(1)] if packed.h_n is not None else []
    return [*sums, *(half / 2 for half in sums), *layers]


def _wrong(case: Case, output: Tensor, lengths: list[int]) -> list[_Reading]:
    last = "output[:, -1]" if case.batch_first else "output[-1]"
    seen = "its steps after a sequence's length hold the filler, or states that have run over pads"
    B, ends_at = torch.arange(len(lengths)), torch.tensor(lengths)
    early, late = "one step too early", "one step too late: the filler, or a state that has run over a pad"
    readings = [
        _Reading("naive_last", "silent", last, seen, output[:, -1]),
        _Reading("pads_pooled", "silent", "the mean over all steps", "pads count as steps", output.mean(1)),
        _Reading("pads_pooled", "silent", "the maximum over all steps", "pads take part", output.amax(1)),
        _Reading("off_by_one", "silent", "output at lengths - 2", early, output[B, ends_at - 2]),
        _Reading("off_by_one", "silent", "output at lengths - 2", early, output[B, (ends_at - 2).clamp(min=0)]),
        _Reading("off_by_one", "silent", "output at lengths", late, output[B, ends_at.clamp(max=output.size(1) - 1)]),
    ]
    if _directions(case) == 2:
        H, ends = output.size(2) // 2, _last(output, lengths)
        one = "the backward half at the last step has seen one step only"
        for code, grid in (("the output at each last step", ends), (last, output[:, -1])):
            both = grid[:, :H] + grid[:, H:]
            readings.append(_Reading("backward_one_step", "silent", f"the sum of both halves of {code}", one, both))
        whole = _right(output, lengths, 2)
        half = "only one of two directions is in it"
        readings.insert(0, _Reading("backward_one_step", "silent", "the output at each last step", one, ends))
        readings.append(_Reading("one_direction", "note", "h_n[-1]", f"{half}: the backward one", whole[:, H:]))
        readings.append(_Reading("one_direction", "note", "h_n[-2]", f"{half}: the forward one", whole[:, :H]))
    if case.module is not None and case.x is not None:
        padded = case.by_sequence.detach() if case.module.batch_first else case.by_sequence.detach().transpose(0, 1)
        ran, final = cast("tuple[Tensor, State]", run_module(case.module, padded, case.hx))
        h_n = final[0] if isinstance(final, tuple) else final
        ran = ran if case.module.batch_first else ran.transpose(0, 1)
        after = "the module ran over the pads, too"
        top = torch.cat(list(h_n[-_directions(case) :]), 1)
        readings.append(_Reading("state_after_pads", "silent", f"{last} of the padded run", after, ran[:, -1]))
        readings.append(_Reading("state_after_pads", "silent", "h_n of the padded run", after, top))
    return readings


def _from_states(case: Case, packed: _Run) -> list[_Reading]:
    """Return wrong readings of h_n and c_n (L*D, B, H)."""
    if packed.h_n is None:
        return []
    D, h_n = _directions(case), packed.h_n
    mixed = "view does not exchange dimensions: each row mixes the states of several sequences"
    readings = [
        _Reading("states_mixed", "silent", "h_n.view(B, -1)", mixed, h_n.reshape(h_n.size(1), -1)),
        _Reading("states_mixed", "silent", f"h_n[-{D}:].view(B, -1)", mixed, h_n[-D:].reshape(h_n.size(1), -1)),
    ]
    for name, states in (("h_n", h_n), ("c_n", packed.c_n)):
        if states is None:
            continue
        for first in range(0, len(states), D):
            layer, top = f"layer {first // D}", first + D == len(states)
            key, why = ("lower_layer", f"the final state of {layer}; the output is that of the top layer")
            if name == "c_n":
                key, why = "cell_state", f"the cell state of {layer}, which is not the output of an LSTM"
            elif top:
                continue
            parts = {f"{name}[{slot}]": states[slot] for slot in range(first, first + D)}
            if D == 2:
                parts[f"both directions of {name}, {layer}"] = torch.cat(list(states[first : first + 2]), 1)
            readings += [_Reading(key, "silent", code, why, value) for code, value in parts.items()]
    return readings


def _in_another_order(state: Tensor, right: Tensor) -> list[_Reading]:
    """Return the right states in the order in which they stand in the state; () where one of them is in none."""
    if state.shape != right.shape or len(state) > MAX_ROWS:
        return []
    half = _in_half(state, right)
    apart = torch.cdist(state.double(), right.double(), p=float("inf"))
    fits = apart <= (1e-2 if half else 1e-5)  # (B, B): row b of the state is that of sequence p
    if not bool(fits.any(1).all()) or not bool(fits.any(0).all()):
        return []
    order = fits.int().argmax(1)
    moved = next(b for b in range(len(order)) if not fits[b, b])
    why = f"row {moved} is the state of sequence {sequence_label(int(order[moved]))}"
    return [_Reading("states_order", "silent", "in another order than the sequences", why, right[order])]


def _unknown(case: Case, state: Tensor, right: Tensor, lengths: list[int]) -> Finding:
    """Return the note for a state that is none of the readings."""
    rows, steps = tuple(range(len(lengths))), tuple(length - 1 for length in lengths)
    found = "The state is none of the readings that are known here"
    does = f"takes any tensor here; the state after each sequence's last step has shape {tuple(right.shape)}"
    if state.shape == right.shape:
        apart = (state.double() - right.double()).abs().amax(1)
        rows = tuple((~_same(state, right)).nonzero().flatten().tolist())
        steps = tuple(lengths[b] - 1 for b in rows)
        found += f": it is up to {float(apart.max()):.3g} away from the state after each sequence's last step."
        does = "takes any tensor here, without a check"
    else:
        found += f": it has shape {tuple(state.shape)}."
    if case.module is not None and case.module.training and case.module.dropout and case.module.num_layers > 1:
        found += " The module is in training and drops out between its layers: compare a state from evaluation."
    return Finding("state_unknown", "note", found, places(rows, steps), does, _repair(case), rows, steps)


def _same(one: Tensor, other: Tensor) -> Tensor:
    """Return (B,) bool: which rows are equal up to rounding; none where the shapes differ."""
    if one.shape != other.shape:
        return torch.zeros(1, dtype=torch.bool)
    half = _in_half(one, other)
    return torch.isclose(one, other.to(one.dtype), rtol=1e-2 if half else 1e-4, atol=1e-2 if half else 1e-5).all(-1)


def _in_half(one: Tensor, other: Tensor) -> bool:
    """Tell whether bfloat16 or float16 has been at work."""
    half = bool({torch.bfloat16, torch.float16} & {one.dtype, other.dtype})
    return half or torch.is_autocast_enabled(one.device.type)


def _finding(case: Case, reading: _Reading, right: Tensor, lengths: list[int]) -> Finding:
    state = reading.value
    rows = list(range(len(lengths)))
    if state.shape == right.shape:
        rows = (~_same(state, right)).nonzero().flatten().tolist()
        by = f"{(state - right)[rows].abs().max().item():.3g}"
        does = f"returns it without a word: it is up to {by} away from the state after each sequence's last step"
    else:
        does = f"returns it without a word: {state.size(1)} of {right.size(1)} numbers"
    steps = tuple(lengths[b] - 1 for b in rows)
    found = f"The state is {reading.code}: {reading.why}."
    repair = _repair(case)
    return Finding(reading.key, reading.severity, found, places(rows, steps), does, repair, tuple(rows), steps)


def _repair(case: Case) -> str:
    lines = ["import torch"]
    if case.output is None:
        lines = [
            "import torch",
            "from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence\n",
            "packed = pack_padded_sequence(x, lengths, batch_first, enforce_sorted=False)"
            if case.packed is None
            else "",
            f"output, lengths = pad_packed_sequence(module(packed, hx)[0], batch_first={case.batch_first})",
        ]
    grid = "output" if case.batch_first else "output.transpose(0, 1)"
    lines += ["", f"grid = {grid}  # (B, T, D*H)", "last = torch.as_tensor(lengths).to(grid.device) - 1"]
    lines += ["state = grid[torch.arange(len(last)), last]  # (B, D*H): the state after each last step"]
    if _directions(case) == 2:
        lines += [
            "H = grid.size(-1) // 2",
            "state = torch.cat([state[:, :H], grid[:, 0, H:]], 1)  # the backward direction ends at t = 0",
        ]
    return "\n".join(line for line in lines if line is not None)
