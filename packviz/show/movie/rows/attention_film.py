"""The frames of a row in attention: its cells, and for each query the mask, scores, weights, sum and output."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

from packviz.show.movie.layout import Place
from packviz.show.movie.marks import Frame, Marks, filmed, frame, marks, title, with_numbers
from packviz.show.movie.once import once
from packviz.show.movie.rows.attention_rows import KEYS, NUMBERS, OUT, UNIT, ShownRow, cells_of, strip_of, wide
from packviz.show.movie.rows.queries import of_head, watched_head
from packviz.show.movie.rows.two import token_marks
from packviz.show.movie.rows.view import RowsView
from packviz.text import sequence_label, shape

WIDE = 32  # at most so many numbers of an output are shown, as stripes
BEATS = 5  # frames of a query: which keys it may read, scores, weights, their sum of values, the output


@once
def film_of(view: RowsView, each: ShownRow) -> Frame:
    """Return the frames of a row: first its cells, then BEATS frames for each query; a pad is the last one."""
    starts = range(1, 1 + BEATS * (each.queries + each.pads), BEATS)

    def at(*beats: int) -> list[int]:
        return [0, *(start + beat for start in starts for beat in beats)]

    return {
        **_still(view, each),
        **filmed(frame(*_asking(view, each)), at(0)),
        **filmed(frame(_scores(view, each)), at(0, 1)),
        **filmed(frame(_weights(view, each)), at(0, 2)),
        **filmed(frame(_sum(view, each)), at(0, 3)),
        **filmed(frame(*_outputs(view, each)), at(4)),
    }


def row_tokens(view: RowsView, each: ShownRow) -> Marks:
    """Return the tokens of the view in the cells of the row; those of other rows are hidden."""
    here = (view.row == each.row) & (view.column < each.cells)
    x = cells_of(view, each)[2][np.where(here, view.column, 0)]
    return token_marks(view, Place("keys", x, 0.0), here).but(w=wide(view))


def _still(view: RowsView, each: ShownRow) -> Frame:
    """Return what does not change: the tokens, their values, the names of the lines and the headings."""
    (b, t, x), r, k, w = cells_of(view, each), each.row, np.arange(each.cells), wide(view)
    beyond = ~np.isin(k[: len(b)], view.column[view.row == r])  # of sequences or steps that no other stage shows
    typed = view.trace.batch.texts
    texts = [typed[i][j] if typed[i] else f"{sequence_label(i)}{j}" for i, j in zip(b[beyond], t[beyond], strict=True)]
    more = np.array(texts, dtype=object)
    pads = k[len(b) :].repeat(2)  # in the lines of the tokens and of the mask
    at = Place("keys", x[pads], 2.0 * (np.arange(len(pads)) % 2))
    unread = "!cell {k}: a pad, which no query may read"
    numbers = of_head(view, r).value[: each.cells, :NUMBERS]
    look: dict[str, Any] = {
        "vec": view.stripes(torch.from_numpy(numbers)) + k,
        "w": w,
        "says": "!value of cell {k}: {vec}",
    }
    names = [
        marks(f"name:{name}", "note", Place(f"names:{of}", 0.0, float(y)), text=name, says=f"!{lines[name]}")
        for of, lines in (("keys", KEYS), ("out", OUT))
        for y, name in enumerate(lines)
    ]
    C, E, last = view.trace.rows.max_length, view.trace.config.embedding_dim, len(view.trace.layers) - 1
    made = f"output of layer {last}" if last else "output"
    positions = view.trace.position_ids[r, : len(b)].numpy().astype(str).astype(object)
    position = Place("keys", x[: len(b)], 1.0)
    return frame(
        title(strip_of(view, each, "keys", 1).heading(), f"row {r} of {C} cells: {watched_head(view)}"),
        title(strip_of(view, each, "out", 1).heading(), f"{made} {shape(C, E)}, in the row and alone"),
        *names,
        marks(f"position:{r}", "axis", position, k[: len(b)], text=positions, w=w, says="!position_ids[{k}] = {text}"),
        row_tokens(view, each),
        marks(f"more:{r}", "token", Place("keys", x[: len(b)][beyond], 0.0), b[beyond], t[beyond], text=more, w=w),
        marks(f"pads:{r}", "pad", at, at.y.astype(int), pads, owned=False, w=w, says=unread),
        marks(f"value:{r}", "vector", Place("keys", x, len(KEYS) - 1.0), k, owned=False, **look),
    )


def _led(values: np.ndarray, times: int = 1) -> np.ndarray:
    """Return the lines of a film: the first line once, then each query's line `times` times."""
    return np.concatenate([values[:1], values.repeat(times, 0)])


def _beats(each: ShownRow, *shown: bool) -> np.ndarray:
    """Return (lines, 1): whether something is shown in these beats of each query, after a line where it is not."""
    return np.array([False, *shown * (each.queries + each.pads)])[:, None]


def _asked(each: ShownRow) -> np.ndarray:
    """Return the cells of the queries, and of the first pad if it is shown as one."""
    return np.arange(each.queries + each.pads)


def _asking(view: RowsView, each: ShownRow) -> Iterator[Marks]:
    """Yield the query in focus, its numbers, and the row of the mask."""
    (b, _, x), r, asked = cells_of(view, each), each.row, _asked(each)
    mask, shown = of_head(view, r).mask[asked, : len(b)], _beats(each, True)
    look: dict[str, Any] = {
        "text": _led(np.where(mask, "True", "False").astype(object)),
        "w": wide(view),
        "seq": b,
        "shown": shown,
    }
    says = "!may the query read cell {k}? {text}"
    yield marks(f"mask:{r}", "flag", Place("keys", x[: len(b)], 2.0), np.arange(len(b)), says=says, **look)
    numbers = of_head(view, r).query[asked, :NUMBERS]
    unit = np.arange(numbers.shape[1])
    says = "!query, number {k}: {number}"
    query = marks("query", "value", Place("query", unit * UNIT, 0.0), unit, owned=False, w=UNIT, says=says)
    origin = Place("keys", _led(x[asked][:, None]), 0.0)
    yield with_numbers(query, _led(numbers)).but(shown=shown, origin=_around(view, origin, unit), anew=shown)
    yield title(Place("query", 0.0, -1.0), "query", shown=shown)
    yield title(Place("sum", 0.0, -1.0), "weights @ value", shown=shown)
    yield marks("focus:key", "focus", origin, w=wide(view), shown=shown)


def _scores(view: RowsView, each: ShownRow) -> Marks:
    """Return the scores of each query, −∞ where it may not read."""
    (_, _, x), r, asked, k = cells_of(view, each), each.row, _asked(each), np.arange(each.cells)
    scores, mask = of_head(view, r).scores[asked, : each.cells], of_head(view, r).mask[asked, : each.cells]
    look: dict[str, Any] = {"w": wide(view), "says": "!score of cell {k}: {number}"}
    group = marks(f"score:{r}", "value", Place("keys", x, 3.0), k, owned=False, **look)
    text = np.where(mask, "", "−∞").astype(object)
    numbers = with_numbers(group, _led(np.where(mask, scores, 0.0), 2), _led(text, 2))
    return numbers.but(shown=_beats(each, False, True))


def _weights(view: RowsView, each: ShownRow) -> Marks:
    """Return the weights of each query."""
    (_, _, x), k = cells_of(view, each), np.arange(each.cells)
    weights = of_head(view, each.row).weights[_asked(each), : each.cells]
    look: dict[str, Any] = {"w": wide(view), "says": "!weight of cell {k}: {number}"}
    group = marks(f"weight:{each.row}", "value", Place("keys", x, 4.0), k, owned=False, **look)
    return with_numbers(group, _led(weights, 2)).but(shown=_beats(each, False, True))


def _sum(view: RowsView, each: ShownRow) -> Marks:
    """Return the weighted sum of the values, which comes from the value with the largest weight."""
    (_, _, x), r, asked = cells_of(view, each), each.row, _asked(each)
    made = of_head(view, r).output[asked, :NUMBERS]
    largest = of_head(view, r).weights[asked, : each.cells].argmax(-1)
    unit, shown = np.arange(made.shape[1]), _beats(each, False, True)
    origin = Place("keys", _led(x[largest][:, None], 2), len(KEYS) - 1.0)
    says = "!output, number {k}: {number}"
    group = marks("sum", "value", Place("sum", unit * UNIT, 0.0), unit, owned=False, w=UNIT, says=says)
    return with_numbers(group, _led(made, 2)).but(shown=shown, origin=_around(view, origin, unit), anew=shown)


def _around(view: RowsView, cell: Place, unit: np.ndarray) -> Place:
    """Return where numbers start that come from one cell: side by side, so that they do not lie on one another."""
    return cell.moved((wide(view) - len(unit) * UNIT) / 2 + unit * UNIT, 0.0)


def _outputs(view: RowsView, each: ShownRow) -> Iterator[Marks]:
    """Yield the output of each token after its query, that of its document alone, and the difference."""
    (b, t, x), run, n = cells_of(view, each), view.trace, each.queries
    b, t, x, r = b[:n], t[:n], x[:n], each.row
    done = np.arange(n) < np.minimum(np.arange(1 + n + each.pads), n)[:, None]
    both = run.output[r, :n, :WIDE], torch.cat(run.alone[r])[:n, :WIDE]
    for y, (name, numbers) in enumerate(zip(("output", "alone"), both, strict=True)):
        look: dict[str, Any] = {
            "vec": view.stripes(numbers) + np.arange(n),
            "w": wide(view),
            "shown": done,
            "origin": Place("sum", 0.0, 0.0),
        }
        yield marks(
            f"{name}:{r}", "output", Place("out", x, float(y)), b, t, **look if y == 0 else look | {"origin": None}
        )
    says = "largest difference from the document alone"
    group = marks(f"difference:{r}", "value", Place("out", x, 2.0), b, t, w=wide(view), says=says)
    yield with_numbers(group, torch.cat(run.difference[r])[:n].detach().double().numpy()).but(shown=done)
