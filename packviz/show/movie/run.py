"""The recurrent cell at work: the rows that enter, the states that change, those that are final."""

from collections.abc import Iterator
from functools import partial

from packviz.compute.recurrence import Step
from packviz.show.movie.bench import bench, numbers_fit
from packviz.show.movie.cast import UNIT, cast, cell_box, gate_names, state_box
from packviz.show.movie.film import Film
from packviz.show.movie.formulas import start_line, step_lines, whole_lines, whole_start
from packviz.show.movie.gates import gate_beats, gate_cast, gate_start
from packviz.show.movie.layout import Box, above, beside, scene
from packviz.show.movie.model import Change, Scene
from packviz.show.movie.plan import Plan
from packviz.show.movie.program import index
from packviz.show.movie.states import feed, hand_out, initial_states, lower_output, now, set_state, start_marks
from packviz.show.movie.words import run_caption, start_caption

__all__ = ["run"]


def run(film: Film, plan: Plan) -> None:
    """Film the initial state and one step for every time step, in the order in which the cell takes them."""
    deep = "run" in plan.deep
    numbers = deep and numbers_fit(plan)
    film.scenes["run"] = bench(plan) if numbers else _scene(plan)
    film.add(*(gate_cast(plan) if numbers else cast(plan)))
    code, start = index(plan, "run"), gate_start(plan) if numbers else _start(plan)
    film.step("run", start_caption(plan), code, start, detail=whole_start(plan) if deep else start_line(plan))
    steps = (plan.watched.step(k) for k in range(plan.watched.steps))
    previous: Step | None = None
    for step in (step for step in steps if step.t < plan.columns):
        beats = gate_beats(plan, step, previous) if numbers else _beats(plan, step, previous)
        detail = whole_lines(plan, step) if deep else step_lines(plan, step)
        film.step("run", run_caption(plan, step), code, *beats, detail=detail, time=step.t)
        previous = step


def _scene(plan: Plan) -> Scene:
    wide = (_with_grid, _columns, _lines)
    return scene([partial(arrange, plan) for arrange in wide], [partial(_stacked, plan)])


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


def _start(plan: Plan) -> Iterator[Change]:
    yield from start_marks(plan)
    yield from (Change(f"axis:gate:{gate}", shown=True) for gate in gate_names(plan))
    yield from lower_output(plan)
    h_0, c_0 = initial_states(plan)
    for b in plan.by_rank:
        yield from (Change(f"row:{b}", shown=True), Change(f"letter:{b}", shown=True))
        yield from set_state(plan, "h", b, h_0[b], shown=True)
        if "c" in gate_names(plan):
            yield Change(f"gate:c:{b}", vector=c_0[b], shown=True)


def _beats(plan: Plan, step: Step, previous: Step | None) -> tuple[Iterator[Change], ...]:
    return _feed(plan, step, previous), _compute(plan, step), hand_out(plan, step, UNIT)


def _feed(plan: Plan, step: Step, previous: Step | None) -> Iterator[Change]:
    yield from now(plan, step, previous)
    yield from feed(plan, step)
    for b in (b for b in plan.by_rank if b not in step.live):
        yield from (Change(f"gate:{gate}:{b}", shown=False) for gate in gate_names(plan) if gate != "c")


def _compute(plan: Plan, step: Step) -> Iterator[Change]:
    for n, b in enumerate(step.live, step.start):
        if b in plan.rank:
            for gate in gate_names(plan):
                row = plan.memories[n] if gate == "c" else plan.gate_rows[gate][n]
                yield Change(f"gate:{gate}:{b}", vector=row, shown=True)
            yield from set_state(plan, "h", b, plan.states[n])
