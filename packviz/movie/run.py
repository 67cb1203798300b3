"""The recurrent cell at work: the rows that enter, the states that change, those that are final."""

from collections.abc import Iterator, Sequence
from functools import partial

from packviz.movie.cast import UNIT, cast, cell_box, gate_names, state_box
from packviz.movie.figures import rows_of
from packviz.movie.film import Film
from packviz.movie.layout import Box, above, beside, scene
from packviz.movie.model import NO_TOKEN, Change, CodeLine, Numbers, Place
from packviz.movie.pack import look_at
from packviz.movie.plan import Plan
from packviz.movie.program import index, shape
from packviz.movie.words import run_caption, start_caption
from packviz.stages.recurrence import Step

__all__ = ["run"]


def run(film: Film, plan: Plan) -> None:
    """Film the initial state and one step for every time step, in the order in which the cell takes them."""
    wide = (_with_grid, _columns, _lines)
    film.scenes["run"] = scene([partial(arrange, plan) for arrange in wide], [partial(_stacked, plan)])
    film.add(*cast(plan))
    code = index(plan, "run")
    film.step("run", start_caption(plan), code, _start(plan), detail=_start_detail(plan))
    steps = (plan.watched.step(k) for k in range(plan.watched.steps))
    previous: Step | None = None
    for step in (step for step in steps if step.t < plan.columns):
        beats = (_feed(plan, step, previous), _compute(plan, step), _hand_out(plan, step))
        film.step("run", run_caption(plan, step), code, *beats, detail=_detail(plan, step))
        previous = step


def _work(plan: Plan) -> Box:
    return beside(cell_box(plan), state_box(plan, "h"), gap=0.4)


def _with_grid(plan: Plan, capacity: float) -> Box:
    strips = above(plan.strip.box(capacity), plan.out.box(capacity), gap=0.4)
    top = beside(plan.grid.box(), _work(plan), gap=0.8 * plan.text)
    return above(top, beside(strips, state_box(plan, "hn"), gap=0.8 * plan.text), gap=0.4)


def _lines(plan: Plan, capacity: float) -> Box:
    work = beside(_work(plan), state_box(plan, "hn"), gap=0.8 * plan.text)
    return above(plan.strip.box(capacity), work, plan.out.box(capacity), gap=0.3)


def _columns(plan: Plan, capacity: float) -> Box:
    strips = above(plan.strip.box(capacity), plan.out.box(capacity), gap=0.4 * plan.text)
    return beside(strips, _work(plan), state_box(plan, "hn"), gap=plan.text)


def _stacked(plan: Plan, capacity: float) -> Box:
    if plan.small:
        return above(plan.strip.box(capacity), beside(_work(plan), state_box(plan, "hn")), gap=0.4)
    return above(plan.strip.box(capacity), _work(plan), state_box(plan, "hn"), gap=0.4)


def _set_state(plan: Plan, name: str, b: int, state: Numbers, shown: bool | None = None) -> Iterator[Change]:
    if plan.small:
        yield Change(f"{name}:{b}", vector=state, shown=shown)
        return
    for unit, value in enumerate(state):
        known = value is not None
        yield Change(f"{name}:{b}:{unit}", value=value if known else 0.0, text="" if known else "nan", shown=shown)


def _start(plan: Plan) -> Iterator[Change]:
    yield from (Change(f"title:{panel}", shown=True) for panel in ("cell", "h", "hn", "out"))
    yield from (Change(mark, shown=True) for mark in ("note:hn", "axis:x"))
    yield from (Change(f"axis:gate:{gate}", shown=True) for gate in gate_names(plan))
    yield from (Change(mark, tone="") for mark in _marks(plan, len(plan.alive) - 1))
    yield from (Change(focus, shown=False) for focus in ("focus:x", *(() if plan.strip.marks else ("focus:strip",))))
    yield from _lower_output(plan)
    h_0 = rows_of(plan.watched.h_0[:, : plan.units])
    c_0 = rows_of(plan.watched.c_0[:, : plan.units]) if plan.watched.c_0 is not None else []
    for b in plan.by_rank:
        yield from (Change(f"row:{b}", shown=True), Change(f"letter:{b}", shown=True))
        yield from _set_state(plan, "h", b, h_0[b], shown=True)
        if "c" in gate_names(plan):
            yield Change(f"gate:c:{b}", vector=c_0[b], shown=True)


def _lower_output(plan: Plan) -> Iterator[Change]:
    """In a higher layer, what stands in the strip is the output of the layer below."""
    if not plan.layer:
        return
    for t, rows in enumerate(plan.alive):
        for b in rows:
            kind = "token" if plan.mask[b][t] else "stray"
            yield Change(f"{kind}:{b}:{t}", vector=plan.below[plan.packed_row(b, t)], scale="state")
    sizes = shape(len(plan.watched.h), _entering(plan))
    yield Change("title:strip", text=f"output of layer {plan.layer - 1} {sizes}")


def _entering(plan: Plan) -> int:
    return sum(half.h.shape[1] for half in plan.trace.layers[plan.layer - 1]) if plan.layer else plan.features


def _input(plan: Plan, b: int, t: int) -> Numbers | None:
    """What enters the watched layer there; None for a single number, which is written out, and for small cells."""
    if plan.small:
        return None
    if plan.layer:
        return plan.below[plan.packed_row(b, t)]
    return plan.features_at(b, t) if plan.features > 1 else None


def _feed(plan: Plan, step: Step, previous: Step | None) -> Iterator[Change]:
    live = _shown(plan, step.live)
    yield from look_at(plan, step.t)
    if previous:
        yield from (Change(mark, tone="") for mark in _marks(plan, previous.t))
    yield from (Change(mark, tone="now") for mark in _marks(plan, step.t))
    for b in plan.by_rank:
        if b in live:
            yield _enter(plan, b, step.t)
        else:
            yield Change(f"in:{b}", shown=False)
            yield from (Change(f"gate:{gate}:{b}", shown=False) for gate in gate_names(plan) if gate != "c")


def _enter(plan: Plan, b: int, t: int) -> Change:
    text, sub = plan.texts(b, t) if plan.mask[b][t] else (plan.pad_text, "")
    return Change(
        f"in:{b}", shown=True, origin=plan.strip.cell(t, plan.rank[b]), text=text, sub=sub, vector=_input(plan, b, t),
        token=plan.token_number.get((b, t), NO_TOKEN), scale="state" if plan.layer else "input",
    )  # fmt: skip


def _marks(plan: Plan, t: int) -> list[str]:
    return [f"axis:{t}", f"count:{t}", *([f"bracket:{t}"] if plan.strip.marks else [])]


def _compute(plan: Plan, step: Step) -> Iterator[Change]:
    for n, b in enumerate(step.live, step.start):
        if b in plan.rank:
            for gate in gate_names(plan):
                row = plan.memories[n] if gate == "c" else plan.gate_rows[gate][n]
                yield Change(f"gate:{gate}:{b}", vector=row, shown=True)
            yield from _set_state(plan, "h", b, plan.states[n])


def _hand_out(plan: Plan, step: Step) -> Iterator[Change]:
    """A copy of every new state goes to the output; a final one gets its ring and goes to h_n."""
    for b in _shown(plan, step.live):
        yield Change(f"out:{b}:{step.t}", shown=True, origin=Place("h", 0, plan.rank[b]))
    for b in _shown(plan, step.ended):
        yield Change(f"ring:h:{b}", shown=True)
        yield Change(f"ring:out:{b}:{plan.direction}", shown=True)
        for unit, change in enumerate(_set_state(plan, "hn", b, plan.states[plan.packed_row(b, step.t)], shown=True)):
            yield Change(
                change.id, vector=change.vector, value=change.value, text=change.text, shown=True,
                origin=Place("h", unit * UNIT, plan.rank[b]),
            )  # fmt: skip
        yield Change(f"ring:hn:{b}", shown=True, origin=Place("h", 0, plan.rank[b]))


def _shown(plan: Plan, sequences: Sequence[int]) -> list[int]:
    return [b for b in sequences if b in plan.rank]


def _start_detail(plan: Plan) -> tuple[CodeLine, ...]:
    row = plan.layer * plan.directions + plan.direction
    order = "" if plan.trace.sorted.sorted_indices is None else "[sorted_indices]"
    name = "h = start" if plan.direction else "h"  # going backward, sequences join in with it later
    return (CodeLine(f"{name} = h_0[{row}]{order}", shape(plan.total[0], plan.watched.h.shape[1])),)


def _detail(plan: Plan, step: Step) -> tuple[CodeLine, ...]:
    size, width = step.stop - step.start, plan.watched.h.shape[1]
    source = "data" if not plan.layer else f"output{plan.layer - 1}"
    states, kept = ("h, c", "(h, c)") if plan.cell == "lstm" else ("h", "h")
    joined = size - len(step.began)
    if plan.direction and step.began and joined:
        enters = f"h = cat((h[:{joined}], start[{joined}:{size}]))"
    else:
        enters = f"h, c = h[:{size}], c[:{size}]" if plan.cell == "lstm" else f"h = h[:{size}]"
    return (
        CodeLine(f"x = {source}[{step.start}:{step.stop}]", shape(size, _entering(plan))),
        CodeLine(enters, shape(size, width)),
        CodeLine(f"{states} = {plan.cell}(x, {kept})", shape(size, width)),
    )
