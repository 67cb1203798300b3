"""Column after column flies into the strip, and batch_sizes are counted on the way."""

from collections.abc import Iterator
from functools import partial

from packviz.show.movie.film import Film
from packviz.show.movie.layout import Box, above, beside, scene
from packviz.show.movie.margins import margins
from packviz.show.movie.memory_strips import memory_strips
from packviz.show.movie.model import Cell, Change, CodeLine, Place
from packviz.show.movie.plan import Plan
from packviz.show.movie.program import index, shape
from packviz.text import counted

__all__ = ["look_at", "pack"]


def pack(film: Film, plan: Plan) -> None:
    """Film one step for every time step; in depth, what the counts are, and how all of it lies in memory."""
    film.scenes["pack"] = scene([partial(_below, plan), partial(_aside, plan)])
    film.add(*_ghosts(plan), *_marks(plan))
    code = index(plan, "pack")
    if "pack" in plan.deep:
        film.step("pack", _before_caption(plan), code)
    for t in range(len(plan.alive)):
        beats = (_looked_at(plan, t), _flight(plan, t))
        film.step("pack", _caption(plan, t), code, *beats, detail=_detail(plan, t), time=t)
    if "pack" in plan.deep:
        margins(film, plan)
        memory_strips(film, plan, _counted(plan, len(plan.alive) - 1))


def _below(plan: Plan, capacity: float) -> Box:
    return above(plan.grid.box(), plan.strip.box(capacity), gap=0.4 * plan.text)


def _aside(plan: Plan, capacity: float) -> Box:
    return beside(plan.grid.box(), plan.strip.box(capacity), gap=plan.text)


def _marks(plan: Plan) -> Iterator[Cell]:
    high = 1.0 if plan.strip.marks else plan.text
    yield Cell("title:strip", "title", plan.strip.heading(), h=high, text="", shown=False)
    yield Cell("title:counts", "note", plan.grid.counts_heading(), 1, plan.text, text="batch_sizes", shown=False)
    place, width, height = plan.grid.focus(0, len(plan.alive[0]))
    yield Cell("focus:x", "focus", place, width, height, shown=False)
    if not plan.strip.marks:
        yield Cell("focus:strip", "focus", plan.strip.cell(0, 0), 1, plan.strip.height, shown=False)
    for t, rows in enumerate(plan.alive):
        size = plan.batch_sizes[t]
        share = size / plan.batch_sizes[0]
        width = plan.cell_width if not plan.transposed else 1.6
        height = 1.0 if plan.transposed else plan.text
        yield Cell(f"count:{t}", "count", plan.grid.count(t), width, height, text=str(size), value=share, shown=False)
        if plan.strip.marks:
            start = plan.strip.cell(t, 0)
            above_it = Place(start.panel, start.x, -0.85)
            width = len(rows) * plan.strip.width
            yield Cell(f"bracket:{t}", "bracket", above_it, width, 0.8, text=f"t={t}", shown=False)
            for position in range(len(rows)):
                at = plan.strip.cell(t, position)
                below, n = Place(at.panel, at.x, plan.strip.height), plan.offsets[t] + position
                yield Cell(f"address:{n}", "axis", below, plan.strip.width, 0.5, text=str(n), shown=False)


def _ghosts(plan: Plan) -> Iterator[Cell]:
    """What stays in the grid when a token has flown, for the padded tensor is copied; and pads packed by mistake."""
    for t, rows in enumerate(plan.alive):
        for b in rows:
            if plan.mask[b][t]:
                place = plan.grid.cell(plan.rank[b], t)
                text, sub = plan.texts(b, t)
                k = plan.token_number[b, t]
                yield Cell(
                    f"ghost:{b}:{t}",
                    "ghost",
                    place,
                    plan.cell_width,
                    text=text,
                    sub=sub,
                    sequence=b,
                    token=k,
                    vector=plan.features_at(b, t) if plan.embedded or plan.raw_vectors else None,
                    scale="input",
                    shown=False,
                )
            else:
                yield Cell(
                    f"stray:{b}:{t}", "pad", plan.strip.cell(t, plan.rank[b]), plan.strip.width, text=plan.pad_text,
                    sequence=b, scale="input", tone="wrong", shown=False,
                )  # fmt: skip


def look_at(plan: Plan, t: int) -> Iterator[Change]:
    """Yield the changes that put the outlines around a time step."""
    alive = len(plan.alive[t])
    place, width, height = plan.grid.focus(t, alive)
    yield Change("focus:x", place=place, w=width, h=height, shown=True)
    if not plan.strip.marks:
        yield Change("focus:strip", place=plan.strip.cell(t, 0), w=alive * plan.strip.width, shown=True)


def _looked_at(plan: Plan, t: int) -> Iterator[Change]:
    yield from look_at(plan, t)
    yield Change(f"axis:{t}", tone="now")
    if t:
        yield Change(f"axis:{t - 1}", tone="")
        yield Change(f"count:{t - 1}", tone="")
        if plan.strip.marks:
            yield Change(f"bracket:{t - 1}", tone="")
    yield from (Change(f"length:{b}", tone="") for b in plan.shown if not t)


def _flight(plan: Plan, t: int) -> Iterator[Change]:
    for position, b in enumerate(plan.alive[t]):
        place = plan.strip.cell(t, position)
        if plan.mask[b][t]:
            yield Change(f"ghost:{b}:{t}", shown=True)
            yield Change(f"token:{b}:{t}", place=place, w=plan.strip.width)
        else:
            start = plan.grid.cell(plan.rank[b], t)
            yield Change(
                f"stray:{b}:{t}", shown=True, origin=start, vector=plan.features_at(b, t) if plan.embedded else None
            )
        if plan.strip.marks:
            yield Change(f"address:{plan.offsets[t] + position}", shown=True)
    yield Change(f"count:{t}", shown=True, tone="now")
    if plan.strip.marks:
        yield Change(f"bracket:{t}", shown=True, tone="now")
    if not t:
        yield Change("title:counts", shown=True)
    yield Change("title:strip", text=_counted(plan, t), shown=True)


def _counted(plan: Plan, t: int) -> str:
    done = sum(plan.batch_sizes[: t + 1])
    total, width = plan.trace.packed.data.shape
    return f"packed data {shape(total, width)}: Σ {done} of {total} rows"


def _before_caption(plan: Plan) -> str:
    order = "" if plan.trace.sorted.sorted_indices is None else ", longest first"
    steps = len(plan.batch_sizes)
    return (
        f"The rows stand{order}. **pack_padded_sequence** takes the grid column after column, "
        f"{'all' if steps > 1 else 'the one'} {counted(steps, 'time step')}, and of each only the rows that are live."
    )


def _caption(plan: Plan, t: int) -> str:
    if not bool(plan.trace.packed_is_pad.any()):
        size = f"**batch_sizes[{t}] = {plan.batch_sizes[t]}**"
        return f"**t = {t}.** {_reach(plan, t)} a token here, so {size}. {_sum(plan, t)}"
    pads = [b for b in plan.alive[t] if not plan.mask[b][t]]
    dropped = [b for b in plan.by_rank if plan.mask[b][t] and b not in plan.alive[t]]
    size = f"**t = {t}.** The lengths say **batch_sizes[{t}] = {plan.batch_sizes[t]}**"
    if pads:
        return f"{size}, but in {plan.chips(pads)} a pad stands here: it is packed as if it were data."
    if dropped:
        return f"{size}, so the token of {plan.chips(dropped)} here is dropped without a word."
    return f"{size}. {_sum(plan, t)}"


def _reach(plan: Plan, t: int) -> str:
    size = plan.batch_sizes[t]
    if size == plan.total[0]:
        return "Every sequence has"
    return f"Only {plan.chips(plan.order[:size])} {'has' if size == 1 else 'have'}"


def _sum(plan: Plan, t: int) -> str:
    total, strays = sum(plan.batch_sizes[: t + 1]), int(plan.trace.packed_is_pad.sum())
    if t < len(plan.batch_sizes) - 1:
        return f"Σ = {total} rows so far." if t else "They go into the strip first, in sorted order."
    if strays:
        return f"Σ batch_sizes = {total} = N, but {strays} of these rows {'is' if strays == 1 else 'are'} padding."
    return f"Σ batch_sizes = {total} = N: every token once, no padding."


def _detail(plan: Plan, t: int) -> tuple[CodeLine, ...]:
    start, size = plan.offsets[t], plan.batch_sizes[t]
    rows = f"x[:{size}, {t}]" if plan.batch_first else f"x[{t}, :{size}]"
    taken = rows.replace("x", "x_sorted") if plan.trace.sorted.sorted_indices is not None else rows
    width = plan.trace.packed.data.shape[1]
    return (
        CodeLine(f"data[{start}:{start + size}] = {taken}", shape(size, width)),
        CodeLine(f"batch_sizes = {plan.listed(plan.batch_sizes[: t + 1])}", shape(t + 1)),
    )
