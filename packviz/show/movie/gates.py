"""The run that goes deep: the gates of the cell as small grids of numbers, and the states before and after."""

import numpy as np

from packviz.inputs.module import nonlinearity_of
from packviz.show.movie.code_lines import in_letters
from packviz.show.movie.layout import Box, Margins, Place, Scene, above, beside, panel
from packviz.show.movie.marks import Frame, Marks, frame, marks, title
from packviz.show.movie.run_marks import (
    START,
    base,
    ended,
    entering,
    filled,
    finals,
    h_after,
    input_width,
    live,
    outputs,
    run_steps,
    state_box,
    states,
    taken,
    units,
)
from packviz.show.movie.view import View, once, shape
from packviz.show.movie.words import TERMS

HEADED, STRIP_HEADED = 3.6, 8.8  # numbers beside one another that are as wide as a heading
ENTERED = 2.6  # units of the name of the cell
SCREEN = (670.0, 322.0)  # pixels of the picture at a projector
LEAST = (28.0, 13.0)  # pixels that a number needs there: across and down
LINES = (1, 2, 3)  # of panels that may need letters of their own


def gate_scene(view: View) -> Scene:
    """Return the scene: what enters and the gates in one line, the states before and after in another."""
    whole, narrow, tall = _ways(view)
    return Scene([*whole, *narrow], [tall])


def numbers_fit(view: View) -> bool:
    """Return whether every number could be read in a room of 690 by 336 pixels, if need be without the output."""
    return not view.small and any(_fit(view, boxes) for boxes in _ways(view)[:2])


def _fit(view: View, boxes: list[Box]) -> bool:
    unit = max(np.minimum(SCREEN[0] / box.width, SCREEN[1] / box.height).max() for box in boxes)
    return bool(unit * number_width(view) >= LEAST[0] and unit >= LEAST[1])


def number_width(view: View) -> float:
    """Return the width of a number in units: many rows make flat cells, with room at their sides."""
    return min(1.7 + 0.2 * max(0, len(view.by_rank) - 3), 2.4)


@once
def _ways(view: View) -> tuple[list[Box], list[Box], Box]:
    """Return ways to set the panels on a wide screen, the same without the output, and that on a tall screen."""
    x, width, rows = view.text, number_width(view), float(len(view.by_rank))

    def headed(box: Box, numbers: float = HEADED) -> Box:
        return box.at_least(numbers * width)  # as wide as its heading

    def grid(name: str) -> Box:
        return headed(panel(name, view.units * width, rows, Margins(0.0, 1.65 * x, 0.0, 0.1)))

    def letters(name: str, wide: float = 0.0) -> Box:
        return panel(name, wide, rows, Margins(1.2 * x, 1.65 * x, 0.0, 0.1))

    def line(*boxes: Box) -> Box:
        return beside(*boxes, gap=0.9)

    strip, out, was = view.strip.box, view.out.box, grid("was")
    enters = letters("cell", input_width(view)).at_least(ENTERED)
    gates, memory = [grid(f"gate:{gate}") for gate in view.gates], [grid("gate:c")] * (view.kept == "c")
    h, h_n = (headed(state_box(view, name, width)) for name in ("h", "hn"))
    first = letters("names:2", input_width(view)) if gates else enters  # an RNN has no gates: one line is enough
    work = beside(line(first, was, *memory, h), h_n, gap=0.0)
    if gates:
        work = above(line(enters, *gates), work, gap=0.3)
    wide_strip = headed(strip, STRIP_HEADED)
    in_one_line = above(beside(wide_strip, out, gap=x), work, gap=0.3)
    wide = [in_one_line, above(strip, out, work, gap=0.3), beside(above(wide_strip, out, gap=0.4), work, gap=x)]
    lines = [line(enters, *gates[:2]), line(letters("names:1"), *gates[2:])]
    if not gates:
        lines = [line(enters, was), line(letters("names:2"), h, h_n)]
    elif memory:
        lines += [line(letters("names:2"), was, *memory), line(letters("names:3"), h, h_n)]
    else:
        lines = [lines[0], line(lines[1], h_n), line(letters("names:2"), was, h)]
    return wide, [above(strip, work, gap=0.3)], above(strip, *lines, gap=0.3)


def gate_start(view: View) -> Frame:
    """Return the initial states."""
    return {**base(view, None), **_headings(view, -1), **_states(view, START)}


def gate_frames(view: View, k: int) -> tuple[Frame, ...]:
    """Return the frames of a time step: rows enter, gates are computed, states change, copies of them leave."""
    then = "".join(letter for letter, gate in view.kind.gates.items() if gate.weighed_by)  # needs the others first
    first = "".join(gate for gate in view.gates if gate not in then)
    done = {"out": outputs(view, k - 1), **finals(view, k - 1, number_width(view)), **_rings(view, k - 1)}
    seen = {**base(view, run_steps(view)[k].t), **_headings(view, k), **done}
    old, now = _states(view, k - 1), _states(view, k)
    way = {"arrow:0": seen["arrow:0"].but(shown=False)}  # along which the state before comes
    fed = {**seen, **way, **old, **_was(view, k, anew=True), "in": entering(view, k, anew=True)}
    still = {**seen, **_was(view, k, anew=False), "in": entering(view, k, anew=False)}
    some = {**still, **old, **_gates(view, k, first)}
    every = {**still, **old, **_gates(view, k, first + then)}
    remembered = {**every, **{name: group for name, group in now.items() if name != "h"}}
    changed = {**remembered, **now}
    handed = {"out": outputs(view, k, origin=True), **finals(view, k, number_width(view), origin=True)}
    return fed, some, every, remembered, changed, {**changed, **handed, **_rings(view, k)}


def _headings(view: View, k: int) -> Frame:
    x, name, size = view.text, view.kept, shape(view.total[0], view.watched.h.shape[1])
    texts = {"was": f"{name} before", "h": f"h {size}", "gate:c": "c"}
    if k >= 0:
        width = view.module.hidden_size if name == "c" else view.watched.h.shape[1]
        fed = shape(len(run_steps(view)[k].live), width)
        texts = {"was": f"{name} before {fed}", "h": f"h after {size}", "gate:c": "c after"}
    if name != "c":
        del texts["gate:c"]
    return _still_headings(view) | frame(*(title(Place(at, 0.0, -1.6 * x), text) for at, text in texts.items()))


@once
def _still_headings(view: View) -> Frame:
    x, name, b, kind = view.text, view.kept, view.ranked, view.kind
    groups = [title(Place("cell", -1.1 * x, -1.6 * x), view.cell.upper())]  # the map of the stack names the layer
    made = {formula.left: in_letters(formula) for formula in kind.formulas}
    new = made.get("h'", f"{nonlinearity_of(view.module)} of x, h")
    notes = {"was": "live rows", "gate:c": made.get("c'", ""), "h": "W_hr h" if view.module.proj_size else new}
    for letter, gate in kind.gates.items():
        groups.append(title(Place(f"gate:{letter}", 0.0, -1.6 * x), f"{letter} {gate.name}"))
        weighed = f", {gate.weighed_by}" if gate.weighed_by else ""
        groups.append(_note(view, f"gate:{letter}", f"{gate.function} of x, h{weighed}"))
    groups += [_note(view, panel, text) for panel, text in notes.items() if text]
    after = Place("gate:c" if name == "c" else "h", -0.9, (len(b) - 1) / 2)
    groups.append(marks("arrow:0", "axis", after, w=0.9, text="→"))
    for line in LINES:
        place = Place(f"names:{line}", -1.1 * x, view.ranks)
        groups.append(marks(f"names:{line}", "label", place, b, w=x, text=view.letters_ranked))
    return frame(*groups)


def _note(view: View, panel: str, text: str) -> Marks:
    meaning = TERMS.get(panel.removeprefix("gate:"))
    says, x = f"!{meaning}" if meaning else "", view.text
    return marks(f"note:{panel}", "note", Place(panel, 0.0, -0.8 * x), h=0.8 * x, text=text, says=says)


@once
def _states(view: View, k: int) -> Frame:
    """Return h after the k-th step, and an LSTM's c."""
    groups = [h_after(view, k, number_width(view))]
    if view.kept == "c":
        groups.append(filled(_grid(view, "gate:c", "c of {seq}"), states(view, "c")[k + 2]))
    return frame(*groups)


@once
def _grid(view: View, name: str, what: str, where: str = "") -> Marks:
    return units(view, name, where or name, view.ranks, number_width(view), says=f"{what}, unit {{k}}")


def _was(view: View, k: int, *, anew: bool) -> Frame:
    """Return a copy of the state that belongs to each row that is fed; anew: on its way."""
    name, b = view.kept, view.ranked
    group = filled(_grid(view, f"was:{name}", f"{name} of {{seq}} before", "was"), states(view, name)[k + 1])
    column = np.tile(np.arange(view.units) * number_width(view), len(b))
    start = Place("gate:c" if name == "c" else "h", column, np.repeat(view.ranks, view.units))
    shown = np.repeat(live(view)[k + 1], view.units)
    return frame(group.but(shown=shown, origin=start if anew else None, anew=anew))


@once
def _gates(view: View, k: int, gates: str) -> Frame:
    n, shown = np.maximum(taken(view)[k + 2], 0), np.repeat(live(view)[k + 1], view.units)
    grids = ((gate, _grid(view, f"gate:{gate}", f"{gate} of {{seq}}")) for gate in gates)
    return frame(*(filled(grid, view.matrix(gate)[view.slot[n]]).but(shown=shown) for gate, grid in grids))


@once
def _rings(view: View, k: int) -> Frame:
    if view.kept != "c":
        return {}
    b, width = view.ranked, view.units * number_width(view)
    return frame(marks("ring:c", "ring", Place("gate:c", 0.0, view.ranks), b, w=width, shown=ended(view)[k + 1]))
