"""Where the panels of the two sides stand, how wide they are, and what their headings say."""

from collections.abc import Callable, Iterator

from packviz.inputs.config import DIRECTIONS
from packviz.show.movie.layout import Box, Column, Margins, Place, Scene, above, beside, panel
from packviz.show.movie.once import once
from packviz.show.movie.packing import places, recurrent
from packviz.show.movie.packing.beside.pair import (
    PADDED,
    SIDES,
    STAGE,
    Pair,
    Side,
    state_width,
)
from packviz.text import shape

GAP = 0.35  # units between what enters and h
HAND = (366.0, 430.0)  # pixels of the picture above the code, on a phone
LETTER = 7.0  # pixels of a letter of a heading, at least
LETTER_UNITS = 0.2  # units of such a letter if cells are large
WIDENED = 9  # iterations at most: a wider picture has smaller units, in which its headings are wider


def last_heading(both: Pair) -> str:
    """Return the heading of the final h: which row of h_n it is."""
    return f"{recurrent.final(both.view)} {shape(*both.last[0].shape)}"


def with_outputs(both: Pair) -> bool:
    """Return whether the outputs are shown: in small cells they would be illegible."""
    return not both.view.small


def input_width(both: Pair) -> float:
    """Return the width of what enters h."""
    return both.view.text if both.view.small else places.cell_width(both.view)


def lead_in(both: Pair) -> float:
    """Return how far what enters is to the left of h."""
    return input_width(both) + GAP


def letter(both: Pair) -> float:
    """Return the width of a label: from the 27th sequence on, labels have two letters."""
    return both.view.text * (1.0 if both.view.total[0] <= 26 else 1.5)


def h_lead(both: Pair) -> float:
    """Return the room to the left of h, with its letters."""
    return lead_in(both) + (0.0 if both.view.small else letter(both) + 0.2 * both.view.text)


def inset(both: Pair) -> float:
    """Return the inset of an outline in its cells: more if others are close."""
    return 0.07 if len(both.view.shown) <= 5 else 0.18


def beside_h(both: Pair, y: Column) -> Place:
    """Return the place beside h of the padded side, for its distance from the packed one."""
    return Place(f"{PADDED}h", state_width(both.view) + 0.25 * both.view.text, y)


@once
def heading(both: Pair, side: str, panel: str, *, home: bool = False) -> str:
    """Return the heading of a side's panel: "x" for the input, "h", or "o" for the output; home: unsorted."""
    trace, layer = both.view.trace, both.view.layer
    order = "" if home or both.view.order == sorted(both.view.order) else "sorted "
    if panel == "h":
        return f"h {shape(both.view.total[0], recurrent.watched(both.view).h.shape[1])}"
    if panel == "o":
        half = f", {DIRECTIONS[both.view.direction]}" if recurrent.directions(both.view) == 2 else ""
        part = f"{half} half" if half else ""
        which = part if layer == len(trace.layers) - 1 else f" of layer {layer}{half}"
        return f"{'out' if side == PADDED else 'output'}{which}"
    if layer:
        return f"{side.capitalize()}: output of layer {layer - 1}"
    if side == PADDED:
        return f"Padded: {order}x {shape(*trace.padded.values.shape)}"
    return f"Packed: data {shape(*trace.packed.data.shape)}"


def both_scene(both: Pair) -> Scene:
    """Return the layout of the two sides: side by side or stacked."""
    shapes = ("xho", "xh/o", "xo/h", "x/h/o") if with_outputs(both) else ("xh",)
    wide = [_joined(both, join, side, STAGE) for side in shapes for join in (above, beside)]
    return Scene(wide, [_joined(both, above, side, HAND) for side in shapes])


def result_scene(both: Pair) -> Scene:
    """Return the layout of the results alone: the final states of both sides, and their outputs."""
    shapes = ("h/o", "ho") if with_outputs(both) else ("h",)
    wide = [_joined(both, join, side, STAGE) for side in shapes for join in (beside, above)]
    return Scene(wide, [_joined(both, above, side, HAND) for side in shapes])


def _joined(both: Pair, join: Callable[..., Box], shape: str, stage: tuple[float, float]) -> Box:
    """Return both sides with room for their headings: a letter takes more units in a larger picture."""
    letter = LETTER_UNITS
    for _again in range(WIDENED):
        box = _lined(both, join, shape, letter)
        wider = max(LETTER_UNITS, LETTER / min(stage[0] / box.width, stage[1] / box.height))
        if wider == letter:
            break
        letter = wider
    return box


def _lined(both: Pair, join: Callable[..., Box], shape: str, letter: float) -> Box:
    """Return both sides, each with its panels arranged as the shape says: `/` begins a new line."""
    boxes = []
    for side in both.sides:
        lines = [beside(*_line_of(both, side, line, letter, shape), gap=0.5) for line in shape.split("/")]
        boxes.append(above(*lines, gap=0.25 * both.view.text))
    return join(*boxes, gap=both.view.text * (0.3 if join is above else 1))


def _line_of(both: Pair, side: Side, names: str, unit: float, shape: str) -> Iterator[Box]:
    """Yield the panels of a line, each wide enough that its heading ends before the next one begins.

    shape: all lines of a side; without its input, h is headed by the name of the side.
    """
    last, letters_only = last_heading(both), letter(both) + 0.2 * both.view.text
    x, rows, lead = both.view.text, float(len(both.view.shown)), h_lead(both) if "x" in shape else letters_only
    for name, following in zip(names, f"{names[1:]} ", strict=True):
        if name == "h":
            box = panel(f"{side.name}h", state_width(both.view), rows, Margins(lead, 1.65 * x, 2.7 * x, 0.1))
        else:
            grid = side.x if name == "x" else side.out
            width = max(grid.size[0], both.sides[0].out.size[0]) if name == "o" else grid.size[0]
            box = panel(grid.name, width, rows, Margins(letters_only, 1.65 * x, 0.2, 0.1))
        later = (last if "x" in shape else f"Padded: {last}") if name == "h" else ""
        letters = 1 + max(map(len, [*(heading(both, either, name) for either in SIDES), later]))
        start, end = (lead if at == "h" else 0.0 for at in (name, following))
        yield box.at_least(start + letters * unit - end)
