"""One row on its way through a layer: what the stages run and leak share."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor

from packviz.compute.fill import Piece
from packviz.compute.row_record import RowsTrace
from packviz.facts.row_leaks import Leak, fullest, leak_in
from packviz.inputs.cell_kinds import CELL_KINDS
from packviz.show.movie.format import Role, Tone
from packviz.show.movie.layout import Box, Column, Margins, Place, Strip, beside, panel
from packviz.show.movie.marks import Frame, Marks, frame, marks, title
from packviz.show.movie.once import once
from packviz.show.movie.rows.two import token_marks
from packviz.show.movie.rows.view import RowsView
from packviz.show.movie.rows.words import say, width
from packviz.show.movie.written import scaled
from packviz.text import two_digits

UNITS = 16  # of a wide layer, at most as many numbers of an output are shown
NAMES, LONG = 3.0, 3.6  # units beside the row, for the names of its lines, the second with the state before
_NAMED = {"before": "state before", "output": "in the row"}
RECURRENT = tuple(CELL_KINDS)
_LINES = {"token": 1.0, "before": 0.75, "output": 1.1, "alone": 1.1, "difference": 0.85}  # their heights, in units
_GAP = 0.2
_LARGE = 1000


@dataclass(frozen=True, eq=False)
class Through:
    """The row with the most documents shown, and where its tokens stand.

    run, row  of which it is
    tokens   (n,): the tokens shown, at most `steps`, as numbers of the view, in the order of their cells
    cells    (n,): their cells in the row
    owner    (n,): the number of each one's document in the row
    strip    the cells, with a gap at each border
    """

    run: RowsTrace
    row: int
    tokens: np.ndarray
    cells: np.ndarray
    owner: np.ndarray
    strip: Strip

    @cached_property
    def leak(self) -> Leak:
        """Return what the probes show about it."""
        return leak_in(self.run, self.row, int(self.cells[-1]) + 1)

    @cached_property
    def documents(self) -> tuple[np.ndarray, np.ndarray]:
        """Return for each token shown the number of its document among those shown, and its place among its tokens."""
        _, first, d = np.unique(self.owner, return_index=True, return_inverse=True)
        return d, np.arange(len(d)) - first[d]

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """Return the documents of the row: sequence, start and stop of each."""
        return self.run.rows.rows[self.row]

    def sequence(self, cell: int) -> int:
        """Return the sequence whose token stands in a cell of the row."""
        return self.pieces[int(self.leak.owner[cell])][0]

    def cell(self, name: str, lines: dict[str, float]) -> Place:
        """Return the places of all tokens in a line."""
        return self.strip.cell(*self.documents).moved(0.0, lines[name])


def shown_row(view: RowsView) -> int:
    """Return the number of the row that is shown."""
    return fullest(view.trace, view.sequences, view.steps)


@once
def through(view: RowsView) -> Through:
    """Return the row that is shown, and where its tokens stand."""
    row = shown_row(view)
    tokens = np.flatnonzero(view.row == row)
    tokens = tokens[np.argsort(view.column[tokens])][: view.steps]
    owner = view.trace.document_ids[row].numpy()[view.column[tokens]]
    counts = np.unique(owner, return_counts=True)[1].tolist()
    strip = Strip("through", counts, width(view, 1.6), marks=False, headed=False)
    return Through(view.trace, row, tokens, view.column[tokens], owner, strip)


def shown_part(view: RowsView) -> str:
    """Return which cells of the row are shown, in words; nothing if all its tokens are."""
    row, C = through(view), view.trace.rows.max_length
    return "" if len(row.cells) == len(row.leak.owner) else f" {say('run.part', cells=len(row.cells), C=C)}"


def lines(*, states: bool) -> dict[str, float]:
    """Return how far down each line begins, by its name. states: whether the state before each token is shown."""
    found, y = dict[str, float](), 0.0
    for name, height in _LINES.items():
        if name != "before" or states:
            found[name] = y
            y += height + _GAP
    return found


def row_box(view: RowsView, *, states: bool) -> Box:
    """Return the box of the row, with the names of its lines on the left."""
    height = lines(states=states)["difference"] + _LINES["difference"]
    strip = replace(through(view).strip, height=height)
    names = panel("names:through", LONG if states else NAMES, height, Margins(0.1, strip.text, 0.0, 0.05))
    return beside(names, strip.box, gap=0.1)


@once
def stripes(view: RowsView, name: str, layer: int) -> int:
    """Return where the numbers of all cells of a line begin: of the outputs in the row, alone, or the state before."""
    found = through(view).leak
    n = len(found.owner)
    output: Tensor = view.trace.layers[layer].output[found.row, :n]
    if name == "before":
        output = torch.cat([torch.zeros_like(output[:1]), output[:-1]])
        if view.trace.config.isolate:
            output = output.masked_fill(starts(found)[:, None], 0.0)
    return view.stripes((found.alone[layer] if name == "alone" else output)[:, :UNITS])


def starts(found: Leak) -> Tensor:
    """Return (n,) bool: the first token of each document."""
    return torch.diff(found.owner, prepend=torch.tensor([-1], device="cpu")) != 0


def at_row(
    view: RowsView,
    layer: int,
    *,
    ran: Any = True,
    alone: Any = True,
    compared: Any = True,
    before: Any = None,
    read: Any = False,
    wrong: Any = False,
) -> Frame:
    """Return the row. Each of the others says for which tokens a line is shown, or which are outlined.

    before: None without the line of the states. read: the tokens that a window covers. wrong: those of these that
    belong to another document.
    """
    row, places, width = through(view), lines(states=before is not None), through(view).strip.width
    b, t, found = view.b[row.tokens], view.t[row.tokens], row.leak
    difference, differs = found.difference[layer].numpy()[row.cells], found.differs[layer].numpy()[row.cells]
    vectors: list[tuple[str, Role, Column]] = [("output", "output", ran), ("alone", "output", alone)]
    vectors += [] if before is None else [("before", "vector", before)]
    return frame(
        _heading(view, layer),
        _names(places),
        row_tokens(view),
        *(
            marks(
                f"row:{name}", role, row.cell(name, places), b, t, shown=shown, w=width, h=_LINES[name],
                vec=stripes(view, name, layer) + row.cells,
            )
            for name, role, shown in vectors
        ),
        marks(
            "apart", "value", row.cell("difference", places), b, t, w=width, h=_LINES["difference"], shown=compared,
            v=scaled(difference), text=_written(difference, differs), says="difference from alone",
        ),
        marks("mark:read", "mark", row.cell("token", places), b, t, w=width, shown=read, tone=_tones(wrong, "now")),
        marks(
            "mark:apart", "mark", row.cell("difference", places), b, t, w=width, h=_LINES["difference"],
            shown=compared & differs, tone="wrong",
        ),
    )  # fmt: skip


def _heading(view: RowsView, layer: int) -> Marks:
    """Return which row is shown, and which layer."""
    row, run = through(view), view.trace
    which = f"row {row.row} of {len(run.rows.rows)}: " if len(run.rows.rows) > 1 else ""
    kind = run.config.layer.upper() if run.config.layer in RECURRENT else run.config.layer
    number = f", layer {layer}" if len(run.layers) > 1 else ""
    return title(Place("names:through", 0.0, -row.strip.text), f"{which}{kind}{number}")


def _names(places: dict[str, float]) -> Marks:
    names = np.array([_NAMED.get(name, name) for name in _LINES], dtype=object)
    tops = np.array([places.get(name, 0.0) + 0.5 * (height - 1.0) for name, height in _LINES.items()])
    shown = np.array([name in places for name in _LINES])
    look: dict[str, Any] = {"text": names, "w": NAMES, "shown": shown, "says": "!"}
    return marks("line", "note", Place("names:through", 0.0, tops), np.arange(len(tops)), owned=False, **look)


def row_tokens(view: RowsView) -> Marks:
    """Return all tokens of the view; those of other rows are hidden."""
    row, x, shown = through(view), np.zeros(len(view.b)), np.zeros(len(view.b), bool)
    x[row.tokens], shown[row.tokens] = row.cell("token", {"token": 0.0}).x, True
    return token_marks(view, Place("through", x, 0.0), shown).but(w=row.strip.width)


def _tones(wrong: Any, other: Tone) -> Any:
    return np.where(np.asarray(wrong), "wrong", other) if np.ndim(wrong) else other


def _written(difference: np.ndarray, differs: np.ndarray) -> np.ndarray:
    """Return what is written in place of a number: 0 if it is exactly 0, "≈ 0" if it is rounding, and a large one."""
    words = np.where(difference == 0, "0", np.where(differs, "", "≈ 0")).astype(object)
    large = differs & np.isfinite(difference) & (difference >= _LARGE)  # two decimals more would not fit into the cell
    words[large] = [two_digits(float(each)) for each in difference[large]]
    return words
