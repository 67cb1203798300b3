"""check_rows(): what comes out for a document in a row may not depend on the other documents of the row."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate
from math import inf, isnan, nan
from random import Random
from typing import Any

import torch
from torch import Tensor, nn

from packviz.doctor.baseline import Baseline, Change
from packviz.doctor.carriers import ATTENTION, RECURRENT, STATISTICS, carriers
from packviz.doctor.evidence import CountedModel, Evidence, Samples, first_runs, some_of
from packviz.doctor.influence_picture import Checked, Influence
from packviz.doctor.leaves import Leaves, checked_tolerance, is_text, leaves_of
from packviz.doctor.models import evaluated
from packviz.doctor.random_states import WatchedRun, random_states_kept
from packviz.doctor.row_runs import RowCall, called, changed_tokens, row_of
from packviz.doctor.separation import in_a_row
from packviz.doctor.wording import finding, message_of
from packviz.errors import PackvizError, refusal_of
from packviz.rules.finding import Finding, Severity
from packviz.rules.words import Cause, Said
from packviz.text import joined, sequence_label, two_digits
from packviz.validate import integer

__all__ = ["check_rows"]

MIN_SHARE_IN_REACH = 0.95  # of the pairs within reach of a convolution, which connects them: a state fades unevenly
MIN_TRIED_PER_NEAR = 2  # pairs that were tried for each within reach: a state would show in those beyond it, too
TRACED = 4  # calls that are kept to see which layer carries a leak

RowRun = Callable[[Sequence[Tensor]], Leaves]
Documents = Sequence[Tensor] | Sequence[Sequence[int]]


def check_rows(
    model: Any,
    documents: Documents,
    call: RowCall | None = None,
    *,
    seed: int = 0,
    forwards: int = 80,
    tolerance: float | None = None,
    ignore: str | Collection[str] = (),
) -> Checked:
    """Check that what a model makes of a document is the same alone and in a row with others.

    Each document is run alone and compared with the row token by token; then one token after another is changed, and
    no output of another document may move. The key of a finding is "leak": another document does change it;
    "convolution": it does at the first k - 1 tokens alone, as by a convolution, a window or a shift, and no layer was
    seen that does it; "positions": there is a difference without any influence.

    documents   at least two: lists or tensors of ids (length,), or of values (length, F)
    call        call(model, row) returns outputs with the N tokens in one dimension (or N - 1, of shifted losses).
                row has input_ids, position_ids, seq_idx (1, N), cu_seqlens (D + 1,) int32, max_seqlen,
                mask (1, 1, N, N) bool, causal inside each document, and documents. None: arguments are passed by the
                names in the model's signature
    seed        of the other values, and of the tokens to change if there are too many
    forwards    how often the model may be run, at least 12: twice, once for each document and each token
    tolerance   as in check_samples()
    ignore      keys of findings that are left out

    The model is copied, with its parameters shared, and run in evaluation mode without gradients; `call` gets the copy,
    so the model itself, and what other threads do with it, is as before. Raises PackvizError for unsupported inputs.
    """
    given = _checked(model, documents, call)
    forwards = integer("forwards", forwards, 12)
    tolerance = checked_tolerance(tolerance)
    with evaluated(model, *given) as own:
        counted = CountedModel(partial(call or called, own), forwards)

        def run(documents: Sequence[Tensor]) -> Leaves:
            return leaves_of(counted(row_of([one.clone() for one in documents])), "model")

        with random_states_kept(run) as watched:
            done, row = _collected(watched, counted, given, seed, tolerance)
            found = _findings(done, row, partial(_leaking, done, row, given, own, run))
    return Checked(found, row.influence(counted.calls)).ignoring(ignore)


def _checked(model: object, documents: object, call: object) -> list[Tensor]:
    if not callable(model):
        raise refusal_of("model", "a module or a function", model, "give the model that takes the row")
    if not (call is None or callable(call)):
        raise refusal_of("call", "a function", call, "give call=lambda model, row: model(row.input_ids, ...)")
    fix = "give a list of at least two documents, each a list of ids, or a tensor (length,) or (length, F)"
    if not isinstance(documents, list | tuple) or len(documents) < 2:
        raise refusal_of("documents", "a list of at least two documents", documents, fix)
    try:
        given = [one.detach() if isinstance(one, Tensor) else torch.as_tensor(one, device="cpu") for one in documents]
    except (TypeError, ValueError, RuntimeError) as error:
        expected = "ids or values of numbers"
        raise PackvizError("documents", expected=expected, got=message_of(error), fix=fix) from None
    for one in given:
        if one.is_meta or not one.dim() or not len(one) or one.shape[1:] != given[0].shape[1:]:
            raise refusal_of("documents", "documents of at least one token, of the same shape", one, fix)
    if len({one.dtype for one in given}) > 1:
        got = joined(sorted({str(one.dtype) for one in given}))
        raise PackvizError("documents", expected="documents of one dtype", got=got, fix="convert them")
    return given


@dataclass(frozen=True)
class _RowRuns:
    """What a row showed, by token of the row.

    starts      where each document begins, and N
    others      by token that was changed, its document with another value there
    alone       by token, how far its outputs are from those of its document alone; nan for another shape
    influenced  by (k, q), how far the outputs of token q move if token k changes, of another document
    changes     what the influence is taken from, else the differences from the documents alone
    """

    starts: Sequence[int]
    others: Mapping[int, Tensor]
    alone: Mapping[int, float]
    influenced: Mapping[tuple[int, int], float]
    changes: Sequence[Change]

    @property
    def owner(self) -> list[int]:
        """Return the document of each token."""
        return [d for d, start in enumerate(self.starts[:-1]) for _ in range(self.starts[d + 1] - start)]

    def influence(self, forwards: int) -> Influence:
        """Return which token changes which, as numbers."""
        names = [f"{sequence_label(d)}{n - self.starts[d]}" for n, d in enumerate(self.owner)]
        every: list[tuple[int | None, int, float]] = [(None, q, size) for q, size in self.alone.items()]
        every += [(k, q, size) for (k, q), size in self.influenced.items()]
        sizes = {(k, q): inf if isnan(size) else size for k, q, size in every}
        return Influence(names, sizes, forwards, "Which token changes which", tuple(self.owner))


def _collected(
    run: WatchedRun, model: CountedModel, documents: Sequence[Tensor], seed: int, tolerance: float | None
) -> tuple[Evidence, _RowRuns]:
    """Run the row, each document alone, and the row with one token after another changed."""
    lengths = [*map(len, documents)]
    starts, others, found = [0, *accumulate(lengths)], dict[int, Tensor](), dict[int, list[Change]]()
    whole = [dict.fromkeys(range(length), nan) for length in lengths]  # where an output has another shape

    def alone(copies: int) -> dict[int, list[Tensor]]:
        return {d: [documents[d]] for d in some_of(lengths, model.room // 2, seed)} if copies == 1 else {}

    def timed(changes: Sequence[Change]) -> list[Change]:
        return [replace(one, steps=one.steps or whole[one.on or 0]) for one in changes]

    baseline = partial(Baseline, tolerance=tolerance, padded=False, on_left=False)
    done = first_runs(run, model, Samples(lengths, [*documents], alone, in_a_row, baseline))
    apart = timed(done.changes)
    for d, at, other in changed_tokens(documents, model.room - TRACED, Random(seed)) if not run.differs else ():
        given, k = [*documents[:d], other, *documents[d + 1 :]], starts[d] + at
        if (changes := done.vary("values", given, range(len(documents)), by=d)) is not None:
            others[k], found[k] = other, timed(changes)
    moved = {k: [one for one in changes if not one.rounding] for k, changes in found.items()}
    if not any(moved.values()):  # the same shapes give the same rounding: what one token does may be small
        moved = found if apart else {}
    influenced = {(k, q): size for k, each in moved.items() for q, size in _by_token(each, starts).items()}
    changes = [one for each in moved.values() for one in each] or apart
    return done, _RowRuns(starts, others, _by_token(apart, starts), influenced, changes)


def _by_token(changes: Sequence[Change], starts: Sequence[int]) -> dict[int, float]:
    found: dict[int, float] = {}
    for one in changes:
        for step, size in one.steps.items():
            q = starts[one.on or 0] + step
            found[q] = max(size, found.get(q, 0.0))
    return found


def _findings(done: Evidence, row: _RowRuns, leaking: Callable[[], tuple[Cause, str]]) -> list[Finding]:
    failure = next(iter(done.failures.values()), "")
    sizes = [size for one in row.changes for size in one.steps.values()]
    size = "its shape" if any(map(isnan, sizes)) else two_digits(max(sizes, default=0.0))
    if any(is_text(one.name) for one in row.changes):
        size = "its text"

    def found(
        key: str,
        changes: Sequence[Change] = (),
        severity: Severity = "silent",
        cause: Cause | None = None,
        says: Sequence[Said] = (),
        **values: object,
    ) -> Finding:
        base = done.baseline
        return finding(key, base, changes, severity, "document", cause, says, size=size, failure=failure, **values)

    if done.run.differs:
        cause: Cause = "draws_in_evaluation" if done.run.draws() else "keeps_a_state"
        return [found("run_differs", row.changes, cause=cause, says=[done.second_run])]
    notes = []
    if "alone" in done.failures:
        if not row.others:
            return [found("nothing_compared", severity="error")]
        notes = [found("alone_fails", severity="note", says=["rest"])]
    if row.influenced:
        cause, layers = leaking()  # a layer that was seen says more than the pattern of what it changes
        if not layers and (kernel := _kernel(row)):
            convolves, reach = done.run.convolves, kernel - 1
            says: Said = "convolves" if convolves else "unseen"
            of = found("convolution", row.changes, says=[says], kernel=kernel, reach=reach, convolves=convolves)
            return [of, *notes]
        return [found("leak", row.changes, cause=cause, layers=layers), *notes]
    if row.alone:
        first_differs = min(row.alone) < row.starts[1]
        return [found("positions", row.changes, cause="first_differs" if first_differs else "first_is_right"), *notes]
    return notes


def _kernel(row: _RowRuns) -> int:
    """Return k if each token is changed by the k - 1 tokens before it, of any document, and by no others; else 0.

    A share of MIN_SHARE_IN_REACH of these pairs is enough.
    """
    owner, found = row.owner, {*row.influenced}
    reach = max((q - k for k, q in found), default=0)
    if reach < 1 or any(q < k for k, q in found):
        return 0
    tried = {(k, q) for k in row.others for q in range(k + 1, len(owner)) if owner[q] != owner[k]}
    near = {(k, q) for k, q in tried if q - k <= reach}
    deepest = max(q - row.starts[owner[q]] for q in (*row.alone, *(q for _, q in found)))
    long = any(stop - start > reach for start, stop in zip(row.starts[1:], row.starts[2:], strict=False))
    ends = long or MIN_TRIED_PER_NEAR * len(near) < len(tried)  # so a state would go on
    return reach + 1 if ends and len(found) >= MIN_SHARE_IN_REACH * len(near) and deepest < reach else 0


def _leaking(
    done: Evidence, row: _RowRuns, documents: Sequence[Tensor], model: object, run: RowRun
) -> tuple[Cause, str]:
    """Return the cause of a leak as far as the answers show it, and the layers of the model that carry it, in words."""
    owner, starts = row.owner, {*row.starts[1:-1]}
    if _is_sorted(done.baseline):
        return "sorted_by_length", ""
    if all(k in starts and q == k - 1 for k, q in row.influenced):
        return "labels_shifted", ""
    layers = _carrying(done, row, documents, model, run)
    carrying: dict[Cause, tuple[type[nn.Module], ...]] = {
        "recurrent_layer": RECURRENT,
        "statistics": STATISTICS,
        "attention_reads_over": ATTENTION,
    }
    for cause, kinds in carrying.items():
        named = [f"{type(one).__name__} {name}".strip() for name, one in layers if isinstance(one, kinds)]
        if named:
            return cause, joined(named, 3)
    pairs = {(owner[k], owner[q]) for k, q in row.influenced}
    if any(a > b for a, b in pairs):
        return "earlier_changed", ""
    last = len(done.baseline.lengths) - 1
    borders = {(a, a + 1) for a in {owner[k] for k in row.others} if a < last}  # further on, what leaks may have faded
    return ("no_borders" if borders <= pairs else "some_borders"), ""


def _carrying(
    done: Evidence, row: _RowRuns, documents: Sequence[Tensor], model: object, run: RowRun
) -> list[tuple[str, nn.Module]]:
    """Return the layers that carry the token that changes most others over a border; none if that cannot be seen."""
    whole: Any = getattr(model, "__self__", model)
    sources = [k for k, _ in row.influenced if k in row.others and row.owner[k] in done.baseline.alone]
    if not isinstance(whole, nn.Module) or not sources or done.model.room < TRACED:
        return []
    k = max(dict.fromkeys(sources), key=sources.count)
    try:
        return carriers(whole, run, documents, row.owner[k], row.others[k])
    except Exception:  # of the model, or of a layer that is called in another way
        return []


def _is_sorted(base: Baseline) -> bool:
    """Return whether the row has the results of the documents alone, sorted by their lengths."""
    name = next(iter(base.whole.each[0]))
    own = [base.alone[d][name] for d in range(len(base.lengths)) if name in base.alone.get(d, {})]
    row = [leaves[name] for leaves in base.whole.each]
    if len(own) < len(row) or len({part.shape[1:] for part in (*own, *row)}) > 1:
        return False
    orders = [sorted(range(len(base.lengths)), key=lambda d: sign * base.lengths[d]) for sign in (1, -1)]
    whole = {name: torch.cat(row)}
    others = [{name: torch.cat([own[d] for d in order])} for order in orders]
    return any(
        other[name].shape == whole[name].shape and not base.compare("order", 0, other, whole) for other in others
    )
