"""Filling rows: one piece of a document after another goes into the row that the strategy chooses."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from packviz.compute.fill import Piece
from packviz.show.movie.layout import Grid, Place, Scene, above, beside
from packviz.show.movie.marks import CodeLine, Frame, Step, frame, marks, title
from packviz.show.movie.rows.two import ghosts, token_marks
from packviz.show.movie.rows.view import RowsView
from packviz.show.movie.rows.words import say, width
from packviz.text import sequence_label

OPENS = {"next_fit": "opens_next", "first_fit": "opens", "ffd": "opens", "bfd": "opens"}  # why a piece begins a row


def fill(view: RowsView) -> Iterator[Step]:
    """Show the documents, then one step for each piece, then the counts."""
    yield Step(say(f"fill.{view.trace.config.strategy}"), (_at(view, 0),), name="before")
    for number, (row, at, (b, start, stop)) in enumerate(view.placed, 1):
        if b >= view.sequences:
            continue
        detail = (CodeLine(f"rows[{row}][{at}:{at + stop - start}]", f"({stop - start},)"),)
        yield Step(_placed(view, row, at, (b, start, stop)), (_at(view, number),), detail)
    yield Step(_counted(view), (fill_end(view),), name="end")


def _placed(view: RowsView, row: int, at: int, piece: Piece) -> str:
    """Return the caption of a piece that goes into a row from a cell on: why it begins one, or what is free then."""
    (b, start, stop), strategy = piece, view.trace.config.strategy
    many = stop - start
    free = view.trace.rows.max_length - at - many
    if many < view.lengths[b]:
        tokens = f"Token {start}" if many == 1 else f"Tokens {start} to {stop - 1}"
    else:
        tokens = "The one token" if many == 1 else f"The {many} tokens"
    if row and not at and strategy in OPENS:
        tokens = tokens[0].lower() + tokens[1:]
        return say(f"fill.{OPENS[strategy]}", b=b, tokens=tokens, many=many, row=row, before=row - 1)
    return say("fill.fits" if free else "fill.fills", b=b, tokens=tokens, many=many, row=row, free=free)


def _counted(view: RowsView) -> str:
    """Return the last caption: the rows, their tokens and free cells, and what was dropped or cut."""
    rows = view.trace.rows
    lost = "dropped" if rows.tokens_dropped else "cut" if rows.cut else "kept"  # what is dropped is cut from something
    return say(
        "fill.free" if rows.padding else "fill.full",
        f"fill.{lost}",
        rows=len(rows.rows),
        C=rows.max_length,
        tokens=rows.tokens,
        pads=rows.padding,
        dropped=rows.tokens_dropped,
        cut=len(rows.cut),
    )


def fill_scene(view: RowsView) -> Scene:
    """Return the scene: the documents beside the rows, or above them."""
    boxes = _documents(view).box(counts=False), _rows(view).box(counts=False)
    return Scene([beside(*boxes), above(*boxes)])


def fill_end(view: RowsView) -> Frame:
    """Return the rows as they are filled."""
    return _at(view, len(view.placed))


def _documents(view: RowsView) -> Grid:
    return Grid("documents", int(view.b.max()) + 1, int(view.t.max()) + 1, width(view, 1.4))


def _rows(view: RowsView) -> Grid:
    rows = view.trace.rows
    return Grid("rows", min(len(rows.rows), view.sequences), min(rows.max_length, view.steps), width(view, 1.4))


def _at(view: RowsView, placed: int) -> Frame:
    """Return the frame after so many pieces."""
    documents, rows = _documents(view), _rows(view)
    there = np.zeros(len(view.b), bool)
    taken = np.zeros(len(view.trace.rows.rows), int)
    for row, at, (b, start, stop) in view.placed[:placed]:
        there |= (view.b == b) & (view.t >= start) & (view.t < stop)
        taken[row] = at + stop - start
    begun = 1 + int(np.flatnonzero(taken).max(initial=0))  # a row is there once something goes into it
    inside = (view.row < rows.rows) & (view.column < rows.columns)
    one, other = documents.cell(view.b, view.t), rows.cell(view.row, view.column)
    panels = np.array(["documents", "rows"], dtype=object)[there.astype(int)]
    place = Place(panels, np.where(there, other.x, one.x), np.where(there, other.y, one.y))
    r, c = np.divmod(np.arange(rows.rows * rows.columns), rows.columns)
    letters, every = np.arange(documents.rows), np.arange(rows.rows)
    names = np.array([sequence_label(b) for b in letters.tolist()], dtype=object)
    look: dict[str, Any] = {"w": rows.width, "shown": (c >= taken[r]) & (r < begun), "says": "!a free cell of row {k}"}
    numbers: dict[str, Any] = {"text": every.astype(str).astype(object), "shown": every < begun, "says": "!row {k}"}
    return frame(
        title(documents.heading().moved(0.0, 0.6), "documents"),  # there are no time steps between it and the cells
        title(rows.heading().moved(0.0, 0.6), f"rows of {view.trace.rows.max_length}, {view.trace.config.strategy}"),
        marks("document", "label", documents.label(letters), letters, text=names),
        marks("number", "axis", rows.label(every), every, **numbers),
        marks("free", "pad", rows.cell(r, c), c, r, owned=False, **look),
        ghosts(view, one, there, documents.width),
        token_marks(view, place, ~there | inside).but(w=rows.width),
    )
