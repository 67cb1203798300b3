"""What cannot be judged at all, refused before anything is asked: no numbers, or more than a look is worth."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

import torch
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence

from packviz.errors import PackvizError, first_line
from packviz.inputs.module import dtype_name
from packviz.text import shown, with_article
from packviz.validate import number

if TYPE_CHECKING:
    from packviz.rules.case import Case

MAX_CELLS = 20_000_000  # of a grid that torch is asked to make, only to see what it does

_DTYPES = {
    *(torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64),
    *(torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex64, torch.complex128),
}
_INTEGERS = "give a list of integers or an int64 tensor"


def described(value: object) -> str:
    """Return a value in a few words: "a float32 tensor of shape (3, 4)", "a list", "2.5".

    >>> described(torch.zeros(3, 4))
    'a float32 tensor of shape (3, 4)'
    """
    if isinstance(value, Tensor):
        return f"{with_article(dtype_name(value.dtype))} tensor of shape {tuple(value.shape)}"
    if value is None or isinstance(value, bool | int | float):
        return shown(value)
    return with_article(type(value).__name__)


def numbers(values: Tensor | Sequence[float]) -> str:
    """Return the first few of some numbers, in brackets."""
    flat = values.detach().flatten() if isinstance(values, Tensor) else values
    first = flat[:8].tolist() if isinstance(flat, Tensor) else flat[:8]
    listed = ", ".join(f"{value:.6g}" if isinstance(value, float) else str(value) for value in first)
    return f"[{listed}]" if len(flat) <= 8 else f"[{listed}, …]"


def check_kind(parameter: str, value: object, kind: type, fix: str) -> None:
    """Raise PackvizError unless the value is of that kind."""
    if not isinstance(value, kind):
        raise PackvizError(parameter, expected=with_article(kind.__name__), got=described(value), fix=fix)


def frozen_copy(tensor: Tensor) -> Tensor:
    """Return a plain copy that no later change of the original reaches, without gradient."""
    return tensor.detach().as_subclass(Tensor).clone()


def refusal_of(name: str, expected: str, got: object, fix: str) -> PackvizError:
    """Return the error for a value that is not what was expected."""
    obstacle = tensor_obstacle(got, on_cpu=False) if isinstance(got, Tensor) else None
    return PackvizError(name, expected=expected, got=obstacle[0] if obstacle else described(got), fix=fix)


def tensor_obstacle(tensor: Tensor, *, on_cpu: bool = True) -> tuple[str, str] | None:
    """Return why a tensor x cannot be traced ("a nested tensor") and the repair, or None where it can."""
    if tensor.is_nested:
        return "a nested tensor", "pad it first: torch.nested.to_padded_tensor(x, 0.0)"
    if tensor.is_quantized:
        return "a quantized tensor", "convert it with x.dequantize()"
    if tensor.layout != torch.strided:
        return f"a tensor in the {str(tensor.layout).removeprefix('torch.')} layout", "convert it with x.to_dense()"
    if on_cpu and tensor.device.type != "cpu":
        return f"a tensor on {tensor.device}", "copy it with x.cpu()"
    return None


def read_lengths(name: str, lengths: object) -> list[int] | Tensor:
    """Return a plain list of integers as it is, anything else as a tensor; raises PackvizError for neither."""
    if type(lengths) is list and all(type(length) is int and abs(length) < 2**62 for length in lengths):
        return lengths
    if isinstance(lengths, Tensor) and (tensor_obstacle(lengths, on_cpu=False) or lengths.is_complex()):
        raise refusal_of(name, "integers in a dense tensor", lengths, _INTEGERS)
    try:
        given = torch.as_tensor(lengths, device=lengths.device if isinstance(lengths, Tensor) else "cpu")
    except (TypeError, ValueError, RuntimeError, OverflowError) as error:
        got = f"{described(lengths)} ({first_line(error)})"
        raise PackvizError(name, expected="one integer for each sequence", got=got, fix=_INTEGERS) from None
    if given.is_complex():
        raise refusal_of(name, "integers", given, _INTEGERS)
    return given


def known_lengths(name: str, lengths: object) -> list[int]:
    """Return lengths as integers, as torch reads them; raises PackvizError where there are none to read."""
    given = read_lengths(name, lengths)
    if isinstance(given, list):
        return given
    if given.device.type == "meta" or given.numel() > MAX_CELLS:
        raise refusal_of(name, "one integer for each sequence", given, "give a list of integers")
    return cast(list[int], given.to(torch.int64).flatten().tolist())


def check_subject(x: object) -> None:
    """Raise PackvizError unless x is a padded tensor or a PackedSequence that torch can compute with."""
    if isinstance(x, PackedSequence):
        check_tensor("packed.data", x.data, on_meta=True)
        for name, index in zip(PackedSequence._fields[1:], x[1:], strict=True):
            if isinstance(index, Tensor) or (index is not None and name != "batch_sizes"):
                check_tensor(f"packed.{name}", index, on_meta=name == "batch_sizes" or x.data.device.type == "meta")
        return
    if not isinstance(x, Tensor):
        raise refusal_of("x", "a padded tensor or a PackedSequence", x, "convert it with torch.as_tensor")
    check_tensor("x", x, on_meta=True)
    if x.dim() > 1 and x.numel() and x.size(0) * x.size(1) > MAX_CELLS:
        raise refusal_of("x", f"at most {MAX_CELLS:,} steps", x, "examine fewer sequences")


def check_beside(case: Case) -> None:
    """Raise PackvizError where something beside the batch is not a tensor with numbers in it."""
    for name in ("mask", "targets", "output", "state", "ids"):
        value = getattr(case, name)
        if isinstance(value, PackedSequence) and name == "targets":
            check_subject(value)
            value = value.data
        if value is not None:
            check_tensor(name, value, on_meta=False)
            if name in ("output", "state") and not (value.is_floating_point() and value.numel()):
                raise refusal_of(name, "floating-point numbers", value, "give what the module returned")
    for part in case.states:
        if isinstance(part, Tensor):
            check_tensor("hx", part, on_meta=True)
    if case.ids is not None and case.x is not None and case.ids.shape != case.x.shape[:2]:
        expected = f"ids of shape {tuple(case.x.shape[:2])}, like x"
        raise refusal_of("ids", expected, case.ids, "give the ids that x was embedded from")
    for name in ("batch_first", "enforce_sorted"):
        if not isinstance(getattr(case, name), bool | int):
            raise refusal_of(name, "True or False", getattr(case, name), "give one of the two")
    if case.padding_value is not None and not isinstance(case.padding_value, bool):
        check_padding_value(case.padding_value, (case.data if case.ids is None else case.ids).dtype)


def check_padding_value(padding_value: object, dtype: torch.dtype) -> float:
    """Return padding_value as a float. Raises PackvizError unless it is a number that the dtype can hold."""
    limit = torch.finfo(dtype).max if dtype.is_floating_point else torch.iinfo(torch.int64).max
    return number("padding_value", padding_value, limit=limit, finite=False, what=dtype_name(dtype))


def check_unpacked_size(packed: PackedSequence) -> None:
    """Raise PackvizError where a sound packed sequence would unpack to far more than it holds."""
    cells = int(packed.batch_sizes[0]) * len(packed.batch_sizes) * max(packed.data[0].numel(), 1)
    if cells > max(MAX_CELLS, 16 * packed.data.numel()):
        expected, got = f"at most {MAX_CELLS:,} numbers when unpacked", f"{cells:,}"
        raise PackvizError("packed", expected=expected, got=got, fix="examine fewer sequences")


def check_tensor(name: str, value: object, *, on_meta: bool) -> None:
    """Raise PackvizError unless the value is a dense tensor that torch computes with."""
    if not isinstance(value, Tensor):
        raise refusal_of(name, "a tensor", value, "convert it with torch.as_tensor")
    if tensor_obstacle(value, on_cpu=False):
        raise refusal_of(name, "a dense tensor", value, "convert it, for example with to_dense()")
    if value.dtype not in _DTYPES:
        raise refusal_of(name, "a dtype that torch computes with", value, "convert it, for example with float()")
    if value.device.type == "meta" and not on_meta:
        raise refusal_of(name, "a tensor with numbers in it", value, "give a tensor that is not on the meta device")


def check_traced(case: Case) -> None:
    """Raise PackvizError unless what trace_module() was given is dense and on the CPU."""
    x = case.x
    if case.packed is not None:
        _check_fields(case.packed)
        if case.lengths is not None:
            got, fix = described(case.lengths), "leave lengths out, or give the padded tensor"
            raise PackvizError("lengths", expected="None beside a PackedSequence", got=got, fix=fix)
    else:
        axes = "(B, T, F)" if case.batch_first else "(T, B, F)"
        expected = f"a padded tensor {axes}, or a PackedSequence"
        if not isinstance(x, Tensor):
            several = isinstance(x, list | tuple) and x and all(isinstance(part, Tensor) for part in x)
            padded = "torch.nn.utils.rnn.pad_sequence(sequences, batch_first=module.batch_first)"
            fix = f"pad the sequences first: {padded}" if several else "convert it with torch.as_tensor"
            raise PackvizError("x", expected=expected, got=described(x), fix=fix)
        if obstacle := tensor_obstacle(x):
            got, fix = obstacle
            raise PackvizError("x", expected=f"{expected}, dense and on the CPU", got=got, fix=fix)
    for name, state in zip(("h_0", "c_0"), case.states, strict=False):
        if isinstance(state, Tensor) and (obstacle := tensor_obstacle(state)):
            expected, fix = f"{name} as a dense tensor on the CPU", f"convert it, for example {name}.cpu()"
            raise PackvizError("hx", expected=expected, got=obstacle[0], fix=fix)


def _check_fields(packed: PackedSequence) -> None:
    """Check all fields but batch_sizes, which has rules of its own."""
    for name, value in zip(PackedSequence._fields, packed, strict=True):
        if name == "batch_sizes" or (name != "data" and value is None):
            continue
        built = described(value), "let pack_padded_sequence or pack_sequence build it"
        if obstacle := tensor_obstacle(value) if isinstance(value, Tensor) else built:
            got, fix = obstacle
            raise PackvizError(f"x.{name}", expected="a dense tensor on the CPU", got=got, fix=fix)
