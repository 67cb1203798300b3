"""Sorting: the rows move into order, longest first, or torch refuses to pack them; in depth, what follows from it.

In depth the original order is shown before and after the sorted grid, in two lanes with room for threads.
"""

from collections.abc import Iterator
from itertools import groupby
from typing import Any

import numpy as np

from packviz.facts.torch_says import Tie, first_unstable, ties
from packviz.show.movie.layout import Scene, above, beside
from packviz.show.movie.marks import CodeLine, Frame, Step, frame
from packviz.show.movie.once import once
from packviz.show.movie.packing import inputs, packed_rows, places, recurrent
from packviz.show.movie.packing.embed import embed_end, embed_scene
from packviz.show.movie.packing.sheet import outline, sheet
from packviz.show.movie.packing.threads import lanes, permutations, returning, threads_of
from packviz.show.movie.packing.view import View, listed
from packviz.show.movie.packing.words import say
from packviz.text import shape

HEADING = 7.5  # units of text: the width of the grid's heading


def sort(view: View) -> Iterator[Step]:
    """Show torch's sort, or its refusal."""
    deep, unsorted, first = "sort" in view.deep, embed_end(view), inputs.first_longer(view)
    if deep:
        yield _given_step(view, {**_brief(view, unsorted), **_threads(view, view.place)})
    if inputs.refused(view):
        tone = np.where(np.isin(view.shown, (first - 1, first)), "wrong", "")
        seen = {**unsorted, "length": unsorted["length"].but(tone=tone)}
        yield Step(
            say("sort.refused", longer=first, before=first - 1), (seen,), tone="wrong", error=inputs.refusal(view)
        )
        return
    lit = {**unsorted, "length": unsorted["length"].but(tone="now")}
    if view.trace.sorted.sorted_indices is None:
        yield Step(say("sort.checked", lengths=view.lengths), (lit,), name="sorted")
        if deep:
            yield _prefix_step(view, lit)
            none = CodeLine("packed.sorted_indices is None"), CodeLine("packed.unsorted_indices is None")
            yield Step(say("sort.none"), (lit,), detail=none)
        return
    lit, moved = (_brief(view, each) if deep else each for each in (lit, sort_end(view)))
    before, after = (_threads(view, row) if deep else {} for row in (view.place, view.rank))
    came = ({**lit, **before},)
    if view.order == sorted(view.order):
        yield Step(_in_order_caption(view), came, detail=_indices(view), name="sorted")
    else:
        yield Step(_unsorted_caption(view), came)
        frames = ({**moved, **before}, {**moved, **after}) if deep else (moved,)
        yield Step(_sorted_caption(view), frames, detail=_indices(view), name="sorted")
    if deep:
        yield from _whys(view, {**moved, **after})


@once
def sort_end(view: View) -> Frame:
    """Return the sorted grid as it is after the stage, its lengths highlighted if they were discussed."""
    end = sorted_grid(view)
    return end if inputs.refused(view) else {**end, "length": end["length"].but(tone="now")}


@once
def sorted_grid(view: View) -> Frame:
    """Return the grid with its rows in sorted order."""
    if view.order == sorted(view.order):
        return embed_end(view)
    return sheet(view, places.grid(view), view.rank, f"sorted, padded x {shape(*view.trace.padded.values.shape)}")


def sort_scene(view: View, *, threads: bool = True, lengths: bool = True) -> Scene:
    """Return the scene of the sort: the grid, between the two lanes if threads are shown.

    threads: whether any lead to the lane after the grid; otherwise, on a tall screen, that lane is below.
    lengths: whether they are shown, after the grid.
    """
    if "sort" not in view.deep or inputs.refused(view) or view.trace.sorted.sorted_indices is None:
        return embed_scene(view)
    grid, (before, behind) = places.grid(view).box(counts=False, lengths=lengths), (lane.box() for lane in lanes(view))
    if view.transposed:
        return Scene([above(before, grid, behind, gap=0.0)])
    rows = beside(before, grid.at_least(HEADING * view.text), gap=0.0)
    room = 0.0 if lengths else view.text  # for the heading of the lane, which is wider than it
    tall = beside(rows, behind, gap=0.0) if threads else above(rows, behind)
    return Scene([beside(rows, behind, gap=room)], [tall])


def _alone(view: View) -> tuple[str, Scene]:
    """Return the scene with the lane before the grid; without it where cells would be small, as on a tall screen."""
    wide, tall = sort_scene(view).wide, embed_scene(view).wide
    return "rows", Scene(tall if view.transposed else wide, tall)


def _whys(view: View, plain: Frame) -> Iterator[Step]:
    """Show what follows from the order, for the sorted rows alone or with their threads.

    Steps that use both lanes have their own scene, without the lengths: the others have larger cells.
    """
    whole = {**sort_end(view), **threads_of(view, view.rank)}
    yield _prefix_step(view, whole)._replace(scene=_alone(view))
    made = view.trace.sorted
    indices: Any = made.sorted_indices
    back: Any = made.unsorted_indices
    rows = {name: group for name, group in plain.items() if name != "length"}
    tie = max(ties(view.trace), key=lambda tie: (not tie.as_they_came, len(tie.sequences)), default=None)
    indexed = {**(plain if tie else rows), **permutations(view)}  # a tie is one of lengths
    both = CodeLine("unsorted_indices[sorted_indices]", shape(len(indices)))
    result = CodeLine(f"= {listed(back[indices].tolist())}")
    where = ("order", sort_scene(view, threads=False, lengths=bool(tie)))
    yield Step(_inverse_caption(view), (indexed,), detail=(*_indices(view), both, result), scene=where)
    if tie:
        shown = [int(view.rank[b]) for b in tie.sequences if view.rank[b] >= 0]
        outlines = (
            outline("mark:tie", places.grid(view), (row, 0), len(shown), view.columns, tone="now") for row in shown[:1]
        )
        yield Step(_tie_caption(tie), ({**indexed, **frame(*outlines)},), scene=where)
    ways = (returning(view, view.rank), returning(view, view.place))
    start, end = shape(*view.trace.h_0.shape), shape(*view.trace.h_n.shape)
    detail = CodeLine("h_0[:, sorted_indices]", start), CodeLine("h_n[:, unsorted_indices]", end)
    frames = (rows, *({**rows, **way} for way in ways))
    states = say("sort.states_lstm" if recurrent.is_lstm(view) else "sort.states")
    yield Step(states, frames, detail=detail, scene=("state", sort_scene(view, lengths=False)))
    end = say("sort.end_equal" if _equal(view) else "sort.end", size=shape(*view.trace.padded.values.shape))
    yield Step(end, (whole,), scene=_alone(view))


def _threads(view: View, row: np.ndarray) -> Frame:
    """Return the threads to these rows, if torch sorts."""
    bare = inputs.refused(view) or view.trace.sorted.sorted_indices is None
    return {} if bare else threads_of(view, row)


def _equal(view: View) -> bool:
    return len(set(view.lengths)) == 1


def _given_caption(view: View) -> str:
    if len(view.lengths) == 1:
        return say("sort.given_alone", length=view.lengths[0])
    return say("sort.given", lengths=view.lengths)


def _hole_caption(view: View, t: int, live: list[int]) -> str:
    """Say which sequences are live at t, and that others would be packed."""
    line = inputs.line(view)
    if inputs.padding_side(view) == "left":
        return say("sort.not_first_left", t=t, live=live, line=line)
    return say("sort.not_first", t=t, live=live, line=line, first=range(len(live)))


def _in_order_caption(view: View) -> str:
    if len(view.lengths) == 1:
        return say("sort.in_order_alone", line=inputs.line(view))
    return say("sort.in_order", lengths=view.lengths, line=inputs.line(view))


def _unsorted_caption(view: View) -> str:
    if view.lengths == sorted(view.lengths, reverse=True):
        return say("sort.unsorted_equal", lengths=view.lengths)
    return say("sort.unsorted", line=inputs.line(view))


def _sorted_caption(view: View) -> str:
    line, order = inputs.line(view), view.order
    key = "sort.sorted_equal" if _equal(view) else "sort.sorted"
    return say(key, line=line, order=order, first=order[0])


def _prefix_caption(view: View, t: int) -> str:
    line, size = inputs.line(view), view.batch_sizes[t]
    every = size == view.total[0]
    if inputs.padding_side(view) == "left":
        return say("sort.every_left" if every else "sort.first_left", line=line, t=t, size=size)
    if every:
        return say("sort.every", line=line, t=t, size=size)
    return say("sort.now_first", "sort.first", line=line, t=t, size=size)


def _inverse_caption(view: View) -> str:
    """Show both indices for the first sequence that has moved, or for the first one if none has."""
    moved = [(k, b) for k, b in enumerate(view.order) if k != b]
    if not moved:
        return say("sort.inverse_unmoved", b=view.order[0], line=inputs.line(view))
    k, b = moved[0]
    return say("sort.inverse", k=k, b=b, line=inputs.line(view))


def _tie_caption(tie: Tie) -> str:
    if not tie.as_they_came:
        return say("sort.tie_turned", equal=tie.sequences, length=tie.length)
    limit = first_unstable()
    if limit is None:
        return say("sort.tie", equal=tie.sequences, length=tie.length)
    return say("sort.tie", "sort.tie_limit", equal=tie.sequences, length=tie.length, limit=limit)


def _brief(view: View, grid: Frame) -> Frame:
    """Return the grid, its lengths as bare numbers if they are below columns, which are narrow."""
    if inputs.enforce_sorted(view) or not view.transposed:
        return grid
    return {**grid, "length": grid["length"].but(text=grid["length"].look["sub"])}


def _rows_at(view: View, t: int) -> tuple[list[int], list[int]]:
    """Return the sequences that are live at t, and the ended ones that precede a live one."""
    live = [b for b, length in enumerate(view.lengths) if length > t]
    return live, [b for b in range(max(live, default=0)) if b not in live]


def _clearest_step(view: View) -> int | None:
    """Return the time step whose live rows are most clearly not contiguous; None if there is none among those shown."""

    def plainness(t: int) -> tuple[bool, bool, int, int]:
        live, over = _rows_at(view, t)
        return shown.issuperset(over), min(live) < min(over), -len(over), len(live)

    shown = set(view.shown)
    steps = [t for t in range(1, min(view.columns, max(view.lengths))) if shown.intersection(_rows_at(view, t)[1])]
    return max(steps, key=plainness, default=None)


def _given_step(view: View, given: Frame) -> Step:
    """Show the rows in the given order, at a time step whose live rows are not contiguous from the first row on.

    Every run of live rows is outlined, and so is every run of ended rows among them.
    """
    t = _clearest_step(view)
    if t is None:
        return Step(_given_caption(view), (given,), scene=_alone(view))
    live, _ = _rows_at(view, t)
    rows = [(p, b in live) for p, b in enumerate(view.shown) if b <= max(live)]
    runs = [(is_live, [p for p, _ in run]) for is_live, run in groupby(rows, key=lambda row: row[1])]
    first, count = (np.array(column) for column in zip(*((run[0], len(run)) for _, run in runs), strict=True))
    tone = np.array(["now" if is_live else "wrong" for is_live, _ in runs])
    outlines = outline("mark:row", places.grid(view), (first, t), count, 1, view.shown[first], tone=tone)
    seen = {**given, **_axis_lit(given, t), **frame(outlines)}
    return Step(_hole_caption(view, t, live), (seen,), time=t, scene=_alone(view))


def _axis_lit(grid: Frame, t: int) -> Frame:
    axis = grid["axis"]
    return {"axis": axis.but(tone=np.where(np.arange(axis.count) == t, "now", ""))}


def _prefix_step(view: View, seen: Frame) -> Step:
    """Show the same time step after the sort: the live rows come first."""
    t = _clearest_step(view)
    if t is None:  # then the first at which a sequence has ended, or the last one
        steps = range(len(packed_rows.live(view)))
        t = next((t for t in steps if view.batch_sizes[t] < view.total[0]), steps[-1])
    first = outline("mark:first", places.grid(view), (0, t), len(packed_rows.live(view)[t]), tone="good")
    size, x = view.batch_sizes[t], "x" if view.trace.sorted.sorted_indices is None else "x_sorted"
    rows = f"[:{size}, {t}]" if inputs.batch_first(view) else f"[{t}, :{size}]"
    detail = (CodeLine(f"{x}{rows}", shape(size, inputs.features(view))),)
    lit = {**seen, **_axis_lit(seen, t), **frame(first)}
    return Step(_prefix_caption(view, t), (lit,), detail=detail, time=t)


def _indices(view: View) -> tuple[CodeLine, ...]:
    made: Any = view.trace.sorted
    named = {"sorted_indices": made.sorted_indices, "unsorted_indices": made.unsorted_indices}
    return tuple(CodeLine(f"{name} = {listed(each.tolist())}", shape(len(each))) for name, each in named.items())
