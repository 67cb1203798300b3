"""Where the gates stand in a run that goes deep: each a small grid of numbers, live rows by units."""

from collections.abc import Iterator
from functools import partial

from packviz.show.movie.cast import input_width, state_box
from packviz.show.movie.layout import CAPACITIES, Arrangement, Box, Margins, above, beside, panel, scene
from packviz.show.movie.model import Scene
from packviz.show.movie.plan import Plan

__all__ = ["bench", "kept", "number_width", "numbers_fit"]

HEADED, STRIP_HEADED = 3.6, 8.8  # numbers beside one another that are as wide as a heading
SCREEN = (670.0, 322.0)  # pixels of the picture at a projector
LEAST = (28.0, 13.0)  # pixels that a number needs there: across and down


def bench(plan: Plan) -> Scene:
    """Return the scene: what enters and the gates in one line, the states before and after in another."""
    whole = _wide(plan)
    return scene(whole if _fit(plan, whole) else _narrow(plan), [partial(_tall, plan)])


def numbers_fit(plan: Plan) -> bool:
    """Return whether every number could be read in a room of 690 by 336 pixels, if need be without the output."""
    return not plan.small and (_fit(plan, _wide(plan)) or _fit(plan, _narrow(plan)))


def _fit(plan: Plan, arrangements: list[Arrangement]) -> bool:
    boxes = [arrange(capacity) for arrange in arrangements for capacity in CAPACITIES]
    unit = max(min(SCREEN[0] / box.width, SCREEN[1] / box.height) for box in boxes)
    return unit * number_width(plan) >= LEAST[0] and unit >= LEAST[1]


def number_width(plan: Plan) -> float:
    """Return the width of a number in units: many rows make flat cells, with room at their sides."""
    return min(1.7 + 0.2 * max(0, len(plan.by_rank) - 3), 2.4)


def kept(plan: Plan) -> str:
    """Return the state that is shown before and after a step: c for the LSTM, where each new h is made of c alone."""
    return "c" if plan.cell == "lstm" else "h"


def _wide(plan: Plan) -> list[Arrangement]:
    return [partial(_lines, plan), partial(_strips_above, plan), partial(_strips_aside, plan)]


def _narrow(plan: Plan) -> list[Arrangement]:
    return [lambda capacity: above(plan.strip.box(capacity), *_work(plan), gap=0.3)]


def _lines(plan: Plan, capacity: float) -> Box:
    """The two strips in one line, above the cell."""
    strips = beside(_headed(plan, plan.strip.box(capacity), STRIP_HEADED), plan.out.box(capacity), gap=plan.text)
    return above(strips, *_work(plan), gap=0.3)


def _strips_above(plan: Plan, capacity: float) -> Box:
    return above(plan.strip.box(capacity), plan.out.box(capacity), *_work(plan), gap=0.3)


def _strips_aside(plan: Plan, capacity: float) -> Box:
    strips = above(_headed(plan, plan.strip.box(capacity), STRIP_HEADED), plan.out.box(capacity), gap=0.4)
    return beside(strips, above(*_work(plan), gap=0.3), gap=plan.text)


def _work(plan: Plan) -> Iterator[Box]:
    """The lines of the cell, their panels in columns; an RNN has no gates, so one line is enough."""
    if plan.gates:
        yield _line(_enters(plan), *(_gate(plan, gate) for gate in plan.gates))
        yield _states(plan, _letters(plan, 2, input_width(plan)))
    else:
        yield _states(plan, _enters(plan))


def _states(plan: Plan, first: Box) -> Box:
    memory = [_gate(plan, "c")] if kept(plan) == "c" else []
    return beside(_line(first, _grid(plan, "was"), *memory, _state(plan, "h")), _state(plan, "hn"), gap=0.0)


def _tall(plan: Plan, capacity: float) -> Box:
    strip, was, h_n = plan.strip.box(capacity), _grid(plan, "was"), _state(plan, "hn")
    gates, h = [_gate(plan, gate) for gate in plan.gates], _state(plan, "h")
    if plan.cell == "rnn":
        return above(strip, _line(_enters(plan), was), _line(_letters(plan, 2), h, h_n), gap=0.3)
    first, second = _line(_enters(plan), *gates[:2]), _line(_letters(plan, 1), *gates[2:])
    if plan.cell == "lstm":
        memory = _line(_letters(plan, 2), was, _gate(plan, "c"))
        return above(strip, first, second, memory, _line(_letters(plan, 3), h, h_n), gap=0.3)
    return above(strip, first, _line(second, h_n), _line(_letters(plan, 2), was, h), gap=0.3)


def _line(*boxes: Box) -> Box:
    return beside(*boxes, gap=0.9)


def _enters(plan: Plan) -> Box:
    return _rows(plan, "cell", input_width(plan))


def _letters(plan: Plan, line: int, width: float = 0.0) -> Box:
    """The letters of the rows, before a line of panels that does not begin with what enters."""
    return _rows(plan, f"names:{line}", width)


def _rows(plan: Plan, name: str, width: float) -> Box:
    x = plan.text
    return panel(name, width, float(len(plan.by_rank)), Margins(1.2 * x, 1.65 * x, 0.0, 0.2))


def _gate(plan: Plan, gate: str) -> Box:
    return _grid(plan, f"gate:{gate}")


def _grid(plan: Plan, name: str) -> Box:
    x = plan.text
    size = plan.units * number_width(plan), float(len(plan.by_rank))
    return _headed(plan, panel(name, *size, Margins(0.0, 1.65 * x, 0.0, 0.2)))


def _state(plan: Plan, name: str) -> Box:
    return _headed(plan, state_box(plan, name, number_width(plan)))


def _headed(plan: Plan, box: Box, numbers: float = HEADED) -> Box:
    """Return the box at least as wide as its heading."""
    return Box(max(box.width, numbers * number_width(plan)), box.height, box.panels, box.breaks)
