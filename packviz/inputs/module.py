"""A recurrent module, read without modifying it: its sizes, its weights, a copy without weights."""

import copy
from collections.abc import Sequence
from typing import Any, TypeVar, cast

import torch
from torch import Tensor, nn
from torch.func import functional_call
from torch.nn.utils import parametrize
from torch.nn.utils.prune import BasePruningMethod
from torch.nn.utils.rnn import PackedSequence
from torch.nn.utils.spectral_norm import SpectralNorm
from torch.nn.utils.weight_norm import WeightNorm

from packviz.inputs.cell_kinds import RECURRENT, cell_kind_of

State = Tensor | tuple[Tensor, Tensor]
Input = TypeVar("Input", PackedSequence, Tensor)
_FORWARDS = [recurrent.forward for recurrent in RECURRENT]
_WEIGHT_HOOKS = (WeightNorm, SpectralNorm, BasePruningMethod)  # they set a weight before each call


def directions(module: nn.RNNBase) -> int:
    """Return D, 1 or 2."""
    return 2 if module.bidirectional else 1


def state_size(module: nn.RNNBase) -> int:
    """Return the width of h: the projected size if there is one, else H."""
    return module.proj_size or module.hidden_size


def weight_dtype(module: nn.RNNBase) -> torch.dtype:
    """Return the dtype of the module's weights."""
    return cast(Tensor, module.weight_ih_l0).dtype


def state_shapes(module: nn.RNNBase, B: int) -> list[tuple[int, int, int]]:
    """Return the shape of h, (L*D, B, P), and, for the LSTM, that of c, (L*D, B, H)."""
    slots, widths = module.num_layers * directions(module), (state_size(module), module.hidden_size)
    return [(slots, B, width) for width, _ in zip(widths, cell_kind_of(module).states, strict=False)]


def zero_state(module: nn.RNNBase, B: int, dtype: torch.dtype) -> tuple[Tensor, Tensor | None]:
    """Return h_0 (L*D, B, P) and, for the LSTM, c_0 (L*D, B, H): torch's default initial state."""
    return states_of([torch.zeros(shape, dtype=dtype, device="cpu") for shape in state_shapes(module, B)])


def nonlinearity_of(module: nn.RNNBase) -> str:
    """Return "tanh" or "relu" for an RNN, else ""."""
    return module.mode.partition("_")[2].lower()


def has_own_forward(module: nn.RNNBase) -> bool:
    """Return whether the module or its class replaces torch's forward or __call__."""
    plain = type(module).forward in _FORWARDS
    return not plain or type(module).__call__ is not nn.Module.__call__ or "forward" in vars(module)


def unknown_hooks(module: nn.RNNBase) -> int:
    """Return how many of the module's hooks parameters_of() does not account for."""
    before = [hook for hook in module._forward_pre_hooks.values() if not isinstance(hook, _WEIGHT_HOOKS)]
    return len(before) + len(module._forward_hooks)


def weight_names(module: nn.RNNBase) -> list[list[str]]:
    """Return the names of the weights of each layer and direction, (L*D) lists, in the order of module.all_weights."""
    kinds = ["weight_ih", "weight_hh"]
    kinds += ["bias_ih", "bias_hh"] if module.bias else []
    kinds += ["weight_hr"] if module.proj_size else []
    ends = [f"l{layer}{end}" for layer in range(module.num_layers) for end in ("", "_reverse")[: directions(module)]]
    return [[f"{kind}_{end}" for kind in kinds] for end in ends]


def parameters_of(module: nn.RNNBase) -> dict[str, Tensor]:
    """Return by name the weights that the module would use in eval mode, without gradients.

    Weights that torch recomputes for each call (parametrizations, and the hooks of weight_norm, spectral_norm and
    pruning) are computed here in the same way, without a power iteration; the module is not modified.
    """
    computed = dict(made for hook in module._forward_pre_hooks.values() if (made := _weight_by(hook, module)))
    names = [name for slot in weight_names(module) for name in slot]
    return {name: (computed[name] if name in computed else _weight(module, name)).detach() for name in names}


def bare(module: nn.RNNBase, layer: int | None = None) -> nn.RNNBase:
    """Return a module of torch's own class and the same sizes, or one layer of it, on the meta device, in eval mode."""
    features = directions(module) * state_size(module) if layer else module.input_size
    sizes = (features, module.hidden_size, module.num_layers if layer is None else 1)
    settings: dict[str, Any] = {
        "bias": module.bias,
        "batch_first": module.batch_first,
        "dropout": module.dropout if layer is None and module.num_layers > 1 else 0.0,
        "bidirectional": module.bidirectional,
        "device": "meta",
        "dtype": weight_dtype(module),
        "proj_size": module.proj_size,
        "nonlinearity": nonlinearity_of(module),
    }
    return cell_kind_of(module).build(*sizes, **settings).eval()


def run_module(module: nn.RNNBase, x: Input, hx: object = None) -> tuple[Input, State]:
    """Run torch's own RNN, GRU or LSTM with the module's parameters over a packed or padded input, in eval mode.

    The module itself is not called: a copy without weights borrows its parameters for this one call, so that its
    training flag, its hooks and its cached weights stay as they are.
    """
    answer: tuple[Input, State] = functional_call(bare(module), parameters_of(module), (x, hx))
    return answer


def states_of(state: Tensor | Sequence[Tensor]) -> tuple[Tensor, Tensor | None]:
    """Split a state as a module takes and returns it, or a list of h and c, into h and c (None without one)."""
    h, *c = [state] if isinstance(state, Tensor) else state
    return h, c[0] if c else None


def as_hx(h: Tensor, c: Tensor | None) -> State:
    """Return h and c (or None) in the form that a module takes."""
    return h if c is None else (h, c)


def snapshot(module: nn.RNNBase) -> nn.RNNBase:
    """Return a module of torch's own class with a copy of the weights, unaffected by later changes."""
    made = bare(module)
    made.load_state_dict({name: weight.clone() for name, weight in parameters_of(module).items()}, assign=True)
    return made


def one_layer(module: nn.RNNBase, layer: int) -> nn.RNNBase:
    """Return one layer of a snapshot as a separate module with the same weights."""
    D, made = directions(module), bare(module, layer)
    names = [name for slot in weight_names(module)[layer * D : (layer + 1) * D] for name in slot]
    weights = {name.replace(f"_l{layer}", "_l0"): getattr(module, name) for name in names}
    made.load_state_dict(weights, assign=True)
    return made


def _weight(module: nn.RNNBase, name: str) -> Tensor:
    """Return a weight; a parametrized one is computed by a copy of its parametrizations in eval mode."""
    if not parametrize.is_parametrized(module, name):
        return cast(Tensor, getattr(module, name))
    return cast(Tensor, copy.deepcopy(cast(nn.ModuleDict, module.parametrizations)[name]).eval()())


def _weight_by(hook: object, module: nn.RNNBase) -> tuple[str, Tensor] | None:
    """Return name and value of the weight that one of torch's hooks sets before each call; None for other hooks."""
    if isinstance(hook, WeightNorm):
        return hook.name, hook.compute_weight(module)
    if isinstance(hook, SpectralNorm):
        return hook.name, hook.compute_weight(module, do_power_iteration=False)
    if isinstance(hook, BasePruningMethod):
        return hook._tensor_name, hook.apply_mask(module)  # type: ignore[no-untyped-call]
    return None
