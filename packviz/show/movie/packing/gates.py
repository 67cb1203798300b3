"""The detailed run: the gates of the cell as small grids of numbers, and the states before and after."""

import numpy as np

from packviz.inputs.module import nonlinearity_of
from packviz.show.movie.layout import Box, Margins, Place, Scene, above, beside, panel
from packviz.show.movie.marks import Frame, Marks, frame, marks, title
from packviz.show.movie.once import once
from packviz.show.movie.packing import cells, matrices, packed_rows, places, recurrent
from packviz.show.movie.packing.code_lines import in_letters
from packviz.show.movie.packing.sheet import texts
from packviz.show.movie.packing.view import View
from packviz.show.movie.packing.words import TERMS
from packviz.text import shape

HEADED, STRIP_HEADED = 3.6, 8.8  # how many numbers are as wide as a heading
ENTERED = 2.6  # units: the width of the cell's name
SCREEN = (670.0, 322.0)  # pixels of the picture on a projector
LEAST = (28.0, 13.0)  # pixels that a number needs there: width and height
GAP = 0.9  # units between two panels of numbers
LINES = (1, 2, 3)  # of panels that may need their own letters


def gate_scene(view: View) -> Scene:
    """Return the scene: the input and the gates in one line, the states before and after in another."""
    whole, narrow, tall = _ways(view)
    return Scene([*whole, *narrow], tall)


def start_scene(view: View) -> Scene:
    """Return the scene before the first time step: the packed rows and the states, for nothing else is used yet."""
    x, width, rows = view.text, number_width(view), float(len(view.ranked))
    names = panel(f"names:{LINES[1]}", 0.0, rows, Margins(1.2 * x, 1.65 * x, 0.0, 0.1))
    states = [cells.state_box(view, "h", width).at_least(HEADED * width)]
    if recurrent.is_lstm(view):
        states = [_numbers(view, "gate:c"), *states]
    strip, held = places.strip(view).box.at_least(STRIP_HEADED), beside(names, beside(*states, gap=GAP), gap=0.2)
    return Scene([above(strip, held, gap=0.6 * x)])


def _numbers(view: View, name: str) -> Box:
    """Return the box of a number for each unit of each sequence, at least as wide as its heading."""
    x, width = view.text, number_width(view)
    box = panel(name, recurrent.units(view) * width, float(len(view.ranked)), Margins(0.0, 1.65 * x, 0.0, 0.1))
    return box.at_least(HEADED * width)


def numbers_fit(view: View) -> bool:
    """Return whether every number is legible in a picture of SCREEN pixels, if need be without the output."""
    return not view.small and any(_fit(view, boxes) for boxes in _ways(view)[:2])


def _fit(view: View, boxes: list[Box]) -> bool:
    unit = max(np.minimum(SCREEN[0] / box.width, SCREEN[1] / box.height).max() for box in boxes)
    return bool(unit * number_width(view) >= LEAST[0] and unit >= LEAST[1])


def number_width(view: View) -> float:
    """Return the width of a number in units: many rows make flat cells with room at the sides."""
    return min((1.7 if recurrent.is_lstm(view) else 2.0) + 0.2 * max(0, len(view.ranked) - 3), 2.4)


@once
def _ways(view: View) -> tuple[list[Box], list[Box], list[Box]]:
    """Return layouts for a wide screen, the same without the output, and those for a tall screen."""
    x, width, rows = view.text, number_width(view), float(len(view.ranked))

    def headed(box: Box, numbers: float = HEADED) -> Box:
        return box.at_least(numbers * width)  # at least as wide as its heading

    def letters(name: str, wide: float = 0.0) -> Box:
        return panel(name, wide, rows, Margins(1.2 * x, 1.65 * x, 0.0, 0.1))

    def line(*boxes: Box) -> Box:
        return beside(*boxes, gap=GAP)

    def tight(names: str, *boxes: Box) -> Box:
        return beside(letters(names), beside(*boxes, gap=0.5), gap=0.2)

    strip, out, was = places.strip(view).box, places.out(view).box, _numbers(view, "was")
    enters = letters("cell", cells.input_width(view)).at_least(ENTERED)
    gates = [_numbers(view, f"gate:{gate}") for gate in recurrent.gates(view)]
    memory = [_numbers(view, "gate:c")] * (recurrent.is_lstm(view))
    h, h_n = (headed(cells.state_box(view, name, width)) for name in ("h", "hn"))
    first = letters("names:2", cells.input_width(view)) if gates else enters  # an RNN has no gates: one line is enough
    work = beside(line(first, was, *memory, h), h_n, gap=0.0)
    if gates:
        work = above(line(enters, *gates), work, gap=0.3)
    wide_strip = headed(strip, STRIP_HEADED)
    in_one_line = above(beside(wide_strip, out, gap=x), work, gap=0.4)
    wide = [in_one_line, above(strip, out, work, gap=0.3), beside(above(wide_strip, out, gap=0.4), work, gap=x)]
    lines, slim = [line(enters, *gates[:2]), line(letters("names:1"), *gates[2:])], list[Box]()
    second = (
        [line(enters.at_least(tight("names:1", gates[0]).width - 0.4), gates[0])] if gates else []
    )  # the second column
    if not gates:
        lines = [line(enters, was), beside(line(letters("names:2"), h), h_n, gap=0.3)]
    elif memory:
        lines += [line(letters("names:2"), was, *memory), line(letters("names:3"), h, h_n)]
        slim = [*second, tight("names:1", *gates[1:3])]  # c is what it was, until it changes
        slim += [tight("names:2", gates[3], *memory), tight("names:3", h, h_n)]
    else:
        slim = [*second, tight("names:1", *gates[1:]), tight("names:2", line(was, h)), h_n]
        lines = [lines[0], line(lines[1], h_n), line(letters("names:2"), was, h)]
    tall = [above(strip, *each, gap=0.3) for each in (lines, slim) if each]
    if slim:  # without the packed rows, which enter one after another
        tall.append(above(*slim, gap=0.3))
    return wide, [above(strip, work, gap=0.3)], tall


def gates_in_numbers(view: View, k: np.ndarray, phase: np.ndarray) -> Frame:
    """Return the cell in the six frames of a step: gates, then gates that depend on other gates, then the states.

    The previous state of each live row comes along an arrow; the first frame, of step -1, is before all steps.
    """
    name, width = recurrent.kept(view), number_width(view)
    ranks = np.repeat(places.ranks(view), recurrent.units(view))
    live, fed = ranks < cells.live_rows(view)[k + 1], phase[:, None] < 1
    groups = _changing_headings(view, k, phase)

    def grid(panel: str, says: str, values: np.ndarray, name: str = "") -> Marks:
        return cells.filled(
            cells.units(view, name or panel, panel, places.ranks(view), width, says=f"{says}, unit {{k}}"), values
        )

    before = grid("was", f"{name} of {{seq}} before", cells.states(view, name)[k + 1], f"was:{name}")
    column = np.tile(np.arange(recurrent.units(view)) * width, len(places.ranks(view)))
    way = Place("gate:c" if name == "c" else "h", column, ranks)
    groups.append(before.but(shown=live, origin=way, anew=fed))
    n = np.maximum(cells.taken(view)[k + 2], 0)
    for letter, gate in recurrent.kind(view).gates.items():
        made = grid(f"gate:{letter}", f"{letter} of {{seq}}", matrices.known(view, letter)[packed_rows.slot(view)[n]])
        groups.append(made.but(shown=live & (phase[:, None] >= (2 if gate.weighed_by else 1))))
    if name == "c":
        start = np.where(k < 0, cells.START, k)
        groups.append(grid("gate:c", "c of {seq}", cells.states(view, "c")[start - (phase < 3) * (k >= 0) + 2]))
        ring, done = Place("gate:c", 0.0, places.ranks(view)), cells.ended(view, k - (phase < 5))
        groups.append(marks("ring:c", "ring", ring, view.ranked, w=recurrent.units(view) * width, shown=done))
    still, begun = _still_headings(view), k[:, None] >= 0
    formulas = [still[name].but(shown=begun) for name in ("note:h", "note:gate:c") if name in still]
    return {**still, **frame(*formulas), "arrow:0": still["arrow:0"].but(shown=~fed), **frame(*groups)}


def _changing_headings(view: View, k: np.ndarray, phase: np.ndarray) -> list[Marks]:
    """Return the headings that say whether states are those before or after the step, and how many rows are read."""
    name, watched = recurrent.kept(view), recurrent.watched(view)
    size, entering = shape(view.total[0], watched.h.shape[1]), watched.rows[name].shape[1]
    read = ["", *(f" {shape(len(step.live), entering)}" for step in cells.run_steps(view))]
    texts_of = {
        "was": texts([f"{name} before{rows}" for rows in read])[k + 1],
        "h": np.where((k < 0) | (phase < 4), f"h {size}", f"h after {size}"),
    }
    if name == "c":
        texts_of["gate:c"] = np.where((k < 0) | (phase < 3), "c", "c after")
    return [title(Place(panel, 0.0, -1.6 * view.text), text[:, None]) for panel, text in texts_of.items()]


@once
def _still_headings(view: View) -> Frame:
    x, b, kind = view.text, view.ranked, recurrent.kind(view)
    groups = [title(Place("cell", -1.1 * x, -1.6 * x), recurrent.cell(view).upper())]  # the stack's map names the layer
    made = {formula.left: in_letters(formula) for formula in kind.formulas}
    new = made.get("h'", f"{nonlinearity_of(view.trace.module)} of x, h")
    notes = {"was": "rows read", "gate:c": made.get("c'", ""), "h": "W_hr h" if view.trace.module.proj_size else new}
    for letter, gate in kind.gates.items():
        groups.append(title(Place(f"gate:{letter}", 0.0, -1.6 * x), f"{letter} {gate.name}"))
        weighed = f", {gate.weighed_by}" if gate.weighed_by else ""
        groups.append(_note(view, f"gate:{letter}", f"{gate.function} of x, h{weighed}"))
    groups += [_note(view, panel, text) for panel, text in notes.items() if text]
    wide = max(recurrent.units(view), HEADED) * number_width(view)  # with its heading
    after = Place("was", wide, (len(b) - 1) / 2)
    groups.append(marks("arrow:0", "axis", after, w=GAP, text="→"))
    for line in LINES:
        place = Place(f"names:{line}", -1.1 * x, places.ranks(view))
        groups.append(marks(f"names:{line}", "label", place, b, w=x, text=places.letters_ranked(view)))
    return frame(*groups)


def _note(view: View, panel: str, text: str) -> Marks:
    meaning = TERMS.get(panel.removeprefix("gate:"))
    says, x = f"!{meaning}" if meaning else "", view.text
    return marks(f"note:{panel}", "note", Place(panel, 0.0, -0.8 * x), h=0.8 * x, text=text, says=says)
