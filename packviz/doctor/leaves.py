"""What a model returns for one sample: its tensors, by name, and how far those of two runs are apart."""

import zlib
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from math import inf
from numbers import Number
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence, pad_packed_sequence

from packviz.compute.verify import apart
from packviz.errors import PackvizError, refusal_of
from packviz.validate import is_number

Leaves = dict[str, Tensor]  # the tensors of a result, by name

HALF = (torch.bfloat16, torch.float16)
AS_TEXT = " as text"  # ends the name of what is no number: equal or not, its tensor has no sizes
_UNSIGNED = (torch.uint16, torch.uint32, torch.uint64)  # of which torch has no arithmetic
_OUTLIER = 1000  # times the median: such a number is a fill value, whose rounding is not that of the others


class Gap(NamedTuple):
    """How far two results of one sample are apart, entry by entry, inf where one alone is nan.

    over   True where that is more than rounding
    """

    far: Tensor
    over: Tensor


def leaves_of(value: object, parameter: str = "run") -> Leaves:
    """Return the tensors in a result, each with its name; a list of tensors of as many dimensions is one of them.

    Texts, and other values that are no numbers of torch, are compared by what they print, under a name with AS_TEXT.
    Raises PackvizError for a tensor on the meta device, which has no numbers, and if there is nothing.

    parameter   what returned the result, for errors
    """
    leaves = {name: leaf.long() if leaf.dtype in _UNSIGNED else leaf for name, leaf in _named(value, "output")}
    on_meta = next((name for name, leaf in leaves.items() if leaf.is_meta), None)
    if leaves and not on_meta:
        return leaves
    got, fix = "none", "return the tensors that belong to single samples, or a loss"
    if on_meta:
        got, fix = f"{on_meta} on meta", "move the model and the batch off the meta device, with real weights"
    raise PackvizError(parameter, expected="tensors with numbers in what it returns", got=got, fix=fix)


def _named(value: object, name: str) -> Iterator[tuple[str, Tensor]]:
    if isinstance(value, PackedSequence):
        yield name, pad_packed_sequence(value, batch_first=True)[0].detach().clone()
    elif isinstance(value, Tensor):
        yield name, _dense(value)
    elif (numbers := _of_numbers(value)) is not None:
        yield name, numbers
    elif isinstance(value, Mapping | tuple | list):
        named = value.items() if isinstance(value, Mapping) else enumerate(value)
        leaves = [leaf for key, part in named for leaf in _named(part, f"{name}[{key!r}]")]
        kinds = {(leaf.dim(), leaf.dtype, AS_TEXT * is_text(each)) for each, leaf in leaves}
        if isinstance(value, list) and len(leaves) == len(value) and len(kinds) == 1:
            leaves = [(f"{name}{kinds.pop()[-1]}", _stacked([leaf for _, leaf in leaves]))]
        yield from leaves
    elif is_dataclass(value):
        for field in fields(value):
            yield from _named(getattr(value, field.name), f"{name}.{field.name}")
    elif value is not None:
        every = value.tolist() if isinstance(value, np.ndarray) else value  # an array prints only some of its values
        yield f"{name}{AS_TEXT}", torch.tensor(zlib.crc32(repr(every).encode()), device="cpu")


def is_text(name: str) -> bool:
    """Return whether the output of this name is no number."""
    return name.endswith(AS_TEXT)


def _of_numbers(value: object) -> Tensor | None:
    """Return a number, an array of numbers or a flat list of them as a tensor; None for anything else.

    That is also what torch has no dtype for: texts and dates in an array, decimals, fractions, integers beyond 64 bits.
    """
    if isinstance(value, list | tuple):
        if not value or not all(isinstance(one, int | float) for one in value):
            return None
    elif isinstance(value, np.ndarray | np.generic):
        value = np.array(value, value.dtype.newbyteorder("="), order="C")
    elif not isinstance(value, Number):
        return None
    try:
        return torch.tensor(value, device="cpu")
    except (TypeError, ValueError, RuntimeError):
        return None


def _stacked(parts: list[Tensor]) -> Tensor:
    """Return tensors of as many dimensions as one, padded at their ends to the same sizes."""
    sizes = [max(each) for each in zip(*(part.shape for part in parts), strict=True)]
    whole = parts[0].new_zeros(len(parts), *sizes)
    for place, part in zip(whole, parts, strict=True):
        cut(place, part.shape, on_left=False).copy_(part)
    return whole


def _dense(value: Tensor) -> Tensor:
    dense = torch.nested.to_padded_tensor(value, 0.0) if value.is_nested else value.detach()
    return dense.dequantize().clone() if dense.is_quantized else dense.to_dense().clone()


def unit_of(leaf: Tensor) -> float:
    """Return the largest difference that is rounding for a number of magnitude 1.

    1,024 units of the dtype's precision: another batch size sums matrix products in another order, which moves them
    by about the square root of F * T units. In bfloat16, float16 and, on a GPU, TensorFloat-32, 16 units: they round
    every step. 0 for integers.
    """
    if not (leaf.is_floating_point() or leaf.is_complex()):
        return 0.0
    kind = leaf.device.type
    dtype = torch.get_autocast_dtype(kind) if torch.is_autocast_enabled(kind) else leaf.dtype
    if kind == "cuda" and dtype == torch.float32 and torch.backends.cudnn.allow_tf32:
        return 16 * 2**-10  # TensorFloat-32, cuDNN's default, rounds the factors to 10 bits
    return (16 if dtype in HALF else 1024) * torch.finfo(dtype).eps


def scale_of(leaf: Tensor) -> float:
    """Return the largest magnitude in a result, at least 1, leaving out what is 1,000 times the median: fill values."""
    if not leaf.numel() or not (leaf.is_floating_point() or leaf.is_complex()):
        return 1.0
    sizes = leaf.abs().double().flatten()
    sizes = sizes[sizes.isfinite() & (sizes > 0)]
    if not len(sizes):
        return 1.0
    usual = sizes[sizes <= _OUTLIER * max(1.0, float(sizes.median()))]
    return max(1.0, float(usual.max()) if len(usual) else 1.0)


def gap(
    reference: Tensor,
    other: Tensor,
    own: torch.Size,
    unit: float,
    scale: float | None,
    *,
    strict: bool,
    on_left: bool | None = None,
) -> Gap | None:
    """Compare two results of one sample where both have entries: in the shape that it has alone. None: another shape.

    A distance is rounding up to unit * scale; without a scale up to the unit.

    Results in a batch may be wider than alone, unless `strict`; the entries of the sample come last if the pads are on
    the left, else first; with None, whichever fit better.
    """
    two = (reference, other)
    if (
        (strict and reference.shape != other.shape)
        or any(part.dim() != len(own) for part in two)
        or any(need > min(sizes) for need, *sizes in zip(own, *(part.shape for part in two), strict=True))
    ):
        return None
    found: list[Gap] = []
    for last in (False, True) if on_left is None else (on_left,):
        one, another = (cut(part, own, on_left=last) for part in two)
        far = apart(one, another).nan_to_num(nan=inf)
        found.append(Gap(far, is_over(far, one, unit, scale)))
        if all(part.shape == own for part in two) or not bool(found[-1].over.any()):
            break
    return min(found, key=lambda each: int(each.over.sum()))


def is_over(far: Tensor, values: Tensor, unit: float, scale: float | None) -> Tensor:
    """Return where a distance from these values is more than rounding; a fill value is measured by itself."""
    if scale is None:
        return far > unit
    sizes = (values if values.is_complex() else values.double()).abs().double()  # torch has no abs() of bools
    sizes = sizes.nan_to_num(posinf=0.0)
    return far > unit * torch.where(sizes > _OUTLIER * scale, sizes, scale)


def cut(part: Tensor, shape: torch.Size, *, on_left: bool) -> Tensor:
    """Return the first entries of each dimension, or the last ones, as many as the shape has."""
    for axis, size in enumerate(shape):
        part = part.narrow(axis, part.size(axis) - size if on_left else 0, size)
    return part


def checked_tolerance(tolerance: object) -> float | None:
    """Return what counts as rounding. Raises PackvizError unless it is None or a number of at least 0."""
    if tolerance is None or (is_number(tolerance) and tolerance >= 0):
        return tolerance
    raise refusal_of("tolerance", "a number of at least 0", tolerance, "leave it out, or give one such as 1e-5")
