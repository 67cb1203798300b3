"""The sequences that a caller hands over as tensors: checked, copied, brought to one dtype."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn.utils.rnn import pack_padded_sequence

from packviz.errors import PackvizError
from packviz.inputs.torch_answers import ask

__all__ = ["checked_sequences", "zero_length_refusal"]

_WHOLE = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)
_HALF = (torch.float16, torch.bfloat16)
_FLOATING = (*_HALF, torch.float32, torch.float64)
_NAMES = "uint8, int8 to int64, float16, bfloat16, float32 or float64"


def checked_sequences(tensors: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """Return copies of the sequences, all (len,) or all (len, F), of one dtype: int64, float32 or float64.

    Raises PackvizError where there is none, or where one is no dense tensor, empty, of another shape, dtype or device
    than the first, or not finite.
    """
    if not isinstance(tensors, list | tuple):
        came = _shape(tensors) if isinstance(tensors, Tensor) else f"a {type(tensors).__name__}"
        raise _refusal("a list of tensors", came, "put each sequence into a tensor of its own, without padding")
    if not tensors:
        raise _refusal("at least one tensor", "an empty list", "give one tensor a sequence")
    for b, tensor in enumerate(tensors):
        _check_one(b, tensor)
    lengths = [len(tensor) for tensor in tensors]
    if 0 in lengths:
        came = f"tensors[{lengths.index(0)}] of length 0"
        raise zero_length_refusal("tensors", lengths, came, "remove that sequence")
    for b, tensor in enumerate(tensors):
        _check_alike(b, tensor, tensors[0])
    dtype = _common_dtype(tensors)
    sequences = tuple(tensor.detach().to(dtype, copy=True) for tensor in tensors)
    for b, sequence in enumerate(sequences):
        _check_finite(b, sequence)
    return sequences


def zero_length_refusal(parameter: str, lengths: Sequence[int], came: str, removal: str) -> PackvizError:
    """Return the error for a sequence of length 0, with what torch says of these lengths when it is asked now."""
    column = torch.zeros(len(lengths), 1)  # torch looks at the lengths before it looks at the values
    answer = ask(lambda: pack_padded_sequence(column, torch.tensor(lengths), True, enforce_sorted=False))
    return PackvizError(
        parameter,
        expected="at least one step in each sequence",
        came=came,
        torch_says=answer.message,
        mend=f"{removal}, or keep its row by packing with lengths.clamp(min=1) and masking what comes out of it",
    )


def _check_one(b: int, tensor: object) -> None:
    if not isinstance(tensor, Tensor):
        came = f"a {type(tensor).__name__} as tensors[{b}]"
        raise _refusal("tensors", came, "use torch.tensor(...) for each sequence, or Batch.parse for text")
    if tensor.layout != torch.strided or tensor.is_nested or tensor.device.type == "meta":
        raise _refusal("dense tensors with values", _shape(tensor, b), "call to_dense() or unbind() on it first")
    if tensor.dtype not in _WHOLE + _FLOATING:
        came = f"{tensor.dtype} in tensors[{b}]"
        raise _refusal(f"sequences of {_NAMES}", came, "convert it, for example with .float() or .long()")
    if tensor.dim() not in (1, 2):
        mend = "give a row a sequence: (len,) for numbers, (len, F) for vectors"
        raise _refusal("shape (len,) or (len, F)", _shape(tensor, b), mend)
    if tensor.dim() == 2 and tensor.size(1) == 0:
        raise _refusal("at least one feature", _shape(tensor, b), "give each step one feature or more")


def _check_alike(b: int, tensor: Tensor, first: Tensor) -> None:
    if tensor.shape[1:] != first.shape[1:]:
        expected = f"shape {_pattern(first)} in all, as in tensors[0]"
        raise _refusal(expected, _shape(tensor, b), "give every step the same number of features")
    if tensor.dtype.is_floating_point != first.dtype.is_floating_point:
        came = f"{first.dtype} in tensors[0] and {tensor.dtype} in tensors[{b}]"
        raise _refusal("either whole or floating point numbers in all of them", came, "convert all with .float()")
    if tensor.device != first.device:
        came = f"tensors[0] on {first.device} and tensors[{b}] on {tensor.device}"
        raise _refusal("all of them on one device", came, f"move them with .to('{first.device}')")


def _common_dtype(tensors: Sequence[Tensor]) -> torch.dtype:
    if any(tensor.dtype == torch.float64 for tensor in tensors):
        return torch.float64
    numbers = tensors[0].dim() == 1
    return torch.int64 if numbers and tensors[0].dtype in _WHOLE else torch.float32


def _check_finite(b: int, sequence: Tensor) -> None:
    bad = (~sequence.isfinite()).nonzero()
    if len(bad):
        place = tuple(bad[0].tolist())
        came = f"{sequence[place].item()} at tensors[{b}]{list(place)}"
        raise _refusal("finite values", came, "replace or remove it, for example with nan_to_num()")


def _shape(tensor: Tensor, b: int | None = None) -> str:
    """Return what a tensor is, without a look at its values: some tensors have none."""
    layout = "nested" if tensor.is_nested else f"{'' if tensor.layout == torch.strided else 'sparse '}{tensor.device}"
    shape = "" if tensor.is_nested else f" of shape {tuple(tensor.shape)}"
    return f"a {layout} tensor{shape}" + ("" if b is None else f" as tensors[{b}]")


def _pattern(tensor: Tensor) -> str:
    return "(len,)" if tensor.dim() == 1 else f"(len, {tensor.size(1)})"


def _refusal(expected: str, came: str, mend: str) -> PackvizError:
    return PackvizError("tensors", expected=expected, came=came, mend=mend)
