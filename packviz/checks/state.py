"""The initial state that trace_module() is given."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from packviz.checks.evidence import described, frozen_copy, tensor_obstacle, torch_refusal
from packviz.errors import PackvizError
from packviz.modules import directions, dtype_name, state_size, weight_dtype, zero_state

__all__ = ["check_state"]


def check_state(
    hx: object, module: nn.RNNBase, B: int, run: Callable[[object], object]
) -> tuple[Tensor, Tensor | None]:
    """Return copies of h_0 (L*D, B, P) and, for the LSTM, c_0 (L*D, B, H); zeros where hx is None.

    run is torch's own run with a given hx: where hx is refused, it is asked what torch says. Raises PackvizError.
    """
    if hx is None:
        return zero_state(module, B, weight_dtype(module))

    def refuse(expected: str, came: str, mend: str) -> PackvizError:
        return PackvizError("hx", expected=expected, came=came, mend=mend, torch_says=torch_refusal(lambda: run(hx)))

    states = _states(hx, module, refuse)
    slots = module.num_layers * directions(module)
    for name, state, width in zip(("h_0", "c_0"), states, (state_size(module), module.hidden_size), strict=False):
        _check_one(name, state, (slots, B, width), weight_dtype(module), refuse)
    h_0, *c_0 = (frozen_copy(state) for state in states)
    return h_0, c_0[0] if c_0 else None


Refuse = Callable[[str, str, str], PackvizError]


def _states(hx: object, module: nn.RNNBase, refuse: Refuse) -> tuple[Tensor, ...]:
    if module.mode == "LSTM":
        if isinstance(hx, tuple | list) and len(hx) == 2 and all(isinstance(state, Tensor) for state in hx):
            return tuple(hx)
        raise refuse("a tuple (h_0, c_0) of two tensors for an LSTM", _listed(hx), "give hx=(h_0, c_0)")
    if isinstance(hx, Tensor):
        return (hx,)
    raise refuse(f"one tensor h_0 for {_named(module)}", _listed(hx), "give h_0 alone; only the LSTM has a c_0")


def _check_one(name: str, state: Tensor, shape: tuple[int, int, int], dtype: torch.dtype, refuse: Refuse) -> None:
    if obstacle := tensor_obstacle(state):
        raise refuse(f"{name} as a dense tensor on the CPU", obstacle, f"convert it, for example {name}.cpu()")
    if state.dtype != dtype:
        raise refuse(
            f"{name} in {dtype_name(dtype)}, as the module's weights are",
            described(state),
            f"convert it with .to({dtype})",
        )
    if tuple(state.shape) != shape:
        raise refuse(
            f"{name} of shape {shape}: layers times directions, sequences, width",
            described(state),
            "bring it to that shape; the sequences stand second even with batch_first=True, in the order of x",
        )


def _listed(hx: object) -> str:
    if isinstance(hx, tuple | list):
        return f"a {type(hx).__name__} of {len(hx)}"
    return described(hx)


def _named(module: nn.RNNBase) -> str:
    return "a GRU" if module.mode == "GRU" else "an RNN"
