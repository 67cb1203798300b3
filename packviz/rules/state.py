"""The initial state that a module is given: its kind, its shape (L*D, B, H), its dtype and its device."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence

from packviz.errors import PackvizError
from packviz.inputs.module import directions, dtype_name, run_module, state_size, weight_dtype, zero_state
from packviz.inputs.torch_answers import Answer, ask
from packviz.rules.case import Case
from packviz.rules.evidence import described, frozen_copy, tensor_obstacle
from packviz.rules.finding import Finding, raise_first, refused

__all__ = ["check_state", "state_of"]

_UNCHECKED = "it does not check the hx of a packed LSTM, and such states can crash the process"
_FRESH = "hx = None  # zeros, as torch takes them"


def state_of(case: Case, B: int) -> tuple[Tensor, Tensor | None]:
    """Return copies of h_0 (L*D, B, P) and, for the LSTM, c_0 (L*D, B, H); zeros where hx is None.

    Raises PackvizError for a state that does not fit the module, or is not dense and on the CPU.
    """
    module, hx = case.layer, case.hx
    if hx is None:
        return zero_state(module, B, weight_dtype(module))
    states = hx if isinstance(hx, tuple | list) else (hx,)
    for name, state in zip(("h_0", "c_0"), states, strict=False):
        if isinstance(state, Tensor) and (obstacle := tensor_obstacle(state)):
            expected, mend = f"{name} as a dense tensor on the CPU", f"convert it, for example {name}.cpu()"
            raise PackvizError("hx", expected=expected, came=obstacle, mend=mend)
    raise_first(check_state(case, B, exactly=True))
    h_0, *c_0 = (frozen_copy(state) for state in states if isinstance(state, Tensor))
    return h_0, c_0[0] if c_0 else None


def check_state(case: Case, B: int, *, exactly: bool = False) -> list[Finding]:
    """Check hx, which has the sequences in the order in which they came; exactly: also where torch would convert it."""
    module, hx = case.layer, case.hx
    if hx is None:
        return []
    parts = hx if isinstance(hx, tuple | list) else (hx,)
    pair = module.mode == "LSTM"
    if len(parts) != 1 + pair or not all(isinstance(part, Tensor) for part in parts) or (not pair and parts is hx):
        return [_other_kind(case, B)]
    slots = module.num_layers * directions(module)
    batched = case.packed is not None or case.lengths is not None or (case.x is not None and case.x.dim() == 3)
    weight = case.weight
    for name, part, width in zip(("h_0", "c_0"), parts, (state_size(module), module.hidden_size), strict=False):
        shape = (slots, B, width) if batched else (slots, width)
        if tuple(part.shape) != shape:
            return [_other_shape(case, name, part, shape, B)]
        if part.dtype != weight.dtype or part.device != weight.device:
            answer = _answer(case, B)
            if exactly or answer.error or answer.unasked:
                return [_other_dtype(name, part, weight, answer, pair=pair)]
    return []


def _other_dtype(name: str, part: Tensor, weight: Tensor, answer: Answer[object], *, pair: bool) -> Finding:
    one = "hx = hx.to(module.weight_ih_l0)"
    return refused(
        "hx_dtype",
        "hx",
        answer,
        expected=f"{name} in {dtype_name(weight.dtype)} on {weight.device}, as the module's weights are",
        got=f"{described(part)} on {part.device}",
        fix=f"convert it with .to({weight.dtype})",
        where=name,
        repair="hx = tuple(part.to(module.weight_ih_l0) for part in hx)" if pair else one,
        severity="error",
    )


def _other_kind(case: Case, B: int) -> Finding:
    module, hx = case.layer, case.hx
    pair, several = module.mode == "LSTM", isinstance(hx, tuple | list)
    repair = _FRESH
    if pair and isinstance(hx, Tensor):
        repair = "hx = (hx, hx.new_zeros(*hx.shape[:-1], module.hidden_size))"
    elif isinstance(hx, tuple | list) and not pair and hx and isinstance(hx[0], Tensor):
        repair = "hx = hx[0]"
    single = f"one tensor h_0 for {'a GRU' if module.mode == 'GRU' else 'an RNN'}"
    answer = _answer(case, B)
    return refused(
        "hx_kind",
        "hx",
        answer,
        expected="a tuple (h_0, c_0) of two tensors for an LSTM" if pair else single,
        got=f"a {type(hx).__name__} of {len(hx)}" if several else described(hx),  # type: ignore[arg-type]
        fix="give hx=(h_0, c_0)" if pair else "give h_0 alone; only the LSTM has a c_0",
        repair=repair,
        severity="error" if answer.unasked else None,
    )


def _other_shape(case: Case, name: str, part: Tensor, shape: tuple[int, ...], B: int) -> Finding:
    repair = _FRESH
    if len(shape) == 3 and tuple(part.shape) == (shape[1], shape[0], shape[2]):
        turn = "{}.transpose(0, 1).contiguous()"
        repair = f"hx = {turn.format('hx')}"
        if isinstance(case.hx, tuple | list):
            repair = f"hx = tuple({turn.format('part')} for part in hx)"
    answer = _answer(case, B)
    return refused(
        "hx_shape",
        "hx",
        answer,
        expected=f"{name} of shape {shape}: layers times directions, {'sequences, ' if len(shape) == 3 else ''}width",
        got=described(part),
        fix="bring it to that shape; the sequences stand second even with batch_first=True, in the order of x",
        where=name,
        repair=repair,
        severity="error" if answer.unasked else None,
    )


def _crashes(case: Case, module: nn.RNNBase, B: int) -> bool:
    """Tell whether torch can read past the end of a state: it does not check the hx of a packed LSTM."""
    packed = case.packed is not None or case.lengths is not None
    if not packed or not isinstance(case.hx, tuple | list) or len(case.hx) != 2 or module.mode != "LSTM":
        return False
    slots, weight = module.num_layers * directions(module), case.weight
    fitting = [(slots, B, width) for width in (state_size(module), module.hidden_size)]
    states = [part for part in case.hx if isinstance(part, Tensor)]
    narrow = any(part.element_size() < weight.element_size() for part in states)
    return narrow or [tuple(part.shape) for part in states] != fitting


def _answer(case: Case, B: int) -> Answer[object]:
    """Return what torch says of this hx beside one step of B sequences."""
    module = case.layer
    if _crashes(case, module, B):
        return Answer(unasked=_UNCHECKED)
    weight = case.weight
    data = torch.zeros(B, module.input_size, dtype=weight.dtype, device=weight.device)
    given: Tensor | PackedSequence = PackedSequence(data, torch.tensor([B], device="cpu"))
    if case.packed is not None:
        given = PackedSequence(data, torch.tensor([B], device="cpu"), *case.packed[2:])
    elif case.lengths is not None and not case.enforce_sorted:
        order = torch.arange(B, device=weight.device)
        given = PackedSequence(data, torch.tensor([B], device="cpu"), order)
    elif case.lengths is None and case.x is not None:
        given = case.x[:1] if case.x.dim() == 2 else data.unsqueeze(1 if module.batch_first else 0)
    return ask(lambda: run_module(module, given, case.hx))  # type: ignore[type-var]
