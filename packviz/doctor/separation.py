"""Where the results of several samples are in one tensor: each at an index of a dimension, or one after another."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from typing import Any

from torch import Tensor

from packviz.doctor.baseline import Outputs, Places, Separate
from packviz.doctor.leaves import Leaves
from packviz.errors import PackvizError
from packviz.text import listed


@dataclass(frozen=True)
class SampleAxes:
    """Where the samples are in a tensor.

    axes    the dimension that counts the samples; if the samples are laid end to end, the dimensions that count their
            entries: the scores of attention have two
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


def separated(axes: Mapping[str, SampleAxes], leaves: Leaves, places: Places) -> Outputs:
    """Return a result sample by sample; what cannot be split belongs to no single one."""
    each: list[Leaves] = [{} for _ in places]
    for name, leaf in leaves.items():
        for own, part in zip(each, axes[name].parts(leaf, places) if name in axes else (), strict=False):
            own[name] = part
    return Outputs(each, {name: leaf for name, leaf in leaves.items() if name not in axes})


def by_index(lengths: Sequence[int], whole: Leaves, alone: Mapping[int, Leaves], copies: int) -> Separate:
    """Return what splits outputs whose samples are counted by a dimension, or are one after another, as all tokens.

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
    return partial(separated, found)


def in_a_row(lengths: Sequence[int], whole: Leaves, alone: Mapping[int, Leaves], _: int = 1) -> Separate:
    """Return what splits outputs with an entry for each token of the samples, which are one after another.

    The last token of a row may have no entry, as in losses whose labels are shifted. What has no tokens is left out.
    Raises PackvizError if nothing has.
    """
    found, N = dict[str, SampleAxes](), sum(lengths)
    for name, leaf in whole.items():
        for lacks in (0, 1):
            own = [[lengths[b] - lacks for b in alone] == _sizes(alone, name, leaf, axis) for axis in range(leaf.dim())]
            axes = [axis for axis, size in enumerate(leaf.shape) if size == N - lacks and own[axis]]
            if axes:
                found.setdefault(name, SampleAxes(tuple(axes if alone else axes[:1]), lengths))
    if not found:
        shapes = listed([f"{name} {tuple(leaf.shape)}" for name, leaf in whole.items()])
        fix = "return what belongs to single tokens: call=lambda model, row: model(row.input_ids, ...)"
        raise PackvizError("model", expected=f"an output with {N} tokens in one dimension", got=shapes, fix=fix)
    return lambda leaves, places: separated(found, leaves, places)._replace(shared={})


def _sizes(alone: Mapping[int, Leaves], name: str, leaf: Tensor, axis: int) -> list[Any]:
    """Return the size of a dimension in each result alone; -1 where the output is missing or of other dimensions."""
    own = [leaves.get(name) for leaves in alone.values()]
    return [-1 if one is None or one.dim() != leaf.dim() else one.size(axis) for one in own]
