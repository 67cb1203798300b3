"""Sequences given as tensors: checked, copied, converted to one dtype."""

from collections.abc import Sequence
from functools import reduce

import torch
from torch import Tensor
from torch.nn.utils.rnn import pack_padded_sequence

from packviz.errors import PackvizError
from packviz.inputs.torch_answers import ask
from packviz.text import shown

INTEGERS = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)
_FLOATING = (torch.float16, torch.bfloat16, torch.float32, torch.float64)


def checked_sequences(tensors: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """Return copies of the sequences, all (len,) or all (len, F), of one dtype: int64, float32 or float64.

    Raises PackvizError if there is none, or if one is not a dense tensor, is empty, is not finite, or differs from the
    first in shape, kind of dtype or device.
    """
    if not isinstance(tensors, list | tuple):
        raise _refusal("a list of tensors", shown(tensors), "give one unpadded tensor for each sequence")
    if not tensors:
        raise _refusal("at least one tensor", "an empty list", "give one tensor per sequence")
    for b, tensor in enumerate(tensors):
        _check(tensor, tensors[0], f"tensors[{b}]")
    lengths = [len(tensor) for tensor in tensors]
    if 0 in lengths:
        raise zero_length_refusal("tensors", lengths, f"tensors[{lengths.index(0)}]")
    whole = tensors[0].dim() == 1 and tensors[0].dtype in INTEGERS
    least = torch.int64 if whole else torch.float32
    dtype = reduce(torch.promote_types, (tensor.dtype for tensor in tensors), least)
    return tuple(tensor.detach().to(dtype, copy=True) for tensor in tensors)


def frozen_copy(tensor: Tensor) -> Tensor:
    """Return a plain copy that no later change of the original reaches, without gradient."""
    return tensor.detach().as_subclass(Tensor).clone()


def valid_mask(lengths: Tensor, T: int) -> Tensor:
    """Return (B, T) bool: True where t is below the length, from lengths (B,)."""
    return torch.arange(T, device=lengths.device) < lengths.unsqueeze(1)


def zero_length_refusal(parameter: str, lengths: Sequence[int], got: str) -> PackvizError:
    """Return the error for a sequence of length 0, with torch's own message about these lengths."""
    column = torch.zeros(len(lengths), 1, device="cpu")  # torch checks the lengths before it reads the values
    says = ask(
        lambda: pack_padded_sequence(column, torch.tensor(lengths, device="cpu"), True, enforce_sorted=False)
    ).message
    fix = "remove that sequence, or pack with lengths.clamp(min=1) and mask the result"
    return PackvizError(
        parameter, got=f"{got} of length 0", expected="at least one step in each sequence", fix=fix, torch_says=says
    )


def _refusal(expected: str, got: str, fix: str) -> PackvizError:
    return PackvizError("tensors", expected=expected, got=got, fix=fix)


def _check(tensor: object, first: Tensor, name: str) -> None:
    """Check a tensor on its own, then against the first one, then its values; each check relies on those before it."""
    if not isinstance(tensor, Tensor):
        fix = "use torch.tensor(...) for each sequence, or Batch.parse for text"
        raise _refusal("tensors", f"{shown(tensor)} as {name}", fix)
    got = f"{shown(tensor)} as {name}"
    if tensor.layout != torch.strided or tensor.is_nested:
        raise _refusal("dense tensors", got, "call to_dense() or unbind() on it first")
    if tensor.is_meta:
        raise _refusal("tensors with values", f"{got}, on the meta device", "give a tensor on the CPU or a GPU")
    if tensor.dtype not in INTEGERS + _FLOATING:
        names = "uint8, int8 to int64, float16, bfloat16, float32 or float64"
        fix = "convert it, for example with .float() or .long()"
        raise _refusal(f"sequences of {names}", f"{tensor.dtype} in {name}", fix)
    if tensor.dim() not in (1, 2):
        fix = "give one tensor per sequence: (len,) for numbers, (len, F) for vectors"
        raise _refusal("shape (len,) or (len, F)", got, fix)
    if tensor.dim() == 2 and tensor.size(1) == 0:
        raise _refusal("at least one feature", got, "give each step at least one number")

    if tensor.shape[1:] != first.shape[1:]:
        pattern = "(len,)" if first.dim() == 1 else f"(len, {first.size(1)})"
        expected = f"shape {pattern} in all, as in tensors[0]"
        raise _refusal(expected, got, "give every sequence the same number of features")
    if tensor.dtype.is_floating_point != first.dtype.is_floating_point:
        got = f"{first.dtype} in tensors[0] and {tensor.dtype} in {name}"
        raise _refusal("only integers, or only floating-point numbers", got, "convert all of them with .float()")
    if tensor.device != first.device:
        got = f"tensors[0] on {first.device} and {name} on {tensor.device}"
        raise _refusal("all tensors on one device", got, f"move them with .to('{first.device}')")
    if not tensor.isfinite().all():
        place = tuple((~tensor.isfinite()).nonzero()[0].tolist())
        got = f"{tensor[place].item()} at {name}{list(place)}"
        raise _refusal("finite values", got, "replace or remove it, for example with nan_to_num()")
