"""The gates of the cell as small grids of numbers, and the states before and after: the run that goes deep."""

import numpy as np

from packviz.inputs.module import nonlinearity_of
from packviz.show.movie.cell import arrow, filled, heading, state, units
from packviz.show.movie.formulas import in_letters
from packviz.show.movie.gate_panels import number_width
from packviz.show.movie.marks import Frame, Marks, Place, frame, marks
from packviz.show.movie.run_marks import START, base, ended, entering, finals, live, outputs, run_steps, states, taken
from packviz.show.movie.view import View, once, shape
from packviz.show.movie.words import TERMS

LINES = (1, 2, 3)  # of panels that may need letters of their own


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
    fed = {**seen, **old, **_was(view, k, anew=True), "in": entering(view, k, anew=True)}
    still = {**seen, **_was(view, k, anew=False), "in": entering(view, k, anew=False)}
    some = {**still, **old, **_gates(view, k, first)}
    every = {**still, **old, **_gates(view, k, first + then)}
    remembered = {**every, **{name: group for name, group in now.items() if name != "h"}}
    changed = {**remembered, **now}
    handed = {"out": outputs(view, k, origin=True), **finals(view, k, number_width(view), origin=True)}
    return fed, some, every, remembered, changed, {**changed, **handed, **_rings(view, k)}


def gate_end(view: View) -> Frame:
    """Return the end of the run."""
    return gate_frames(view, len(run_steps(view)) - 1)[-1]


def _headings(view: View, k: int) -> Frame:
    """Return what stands above the panels, and the letters before them."""
    x, name, size = view.text, view.kept, shape(view.total[0], view.watched.h.shape[1])
    running = k >= 0
    before = f"{name} before {shape(len(run_steps(view)[k].live), _width(view))}" if running else f"{name} before"
    changed = {"was": before, "h": f"h {'after ' if running else ''}{size}", "gate:c": "c after" if running else "c"}
    groups = dict(_still_headings(view))
    for panel, text in changed.items():
        if panel != "gate:c" or name == "c":
            groups[f"title:{panel}"] = heading(panel, Place(panel, 0.0, -1.6 * x), text)
    return groups


def _width(view: View) -> int:
    state = view.watched.c if view.kept == "c" else view.watched.h
    assert state is not None
    return state.shape[1]


@once
def _still_headings(view: View) -> Frame:
    x, name, b = view.text, view.kept, view.ranked
    rank = np.arange(len(b))
    title = f"{view.cell.upper()}{arrow(view)}"  # there is no room for the layer; the map of the stack names it
    groups = [heading("cell", Place("cell", -1.1 * x, -1.6 * x), title)]
    for letter, gate in view.kind.gates.items():
        groups.append(heading(f"gate:{letter}", Place(f"gate:{letter}", 0.0, -1.6 * x), f"{letter} {gate.name}"))
        weighed = f", {gate.weighed_by}" if gate.weighed_by else ""
        groups.append(_note(view, f"gate:{letter}", f"{gate.function} of x, h{weighed}"))
    groups.append(_note(view, "was", "rows that are fed"))
    made = {formula.left: in_letters(formula) for formula in view.kind.formulas}
    if name == "c":
        groups.append(_note(view, "gate:c", made["c'"]))
    new = made.get("h'", f"{nonlinearity_of(view.module)} of x, h")
    groups.append(_note(view, "h", "W_hr h" if view.module.proj_size else new))
    after = Place("gate:c" if name == "c" else "h", -0.9, (len(b) - 1) / 2)
    groups.append(marks("arrow:0", "axis", after, w=0.9, text="→"))
    for line in LINES:
        place = Place(f"names:{line}", -1.1 * x, rank)
        groups.append(marks(f"names:{line}", "label", place, (b,), seq=b, w=x, text=view.letters_ranked))
    return frame(*groups)


def _note(view: View, panel: str, text: str) -> Marks:
    meaning = TERMS.get(panel.removeprefix("gate:"))
    says = f"!{meaning}" if meaning else ""
    return marks(f"note:{panel}", "note", Place(panel, 0.0, -0.8 * view.text), h=0.8 * view.text, text=text, says=says)


@once
def _states(view: View, k: int) -> Frame:
    """Return h after the k-th step, and an LSTM's c."""
    rank = np.arange(len(view.by_rank))
    groups = [filled(state(view, "h", rank, number_width(view)), states(view, "h")[k + 2])]
    if view.kept == "c":
        groups.append(filled(_grid(view, "gate:c", "gate:c", "c of {seq}"), states(view, "c")[k + 2]))
    return frame(*groups)


@once
def _grid(view: View, name: str, where: str, what: str) -> Marks:
    rank = np.arange(len(view.by_rank))
    return units(view, name, where, rank, number_width(view), says=f"{what}, unit {{k}}")


def _was(view: View, k: int, *, anew: bool) -> Frame:
    """Return a copy of the state that belongs to each row that is fed; anew: on its way."""
    name, b = view.kept, view.ranked
    group = filled(_grid(view, f"was:{name}", "was", f"{name} of {{seq}} before"), states(view, name)[k + 1])
    column = np.tile(np.arange(view.units) * number_width(view), len(b))
    source = "gate:c" if name == "c" else "h"
    start = Place(source, column, np.repeat(np.arange(len(b)), view.units)) if anew else None
    return frame(group.but(shown=np.repeat(live(view)[k + 1], view.units), origin=start, anew=anew))


@once
def _gates(view: View, k: int, gates: str) -> Frame:
    """Return these gates of the rows that are fed."""
    n, shown = np.maximum(taken(view)[k + 2], 0), np.repeat(live(view)[k + 1], view.units)
    return frame(
        *(
            filled(
                _grid(view, f"gate:{gate}", f"gate:{gate}", f"{gate} of {{seq}}"), view.matrix(gate)[view.slot[n]]
            ).but(shown=shown)
            for gate in gates
        )
    )


@once
def _rings(view: View, k: int) -> Frame:
    """Return the rings around an LSTM's c."""
    if view.kept != "c":
        return {}
    b, rank = view.ranked, np.arange(len(view.by_rank))
    width = view.units * number_width(view)
    return frame(marks("ring:c", "ring", Place("gate:c", 0.0, rank), (b,), seq=b, w=width, shown=ended(view)[k + 1]))
