"""The rows of attention on the screen: what is shown of each, and where.

Three panels: the cells of the row as keys, the numbers of a head for one query, and the outputs.
"""

from dataclasses import dataclass
from itertools import accumulate, pairwise
from math import sqrt

import numpy as np

from packviz.show.movie.layout import Box, Margins, Scene, Strip, above, beside, panel
from packviz.show.movie.once import once
from packviz.show.movie.rows.view import RowsView
from packviz.show.movie.rows.words import width

WIDTH, UNIT = 1.7, 1.8  # units: of a cell of the row at least, and of a number of a query or an output
NUMBERS = 8  # at most so many numbers of a head are shown
NAMED, HEADED = 2.7, 5.6  # units: the names of the lines, and a heading
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
    "difference": "the largest difference between the two",
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


@once
def shown_rows(view: RowsView) -> list[ShownRow]:
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


def wide(view: RowsView) -> float:
    """Return the width of a cell of the row, in units."""
    return width(view, WIDTH)


def strip_of(view: RowsView, each: ShownRow, name: str, lines: int) -> Strip:
    """Return the cells of a row in a panel of so many lines, with a gap at each border."""
    return Strip(name, each.parts, wide(view), float(lines), marks=False)


def scene_of(view: RowsView, each: ShownRow) -> Scene:
    """Return the scene of a row: keys and outputs in columns with the numbers of a head, or all in lines."""
    text = max(1.0, sqrt(each.cells) / 4)  # cells of a long row are smaller than legible text

    def names(of: str, lines: int) -> Box:
        return panel(f"names:{of}", NAMED * text, float(lines), Margins(0.0, 1.0, 0.0, 0.05))

    def numbers(name: str) -> Box:
        across = min(view.trace.config.head_dim, NUMBERS) * UNIT
        return panel(name, across, 1.0, Margins(0.0, 1.0, 0.1, 0.1)).at_least(HEADED * text)

    keys = beside(names("keys", len(KEYS)), strip_of(view, each, "keys", len(KEYS)).box, gap=0.0)
    out = beside(names("out", len(OUT)), strip_of(view, each, "out", len(OUT)).box, gap=0.0)
    head = numbers("query"), numbers("sum")
    columns = beside(above(keys, out, gap=0.5), above(*head, gap=1.0), gap=0.8)
    lines = above(keys, beside(*head, gap=0.7), out, gap=0.2)
    return Scene([columns, lines], [lines, above(keys, *head, out, gap=0.2)])


@once
def cells_of(view: RowsView, each: ShownRow) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the sequence and the place in it of each token shown, and where each cell is."""
    b, t = np.array(view.trace.rows.cells[each.row][: each.cells]).T
    inside = np.concatenate([np.arange(count) for count in each.parts])
    part = np.repeat(np.arange(len(each.parts)), each.parts)
    return b, t, strip_of(view, each, "keys", len(KEYS)).cell(part, inside).x
