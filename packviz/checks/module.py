"""The module: one of torch's three, on the CPU, with parameters of one floating dtype."""

from __future__ import annotations

from torch import nn

from packviz.checks.evidence import described, tensor_obstacle
from packviz.errors import PackvizError
from packviz.modules import dtype_name

__all__ = ["check_module"]

RECURRENT = (nn.RNN, nn.GRU, nn.LSTM)


def check_module(module: object) -> nn.RNNBase:
    """Return the module, untouched. Raises PackvizError for anything that is not an nn.RNN, nn.GRU or nn.LSTM."""
    if not isinstance(module, RECURRENT):
        raise _refusal(_named(module), _way_out(module))
    weights = [getattr(module, name) for layer in module._all_weights for name in layer]
    obstacles = [obstacle for weight in weights if (obstacle := tensor_obstacle(weight))]
    if obstacles:
        raise _refusal(
            f"parameters of which one is {obstacles[0]}", "give a copy on the CPU: copy.deepcopy(module).cpu()"
        )
    dtypes = sorted({dtype_name(weight.dtype) for weight in weights})
    if len(dtypes) > 1 or not weights[0].is_floating_point():
        raise _refusal(f"parameters in {' and '.join(dtypes)}", "give a copy in one: copy.deepcopy(module).float()")
    return module


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
