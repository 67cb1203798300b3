"""The engine of the checks: run samples in several ways, and compare what each of them gets, step by step."""

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from math import nan
from random import Random
from typing import Any, Literal, NamedTuple

import torch

from packviz.doctor.leaves import Gap, Leaves, gap, scale_of, unit_of

Way = Literal["again", "alone", "order", "values", "longer", "pair", "wider", "filled"]
Places = Sequence[int | None]  # which sample stands at each place of a run; None for one that is not compared


class Outputs(NamedTuple):
    """What a run returns: for each sample that it was given, and what belongs to no single one, as a mean loss."""

    each: Sequence[Leaves]
    shared: Leaves


Separate = Callable[[Any, Places], Outputs]
Separated = Callable[[Any, Mapping[int, Any], int], Separate]


@dataclass(frozen=True)
class Change:
    """One output of one sample that differs in a run.

    on     the sample; None: the output belongs to no single one
    by     the sample that was changed, or stood beside it; None if that was more than one. at: the step changed
    size   the largest difference; nan for another shape. steps: by step how large it is there, {} if it has none
    """

    way: Way
    on: int | None
    by: int | None
    name: str
    size: float
    steps: Mapping[int, float] = field(default_factory=dict)
    at: int | None = None


class Counted:
    """What a check runs, with the number of its calls, whether they return or raise."""

    def __init__(self, call: Callable[..., Any]) -> None:
        self.call, self.calls = call, 0

    def __call__(self, *given: Any) -> Any:
        self.calls += 1
        return self.call(*given)


@dataclass(eq=False)
class Evidence:
    """What the runs of some samples show.

    `failures`: the error of each way that could not be run; `compared`: the ways that were.

    run        runs a batch, such as a list of samples; `separate` splits its result into samples
    counted    the model that `run` calls
    budget     how often that may be called, by everything in a check
    lengths    how many steps each sample has; 0 if unknown
    tolerance  what counts as rounding; None: by dtype
    padded     whether outputs in a batch may be wider than those alone. on_left: which entries are then the sample's
               own: the last ones, else the first ones; None: whichever fit better
    time_axis  the dimension of the outputs that counts the steps; None: the first in which the samples differ
    copies     how many copies of a sample were in the run of it alone; copied: the outputs of each copy
    shapes     of the outputs of samples that were not run alone, if they are known
    orders     the other orders that were run, with their outputs
    faint      differences by other values that may be rounding
    """

    run: Callable[[Any], Any]
    counted: Counted
    budget: int
    lengths: Sequence[int]
    tolerance: float | None = None
    padded: bool = True
    on_left: bool | None = None
    time_axis: int | None = None
    separate: Separate = field(init=False)
    whole: Outputs = field(init=False)
    units: dict[str, float] = field(init=False)
    copies: int = 1
    copied: dict[int, Sequence[Leaves]] = field(default_factory=dict)
    alone: dict[int, Leaves] = field(default_factory=dict)
    shapes: dict[int, Mapping[str, torch.Size]] = field(default_factory=dict)
    orders: list[tuple[Sequence[int], Sequence[Leaves]]] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)
    faint: list[Change] = field(default_factory=list)
    failures: dict[Way, BaseException] = field(default_factory=dict)
    compared: set[Way] = field(default_factory=set)

    @property
    def forwards(self) -> int:
        """Return how often the model was called."""
        return self.counted.calls

    @property
    def room(self) -> int:
        """Return how often the model may still be called."""
        return self.budget - self.forwards

    @property
    def everything(self) -> Sequence[int]:
        """Return all samples, in their order."""
        return range(len(self.lengths))

    @property
    def differs(self) -> bool:
        """Return whether a second run of the same samples fails, or gives other results."""
        return "again" in self.failures or any(one.way == "again" for one in self.changes)

    def begin(
        self,
        given: Any,
        alone: Callable[[int, int], Any],
        probed: Callable[[], Sequence[int]],
        separated: Separated,
        copies: Sequence[int] = (1,),
    ) -> None:
        """Run all samples twice, and each of those probed alone. Errors of the first run are passed on.

        alone      returns what `run` takes for a sample alone, or for copies of it: how many is tried in turn
        probed     returns which samples the calls that are left allow
        separated  returns what splits the results of a run, from those of the whole batch and of samples alone
        """
        whole, again = self.run(given), self._ran("again", given)
        results = self._alone(alone, probed, copies) if "again" not in self.failures else {}
        self.separate = separated(whole, results, self.copies)
        self._take(self.separate(whole, self.everything))
        if again is not None:
            self._add("again", self.everything, self.separate(again, self.everything))
        self.copied = {b: self.separate(result, [b] * self.copies).each for b, result in results.items()}
        self.alone = {b: outputs[0] for b, outputs in self.copied.items()}

    def _take(self, whole: Outputs) -> None:
        """Keep the outputs that others are compared with, and what counts as rounding in each."""
        self.whole, self.units = whole, {}
        for leaves in (*whole.each, whole.shared):
            for name, leaf in leaves.items():
                self.units[name] = max(unit_of(leaf), self.units.get(name, 0.0))

    def _alone(
        self, alone: Callable[[int, int], Any], probed: Callable[[], Sequence[int]], copies: Sequence[int]
    ) -> dict[int, Any]:
        """Run samples one at a time until one fails. Try each number of copies; return the outputs of the best attempt.

        Another number is tried only if the calls that are left may get it further.
        """
        best: dict[int, Any] = {}
        for count in copies:
            chosen, results = probed(), dict[int, Any]()
            if len(chosen) <= len(best):
                break
            for b in chosen:
                if (result := self._ran("alone", alone(b, count))) is None:
                    break
                results[b] = result
            if len(results) > len(best):
                self.copies, best = count, results
            if len(results) == len(chosen):
                break
        return best

    def compare_alone(self) -> None:
        """Add what differs in the samples that were run alone."""
        for b, own in self.alone.items():
            self.compared.add("alone")
            self.changes += self.compare("alone", b, self.whole.each[b], own)

    def vary(self, way: Way, given: Any, places: Places, by: int | None = None, at: int | None = None) -> bool:
        """Run something else, add what differs in the samples at these places, and return whether it could be run.

        It is not run if the model was called as often as it may be.

        by, at   the sample that was changed, which is not compared itself, and the step in it
        """
        result = self._ran(way, given) if self.room > 0 else None
        if result is not None:
            self._add(way, places, self.separate(result, places), by, at)
        return result is not None

    def anew(self, given: Any) -> "Evidence":
        """Return evidence of the same samples, run in another mode: all of them first, without comparing anything."""
        other = copy(self)
        other.changes, other.faint, other.failures, other.compared = [], [], {}, set()
        other._take(self.separate(self.run(given), self.everything))
        return other

    def _ran(self, way: Way, given: Any) -> Any:
        try:
            return self.run(given)
        except Exception as error:  # of the model, whatever it raises
            self.failures.setdefault(way, error)
            return None

    def _add(self, way: Way, places: Places, others: Outputs, by: int | None = None, at: int | None = None) -> None:
        self.compared.add(way)
        beside = way in ("longer", "pair")
        for b, other in zip(places, others.each, strict=False):
            if b is None or (b == by and way == "values"):
                continue
            whose = next((one for one in places if one != b), None) if way == "pair" else by
            reference = self.alone.get(b, self.whole.each[b]) if beside else self.whole.each[b]
            self.changes += self.compare(way, b, other, reference, whose, at)
        if not beside and way != "values":
            self.changes += self.compare(way, None, others.shared, self.whole.shared)
        if way == "order":
            self.orders.append(([b for b in places if b is not None], others.each))

    def compare(
        self,
        way: Way,
        b: int | None,
        other: Leaves,
        reference: Leaves,
        by: int | None = None,
        at: int | None = None,
    ) -> list[Change]:
        """Return what differs in the outputs of sample b. What is not even rounding by other values is kept apart."""
        found = []
        for name in dict.fromkeys((*reference, *other)):
            apart = self._gap(way, b, name, other, reference)
            if apart is None:
                found.append(Change(way, b, by, name, nan, at=at))
            elif bool(apart.over.any()):
                steps = self._steps(name, b, apart.far, apart.over)
                found.append(Change(way, b, by, name, float(apart.far.max()), steps, at))
            elif way == "values" and bool(apart.far.any()):
                steps = self._steps(name, b, apart.far, apart.far > 0)
                self.faint.append(Change(way, b, by, name, float(apart.far.max()), steps, at))
        return found

    def _gap(self, way: Way, b: int | None, name: str, other: Leaves, reference: Leaves) -> Gap | None:
        own = self.own(b, name)
        if own is None or name not in other or name not in reference:
            return None
        shape = reference[name].shape
        cut = shape == other[name].shape and any(need > size for need, size in zip(own, shape, strict=False))
        if cut or (not self.padded and way != "alone"):
            own = shape  # both were cut, which the comparison with the sample alone shows
        unit = self.unit(name, reference) if self.tolerance is None else self.tolerance
        scale = scale_of(reference[name]) if self.tolerance is None else None
        strict = b is None or (self._is_trimmed(name) if self.padded else way != "alone")
        return gap(reference[name], other[name], own, unit, scale, strict=strict, on_left=self.on_left)

    def unit(self, name: str, reference: Leaves) -> float:
        """Return the largest difference that is rounding, for a number of magnitude 1; also if the batch lacks it."""
        return self.units[name] if name in self.units else unit_of(reference[name])

    def own(self, b: int | None, name: str) -> torch.Size | None:
        """Return the shape of an output of sample b: as it is alone, else as it is in the whole batch."""
        if b in self.shapes:
            return self.shapes[b].get(name)
        leaves = self.whole.shared if b is None else self.alone.get(b, self.whole.each[b])
        return leaves[name].shape if name in leaves else None

    def _is_trimmed(self, name: str) -> bool:
        """Return whether each sample has an output of its own size, so that a wider one is another result."""
        return len({leaves[name].shape for leaves in self.whole.each if name in leaves}) > 1

    def _steps(self, name: str, b: int | None, far: torch.Tensor, over: torch.Tensor) -> dict[int, float]:
        axis = self._time_axis(name, far.shape) if b is not None else None
        if axis is None:
            return {}
        sizes = torch.where(over, far, 0.0).movedim(axis, 0).reshape(far.size(axis), -1).amax(1)
        return {int(step): float(sizes[step]) for step in sizes.nonzero().flatten()}

    def _time_axis(self, name: str, own: torch.Size) -> int | None:
        if self.time_axis is not None:
            return self.time_axis
        shapes = {shape for b in self.everything if (shape := self.own(b, name)) is not None}
        ragged = [axis for axis, sizes in enumerate(zip(*shapes, strict=False)) if len({*sizes}) > 1]
        if ragged:
            return ragged[0]
        return 0 if len(own) > 1 and own[0] > 1 and own[0] in self.lengths else None


def some_of(lengths: Sequence[int], most: int, seed: int) -> list[int]:
    """Return which samples are changed and run alone: all, or the first, last, shortest, longest and some others."""
    B = len(lengths)
    if most >= B:
        return [*range(B)]
    always = list(dict.fromkeys([0, lengths.index(max(lengths)), lengths.index(min(lengths)), B - 1]))[:most]
    others = Random(seed).sample([b for b in range(B) if b not in always], most - len(always))
    return sorted([*always, *others])
