"""What is said about the losses: the caption of each mean, and of what packing changes."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

import torch

from packviz.compute.row_record import RowsTrace
from packviz.facts.row_leaks import rounding_of
from packviz.facts.token_losses import Order, Over, TokenLosses, changed_means, losses_in_rows, means
from packviz.show.movie.once import once
from packviz.show.movie.rows.view import RowsView
from packviz.show.movie.rows.words import say
from packviz.text import joined


class _Mean(NamedTuple):
    """A mean of losses, as its caption says it.

    run            of which it is
    over           what counts equally: tokens, documents, rows or micro-batches
    labelled       how many tokens have a label; pads: how many pads have one without a mask
    loss, right    the mean, and the mean over tokens, in words
    groups         how many of what counts equally have a label, of so many micro_batches
    size           how many documents a micro-batch has
    heavy, light   the sequences whose tokens weigh most and least; most, least: these weights, in words
    heavy_row      the row that holds the first of them, and light_row that of the other
    unlabelled     the sequences without a label
    rows, tokens   of the run
    """

    run: RowsTrace
    over: Over
    labelled: int
    pads: int
    loss: str
    right: str
    groups: int
    micro_batches: int
    size: int
    heavy: int
    light: int
    heavy_row: int
    light_row: int
    most: str
    least: str
    unlabelled: list[int]
    rows: int
    tokens: int


@once
def found_losses(view: RowsView) -> TokenLosses:
    """Return the losses of the run."""
    return losses_in_rows(view.trace)


def of_mean(view: RowsView, name: str, order: Order, over: Over, size: int = 0) -> str:
    """Return the caption of the step of this name: a mean of the losses, or the labels."""
    mean = _mean(view, order, over, size)
    return say(*(f"losses.{key}" for key in _CHOSEN[name](mean)), **mean._asdict())


def _mean(view: RowsView, order: Order, over: Over, size: int) -> _Mean:
    found, run = found_losses(view), view.trace
    weights = found.weights(order, over, size or 1).amax(1).tolist()
    row_of = {piece: row for row, pieces in enumerate(run.rows.rows) for piece in pieces}
    heaviest = sorted((-weight, d) for d, weight in enumerate(weights) if weight)
    (most, heavy) = heaviest[0] if heaviest else (0.0, 0)
    (least, light) = max(heaviest, key=lambda each: (each[0], -each[1])) if heaviest else (0.0, 0)
    one, other = found.documents[heavy], found.documents[light]
    counts = found.counts(order, over, size or 1)
    loss = run.loss[over] if order == "rows" and over in run.loss else found.mean(order, over, size or 1)
    return _Mean(
        run=run,
        over=over,
        labelled=int(found.labelled[order].sum()),
        pads=int(found.labelled["padded"].sum() - found.labelled["masked"].sum()),
        loss=written(loss),
        right=written(found.mean(order, "tokens")),
        groups=int((counts > 0).sum()),
        micro_batches=len(counts),
        size=size,
        heavy=one[0],
        light=other[0],
        heavy_row=row_of[one],
        light_row=row_of[other],
        most=f"{-most:.3g}",
        least=f"{-least:.3g}",
        unlabelled=sorted({run.rows.rows[row][piece][0] for row, piece in run.unlabelled}),
        rows=len(run.rows.rows),
        tokens=run.rows.tokens,
    )


def _padded(mean: _Mean) -> list[str]:
    if not mean.labelled:
        return ["padded_no_label"]
    if mean.labelled == 1:  # of one document of two tokens
        return ["label", "padded_only"]
    return ["label", "padded_pads" if mean.pads else "padded_no_pad"]


def _masked(mean: _Mean) -> list[str]:
    if not mean.labelled:
        return ["masked", "masked_no_label"]
    if not mean.pads:
        return ["masked", "masked_no_pad"]
    return ["masked", "masked_one" if mean.labelled == 1 else "masked_others"]


def _packed(mean: _Mean) -> list[str]:
    return ["packed", "packed_mean" if mean.labelled else "packed_no_label"]


def _labels(mean: _Mean) -> list[str]:
    if mean.run.logits is None:
        return ["labels_not_ids"]
    within = mean.run.config.shift_labels == "document"
    crosses = not within and len(mean.run.rows.rows[0]) > 1
    return ["labels_crossing"] if crosses else ["labels_document" if within else "labels_row", "labels_others"]


def _tokens(mean: _Mean) -> list[str]:
    if not mean.labelled:
        return ["no_label"]
    return ["mean", "one_token" if mean.labelled == 1 else "every_token"]


def _documents(mean: _Mean) -> list[str]:
    return [*_groups(mean, "document"), *["unlabelled"] * bool(mean.unlabelled)]


def _rows(mean: _Mean) -> list[str]:
    return _groups(mean, "row")


def _groups(mean: _Mean, each: str) -> list[str]:
    if not mean.labelled:
        return ["no_label"]
    if mean.groups == 1:
        return ["mean", f"one_{each}"]
    return ["mean", "equally" if mean.most == mean.least else f"{each}s_weighed"]


def _accumulated(mean: _Mean) -> list[str]:
    if not mean.labelled:
        return ["accumulated_no_label"]
    if mean.micro_batches == 1:
        return ["accumulated", "accumulated_one"]
    if mean.groups < mean.micro_batches:
        return ["accumulated", "accumulated_nan"]
    if mean.most == mean.least:
        return ["accumulated", "accumulated_equal"]
    return ["accumulated", "accumulated_chance" if mean.loss == mean.right else "accumulated_wrong"]


def _normalized(mean: _Mean) -> list[str]:
    if not mean.labelled:
        return ["normalized_no_label"]
    return ["normalized_one" if mean.labelled == 1 else "normalized", "normalized_mean"]


_CHOSEN: Mapping[str, Callable[[_Mean], list[str]]] = {  # the sentences of a caption, by the name of its step
    "padded": _padded,
    "masked": _masked,
    "packed": _packed,
    "labels": _labels,
    "tokens": _tokens,
    "documents": _documents,
    "rows": _rows,
    "accumulated": _accumulated,
    "normalized": _normalized,
}


def of_end(view: RowsView) -> str:
    """Return the last caption: which means the rows change, and why."""
    found = found_losses(view)
    if not found.labelled["rows"].any():
        return say("losses.end_no_label")
    changed = list(changed_means(view.trace, found))
    if not changed:
        return say("losses.unchanged")
    means_of, crossing = means(view.trace, found), _crossing(view)
    alone, packed = zip(*(_written(*means_of[over]) for over in changed), strict=True)
    if "tokens" not in changed:
        key = "changed_rows"
    elif crossing:
        key = "changed_layer" if crossing == ["the layer"] else "changed_crossing"
    else:
        key = "changed"
    named = {1: "the mean over ", 2: "the means over "}.get(len(changed))
    which = f"{named}{joined(changed)}" if named else "all three means"
    others = {1: ["losses.other_two"], 2: ["losses.other_mean"]}.get(len(changed), [])
    return say(f"losses.{key}", *others, means=which, alone=alone, packed=packed, crossing=crossing)


def _crossing(view: RowsView) -> list[str]:
    """Return what continues across borders and so changes labels or outputs."""
    found, run, config = found_losses(view), view.trace, view.trace.config
    names = [] if torch.equal(found.labelled["rows"], found.labelled["masked"]) else ["labels"]
    most = rounding_of(config.dtype, run.output)
    if any(float(each.max()) > most for row in run.difference for each in row):
        learned = config.layer == "attention" and config.positions == "learned"
        names += ["positions"] if learned and not config.reset_positions else []
        names += [] if config.isolate else ["the layer"]
    return names


def written(value: float) -> str:
    """Return a loss with four decimals."""
    return f"{value:.4f}".replace("nan", "NaN")


def _written(one: float, other: float) -> tuple[str, str]:
    """Return two numbers with as many digits as it takes to tell them apart: 4, or up to 8."""
    digits = next((digits for digits in range(4, 8) if f"{one:.{digits}f}" != f"{other:.{digits}f}"), 8)
    return f"{one:.{digits}f}", f"{other:.{digits}f}"
