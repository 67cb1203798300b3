"""A recurrent module from its weights: cell, sizes, layers and directions are in the shapes of a state dict."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal

from torch import Tensor, nn

from packviz.errors import PackvizError
from packviz.text import listed, quoted
from packviz.validate import choice

__all__ = ["module_from", "recurrent_prefixes"]

_FIRST = re.compile(r"(.*)weight_ih_l0", re.DOTALL)
_NAME = re.compile(r"(?:weight_ih|weight_hh|bias_ih|bias_hh|weight_hr)_l\d{1,4}(?:_reverse)?")
_LAYER = re.compile(r"weight_ih_l\d+")
_CELLS: dict[int, type[nn.RNN] | type[nn.GRU] | type[nn.LSTM]] = {1: nn.RNN, 3: nn.GRU, 4: nn.LSTM}


def recurrent_prefixes(state: Mapping[str, Tensor]) -> tuple[str, ...]:
    """Return what comes before weight_ih_l0 in the names of a state dict: "" or, in a model, "encoder.lstm."."""
    return tuple(match[1] for name in state if (match := _FIRST.fullmatch(name)) and f"{match[1]}weight_hh_l0" in state)


def module_from(
    state: Mapping[str, Tensor],
    prefix: str | None = None,
    *,
    batch_first: bool = False,
    nonlinearity: Literal["tanh", "relu"] = "tanh",
) -> nn.RNN | nn.GRU | nn.LSTM:
    """Return the nn.RNN, nn.GRU or nn.LSTM that a state dict belongs to, with its weights, in evaluation mode.

    prefix         one of recurrent_prefixes(state); may be left out where there is only one
    batch_first, nonlinearity   are not in a state dict: torch's own defaults, unless given; dropout is 0

    Raises PackvizError where no such layer is in the state, where several are and none was chosen, and where weights
    are missing or their shapes fit no module.
    """
    prefix = _chosen(recurrent_prefixes(state), prefix)
    own = {name.removeprefix(prefix): weight for name, weight in state.items() if name.startswith(prefix)}
    own = {name: weight for name, weight in own.items() if _NAME.fullmatch(name)}
    first, hidden, projection = own["weight_ih_l0"], own["weight_hh_l0"], own.get("weight_hr_l0")
    if first.dim() != 2 or hidden.dim() != 2 or not hidden.numel() or not first.is_floating_point():
        shapes = listed([f"{name} {tuple(weight.shape)}" for name, weight in own.items()])
        raise _refusal("floating-point matrices weight_ih_l0 and weight_hh_l0", shapes)
    H = hidden.size(1) if projection is None else projection.size(-1)
    gates, rest = divmod(hidden.size(0), max(H, 1))
    if rest or gates not in _CELLS or (projection is not None and gates != 4):
        expected = f"1, 3 or 4 times {H} rows in weight_hh_l0: RNN, GRU or LSTM"
        raise _refusal(expected, f"{hidden.size(0)} rows" + (" and a projection" if projection is not None else ""))
    settings: dict[str, Any] = {
        "num_layers": sum(_LAYER.fullmatch(name) is not None for name in own),
        "bias": "bias_ih_l0" in own,
        "bidirectional": "weight_ih_l0_reverse" in own,
        "batch_first": batch_first,
    }
    if projection is not None:
        settings["proj_size"] = projection.size(0)
    if gates == 1:
        settings["nonlinearity"] = choice("nonlinearity", nonlinearity, ("tanh", "relu"))
    # built without drawing weights; only when names and shapes fit is it given the memory
    return _filled(_CELLS[gates](first.size(1), H, **settings, device="meta", dtype=first.dtype), own)


def _filled(module: nn.RNN | nn.GRU | nn.LSTM, own: Mapping[str, Tensor]) -> nn.RNN | nn.GRU | nn.LSTM:
    wanted = {name: tuple(weight.shape) for name, weight in module.state_dict().items()}
    came = {name: tuple(weight.shape) for name, weight in own.items()}
    for name in {**wanted, **came}:
        if wanted.get(name) != came.get(name):
            expected = f"{name} of shape {wanted[name]}" if name in wanted else f"no {name}"
            expected += f", for an nn.{module!r} with {module.num_layers} layers"
            raise _refusal(expected, f"shape {came[name]}" if name in came else "none")
    dtypes = {str(weight.dtype) for weight in own.values()}
    if len(dtypes) > 1:
        raise _refusal(f"weights of one dtype, {module.weight_ih_l0.dtype}", listed(sorted(dtypes)))
    module = module.to_empty(device="cpu")
    module.load_state_dict({name: weight.detach().cpu() for name, weight in own.items()})
    return module.requires_grad_(False).eval()


def _chosen(known: tuple[str, ...], prefix: str | None) -> str:
    if not known:
        expected = "the weights of an nn.RNN, nn.GRU or nn.LSTM: weight_ih_l0, weight_hh_l0, ..."
        raise _refusal(expected, "a state without")
    shown = listed([quoted(name) for name in known])
    if prefix is None and len(known) > 1:
        came, mend = f"{len(known)}: {shown}", "choose one of them"
        raise PackvizError("prefix", expected="one recurrent layer", came=came, mend=mend)
    if prefix is not None and prefix not in known:
        mend = "choose one of these, with its dot"
        raise PackvizError("prefix", expected=f"one of {shown}", came=quoted(prefix), mend=mend)
    return known[0] if prefix is None else prefix


def _refusal(expected: str, came: str) -> PackvizError:
    return PackvizError("state", expected=expected, came=came, mend="save module.state_dict() of the layer as it is")
