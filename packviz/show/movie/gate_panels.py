"""Where the gates stand in a run that goes deep: each a small grid of numbers, live rows by units."""

from collections.abc import Iterator

import numpy as np

from packviz.show.movie.cell import input_width, state_box
from packviz.show.movie.layout import Box, Margins, Scene, above, beside, panel
from packviz.show.movie.view import View

HEADED, STRIP_HEADED = 3.6, 8.8  # numbers beside one another that are as wide as a heading
SCREEN = (670.0, 322.0)  # pixels of the picture at a projector
LEAST = (28.0, 13.0)  # pixels that a number needs there: across and down


def gate_scene(view: View) -> Scene:
    """Return the scene: what enters and the gates in one line, the states before and after in another."""
    whole = _wide(view)
    return Scene(whole if _fit(view, whole) else _narrow(view), [_tall(view)])


def numbers_fit(view: View) -> bool:
    """Return whether every number could be read in a room of 690 by 336 pixels, if need be without the output."""
    return not view.small and (_fit(view, _wide(view)) or _fit(view, _narrow(view)))


def _fit(view: View, boxes: list[Box]) -> bool:
    unit = max(np.minimum(SCREEN[0] / box.width, SCREEN[1] / box.height).max() for box in boxes)
    return bool(unit * number_width(view) >= LEAST[0] and unit >= LEAST[1])


def number_width(view: View) -> float:
    """Return the width of a number in units: many rows make flat cells, with room at their sides."""
    return min(1.7 + 0.2 * max(0, len(view.by_rank) - 3), 2.4)


def _wide(view: View) -> list[Box]:
    return [_lines(view), _strips_above(view), _strips_aside(view)]


def _narrow(view: View) -> list[Box]:
    return [above(view.strip.box, *_work(view), gap=0.3)]


def _lines(view: View) -> Box:
    """The two strips in one line, above the cell."""
    strips = beside(_headed(view, view.strip.box, STRIP_HEADED), view.out.box, gap=view.text)
    return above(strips, *_work(view), gap=0.3)


def _strips_above(view: View) -> Box:
    return above(view.strip.box, view.out.box, *_work(view), gap=0.3)


def _strips_aside(view: View) -> Box:
    strips = above(_headed(view, view.strip.box, STRIP_HEADED), view.out.box, gap=0.4)
    return beside(strips, above(*_work(view), gap=0.3), gap=view.text)


def _work(view: View) -> Iterator[Box]:
    """The lines of the cell, their panels in columns; an RNN has no gates, so one line is enough."""
    if view.gates:
        yield _line(_enters(view), *(_gate(view, gate) for gate in view.gates))
        yield _states(view, _letters(view, 2, input_width(view)))
    else:
        yield _states(view, _enters(view))


def _states(view: View, first: Box) -> Box:
    memory = [_gate(view, "c")] if view.kept == "c" else []
    return beside(_line(first, _grid(view, "was"), *memory, _state(view, "h")), _state(view, "hn"), gap=0.0)


def _tall(view: View) -> Box:
    strip, was, h_n = view.strip.box, _grid(view, "was"), _state(view, "hn")
    gates, h = [_gate(view, gate) for gate in view.gates], _state(view, "h")
    if not gates:
        return above(strip, _line(_enters(view), was), _line(_letters(view, 2), h, h_n), gap=0.3)
    first, second = _line(_enters(view), *gates[:2]), _line(_letters(view, 1), *gates[2:])
    if view.kept == "c":
        memory = _line(_letters(view, 2), was, _gate(view, "c"))
        return above(strip, first, second, memory, _line(_letters(view, 3), h, h_n), gap=0.3)
    return above(strip, first, _line(second, h_n), _line(_letters(view, 2), was, h), gap=0.3)


def _line(*boxes: Box) -> Box:
    return beside(*boxes, gap=0.9)


def _enters(view: View) -> Box:
    return _rows(view, "cell", input_width(view))


def _letters(view: View, line: int, width: float = 0.0) -> Box:
    """The letters of the rows, before a line of panels that does not begin with what enters."""
    return _rows(view, f"names:{line}", width)


def _rows(view: View, name: str, width: float) -> Box:
    x = view.text
    return panel(name, width, float(len(view.by_rank)), Margins(1.2 * x, 1.65 * x, 0.0, 0.2))


def _gate(view: View, gate: str) -> Box:
    return _grid(view, f"gate:{gate}")


def _grid(view: View, name: str) -> Box:
    x = view.text
    size = view.units * number_width(view), float(len(view.by_rank))
    return _headed(view, panel(name, *size, Margins(0.0, 1.65 * x, 0.0, 0.2)))


def _state(view: View, name: str) -> Box:
    return _headed(view, state_box(view, name, number_width(view)))


def _headed(view: View, box: Box, numbers: float = HEADED) -> Box:
    """Return the box at least as wide as its heading."""
    return box.at_least(numbers * number_width(view))
