"""Decides what is refused before any rule runs: not a number, not dense, without numbers in it, or too large."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import torch
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence

from packviz.errors import PackvizError, first_line, refusal_of
from packviz.text import dtype_name, shown, with_article
from packviz.validate import number

if TYPE_CHECKING:
    from packviz.rules.case import Case

MAX_CELLS = 20_000_000  # of a grid that torch is asked to make, only to see what it does

_DTYPES = {
    *(torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64),
    *(torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex64, torch.complex128),
}
_INTEGERS = "give a list of integers or an int64 tensor"


def check_kind(parameter: str, value: object, kind: type, fix: str) -> None:
    """Raise PackvizError unless the value is of that kind."""
    if not isinstance(value, kind):
        raise PackvizError(parameter, expected=with_article(kind.__name__), got=shown(value), fix=fix)


def tensor_obstacle(tensor: Tensor, name: str = "x", *, on_cpu: bool = True) -> tuple[str, str] | None:
    """Return why a tensor cannot be traced ("a nested tensor") and the repair, or None if it can."""
    if tensor.is_nested:
        return shown(tensor), f"pad it first: torch.nested.to_padded_tensor({name}, 0.0)"
    if tensor.is_quantized:
        return shown(tensor), f"convert it with {name}.dequantize()"
    if tensor.layout != torch.strided:
        return shown(tensor), f"convert it with {name}.to_dense()"
    if on_cpu and tensor.device.type != "cpu":
        return f"a tensor on {tensor.device}", f"copy it with {name}.cpu()"
    return None


def way_to_tensor(name: str, value: object, batch_first: bool) -> str:
    """Return how to make a dense padded tensor of a value, as a request with code; "" for a tensor that is one."""
    pad = f"torch.nn.utils.rnn.pad_sequence({{}}, batch_first={batch_first})"
    items = list(value) if isinstance(value, list | tuple) else []
    if isinstance(value, Tensor):
        obstacle = tensor_obstacle(value, name, on_cpu=False)
        turned = ".transpose(0, 1)" if value.is_nested and not batch_first else ""
        return f"{obstacle[1]}{turned}" if obstacle else ""
    if isinstance(value, tuple) and len(items) == 2 and _is_result(*items):
        return f"give the output alone, which is the first of the two that the module returned: {name}[0]"
    if items and all(isinstance(item, Tensor) for item in items):
        return f"pad the sequences first: {pad.format(name)}"
    if items and all(isinstance(item, list | tuple) for item in items) and len({*map(len, items)}) > 1:
        return f"pad the sequences first: {pad.format(f'[torch.as_tensor(row) for row in {name}]')}"
    return f"convert it: torch.as_tensor({name})"


def _is_result(output: object, final: object) -> bool:
    """Return whether these two are what a recurrent module returns: its output, and h_n or (h_n, c_n)."""
    batched = isinstance(output, PackedSequence) or (isinstance(output, Tensor) and output.dim() == 3)
    return batched and isinstance(final, Tensor | tuple)


def read_lengths(name: str, lengths: object) -> Tensor:
    """Return lengths as a tensor; raises PackvizError if they make none."""
    given = lengths
    if not isinstance(given, Tensor):
        try:
            given = torch.as_tensor(lengths, device="cpu")
        except (TypeError, ValueError, RuntimeError, OverflowError) as error:
            got = f"{shown(lengths)} ({first_line(error)})"
            raise PackvizError(name, expected="one integer for each sequence", got=got, fix=_INTEGERS) from None
        given = given if given.numel() else given.long()  # of [], torch makes floats
    if tensor_obstacle(given, on_cpu=False) or given.is_complex():
        raise refusal_of(name, "integers in a dense tensor", given, _INTEGERS)
    return given


def known_lengths(name: str, lengths: object) -> list[int]:
    """Return lengths as integers, as torch reads them; raises PackvizError if there are none to read."""
    given = read_lengths(name, lengths)
    if given.device.type == "meta" or given.numel() > MAX_CELLS:
        raise refusal_of(name, "one integer for each sequence", given, "give a list of integers")
    return cast(list[int], given.to(torch.int64).flatten().tolist())


def check_subject(x: object, batch_first: bool = False) -> None:
    """Raise PackvizError unless x is a padded tensor or a PackedSequence that torch can compute with."""
    if isinstance(x, PackedSequence):
        for name, value in _fields_without_rules(x):
            check_tensor(f"packed.{name}", value, on_meta=name == "data" or x.data.is_meta)
        return
    if not isinstance(x, Tensor):
        raise refusal_of("x", "a padded tensor or a PackedSequence", x, way_to_tensor("x", x, batch_first))
    check_tensor("x", x, on_meta=True, batch_first=batch_first)
    if x.dim() > 1 and x.numel() and x.size(0) * x.size(1) > MAX_CELLS:
        raise refusal_of("x", f"at most {MAX_CELLS:,} steps", x, "examine fewer sequences")


def check_beside(case: Case) -> None:
    """Raise PackvizError if something beside the batch is not a tensor with numbers in it."""
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
    if case.starts is not None and case.done is not None:
        raise PackvizError("done", got="starts as well", expected="None beside starts", fix="give one of the two")
    for name in ("starts", "done"):
        check_flags(name, getattr(case, name), case)
    if case.hx is not None and case.module is None and (case.starts is not None or case.done is not None):
        _check_states(case)
    if case.padding_value is not None and not isinstance(case.padding_value, bool):
        check_padding_value(case.padding_value, (case.data if case.ids is None else case.ids).dtype)


def check_flags(name: str, flags: object, case: Case) -> None:
    """Raise PackvizError unless they are None, or one flag for each step of a padded x."""
    if flags is None:
        return
    check_tensor(name, flags, on_meta=False)
    if case.x is None:
        raise refusal_of(name, "None beside a PackedSequence", flags, "give the padded x")
    shape = tuple(case.x.shape[: 1 if case.is_unbatched else 2])
    if tuple(cast(Tensor, flags).shape) != shape:
        raise refusal_of(name, f"flags of shape {shape}, like x", flags, "give one for each step of each sequence")


def _check_states(case: Case) -> None:
    """Raise PackvizError unless hx, beside a batch x and without a module, holds a state of each sequence."""
    sizes = cast(Tensor, case.x).shape
    B = sizes[0] if case.batch_first or len(sizes) < 2 else sizes[1]
    fix = "give the state that the module began with"
    for part in case.states or (case.hx,):
        check_tensor("hx", part, on_meta=False)
        if part.dim() != 3 or part.size(1) != B:
            raise refusal_of("hx", f"states of shape (L*D, {B}, H), one for each sequence", part, fix)


def check_padding_value(padding_value: object, dtype: torch.dtype) -> float:
    """Return padding_value as a float. Raises PackvizError unless it is a number that the dtype can hold."""
    limit = torch.finfo(dtype).max if dtype.is_floating_point else torch.iinfo(torch.int64).max
    return number("padding_value", padding_value, limit=limit, finite=False, what=dtype_name(dtype))


def check_unpacked_size(packed: PackedSequence) -> None:
    """Raise PackvizError if a sound packed sequence would unpack to far more than it holds."""
    cells = int(packed.batch_sizes[0]) * len(packed.batch_sizes) * max(packed.data[0].numel(), 1)
    if cells > max(MAX_CELLS, 16 * packed.data.numel()):
        expected, got = f"at most {MAX_CELLS:,} numbers when unpacked", f"{cells:,}"
        raise PackvizError("packed", expected=expected, got=got, fix="examine fewer sequences")


def check_tensor(name: str, value: object, *, on_meta: bool, batch_first: bool = True) -> None:
    """Raise PackvizError unless the value is a dense tensor that torch computes with."""
    if not isinstance(value, Tensor):
        raise refusal_of(name, "a tensor", value, way_to_tensor(name, value, batch_first))
    if tensor_obstacle(value, on_cpu=False):
        raise refusal_of(name, "a dense tensor", value, way_to_tensor(name, value, batch_first))
    if value.dtype not in _DTYPES:
        raise refusal_of(name, "a dtype that torch computes with", value, "convert it, for example with float()")
    if value.device.type == "meta" and not on_meta:
        raise refusal_of(name, "a tensor with numbers in it", value, "give a tensor that is not on the meta device")


def check_traced(case: Case) -> None:
    """Raise PackvizError unless what trace_module() was given is dense and on the CPU."""
    x, axes = case.x, "(B, T, F)" if case.batch_first else "(T, B, F)"
    if case.packed is not None:
        for name, value in _fields_without_rules(case.packed):
            _check_on_cpu(
                f"x.{name}", value, "a dense tensor on the CPU", "let pack_padded_sequence or pack_sequence build it"
            )
        if case.lengths is not None:
            fix = "leave lengths out, or give the padded tensor"
            raise refusal_of("lengths", "None beside a PackedSequence", case.lengths, fix)
    else:
        fix = way_to_tensor("x", x, case.batch_first)
        expected = f"a padded tensor {axes}, or a PackedSequence, dense and on the CPU"
        if isinstance(x, Tensor) and x.is_nested:
            raise refusal_of("x", expected, x, fix)
        _check_on_cpu("x", x, expected, fix)
    for name, state in zip(("h_0", "c_0"), case.states, strict=False):
        if isinstance(state, Tensor):
            _check_on_cpu("hx", state, f"{name} as a dense tensor on the CPU", name=name)


def _fields_without_rules(packed: PackedSequence) -> list[tuple[str, object]]:
    """Return names and values of the fields to be checked: batch_sizes has rules of its own, indices may be None."""
    return [
        (name, value)
        for name, value in zip(PackedSequence._fields, packed, strict=True)
        if name == "data" or (name != "batch_sizes" and value is not None)
    ]


def _check_on_cpu(parameter: str, value: object, expected: str, fix: str = "", name: str = "x") -> None:
    """Raise PackvizError unless the value is a dense tensor on the CPU; fix: what to do if it is not a tensor."""
    if obstacle := tensor_obstacle(value, name) if isinstance(value, Tensor) else (shown(value), fix):
        raise PackvizError(parameter, expected=expected, got=obstacle[0], fix=obstacle[1])
