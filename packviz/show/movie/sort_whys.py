"""What a lesson on the sort adds: the threads, both permutations, equal lengths, and the order of h_0 and h_n."""

from collections.abc import Iterator

from packviz.show.movie.film import Film
from packviz.show.movie.lanes import sort_scene
from packviz.show.movie.model import Change, CodeLine
from packviz.show.movie.outlines import outlines_gone
from packviz.show.movie.plan import Plan
from packviz.show.movie.program import index, shape
from packviz.show.movie.staircase import prefix
from packviz.show.movie.threads import folded, indexed, led, lines, linked, returned
from packviz.show.movie.ties import equals

__all__ = ["sorted_whys", "threaded", "tidied"]


def tidied(film: Film, plan: Plan) -> Iterator[Change]:
    """Yield the changes that take away what the steps before have marked."""
    yield from outlines_gone(film)
    yield from (Change(f"axis:{t}", tone="") for t in range(plan.columns))


def threaded(film: Film, plan: Plan) -> tuple[list[Change], list[Change]]:
    """Make room for the threads; return how they appear, straight, and how they follow the sort."""
    if plan.trace.sorted.sorted_indices is None:
        return [], []
    film.scenes["sort"] = sort_scene(plan)
    film.add(*lines(plan))
    return list(linked(plan)), list(led(plan, plan.rank))


def sorted_whys(film: Film, plan: Plan) -> None:
    """Film what follows from the order, and then the sorted rows alone again."""
    prefix(film, plan)
    code = index(plan, "pack")
    if plan.trace.sorted.sorted_indices is None:
        film.step("sort", _none_caption(), code, tidied(film, plan), detail=_none_detail())
        return
    film.step(
        "sort", _inverse_caption(plan), code, [*tidied(film, plan), *indexed(plan, shown=True)], detail=_inverse(plan)
    )
    equals(film, plan)
    away = [*tidied(film, plan), *indexed(plan, shown=False)]
    film.step("sort", _state_caption(plan), code, away, *returned(plan), detail=_state_detail(plan))
    film.step("sort", _end_caption(plan), code, folded(plan))


def _none_detail() -> tuple[CodeLine, ...]:
    return CodeLine("packed.sorted_indices is None"), CodeLine("packed.unsorted_indices is None")


def _inverse(plan: Plan) -> tuple[CodeLine, ...]:
    there, back = plan.trace.sorted.sorted_indices, plan.trace.sorted.unsorted_indices
    assert there is not None
    assert back is not None
    size = shape(len(there))
    return (
        CodeLine(f"sorted_indices = {plan.listed(there.tolist())}", size),
        CodeLine(f"unsorted_indices = {plan.listed(back.tolist())}", size),
        CodeLine("unsorted_indices[sorted_indices]", size),
        CodeLine(f"= {plan.listed(back[there].tolist())}"),
    )


def _state_detail(plan: Plan) -> tuple[CodeLine, ...]:
    start, end = shape(*plan.trace.h_0.shape), shape(*plan.trace.h_n.shape)
    return CodeLine("h_0[:, sorted_indices]", start), CodeLine("h_n[:, unsorted_indices]", end)


def _none_caption() -> str:
    return (
        "With **enforce_sorted=True** nothing moves, so sorted_indices and unsorted_indices are both None. "
        "h_0 goes in, and h_n comes out, in this same order."
    )


def _inverse_caption(plan: Plan) -> str:
    order, rank = plan.order, plan.trace.sorted.rank.tolist()
    k = next((k for k, b in enumerate(order) if k != b), 0)
    b, line = order[k], "row" if plan.batch_first else "column"
    return (
        f"**sorted_indices[{k}] = {b}**: {line} {k} is {plan.chips([b])}. **unsorted_indices[{b}] = {rank[b]}** leads "
        "back: unsorted_indices[sorted_indices[k]] = k for every k."
    )


def _state_caption(plan: Plan) -> str:
    names = "**h_0** and **h_n**, c_0 and c_n too," if plan.cell == "lstm" else "**h_0** and **h_n**"
    return (
        f"{names} stay in the order as given. torch itself takes h_0[:, sorted_indices] on the way in and "
        "h_n[:, unsorted_indices] on the way out."
    )


def _end_caption(plan: Plan) -> str:
    return f"This is the **x** that is packed, longest sequence first: {shape(*plan.trace.padded.values.shape)}."
