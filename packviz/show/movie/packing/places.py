"""The places of the grids and strips that several stages share, and the letters of the sequences."""

from dataclasses import replace
from math import sqrt

import numpy as np

from packviz.show.movie.layout import Box, Grid, Strip, above, beside
from packviz.show.movie.once import once
from packviz.show.movie.packing import inputs, packed_rows, recurrent, token_table
from packviz.show.movie.packing.view import View
from packviz.text import sequence_label

WORDY = 40  # up to this many tokens, packed rows have room for their words
STRIP_WIDTH = 1.6  # units: the maximum width of such a row
MARKED = 64  # up to this many tokens, every packed row has its address below it
LETTERED = 2.5, 2.0  # units: width and height of a packed row of many sequences that has room for its letters,
SHORT = 400  # up to this many tokens
HALVES = 1.5, 2.4  # units: the least and the largest width of a cell with the numbers of both directions,
ACROSS = 8.8  # the width of their grid, if its cells have more than the least,
TURNED = 5.7  # and of a turned one, which is between two panels
TALL = 1.5  # units of a packed row: the letter of its sequence is above its token
LEVEL = 54  # units of the widest row with lines of text no higher than beside one that scrolls
WHOLE = 10  # letters of a word that is never cut
REFUSAL = 3.2  # units below the grid for torch's message when it refuses


@once
def letters(view: View) -> np.ndarray:
    """Return the letters of the sequences shown, in the original order."""
    return np.array([sequence_label(b) for b in view.shown.tolist()], dtype=object)


@once
def letters_ranked(view: View) -> np.ndarray:
    """Return their letters in sorted order."""
    found: np.ndarray = letters(view)[view.place[view.ranked]]
    return found


@once
def ranks(view: View) -> np.ndarray:
    """Return the rows of the sequences shown, in sorted order."""
    return np.arange(len(view.ranked))


@once
def time_steps(view: View) -> np.ndarray:
    """Return the time steps shown."""
    return np.arange(view.columns)


@once
def out(view: View) -> Strip:
    """Return the packed output, aligned with the packed rows."""
    width, height = (1.0, 1.0) if view.small else (strip(view).width, TALL)
    return replace(strip(view), name="out", width=width, height=height, marks=False)


@once
def unpacked(view: View) -> Grid:
    """Return the unpacked output."""
    columns, width = min(packed_rows.width_out(view), view.window.steps), cell_width(view)
    if recurrent.directions(view) == 2:
        (least, most), share = HALVES, TURNED / len(view.shown) if view.transposed else ACROSS / columns
        width = min(width, least) if view.small else max(least, min(most, share))
    return Grid("u", len(view.shown), columns, width, view.transposed, view.text)


@once
def grid(view: View) -> Grid:
    """Return the padded grid."""
    below = REFUSAL if inputs.refused(view) else 0.0
    return Grid("x", len(view.shown), view.columns, cell_width(view), view.transposed, view.text, below)


@once
def strip(view: View) -> Strip:
    """Return the packed rows."""
    width = min(cell_width(view), STRIP_WIDTH) if inputs.count(view) <= WORDY and not view.small else 1.0
    marked = not view.small and inputs.count(view) <= MARKED
    lettered = view.small and inputs.count(view) <= SHORT
    width, height = LETTERED if lettered else (width, TALL if marked else 1.0)
    return Strip("strip", [len(rows) for rows in packed_rows.live(view)], width, height, marks=marked, text=view.text)


def scrolled(grid: Box, cell: Box, strips: Box, gap: float) -> list[Box]:
    """Return the layouts of a run for a picture that scrolls: the strips come last, or not at all."""
    both = above(grid, cell, gap=0.4), beside(grid, cell, gap=gap)
    return [*(beside(each, strips, gap=gap) for each in both), *both]


@once
def cell_width(view: View) -> float:
    """Return the width of a token: words need room, and many rows make flat cells."""
    if view.small:
        return max(1.0, min(6.0, 0.9 * len(view.shown) / view.columns))
    room = 1.5 * len(view.shown) / view.columns  # wide pictures have room for wide cells
    return min(max(2.4, min(room, 4.0)), word_width(view))


@once
def word_width(view: View) -> float:
    """Return the width of the longest token that has room."""
    return max(1.0, 0.27 * longest_word(view) + 0.25)


@once
def longest_word(view: View) -> int:
    """Return the letters of the longest token. One that is much longer than the others does not count."""
    rows = [view.trace.texts[b] for b in view.shown] if view.trace.texts else []
    lengths = sorted(len(text) for row in rows for text in row) or [1]
    limit = max(WHOLE, 2 * lengths[len(lengths) // 2])  # as in player/neighbours.js
    return max(length for length in lengths if length <= limit)


@once
def line_height(view: View) -> float:
    """Return the room for a line of text, in units: cells may be smaller than legible text."""
    wide = view.columns * cell_width(view)
    if view.trace.texts and not view.small:
        wide = min(wide, LEVEL)  # it scrolls, so its cells are not smaller
    return max(1.0, len(view.shown) / 15, wide / 34, sqrt(len(token_table.sequence(view))) / 7)
