"""Attention, query by query: the keys that it may read, scores, weights, the output, and the document alone."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from math import sqrt
from typing import Any

import numpy as np
import torch

from packviz.compute.row_record import RowsTrace
from packviz.show.movie.layout import Box, Margins, Place, Scene, Strip, above, beside, panel
from packviz.show.movie.marks import Frame, Marks, Shot, Step, StepSeries, filmed, frame, marks, title, with_numbers
from packviz.show.movie.packing.view import once, shape
from packviz.show.movie.rows.queries import (
    of_all,
    of_head,
    of_pads,
    of_query,
    of_row,
    query_lines,
    query_name,
    watched_head,
)
from packviz.show.movie.rows.two import token_marks
from packviz.show.movie.rows.view import RowsView
from packviz.text import sequence_label

WIDTH, UNIT = 1.7, 1.8  # units: of a cell of the row, and of a number of a query or an output
NUMBERS, WIDE = 8, 32  # at most so many numbers of a head are shown, and so many of an output, as stripes
NAMED, HEADED = 3.4, 7.0  # units: the names of the lines, and a heading
BEATS = 5  # frames of a query: which keys it may read, scores, weights, their sum of values, the output
KEYS = {
    "token": "the tokens of the row: each has a key and a value",
    "position": "position_ids",
    "mask": "whether the query may read this key",
    "score": "query · key / √d; −∞ where the mask forbids it",
    "weight": "the softmax of the scores of this query",
    "value": "the numbers that the weights sum up",
}
OUT = {
    "output": "the output of the last layer",
    "alone": "the output of the same model for this document alone",
    "differs": "the largest difference between the two",
}


@dataclass(frozen=True)
class ShownRow:
    """What is shown of one row.

    row      its number
    parts    how many cells of each piece are shown, and of the pads, if any are
    cells    how many cells are shown
    queries  how many of its tokens are shown as queries
    pads     whether a pad is shown as a query, after them
    """

    row: int
    parts: tuple[int, ...]
    cells: int
    queries: int
    pads: bool


def has_attention(run: RowsTrace) -> bool:
    """Return whether the layers are attention."""
    return run.mask is not None


def attention(view: RowsView) -> Iterator[Shot]:
    """Show the keys and values of each row, and then one query after another."""
    scene = None
    for each in _rows(view):
        scene = (f"attention:{each.row}", _scene(view, each)) if each.row else None
        steps = [Step(of_row(view, each.row, each.cells), beats=1, scene=scene, name=f"row{each.row}")]
        for q in range(each.queries):
            detail, name = query_lines(view, each.row, q), query_name(view, each.row, q)
            steps.append(Step(of_query(view, each.row, q), detail=detail, beats=BEATS, scene=scene, name=name))
        if each.pads:
            steps.append(Step(of_pads(view, each.row), beats=BEATS, scene=scene, name=f"pads{each.row}"))
        yield StepSeries(_film(view, each), steps)
    queries = sum(each.queries for each in _rows(view))
    last = {name: group.at(-1) for name, group in _film(view, _rows(view)[-1]).items()}
    yield Step(of_all(view, queries), (last,), scene=scene, name="end")


def attention_scene(view: RowsView) -> Scene:
    """Return the scene of the first row: its cells, the numbers of a head, and the outputs."""
    return _scene(view, _rows(view)[0])


def attention_end(view: RowsView) -> Frame:
    """Return the tokens of the last row: all that the next stage takes over."""
    return frame(_tokens(view, _rows(view)[-1]))


@once
def _rows(view: RowsView) -> list[ShownRow]:
    """Return what is shown: the first rows, at most `steps` cells of each, and at most `steps` queries of all."""
    found, left = list[ShownRow](), view.steps
    cells = min(view.trace.rows.max_length, view.steps)
    for row, lengths in enumerate(view.trace.rows.lengths[: view.sequences]):
        if left <= 0:
            break
        ends = [*(min(end, cells) for end in accumulate(lengths, initial=0)), cells]
        parts = tuple(stop - start for start, stop in pairwise(ends) if stop > start)
        queries = min(sum(lengths), cells, left)
        found.append(ShownRow(row, parts, cells, queries, sum(lengths) == queries < cells))
        left -= queries
    return found


def _strip(each: ShownRow, name: str, lines: int) -> Strip:
    return Strip(name, each.parts, WIDTH, float(lines), marks=False)


def _scene(view: RowsView, each: ShownRow) -> Scene:
    text = max(1.0, sqrt(each.cells) / 4)  # cells of a long row are smaller than legible text

    def names(of: str, lines: int) -> Box:
        return panel(f"names:{of}", NAMED * text, float(lines), Margins(0.0, 1.0, 0.0, 0.05))

    def numbers(name: str) -> Box:
        width = min(view.trace.config.head_dim, NUMBERS) * UNIT
        return panel(name, width, 1.0, Margins(0.0, 1.0, 0.1, 0.1)).at_least(HEADED * text)

    keys = beside(names("keys", len(KEYS)), _strip(each, "keys", len(KEYS)).box, gap=0.0)
    out = beside(names("out", len(OUT)), _strip(each, "out", len(OUT)).box, gap=0.0)
    head = numbers("query"), numbers("sum")
    columns = beside(above(keys, out, gap=0.5), above(*head, gap=1.0), gap=0.8)
    lines = above(keys, beside(*head, gap=0.8), out, gap=0.4)
    return Scene([columns, lines], [lines, above(keys, *head, out, gap=0.4)])


@once
def _film(view: RowsView, each: ShownRow) -> Frame:
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


@once
def _cells(view: RowsView, each: ShownRow) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the sequence and the place in it of each token shown, and where each cell is."""
    pieces = view.trace.rows.rows[each.row]
    tokens = [(b, t) for b, start, stop in pieces for t in range(start, stop)][: each.cells]
    b, t = np.array(tokens).T
    inside = np.concatenate([np.arange(count) for count in each.parts])
    return b, t, _strip(each, "keys", len(KEYS)).cell(np.repeat(np.arange(len(each.parts)), each.parts), inside).x


def _tokens(view: RowsView, each: ShownRow) -> Marks:
    """Return the tokens of the view in the cells of the row; those of other rows are hidden."""
    here = (view.row == each.row) & (view.column < each.cells)
    x = _cells(view, each)[2][np.where(here, view.column, 0)]
    return token_marks(view, Place("keys", x, 0.0), here).but(w=WIDTH)


def _still(view: RowsView, each: ShownRow) -> Frame:
    """Return what does not change: the tokens, their values, the names of the lines and the headings."""
    (b, t, x), r, k = _cells(view, each), each.row, np.arange(each.cells)
    beyond = ~np.isin(k[: len(b)], view.column[view.row == r])  # of sequences or steps that no other stage shows
    typed = view.trace.batch.texts
    texts = [typed[i][j] if typed[i] else f"{sequence_label(i)}{j}" for i, j in zip(b[beyond], t[beyond], strict=True)]
    more = np.array(texts, dtype=object)
    pads = k[len(b) :].repeat(2)  # in the lines of the tokens and of the mask
    at = Place("keys", x[pads], 2.0 * (np.arange(len(pads)) % 2))
    pad = marks(
        f"pads:{r}", "pad", at, at.y.astype(int), pads, w=WIDTH, says="!cell {k}: a pad, which no query may read"
    )
    numbers = of_head(view, r).value[: each.cells, :NUMBERS]
    look: dict[str, Any] = {
        "vec": view.stripes(torch.from_numpy(numbers)) + k,
        "w": WIDTH,
        "says": "!value of cell {k}: {vec}",
    }
    value = marks(f"value:{r}", "vector", Place("keys", x, len(KEYS) - 1.0), k, **look)
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
        title(_strip(each, "keys", 1).heading(), f"row {r} of {C} cells: {watched_head(view)}"),
        title(_strip(each, "out", 1).heading(), f"{made} {shape(C, E)}, and of each document alone"),
        *names,
        marks(
            f"position:{r}", "axis", position, k[: len(b)], text=positions, w=WIDTH, says="!position_ids[{k}] = {text}"
        ),
        _tokens(view, each),
        marks(f"more:{r}", "token", Place("keys", x[: len(b)][beyond], 0.0), b[beyond], t[beyond], text=more, w=WIDTH),
        replace(pad, seq=None),
        replace(value, seq=None),
    )


def _led(values: np.ndarray, times: int = 1) -> np.ndarray:
    """Return a line for each query as the lines of a film: each so many times, after one for the row before them."""
    return np.concatenate([values[:1], values.repeat(times, 0)])


def _beats(each: ShownRow, *shown: bool) -> np.ndarray:
    """Return (lines, 1): whether something is shown in these beats of each query, after a line where it is not."""
    return np.array([False, *shown * (each.queries + each.pads)])[:, None]


def _asked(each: ShownRow) -> np.ndarray:
    """Return the cells of the queries, and of the first pad if it is shown as one."""
    return np.arange(each.queries + each.pads)


def _asking(view: RowsView, each: ShownRow) -> Iterator[Marks]:
    """Yield the query in focus, its numbers, and the row of the mask."""
    (b, _, x), r, asked = _cells(view, each), each.row, _asked(each)
    mask, shown = of_head(view, r).mask[asked, : len(b)], _beats(each, True)
    look: dict[str, Any] = {
        "text": _led(np.where(mask, "True", "False").astype(object)),
        "w": WIDTH,
        "seq": b,
        "shown": shown,
    }
    says = "!may the query read cell {k}? {text}"
    yield marks(f"mask:{r}", "flag", Place("keys", x[: len(b)], 2.0), np.arange(len(b)), says=says, **look)
    numbers = of_head(view, r).query[asked, :NUMBERS]
    unit = np.arange(numbers.shape[1])
    query = marks("query", "value", Place("query", unit * UNIT, 0.0), unit, w=UNIT, says="!query, number {k}: {number}")
    origin = Place("keys", _led(x[asked][:, None]), 0.0)
    yield replace(with_numbers(query, _led(numbers)).but(shown=shown, origin=origin, anew=shown), seq=None)
    yield title(Place("query", 0.0, -1.0), "query", shown=shown)
    yield title(Place("sum", 0.0, -1.0), "weights @ value", shown=shown)
    yield marks("focus:key", "focus", origin, w=WIDTH, shown=shown)


def _scores(view: RowsView, each: ShownRow) -> Marks:
    """Return the scores of each query, −∞ where it may not read."""
    (_, _, x), r, asked, k = _cells(view, each), each.row, _asked(each), np.arange(each.cells)
    scores, mask = of_head(view, r).scores[asked, : each.cells], of_head(view, r).mask[asked, : each.cells]
    group = marks(f"score:{r}", "value", Place("keys", x, 3.0), k, w=WIDTH, says="!score of cell {k}: {number}")
    text = np.where(mask, "", "−∞").astype(object)
    numbers = with_numbers(group, _led(np.where(mask, scores, 0.0), 2), _led(text, 2))
    return replace(numbers.but(shown=_beats(each, False, True)), seq=None)


def _weights(view: RowsView, each: ShownRow) -> Marks:
    """Return the weights of each query."""
    (_, _, x), k = _cells(view, each), np.arange(each.cells)
    weights = of_head(view, each.row).weights[_asked(each), : each.cells]
    look: dict[str, Any] = {"w": WIDTH, "says": "!weight of cell {k}: {number}"}
    group = marks(f"weight:{each.row}", "value", Place("keys", x, 4.0), k, **look)
    return replace(with_numbers(group, _led(weights, 2)).but(shown=_beats(each, False, True)), seq=None)


def _sum(view: RowsView, each: ShownRow) -> Marks:
    """Return the weighted sum of the values, which comes from the value with the largest weight."""
    (_, _, x), r, asked = _cells(view, each), each.row, _asked(each)
    made = of_head(view, r).output[asked, :NUMBERS]
    largest = of_head(view, r).weights[asked, : each.cells].argmax(-1)
    unit, shown = np.arange(made.shape[1]), _beats(each, False, True)
    origin = Place("keys", _led(x[largest][:, None], 2), len(KEYS) - 1.0)
    group = marks("sum", "value", Place("sum", unit * UNIT, 0.0), unit, w=UNIT, says="!output, number {k}: {number}")
    return replace(with_numbers(group, _led(made, 2)).but(shown=shown, origin=origin, anew=shown), seq=None)


def _outputs(view: RowsView, each: ShownRow) -> Iterator[Marks]:
    """Yield the output of each token after its query, that of its document alone, and the difference."""
    (b, t, x), run, n = _cells(view, each), view.trace, each.queries
    b, t, x, r = b[:n], t[:n], x[:n], each.row
    done = np.arange(n) < np.minimum(np.arange(1 + n + each.pads), n)[:, None]
    both = run.output[r, :n, :WIDE], torch.cat(run.alone[r])[:n, :WIDE]
    for y, (name, numbers) in enumerate(zip(("output", "alone"), both, strict=True)):
        look: dict[str, Any] = {
            "vec": view.stripes(numbers) + np.arange(n),
            "w": WIDTH,
            "shown": done,
            "origin": Place("sum", 0.0, 0.0),
        }
        yield marks(
            f"{name}:{r}", "output", Place("out", x, float(y)), b, t, **look if y == 0 else look | {"origin": None}
        )
    says = "largest difference from the document alone"
    group = marks(f"differs:{r}", "value", Place("out", x, 2.0), b, t, w=WIDTH, says=says)
    yield with_numbers(group, torch.cat(run.difference[r])[:n].detach().double().numpy()).but(shown=done)
