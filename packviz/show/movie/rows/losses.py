"""What the loss counts: the label of each token, and what its loss weighs padded, packed by time step and in rows."""

from collections.abc import Iterator, Mapping

import numpy as np
import torch
from torch.nn.utils.rnn import pack_sequence

from packviz.facts.token_losses import MEANS, Order, Over, means
from packviz.inputs.documents import NO_LABEL
from packviz.show.movie.layout import Place, Scene
from packviz.show.movie.loss_cells import WIDTH, LossCells, losses_frame, losses_scene
from packviz.show.movie.marks import CodeLine, Frame, Step, marks
from packviz.show.movie.once import once
from packviz.show.movie.rows.loss_captions import found_losses, of_end, of_mean, written
from packviz.show.movie.rows.two import token_marks
from packviz.show.movie.rows.view import RowsView
from packviz.text import shape

HEADINGS: Mapping[str, str] = {
    "padded": "losses of the padded grid, without a mask",
    "masked": "losses of the padded grid, with a mask",
    "packed": "losses packed by time step",
    "labels": "in rows: the labels",
    **{over: f"in rows: the mean over {over}" for over in MEANS},
    "accumulated": "padded micro-batches: the mean of their means",
    "normalized": "padded micro-batches: the mean over all tokens",
}
CODE = {
    "padded": "labels = F.pad(\n    ids[:, 1:], (0, 1), value=-100)",
    "masked": "pads = ~mask[:, 1:]\nlabels[:, :-1][pads] = -100",
    "packed": "loss = pack_padded_sequence(\n    loss, lengths, True,\n    enforce_sorted=False).data",
    "tokens": "loss[labels != -100].mean()",
    "documents": "torch.stack([\n    each.mean() for each in documents\n    if len(each)]).mean()",
    "rows": "torch.stack([\n    row.mean() for row in rows\n    if len(row)]).mean()",
    "accumulated": "n = len(batches)\nfor each in batches:\n    (each.mean() / n).backward()",
    "normalized": "N = (labels != -100).sum()\nfor each in batches:\n    (each.sum() / N).backward()",
}


def losses(view: RowsView) -> Iterator[Step]:
    """Show the padded grid, the packed order and the rows, each mean, micro-batches, and what the rows change."""
    if view.trace.logits is not None:
        for order in ("padded", "masked", "packed"):
            yield _shown(view, order, order, "tokens")
    yield Step(of_mean(view, "labels", "rows", "tokens"), (_labels(view),), name="labels")
    for over in MEANS:
        yield _shown(view, over, "rows", over)
    if view.trace.logits is not None:
        yield _shown(view, "accumulated", "masked", "micro_batches", size=_size(view))
        yield _shown(view, "normalized", "masked", "tokens", size=_size(view))
    both = [(over, *map(written, each)) for over, each in means(view.trace, found_losses(view)).items()]
    heading = CodeLine(f"# {'mean over':<11}{'alone':>6}", "in rows")
    lines = (CodeLine(f"# {over:<11}{alone:>6}", rows) for over, alone, rows in both)
    yield Step(of_end(view), (_frame(view, "rows", "rows", "rows"),), (heading, *lines), name="end")


def rows_scene(view: RowsView) -> Scene:
    """Return the scene of the rows."""
    return losses_scene(_cells(view), "rows")


def _shown(view: RowsView, name: str, order: Order, over: Over, size: int = 0) -> Step:
    """Return the step of one mean."""
    caption = of_mean(view, name, order, over, size)
    code = CodeLine(CODE[name], _shape(view, name) or written(found_losses(view).mean(order, over, size or 1)))
    scene = None if order == "rows" else (f"losses {order} {size}", losses_scene(_cells(view), order, size))
    return Step(caption, (_frame(view, name, order, over, size),), (code,), scene=scene, name=name)


def _shape(view: RowsView, name: str) -> str:
    """Return the shape of what the code of a step makes; nothing if that is a mean."""
    grid = found_losses(view).real
    made = {"padded": tuple(grid.shape), "masked": tuple(grid.shape), "packed": (int(grid.sum()),)}.get(name)
    return shape(*made) if made else ""


def _frame(view: RowsView, name: str, order: Order, over: Over, size: int = 0) -> Frame:
    return losses_frame(_cells(view), order, HEADINGS[name], over=over, size=size)


def _size(view: RowsView) -> int:
    """Return how many documents a micro-batch has."""
    found = found_losses(view)
    return min(view.micro_batch or found.telling_size, len(found.documents))


@once
def _cells(view: RowsView) -> LossCells:
    """Return what is shown: the tokens of the view that are in a row."""
    found, kept = found_losses(view), view.row >= 0
    d, t = np.zeros((2, len(view.b)), int)
    for number, (b, start, stop) in enumerate(found.documents):
        inside = kept & (view.b == b) & (view.t >= start) & (view.t < stop)
        d[inside], t[inside] = number, view.t[inside] - start
    blank = [torch.zeros(stop - start, device="cpu") for _, start, stop in found.documents]
    packed = pack_sequence(blank, enforce_sorted=False)
    assert packed.unsorted_indices is not None
    shown, tokens = np.unique(d[kept]), token_marks(view, Place("", 0.0, 0.0), kept)
    d[~kept] = shown[0]
    return LossCells(found, tokens, d, t, shown, int(t.max()) + 1, packed.unsorted_indices.numpy())


def _labels(view: RowsView) -> Frame:
    """Return the rows with the labels of their tokens, in the hues of their documents; -100 for none."""
    cells, run, kept = _cells(view), view.trace, view.row >= 0
    b, t, row, column = (each[kept] for each in (view.b, view.t, view.row, view.column))
    at, label = cells.place("rows", cells.d[kept], cells.t[kept], 1.0), run.labels[row, column].numpy()
    real = label != NO_LABEL
    follows = np.minimum(column + 1, run.document_ids.shape[1] - 1)
    owner = run.document_ids[row, np.where(real, follows, column)].tolist()
    seq = np.array([run.rows.rows[r][piece][0] for r, piece in zip(row.tolist(), owner, strict=True)])
    words, none = run.batch.vocabulary, "!no label: the loss ignores it"
    typed = ["" if i == NO_LABEL else words[i] if words else str(i) for i in label.tolist()]
    text = np.array(typed, dtype=object)
    unlabelled = marks("unlabelled", "pad", at, b, t, owned=False, w=WIDTH, text="−100", shown=~real, says=none)
    targets = marks(
        "target", "ghost", at, b, t, seq=seq, w=WIDTH, text=text, shown=real, says="!the label of the token"
    )
    return losses_frame(cells, "rows", HEADINGS["labels"], targets, unlabelled)
