"""What follows about the cause from the pattern of the changes: who changes whom, and what does not change anything."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan
from typing import Literal

from torch import Tensor

from packviz.doctor.baseline import Baseline, Change
from packviz.doctor.evidence import Evidence
from packviz.doctor.leaves import gap, is_text, scale_of
from packviz.doctor.variations import Variations

MIN_SHARE_OF_BATCH = 0.6  # of all pairs of samples: from there on each is said to change each other one


# The keys of the findings about samples that change others.
Dependence = Literal[
    "results_moved",
    "place_matters",
    "shape_differs",
    "count_matters",
    "width_matters",
    "flows_on",
    "flows_back",
    "batch_matters",
    "samples_mixed",
]


@dataclass(frozen=True, eq=False)
class Pattern:
    """What was found about some outputs: the kind of cause, and the changes that show it.

    kind   the key of the finding
    order  whose result each sample has, if they were moved
    """

    kind: Dependence
    changes: Sequence[Change]
    order: Sequence[int] = ()


def patterns(done: Evidence, vary: Variations) -> list[Pattern]:
    """Return what was found, outputs with the same cause together."""
    found: dict[tuple[Dependence, tuple[int, ...]], list[Change]] = {}
    for name in dict.fromkeys(one.name for one in done.changes):
        changes = [one for one in done.changes if one.name == name]
        order = tuple(moved(done, name))
        kind: Dependence = "results_moved" if order else _kind(done, vary, changes)
        found.setdefault((kind, order), []).extend(changes)
    return [Pattern(kind, changes, order) for (kind, order), changes in found.items()]


def _kind(done: Evidence, vary: Variations, changes: Sequence[Change]) -> Dependence:
    by_values = {(one.by, one.on) for one in changes if one.way == "values" and one.by is not None}
    if by_values:
        return _by_values({(j, i) for j, i in by_values if i is not None}, len(vary.samples))
    alone = {one.on for one in changes if one.way == "alone"}
    beside = {(one.by, one.on) for one in changes if one.way == "pair"}
    if not alone and not beside and all(one.way == "order" for one in changes):
        return "place_matters"
    if alone and alone == {*done.baseline.alone} - {0} and _first_is_as_alone(done):
        return "place_matters"
    if all(isnan(one.size) for one in changes):
        return "shape_differs"
    unpadded = any(vary.is_full(b) for b in alone if b is not None) or any(
        vary.covers(i, j) for j, i in beside if j is not None and i is not None and vary.extents[i]
    )
    return "count_matters" if unpadded else "width_matters"


def divided_by(done: Evidence, vary: Variations, changes: Sequence[Change]) -> str:
    """Return by whose number the results that change are divided: "samples or tokens"; "" if that is not seen.

    Times that number, each sample has the result that it has alone times its own. A count of tokens may leave out one
    of each sample, as that of shifted labels does.
    """
    base, sizes = done.baseline, vary.sizes
    names = {one.name for one in changes}
    counts = [("samples", [1] * len(sizes)), ("tokens", sizes), ("tokens", [size - 1 for size in sizes])]

    def shows(count: Sequence[int]) -> bool:
        scaled = {
            b: {name: own[name] * (count[b] / sum(count)) for name in names if name in own}
            for b, own in base.alone.items()
        }
        return min(count) > 0 and not any(
            base.compare("alone", b, {name: base.whole.each[b].get(name, own[name]) for name in own}, own)
            for b, own in scaled.items()
        )

    if not base.alone or any(isnan(one.size) or is_text(one.name) for one in changes):
        return ""
    return " or ".join(dict.fromkeys(of for of, count in counts if shows(count)))


def _first_is_as_alone(done: Evidence) -> bool:
    """Return whether the first sample of each other order has the result that it has alone."""
    base = done.baseline
    firsts = [(order[0], outputs[0]) for order, outputs in done.orders if order[0] in base.alone]
    return bool(firsts) and not any(base.compare("order", b, own, base.alone[b]) for b, own in firsts)


def _by_values(pairs: set[tuple[int, int]], B: int) -> Dependence:
    """Return what follows if other values of sample j change sample i, for the pairs (j, i)."""
    changed = {j for j, _ in pairs}
    if all(j < i for j, i in pairs) and _next_to(pairs, 1, B):
        return "flows_on"
    if all(j > i for j, i in pairs) and _next_to(pairs, -1, B):
        return "flows_back"
    return "batch_matters" if len(pairs) >= MIN_SHARE_OF_BATCH * len(changed) * (B - 1) else "samples_mixed"


def _next_to(pairs: set[tuple[int, int]], step: int, B: int) -> bool:
    """Return whether at least half of the samples change another one, and each of these changes its neighbor."""
    changed = {j for j, _ in pairs}
    return len(changed) >= (B - 1) / 2 and all((j, j + step) in pairs for j in changed)


def moved(done: Evidence, name: str) -> list[int]:
    """Return whose result each sample has, if those of the samples alone are there, but in another order."""
    base, B = done.baseline, len(done.baseline.lengths)
    for order, outputs in [([*range(B)], base.whole.each), *done.orders]:
        every = [*outputs, *base.alone.values()]
        if len(base.alone) < B or not all(name in leaves for leaves in every):
            return []
        if len({leaves[name].shape for leaves in every}) != 1:
            return []
        owners = [_owner(base, leaves[name], name) for leaves in outputs]
        if sorted(owners) == [*range(B)] and owners != [*order]:
            return [owners[[*order].index(b)] for b in range(B)]
    return []


def _owner(baseline: Baseline, result: Tensor, name: str) -> int:
    """Return the sample that has this result alone; -1 if none has."""
    unit, scale = baseline.units[name], scale_of(result)
    for b, leaves in baseline.alone.items():
        apart = gap(result, leaves[name], result.shape, unit, scale, strict=True)
        if apart is not None and not bool(apart.over.any()):
            return b
    return -1
