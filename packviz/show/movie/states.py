"""What every run does, however deep: rows enter, states change, and copies of them go to the output and to h_n."""

from collections.abc import Iterator, Sequence

from packviz.compute.recurrence import Step
from packviz.show.movie.figures import rows_of
from packviz.show.movie.model import NO_TOKEN, Change, Numbers, Place
from packviz.show.movie.pack import look_at
from packviz.show.movie.plan import Plan
from packviz.show.movie.program import shape

__all__ = [
    "entering",
    "feed",
    "hand_out",
    "initial_states",
    "lower_output",
    "now",
    "set_state",
    "set_units",
    "start_marks",
]


def set_state(plan: Plan, name: str, b: int, state: Numbers, shown: bool | None = None) -> Iterator[Change]:
    """Yield what shows a state in the panel h or hn: a number a unit, or stripes where cells are small."""
    if plan.small:
        yield Change(f"{name}:{b}", vector=state, shown=shown)
    else:
        yield from set_units(f"{name}:{b}", state, shown)


def set_units(name: str, state: Numbers, shown: bool | None = None) -> Iterator[Change]:
    """Yield what shows these numbers, a cell a unit; one that is not finite is written out."""
    for unit, value in enumerate(state):
        known = value is not None
        yield Change(f"{name}:{unit}", value=value if known else 0.0, text="" if known else "nan", shown=shown)


def initial_states(plan: Plan) -> tuple[list[Numbers], list[Numbers]]:
    """Return h_0 and, for an LSTM, c_0 of every sequence, in the order in which they came."""
    h_0 = rows_of(plan.watched.h_0[:, : plan.units])
    return h_0, rows_of(plan.watched.c_0[:, : plan.units]) if plan.watched.c_0 is not None else []


def start_marks(plan: Plan) -> Iterator[Change]:
    """Yield what takes the outlines of the stage before away, and puts up the headings of the run."""
    yield from (Change(f"title:{panel}", shown=True) for panel in ("cell", "h", "hn", "out"))
    yield from (Change(mark, shown=True) for mark in ("note:hn", "axis:x"))
    yield from (Change(mark, tone="") for mark in _marks(plan, len(plan.alive) - 1))
    yield from (Change(focus, shown=False) for focus in ("focus:x", *(() if plan.strip.marks else ("focus:strip",))))


def lower_output(plan: Plan) -> Iterator[Change]:
    """Yield, in a higher layer, what stands in the strip there: the output of the layer below."""
    if not plan.layer:
        return
    for t, rows in enumerate(plan.alive):
        for b in rows:
            kind = "token" if plan.mask[b][t] else "stray"
            yield Change(f"{kind}:{b}:{t}", vector=plan.below[plan.packed_row(b, t)], scale="state")
    sizes = shape(len(plan.watched.h), entering(plan))
    yield Change("title:strip", text=f"output of layer {plan.layer - 1} {sizes}")


def entering(plan: Plan) -> int:
    """Return how many numbers enter the watched layer at a packed row."""
    return sum(half.h.shape[1] for half in plan.trace.layers[plan.layer - 1]) if plan.layer else plan.features


def now(plan: Plan, step: Step, previous: Step | None) -> Iterator[Change]:
    """Yield what marks a time step as the current one, in the place of the one before."""
    yield from look_at(plan, step.t)
    if previous:
        yield from (Change(mark, tone="") for mark in _marks(plan, previous.t))
    yield from (Change(mark, tone="now") for mark in _marks(plan, step.t))


def feed(plan: Plan, step: Step) -> Iterator[Change]:
    """Yield what brings the packed rows of a time step into the cell, and nothing else."""
    live = set(step.live)
    for b in plan.by_rank:
        yield _enter(plan, b, step.t) if b in live else Change(f"in:{b}", shown=False)


def _enter(plan: Plan, b: int, t: int) -> Change:
    text, sub = plan.texts(b, t) if plan.mask[b][t] else (plan.pad_text, "")
    return Change(
        f"in:{b}", shown=True, origin=plan.strip.cell(t, plan.rank[b]), text=text, sub=sub, vector=_input(plan, b, t),
        token=plan.token_number.get((b, t), NO_TOKEN), scale="state" if plan.layer else "input",
    )  # fmt: skip


def _input(plan: Plan, b: int, t: int) -> Numbers | None:
    """What enters the watched layer there; None for a single number, which is written out, and for small cells."""
    if plan.small:
        return None
    if plan.layer:
        return plan.below[plan.packed_row(b, t)]
    return plan.features_at(b, t) if plan.features > 1 else None


def _marks(plan: Plan, t: int) -> list[str]:
    return [f"axis:{t}", f"count:{t}", *([f"bracket:{t}"] if plan.strip.marks else [])]


def hand_out(plan: Plan, step: Step, unit_width: float) -> Iterator[Change]:
    """Yield what sends a copy of every new state to the output; a final one gets its ring and goes to h_n."""
    for b in _shown(plan, step.live):
        yield Change(f"out:{b}:{step.t}", shown=True, origin=Place("h", 0, plan.rank[b]))
    for b in _shown(plan, step.ended):
        yield Change(f"ring:h:{b}", shown=True)
        yield Change(f"ring:out:{b}:{plan.direction}", shown=True)
        for unit, change in enumerate(set_state(plan, "hn", b, plan.states[plan.packed_row(b, step.t)], shown=True)):
            yield Change(
                change.id, vector=change.vector, value=change.value, text=change.text, shown=True,
                origin=Place("h", unit * unit_width, plan.rank[b]),
            )  # fmt: skip
        yield Change(f"ring:hn:{b}", shown=True, origin=Place("h", 0, plan.rank[b]))


def _shown(plan: Plan, sequences: Sequence[int]) -> list[int]:
    return [b for b in sequences if b in plan.rank]
