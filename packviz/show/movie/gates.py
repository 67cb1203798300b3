"""The gates of the cell as small grids of numbers, and the states before and after: the run that goes deep."""

from collections.abc import Iterator

from torch import Tensor

from packviz.compute.recurrence import Step
from packviz.show.movie.bench import kept, number_width
from packviz.show.movie.cast import arrow, cell_headings, heading, inputs, outputs, state, state_headings
from packviz.show.movie.figures import rows_of
from packviz.show.movie.model import Cell, Change, Place
from packviz.show.movie.plan import Plan
from packviz.show.movie.program import shape
from packviz.show.movie.states import (
    feed,
    hand_out,
    initial_states,
    lower_output,
    now,
    set_state,
    set_units,
    start_marks,
)

__all__ = ["gate_beats", "gate_cast", "gate_start"]

NAMES = {"r": "reset", "z": "update", "n": "new", "i": "input", "f": "forget", "g": "cell", "o": "output"}
MADE_OF = {"n": "tanh of x, h, r", "g": "tanh of x, h"}  # and all others: σ of x, h
STATE = {"gru": "(1 − z) ⊙ n + z ⊙ h", "lstm": "o ⊙ tanh(c)"}
MEMORY = "f ⊙ c + i ⊙ g"
LINES = (1, 2, 3)  # of panels that may need letters of their own


def gate_cast(plan: Plan) -> Iterator[Cell]:
    """Yield every cell that the run brings on the stage, hidden."""
    yield from cell_headings(plan, arrow(plan))  # there is no room for the layer, which stands in the notes
    yield from _headings(plan)
    yield from state_headings(plan, f"h {_all_rows(plan)}")
    for rank, b in enumerate(plan.by_rank):
        yield from inputs(plan, b, rank)
        for line in LINES:
            place = Place(f"names:{line}", -1.1 * plan.text, rank)
            yield Cell(f"names:{b}:{line}", "label", place, plan.text, text=plan.label(b), sequence=b, shown=False)
        for name, where in _grids(plan):
            for unit in range(plan.units):
                at = Place(where, unit * number_width(plan), rank)
                yield Cell(f"{name}:{b}:{unit}", "value", at, number_width(plan), sequence=b, value=0.0, shown=False)
        yield from state(plan, b, rank, number_width(plan))
        if plan.cell == "lstm":
            width = plan.units * number_width(plan)
            yield Cell(f"ring:c:{b}", "ring", Place("gate:c", 0, rank), width, sequence=b, shown=False)
    yield from outputs(plan)


def gate_start(plan: Plan) -> Iterator[Change]:
    """Yield the changes that put the initial states on the stage."""
    yield from start_marks(plan)
    yield from (Change(cell.id, shown=True) for cell in _headings(plan))
    yield from lower_output(plan)
    h_0, c_0 = initial_states(plan)
    for b in plan.by_rank:
        yield from (Change(f"row:{b}", shown=True), Change(f"letter:{b}", shown=True))
        yield from (Change(f"names:{b}:{line}", shown=True) for line in LINES)
        yield from set_state(plan, "h", b, h_0[b], shown=True)
        if plan.cell == "lstm":
            yield from set_units(f"gate:c:{b}", c_0[b], shown=True)


def gate_beats(plan: Plan, step: Step, previous: Step | None) -> tuple[Iterator[Change], ...]:
    """Return the beats of a time step: rows enter, gates are computed, states change, copies of them leave."""
    first, then = ("rz", "n") if plan.cell == "gru" else (plan.gates, "")
    return (
        _enter(plan, step, previous),
        _compute(plan, step, first),
        _compute(plan, step, then),
        _remember(plan, step),
        _change(plan, step),
        _leave(plan, step),
    )


def _grids(plan: Plan) -> Iterator[tuple[str, str]]:
    """Yield how the cells of each grid are called, and its panel."""
    yield from ((f"gate:{gate}", f"gate:{gate}") for gate in plan.gates)
    yield f"was:{kept(plan)}", "was"
    if plan.cell == "lstm":
        yield "gate:c", "gate:c"


def _headings(plan: Plan) -> Iterator[Cell]:
    name, x = kept(plan), plan.text
    for gate in plan.gates:
        yield heading(f"gate:{gate}", Place(f"gate:{gate}", 0, -1.6 * x), f"{gate} {NAMES[gate]}")
        yield _note(plan, f"gate:{gate}", MADE_OF.get(gate, "σ of x, h"))
    yield heading("was", Place("was", 0, -1.6 * x), f"{name} before")
    yield _note(plan, "was", "rows that are fed")
    if name == "c":
        yield heading("gate:c", Place("gate:c", 0, -1.6 * x), "c")
        yield _note(plan, "gate:c", MEMORY)
    squash = "relu" if plan.module.mode == "RNN_RELU" else "tanh"
    yield _note(plan, "h", "W_hr h" if plan.module.proj_size else STATE.get(plan.cell, f"{squash} of x, h"))
    after = Place("gate:c" if name == "c" else "h", -0.9, (len(plan.by_rank) - 1) / 2)
    yield Cell("arrow:0", "axis", after, 0.9, text="→", shown=False)


def _all_rows(plan: Plan) -> str:
    return shape(plan.total[0], plan.watched.h.shape[1])


def _note(plan: Plan, panel: str, text: str) -> Cell:
    return Cell(f"note:{panel}", "note", Place(panel, 0, -0.8 * plan.text), 1, 0.8 * plan.text, text=text, shown=False)


def _rows(plan: Plan, step: Step) -> Iterator[tuple[int, int]]:
    """Yield the packed row and the sequence of every live row that is shown."""
    return ((n, b) for n, b in enumerate(step.live, step.start) if b in plan.rank)


def _enter(plan: Plan, step: Step, previous: Step | None) -> Iterator[Change]:
    """The rows of x, and a copy of the state that belongs to each; what the last step computed goes."""
    yield from now(plan, step, previous)
    yield from feed(plan, step)
    name, before = kept(plan), _before(plan, step)
    live = dict(zip(step.live, rows_of(before[:, : plan.units]), strict=True))
    yield Change("title:was", text=f"{name} before {shape(*before.shape)}")
    yield Change("title:h", text=f"h after {_all_rows(plan)}")
    if name == "c":
        yield Change("title:gate:c", text="c after")
    for b in plan.by_rank:
        for gate in plan.gates:
            yield from (Change(f"gate:{gate}:{b}:{unit}", shown=False) for unit in range(plan.units))
        if b not in live:
            yield from (Change(f"was:{name}:{b}:{unit}", shown=False) for unit in range(plan.units))
            continue
        for unit, change in enumerate(set_units(f"was:{name}:{b}", live[b], shown=True)):
            origin = Place("gate:c" if name == "c" else "h", unit * number_width(plan), plan.rank[b])
            yield Change(change.id, value=change.value, text=change.text, shown=True, origin=origin)


def _before(plan: Plan, step: Step) -> Tensor:
    h, c = plan.watched.before(step.k)
    return h if c is None else c


def _compute(plan: Plan, step: Step, gates: str) -> Iterator[Change]:
    for n, b in _rows(plan, step):
        for gate in gates:
            yield from set_units(f"gate:{gate}:{b}", plan.gate_rows[gate][n], shown=True)


def _remember(plan: Plan, step: Step) -> Iterator[Change]:
    for n, b in _rows(plan, step):
        if plan.cell == "lstm":
            yield from set_units(f"gate:c:{b}", plan.memories[n])


def _change(plan: Plan, step: Step) -> Iterator[Change]:
    for n, b in _rows(plan, step):
        yield from set_state(plan, "h", b, plan.states[n])


def _leave(plan: Plan, step: Step) -> Iterator[Change]:
    yield from hand_out(plan, step, number_width(plan))
    if plan.cell == "lstm":
        yield from (Change(f"ring:c:{b}", shown=True) for b in step.ended if b in plan.rank)
