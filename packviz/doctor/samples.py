"""check_samples(): what comes out for a sample may not depend on the other samples of its batch."""

import random
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations
from random import Random
from typing import Any

from packviz.doctor.baseline import Baseline, Change, Outputs, Separate
from packviz.doctor.causes import Dependence, divided_by, patterns
from packviz.doctor.evidence import CountedModel, Evidence, Samples, first_runs, some_of
from packviz.doctor.influence_picture import Checked, influence_of
from packviz.doctor.leaves import Leaves, checked_tolerance, leaves_of
from packviz.doctor.random_states import WatchedRun, random_states_kept
from packviz.doctor.variations import Variations, copied, other_orders
from packviz.doctor.wording import amounts_of, finding, pairs_of
from packviz.errors import PackvizError, refusal_of
from packviz.rules.finding import Finding
from packviz.rules.words import Cause, Said
from packviz.text import counted, joined, letters, sequence_label, shown
from packviz.validate import as_python, integer

__all__ = ["check_samples"]

SampleRun = Callable[[list[Any]], Any]

LEAST = 12  # forwards: with fewer, most variations are left out
FREE_PAIRS = 12  # pairs that are run although nothing was found before


def check_samples(
    run: SampleRun,
    samples: Sequence[Any],
    *,
    rows: int | Sequence[int] | None = None,
    seed: int = 0,
    forwards: int = 80,
    tolerance: float | None = None,
    ignore: str | Collection[str] = (),
) -> Checked:
    """Check that what `run` returns for a sample is the same whichever samples are in its batch.

    The samples are run as they are (twice), each alone, in two other orders, with other values in the place of one of
    them, beside a longer one, and in pairs. What belongs to a sample must agree at all entries that it has alone.

    run         run(samples) takes a list of samples, makes its own batch of them (collate, pad, pack, fill a row), and
                returns one output for each: a list, or a tensor whose first dimension counts them. An output is a
                tensor, a number, a text, or a tuple, list, dict or dataclass of these
    samples     at least two: tensors or arrays (length, ...), lists of ids, texts, or tuples, lists and dicts of these
    rows        of a large batch: how many samples to take, drawn with the seed, or their indices
    seed        of the variations: order, other values, pairs
    forwards    how often `run` may be called: at least 12
    tolerance   the largest difference that counts as rounding. None: 1,024 units of the dtype's precision times the
                largest number of the sample's output, or 1: 1.2e-4 in float32, 2.3e-13 in float64; 16 units in float16,
                bfloat16 and TensorFloat-32. The same number on both sides is equal, and so are nan and nan
    ignore      keys of findings that are left out

    `run` gets copies of the samples; what it changes itself stays changed, such as the statistics of a batch
    normalization in training, so call model.eval() before. Random states are put back: see random_states_kept().
    An error of `run` on the samples themselves is passed on. Raises PackvizError for unsupported inputs.
    """
    seed = integer("seed", seed, 0)
    chosen = _chosen(run, samples, rows, seed)
    forwards = integer("forwards", forwards, LEAST)
    tolerance = checked_tolerance(tolerance)
    vary = Variations([samples[b] for b in chosen], seed)
    model = CountedModel(run, forwards)
    with random_states_kept(lambda given: outputs_of(model([copied(one) for one in given]), len(given))) as watched:
        done = _collected(watched, model, vary, tolerance)
        found = [*_findings(done, vary)]
    names: list[str] = []
    if chosen != [*range(len(samples))]:
        found, names = [_renumbered(one, chosen) for one in found], [*map(str, chosen)]
    return Checked(found, influence_of(done, "Which sample changes which", names)).ignoring(ignore)


def _chosen(run: object, samples: object, rows: int | Sequence[int] | None, seed: int) -> list[int]:
    if not callable(run):
        fix = "give run=lambda samples: model(**collate(samples))"
        raise refusal_of("run", "a function of a list of samples", run, fix)
    fix = "give a list of at least two samples"
    if isinstance(samples, str | bytes) or not hasattr(samples, "__len__") or not hasattr(samples, "__getitem__"):
        raise refusal_of("samples", "a list of samples", samples, fix)
    B = len(samples)
    if B < 2:
        raise PackvizError("samples", expected="at least two", got=str(B), fix=fix)
    if rows is None:
        return [*range(B)]
    given = as_python(rows)
    if not isinstance(given, list | tuple | range | set | frozenset):
        return sorted(random.Random(seed).sample(range(B), min(integer("rows", given, 2), B)))
    chosen = [integer("rows", as_python(row), 0, B - 1) for row in given]
    if len(set(chosen)) != len(chosen) or len(chosen) < 2:
        raise PackvizError("rows", expected="at least two different rows", got=str(chosen), fix="name each row once")
    return chosen


def outputs_of(result: Any, B: int) -> list[Leaves]:
    """Return the outputs of each sample. Raises PackvizError unless there is one for each."""
    fix = "let run return a list with one output for each sample, or a tensor whose first dimension counts the samples"
    one_each = isinstance(result, list | tuple) or (hasattr(result, "shape") and len(result.shape) > 0)
    if not one_each or len(result) != B:
        got = f"{len(result)}" if one_each else shown(result)
        raise PackvizError("run", expected=f"an output for each of {B} samples", got=got, fix=fix)
    return [leaves_of(one) for one in result]


def _collected(run: WatchedRun, model: CountedModel, vary: Variations, tolerance: float | None) -> Evidence:
    """Run the samples in every way that the budget allows."""
    samples, sizes, B = vary.samples, vary.sizes, len(vary.samples)

    def alone(copies: int) -> dict[int, list[Any]]:
        return {b: [samples[b]] * copies for b in some_of(sizes, max(0, (model.room - 4) // 2), vary.seed)}

    def separated(*_: object) -> Separate:
        return lambda outputs, _: Outputs(outputs, {})

    baseline = partial(Baseline, tolerance=tolerance)
    done = first_runs(run, model, Samples(sizes, samples, alone, separated, baseline))
    if run.differs:
        return done
    for order in other_orders(sizes, vary.seed):
        done.vary("order", [samples[b] for b in order], order)
    probed = some_of(sizes, max(1, (model.budget - 6) // 2), vary.seed)
    for j in probed:
        if model.room > 0 and (other := vary.with_other_values(j)) is not None:
            done.vary("values", [*samples[:j], other, *samples[j + 1 :]], range(B), by=j)
    if (longer := vary.longer()) is not None:
        done.vary("longer", [*samples, longer], range(B))
        done.vary("longer", [longer, *samples], [None, *range(B)])
    pairs = [*combinations(probed, 2)]
    near = [pair for pair in pairs if pair[1] - pair[0] == 1]
    rest = [pair for pair in pairs if pair not in set(near)]
    Random(vary.seed).shuffle(rest)
    for at, (i, j) in enumerate([*near, *rest]):
        if model.room <= 0 or (at >= FREE_PAIRS and not done.changes):
            break
        done.vary("pair", [samples[i], samples[j]], (i, j))
    return done


def _findings(done: Evidence, vary: Variations) -> Iterator[Finding]:
    """Yield what follows from the evidence."""
    base = done.baseline
    if done.run.differs:
        cause: Cause = "draws_in_training" if done.run.draws() else "keeps_a_state"
        yield finding(
            "run_differs",
            base,
            done.changes,
            cause=cause,
            says=[done.second_run],
            failure=done.failures.get("again", ""),
        )
        return
    if not done.compared:
        yield finding("nothing_compared", base, severity="error", failure=next(iter(done.failures.values())))
        return
    if "alone" in done.failures:
        failure = done.failures["alone"]
        yield finding(
            "alone_fails", base, severity="note", says=["copies" if base.has_copies else "rest"], failure=failure
        )
    if "order" in done.failures and "order" not in done.compared:
        yield finding("order_fails", base, severity="note", failure=done.failures["order"])
    for one in patterns(done, vary):
        changes = _showing_the_cause(one.changes)
        hit = {each.on for each in changes if each.on is not None}
        full = [b for b in base.alone if vary.is_full(b) and b not in hit]
        divided = divided_by(done, vary, one.changes) if one.kind == "count_matters" else ""
        says: dict[Dependence, Said] = {
            "width_matters": "some_full" if full else "all_padded",
            "count_matters": "divided" if divided else "number",
        }
        yield finding(
            one.kind,
            base,
            changes,
            says=[says[one.kind]] if one.kind in says else [],
            change=_change(changes, hit),
            order=joined(_moves(one.order), 4),
            full=full,
            divided=divided,
        )


def _showing_the_cause(changes: Sequence[Change]) -> Sequence[Change]:
    """Return the changes that show the cause: by other values if there are any, else beside others or alone."""
    for ways in (("values",), ("alone", "pair")):
        if found := [one for one in changes if one.way in ways]:
            return found
    return changes


def _change(changes: Sequence[Change], hit: Collection[int]) -> str:
    """Return whose results change, and by how much, in words."""
    pairs = [one for one in changes if one.way == "pair"]
    beside = f" ({pairs_of(pairs)} when it stands beside it)" if pairs else ""
    results, verb = ("the results of", "change") if len(hit) > 1 else ("the result of", "changes")
    return f"{results} {letters(sorted(hit))} {verb}: {amounts_of(changes)}{beside}."


def _moves(order: Sequence[int]) -> list[str]:
    """Return which sample gets the result of which other, in words."""
    return [f"{sequence_label(b)} gets that of {sequence_label(of)}" for b, of in enumerate(order) if b != of]


def _renumbered(one: Finding, chosen: Sequence[int]) -> Finding:
    found = f"{one.found} Of the samples, {counted(len(chosen), 'row')} were taken: A is row {chosen[0]}"
    rest = [f"{sequence_label(at)} is row {row}" for at, row in enumerate(chosen) if at]
    return replace(one, found=f"{found}, {joined(rest, 4)}.", sequences=tuple(chosen[b] for b in one.sequences))
