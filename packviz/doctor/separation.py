"""Where the results of several samples are in one tensor: each at an index of a dimension, or one after another."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from torch import Tensor

from packviz.doctor.leaves import Leaves
from packviz.doctor.runs import Outputs, Places


@dataclass(frozen=True)
class SampleAxes:
    """Where the samples are in a tensor.

    axes    the dimension that counts them; of samples one after another the dimensions that count their entries: the
            scores of attention have two
    sizes   how many entries each sample has; None: each is at one index
    """

    axes: tuple[int, ...]
    sizes: Sequence[int] | None = None

    def parts(self, leaf: Tensor, places: Places) -> list[Tensor]:
        """Return the part of the sample at each place, its entries first; none if the tensor is of another size."""
        first = self.axes[0]
        if self.sizes is None:
            return [*leaf.movedim(first, 0).unbind(0)] if leaf.size(first) == len(places) else []
        ends = [*accumulate(self.sizes[b] for b in places if b is not None)]
        if not 0 <= ends[-1] - leaf.size(first) <= 1:
            return []
        parts = []
        for start, end in zip([0, *ends], ends, strict=False):
            part = leaf
            for axis in self.axes:
                part = part.narrow(axis, start, min(end, leaf.size(axis)) - start)
            parts.append(part.movedim(first, 0))
        return parts


def separated(leaves: Leaves, splits: Mapping[str, SampleAxes], places: Places) -> Outputs:
    """Return a result sample by sample; what cannot be split belongs to no single one."""
    each: list[Leaves] = [{} for _ in places]
    for name in leaves.keys() & splits.keys():
        for own, part in zip(each, splits[name].parts(leaves[name], places), strict=False):
            own[name] = part
    return Outputs(each, {name: leaf for name, leaf in leaves.items() if name not in splits})


def by_index(whole: Leaves, alone: Mapping[int, Leaves], copies: int, lengths: Sequence[int]) -> dict[str, SampleAxes]:
    """Return the outputs whose samples are counted by a dimension, or are one after another, such as all tokens.

    alone   results for copies of one sample each; without any, the dimension is the first of the right size
    """
    B, found = len(lengths), dict[str, SampleAxes]()
    for name, leaf in whole.items():
        sizes = [[leaf.size(axis), *_sizes(alone, name, leaf, axis)] for axis in range(leaf.dim())]
        at = next((axis for axis, (size, *own) in enumerate(sizes) if size == B and {*own} <= {copies}), None)
        if at is not None:
            found[name] = SampleAxes((at,))
            continue
        for axis, (size, *own) in enumerate(sizes):
            entries = [one // copies for one in own] if len(own) == B else [*lengths]
            if sum(entries) == size and all(entries[b] * copies == one for b, one in zip(alone, own, strict=True)):
                found.setdefault(name, SampleAxes((axis,), entries))
    return found


def in_a_row(whole: Leaves, alone: Mapping[int, Leaves], lengths: Sequence[int]) -> dict[str, SampleAxes]:
    """Return the outputs with an entry for each token of the samples, which are one after another.

    The last token of a row may have no entry, as in losses whose labels are shifted.
    """
    found: dict[str, SampleAxes] = {}
    for name, leaf in whole.items():
        for lacks in (0, 1):
            axes = [
                axis
                for axis, size in enumerate(leaf.shape)
                if size == sum(lengths) - lacks
                and all(
                    one == lengths[b] - lacks for b, one in zip(alone, _sizes(alone, name, leaf, axis), strict=True)
                )
            ]
            if axes:
                found.setdefault(name, SampleAxes(tuple(axes if alone else axes[:1]), lengths))
    return found


def _sizes(alone: Mapping[int, Leaves], name: str, leaf: Tensor, axis: int) -> list[Any]:
    """Return the size of a dimension in each result alone; -1 where the output is missing or of other dimensions."""
    own = [leaves.get(name) for leaves in alone.values()]
    return [-1 if one is None or one.dim() != leaf.dim() else one.size(axis) for one in own]
