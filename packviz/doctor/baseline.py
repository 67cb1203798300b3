"""What the outputs of a check's runs are compared with, and how: each sample's at the entries that it has alone."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import inf, nan
from typing import Any, Literal, NamedTuple

import torch

from packviz.doctor.leaves import Gap, Leaves, gap, is_text, scale_of, unit_of

Variation = Literal["again", "alone", "order", "values", "longer", "pair", "wider", "filled"]
Places = Sequence[int | None]  # which sample stands at each place of a run; None for one that is not compared


class Outputs(NamedTuple):
    """What a run returns: for each sample that it was given, and what belongs to no single one, as a mean loss."""

    each: Sequence[Leaves]
    shared: Leaves


Separate = Callable[[Any, Places], Outputs]


@dataclass(frozen=True)
class Change:
    """One output of one sample that differs in a run.

    on        the sample; None: the output belongs to no single one
    by        the sample that was changed, or stood beside it; None if that was more than one
    size      the largest difference; nan for another shape, inf for another text
    steps     by step how large it is there, {} if it has none
    rounding  whether it is small enough to be rounding
    """

    way: Variation
    on: int | None
    by: int | None
    name: str
    size: float
    steps: Mapping[int, float] = field(default_factory=dict)
    rounding: bool = False


@dataclass(frozen=True, eq=False)
class Baseline:
    """The outputs that those of other runs are compared with, and how.

    whole      of all samples in one batch
    copies     of each copy of a sample that was run alone, by sample
    lengths    how many steps each sample has; 0 if unknown
    tolerance  the largest difference that is rounding; None: by dtype
    padded     whether outputs in a batch may be wider than those alone; else their first dimension counts the steps
    on_left    which entries of a wider output are the sample's: the last, else the first; None: whichever fit better
    widths     sizes of the dimension that counts steps and pads: pads are cut off samples that were not run alone
    in_place   whether the outputs of a sample alone are those of the copy at its place in the batch, else of the first
    """

    whole: Outputs
    copies: Mapping[int, Sequence[Leaves]]
    lengths: Sequence[int]
    tolerance: float | None = None
    padded: bool = True
    on_left: bool | None = None
    widths: Collection[int] = ()
    in_place: bool = False

    @property
    def has_copies(self) -> bool:
        """Return whether samples were run alone in several copies."""
        return any(len(each) > 1 for each in self.copies.values())

    @cached_property
    def alone(self) -> Mapping[int, Leaves]:
        """Return the outputs of each sample that was run alone."""
        return {b: each[b if self.in_place else 0] for b, each in self.copies.items()}

    @cached_property
    def units(self) -> Mapping[str, float]:
        """Return by output the largest difference that is rounding for a number of magnitude 1."""
        units: dict[str, float] = {}
        for leaves in (*self.whole.each, self.whole.shared):
            for name, leaf in leaves.items():
                units[name] = max(unit_of(leaf), units.get(name, 0.0))
        return units

    def changes(self, way: Variation, places: Places, others: Outputs, by: int | None = None) -> list[Change]:
        """Return what differs in a run with these samples at its places; `by` has other values, or is a longer one."""
        found, beside = [], way in ("longer", "pair")
        for b, other in zip(places, others.each, strict=False):
            if b is None or (b == by and way == "values"):
                continue
            whose = next((one for one in places if one != b), None) if way == "pair" else by
            whole = self.whole.each[b]
            found += self.compare(way, b, other, self.alone.get(b, whole) if beside else whole, whose)
        if not beside and way != "values":
            found += self.compare(way, None, others.shared, self.whole.shared)
        return found

    def compare(
        self, way: Variation, b: int | None, other: Leaves, reference: Leaves, by: int | None = None
    ) -> list[Change]:
        """Return what differs in the outputs of sample b; with other values elsewhere also what may be rounding."""
        found = []
        for name in dict.fromkeys((*reference, *other)):
            apart = self._gap(way, b, name, other, reference)
            if apart is None:
                found.append(Change(way, b, by, name, nan))
                continue
            rounding = not bool(apart.over.any())
            where = apart.far > 0 if rounding and way == "values" else apart.over
            if bool(where.any()):
                far = torch.where(where, inf if is_text(name) else apart.far, 0.0)
                found.append(Change(way, b, by, name, float(far.max()), self._steps(name, b, far), rounding))
        return found

    def _gap(self, way: Variation, b: int | None, name: str, other: Leaves, reference: Leaves) -> Gap | None:
        own = self._shape(b, name)
        if own is None or name not in other or name not in reference:
            return None
        shape = reference[name].shape
        cut = shape == other[name].shape and any(need > size for need, size in zip(own, shape, strict=False))
        if cut or (not self.padded and way != "alone"):
            own = shape  # both were cut, which the comparison with the sample alone shows
        unit, scale = 0.0 if is_text(name) else self.tolerance, None
        if unit is None:  # an output that the batch lacks has its own
            unit, scale = self.units.get(name, unit_of(reference[name])), scale_of(reference[name])
        strict = b is None or (not self.padded and way != "alone")
        if self.padded and not strict:  # where each sample has an output of its own size, a wider one is another result
            strict = len({leaves[name].shape for leaves in self.whole.each if name in leaves}) > 1
        return gap(reference[name], other[name], own, unit, scale, strict=strict, on_left=self.on_left)

    def _shape(self, b: int | None, name: str) -> torch.Size | None:
        """Return the shape of an output of sample b: as it is alone, else as in the whole batch without the pads."""
        leaves = self.whole.shared if b is None else self.alone.get(b, self.whole.each[b])
        if name not in leaves or b is None or b in self.alone:
            return leaves[name].shape if name in leaves else None
        shape, end = leaves[name].shape, self.lengths[b]
        timed = next((axis for axis, size in enumerate(shape) if size in self.widths), None)
        return torch.Size(min(end, size) if axis == timed else size for axis, size in enumerate(shape))

    def _steps(self, name: str, b: int | None, far: torch.Tensor) -> dict[int, float]:
        """Return how far an output of sample b is apart at each step where it is; {} if it has no steps."""
        axis = self._time_axis(name, far.shape) if b is not None else None
        if axis is None:
            return {}
        sizes = far.movedim(axis, 0).reshape(far.size(axis), -1).amax(1)
        return {int(step): float(sizes[step]) for step in sizes.nonzero().flatten()}

    def _time_axis(self, name: str, own: torch.Size) -> int | None:
        """Return the dimension that counts the steps: the first one in which the samples differ; None if none does."""
        if not self.padded:
            return 0
        shapes = {shape for b in range(len(self.lengths)) if (shape := self._shape(b, name)) is not None}
        ragged = [axis for axis, sizes in enumerate(zip(*shapes, strict=False)) if len({*sizes}) > 1]
        if ragged:
            return ragged[0]
        return 0 if len(own) > 1 and own[0] > 1 and own[0] in self.lengths else None
