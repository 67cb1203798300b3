"""The padded input of trace_module()."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence

from packviz.checks.evidence import described, frozen_copy, tensor_obstacle, torch_refusal
from packviz.errors import PackvizError
from packviz.modules import dtype_name, weight_dtype

__all__ = ["check_features", "check_grid"]


def check_grid(x: object, module: nn.RNNBase) -> Tensor:
    """Return a copy of x, (B, T, F) or (T, B, F) as the module's batch_first says.

    Raises PackvizError for anything that the module could not run, and for x without sequences or time steps.
    """
    layout = "(B, T, F), for the module has batch_first=True" if module.batch_first else "(T, B, F)"
    expected = f"a padded tensor {layout}, or a PackedSequence"
    if not isinstance(x, Tensor):
        raise PackvizError("x", expected=expected, came=described(x), mend=_tensor_from(x))
    if obstacle := tensor_obstacle(x):
        raise PackvizError("x", expected=f"{expected}, dense and on the CPU", came=obstacle, mend=_dense(x))
    if x.dim() != 3:
        mend, says = _third_dimension(x, module), _torch_says(x, module)
        raise PackvizError("x", expected=expected, came=described(x), mend=mend, torch_says=says)
    if x.numel() == 0:
        expected += " with at least one sequence, time step and feature"
        says = _torch_says(x, module)
        raise PackvizError("x", expected=expected, came=described(x), mend="leave the empty batch out", torch_says=says)
    check_features("x", x, module)
    return frozen_copy(x)


def check_features(name: str, values: Tensor, module: nn.RNNBase) -> None:
    """Check dtype and features of values (..., F); raise PackvizError with what the module itself says of them."""
    dtype, F = dtype_name(weight_dtype(module)), module.input_size
    wrong_dtype = values.dtype != weight_dtype(module)
    if not wrong_dtype and values.size(-1) == F:
        return
    batch_sizes = torch.ones(1, dtype=torch.int64, device="cpu") if values.dim() == 2 else None
    raise PackvizError(
        name,
        expected=f"{dtype}, as the module's weights are" if wrong_dtype else f"{F} features, the module's input_size",
        came=described(values),
        mend=_another_dtype(name, values, dtype) if wrong_dtype else _other_features(values, module),
        torch_says=torch_refusal(lambda: nn.RNNBase.check_input(module, values, batch_sizes)),
    )


def _torch_says(x: Tensor, module: nn.RNNBase) -> str | None:
    """Return what torch says of x when it is packed, one step of each sequence, and given to the module."""

    def pack_and_run() -> None:
        packed = pack_padded_sequence(x, [1] * x.size(0 if module.batch_first else 1), module.batch_first)
        nn.RNNBase.check_input(module, packed.data, packed.batch_sizes)

    return torch_refusal(pack_and_run)


def _another_dtype(name: str, values: Tensor, dtype: str) -> str:
    if values.is_floating_point():
        return f"convert one of the two, for example {name}.to(torch.{dtype})"
    return f"embed it first if these are ids, or convert it: {name}.to(torch.{dtype})"


def _other_features(values: Tensor, module: nn.RNNBase) -> str:
    return f"give values of {module.input_size} features, or build the module with input_size={values.size(-1)}"


def _tensor_from(x: object) -> str:
    if isinstance(x, list | tuple) and x and all(isinstance(part, Tensor) for part in x):
        return "pad the sequences first: torch.nn.utils.rnn.pad_sequence(sequences, batch_first=module.batch_first)"
    return "convert it with torch.as_tensor"


def _dense(x: Tensor) -> str:
    if x.is_nested:
        return "pad it first: torch.nested.to_padded_tensor(x, 0.0)"
    if x.is_quantized:
        return "convert it with x.dequantize()"
    return "convert it with x.to_dense()" if x.layout != torch.strided else "copy it with x.cpu()"


def _third_dimension(x: Tensor, module: nn.RNNBase) -> str:
    batch_dim = 0 if module.batch_first else 1
    if x.dim() == 2 and x.size(1) == module.input_size:
        return f"if this is one sequence of {x.size(0)} steps, give it a batch dimension: x.unsqueeze({batch_dim})"
    if x.dim() == 2:
        return "if every step is one number, give it a feature dimension: x.unsqueeze(-1)"
    return "bring it to three dimensions: sequences, time steps, features"
