"""The live rows at one time step: with holes among them before the sort, the first rows after it."""

from collections.abc import Iterable, Iterator
from itertools import groupby

from packviz.show.movie.film import Film
from packviz.show.movie.model import Change, CodeLine
from packviz.show.movie.outlines import around, outline, outlines_gone
from packviz.show.movie.plan import Plan
from packviz.show.movie.program import index, shape

__all__ = ["prefix", "staircase", "telling"]


def _live(plan: Plan, t: int) -> list[int]:
    """Return the sequences that are longer than t, in the original order."""
    return [b for b, length in enumerate(plan.lengths) if length > t]


def _holes(plan: Plan, t: int) -> list[int]:
    """Return the sequences that are over at t, though one that is live stands after them."""
    last = max(_live(plan, t), default=-1)
    return [b for b in range(last) if plan.lengths[b] <= t]


def telling(plan: Plan) -> int | None:
    """Return the time step with the plainest hole, between live rows if there is one; None without any to be seen."""

    def plainness(t: int) -> tuple[bool, bool, int, int]:
        over = _holes(plan, t)
        return all(b in plan.place for b in over), _between(plan, t), -len(over), len(_live(plan, t))

    steps = [t for t in range(1, min(plan.columns, max(plan.lengths))) if set(_holes(plan, t)) & set(plan.place)]
    return max(steps, key=plainness, default=None)


def staircase(film: Film, plan: Plan, first: Iterable[Change]) -> None:
    """Film a time step at which the first rows are not the live ones, with other changes; nothing where none is so."""
    t = telling(plan)
    if t is None:
        return
    film.add(*(outline(f"mark:row:{b}", plan.grid, plan.place[b], t) for b in plan.shown))
    changes = [*outlines_gone(film), *first, *_runs(plan, t), Change(f"axis:{t}", tone="now")]
    film.step("sort", _hole_caption(plan, t), index(plan, "pack"), changes, time=t)


def prefix(film: Film, plan: Plan) -> None:
    """Film the same time step after the sort: the live rows are the first ones."""
    t = telling(plan)
    t = _first_end(plan) if t is None else t
    place, wide, high = around(plan.grid, 0, t, rows=len(plan.alive[t]))
    film.add(outline("mark:first", plan.grid, 0, t))
    shown = Change("mark:first", place=place, w=wide, h=high, tone="good", shown=True)
    changes = [*outlines_gone(film), Change(f"axis:{t}", tone="now"), shown]
    film.step("sort", _prefix_caption(plan, t), index(plan, "pack"), changes, detail=(_slice(plan, t),), time=t)


def _between(plan: Plan, t: int) -> bool:
    return min(_live(plan, t)) < min(_holes(plan, t))


def _first_end(plan: Plan) -> int:
    """The first time step at which somebody is over; the last one where nobody ends before it."""
    steps = range(len(plan.alive))
    return next((t for t in steps if plan.batch_sizes[t] < plan.total[0]), steps[-1])


def _runs(plan: Plan, t: int) -> Iterator[Change]:
    """An outline around every run of live rows, and around every hole among them."""
    last = max(_live(plan, t))
    rows = [(p, plan.lengths[b] > t) for p, b in enumerate(plan.shown) if b <= last]
    for alive, run in groupby(rows, key=lambda row: row[1]):
        first, *rest = (p for p, _ in run)
        place, wide, high = around(plan.grid, first, t, rows=1 + len(rest))
        name = f"mark:row:{plan.shown[first]}"
        yield Change(name, place=place, w=wide, h=high, tone="now" if alive else "wrong", shown=True)


def _slice(plan: Plan, t: int) -> CodeLine:
    size, sorted_ = plan.batch_sizes[t], plan.trace.sorted.sorted_indices is not None
    rows = f"[:{size}, {t}]" if plan.batch_first else f"[{t}, :{size}]"
    return CodeLine(f"{'x_sorted' if sorted_ else 'x'}{rows}", shape(size, plan.features))


def _at(plan: Plan, t: int) -> str:
    return f"By the lengths, at t = {t}" if plan.padding_side == "left" else f"At t = {t}"


def _hole_caption(plan: Plan, t: int) -> str:
    alive, over = _live(plan, t), _holes(plan, t)
    verb = "is" if len(alive) == 1 else "are"
    stand = "stands" if len(over) == 1 else "stand"
    if min(over) < min(alive) < max(over):
        where = "among them"
    elif min(alive) < min(over):
        where = "between them"
    else:
        where = "before it" if len(alive) == 1 else "before them"
    line, count = _line(plan), len(alive)
    first = (
        f"the first {line} is not the live one" if count == 1 else f"the first {count} {line}s are not the live ones"
    )
    return f"{_at(plan, t)} only {plan.chips(alive)} {verb} live, but {plan.chips(over)} {stand} {where}: {first}."


def _prefix_caption(plan: Plan, t: int) -> str:
    size, line = plan.batch_sizes[t], _line(plan)
    every = f"So it is at every t: the live {line}s are the first batch_sizes[t]."
    if size == plan.total[0]:
        return f"{_at(plan, t)} every {line} is live: **batch_sizes[{t}] = {size}**. {every}"
    which = f"{line} is the live one" if size == 1 else f"{line}s are the live ones"
    chips = plan.chips(plan.order[:size])
    return f"{_at(plan, t)} the first **batch_sizes[{t}] = {size}** {which}: {chips}. {every}"


def _line(plan: Plan) -> str:
    """What a sequence is in x as it is laid out."""
    return "row" if plan.batch_first else "column"
