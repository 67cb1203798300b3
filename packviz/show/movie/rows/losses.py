"""What the loss counts: the label of each token, its loss, and what it weighs in each of three means."""

from collections.abc import Iterator
from dataclasses import replace
from math import sqrt
from typing import Any

import numpy as np

from packviz.compute.row_record import NO_LABEL
from packviz.facts.row_losses import MEANS, changed_means, means, token_weights
from packviz.show.movie.layout import Box, Margins, Place, Scene, Strip, above, beside, panel
from packviz.show.movie.marks import CodeLine, Frame, Marks, Step, frame, marks, title
from packviz.show.movie.packing.view import once
from packviz.show.movie.rows.two import token_marks
from packviz.show.movie.rows.view import RowsView
from packviz.show.movie.rows.words import say, texts
from packviz.text import sequence_label

WIDTH, GAP, NAMED = 1.8, 0.3, 2.0  # units: of a cell, between two documents, and the names of the lines
LINES = {
    "letter": "the documents of row {r}",
    "token": "the tokens of the row",
    "label": "the token that each is to predict; -100 for none",
    "loss": "the loss of each token that has a label",
    "weight": "how much this loss counts in the mean",
}  # of each row, one below the other
LETTER, TOKEN, LABEL, LOSS, WEIGHT = map(float, range(len(LINES)))
CODE = {
    "tokens": "loss[labels != -100].mean()",
    "documents": "torch.stack([\n    each.mean() for each in documents\n    if len(each)]).mean()",
    "rows": "torch.stack([\n    row.mean() for row in rows\n    if len(row)]).mean()",
}


def losses(view: RowsView) -> Iterator[Step]:
    """Show the labels and the losses, then the three means, and what the rows change."""
    run, found = view.trace, means(view.trace)
    labelled = int((run.labels != NO_LABEL).sum())
    known = {"labelled": labelled, "shift": run.config.shift_labels, "unlabelled": _without(view)}
    yield Step(say("losses.labels", view, **known), (_at(view, ""),), name="labels")
    for name in MEANS:
        counted = {"groups": _groups(view, name), "loss": _number(found[name][1]), **known, **_extremes(view, name)}
        detail = (CodeLine(CODE[name], _number(found[name][1])),)
        yield Step(say(f"losses.{name}", view, **counted), (_at(view, name),), detail, name=name)
    changed = list(changed_means(run))
    both = [(name, *map(_number, found[name])) for name in MEANS]
    lines = tuple(CodeLine(f"{name}: alone {alone}", f"rows {rows}") for name, alone, rows in both)
    yield Step(say("losses.end", view, changed=changed, **known), (_at(view, "rows"),), lines, name="end")


def losses_scene(view: RowsView) -> Scene:
    """Return the scene: the lines of one row below those of another, or rows side by side."""
    heading = panel("heading", 1.0, 1.0, Margins())
    rows = [beside(_names(view, r), _strip(view, r).box, gap=0.0) for r in range(_shown(view)[0])]
    ways = [
        above(heading, *(beside(*rows[i : i + across], gap=0.8) for i in range(0, len(rows), across)), gap=0.3)
        for across in range(1, min(len(rows), 4) + 1)
    ]
    return Scene(ways, ways[:2])


def _number(value: float) -> str:
    return f"{value:.4f}"


def _shown(view: RowsView) -> tuple[int, int]:
    """Return how many rows, and how many cells of each, are shown."""
    rows = view.trace.rows
    return min(len(rows.rows), view.sequences), min(rows.max_length, view.steps)


@once
def _strip(view: RowsView, r: int) -> Strip:
    """Return the cells of a row, with a gap between its documents."""
    cells = _shown(view)[1]
    ends = np.minimum(np.cumsum([0, *view.trace.rows.lengths[r]]), cells)
    parts = [count for count in np.diff(ends).tolist() if count]
    return Strip(f"losses:{r}", parts, WIDTH, float(len(LINES)), gap=GAP, marks=False, text=0.0)


def _names(view: RowsView, r: int) -> Box:
    text = max(1.0, sqrt(_shown(view)[1]) / 3)  # cells of a long row are smaller than legible text
    return panel(f"names:{r}", NAMED * text, float(len(LINES)), Margins())


def _inside(view: RowsView) -> np.ndarray:
    """Return (M,): whether the token stands in a cell that is shown."""
    rows, cells = _shown(view)
    inside: np.ndarray = (view.row >= 0) & (view.row < rows) & (view.column < cells)
    return inside


def _place(view: RowsView, line: float) -> Place:
    """Return the places (M,) of the tokens shown in a line of their rows."""
    row, column = np.where(_inside(view), (view.row, view.column), 0)
    panels = np.array([f"losses:{r}" for r in range(_shown(view)[0])], dtype=object)
    return Place(panels[row], column * WIDTH + view.trace.document_ids[row, column].numpy() * GAP, line)


def _without(view: RowsView) -> list[int]:
    """Return the sequences of the documents without a label."""
    return sorted({view.trace.rows.rows[row][piece][0] for row, piece in view.trace.unlabelled})


def _groups(view: RowsView, name: str) -> int:
    """Return how many groups with a label a mean has."""
    run = view.trace
    if name == "documents":
        return sum(map(len, run.rows.rows)) - len(run.unlabelled)
    return int((run.labels != NO_LABEL).any(1).sum()) if name == "rows" else 1


def _extremes(view: RowsView, name: str) -> dict[str, object]:
    """Return the sequences whose tokens weigh the most and the least, and these weights."""
    run, weights = view.trace, token_weights(view.trace)[name]
    found = dict[int, float]()
    for row, pieces in enumerate(run.rows.rows):
        for piece, (b, _, _) in enumerate(pieces):
            most = float(weights[row][run.document_ids[row] == piece].max())
            if most:
                found.setdefault(b, most)
    ordered = sorted(found, key=lambda b: (found[b], b))
    if not ordered:
        return {"heavy": None, "light": None, "most": "", "least": ""}
    light, heavy = ordered[0], max(ordered, key=lambda b: (found[b], -b))
    return {"heavy": heavy, "light": light, "most": f"{found[heavy]:.3g}", "least": f"{found[light]:.3g}"}


def _at(view: RowsView, name: str) -> Frame:
    """Return all rows; name: the mean whose weights are shown, or none yet."""
    run, inside = view.trace, _inside(view)
    b, t, row, column = (each[inside] for each in (view.b, view.t, view.row, view.column))
    label = run.labels[row, column].numpy()
    real = label != NO_LABEL

    def at(line: float) -> Place:
        place = _place(view, line)
        return Place(place.panel[inside], place.x[inside], line)

    look: dict[str, Any] = {"w": WIDTH, "scale": "input"}
    each = run.losses[row, column].detach().double().numpy()
    written = np.array([f"{value:.2f}" for value in each.tolist()], dtype=object)
    v = np.rint(1e4 * token_weights(run)[name or "tokens"][row, column].numpy())
    weighed = np.full(len(b), bool(name))
    return frame(
        title(Place("heading", 0.0, 0.0), f"weight in the mean over {name}" if name else "labels and losses"),
        *_still(view),
        *_labels(view, at(LABEL), inside, real, label),
        marks("loss", "value", at(LOSS), b, t, text=written, shown=real, says="its loss", **look),
        marks("weight", "value", at(WEIGHT), b, t, v=v, shown=weighed, says="its weight", **look),
        token_marks(view, _place(view, TOKEN), inside).but(w=WIDTH),
    )


@once
def _still(view: RowsView) -> list[Marks]:
    """Return the names of the lines of each row, and the letters of its documents."""
    found = list[Marks]()
    for r in range(_shown(view)[0]):
        for y, (name, says) in enumerate(LINES.items()):
            place, text = Place(f"names:{r}", 0.0, float(y)), name if y else f"row {r}"
            found.append(marks(f"name:{name}:{r}", "note", place, text=text, says=f"!{says.replace('{r}', str(r))}"))
        parts = np.arange(len(_strip(view, r).counts))
        b = np.array([piece[0] for piece in view.trace.rows.rows[r]])[parts]
        letters = np.array([sequence_label(each) for each in b.tolist()], dtype=object)
        place = _strip(view, r).cell(parts, 0)
        found.append(marks(f"document:{r}", "label", place, parts, seq=b, text=letters, w=WIDTH))
    return found


def _labels(view: RowsView, at: Place, inside: np.ndarray, real: np.ndarray, label: np.ndarray) -> Iterator[Marks]:
    """Yield the labels in the hues of their documents, and the -100 of the tokens without one."""
    b, t, row, column = (each[inside] for each in (view.b, view.t, view.row, view.column))
    pieces = [[piece[0] for piece in pieces] for pieces in view.trace.rows.rows]
    follows = np.minimum(column + 1, view.trace.document_ids.shape[1] - 1)
    owner = view.trace.document_ids[row, np.where(real, follows, column)].tolist()
    seq = np.array([pieces[r][piece] for r, piece in zip(row.tolist(), owner, strict=True)])
    text, says = _texts(view)[np.maximum(label, 0)], "!the label of the token"
    yield marks("target", "ghost", at, b, t, seq=seq, w=WIDTH, text=text, shown=real, says=says)
    none = marks(
        "unlabelled", "pad", at, b, t, w=WIDTH, text="−100", shown=~real, says="!no label: the loss ignores it"
    )
    yield replace(none, seq=None)


def _texts(view: RowsView) -> np.ndarray:
    """Return (V,): the text of each id, as typed."""
    run, typed = view.trace, texts(view)
    if run.logits is None:  # the tokens are not ids, so there are no labels
        return np.array([""], dtype=object)
    ids = run.batch.sequences
    names = np.full(int(max(int(each.max()) for each in ids)) + 1, "", dtype=object)
    for each, at, place in zip(typed, view.b.tolist(), view.t.tolist(), strict=True):
        names[int(ids[at][place])] = each
    return names
