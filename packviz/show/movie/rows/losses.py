"""What the loss counts: the label of each token, its loss, and what it weighs in each of three means."""

from collections.abc import Iterator

import numpy as np

from packviz.compute.row_record import NO_LABEL
from packviz.facts.row_losses import MEANS, means, token_weights
from packviz.show.movie.layout import Grid, Scene, above
from packviz.show.movie.marks import CodeLine, Frame, Marks, Step, frame, marks, title
from packviz.show.movie.rows.two import token_marks
from packviz.show.movie.rows.view import RowsView
from packviz.show.movie.rows.words import say, texts

PANELS = {"rows": "tokens", "labels": "labels", "loss": "loss of each token", "weights": "weight in the mean"}
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
    changed = [name for name in MEANS if _number(found[name][0]) != _number(found[name][1])]
    both = [(name, *map(_number, found[name])) for name in MEANS]
    lines = tuple(CodeLine(f"{name}: padded {padded}", f"rows {rows}") for name, padded, rows in both)
    yield Step(say("losses.end", view, changed=changed, **known), (_at(view, "rows"),), lines, name="end")


def losses_scene(view: RowsView) -> Scene:
    """Return the scene: four grids of the same cells, one below the other."""
    return Scene([above(*(_grid(view, panel).box(counts=False) for panel in PANELS), gap=0.3)])


def _number(value: float) -> str:
    return f"{value:.4f}"


def _grid(view: RowsView, panel: str) -> Grid:
    rows = view.trace.rows
    return Grid(panel, min(len(rows.rows), view.sequences), min(rows.max_length, view.steps), 1.6)


def _inside(view: RowsView) -> np.ndarray:
    """Return (M,): whether the token stands in a cell that is shown."""
    grid = _grid(view, "rows")
    inside: np.ndarray = (view.row >= 0) & (view.row < grid.rows) & (view.column < grid.columns)
    return inside


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
    """Return all grids; name: the mean whose weights are shown, or none yet."""
    run, inside = view.trace, _inside(view)
    b, t, row, column = (each[inside] for each in (view.b, view.t, view.row, view.column))
    label = run.labels[row, column].numpy()
    real, groups = label != NO_LABEL, list[Marks]()
    for panel, heading in PANELS.items():
        grid = _grid(view, panel)
        text = f"{heading} over {name}" if panel == "weights" and name else heading
        groups.append(title(grid.heading(), text, shown=panel != "weights" or bool(name)))
    grid = _grid(view, "rows")
    tokens = token_marks(view, grid.cell(view.row, view.column), inside).but(w=grid.width)
    said = np.where(real, _names(view)[np.maximum(label, 0)], "−100")
    labels, loss, weights = (_grid(view, panel) for panel in ("labels", "loss", "weights"))
    groups.append(
        marks("target", "axis", labels.cell(row, column), b, t, seq=b, w=1.6, text=said, says="!the label of the token")
    )
    each = run.losses[row, column].detach().double().numpy()
    written = np.array([f"{value:.2f}" for value in each.tolist()], dtype=object)
    groups.append(
        marks(
            "loss",
            "value",
            loss.cell(row, column),
            b,
            t,
            w=1.6,
            text=written,
            shown=real,
            scale="input",
            says="its loss",
        )
    )
    v = np.rint(1e4 * token_weights(run)[name or "tokens"][row, column].numpy())
    weight = marks("weight", "value", weights.cell(row, column), b, t, w=1.6, v=v, scale="input", says="its weight")
    groups.append(weight.but(shown=np.full(len(b), bool(name))))
    return frame(*groups, tokens)


def _names(view: RowsView) -> np.ndarray:
    """Return (V,): the text of each id, as typed."""
    run, typed = view.trace, texts(view)
    if run.logits is None:  # the tokens are no ids, so there are no labels
        return np.array([""], dtype=object)
    ids = run.batch.sequences
    names = np.full(int(max(int(each.max()) for each in ids)) + 1, "", dtype=object)
    for each, at, place in zip(typed, view.b.tolist(), view.t.tolist(), strict=True):
        names[int(ids[at][place])] = each
    return names
