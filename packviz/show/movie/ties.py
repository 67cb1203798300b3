"""Equal lengths in the sort: the order in which torch put them."""

from packviz.facts.ties import Tie, first_unstable, ties
from packviz.show.movie.film import Film
from packviz.show.movie.model import Change
from packviz.show.movie.outlines import around, outline, outlines_gone
from packviz.show.movie.plan import Plan
from packviz.show.movie.program import index

__all__ = ["equals", "tie_of"]


def equals(film: Film, plan: Plan) -> None:
    """Film the rows of one length outlined; nothing where all lengths differ."""
    tie = tie_of(plan)
    if tie is None:
        return
    shown = [plan.rank[b] for b in tie.sequences if b in plan.rank]
    film.add(outline("mark:tie", plan.grid, 0, 0))
    changes = list(outlines_gone(film))
    if shown:
        place, wide, high = around(plan.grid, shown[0], 0, rows=len(shown), steps=plan.columns)
        changes.append(Change("mark:tie", place=place, w=wide, h=high, tone="now", shown=True))
    film.step("sort", _caption(plan, tie), index(plan, "pack"), changes)


def tie_of(plan: Plan) -> Tie | None:
    """Return the sequences of one length to be shown: those that torch did not leave as they came, or most of all."""
    return max(ties(plan.trace), key=lambda tie: (not tie.as_they_came, len(tie.sequences)), default=None)


def _caption(plan: Plan, tie: Tie) -> str:
    same = f"{plan.chips(list(tie.sequences))} are equally long, {tie.length}"
    limit = first_unstable()
    if not tie.as_they_came:
        return f"{same}, and torch did **not** leave them in the order in which they came: its sort is not stable."
    sure = f" That is no promise: from {limit} equal lengths on it no longer does." if limit else ""
    return f"{same}, and here torch left them in the order in which they came.{sure}"
