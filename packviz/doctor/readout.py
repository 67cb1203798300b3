"""The vector per sequence that one goes on with: which reading of the output it is, and whether it has seen pads."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import cast

import torch
from torch import Tensor
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from packviz.doctor.asking import run
from packviz.doctor.case import Case
from packviz.doctor.finding import Finding, Severity, places
from packviz.modules import directions

__all__ = ["check_readout"]


@dataclass(frozen=True, eq=False)
class _Reading:
    """Hold one way to read a state (B, width) from the output, and what is wrong with it."""

    key: str
    severity: Severity
    code: str
    why: str
    value: Tensor


def check_readout(case: Case, lengths: list[int]) -> list[Finding]:
    """Find out which reading the state (B, width) is; nothing is found where it is none of those that are known.

    Without a module, nothing shows that an output holds two directions: the state at each last step is then right.
    """
    if case.state is None or (case.output is None and case.module is None):
        return []
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        output = _grid(case, lengths)
        if output is None or output.size(0) != len(lengths) or max(lengths) > output.size(1):
            return []
        state = case.state.detach().to(output.device)
        right = _right(output, lengths, _directions(case))
        for value in (right, *_pooled(output, lengths)):
            if _same(state, value).all():
                return []
        for reading in _wrong(case, output, lengths):
            if reading.value.shape == state.shape and bool(_same(state, reading.value).all()):
                return [_finding(case, reading, right, lengths)]
    return []


def _grid(case: Case, lengths: list[int]) -> Tensor | None:
    """Return the unpacked output with the sequences first: the one that was given, else that of the module."""
    if case.output is not None:
        return case.output.detach() if case.batch_first else case.output.detach().transpose(0, 1)
    assert case.module is not None
    if case.packed is None and case.x is None:
        return None
    packed = case.packed
    if packed is None:
        packed = pack_padded_sequence(case.by_sequence.detach(), lengths, batch_first=True, enforce_sorted=False)
    return pad_packed_sequence(run(case.module, packed, case.hx)[0], batch_first=True)[0]  # type: ignore[index]


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


def _wrong(case: Case, output: Tensor, lengths: list[int]) -> list[_Reading]:
    last = "output[:, -1]" if case.batch_first else "output[-1]"
    seen = "its steps after a sequence's length hold the filler, or states that have run over pads"
    readings = [
        _Reading("naive_last", "silent", last, seen, output[:, -1]),
        _Reading("pads_pooled", "silent", "the mean over all steps", "pads count as steps", output.mean(1)),
        _Reading("pads_pooled", "silent", "the maximum over all steps", "pads take part", output.amax(1)),
    ]
    if _directions(case) == 2:
        H, ends = output.size(2) // 2, _last(output, lengths)
        one = "the backward half at the last step has seen one step only"
        whole = _right(output, lengths, 2)
        half = "only one of two directions is in it"
        readings.insert(0, _Reading("backward_one_step", "silent", "the output at each last step", one, ends))
        readings.append(_Reading("one_direction", "note", "h_n[-1]", f"{half}: the backward one", whole[:, H:]))
        readings.append(_Reading("one_direction", "note", "h_n[-2]", f"{half}: the forward one", whole[:, :H]))
    if case.module is not None and case.x is not None:
        padded = case.by_sequence.detach() if case.module.batch_first else case.by_sequence.detach().transpose(0, 1)
        ran, final = cast("tuple[Tensor, Tensor | tuple[Tensor, Tensor]]", run(case.module, padded, case.hx))
        h_n = final[0] if isinstance(final, tuple) else final
        ran = ran if case.module.batch_first else ran.transpose(0, 1)
        after = "the module ran over the pads, too"
        top = torch.cat(list(h_n[-_directions(case) :]), 1)
        readings.append(_Reading("state_after_pads", "silent", f"{last} of the padded run", after, ran[:, -1]))
        readings.append(_Reading("state_after_pads", "silent", "h_n of the padded run", after, top))
    return readings


def _same(one: Tensor, other: Tensor) -> Tensor:
    """Return (B,) bool: which rows are equal up to rounding; none where the shapes differ."""
    if one.shape != other.shape:
        return torch.zeros(1, dtype=torch.bool)
    return torch.isclose(one, other.to(one.dtype), rtol=1e-4, atol=1e-5).all(1)


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
