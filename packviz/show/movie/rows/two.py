"""Two packings: the strip of PackedSequence, by time step, turns into a row, by sequence."""

from collections.abc import Iterator
from itertools import accumulate
from typing import Any

import numpy as np

from packviz.inputs.documents import cu_seqlens_of
from packviz.show.movie.layout import Place, Scene, Strip, above
from packviz.show.movie.marks import CodeLine, Frame, Marks, Step, frame, marks, title
from packviz.show.movie.rows.view import RowsView
from packviz.show.movie.rows.words import say, texts, width
from packviz.text import sequence_label

MAX_OFFSETS = 8  # fewer are written out


def two(view: RowsView) -> Iterator[Step]:
    """Show the packed strip, then one step for each document that moves into the row, then cu_seqlens."""
    yield Step(say("two.packed", tokens=sum(view.lengths)), (_at(view, 0),), name="packed")
    shown = int(view.b.max()) + 1
    ends = [*accumulate(view.lengths)]
    for b in range(shown):
        detail = (CodeLine(f"row[{ends[b] - view.lengths[b]}:{ends[b]}]", f"({view.lengths[b]},)"),)
        yield Step(_moved(view, b, ends[b]), (_at(view, b + 1),), detail)
    offsets = cu_seqlens_of(view.lengths).tolist()
    written = offsets if len(offsets) < MAX_OFFSETS else f"0, …, {offsets[-1]}"
    yield Step(say("two.why", tokens=sum(view.lengths), offsets=written), (two_end(view),), name="why")


def _moved(view: RowsView, b: int, end: int) -> str:
    """Return the caption of a document that goes into the row and ends before a cell."""
    cells = "one_cell" if view.lengths[b] == 1 else "cells"
    entry = "next_entry" if end < sum(view.lengths) else "last_entry"
    return say(f"two.{cells}", f"two.{entry}", b=b, start=end - view.lengths[b], last=end - 1, end=end)


def two_scene(view: RowsView) -> Scene:
    """Return the scene: the strip above the row."""
    return Scene([above(_strip(view).box, _row(view).box, gap=1.0)])


def two_end(view: RowsView) -> Frame:
    """Return the row with all documents."""
    return _at(view, int(view.b.max()) + 1)


def opening(view: RowsView) -> Frame:
    """Return the packed strip, before anything moves."""
    return _at(view, 0)


def token_marks(view: RowsView, place: Place, shown: object = True) -> Marks:
    """Return the tokens shown at a place; the same marks in every stage."""
    look: dict[str, Any] = {"token": np.arange(len(view.b)), "text": texts(view)}
    return marks("token", "token", place, view.b, view.t, shown=shown, **look)


def ghosts(view: RowsView, place: Place, gone: np.ndarray, wide: float) -> Marks:
    """Return the tokens where they were before they went into a row, for those that are gone."""
    look: dict[str, Any] = {"token": np.arange(len(view.b)), "text": texts(view), "w": wide}
    return marks("was", "ghost", place, view.b, view.t, shown=gone, **look)


def _brackets(strip: Strip, name: str, names: list[str], shown: object = True) -> Marks:
    """Return the names above the groups of a strip."""
    every, counts = np.arange(len(strip.counts)), np.array(strip.counts)
    place = Place(strip.name, strip.cell(every, 0).x, -0.85)
    look: dict[str, Any] = {"w": counts * strip.width, "h": 0.8, "text": np.array(names, dtype=object)}
    return marks(name, "bracket", place, every, shown=shown, **look)


def _strip(view: RowsView) -> Strip:
    counts = [min(size, int(view.b.max()) + 1) for size in view.batch_sizes[: int(view.t.max()) + 1]]
    return Strip("strip", counts, width(view, 1.6), 1.0)


def _row(view: RowsView) -> Strip:
    return Strip("row", np.bincount(view.b).tolist(), width(view, 1.6), 1.0)


def _at(view: RowsView, moved: int) -> Frame:
    """Return the frame in which the first documents have moved into the row."""
    strip, row, M = _strip(view), _row(view), len(view.b)
    order = np.argsort(view.packed)
    position = np.empty(M, int)
    position[order] = np.arange(M) - np.searchsorted(view.t[order], view.t[order])
    one, other, there = strip.cell(view.t, position), row.cell(view.b, view.t), view.b < moved
    panels = np.array(["strip", "row"], dtype=object)[there.astype(int)]
    place = Place(panels, np.where(there, other.x, one.x), np.zeros(M))
    steps, documents = np.arange(len(strip.counts)), np.arange(len(row.counts) + 1)
    sizes = np.array([f"{size}" for size in view.batch_sizes[: len(steps)]], dtype=object)
    offsets = np.array([f"{offset}" for offset in accumulate(view.lengths, initial=0)], dtype=object)[documents]
    ends = np.array([0.0, *(row.cell(documents[:-1], np.array(row.counts) - 1).x + row.width)])
    begins = np.append(row.cell(documents[:-1], 0).x, ends[-1])
    N = sum(view.lengths)
    return frame(
        title(
            strip.heading(),
            f"PackedSequence: batch_sizes = {view.batch_sizes}" if len(steps) < 13 else "PackedSequence",
        ),
        title(row.heading(), f"row ({N},), cu_seqlens ({len(view.lengths) + 1},)", shown=moved > 0),
        ghosts(view, one, there, strip.width),
        token_marks(view, place).but(w=strip.width),
        _brackets(strip, "steps", [f"t={t}" for t in steps]),
        _brackets(row, "documents", [sequence_label(b) for b in range(len(row.counts))], documents[1:] <= moved),
        marks(
            "sizes",
            "axis",
            strip.cell(steps, 0).moved(0.0, 1.05),
            steps,
            text=sizes,
            w=np.array(strip.counts) * strip.width,
            says="!batch_sizes[{k}]",
        ),
        marks(
            "offsets",
            "axis",
            Place("row", begins, 1.05),
            documents,
            w=0.8,
            text=offsets,
            shown=documents <= (moved or -1),
            says="!cu_seqlens[{k}]",
        ),
    )
