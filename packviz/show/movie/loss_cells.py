"""Pictures of losses: the loss of each token in the colour of its weight in a mean, padded, packed and in rows."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import sqrt
from typing import Any

import numpy as np

from packviz.facts.token_losses import Order, Over, TokenLosses
from packviz.show.movie.layout import Box, Margins, Place, Scene, Strip, above, beside, panel
from packviz.show.movie.marks import Frame, Marks, frame, marks, title
from packviz.show.movie.once import once
from packviz.show.movie.written import scaled
from packviz.text import counted, sequence_label

WIDTH, GAP, APART = 1.8, 0.3, 0.5  # units: of a cell, between two documents of a row, between two micro-batches
WIDE = 2.5  # units: of a cell of a padded grid of few columns, which has room for words
STACKED = 5  # up to this many lines of the padded grid, each token has its loss below it; else it has it on top
GRIDS: tuple[Order, ...] = ("padded", "masked")


@dataclass(frozen=True, eq=False)
class LossCells:
    """What is shown of the losses of a batch; the cell (d, t) is token t of document d.

    found    the losses, and what they weigh
    tokens   the marks of the tokens shown; d, t: (M,) the cell of each
    shown    the documents shown, in the order of the padded grid; columns: how many tokens of each
    rank     (D,): the place of each document in packed order
    pad      the text of a pad
    """

    found: TokenLosses
    tokens: Marks
    d: np.ndarray
    t: np.ndarray
    shown: np.ndarray
    columns: int
    rank: np.ndarray
    pad: str = "0"
    made: dict[object, Any] = field(default_factory=dict)

    @property
    def sequence(self) -> np.ndarray:
        """Return (D,): the sequence of each document."""
        return np.array([b for b, _, _ in self.found.documents])

    @property
    def lengths(self) -> np.ndarray:
        """Return (D,): how many tokens of each document are shown."""
        return np.array([min(stop - start, self.columns) for _, start, stop in self.found.documents])

    @property
    def stacked(self) -> bool:
        """Return whether each token of the padded grid has its loss below it."""
        return len(self.shown) <= STACKED

    def width(self, order: Order) -> float:
        """Return the width of a cell."""
        return WIDE if order in GRIDS and self.columns <= STACKED else WIDTH

    def line(self, d: np.ndarray, size: int = 0) -> np.ndarray:
        """Return how far down documents of the padded grid are; size: of the micro-batches that stand apart, or 0."""
        at = _ordered(self, "line")[d]
        down: np.ndarray = at * (2.3 if self.stacked else 1.1) + (at // size * APART if size else 0.0)
        return down

    def place(self, order: Order, d: np.ndarray, t: np.ndarray, line: float, size: int = 0) -> Place:
        """Return the places of cells in an order; line: 0 for tokens, 1 for what is below them."""
        if order in GRIDS:
            return Place("padded", t * self.width(order), self.line(d, size) + line * self.stacked)
        t = np.minimum(t, self.lengths[d] - 1)  # a pad stands in no other order
        if order == "packed":
            return _strip(self).cell(t, _ordered(self, "rank")[d]).moved(0.0, line)
        row, begins = _begins(self)
        return Place(row[d], begins[d] + t * WIDTH, line)


@once
def _ordered(cells: LossCells, by: str) -> np.ndarray:
    """Return (D,): the place of each document among those shown, in packed order if by is "rank"."""
    at, shown = np.zeros(len(cells.rank), int), cells.shown
    at[shown[np.argsort(cells.rank[shown])] if by == "rank" else shown] = np.arange(len(shown))
    return at


@once
def _strip(cells: LossCells) -> Strip:
    """Return the packed cells, with a gap between time steps."""
    counts = [int((cells.lengths[cells.shown] > t).sum()) for t in range(cells.lengths[cells.shown].max())]
    return Strip("packed", counts, WIDTH, 2.0, gap=GAP, marks=False, text=0.0)


@once
def _rows(cells: LossCells) -> Mapping[int, tuple[Sequence[int], Strip]]:
    """Return the documents shown of each row, in their order, and their cells, with a gap between documents."""
    held: dict[int, list[int]] = {}
    for d in sorted(cells.shown.tolist(), key=lambda d: cells.found.places[d]):
        held.setdefault(cells.found.places[d][0], []).append(d)
    return {
        r: (documents, Strip(f"row:{r}", cells.lengths[documents].tolist(), WIDTH, 2.0, gap=GAP, marks=False, text=0.0))
        for r, documents in held.items()
    }


@once
def _begins(cells: LossCells) -> tuple[np.ndarray, np.ndarray]:
    """Return (D,) each: the panel of the row of each document, and where the document begins in it."""
    panels, begins = np.full(len(cells.rank), "", dtype=object), np.zeros(len(cells.rank))
    for documents, strip in _rows(cells).values():
        panels[documents], begins[documents] = strip.name, strip.cell(np.arange(len(documents)), 0).x
    return panels, begins


def losses_scene(cells: LossCells, order: Order, size: int = 0) -> Scene:
    """Return the scene of an order: a grid, a strip, or rows below or beside each other."""
    heading = panel("heading", 1.0, 1.0, Margins())
    if order in GRIDS:
        high = float(cells.line(cells.shown[-1:], size)[0]) + (2.0 if cells.stacked else 1.0)
        beside_it = 3.0 * _text(cells) if size else 0.1
        grid = panel("padded", cells.columns * cells.width(order), high, Margins(1.2, 0.0, beside_it))
        return Scene([above(heading, grid, gap=0.3)])
    if order == "packed":
        return Scene([above(heading, _strip(cells).box, gap=0.3)])
    broken, whole = (
        [_named(cells, r, strip, breaks) for r, (_, strip) in _rows(cells).items()] for breaks in (True, False)
    )
    ways = [above(heading, *broken, gap=0.3)]
    for across in range(2, min(len(whole) - 1, 4) + 1):  # the rest of a broken row would follow the row beside it
        lines = [beside(*whole[i : i + across], gap=0.8) for i in range(0, len(whole), across)]
        ways.append(above(heading, *lines, gap=0.3))
    return Scene(ways, ways[:2])


def _named(cells: LossCells, r: int, strip: Strip, breaks: bool) -> Box:
    """Return the box of a row, on several lines or on one, with room for its name if there are several rows."""
    row = strip.box if breaks else panel(strip.name, strip.length, strip.height, Margins(0.1, 0.05, 0.1, 0.05))
    if len(_rows(cells)) == 1:
        return row
    return beside(panel(f"name:{r}", 1.4 * _text(cells), 2.0, Margins()), row, gap=0.0)


def _text(cells: LossCells) -> float:
    """Return the room for a line of text, in units: cells of many tokens are smaller than legible text."""
    return max(1.0, sqrt(cells.columns * len(cells.shown)) / 7)


def losses_frame(
    cells: LossCells, order: Order, heading: str, *others: Marks, over: Over | None = None, size: int = 0
) -> Frame:
    """Return the tokens in an order, each with its loss in the colour of its weight, or with other marks in its place.

    over: the mean; without one there are no losses. size: the documents of a micro-batch, or 0.
    """
    found, grid = cells.found, order in GRIDS
    d, t = (each.ravel() for each in np.meshgrid(cells.shown, np.arange(cells.columns), indexing="ij"))
    labelled = found.labelled[order].numpy() & (over is not None)
    covered = labelled & (grid and not cells.stacked)  # the cells with a loss on top
    look: dict[str, Any] = {"seq": cells.sequence[d], "w": cells.width(order)}
    stands, pad = grid | (t < cells.lengths[d]), ~found.real.numpy()[d, t] & ~covered[d, t]
    standing = cells.tokens.shown & (grid | (cells.t < cells.lengths[cells.d])) & ~covered[cells.d, cells.t]
    loss: dict[str, Any] = {
        "v": scaled(found.weights(order, over or "tokens", size or 1).numpy()[d, t]),
        "sub": _written(found.losses[order].double().numpy()[d, t]),
        "scale": "weight",
        "says": "its weight",
        "shown": stands & labelled[d, t],
    }
    return frame(
        title(Place("heading", 0.0, 0.0), heading),
        *_edges(cells, order, over, size),
        marks("filler", "pad", cells.place(order, d, t, 0.0, size), d, t, text=cells.pad, shown=stands & pad, **look),
        cells.tokens.but(cells.place(order, cells.d, cells.t, 0.0, size), w=cells.width(order), shown=standing),
        *others,
        marks("loss", "value", cells.place(order, d, t, 1.0, size), d, t, **look, **loss),
    )


def _written(losses: np.ndarray) -> np.ndarray:
    """Return losses with two decimals, large ones with one."""
    return np.array([f"{loss:.2f}" if loss < 10 else f"{loss:.1f}" for loss in losses.tolist()], dtype=object)


def _edges(cells: LossCells, order: Order, over: Over | None, size: int) -> Iterator[Marks]:
    """Yield the letters of the lines of the grid, how many tokens each micro-batch counts, and the names of rows."""
    d = cells.shown
    if order in GRIDS:
        names = np.array([sequence_label(b) for b in cells.sequence[d].tolist()], dtype=object)
        at = Place("padded", -1.1, cells.line(d, size))
        yield marks("letter", "label", at, d, seq=cells.sequence[d], text=names)
        if over is not None and cells.stacked:
            named: dict[str, Any] = {"text": "loss", "says": "!the loss of each label, in the colour of its weight"}
            yield marks("losses", "axis", at.moved(0.0, 1.0), d, owned=False, **named)
    if size and over is not None:
        first = d[::size]
        counts = cells.found.counts(order, "micro_batches", size).tolist()[: len(first)]
        texts = np.array([counted(count, "label") for count in counts], dtype=object)
        at = Place("padded", cells.columns * cells.width(order) + 0.3, cells.line(first, size))
        says = "!that this micro-batch counts"
        yield marks("batch", "note", at, np.arange(len(first)), owned=False, text=texts, says=says)
    if order == "rows" and len(_rows(cells)) > 1:
        for r in _rows(cells):
            yield marks(f"name:{r}", "note", Place(f"name:{r}", 0.0, 0.0), text=f"row {r}", says=f"!row {r}")
            if over is not None:
                named = {"text": "loss", "says": f"!the losses of row {r}, in the colours of their weights"}
                yield marks(f"losses:{r}", "note", Place(f"name:{r}", 0.0, 1.0), **named)
