"""What is said about a query of attention: its caption, and its formulas with the numbers."""

from typing import NamedTuple

import numpy as np
import torch

from packviz.compute.row_layers import AttentionLayer
from packviz.inputs.documents import position_ids_of
from packviz.show.movie.marks import CodeLine
from packviz.show.movie.once import once
from packviz.show.movie.rows.view import RowsView
from packviz.show.movie.rows.words import chip, say
from packviz.show.movie.written import agreeing, written
from packviz.text import sequence_label, shape, two_decimals

TERMS = 2  # at most so many products of a sum are written out; the others are added up


class HeadNumbers(NamedTuple):
    """What a head computed for one row, in float64.

    query, key, value, output  (C, d)
    scores, weights, mask      (C, C)
    documents, positions       (C,)
    """

    query: np.ndarray
    key: np.ndarray
    value: np.ndarray
    output: np.ndarray
    scores: np.ndarray
    weights: np.ndarray
    mask: np.ndarray
    documents: list[int]
    positions: list[int]


@once
def of_head(view: RowsView, row: int) -> HeadNumbers:
    """Return what the watched head computed for a row."""
    run, h, d = view.trace, view.head, view.trace.config.head_dim
    layer = run.layers[view.layer]
    assert isinstance(layer, AttentionLayer)
    assert run.mask is not None
    parts = layer.query[row, h], layer.key[row, h], layer.value[row, h], layer.output[row, :, h * d : (h + 1) * d]
    query, key, value, output, scores, weights = (
        each.detach().double().numpy() for each in (*parts, layer.scores[row, h], layer.weights[row, h])
    )
    return HeadNumbers(
        query,
        key,
        value,
        output,
        scores,
        weights,
        run.mask[row].numpy(),
        run.document_ids[row].tolist(),
        run.position_ids[row].tolist(),
    )


def watched_head(view: RowsView) -> str:
    """Return which head is shown, of which layer, as far as there are several."""
    layers = len(view.trace.layers)
    return f"head {view.head}" + (f" of layer {view.layer}" if layers > 1 else "")


def query_name(view: RowsView, row: int, cell: int) -> str:
    """Return the name of the step of a query: the letter of its sequence and its place in it."""
    b, t = view.trace.rows.cells[row][cell]
    return f"{sequence_label(b)}{t}"


def of_row(view: RowsView, row: int, cells: int) -> str:
    """Return the caption before the queries of a row, with what is left out."""
    config, layers, C = view.trace.config, len(view.trace.layers), view.trace.rows.max_length
    parts = [f"head {view.head} (of {config.num_heads})"] if config.num_heads > 1 else []
    parts += [f"layer {view.layer} (of {layers})"] if layers > 1 else []
    parts += [f"{cells} of {C} cells"] if cells < C else []
    which = "attention.row" if len(view.trace.rows.rows) > 1 else "attention.only_row"
    tokens = sum(view.trace.rows.lengths[row])
    return say(which, *["attention.shown"] * bool(parts), row=row, tokens=tokens, parts=parts)


def of_query(view: RowsView, row: int, cell: int) -> str:
    """Return the caption of a query: what it reads, and how its output differs from the document alone."""
    head, config, tokens = of_head(view, row), view.trace.config, view.trace.rows.cells[row]
    (b, t), (_, start, stop) = tokens[cell], view.trace.rows.rows[row][head.documents[cell]]
    own = slice(cell - (t - start), cell + 1)  # its document, up to this token
    found = _Query(
        token=f"Token {t} of {chip(b)}",
        of=f"this piece of {chip(b)}" if stop - start < view.lengths[b] else chip(b),
        keys=_read(view, row)[0][cell][0],
        others=_read(view, row)[0][cell][1],
        most=_most(view, row, cell),
        weight=written(_read(view, row)[1][cell]),
        position=head.positions[cell],
        place=t - start,
        learned=config.positions == "learned" and head.positions[cell] != t - start,
        rotated=config.positions == "rope" and head.positions[cell] != t - start == 0,
        whole=t + 1 == stop and not any(others for _, others, _ in _read(view, row)[0][own]),
        causal=config.causal,
        before=own.start,
    )
    differences = _differences(view, row)
    return f"{_reading(found, len(head.mask))}{_far(found, two_decimals(differences[cell]), any(differences[own]))}"


class _Query(NamedTuple):
    """What the caption of a query may say.

    token, of      its token, and its document or the piece of it that is in the row, in words
    keys, others   how many keys it reads, and how many of them are in other documents
    most, weight   the key with the largest weight, and this weight, in words
    position       its position_id; place: its place in its document
    learned        whether the position is another one than its place, and the model adds an embedding of it
    rotated        whether it begins a document at another position than 0, and positions are rotary
    whole          whether it ends a document whose queries read only that document
    before         the cells before its document
    """

    token: str
    of: str
    keys: int
    others: int
    most: str
    weight: str
    position: int
    place: int
    learned: bool
    rotated: bool
    whole: bool
    causal: bool
    before: int


def _most(view: RowsView, row: int, cell: int) -> str:
    """Return the key that has the largest weight of a query, in words."""
    tokens = view.trace.rows.cells[row]
    (b, t), (of, at) = tokens[cell], tokens[_read(view, row)[0][cell][2]]
    if (b, t) == (of, at):
        return "Its own key"
    return f"The key of token {at}" + ("" if of == b else f" of {chip(of)}")


def _reading(q: _Query, C: int) -> str:
    """Return the first sentences of a query: which keys it reads, or that its position is wrong."""
    keys = [""]
    if q.others:
        keys = ["others_learned" if q.learned else "others"]
    elif q.learned:
        keys = ["learned"]
    elif q.weight == "nan":
        keys = ["not_finite"]
    elif q.keys == 1 and q.causal and q.before and not q.rotated and not q.whole:
        keys = ["begins"]
    elif q.keys == 1:
        keys = ["itself" if q.rotated or q.whole else "itself_weight"]
    elif q.whole:
        keys = ["both_keys" if q.keys == 2 else "all_keys"]
    elif q.rotated:
        keys = ["some_keys"]
    else:
        which = "one_earlier" if q.keys == 2 else "earlier"
        keys = [which if q.causal else "own_document", "largest"]
    hidden = "cell" if q.before == 1 else f"{q.before} cells"
    known = q._asdict() | {"hidden": hidden, "earlier": q.keys - 1, "C": C}
    return say(*(f"attention.{key}" for key in keys), **known)


def _far(q: _Query, far: str, rounded: bool) -> str:
    """Return the last sentences of a query: how far its output, or its document, is from the document alone.

    rounded: whether any output of the document, up to this one, differs.
    """
    if far == "no finite number":
        keys = ["far_not_finite"]
    elif q.others or q.learned:
        keys = ["far" if q.place else "far_from" if q.learned else "far_from_that"]
    else:
        keys = ["rotated"] * q.rotated + ["same_rounded" if rounded else "same"] * q.whole
    known = {"of": q.of, "position": q.position, "place": q.place}
    return "".join(f" {say(f'attention.{key}', far=far, **known)}" for key in keys)


@once
def _read(view: RowsView, row: int) -> tuple[list[tuple[int, int, int]], list[float]]:
    """Return for each cell how many keys it reads, how many are of other documents, and where its largest weight is.

    The list beside it has these weights; one is nan if any weight of its cell is.
    """
    head, documents = of_head(view, row), np.array(of_head(view, row).documents)
    others = head.mask & (documents[:, None] != documents)
    counts = (head.mask.sum(1).tolist(), others.sum(1).tolist(), head.weights.argmax(1).tolist())
    return list(zip(*counts, strict=True)), head.weights.max(1).tolist()


@once
def _differences(view: RowsView, row: int) -> list[float]:
    found: list[float] = torch.cat(view.trace.difference[row]).tolist()
    return found


def of_pads(view: RowsView, row: int) -> str:
    """Return the caption of the pads of a row as queries."""
    first, last = sum(view.trace.rows.lengths[row]), view.trace.rows.max_length - 1
    return say("attention.one_pad" if first == last else "attention.pads", "attention.no_key", first=first, last=last)


def of_all(view: RowsView, queries: int) -> str:
    """Return the last caption: how the outputs of all tokens differ from the documents alone."""
    run = view.trace
    assert run.mask is not None
    real = run.document_ids >= 0
    across = run.document_ids.unsqueeze(2) != run.document_ids.unsqueeze(1)
    reading, tokens = int((run.mask & across).any(-1).sum()), int(real.sum())
    places = torch.cat([position_ids_of(lengths) for lengths in run.rows.lengths])
    elsewhere = int((run.position_ids[real] != places).sum())  # tokens whose position is not their place
    moved = elsewhere if run.config.positions == "learned" else 0
    largest = torch.cat([each for row in run.difference for each in row])
    finite, worst = bool(largest.isfinite().all()), float(largest.max())
    if reading:
        keys = ["reading_moved" if moved else "reading", *["so_far"] * finite]
    elif moved:
        keys = ["moved" if finite else "moved_not_finite", "no_leak"]
    elif finite:
        rotated = "_rotated" if run.config.positions == "rope" and elsewhere else ""
        keys = [f"apart{rotated}{'_rounded' if worst else ''}"]
    else:
        keys = ["none_reads"]
    keys += ["not_finite_apart"] * (not finite)
    if queries < tokens:
        keys.append("first_query" if queries == 1 else "first_queries")
    known = {"reading": reading, "moved": moved, "tokens": tokens, "queries": queries, "far": two_decimals(worst)}
    return say(*(f"attention.{key}" for key in keys), **known)


def query_lines(view: RowsView, row: int, cell: int) -> tuple[CodeLine, ...]:
    """Return the formulas of a query; if the stage is shown in depth, also with the numbers of one key and one output.

    query, key, value  (C, d): of this head; mask (C, C)
    """
    C, d = view.trace.rows.max_length, view.trace.config.head_dim
    lines = (
        CodeLine(f"s = query[{cell}] @ key.T / d**0.5", shape(C)),
        CodeLine(f"s[~mask[{cell}]] = -inf", shape(C)),
        CodeLine("weights = s.softmax(-1)", shape(C)),
        CodeLine("output = weights @ value", shape(d)),
    )
    return (*lines, *_in_numbers(view, row, cell)) if "attention" in view.deep else lines


def _in_numbers(view: RowsView, row: int, cell: int) -> tuple[CodeLine, ...]:
    """Return the arithmetic of the key with the largest weight, and of the first number of the output."""
    head, (order, dots, sums) = of_head(view, row), _arithmetic(view, row)
    keys, root = order[cell][: int(head.mask[cell].sum())], view.trace.config.head_dim**0.5
    most, score, weight = keys[0], float(head.scores[cell, keys[0]]), float(head.weights[cell, keys[0]])
    texts, sign = agreeing([dots[cell], root], score, lambda a, b: a / b)
    lines = [f"# cell {most}: the largest weight", f"s = {' / '.join(texts)} {sign} {written(score)}"]
    (under,), sign = agreeing([sums[cell]], weight, lambda total: 1 / total)
    lines += ["e = (s - s.max()).exp()", "weight = 1 / e.sum()", f"    = 1 / {under} {sign} {written(weight)}"]
    named, rest, output = keys[:TERMS], keys[TERMS:], float(head.output[cell, 0])
    terms = [float(number) for k in named for number in (head.weights[cell, k], head.value[k, 0])]
    terms += [float(head.weights[cell, rest] @ head.value[rest, 0])] if rest else []
    texts, sign = agreeing(terms, output, _added)
    products = [f"{w}·{f'({v})' if v[0] == '−' else v}" for w, v in zip(texts[::2], texts[1::2], strict=False)]
    others = [f"{texts[-1]} ({len(rest)} more)"] if rest else []
    added = [f"output[0] = {products[0]}", *(f"    + {each}" for each in [*products[1:], *others])]
    added[-1] += f" {sign} {written(output)}"
    return (CodeLine("\n".join([*lines, *added])),)


@once
def _arithmetic(view: RowsView, row: int) -> tuple[list[list[int]], list[float], list[float]]:
    """Return for each query its keys by weight, its product with the first of them, and the sum of exp(s - s.max())."""
    head = of_head(view, row)
    scores = np.where(head.mask, head.scores, -np.inf)
    order = np.where(head.mask, -head.weights, np.inf).argsort(1, kind="stable")
    with np.errstate(invalid="ignore"):  # of a pad, which has no key
        sums = np.exp(scores - scores.max(1, keepdims=True)).sum(1)
    return order.tolist(), (head.query * head.key[order[:, 0]]).sum(1).tolist(), sums.tolist()


def _added(*terms: float) -> float:
    """Return the sum of the products of two terms each, and of the last term if it has no partner."""
    return sum(w * v for w, v in zip(terms[::2], terms[1::2], strict=False)) + (terms[-1] if len(terms) % 2 else 0.0)
