"""The engine of the checks: run samples in several ways, and keep what each of them shows."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

from packviz.doctor.baseline import Baseline, Change, Outputs, Places, Separate, Variation
from packviz.doctor.leaves import Leaves
from packviz.doctor.random_states import WatchedRun
from packviz.doctor.wording import message_of
from packviz.rules.words import Said


class CountedModel:
    """What a check runs, with the number of its calls, whether they return or raise, and how many there may be."""

    def __init__(self, call: Callable[..., Any], budget: int) -> None:
        self.call, self.budget, self.calls = call, budget, 0

    def __call__(self, *given: Any) -> Any:
        self.calls += 1
        return self.call(*given)

    @property
    def room(self) -> int:
        """Return how often it may still be called."""
        return self.budget - self.calls


@dataclass(eq=False)
class Evidence:
    """What the runs of some samples show. Each run adds to the lists.

    run       runs a batch, such as a list of samples; `separate` splits its result into samples
    model     what `run` calls
    baseline  what the outputs are compared with
    failures  the message of the first error of each way that could not be run
    changes   what differs by more than rounding
    compared  the ways that were compared, after the two runs of the same samples
    orders    the other orders that were run, with their outputs
    """

    run: WatchedRun
    model: CountedModel
    separate: Separate
    baseline: Baseline
    failures: dict[Variation, str] = field(default_factory=dict)
    changes: list[Change] = field(default_factory=list)
    compared: set[Variation] = field(default_factory=set)
    orders: list[tuple[Sequence[int], Sequence[Leaves]]] = field(default_factory=list)

    def vary(self, way: Variation, given: Any, places: Places, by: int | None = None) -> list[Change] | None:
        """Run something else, and return what differs in the samples at these places; keep what is more than rounding.

        Return None if the run fails, or if the model was called as often as it may be.

        by   the sample that has other values, which is not compared itself, or the longer one
        """
        result = _attempt(self.run, given, way, self.failures) if self.model.room > 0 else None
        if result is None:
            return None
        outputs = self.separate(result, places)
        self.compared.add(way)
        found = self.baseline.changes(way, places, outputs, by)
        self.changes.extend(one for one in found if not one.rounding)
        if way == "order":
            self.orders.append(([b for b in places if b is not None], outputs.each))
        return found

    @property
    def second_run(self) -> Said:
        """Return what a second run of the same did, if it differs: the name of the text that says so."""
        return "raises" if "again" in self.failures else "differs"


@dataclass(frozen=True, eq=False)
class Samples:
    """The samples of a check: how they are run, how the results are split, and what later ones are compared with.

    lengths    of the samples
    given      what `run` takes for all of them
    alone      returns by sample what `run` takes for so many copies of it, as far as the calls that are left allow
    separated  returns what splits results, from the lengths, those of all samples and of some alone, and the copies
    baseline   returns what later runs are compared with, from the outputs of all samples and of some alone
    """

    lengths: Sequence[int]
    given: Any
    alone: Callable[[int], Mapping[int, Any]]
    separated: Callable[[Sequence[int], Any, Mapping[int, Any], int], Separate]
    baseline: Callable[[Outputs, Mapping[int, Sequence[Leaves]], Sequence[int]], Baseline]


def first_runs(run: WatchedRun, model: CountedModel, samples: Samples) -> Evidence:
    """Run all samples twice, then samples alone, which are compared unless the two runs differ: `run.differs` is set.

    Errors of the first run are passed on.
    """
    lengths, failures = samples.lengths, dict[Variation, str]()
    whole, again = run(samples.given), _attempt(run, samples.given, "again", failures)
    results, count = ({}, 1) if "again" in failures else _alone(run, samples.alone, len(lengths), failures)
    separate, places = samples.separated(lengths, whole, results, count), range(len(lengths))
    copies = {b: separate(result, [b] * count).each for b, result in results.items()}
    own = samples.baseline(separate(whole, places), copies, lengths)
    changes, compared = list[Change](), set[Variation]()
    if again is not None:  # the pads are compared, too
        changes += replace(own, copies={}, widths=()).changes("again", places, separate(again, places))
    run.differs = again is None or bool(changes)
    for b, leaves in own.alone.items() if not run.differs else ():
        compared.add("alone")
        changes += own.compare("alone", b, own.whole.each[b], leaves)
    return Evidence(run, model, separate, own, failures, changes, compared)


def _alone(
    run: WatchedRun, alone: Callable[[int], Mapping[int, Any]], B: int, failures: dict[Variation, str]
) -> tuple[dict[int, Any], int]:
    """Run samples one at a time until one fails: itself, then B copies. Return the best results, and their copies.

    The copies are tried only if the calls that are left may get them further.
    """
    best, copies = dict[int, Any](), 1
    for count in (1, B):
        chosen, results = alone(count), dict[int, Any]()
        if len(chosen) <= len(best):
            break
        for b, given in chosen.items():
            if (result := _attempt(run, given, "alone", failures)) is None:
                break
            results[b] = result
        if len(results) > len(best):
            best, copies = results, count
        if len(results) == len(chosen):
            break
    return best, copies


def _attempt(run: WatchedRun, given: Any, way: Variation, failures: dict[Variation, str]) -> Any:
    """Return the result of a run; None if it fails: the message of the first error of each way is added."""
    try:
        return run(given)
    except Exception as error:  # of the model, whatever it raises
        failures.setdefault(way, message_of(error))
        return None


def some_of(lengths: Sequence[int], most: int, seed: int) -> list[int]:
    """Return which samples are changed and run alone: all, or the first, last, shortest, longest and some others."""
    B = len(lengths)
    if most >= B:
        return [*range(B)]
    always = list(dict.fromkeys([0, lengths.index(max(lengths)), lengths.index(min(lengths)), B - 1]))[:most]
    others = Random(seed).sample([b for b in range(B) if b not in always], most - len(always))
    return sorted([*always, *others])
