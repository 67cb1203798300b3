"""The movie of the losses, padded beside packed: what each weighs without a mask, with one, packed, over sequences."""

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from packviz.compute.record import Trace
from packviz.facts.padded_gradients import CLASSES
from packviz.facts.token_losses import Order, Over, TokenLosses, losses_of
from packviz.rules.preconditions import check_kind
from packviz.show.movie.data import Movie, made
from packviz.show.movie.layout import Place
from packviz.show.movie.loss_cells import LossCells, losses_frame, losses_scene
from packviz.show.movie.marks import CodeLine, Step, marks
from packviz.show.movie.packing import inputs, packed_rows, token_table
from packviz.show.movie.packing.about import about
from packviz.show.movie.packing.view import View, Window, watch
from packviz.show.movie.packing.words import lost, say
from packviz.text import shape


class LossStep(NamedTuple):
    """A step: the order of the losses, the mean, the heading, and the line of code that gives the number."""

    order: Order
    over: Over
    heading: str
    code: str


STEPS = {
    "padded": LossStep(
        *("padded", "tokens", "padded, without a mask"),
        "F.cross_entropy(\n    logits.flatten(0, 1),\n    target.flatten())",
    ),
    "masked": LossStep(
        *("masked", "tokens", "padded, with a mask"),
        "F.cross_entropy(\n    logits[mask], target[mask])",
    ),
    "packed": LossStep(
        *("packed", "tokens", "packed by time step"),
        "F.cross_entropy(\n    head(output.data),\n    packed_target.data)",
    ),
    "sequences": LossStep(
        *("packed", "documents", "packed, the mean over sequences"),
        "torch.stack([\n    each.mean() for each in losses\n]).mean()",
    ),
}


def losses_beside(trace: Trace, seed: int = 0) -> Movie:
    """Return the movie of the losses of a seeded linear head on the padded and on the packed output of a trace.

    Raises PackvizError for an invalid seed, or if torch refused to pack.
    """
    check_kind("trace", trace, Trace, "make one with packviz.trace or packviz.trace_module")
    view, found = watch(trace, len(trace.layers) - 1, 0, Window(), transposed=False), losses_of(trace, seed)
    cells, told = _cells(view, found), about(view)
    steps = list(_steps(view, cells))
    told = replace(
        told,
        stages=("losses",),
        title=f"{told.title}, the loss padded beside packed",
        scales={"input": 1.0, "state": 1.0, "weight": found.heaviest},
        proof="the losses come from torch's own cross_entropy",
    )
    code = {"losses": CodeLine("logits = head(out)", shape(*found.real.shape, CLASSES))}
    played = [("losses", None, step) for step in steps]
    return made(told, steps[0].frames[0], played, {"losses": losses_scene(cells, "padded")}, code, {"losses": 0})


def _steps(view: View, cells: LossCells) -> Iterator[Step]:
    found = cells.found
    for name, (order, over, heading, code) in STEPS.items():
        scene = f"losses {order}", losses_scene(cells, order)
        frame = losses_frame(cells, order, heading, over=over)
        yield Step(
            SAID[name](view, found), (frame,), (CodeLine(code, _mean(found, order, over)),), scene=scene, name=name
        )


def _mean(found: TokenLosses, order: Order, over: Over = "tokens") -> str:
    return f"{found.mean(order, over):.4f}"


def _padded_caption(view: View, found: TokenLosses) -> str:
    cells, pads, loss = view.mask.size, inputs.pads(view), _mean(found, "padded")
    if pads:
        return say("losses_beside.padded_pads", cells=cells, pads=pads, loss=loss)
    return say("losses_beside.padded", cells=cells, loss=loss)


def _masked_caption(view: View, found: TokenLosses) -> str:
    loss = _mean(found, "masked")
    if not inputs.pads(view):
        return say("losses_beside.masked_without_pads", loss=loss)
    weight = f"{found.weights('masked', 'tokens').max():.3g}"
    return say("losses_beside.masked", weight=weight, loss=loss)


def _packed_caption(view: View, found: TokenLosses) -> str:
    loss, masked = _mean(found, "packed"), _mean(found, "masked")
    if packed_rows.pads(view) and loss == masked:
        return say("losses_beside.packed_same_lost", loss=loss, lost=lost(view))
    if packed_rows.pads(view):
        return say("losses_beside.packed_lost", loss=loss, masked=masked, lost=lost(view))
    if loss == masked:
        return say("losses_beside.packed_same", loss=loss)
    return say("losses_beside.packed_differs", loss=loss, masked=masked)


def _sequences_caption(view: View, found: TokenLosses) -> str:
    """Say how much a packed row weighs in the shortest and in the longest sequence."""
    row, loss = packed_rows.noun(view), _mean(found, "packed", "documents")
    weights = found.weights("packed", "documents").amax(1).tolist()  # of all sequences, shown or not
    heavy, light = (weights.index(most(weights)) for most in (max, min))
    more, less = f"{weights[heavy]:.3g}", f"{weights[light]:.3g}"
    if more == less:
        return say("losses_beside.sequences_equal", loss=loss, row=row, weight=more)
    return say("losses_beside.sequences", loss=loss, row=row, heavy=heavy, more=more, light=light, less=less)


SAID = {
    "padded": _padded_caption,
    "masked": _masked_caption,
    "packed": _packed_caption,
    "sequences": _sequences_caption,
}


def _cells(view: View, found: TokenLosses) -> LossCells:
    """Return what is shown: the sequences and time steps of the view."""
    d, t = token_table.sequence(view), token_table.time_step(view)
    place, texts = Place("padded", 0.0, 0.0), token_table.texts(view)
    tokens = marks("token", "token", place, d, t, token=np.arange(len(d)), text=texts)
    rank = np.empty(len(view.order), int)
    rank[view.order] = np.arange(len(view.order))
    return LossCells(found, tokens, d, t, view.shown, view.columns, rank, inputs.pad_text(view))
