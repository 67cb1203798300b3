"""What came of running samples in several ways: which sample changed when another one did, where, and by how much."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import isnan, nan
from random import Random
from typing import Any, Literal

import torch
from torch import Tensor

from packviz.doctor.leaves import Leaves, gap, leaves_of, scale_of, unit_of
from packviz.doctor.variations import Path, Variations, copied, other_order
from packviz.errors import PackvizError
from packviz.rules.preconditions import described

Way = Literal["again", "alone", "order", "values", "longer", "pair"]
Run = Callable[[list[Any]], Any]

FREE_PAIRS = 12  # pairs that are run although nothing was found before


@dataclass(frozen=True)
class Change:
    """One output of one sample that differs in a run.

    on     the sample; by: the one that was changed, or stood beside it; None if that was more than one
    size   the largest difference; nan for another shape; steps: at which of its steps, () if it has none
    """

    way: Way
    on: int
    by: int | None
    name: str
    size: float
    steps: tuple[int, ...] = ()


@dataclass(eq=False)
class Evidence:
    """What the runs showed. `failures`: why some were impossible, `compared` which ways were compared."""

    samples: Sequence[Any]
    outputs: list[Leaves]  # of the whole batch
    sizes: list[int]
    extents: list[dict[Path, int]]
    alone: dict[int, Leaves] = field(default_factory=dict)
    first_is_alone: list[bool] = field(default_factory=list)  # for each other order: whether its first sample is
    orders: list[tuple[list[int], list[Leaves]]] = field(default_factory=list)  # other ones, and their outputs
    copies: int = 1  # of a sample, in a run of it alone
    changes: list[Change] = field(default_factory=list)
    failures: dict[Way, BaseException] = field(default_factory=dict)
    compared: dict[Way, int] = field(default_factory=dict)
    forwards: int = 0
    tolerance: float | None = None

    def covers(self, i: int, j: int) -> bool:
        """Return whether sample i is at least as long as sample j everywhere, so that j does not pad it."""
        return all(self.extents[i].get(path, 0) >= length for path, length in self.extents[j].items())

    def full(self, i: int) -> bool:
        """Return whether no sample is longer than sample i anywhere, so that nothing of it is padded."""
        return bool(self.extents[i]) and all(self.covers(i, j) for j in range(len(self.extents)))

    def unit(self, name: str) -> float:
        """Return the largest difference that is rounding, for a number of magnitude 1."""
        return max(unit_of(leaves[name]) for leaves in self.outputs if name in leaves)

    def own(self, b: int, name: str) -> torch.Size | None:
        """Return the shape of an output of sample b: as it is alone, else as it is in the whole batch."""
        leaf = self.alone.get(b, self.outputs[b]).get(name)
        return None if leaf is None else leaf.shape

    def add(self, way: Way, b: int, by: int | None, other: Leaves, reference: Leaves) -> None:
        """Add what differs in the outputs of sample b."""
        self.compared[way] = self.compared.get(way, 0) + 1
        self.changes += self.compare(way, b, by, other, reference)

    def compare(self, way: Way, b: int, by: int | None, other: Leaves, reference: Leaves) -> list[Change]:
        """Return what differs in the outputs of sample b."""
        found = []
        for name in reference.keys() | other.keys():
            own = self.own(b, name)
            if own is None or name not in other or name not in reference:
                found.append(Change(way, b, by, name, nan))
                continue
            shape = reference[name].shape
            if shape == other[name].shape and any(need > size for need, size in zip(own, shape, strict=False)):
                own = shape  # both were cut, which the comparison with the sample alone shows
            unit = self.unit(name) if self.tolerance is None else self.tolerance
            scale = scale_of(reference[name]) if self.tolerance is None else None
            one = gap(reference[name], other[name], own, unit, scale, strict=self._is_trimmed(name))
            if isnan(one.size) or bool(one.over.any()):
                steps = () if isnan(one.size) else self._steps(name, own, one.over)
                found.append(Change(way, b, by, name, one.size, steps))
        return found

    def _is_trimmed(self, name: str) -> bool:
        """Return whether each sample has an output of its own size, so that a wider one is another result."""
        return len({leaves[name].shape for leaves in self.outputs if name in leaves}) > 1

    def _steps(self, name: str, own: torch.Size, over: Tensor) -> tuple[int, ...]:
        shapes = {shape for b in range(len(self.outputs)) if (shape := self.own(b, name)) is not None}
        dims = [axis for axis, sizes in enumerate(zip(*shapes, strict=False)) if len({*sizes}) > 1]
        if not dims and own and own[0] in self.sizes and own[0] > 1 and len(own) > 1:
            dims = [0]
        if not dims:
            return ()
        return tuple(over.movedim(dims[0], 0).flatten(1).any(1).nonzero().flatten().tolist())


def collect(run: Run, samples: Sequence[Any], vary: Variations, budget: int, tolerance: float | None) -> Evidence:
    """Run the samples in every way that the budget allows, and return what differs."""
    B, outputs = len(samples), outputs_of(run([copied(one) for one in samples]), len(samples))
    done = Evidence(samples, outputs, vary.sizes, vary.extents, forwards=1, tolerance=tolerance)

    def ran(way: Way, given: Sequence[Any]) -> list[Leaves] | None:
        done.forwards += 1
        try:
            return outputs_of(run([copied(one) for one in given]), len(given))
        except Exception as error:  # of the model, whatever it raises
            done.failures.setdefault(way, error)
            return None

    for b, other in enumerate(ran("again", samples) or []):
        done.add("again", b, None, other, outputs[b])
    if done.changes or "again" in done.failures:
        return done
    probed = _probed(done.sizes, max(1, (budget - 6) // 2), vary.seed)
    _alone(done, ran, probed)
    for order in [other_order(done.sizes, vary.seed), [*range(B)][::-1]][: 2 if B > 2 else 1]:
        others = ran("order", [samples[b] for b in order]) or []
        done.orders += [(order, others)] if others else []
        for b, other in zip(order, others, strict=False):
            done.add("order", b, None, other, outputs[b])
        if others and order[0] in done.alone:
            same = not done.compare("order", order[0], None, others[0], done.alone[order[0]])
            done.first_is_alone.append(same)
    _beside(done, ran, vary, probed, budget)
    return done


def _alone(done: Evidence, ran: Any, probed: list[int]) -> None:
    """Run each sample by itself; if that is impossible, copies of it, as many as the batch has samples."""
    for copies in (1, len(done.samples)):
        alone = {}
        for b in probed:
            if (results := ran("alone", [done.samples[b]] * copies)) is None:
                break
            alone[b] = results[0]
        if len(alone) == len(probed):
            done.alone, done.copies = alone, copies
            for b in probed:
                done.add("alone", b, None, done.outputs[b], alone[b])
            return


def _beside(done: Evidence, ran: Any, vary: Variations, probed: list[int], budget: int) -> None:
    """Run the samples beside another value, beside a longer one, and in pairs."""
    samples, B = done.samples, len(done.samples)
    for j in probed:
        if (other := vary.with_other_values(j)) is not None:
            given = [*samples[:j], other, *samples[j + 1 :]]
            for i, leaves in enumerate(ran("values", given) or []):
                if i != j:
                    done.add("values", i, j, leaves, done.outputs[i])
    if (longer := vary.longer()) is not None:
        for given, skip in (([*samples, longer], 0), ([longer, *samples], 1)):
            for i, leaves in enumerate((ran("longer", given) or [])[skip : skip + B]):
                done.add("longer", i, None, leaves, done.alone.get(i, done.outputs[i]))
    pairs = [*combinations(probed, 2)]
    near = [pair for pair in pairs if pair[1] - pair[0] == 1]
    rest = [pair for pair in pairs if pair not in set(near)]
    Random(vary.seed).shuffle(rest)
    for at, (i, j) in enumerate([*near, *rest]):
        if done.forwards >= budget or (at >= FREE_PAIRS and not done.changes):
            return
        for b, by, leaves in zip((i, j), (j, i), ran("pair", [samples[i], samples[j]]) or [], strict=False):
            done.add("pair", b, by, leaves, done.alone.get(b, done.outputs[b]))


def _probed(sizes: list[int], most: int, seed: int) -> list[int]:
    """Return which samples are changed and run alone: all, or the first, last, shortest, longest and some others."""
    B = len(sizes)
    if most >= B:
        return [*range(B)]
    always = list(dict.fromkeys([0, sizes.index(max(sizes)), sizes.index(min(sizes)), B - 1]))[:most]
    others = Random(seed).sample([b for b in range(B) if b not in always], most - len(always))
    return sorted([*always, *others])


def outputs_of(result: Any, B: int) -> list[Leaves]:
    """Return the outputs of each sample. Raises PackvizError unless there is one for each."""
    fix = "let run return a list with one output for each sample, or a tensor whose first dimension counts the samples"
    one_each = isinstance(result, list | tuple) or (hasattr(result, "shape") and len(result.shape) > 0)
    if not one_each or len(result) != B:
        got = f"{len(result)}" if one_each else described(result)
        raise PackvizError("run", expected=f"an output for each of {B} samples", got=got, fix=fix)
    leaves = [leaves_of(one) for one in result]
    if not all(leaves):
        raise PackvizError("run", expected="a tensor or number for each sample", got="none", fix=fix)
    return leaves
