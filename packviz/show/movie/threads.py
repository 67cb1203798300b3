"""The threads from the original order to the sorted rows and back, and the two permutations that they draw."""

from collections.abc import Iterable, Iterator, Mapping

from packviz.show.movie.lanes import Lane, lanes
from packviz.show.movie.model import Cell, Change
from packviz.show.movie.plan import Plan

__all__ = ["brief", "folded", "indexed", "led", "lines", "linked", "returned"]


def lines(plan: Plan) -> Iterator[Cell]:
    """Yield the letters, threads and permutations beside the grid, none of them shown yet."""
    before, behind = lanes(plan)
    for lane in (before, behind):
        yield Cell(f"title:{lane.name}", "title", lane.heading("letter"), shown=False)
        for b in plan.shown:
            yield from _lines_of(plan, lane, b)
    if not plan.small:
        yield from _permutations(plan)


def brief(plan: Plan) -> Iterator[Change]:
    """Yield the changes that write lengths as bare numbers where sequences stand side by side, closer than before."""
    if plan.transposed and not plan.enforce_sorted:
        yield from (Change(f"length:{b}", text=str(plan.lengths[b])) for b in plan.shown)


def linked(plan: Plan) -> Iterator[Change]:
    """Yield the changes that show the original order, each letter with its thread straight to its row."""
    yield from brief(plan)
    yield Change("title:from", text="as given", shown=True)
    for b in plan.shown:
        yield Change(f"from:{b}", shown=True)
        yield Change(f"thread:from:{b}", shown=True)
        if not plan.transposed:
            yield Change(f"flength:{b}", shown=True)


def led(plan: Plan, row: Mapping[int, int]) -> Iterator[Change]:
    """Yield the changes that let every thread follow its row."""
    lane, _ = lanes(plan)
    for b in plan.shown:
        wide, high = lane.thread(row[b] - plan.place[b])
        yield Change(f"thread:from:{b}", w=wide, h=high)


def indexed(plan: Plan, *, shown: bool) -> Iterator[Change]:
    """Yield the changes that show or hide the two permutations."""
    if not plan.small:
        yield from (Change(cell.id, shown=shown) for cell in _permutations(plan))
        before, behind = lanes(plan)
        name, over = ("unsorted_indices", "index") if shown else ("as given", "letter")
        yield Change("title:from", text=name, place=before.heading(over))
        yield Change("title:to", text="sorted_indices", place=behind.heading("index"), shown=shown)


def returned(plan: Plan) -> tuple[Iterable[Change], Iterable[Change]]:
    """Return two beats: the rows of h_n in the sorted order, and their way back along the threads."""
    _, lane = lanes(plan)
    there = [Change("title:from", text="h_0"), Change("title:to", text="h_n", place=lane.heading("letter"), shown=True)]
    for b in plan.shown:
        there += [Change(f"to:{b}", shown=True), Change(f"thread:to:{b}", shown=True)]
    back = []
    for b in plan.shown:
        wide, high = lane.thread(plan.place[b] - plan.rank[b])
        back += [Change(f"to:{b}", place=lane.at("letter", plan.place[b])), Change(f"thread:to:{b}", w=wide, h=high)]
    return there, back


def folded(plan: Plan) -> Iterator[Change]:
    """Yield the changes that take all of it away again."""
    yield from (Change(cell.id, shown=False) for cell in lines(plan))
    yield from (Change(f"length:{b}", text=f"len {plan.lengths[b]}") for b in plan.shown)


def _lines_of(plan: Plan, lane: Lane, b: int) -> Iterator[Cell]:
    p = plan.place[b] if lane.name == "from" else plan.rank[b]
    wide, high = lane.size("letter")
    yield Cell(
        f"{lane.name}:{b}", "label", lane.at("letter", p), wide, high, text=plan.label(b), sequence=b, shown=False
    )
    wide, high = lane.thread(0.0)
    yield Cell(
        f"thread:{lane.name}:{b}", "thread", lane.at("thread", p + 0.5), wide, high, sequence=b, shown=False
    )  # fmt: skip
    if lane.name == "from" and not plan.transposed:
        yield Cell(f"flength:{b}", "note", lane.at("length", p), text=str(plan.lengths[b]), sequence=b, shown=False)


def _permutations(plan: Plan) -> Iterator[Cell]:
    """unsorted_indices beside the original order, sorted_indices beside the rows; each with its index 0 to B-1."""
    before, behind = lanes(plan)
    unsorted_, order = plan.trace.sorted.rank.tolist(), plan.order
    for b, row in enumerate(unsorted_):
        yield from _entry(plan, before, b, b, row)
    for row, b in enumerate(order):
        yield from _entry(plan, behind, row, b, b)


def _entry(plan: Plan, lane: Lane, k: int, b: int, value: int) -> Iterator[Cell]:
    wide, high = lane.size("index")
    yield Cell(f"{lane.name}axis:{k}", "axis", lane.at("index", k), wide, high, text=str(k), shown=False)
    wide, high = lane.size("cell")
    first = plan.token_number.get((b, plan.lead(b)))
    name = "unsorted" if lane.name == "from" else "sorted"
    yield Cell(
        f"{name}:{k}", "token", lane.at("cell", k), wide, high, text=str(value), sequence=b, token=first, shown=False
    )
