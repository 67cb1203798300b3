"""The module: one of torch's three, on the CPU, with parameters of one floating dtype."""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor, nn

from packviz.errors import PackvizError
from packviz.inputs.module import directions, dtype_name, has_own_forward, snapshot
from packviz.rules.evidence import described, tensor_obstacle
from packviz.validate import choice, flag, integer, number

__all__ = ["check_module", "check_weights"]

RECURRENT = (nn.RNN, nn.GRU, nn.LSTM)
_MODES = ("RNN_TANH", "RNN_RELU", "GRU", "LSTM")


def check_module(module: object) -> nn.RNNBase:
    """Return a snapshot of the module, which is left untouched.

    Raises PackvizError for anything that is not an nn.RNN, nn.GRU or nn.LSTM, and for a subclass with its own forward.
    """
    if not isinstance(module, RECURRENT):
        raise _refusal(_named(module), _way_out(module))
    if has_own_forward(module):
        came = f"{described(module)} with a forward of its own, which would not be run"
        raise _refusal(came, "give the nn.RNN, nn.GRU or nn.LSTM inside it, or a plain one with the same state_dict()")
    plain = check_weights(module, snapshot)
    weights = [*plain.parameters()]
    obstacles = [obstacle for weight in weights if (obstacle := tensor_obstacle(weight))]
    if obstacles:
        raise _refusal(
            f"parameters of which one is {obstacles[0]}", "give a copy on the CPU: copy.deepcopy(module).cpu()"
        )
    dtypes = sorted({dtype_name(weight.dtype) for weight in weights})
    if len(dtypes) > 1 or not weights[0].is_floating_point():
        raise _refusal(f"parameters in {' and '.join(dtypes)}", "give a copy in one: copy.deepcopy(module).float()")
    return plain


def check_weights(module: nn.RNNBase, read: Callable[[nn.RNNBase], nn.RNNBase]) -> nn.RNNBase:
    """Return the module as it is read, a snapshot or itself; raises PackvizError where settings or weights do not fit.

    What has been done to a module since it was built, nobody knows: any error comes of it.
    """
    _check_settings(module)
    try:
        seen = read(module)
        first = seen.weight_ih_l0
    except Exception as error:  # a weight is missing, or is no tensor, or a parametrization of the user's own fails
        told = (str(error).strip().splitlines() or [type(error).__name__])[-1].strip()
        raise _refusal(f"weights that do not fit it: {told}", "build it anew") from None
    if not isinstance(first, Tensor) or first.dim() != 2:
        raise _refusal(f"{described(first)} as its weight_ih_l0", "build it anew")
    return seen


def _check_settings(module: nn.RNNBase) -> None:
    """Check what the constructor was given, for it may have been changed since; raises PackvizError."""
    for name, least in (("input_size", 1), ("hidden_size", 1), ("num_layers", 1), ("proj_size", 0)):
        integer(f"module.{name}", getattr(module, name), least, mend="build the module anew")
    for name in ("bias", "bidirectional"):
        flag(f"module.{name}", getattr(module, name))
    choice("module.mode", module.mode, _MODES)
    number("module.dropout", module.dropout)
    slots, names = module.num_layers * directions(module), module._all_weights
    if not isinstance(names, list) or len(names) != slots or not all(isinstance(layer, list) for layer in names):
        raise _refusal(f"one whose weights do not belong to {slots} layers and directions", "build it anew")


def _named(module: object) -> str:
    if isinstance(module, type):
        return f"the class {module.__name__} itself"
    return described(module)


def _refusal(came: str, mend: str) -> PackvizError:
    expected = "an nn.RNN, nn.GRU or nn.LSTM with floating-point parameters of one dtype on the CPU"
    return PackvizError("module", expected=expected, came=came, mend=mend)


def _way_out(module: object) -> str:
    if isinstance(module, type) and issubclass(module, RECURRENT):
        return f"build one: nn.{module.__name__}(input_size, hidden_size)"
    if isinstance(module, nn.RNNCellBase):
        name = type(module).__name__.removesuffix("Cell")
        return f"give an nn.{name}; a cell takes one time step only and cannot run a packed sequence"
    if isinstance(module, nn.Module):
        inner = next((name for name, part in module.named_modules() if isinstance(part, RECURRENT)), None)
        if inner is not None:
            return f"give the part of it that is one: module.{inner}"
    return "give the recurrent module itself, for example nn.GRU(input_size=4, hidden_size=8)"
