"""The padded grid the other way round: batch_first is a matter of which axis comes first."""

from collections.abc import Iterator
from dataclasses import replace

from packviz.show.movie.film import Film
from packviz.show.movie.layout import Box
from packviz.show.movie.mask import mask_gone
from packviz.show.movie.model import Change, CodeLine, Place
from packviz.show.movie.outlines import outlines_gone
from packviz.show.movie.places import Grid
from packviz.show.movie.plan import Plan
from packviz.show.movie.program import index, shape
from packviz.show.movie.sides import own_side

__all__ = ["back", "turned", "turned_box"]

ASPECT = 1.8  # width by height that the turned grid may take without making the picture smaller


def turned(film: Film, plan: Plan) -> None:
    """Film the transposition; nothing where there is one cell alone."""
    if plan.total == (1, 1):
        return
    beats = (mask_gone(plan), outlines_gone(film), own_side(plan))
    before = [change for beat in beats for change in beat]
    name = "ids" if plan.embedded else "x"
    detail = CodeLine(f"{name}.transpose(0, 1)", shape(*_sizes(plan, turn=True)))
    film.step("pad", _turned_caption(plan), index(plan, "pad"), before, _standing(plan, turn=True), detail=(detail,))


def back(film: Film, plan: Plan) -> None:
    """Film the grid as it goes on."""
    beats = (mask_gone(plan), outlines_gone(film), _standing(plan, turn=False))
    film.step("pad", _back_caption(plan), index(plan, "pad"), [change for beat in beats for change in beat])


def turned_box(plan: Plan) -> Box:
    """Return the room that the grid needs the other way round."""
    box = _grid(plan).box(counts=False)
    return Box(box.width, box.height - plan.columns * (1 - _height(plan)), box.panels)


def _grid(plan: Plan) -> Grid:
    """The grid turned; its cells are as wide as before where there is room for that."""
    grid = plan.grid
    if grid.transposed:
        return plan.upright.grid
    room = max(grid.columns * grid.width, grid.rows * (1.0 if plan.small else ASPECT))
    return replace(grid, transposed=True, width=max(1.0, min(grid.width, room / grid.rows)))


def _height(plan: Plan) -> float:
    """Units of a row of the turned grid: fewer than one where there are far more time steps than sequences."""
    grid = plan.grid
    if grid.transposed:
        return 1.0
    return min(1.0, max(float(grid.rows), grid.columns * grid.width / ASPECT, 9.0) / grid.columns)


def _standing(plan: Plan, *, turn: bool) -> Iterator[Change]:
    """Everything in its place in the grid, turned or as it was."""
    grid, high = (_grid(plan), _height(plan)) if turn else (plan.grid, 1.0)
    down = grid.transposed
    for b in plan.shown:
        p = plan.place[b]
        yield Change(f"label:{b}", place=grid.label(p), w=grid.width if down else plan.text)
        yield Change(f"length:{b}", place=_lowered(grid.length(p), high), w=grid.width if down else 1.0)
        for t in range(plan.columns):
            kind = "token" if plan.mask[b][t] else "pad"
            yield Change(f"{kind}:{b}:{t}", place=_lowered(grid.cell(p, t), high), w=grid.width, h=high)
    wide = plan.text if down else grid.width
    for t in range(plan.columns):
        yield Change(f"axis:{t}", place=_lowered(grid.axis(t), high), w=wide, h=high if down else plan.text)
    sizes = shape(*_sizes(plan, turn=turn))
    yield Change("title:x", place=grid.heading(), text=f"padded {'ids' if plan.embedded else 'x'} {sizes}")


def _lowered(place: Place, high: float) -> Place:
    return Place(place.panel, place.x, place.y * high if place.y > 0 else place.y)


def _sizes(plan: Plan, *, turn: bool) -> tuple[int, ...]:
    first, second, features = plan.trace.padded.values.shape
    sizes = (second, first) if turn else (first, second)
    return sizes if plan.embedded else (*sizes, features)


def _turned_caption(plan: Plan) -> str:
    end = ")" if plan.embedded else ", F)"
    here, there = ("(B, T", "(T, B") if plan.batch_first else ("(T, B", "(B, T")
    way = "down" if plan.batch_first else "across"
    return (
        f"**batch_first={not plan.batch_first}** turns the grid: {there}{end} = {shape(*_sizes(plan, turn=True))} "
        f"instead of {here}{end} = {shape(*_sizes(plan, turn=False))}. The cells are the same, and time goes {way}."
    )


def _back_caption(plan: Plan) -> str:
    sizes = shape(*_sizes(plan, turn=False))
    if plan.embedded:
        return f"These are the **ids** that go on, to the embedding: {sizes}."
    return f"This is the **x** that goes on: {sizes}."
