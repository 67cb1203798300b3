"""The two margins of one staircase: lengths along the sequences, batch_sizes along the time steps."""

from collections.abc import Iterator, Sequence

import torch

from packviz.show.movie.film import Film
from packviz.show.movie.model import Cell, Change, CodeLine, Place, Tone
from packviz.show.movie.plan import Plan
from packviz.show.movie.program import index
from packviz.text import counted

__all__ = ["margins"]

CROWDED = 24  # time steps from which the counts have no room to be lit up all at once
LISTED = 12  # numbers of a margin that a caption names


def margins(film: Film, plan: Plan) -> None:
    """Film one step that reads the grid both ways; what it lights up goes out in the next one."""
    film.add(_heading(plan))
    code, lit = index(plan, "pack"), _lit(plan, "now")
    film.step("pack", _caption(plan), code, lit, detail=_detail(plan), name="margins")
    film.later(_lit(plan, ""))


def _heading(plan: Plan) -> Cell:
    grid, x = plan.grid, plan.text
    if plan.transposed:  # to the right stands `batch_sizes`
        end = grid.length(0)
        return Cell("title:lengths", "note", Place(end.panel, -1.3 * x, end.y), x, text="len", shown=False)
    end = grid.length(0)
    place = Place(end.panel, end.x, grid.axis(0).y)
    return Cell("title:lengths", "note", place, 1, x, text="lengths", shown=False)


def _lit(plan: Plan, tone: Tone) -> Iterator[Change]:
    now, t = tone == "now", len(plan.alive) - 1
    yield Change("title:lengths", shown=now, tone=tone)
    yield Change("title:counts", tone=tone)
    yield from (Change(f"length:{b}", tone=tone) for b in plan.shown)
    crowded = plan.small or len(plan.alive) > CROWDED
    yield from (Change(f"count:{step}", tone="" if crowded else tone) for step in range(len(plan.alive)))
    yield Change(f"axis:{t}", tone="")
    if plan.strip.marks:
        yield Change(f"bracket:{t}", tone="")
    else:
        yield Change("focus:strip", shown=False)
    yield Change("focus:x", shown=False)


def _caption(plan: Plan) -> str:
    lengths, sizes = _read(plan.trace.sorted.lengths.tolist()), _read(plan.batch_sizes)
    along = "Read down the columns" if plan.transposed else "Read along the rows"
    across = "Read along the rows" if plan.transposed else "Read down the columns"
    noun = "packed row" if bool(plan.trace.packed_is_pad.any()) else "token"
    return (
        f"{along}: **lengths** {lengths}. {across}: **batch_sizes** {sizes}. "
        f"Both count the same {counted(sum(plan.batch_sizes), noun)}, and each gives the other, its **conjugate**."
    )


def _read(values: Sequence[int]) -> str:
    if len(values) > LISTED:
        return f"{', '.join(map(str, values[: LISTED - 4]))}, … {values[-1]}"
    return ", ".join(map(str, values))


def _detail(plan: Plan) -> tuple[CodeLine, ...]:
    """Return each margin made from the other one, by torch."""
    lengths, sizes = plan.trace.padded.lengths, plan.trace.packed.batch_sizes
    rank = plan.trace.sorted.unsorted_indices
    ranks = torch.arange(len(lengths), device="cpu") if rank is None else rank
    counts = [int((lengths > t).sum()) for t in range(int(lengths.max()))]
    rows = [int((sizes > row).sum()) for row in ranks.tolist()]
    return (
        CodeLine(f"batch_sizes[t] = (lengths > t).sum()\n# {plan.listed(counts)}"),
        CodeLine(f"lengths[b] = (batch_sizes > rank[b]).sum()\n# {plan.listed(rows)}"),
        CodeLine(f"# rank: {'as given' if rank is None else 'unsorted_indices'}\n# {plan.listed(ranks.tolist())}"),
    )
