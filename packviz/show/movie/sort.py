"""The rows exchange places, longest first; or torch refuses to pack them as they are."""

from collections.abc import Iterable, Iterator, Mapping

from packviz.show.movie.film import Film
from packviz.show.movie.model import Change, CodeLine
from packviz.show.movie.plan import Plan
from packviz.show.movie.program import index, shape
from packviz.show.movie.sort_whys import sorted_whys, threaded, tidied
from packviz.show.movie.staircase import staircase, telling
from packviz.show.movie.threads import brief

__all__ = ["rows_to", "sort"]


def sort(film: Film, plan: Plan) -> None:
    """Film the sort that torch did, or its refusal."""
    code, deep = index(plan, "pack"), "sort" in plan.deep
    if deep and telling(plan) is None:
        film.step("sort", _given_caption(plan), code, brief(plan))
    elif deep:
        staircase(film, plan, brief(plan))
    tidy = list(tidied(film, plan))
    if plan.refused:
        _refusal(film, plan, tidy)
        return
    straight, bent = threaded(film, plan) if deep else ([], [])
    seen = [*tidy, *_lengths(plan, "now")]
    if plan.trace.sorted.sorted_indices is None:
        film.step("sort", _checked_caption(plan), code, seen, name="sorted")
    elif plan.order == sorted(plan.order):
        film.step("sort", _in_order_caption(plan), code, seen, straight, detail=_indices(plan), name="sorted")
    else:
        film.step("sort", _unsorted_caption(plan), code, seen, straight)
        moved = [*rows_to(plan, plan.rank), *bent]
        film.step("sort", _sorted_caption(plan), code, moved, detail=_indices(plan), name="sorted")
    if deep:
        sorted_whys(film, plan)


def rows_to(plan: Plan, row: Mapping[int, int], tokens: str = "token", pads: str = "pad") -> Iterator[Change]:
    """Yield the changes that move every row of the padded grid to its new place."""
    for b in plan.shown:
        yield Change(f"label:{b}", place=plan.grid.label(row[b]))
        yield Change(f"length:{b}", place=plan.grid.length(row[b]))
        for t in range(plan.columns):
            yield Change(f"{tokens if plan.mask[b][t] else pads}:{b}:{t}", place=plan.grid.cell(row[b], t))
    yield Change("title:x", text=f"sorted, padded x {shape(*plan.trace.padded.values.shape)}")


def _refusal(film: Film, plan: Plan, tidy: Iterable[Change]) -> None:
    first = next(b for b in range(1, plan.total[0]) if plan.lengths[b] > plan.lengths[b - 1])
    wrong = (Change(f"length:{b}", tone="wrong") for b in plan.shown if b in (first - 1, first))
    caption = (
        f"**enforce_sorted=True** wants the longest sequence first, but {plan.chips([first])} is longer than "
        f"{plan.chips([first - 1])}: torch refuses, and the run ends here."
    )
    film.step("sort", caption, index(plan, "pack"), [*tidy, *wrong], tone="wrong", error=plan.trace.error or "")


def _lengths(plan: Plan, tone: str) -> Iterator[Change]:
    return (Change(f"length:{b}", tone="now" if tone == "now" else "") for b in plan.shown)


def _indices(plan: Plan) -> tuple[CodeLine, ...]:
    there, back = plan.trace.sorted.sorted_indices, plan.trace.sorted.unsorted_indices
    assert there is not None
    assert back is not None
    size = shape(len(plan.order))
    return (
        CodeLine(f"sorted_indices = {plan.listed(there.tolist())}", size),
        CodeLine(f"unsorted_indices = {plan.listed(back.tolist())}", size),
    )


def _given_caption(plan: Plan) -> str:
    lengths = plan.listed(plan.lengths)
    return f"The rows stand as they were given, with lengths = {lengths}. Packing needs the longest first."


def _checked_caption(plan: Plan) -> str:
    return (
        f"lengths = {plan.listed(plan.lengths)} are in decreasing order, as **enforce_sorted=True** wants them. "
        "torch only checks: sorted_indices stays None."
    )


def _in_order_caption(plan: Plan) -> str:
    return f"lengths = {plan.listed(plan.lengths)} are in decreasing order already: the sort moves no row."


def _unsorted_caption(plan: Plan) -> str:
    lengths = f"lengths = {plan.listed(plan.lengths)}"
    if sorted(plan.lengths, reverse=True) == plan.lengths:
        return f"{lengths} are in decreasing order already, but torch's sort does not leave equal ones as they came."
    return f"{lengths} are not in decreasing order. **pack_padded_sequence** sorts the rows by them."


def _sorted_caption(plan: Plan) -> str:
    ties = len(set(plan.lengths)) < len(plan.lengths)
    among = "; among equal lengths the order is the one torch returned" if ties else ""
    indices = plan.listed(plan.order)
    return f"Longest first: {plan.chips(plan.order)} exchange places. **sorted_indices** = {indices}{among}."
