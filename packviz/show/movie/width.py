"""How wide the unpacked output is: the longest length, or total_length, and never the width of the padded grid."""

from packviz.show.movie.film import Film
from packviz.show.movie.model import Cell, Change, CodeLine
from packviz.show.movie.plan import Plan
from packviz.show.movie.program import index

__all__ = ["width"]


def width(film: Film, plan: Plan) -> None:
    """Film one step on the width of the output, where it is not simply that of the padded grid."""
    padded, out, total = plan.total[1], _width(plan), plan.trace.total_length
    if total is None and out == padded:
        return
    grid = plan.unpacked
    film.add(Cell("mark:width", "mark", grid.cell(0, 0), *grid.size, tone="now", shown=False))
    axis = 1 if plan.batch_first else 0
    detail = (
        CodeLine(f"x.size({axis})", str(padded)),
        CodeLine("lens.max()", str(max(plan.lengths))),
        CodeLine(f"out.size({axis})", str(out)),
    )
    film.step(
        "unpack", _caption(plan), index(plan, "unpack"), [Change("mark:width", shown=True)], detail=detail, name="width"
    )
    film.later([Change("mark:width", shown=False)])


def _width(plan: Plan) -> int:
    return plan.trace.unpacked.output.shape[1 if plan.batch_first else 0]


def _caption(plan: Plan) -> str:
    padded, longest, total = plan.total[1], max(plan.lengths), plan.trace.total_length
    if total is None:
        return (
            f"x had T = {padded}, but out has {_width(plan)} time steps, as many as the longest length: T is not kept "
            f"in a PackedSequence. **total_length={padded}** would make out as wide as x."
        )
    if total == longest:
        return f"**total_length={total}** makes out {total} wide. That is the longest length: it changes nothing here."
    back = ", as wide as x" if total == padded else ""
    return (
        f"**total_length={total}** makes out {total} wide{back}. Without it out is {longest} wide, the longest length."
    )
