"""Who plays in the run: the cells of the recurrent cell, of its states and of its output."""

from collections.abc import Iterator

from packviz.show.movie.layout import Box, Margins, panel
from packviz.show.movie.model import Cell, Place
from packviz.show.movie.plan import Plan
from packviz.show.movie.program import shape

__all__ = [
    "UNIT",
    "arrow",
    "cast",
    "cell_box",
    "cell_headings",
    "gate_names",
    "heading",
    "input_width",
    "inputs",
    "outputs",
    "state",
    "state_box",
    "state_headings",
]

UNIT = 1.35  # width of a number of a state
INPUT_GAP = 0.4  # between what enters the cell and its gates


def cast(plan: Plan) -> Iterator[Cell]:
    """Yield every cell that the run brings on the stage, hidden."""
    yield from cell_headings(plan, f"{_layer(plan)}{arrow(plan)}")
    yield from _gate_axes(plan)
    yield from state_headings(plan, f"h {shape(plan.total[0], plan.watched.h.shape[1])}")
    for rank, b in enumerate(plan.by_rank):
        yield from inputs(plan, b, rank)
        yield from _stripes(plan, b, rank)
        yield from state(plan, b, rank, UNIT)
    yield from outputs(plan)


def gate_names(plan: Plan) -> str:
    """Return the letters of what is shown inside the cell: its gates, and an LSTM's c; none where it is too small."""
    return "" if plan.small else plan.gates + ("c" if plan.cell == "lstm" else "")


def cell_box(plan: Plan) -> Box:
    """Return the room of the cell: what enters, and its gates."""
    x = plan.text
    return panel("cell", _cell_width(plan), float(len(plan.by_rank)), Margins(1.3 * x, 1.65 * x, 0.2 * x, 0.3))


def state_box(plan: Plan, name: str, unit: float = UNIT) -> Box:
    """Return the room of h, or of h_n with its letters; unit is the width of a number."""
    x, left = plan.text, 1.2 * plan.text if name == "hn" else 0.1
    return panel(name, _state_width(plan, unit), float(len(plan.by_rank)), Margins(left, 1.65 * x, 0.2 * x, 0.3))


def input_width(plan: Plan) -> float:
    """Return the width of what enters the cell."""
    return plan.text if plan.small else plan.strip.width


def _cell_width(plan: Plan) -> float:
    return input_width(plan) + INPUT_GAP + len(gate_names(plan))


def _state_width(plan: Plan, unit: float) -> float:
    return plan.units * unit if not plan.small else max(8.0, len(plan.by_rank) / 4)


def cell_headings(plan: Plan, which: str) -> Iterator[Cell]:
    """Yield the heading of the cell, which says which one it is, and that of what enters it."""
    x = plan.text
    yield heading("cell", Place("cell", -1.1 * x, -1.6 * x), f"{plan.cell.upper()}{which}")
    yield Cell("axis:x", "axis", Place("cell", 0, -0.75 * x), input_width(plan), x, text="x", shown=False)


def _gate_axes(plan: Plan) -> Iterator[Cell]:
    x, start = plan.text, input_width(plan) + INPUT_GAP
    for i, gate in enumerate(gate_names(plan)):
        yield Cell(f"axis:gate:{gate}", "axis", Place("cell", start + i, -0.75 * x), 1, x, text=gate, shown=False)


def state_headings(plan: Plan, h: str) -> Iterator[Cell]:
    """Yield the headings of h as told, of h_n and of the output."""
    x, batch, size = plan.text, plan.total[0], plan.watched.h.shape[1]
    row = plan.layer * plan.directions + plan.direction
    yield heading("h", Place("h", 0, -1.6 * x), h)
    h_n = f"h_n[{-1 if row == len(plan.trace.h_n) - 1 else row}] {shape(batch, size)}"
    yield heading("hn", Place("hn", -1.1 * x, -1.6 * x), h_n)
    yield Cell("note:hn", "note", Place("hn", 0, -0.8 * x), 1, 0.8 * x, text="original order", shown=False)
    yield heading("out", plan.out.heading(), f"output data {shape(*plan.watched.h.shape)}", x)


def heading(panel: str, place: Place, text: str, high: float = 1.0) -> Cell:
    """Return the heading of a panel, hidden; high: units of its line."""
    return Cell(f"title:{panel}", "title", place, h=high, text=text, shown=False)


def arrow(plan: Plan) -> str:
    """Return an arrow in the watched direction, where there are two."""
    return f" {'←' if plan.direction else '→'}" if plan.directions == 2 else ""


def _layer(plan: Plan) -> str:
    return f" · layer {plan.layer}" if len(plan.trace.layers) > 1 else ""


def inputs(plan: Plan, b: int, rank: int) -> Iterator[Cell]:
    """Yield the letter of a sequence before the cell, and what enters there."""
    letter = Place("cell", -1.1 * plan.text, rank)
    yield Cell(f"row:{b}", "label", letter, plan.text, text=plan.label(b), sequence=b, shown=False)
    yield Cell(f"in:{b}", "token", Place("cell", 0, rank), input_width(plan), sequence=b, scale="input", shown=False)


def _stripes(plan: Plan, b: int, rank: int) -> Iterator[Cell]:
    for i, gate in enumerate(gate_names(plan)):
        place = Place("cell", input_width(plan) + INPUT_GAP + i, rank)
        yield Cell(f"gate:{gate}:{b}", "vector", place, sequence=b, vector=(0.0,) * plan.units, shown=False)


def state(plan: Plan, b: int, rank: int, unit: float) -> Iterator[Cell]:
    """Yield the rows of a sequence in h and in h_n, with its letter there; unit is the width of a number."""
    yield from _row(plan, "h", b, rank, unit)
    yield from _row(plan, "hn", b, plan.place[b], unit)
    letter = Place("hn", -1.1 * plan.text, plan.place[b])
    yield Cell(f"letter:{b}", "label", letter, plan.text, text=plan.label(b), sequence=b, shown=False)


def _row(plan: Plan, name: str, b: int, row: int, unit_width: float) -> Iterator[Cell]:
    width = _state_width(plan, unit_width)
    if plan.small:
        nothing = (0.0,) * plan.units
        yield Cell(f"{name}:{b}", "vector", Place(name, 0, row), width, sequence=b, vector=nothing, shown=False)
    else:
        for unit in range(plan.units):
            place = Place(name, unit * unit_width, row)
            yield Cell(f"{name}:{b}:{unit}", "value", place, unit_width, sequence=b, value=0.0, shown=False)
    yield Cell(f"ring:{name}:{b}", "ring", Place(name, 0, row), width, sequence=b, shown=False)


def outputs(plan: Plan) -> Iterator[Cell]:
    """Yield the packed output, and the ring around the last valid step of each sequence and direction."""
    for t, rows in enumerate(plan.alive):
        for position, b in enumerate(rows):
            yield Cell(
                f"out:{b}:{t}", "output", plan.out.cell(t, position), plan.out.width, plan.out.height, sequence=b,
                token=plan.token_number.get((b, t)), vector=plan.states[plan.packed_row(b, t)], shown=False,
            )  # fmt: skip
    for b in plan.by_rank:
        for d in range(plan.directions):
            t = 0 if d else plan.lengths[b] - 1
            if t < plan.columns:
                place = plan.out.cell(t, plan.rank[b])
                yield Cell(f"ring:out:{b}:{d}", "ring", place, plan.out.width, plan.out.height, sequence=b, shown=False)
