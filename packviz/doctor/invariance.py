"""check_invariance(): what a model makes of a sequence may depend neither on padding nor on the other sequences."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Literal

from torch import Tensor

from packviz.doctor.baseline import Baseline, Change, Outputs, Variation
from packviz.doctor.causes import moved
from packviz.doctor.evidence import CountedModel, Evidence, Samples, first_runs, some_of
from packviz.doctor.influence_picture import Checked, influence_of
from packviz.doctor.leaves import Leaves, checked_tolerance
from packviz.doctor.models import NormalizingAsInTraining, evaluated
from packviz.doctor.padded_batch import EXTRA, BatchCall, GridRows, PaddedBatch, padded_batch
from packviz.doctor.random_states import WatchedRun, random_states_kept
from packviz.doctor.separation import by_index
from packviz.doctor.variations import other_orders
from packviz.doctor.wording import amounts_of, finding
from packviz.rules.finding import Finding, Severity
from packviz.rules.words import Cause, Said
from packviz.text import letters
from packviz.validate import integer, number

__all__ = ["check_invariance"]

KEPT = 7  # calls that are kept for what is run after the sequences alone: orders, more and other pads, in training
Differing = Literal["alone_differs", "order_differs", "padding_differs", "pads_differ"]
Failing = Literal["order_fails", "wider_fails", "filled_fails"]
KEYS: dict[Variation, Differing] = {
    "alone": "alone_differs",
    "order": "order_differs",
    "wider": "padding_differs",
    "filled": "pads_differ",
}


def check_invariance(
    model: Callable[..., object],
    batch: Tensor,
    lengths: Tensor | Sequence[int],
    *,
    batch_first: bool = False,
    call: BatchCall | None = None,
    padding_value: float | None = None,
    padding_side: Literal["right", "left"] = "right",
    seed: int = 0,
    forwards: int = 80,
    tolerance: float | None = None,
    ignore: str | Collection[str] = (),
) -> Checked:
    """Run a model over a batch in several ways that must not change its result for any sequence.

    It is run twice as it is, with each sequence alone and without padding, in another order, with more padding, and
    with other values in the pads; its batch normalization also as in training. Outputs at the steps that a sequence
    has when it is run alone, and final states, must agree. The model may return tensors (B, ...) or with the
    sequences in another dimension, as h_n, or with all tokens in one, PackedSequences, lists of a tensor for each
    sequence, or tuples, lists and dicts of these.

    batch, lengths  (T, B) or (T, B, F), with batch_first=True (B, T) or (B, T, F); (B,), at least two sequences
    call            how the model is called: call(model, batch, lengths); None for model(batch, lengths)
    padding_value   of the batch, if the model may find the pads by their value: then pads keep it
    padding_side    where the pads are
    seed            of the other values in the pads, and of the sequences to run alone if there are too many
    forwards        how often the model may be run: at least 12
    tolerance       as in check_samples(): to see small leaks, use float32 on the CPU
    ignore          keys of findings that are left out

    A copy of the model is run, with its parameters shared, without gradients and in evaluation mode: `call` gets the
    copy, and the model is as before, for other threads, too. Random states are put back: see random_states_kept().
    Errors of the model on the batch itself are passed on. Raises PackvizError for unsupported inputs.
    """
    if padding_value is not None:
        number("padding_value", padding_value)
    given = padded_batch(model, batch, lengths, batch_first, call, padding_side)
    forwards = integer("forwards", forwards, 12)
    with evaluated(model, batch) as own:
        counted = CountedModel(partial(given.call, own), forwards)
        with random_states_kept(given.run_by(counted)) as run:
            done = _first_runs(run, counted, given, seed, checked_tolerance(tolerance))
            found = [*_findings(done, given, padding_value, seed)]
    return Checked(found, influence_of(done, "Which sequence changes")).ignoring(ignore)


def _first_runs(
    run: WatchedRun, model: CountedModel, given: PaddedBatch, seed: int, tolerance: float | None
) -> Evidence:
    """Run the batch twice, and each sequence alone and without padding."""

    def alone(copies: int) -> dict[int, GridRows]:
        return {b: given.copies(b, copies) for b in some_of(given.ends, max(0, model.room - KEPT), seed)}

    def baseline(whole: Outputs, copies: Mapping[int, Sequence[Leaves]], ends: Sequence[int]) -> Baseline:
        on_left, widths = None if given.on_left else False, (given.grid.size(1), max(ends))
        first = Baseline(whole, copies, ends, tolerance, on_left=on_left, widths=widths)
        return replace(first, in_place=_others_stay(first))

    return first_runs(run, model, Samples(given.ends, (given.grid, given.all), alone, by_index, baseline))


def _findings(done: Evidence, given: PaddedBatch, padding_value: float | None, seed: int) -> Iterator[Finding]:
    """Run the model in every way, and yield what differs."""
    if done.run.differs:
        cause: Cause = "draws_in_evaluation" if done.run.draws() else "keeps_a_state"
        yield _finding(
            "run_differs",
            done,
            done.changes,
            cause=cause,
            says=[done.second_run],
            failure=done.failures.get("again", ""),
        )
        return
    if "alone" in done.failures:
        failure = done.failures["alone"]
        yield _finding(
            "alone_fails",
            done,
            severity="note",
            says=["copies" if done.baseline.has_copies else "rest"],
            failure=failure,
        )
    if done.baseline.in_place:
        yield _finding("others_kept", done, severity="note")
    wide = given.wider(padding_value)
    filled = given.refilled(given.grid if min(given.ends) < given.grid.size(1) else wide, seed)
    padded: list[tuple[Variation, Tensor]] = [("wider", wide)]
    padded += [("filled", filled)] if padding_value is None else []
    for order in [] if done.baseline.in_place else other_orders(given.ends, seed):
        if not any(one.way == "order" for one in done.changes):
            done.vary("order", (given.grid[order], order), order)
    for way, grid in padded:
        done.vary(way, (grid, given.all), given.all)
    yield from _varied(done, given)
    possible = [one for one in padded if one[0] in done.compared]
    if possible and done.model.room > 1 and not any(one.way in ("wider", "filled") for one in done.changes):
        yield from _in_training(done, given, possible)


def _others_stay(base: Baseline) -> bool:
    """Return whether copies of a sequence differ, but each that stands in its place is as in the batch.

    So the model uses other tensors beside the batch, which stay in their order.
    """
    if not base.has_copies or len(base.copies) < len(base.lengths):
        return False
    copies = base.copies.items()
    alike = not any(base.compare("alone", b, each[0], other) for b, each in copies for other in each)
    return not alike and not any(base.compare("alone", b, base.whole.each[b], each[b]) for b, each in copies)


def _varied(done: Evidence, given: PaddedBatch) -> Iterator[Finding]:
    """Yield which variations were impossible, what differs in the others, and what causes it."""
    fails: dict[Variation, Failing] = {"order": "order_fails", "wider": "wider_fails", "filled": "filled_fails"}
    for way, failing in fails.items():
        if way in done.failures and way not in done.compared:
            yield _finding(failing, done, severity="note", failure=done.failures[way])
    if not done.compared:
        yield _finding("nothing_compared", done, severity="error", failure=next(iter(done.failures.values())))
    cause = _cause(done, [end == given.grid.size(1) for end in given.ends])
    for way, differing in KEYS.items():
        if changes := [one for one in done.changes if one.way == way]:
            yield _finding(differing, done, changes, cause=cause)


def _cause(done: Evidence, full: Sequence[bool]) -> Cause:
    """Return the cause that fits the runs that differ; full: whether each sequence is without pads."""
    ways = {one.way for one in done.changes}
    own = {one.on for one in done.changes if one.way == "alone"}
    if any(moved(done, name) for name in {one.name for one in done.changes}):
        return "moved"
    if "order" in ways:
        return "flows" if own and 0 not in own else "mixed"
    if ways & {"wider", "filled"}:
        return "pads_read" if "filled" in ways or "filled" not in done.compared else "number_of_pads"
    return "others" if any(full[b] for b in own if b is not None) else "steps_after"


def _in_training(done: Evidence, given: PaddedBatch, padded: Sequence[tuple[Variation, Tensor]]) -> Iterator[Finding]:
    """Yield what other padding changes if batch normalization takes the statistics of the batch."""
    with NormalizingAsInTraining() as norms:  # type: ignore[no-untyped-call]
        whole = done.separate(done.run((given.grid, given.all)), given.all)
        trained = Evidence(done.run, done.model, done.separate, replace(done.baseline, whole=whole))
        for way, grid in padded if norms.seen else ():
            trained.vary(way, (grid, given.all), given.all)
    if trained.changes:
        yield _finding("batch_norm_pads", trained, trained.changes)


def _finding(
    key: str,
    done: Evidence,
    changes: Sequence[Change] = (),
    severity: Severity = "silent",
    cause: Cause | None = None,
    says: Sequence[Said] = (),
    **values: object,
) -> Finding:
    """Return a finding about sequences."""
    rows = sorted({one.on for one in changes if one.on is not None})
    many, whose = len(rows) > 1, f" of {letters(rows)}" if rows else ""
    change = f"the result{'s' * many}{whose} {'change' if many else 'changes'}: {amounts_of(changes)}."
    base, extra = done.baseline, EXTRA
    return finding(key, base, changes, severity, "sequence", cause, says, change=change, extra=extra, **values)
