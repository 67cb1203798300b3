"""check_rows(): what comes out for a document in a row may not depend on the other documents of the row."""

import tomllib
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from math import inf, isnan
from pathlib import Path
from typing import Any

import torch
from jinja2 import Template
from torch import Tensor, nn

from packviz.doctor.influence import Checked, Influence
from packviz.doctor.models import evaluated
from packviz.doctor.row_runs import Call, RowEvidence, called, collect_row, row_of
from packviz.doctor.samples import random_states_kept, said_by
from packviz.errors import PackvizError
from packviz.rules.finding import Finding
from packviz.rules.preconditions import refusal_of
from packviz.text import ENVIRONMENT, joined, letters, sequence_label, two_digits
from packviz.validate import integer, is_number

__all__ = ["check_rows"]

DENSE = 0.95  # the share of the pairs within reach of a convolution that it must connect: a state fades unevenly

Documents = Sequence[Tensor] | Sequence[Sequence[int]]


def check_rows(
    model: Any,
    documents: Documents,
    call: Call | None = None,
    *,
    seed: int = 0,
    forwards: int = 80,
    tolerance: float | None = None,
    ignore: str | Collection[str] = (),
) -> Checked:
    """Check that what a model makes of a document is the same alone and in a row with others.

    Each document is run alone and compared with the row token by token; then one token after another is changed, and
    no output of another document may move. The kind of a finding is "leak": another document does change it;
    "convolution": it does at the first k - 1 tokens alone; "positions": there is a difference without any influence.

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
    integer("forwards", forwards, 12)
    if tolerance is not None and not (is_number(tolerance) and tolerance >= 0):
        raise refusal_of("tolerance", "a number of at least 0", tolerance, "leave it out, or give one such as 1e-5")
    with evaluated(model, *given) as own, random_states_kept(lambda row: (call or called)(own, row_of(row))) as run:
        done = collect_row(run, given, seed, forwards, tolerance)
        run.differs = bool(done.again)
    return Checked(_findings(done, model), _influence(done)).ignoring(ignore)


def _checked(model: object, documents: object, call: object) -> list[Tensor]:
    if not callable(model):
        raise refusal_of("model", "a module or a function", model, "give the model that takes the row")
    if not (call is None or callable(call)):
        raise refusal_of("call", "a function", call, "give call=lambda model, row: model(row.input_ids, ...)")
    fix = "give a list of at least two documents, each a list of ids, or a tensor (length,) or (length, F)"
    if not isinstance(documents, list | tuple) or len(documents) < 2:
        raise refusal_of("documents", "a list of at least two documents", documents, fix)
    try:
        given = [one.detach() if isinstance(one, Tensor) else torch.as_tensor(one) for one in documents]
    except (TypeError, ValueError, RuntimeError) as error:
        expected = "ids or values of numbers"
        raise PackvizError("documents", expected=expected, got=said_by(error), fix=fix) from None
    for one in given:
        if one.is_meta or not one.dim() or not len(one) or one.shape[1:] != given[0].shape[1:]:
            raise refusal_of("documents", "documents of at least one token, of the same shape", one, fix)
    if len({one.dtype for one in given}) > 1:
        got = joined(sorted({str(one.dtype) for one in given}))
        raise PackvizError("documents", expected="documents of one dtype", got=got, fix="convert them")
    return given


def _findings(done: RowEvidence, model: object) -> list[Finding]:
    if done.again:
        return [_finding("run_differs", done, done.again, {})]
    notes = []
    if done.failure is not None and not done.compared_alone:
        if not done.tried:
            return [_finding("nothing_compared", done, {}, {"failure": said_by(done.failure)}, "error")]
        notes = [_finding("alone_fails", done, {}, {"failure": said_by(done.failure)}, "note")]
    if done.alone and not done.influence:  # the same shapes give the same rounding: what one token does may be small
        done.influence |= done.faint
    if done.influence:
        hit: dict[int, float] = {}
        for (_, q), size in done.influence.items():
            hit[q] = max(size, hit.get(q, 0.0))
        kernel = _kernel(done)
        if kernel:
            return [_finding("convolution", done, hit, {"kernel": kernel}), *notes]
        return [_finding("leak", done, hit, _causes(done, model)), *notes]
    if done.alone:
        return [_finding("positions", done, done.alone, {"first": min(done.alone) < done.starts[1]}), *notes]
    return notes


def _kernel(done: RowEvidence) -> int:
    """Return k if each token is changed by exactly the k - 1 tokens before it, of any document; 0 if there is none."""
    owner = done.owner
    reach = max(q - k for k, q in done.influence)
    if reach < 1 or any(q < k for k, q in done.influence):
        return 0
    tried = {(k, q) for k in done.tried for q in range(k + 1, len(owner)) if owner[q] != owner[k]}
    near = {(k, q) for k, q in tried if q - k <= reach}
    found = {*done.influence}
    deepest = max(q - done.starts[owner[q]] for q in (*done.alone, *(q for _, q in found)))
    ends = any(len(one) > reach for one in done.documents[1:]) or 2 * len(near) < len(tried)  # so a state would go on
    return reach + 1 if ends and len(found) >= DENSE * len(near) and deepest < reach else 0


def _causes(done: RowEvidence, model: object) -> dict[str, object]:
    """Return what the answers say about the cause of a leak, and which modules of the model may be it."""
    owner = done.owner
    pairs = {(owner[k], owner[q]) for k, q in done.influence}
    tried = {owner[k] for k in done.tried}
    possible = {(a, b) for a in tried for b in range(a + 1, len(done.documents))}
    starts = {*done.starts[1:-1]}
    parts = list(model.named_modules()) if isinstance(model, nn.Module) else []
    both = any(a > b for a, b in pairs)

    def named(*kinds: type[nn.Module]) -> str:
        found = [f"{type(one).__name__} {name}".strip() for name, one in parts if isinstance(one, kinds)]
        return joined(found, 3)

    recurrent = named(nn.RNNBase, nn.RNNCellBase)
    attention = named(nn.MultiheadAttention, nn.TransformerEncoderLayer)
    return {
        "sorted": done.moved,
        "shifted": all(k in starts and q == k - 1 for k, q in done.influence),
        "recurrent": "" if attention or both else recurrent,
        "statistics": named(nn.modules.batchnorm._NormBase) if both and not attention else "",
        "attention": "" if recurrent else attention,
        "both": both,
        "some": not both and len(pairs) < len(possible),
    }


def _finding(
    key: str, done: RowEvidence, hit: Mapping[int, float], values: Mapping[str, object], severity: Any = "silent"
) -> Finding:
    owner, starts = done.owner, done.starts
    tokens = sorted(hit)
    rows = tuple(owner[n] for n in tokens)
    steps = tuple(n - starts[owner[n]] for n in tokens)
    sizes = [hit[n] for n in tokens]
    size = "its shape" if any(map(isnan, sizes)) else two_digits(max(sizes, default=0.0))
    places = _places(rows, steps)
    told = {**values, "who": _who(done), "size": size, "places": places}
    words = _words()[key]
    found = " ".join(words["found"].render(**told).split())
    if severity == "silent":
        units = f"Differences of up to {two_digits(done.unit)} times the largest number of a result, or 1,"
        found += f" {units} count as rounding." if done.unit else " The outputs are integers: each difference counts."
    return Finding(key, severity, found, places or "the row", "", words["repair"].render(**told).strip(), rows, steps)


def _places(rows: Sequence[int], steps: Sequence[int]) -> str:
    """Return tokens in words: "tokens 0 to 2 of document B"."""
    told = []
    for d in dict.fromkeys(rows):
        own = [step for row, step in zip(rows, steps, strict=True) if row == d]
        whole = own == [*range(own[0], own[-1] + 1)] and len(own) > 1
        which = f"s {own[0]} to {own[-1]}" if whole else f"{'s' * (len(own) > 1)} {joined([*map(str, own)], 4)}"
        told.append(f"token{which} of document {sequence_label(d)}")
    return joined(told, 4)


def _who(done: RowEvidence) -> str:
    owner = done.owner
    pairs = sorted({(owner[k], owner[q]) for k, q in done.influence})
    by = {a: [b for one, b in pairs if one == a] for a, _ in pairs}
    return joined([f"{sequence_label(a)} changes {letters(hit)}" for a, hit in by.items()], 4)


def _influence(done: RowEvidence) -> Influence:
    names = [f"{sequence_label(d)}{n - done.starts[d]}" for n, d in enumerate(done.owner)]
    every: list[tuple[int | None, int, float]] = [(None, q, size) for q, size in done.alone.items()]
    every += [(k, q, size) for (k, q), size in done.influence.items()]
    sizes = {(k, q): inf if isnan(size) else size for k, q, size in every}
    return Influence(names, sizes, done.forwards, "Which token changes which", tuple(done.owner))


@cache
def _words() -> dict[str, dict[str, Template]]:
    table = tomllib.loads(Path(__file__).with_name("rows.toml").read_text(encoding="utf-8"))
    return {key: {name: ENVIRONMENT.from_string(text) for name, text in each.items()} for key, each in table.items()}
