"""Where the recurrent cell, its states and its output stand, and the marks of a state."""

from typing import Any

import numpy as np

from packviz.show.movie.layout import Box, Margins, panel
from packviz.show.movie.marks import Marks, Place, marks
from packviz.show.movie.view import View

UNIT = 1.8  # width of a number of a state
INPUT_GAP = 0.4  # between what enters the cell and its gates


def gate_names(view: View) -> str:
    """Return the letters of what is shown inside the cell: its gates, and an LSTM's c; none where it is too small."""
    return "" if view.small else "".join((*view.gates, *view.kind.states[1:]))


def cell_box(view: View) -> Box:
    """Return the room of the cell: what enters, and its gates."""
    x, width = view.text, input_width(view) + INPUT_GAP + len(gate_names(view))
    return panel("cell", width, float(len(view.by_rank)), Margins(1.3 * x, 1.65 * x, 0.2 * x, 0.3))


def state_box(view: View, name: str, unit: float = UNIT) -> Box:
    """Return the room of h, or of h_n with its letters; unit is the width of a number."""
    x, left = view.text, 1.2 * view.text if name == "hn" else 0.1
    return panel(name, state_width(view, unit), float(len(view.by_rank)), Margins(left, 1.65 * x, 0.2 * x, 0.3))


def input_width(view: View) -> float:
    """Return the width of what enters the cell."""
    return view.text if view.small else view.strip.width


def state_width(view: View, unit: float) -> float:
    """Return the width of a row of h; unit is the width of a number."""
    return view.units * unit if not view.small else max(8.0, len(view.by_rank) / 4)


def heading(panel: str, place: Place, text: str, high: float = 1.0) -> Marks:
    """Return the heading of a panel; high: units of its line."""
    return marks(f"title:{panel}", "title", place, h=high, text=text)


def arrow(view: View) -> str:
    """Return an arrow in the watched direction, where there are two."""
    return f" {'←' if view.direction else '→'}" if view.directions == 2 else ""


def state(view: View, name: str, row: Any, unit: float) -> Marks:
    """Return the rows of h or h_n in sorted order, not filled in yet: a number a unit, or stripes."""
    b = view.ranked
    if view.small:
        return marks(name, "vector", Place(name, 0.0, row), (b,), seq=b, w=state_width(view, unit))
    return units(view, name, name, row, unit, says=f"{'h_n' if name == 'hn' else 'h'}, unit {{k}}")


def units(view: View, name: str, where: str, row: Any, width: float, says: str) -> Marks:
    """Return a cell for every unit of every sequence in sorted order, in a panel."""
    b, count = view.ranked, view.units
    rows, unit = np.repeat(b, count), np.tile(np.arange(count), len(b))
    place = Place(where, unit * width, np.repeat(row, count))
    return marks(name, "value", place, (rows, unit), seq=rows, w=width, says=says)


def filled(group: Marks, values: np.ndarray) -> Marks:
    """Return the cells of units with these numbers in them, (B, units); one that is not finite is written out."""
    known = np.isfinite(values)
    text = "" if bool(known.all()) else np.where(known, "", "nan").ravel()
    return group.but(v=np.rint(1e4 * np.where(known, values, 0.0)).ravel(), text=text)
