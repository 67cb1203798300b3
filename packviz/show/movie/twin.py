"""Padded beside packed: where both sides stand, and what stands above them."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial

from packviz.show.movie.cast import UNIT
from packviz.show.movie.layout import Box, Margins, above, beside, panel, scene
from packviz.show.movie.model import Place, Scene
from packviz.show.movie.places import Grid
from packviz.show.movie.program import shape
from packviz.show.movie.twin_figures import PADDED, SIDES, TwinFigures

__all__ = ["UNPACKED", "Twin"]

UNPACKED = "unpacked output"  # the heading of the packed output in the end
OUTPUT_WIDTH = 1.2  # units of a state in the output, at most
GAP = 0.35  # units between what enters and h
STAGE = (690.0, 336.0)  # pixels of the picture beside the code
HAND = (366.0, 430.0)  # pixels of the picture above the code
LINE = 14  # pixels of a line of text
LETTER = 7.0  # pixels of a letter of a heading, at least
LETTER_UNITS = 0.2  # units of such a letter where cells are large
WIDENED = 8  # times: a wider picture has smaller units, in which its headings are wider


@dataclass(frozen=True)
class Twin(TwinFigures):
    """A trace beside the same module over the padded grid, in places; time goes across, whatever batch_first says."""

    @property
    def with_outputs(self) -> bool:
        """Whether the outputs are shown too: not where there would be no room to read them."""
        return not self.small

    @cached_property
    def text(self) -> float:
        """Room for a line of text, in units: there are two of everything, so cells are smaller than elsewhere."""
        rows, wide = len(self.shown), self.columns * self.cell_width + self.state_width + 2
        out = self.columns * self.output_width if self.with_outputs else 0
        stacked = max(_line(wide + out, 7, 0), _line(2 * rows, 4, 1))
        return max(1.0, min(stacked, max(_line(2 * wide, 13, 0), _line(rows * (2 if out else 1), 4, 1))))

    @property
    def output_width(self) -> float:
        """Width of a state in the output."""
        return min(self.cell_width, OUTPUT_WIDTH)

    @property
    def state_width(self) -> float:
        """Width of a row of h."""
        return max(8.0, len(self.shown) / 4) if self.small else self.units * UNIT

    @property
    def input_width(self) -> float:
        """Width of what enters h."""
        return self.text if self.small else min(self.cell_width, 1.6)

    @property
    def lead_in(self) -> float:
        """Units from the left edge of what enters to h."""
        return self.input_width + GAP

    @property
    def letter(self) -> float:
        """Room for the letters of a sequence: from the 27th on there are two of them."""
        return self.text * (1.0 if self.total[0] <= 26 else 1.5)

    def letter_at(self, panel: str, row: int) -> Place:
        """Return where the letter of a row stands: before its first cell, or before what enters h."""
        lead = self.lead_in if panel.endswith("h") else 0.0
        return Place(panel, -self.letter - 0.1 * self.text - lead, row)

    def unit_at(self, side: str, row: int, unit: int) -> Place:
        """Return where a unit of h stands in a row of its side."""
        return Place(f"{side}h", unit * self.state_width / self.units, row)

    @property
    def verdict(self) -> tuple[float, float]:
        """Start and width of what is judged in a row of the padded side: h, or beside small cells their distance."""
        return (self.state_width + 0.25 * self.text, 1.6 * self.text) if self.small else (0.0, self.state_width)

    @property
    def inset(self) -> float:
        """Units by which an outline lies within its cells: more where they are small, and close to others."""
        return 0.07 if len(self.shown) <= 5 else 0.18

    def grid_of(self, side: str) -> Grid:
        """Return the grid x of a side."""
        return replace(self.grid, name=f"{side}x", transposed=False, below=0.0)

    def out_of(self, side: str) -> Grid:
        """Return the grid of a side's outputs; the unpacked one is as wide as pad_packed_sequence makes it."""
        columns = self.columns if side == PADDED else self.unpacked.columns
        return Grid(f"{side}o", len(self.shown), columns, self.output_width, text=self.text)

    def heading(self, side: str, panel: str) -> str:
        """Return what stands above a panel of a side: "x" what is read, "h", or "o" the output."""
        if panel == "h":
            return f"h {shape(self.total[0], self.watched.h.shape[1])}"
        if panel == "o":
            return f"{'out' if side == PADDED else 'output'}{self._which}"
        if self.layer:
            return f"{side.capitalize()}: output of layer {self.layer - 1}"
        if side == PADDED:
            return f"Padded: x {shape(*self.trace.padded.values.shape)}"
        return f"Packed: data {shape(*self.trace.packed.data.shape)}"

    @property
    def last_heading(self) -> str:
        """What stands above h in the end: which row of h_n it is."""
        return f"h_n[{self.layer * self.directions + self.direction}] {shape(*self.last[0].shape)}"

    @property
    def _which(self) -> str:
        """Name the part of the output that is watched, where it is not all of it."""
        half = f", {('forward', 'backward')[self.direction]}" if self.directions == 2 else ""
        if self.layer < len(self.trace.layers) - 1:
            return f" of layer {self.layer}{half}"
        return f"{half} half" if half else ""

    @property
    def h_lead(self) -> float:
        """Units from the left edge of h's panel to h: its letters, and what enters."""
        return self.lead_in + (0.0 if self.small else self.letter + 0.2 * self.text)

    def scene(self) -> Scene:
        """Return where the two sides stand: beside or above one another."""
        shapes = list(self._side_shapes())
        wide = [partial(_joined, self, join, side, STAGE) for side in shapes for join in (above, beside)]
        return scene(wide, [partial(_joined, self, above, side, HAND) for side in shapes])

    def _side_shapes(self) -> Iterator[str]:
        yield from ("xh",) if not self.with_outputs else ("xho", "xh/o", "xo/h", "x/h/o")


def _line(units: float, lines: float, axis: int) -> float:
    """Return the units of a line of text in a picture so many units and so many lines wide, or high."""
    return LINE * units / (STAGE[axis] - LINE * lines)


def _joined(twin: Twin, join: object, shape: str, stage: tuple[float, float], _: float) -> Box:
    """Return both sides with room for their headings: a letter takes more units where the picture is larger."""
    box = _lined(twin, join, shape, LETTER_UNITS)
    for _again in range(WIDENED):
        unit = min(stage[0] / box.width, stage[1] / box.height)
        box = _lined(twin, join, shape, max(LETTER_UNITS, LETTER / unit))
    return box


def _lined(twin: Twin, join: object, shape: str, letter: float) -> Box:
    """Return both sides, each with its panels set as the shape says: `/` begins a new line."""
    boxes = []
    for side in SIDES:
        lines = [beside(*_line_of(twin, side, line, letter), gap=0.5) for line in shape.split("/")]
        boxes.append(above(*lines, gap=0.25 * twin.text))
    return above(*boxes, gap=0.3 * twin.text) if join is above else beside(*boxes, gap=twin.text)


def _line_of(twin: Twin, side: str, names: str, letter: float) -> Iterator[Box]:
    """Yield the panels of a line, each so wide that its heading ends before the next one begins."""
    for name, following in zip(names, f"{names[1:]} ", strict=True):
        box = _panel(twin, side, name)
        later = {"o": UNPACKED, "h": twin.last_heading}.get(name, "")
        letters = 1 + max(map(len, [*(twin.heading(either, name) for either in SIDES), later]))
        start, end = (twin.h_lead if at == "h" else 0.0 for at in (name, following))
        yield replace(box, width=max(box.width, start + letters * letter - end))


def _panel(twin: Twin, side: str, name: str) -> Box:
    x = twin.text
    if name == "h":
        return panel(f"{side}h", twin.state_width, float(len(twin.shown)), Margins(twin.h_lead, 1.65 * x, 3.2 * x, 0.1))
    grid = twin.grid_of(side) if name == "x" else twin.out_of(side)
    width = max(grid.size[0], twin.out_of(PADDED).size[0]) if name == "o" else grid.size[0]
    return panel(grid.name, width, grid.size[1], Margins(twin.letter + 0.2 * x, 1.65 * x, 0.2, 0.1))
