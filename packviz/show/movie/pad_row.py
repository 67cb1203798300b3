"""What the padding is after the embedding: a row of the table like any other, zeros or not."""

from collections.abc import Iterator

from packviz.show.movie.figures import number, rows_of
from packviz.show.movie.film import Film
from packviz.show.movie.model import Cell, Change, CodeLine
from packviz.show.movie.outlines import outline
from packviz.show.movie.plan import Plan
from packviz.show.movie.program import index, shape

__all__ = ["pad_row"]

LISTED = 4  # numbers of the row that are written out


def pad_row(film: Film, plan: Plan) -> None:
    """Film the padding outlined, with the row that it has; nothing where there is no padding."""
    marks = list(_marks(plan))
    if not marks:
        return
    film.add(*marks)
    shown = (Change(mark.id, shown=True, tone="now") for mark in marks)
    film.step("embed", _caption(plan), index(plan, "embed"), shown, detail=_detail(plan))


def _marks(plan: Plan) -> Iterator[Cell]:
    for b in plan.shown:
        pads = [t for t in range(plan.columns) if not plan.mask[b][t]]
        if pads:
            yield outline(f"mark:pads:{b}", plan.grid, plan.place[b], pads[0], steps=len(pads))


def _detail(plan: Plan) -> tuple[CodeLine, ...]:
    table = plan.trace.padded.embedding
    assert table is not None
    row = table[int(plan.pad_id)]
    values = [number(value or 0.0) for value in rows_of(row.unsqueeze(0))[0][:LISTED]]
    dots = ", …" if len(row) > LISTED else ""
    return (
        CodeLine(f"embedding.weight[{number(plan.pad_id)}]", shape(len(row))),
        CodeLine(f"= [{', '.join(values)}{dots}]"),
    )


def _caption(plan: Plan) -> str:
    table, name = plan.trace.padded.embedding, number(plan.pad_id)
    assert table is not None
    added = "its bias and W_hh h" if plan.module.bias else "W_hh h"
    if bool(table[int(plan.pad_id)].any()):
        return (
            f"Without padding_idx, row {name}, the pad's, is **random like any other** and would go into the cell. "
            f"Zeros would not be nothing either: the cell still adds {added}."
        )
    return (
        f"Row {name}, the pad's, is zeros only because it is **padding_idx**. And a zero vector is not nothing: "
        f"fed to the cell, it would still change h, for the cell adds {added}."
    )
