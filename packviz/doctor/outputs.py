"""What a model returns: its tensors, by name, compared sequence by sequence."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import nan
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence, pad_packed_sequence

from packviz.compute.verify import apart
from packviz.doctor.leaves import Leaves, cut, is_over
from packviz.errors import PackvizError


class Difference(NamedTuple):
    """An output that differs: its name, by how much (NaN if the shapes differ), and where, if known."""

    name: str
    size: float
    sequence: int | None = None
    step: int | None = None


@dataclass(frozen=True, eq=False)
class Output:
    """One tensor of what the model returns for the batch, and for each sequence alone."""

    name: str
    whole: Tensor
    axis: int | None  # the dimension that counts the sequences; None if none does
    alone: list[Tensor]  # for each sequence, without that dimension
    on_left: bool
    unit: float  # the largest difference that is rounding, for a number of magnitude 1
    scale: float | None  # the magnitude of the output; None: the unit is absolute
    is_compared_alone: bool = False  # whether the sequences were run alone
    is_flat: bool = False  # whether all sequences are concatenated along one dimension, as in x[mask]: x[mask]

    def rows(self, other: Tensor | None = None) -> Sequence[Tensor]:
        """Return the results sequence by sequence, of the batch or of another run."""
        return (self.whole if other is None else other).movedim(self.axis or 0, 0).unbind(0)

    def differences(self, other: Leaves, order: Sequence[int]) -> Iterator[Difference]:
        """Compare another run, over the sequences in this order, with that of the batch."""
        two = other.get(self.name)
        if self.is_flat and sorted(order) != [*order]:
            return
        if two is None or two.dim() != self.whole.dim() or (self.axis is None and two.shape != self.whole.shape):
            yield Difference(self.name, nan)
        elif self.axis is None:
            far = _distance(self.whole, two)
            if bool(is_over(far, self.whole, self.unit, self.scale).any()):
                yield Difference(self.name, float(far.max()))
        else:
            yield from self._compared(zip(order, self.rows(two), strict=True))

    def from_alone(self) -> Iterator[Difference]:
        """Compare the results of the batch with those of each sequence alone."""
        if self.axis is not None:
            yield from self._compared(enumerate(self.alone))

    def is_same(self, one: Tensor, two: Tensor) -> bool:
        """Return whether two tensors differ by rounding only."""
        return one.shape == two.shape and not bool(is_over(_distance(one, two), one, self.unit, self.scale).any())

    def is_same_in_all_copies(self, alone: Sequence[Leaves]) -> bool:
        """Return whether runs of copies have one result for all copies, as they must if nothing else is used."""
        if self.axis is None:
            return True
        runs = [leaves[self.name].movedim(self.axis, 0).unbind(0) for leaves in alone]
        return all(self.is_same(run[0], row) for run in runs for row in run)

    def in_its_place(self, alone: Sequence[Leaves]) -> "Output":
        """Return the output where sequence b alone is copy b of its run, which stands where it does in the batch."""
        if self.axis is None:
            return self
        return replace(self, alone=[leaves[self.name].select(self.axis, b) for b, leaves in enumerate(alone)])

    def _compared(self, others: Iterable[tuple[int, Tensor]]) -> Iterator[Difference]:
        """Compare results for sequences with those of the batch, at the steps that each sequence has alone."""
        rows = self.rows()
        for b, other in others:
            own = self.alone[b].shape
            if any(need > min(sizes) for need, *sizes in zip(own, rows[b].shape, other.shape, strict=True)):
                yield Difference(self.name, nan, b)
                continue
            one, two = (cut(part, own, on_left=self.on_left) for part in (rows[b], other))
            far = _distance(one, two)
            over = is_over(far, one, self.unit, self.scale)
            if bool(over.any()):
                shapes = {tuple(part.shape) for part in (*self.alone, rows[0], other)}
                timed = [axis for axis, sizes in enumerate(zip(*shapes, strict=True)) if len({*sizes}) > 1]
                first = over.movedim(timed[0], 0).flatten(1).any(1).int().argmax() if timed and over.dim() > 1 else None
                yield Difference(self.name, float(far.max()), b, None if first is None else int(first))


def as_alone(output: Output, ends: Sequence[int], width: int) -> Output:
    """Return the output, if no sequence can be run alone, with each of the batch cut to its own length."""
    axis = next((axis for axis, size in enumerate(output.whole.shape) if size == len(ends)), None)
    if axis is None:
        return output
    rows, alone = output.whole.movedim(axis, 0).unbind(0), []
    for row, end in zip(rows, ends, strict=True):
        timed = next((axis for axis, size in enumerate(row.shape) if size in (width, max(ends))), None)
        shape = torch.Size(min(end, size) if axis == timed else size for axis, size in enumerate(row.shape))
        alone.append(cut(row, shape, on_left=output.on_left))
    return replace(output, axis=axis, alone=alone)


def beside_alone(output: Output, alone: list[Leaves], copies: int) -> Output:
    """Return the output with that of each sequence alone, and the dimension that counts them in every run."""
    sizes = [*zip(output.whole.shape, *(leaves[output.name].shape for leaves in alone), strict=True)]
    for axis, (whole, *each) in enumerate(sizes):
        if whole == len(alone) and {*each} == {copies}:
            own = [leaves[output.name].select(axis, 0) for leaves in alone]
            return replace(output, axis=axis, alone=own, is_compared_alone=True)
    return replace(output, is_compared_alone=True, is_flat=any(sum(each) == copies * whole for whole, *each in sizes))


def _stacked(parts: list[Tensor], on_left: bool) -> Tensor:
    """Return tensors of as many dimensions as one, padded to the same sizes."""
    sizes = [max(each) for each in zip(*(part.shape for part in parts), strict=True)]
    whole = parts[0].new_zeros(len(parts), *sizes)
    for place, part in zip(whole, parts, strict=True):
        cut(place, part.shape, on_left=on_left).copy_(part)
    return whole


def moved(outputs: list[Output]) -> list[int] | None:
    """Return whose result each row is, where the batch has those of the sequences alone, but in another order."""
    for one in outputs:
        if one.axis is not None and len({part.shape for part in (*one.alone, *one.rows())}) == 1:
            rows = [[one.is_same(row, own) for own in one.alone] for row in one.rows()]
            order = [row.index(True) if any(row) else -1 for row in rows]
            if sorted(order) == list(range(len(order))) and order != sorted(order):
                return order
    return None


def _distance(one: Tensor, two: Tensor) -> Tensor:
    """Return how far numbers are apart, as apart() does; inf if only one is NaN."""
    return apart(one, two).nan_to_num(nan=float("inf"))


def leaves_of(value: object, name: str, on_left: bool) -> Iterator[tuple[str, Tensor]]:
    """Yield every tensor of a result with its name; a packed sequence as its padded grid (B, T, ...).

    A list of tensors counts as one tensor.
    """
    if isinstance(value, PackedSequence):
        yield name, pad_packed_sequence(value, batch_first=True)[0]
    elif isinstance(value, Tensor):
        if value.is_meta:
            fix = "move the model and the batch off the meta device, with to_empty() and real weights"
            raise PackvizError(
                "model", expected="tensors with numbers in what it returns", got=f"{name} on meta", fix=fix
            )
        dense = torch.nested.to_padded_tensor(value, 0.0) if value.is_nested else value
        yield name, dense.dequantize().clone() if dense.is_quantized else dense.to_dense().clone()
    elif isinstance(value, Mapping | tuple | list):
        named = value.items() if isinstance(value, Mapping) else enumerate(value)
        leaves = [leaf for key, part in named for leaf in leaves_of(part, f"{name}[{key!r}]", on_left)]
        parts = [leaf for _, leaf in leaves]
        alike = len(parts) == len(value) and len({(leaf.dim(), leaf.dtype) for leaf in parts}) == 1
        yield from [(name, _stacked(parts, on_left))] if isinstance(value, list) and alike else leaves
