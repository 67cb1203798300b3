"""What cannot be examined at all, refused before anything is asked: no numbers, or more than a look is worth."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence

from packviz.errors import PackvizError
from packviz.inputs.module import dtype_name
from packviz.rules.case import Case
from packviz.rules.evidence import MAX_CELLS, described, layout_obstacle
from packviz.validate import number

__all__ = ["check_partners", "check_subject", "check_unpacked_size", "refusal_of"]

_DTYPES = {
    *(torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64),
    *(torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex64, torch.complex128),
}


def refusal_of(name: str, expected: str, came: object, mend: str) -> PackvizError:
    """Return the error for what is no such thing."""
    obstacle = layout_obstacle(came) if isinstance(came, Tensor) else None
    return PackvizError(name, expected=expected, came=obstacle or described(came), mend=mend)


def check_subject(x: object) -> None:
    """Raise PackvizError unless x is a padded tensor or a PackedSequence that torch can compute with."""
    if isinstance(x, PackedSequence):
        _check_tensor("packed.data", x.data, on_meta=True)
        for name, index in zip(PackedSequence._fields[1:], x[1:], strict=True):
            if isinstance(index, Tensor) or (index is not None and name != "batch_sizes"):
                _check_tensor(f"packed.{name}", index, on_meta=name == "batch_sizes" or x.data.device.type == "meta")
        return
    if not isinstance(x, Tensor):
        raise refusal_of("x", "a padded tensor or a PackedSequence", x, "convert it with torch.as_tensor")
    _check_tensor("x", x, on_meta=True)
    if x.dim() > 1 and x.numel() and x.size(0) * x.size(1) > MAX_CELLS:
        raise refusal_of("x", f"at most {MAX_CELLS:,} steps", x, "examine some of its sequences")


def check_partners(case: Case) -> None:
    """Raise PackvizError where something beside the batch is no tensor with numbers in it."""
    for name in ("mask", "targets", "output", "state", "ids"):
        value = getattr(case, name)
        if isinstance(value, PackedSequence) and name == "targets":
            check_subject(value)
            value = value.data
        if value is not None:
            _check_tensor(name, value, on_meta=False)
    for name in ("output", "state"):
        value = getattr(case, name)
        if value is not None and not (value.is_floating_point() and value.numel()):
            raise refusal_of(name, "floating-point numbers", value, "give what the module returned")
    for part in case.hx if isinstance(case.hx, tuple | list) else (case.hx,):
        if isinstance(part, Tensor):
            _check_tensor("hx", part, on_meta=True)
    if case.ids is not None and case.x is not None and case.ids.shape != case.x.shape[:2]:
        raise refusal_of(
            "ids", f"ids laid out as x, {tuple(case.x.shape[:2])}", case.ids, "give those that x came from"
        )
    for name in ("batch_first", "enforce_sorted"):
        if not isinstance(getattr(case, name), bool | int):
            raise refusal_of(name, "True or False", getattr(case, name), "choose one")
    if case.padding_value is not None and not isinstance(case.padding_value, bool):
        values = case.data if case.ids is None else case.ids
        limit = torch.finfo(values.dtype).max if values.is_floating_point() else torch.iinfo(torch.int64).max
        number("padding_value", case.padding_value, limit=limit, finite=False, what=dtype_name(values.dtype))


def check_unpacked_size(packed: PackedSequence) -> None:
    """Raise PackvizError where a sound packed sequence would unpack to far more than it holds."""
    cells = int(packed.batch_sizes[0]) * len(packed.batch_sizes) * max(packed.data[0].numel(), 1)
    if cells > max(MAX_CELLS, 16 * packed.data.numel()):
        came = f"one that unpacks to {cells:,}"
        mend = "examine some of its sequences"
        raise PackvizError("packed", expected=f"at most {MAX_CELLS:,} numbers, unpacked", came=came, mend=mend)


def _check_tensor(name: str, value: object, *, on_meta: bool) -> None:
    if not isinstance(value, Tensor):
        raise refusal_of(name, "a tensor", value, "convert it with torch.as_tensor")
    if layout_obstacle(value):
        raise refusal_of(name, "a dense tensor", value, "convert it, for example with to_dense()")
    if value.dtype not in _DTYPES:
        raise refusal_of(name, "a dtype that torch computes with", value, "convert it, for example with float()")
    if value.device.type == "meta" and not on_meta:
        raise refusal_of(name, "a tensor with numbers in it", value, "give the one that is not on the meta device")
