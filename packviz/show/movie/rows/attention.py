"""Attention, query by query: the keys that it may read, scores, weights, the output, and the document alone."""

from collections.abc import Iterator

from packviz.compute.row_record import RowsTrace
from packviz.show.movie.layout import Scene
from packviz.show.movie.marks import Frame, Shot, Step, StepSeries, frame
from packviz.show.movie.rows.attention_film import BEATS, film_of, row_tokens
from packviz.show.movie.rows.attention_rows import scene_of, shown_rows
from packviz.show.movie.rows.queries import of_all, of_pads, of_query, of_row, query_lines, query_name
from packviz.show.movie.rows.view import RowsView


def has_attention(run: RowsTrace) -> bool:
    """Return whether the layers are attention."""
    return run.mask is not None


def attention(view: RowsView) -> Iterator[Shot]:
    """Show the keys and values of each row, and then one query after another."""
    scene = None
    for each in shown_rows(view):
        scene = (f"attention:{each.row}", scene_of(view, each)) if each.row else None
        steps = [Step(of_row(view, each.row, each.cells), beats=1, scene=scene, name=f"row{each.row}")]
        for q in range(each.queries):
            detail, name = query_lines(view, each.row, q), query_name(view, each.row, q)
            steps.append(Step(of_query(view, each.row, q), detail=detail, beats=BEATS, scene=scene, name=name))
        if each.pads:
            steps.append(Step(of_pads(view, each.row), beats=BEATS, scene=scene, name=f"pads{each.row}"))
        yield StepSeries(film_of(view, each), steps)
    queries = sum(each.queries for each in shown_rows(view))
    last = {name: group.at(-1) for name, group in film_of(view, shown_rows(view)[-1]).items()}
    yield Step(of_all(view, queries), (last,), scene=scene, name="end")


def attention_scene(view: RowsView) -> Scene:
    """Return the scene of the first row: its cells, the numbers of a head, and the outputs."""
    return scene_of(view, shown_rows(view)[0])


def attention_end(view: RowsView) -> Frame:
    """Return the tokens of the last row: all that the next stage takes over."""
    return frame(row_tokens(view, shown_rows(view)[-1]))
