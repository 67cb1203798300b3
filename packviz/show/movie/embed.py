"""The embedding, where there is one: every id becomes its row of a table."""

from collections.abc import Iterator

import numpy as np
from torch import Tensor

from packviz.show.movie.facts import number, rounded
from packviz.show.movie.layout import Scene
from packviz.show.movie.marks import Frame, Marks, frame, marks
from packviz.show.movie.pad import pad_end
from packviz.show.movie.sheet import around, heading, sheet
from packviz.show.movie.step import CodeLine, Step
from packviz.show.movie.view import View, once, shape
from packviz.show.movie.words import say

LISTED = 4  # numbers of the pad's row that are written out


def embed(view: View) -> Iterator[Step]:
    """Show how every id, the pad's too, becomes its row of the embedding table."""
    end = embed_end(view)
    yield Step(say("embed", "embedded", view, table=_table(view).shape, own=_own_row(view)), (end,), name="embedded")
    if "embed" in view.deep and len(view.pads[0]):
        yield Step(
            say("embed", "pad_row", view, own=_own_row(view)),
            ({**end, **frame(_pad_marks(view))},),
            detail=_pad_row_detail(view),
        )


@once
def embed_end(view: View) -> Frame:
    """Return the embedded grid; the padded one where there is no embedding."""
    return sheet(view, view.grid, view.place, heading(view, "embedded")) if view.embedded else pad_end(view)


def embed_scene(view: View) -> Scene:
    """Return the scene of the grid alone."""
    return Scene([view.grid.box(counts=False)])


def _pad_marks(view: View) -> Marks:
    """Return an outline around the padding of every row that has any."""
    b, first, count = np.unique(view.pads[0], return_index=True, return_counts=True)
    start = view.pads[1][first]  # the first of them is the earliest: pads come time step after time step
    outlines = marks("mark:pads", "mark", view.grid.cell(view.place[b], start), (b,), tone="now")
    return outlines.but(**around(view.grid, view.place[b], start, 1, count))


def _pad_row_detail(view: View) -> tuple[CodeLine, ...]:
    row = _pad_row(view)
    values = [number(value) for value in rounded(row[:LISTED]).tolist()]
    dots = ", …" if len(row) > LISTED else ""
    name = f"embedding.weight[{number(view.pad_id)}]"
    return CodeLine(name, shape(len(row))), CodeLine(f"= [{', '.join(values)}{dots}]")


def _table(view: View) -> Tensor:
    table = view.trace.padded.embedding
    assert table is not None
    return table


def _pad_row(view: View) -> Tensor:
    return _table(view)[int(view.pad_id)]


def _own_row(view: View) -> bool:
    """Return whether the pad's row of the table is not zeros."""
    return bool(_pad_row(view).any())
