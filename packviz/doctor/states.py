"""The initial state that a module is given."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence

from packviz.checks.evidence import described
from packviz.doctor.asking import refusal, run
from packviz.doctor.case import Case
from packviz.doctor.finding import Finding, severity_of
from packviz.modules import directions, state_size

__all__ = ["check_state"]

_NOT_RUN = "was not asked: it does not check the hx of a packed LSTM, and such states can crash the process"
_FRESH = "hx = None  # zeros, as torch takes them"


def check_state(case: Case, B: int) -> list[Finding]:
    """Check hx: its kind, its shape (L*D, B, H), its dtype and its device; in the order in which the sequences came."""
    module, hx = case.module, case.hx
    assert module is not None
    if hx is None:
        return []
    parts = hx if isinstance(hx, tuple | list) else (hx,)
    wanted = 2 if module.mode == "LSTM" else 1
    if len(parts) != wanted or not all(isinstance(part, Tensor) for part in parts) or (wanted == 1 and parts is hx):
        return [_other_kind(case, B, parts)]
    slots = module.num_layers * directions(module)
    batched = case.packed is not None or case.lengths is not None or (case.x is not None and case.x.dim() == 3)
    widths = (state_size(module), module.hidden_size)
    for name, part, width in zip(("h_0", "c_0"), parts, widths, strict=False):
        shape = (slots, B, width) if batched else (slots, width)
        weight = module.weight_ih_l0
        assert isinstance(weight, Tensor)
        if tuple(part.shape) != shape:
            return [_other_shape(case, name, part, shape, B)]
        if part.dtype != weight.dtype or part.device != weight.device:
            says = _says(case, B)
            if says is None:
                continue
            found = f"{name} is {described(part)} on {part.device}; the weights are {weight.dtype} on {weight.device}."
            return [Finding("hx_dtype", "error", found, name, says, _converted(wanted))]
    return []


def _converted(wanted: int) -> str:
    if wanted == 1:
        return "hx = hx.to(module.weight_ih_l0)"
    return "hx = tuple(part.to(module.weight_ih_l0) for part in hx)"


def _other_kind(case: Case, B: int, parts: object) -> Finding:
    module = case.module
    assert module is not None
    name = type(module).__name__
    came = f"a {type(case.hx).__name__} of {len(parts)}" if parts is case.hx else described(case.hx)  # type: ignore[arg-type]
    found = (
        f"{name} takes {'a tuple (h_0, c_0)' if module.mode == 'LSTM' else 'one tensor h_0'} as hx, and it is {came}."
    )
    repair = _FRESH
    if module.mode == "LSTM" and isinstance(case.hx, Tensor):
        repair = "hx = (hx, hx.new_zeros(*hx.shape[:-1], module.hidden_size))"
    elif module.mode != "LSTM" and isinstance(case.hx, tuple | list) and case.hx and isinstance(case.hx[0], Tensor):
        repair = "hx = hx[0]"
    says = _says(case, B) or "takes it without a word"
    return Finding("hx_kind", "error" if says == _NOT_RUN else severity_of(says), found, "hx", says, repair)


def _other_shape(case: Case, name: str, part: Tensor, shape: tuple[int, ...], B: int) -> Finding:
    found = f"{name} has shape {tuple(part.shape)}; layers times directions, sequences and width make {shape}."
    repair = _FRESH
    if len(shape) == 3 and tuple(part.shape) == (shape[1], shape[0], shape[2]):
        found += " The sequences stand second, also with batch_first=True."
        turn = "{}.transpose(0, 1).contiguous()"
        repair = f"hx = {turn.format('hx')}"
        if isinstance(case.hx, tuple | list):
            repair = f"hx = tuple({turn.format('part')} for part in hx)"
    says = _says(case, B) or "takes it without a word"
    return Finding("hx_shape", "error" if says == _NOT_RUN else severity_of(says), found, name, says, repair)


def _crashes(case: Case, module: nn.RNNBase) -> bool:
    """Tell whether torch can read past the end of a state: it does not check the hx of a packed LSTM."""
    packed = case.packed is not None or case.lengths is not None
    if not packed or not isinstance(case.hx, tuple | list) or len(case.hx) != 2 or module.mode != "LSTM":
        return False
    H, B = (state_size(module), module.hidden_size), _sequences(case)
    slots, weight = module.num_layers * directions(module), module.weight_ih_l0
    assert isinstance(weight, Tensor)
    fitting = [(slots, B, width) for width in H]
    narrow = any(isinstance(part, Tensor) and part.element_size() < weight.element_size() for part in case.hx)
    return narrow or [tuple(part.shape) for part in case.hx if isinstance(part, Tensor)] != fitting


def _sequences(case: Case) -> int:
    if case.packed is not None:
        return int(case.packed.batch_sizes[0])
    return case.by_sequence.size(0)


def _says(case: Case, B: int) -> str | None:
    """Return what torch says of this hx beside one step of B sequences, or None where it takes it."""
    module = case.module
    assert module is not None
    if _crashes(case, module):
        return _NOT_RUN
    weight = module.weight_ih_l0
    assert isinstance(weight, Tensor)
    data = torch.zeros(B, module.input_size, dtype=weight.dtype, device=weight.device)
    packed = PackedSequence(data, torch.tensor([B], device="cpu"))
    given: Tensor | PackedSequence = packed
    if case.packed is not None:
        given = packed._replace(
            sorted_indices=case.packed.sorted_indices, unsorted_indices=case.packed.unsorted_indices
        )
    elif case.lengths is not None:
        order = torch.arange(B, device=weight.device)
        if not case.enforce_sorted:
            given = PackedSequence(data, torch.tensor([B], device="cpu"), order)
    elif case.x is not None:
        given = case.x[:1] if case.x.dim() == 2 else data.unsqueeze(1 if module.batch_first else 0)
    return refusal(lambda: run(module, given, case.hx))
