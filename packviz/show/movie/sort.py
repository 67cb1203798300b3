"""The rows exchange places, longest first, or torch refuses to pack them; in depth, what follows from it."""

from collections.abc import Iterator
from itertools import groupby
from typing import Any

import numpy as np

from packviz.facts.equal_lengths import Tie, first_unstable, ties
from packviz.show.movie.embed import embed_end, embed_scene
from packviz.show.movie.lanes import Lane, lanes, lanes_scene
from packviz.show.movie.layout import Scene
from packviz.show.movie.marks import Frame, Marks, frame, marks
from packviz.show.movie.sheet import around, outline, sheet, texts
from packviz.show.movie.step import CodeLine, Step
from packviz.show.movie.view import View, listed, once, shape
from packviz.show.movie.words import say


def sort(view: View) -> Iterator[Step]:
    """Show the sort that torch did, or its refusal."""
    deep, given = "sort" in view.deep, embed_end(view)
    if deep:
        yield _given_step(view, _brief(view, given))
    if view.refused:
        yield _refusal(view, given)
        return
    lit = {**given, "length": given["length"].but(tone="now")}
    if view.trace.sorted.sorted_indices is None:
        yield Step(say("sort", "checked", view), (lit,), name="sorted")
        if deep:
            yield _prefix_step(view, lit)
            yield Step(say("sort", "none", view), (lit,), detail=_none_detail())
        return
    lit = _brief(view, lit) if deep else lit
    threads = _threads(view, view.place) if deep else {}
    if view.order == sorted(view.order):
        frames: tuple[Frame, ...] = (lit, {**lit, **threads}) if deep else (lit,)
        yield Step(say("sort", "in_order", view), frames, detail=_indices(view), name="sorted")
    else:
        yield Step(say("sort", "unsorted", view), (lit, {**lit, **threads}) if deep else (lit,))
        moved = sort_end(view)
        frames = ({**_brief(view, moved), **threads}, {**_brief(view, moved), **_threads(view, view.rank)})
        yield Step(say("sort", "sorted", view), frames if deep else (moved,), detail=_indices(view), name="sorted")
    if deep:
        yield from _whys(view)


@once
def sort_end(view: View) -> Frame:
    """Return the sorted grid as the stage leaves it: its lengths lit, where they were looked at."""
    if view.refused:
        return embed_end(view)
    if view.order == sorted(view.order):
        given = embed_end(view)
        return {**given, "length": given["length"].but(tone="now")}
    end = sorted_grid(view)
    return {**end, "length": end["length"].but(tone="now")}


@once
def sorted_grid(view: View) -> Frame:
    """Return the grid with its rows in sorted order."""
    if view.order == sorted(view.order):
        return embed_end(view)
    return sheet(view, view.grid, view.rank, f"sorted, padded x {shape(*view.trace.padded.values.shape)}")


def sort_scene(view: View) -> Scene:
    """Return the scene of the sort, with room for threads where they are shown."""
    threaded = "sort" in view.deep and not view.refused and view.trace.sorted.sorted_indices is not None
    return lanes_scene(view) if threaded else embed_scene(view)


def _refusal(view: View, given: Frame) -> Step:
    first = view.first_longer
    tone = np.where(np.isin(view.bs, (first - 1, first)), "wrong", "")
    seen = {**given, "length": given["length"].but(tone=tone)}
    return Step(say("sort", "refused", view, first=first), (seen,), tone="wrong", error=view.trace.error or "")


def _whys(view: View) -> Iterator[Step]:
    """Show what follows from the order, and then the sorted rows alone again."""
    end = sort_end(view)
    brief = _brief(view, end)
    plain = {**brief, **_threads(view, view.rank)}
    yield _prefix_step(view, plain)
    indexed = {**plain, **_permutations(view)}
    order, rank = view.order, view.trace.sorted.rank.tolist()
    k = next((k for k, b in enumerate(order) if k != b), 0)
    caption = say("sort", "inverse", view, k=k, b=order[k], back=rank[order[k]], line=_line(view))
    yield Step(caption, (indexed,), detail=_inverse(view))
    tie = max(ties(view.trace), key=lambda tie: (not tie.as_they_came, len(tie.sequences)), default=None)
    if tie:
        yield Step(say("sort", "tie", view, tie=tie, limit=first_unstable()), ({**indexed, **_tied(view, tie)},))
    ways = (_returning(view, view.rank), _returning(view, view.place))
    yield Step(say("sort", "state", view), (plain, *({**plain, **way} for way in ways)), detail=_state_detail(view))
    yield Step(say("sort", "end", view), (end,))


def _brief(view: View, grid: Frame) -> dict[str, Marks]:
    """Return the grid with lengths as bare numbers where sequences stand side by side, closer than before."""
    if not view.transposed or view.enforce_sorted:
        return dict(grid)
    length = grid["length"]
    return {**grid, "length": length.but(text=length.look["sub"])}


def _threads(view: View, row: Any) -> Frame:
    """Return the original order, each letter with its thread to its row."""
    before, _ = lanes(view)
    p, bs = view.place[view.bs], view.bs
    title = marks("title:from", "title", before.heading("letter"), text="as given")
    thread = _thread(view, before, p, row[bs] - p)
    groups = [title, _letters(view, before, p), thread]
    if not view.transposed:
        text = texts(view.lengths[b] for b in view.shown)
        groups.append(marks("flength", "note", before.at("length", p), (bs,), seq=bs, text=text))
    return frame(*groups)


def _letters(view: View, lane: Lane, p: Any) -> Marks:
    place, bs = lane.at("letter", p), view.bs
    return marks(lane.name, "label", place, (bs,), seq=bs, text=view.letters, **lane.size("letter"))


def _thread(view: View, lane: Lane, p: Any, rows: Any) -> Marks:
    place = lane.at("thread", p + 0.5)
    return marks(f"thread:{lane.name}", "thread", place, (view.bs,), seq=view.bs, **lane.thread(rows))


def _permutations(view: View) -> Frame:
    """Return unsorted_indices beside the original order, sorted_indices beside the rows, each with its index."""
    if view.small:
        return {}
    before, behind = lanes(view)
    rank, order = view.trace.sorted.rank.numpy(), np.array(view.order)
    return frame(
        marks("title:from", "title", before.heading("index"), text="unsorted_indices"),
        marks("title:to", "title", behind.heading("index"), text="sorted_indices"),
        *_entries(view, before, "unsorted", np.arange(len(rank)), rank),
        *_entries(view, behind, "sorted", order, order),
    )


def _entries(view: View, lane: Lane, name: str, b: Any, values: Any) -> Iterator[Marks]:
    k = np.arange(len(values))
    yield marks(f"{lane.name}axis", "axis", lane.at("index", k), (k,), text=texts(k), **lane.size("index"))
    first = view.token_number[b, np.minimum(view.leads[b], view.total[1] - 1)]
    yield marks(
        name, "token", lane.at("cell", k), (k,), seq=b, text=texts(values), token=first,
        says=f"!{name}_indices[{{k}}] = {{text}}", **lane.size("cell"),
    )  # fmt: skip


def _returning(view: View, row: Any) -> Frame:
    """Return the rows of h_n behind the grid, in the sorted order or on their way back along the threads."""
    before, behind = lanes(view)
    p, to = view.rank[view.bs], row[view.bs]
    return frame(
        marks("title:from", "title", before.heading("letter"), text="h_0"),
        marks("title:to", "title", behind.heading("letter"), text="h_n"),
        _letters(view, behind, to),
        _thread(view, behind, p, to - p),
    )


def _tied(view: View, tie: Tie) -> Frame:
    """Return the outline around the rows of one length, where they are shown."""
    shown = [int(view.rank[b]) for b in tie.sequences if view.rank[b] >= 0]
    if not shown:
        return {}
    return frame(outline("mark:tie", view.grid, shown[0], 0, rows=len(shown), columns=view.columns))


def _live(view: View, t: int) -> list[int]:
    """Return the sequences that are longer than t, in the original order."""
    return [b for b, length in enumerate(view.lengths) if length > t]


def _holes(view: View, t: int) -> list[int]:
    """Return the sequences that are over at t, though one that is live stands after them."""
    last = max(_live(view, t), default=-1)
    return [b for b in range(last) if view.lengths[b] <= t]


def _telling(view: View) -> int | None:
    """Return the time step with the plainest hole, between live rows if there is one; None without any to be seen."""

    def plainness(t: int) -> tuple[bool, bool, int, int]:
        over = _holes(view, t)
        between = min(_live(view, t)) < min(over)
        return all(b in shown for b in over), between, -len(over), len(_live(view, t))

    shown = set(view.shown)
    steps = [t for t in range(1, min(view.columns, max(view.lengths))) if set(_holes(view, t)) & shown]
    return max(steps, key=plainness, default=None)


def _given_step(view: View, given: Frame) -> Step:
    """Show the rows as they were given, at a time step at which the first ones are not the live ones."""
    t = _telling(view)
    if t is None:
        return Step(say("sort", "given", view), (given,))
    seen = {**given, "axis": _axis_lit(given, t), **_runs(view, t)}
    return Step(say("sort", "hole", view, **_at(view, t), alive=_live(view, t), over=_holes(view, t)), (seen,), time=t)


def _axis_lit(grid: Frame, t: int) -> Marks:
    axis = grid["axis"]
    return axis.but(tone=np.where(np.arange(axis.count) == t, "now", ""))


def _runs(view: View, t: int) -> Frame:
    """Return an outline around every run of live rows, and around every hole among them."""
    last = max(_live(view, t))
    rows = [(p, view.lengths[b] > t) for p, b in enumerate(view.shown) if b <= last]
    runs = [(alive, [p for p, _ in run]) for alive, run in groupby(rows, key=lambda row: row[1])]
    first, count = (np.array(column) for column in zip(*((run[0], len(run)) for _, run in runs), strict=True))
    tone = np.array(["now" if alive else "wrong" for alive, _ in runs])
    outlines = marks("mark:row", "mark", view.grid.cell(first, t), (view.bs[first],), tone=tone)
    return frame(outlines.but(**around(view.grid, first, t, count)))


def _prefix_step(view: View, seen: Frame) -> Step:
    """Show the same time step after the sort: the live rows are the first ones."""
    t = _telling(view)
    if t is None:  # then the first at which somebody is over, or the last one
        steps = range(len(view.alive))
        t = next((t for t in steps if view.batch_sizes[t] < view.total[0]), steps[-1])
    first = outline("mark:first", view.grid, 0, t, rows=len(view.alive[t]), tone="good")
    lit = {**seen, "axis": _axis_lit(seen, t), **frame(first)}
    return Step(say("sort", "prefix", view, **_at(view, t)), (lit,), detail=(_slice(view, t),), time=t)


def _slice(view: View, t: int) -> CodeLine:
    size, sorted_ = view.batch_sizes[t], view.trace.sorted.sorted_indices is not None
    rows = f"[:{size}, {t}]" if view.batch_first else f"[{t}, :{size}]"
    return CodeLine(f"{'x_sorted' if sorted_ else 'x'}{rows}", shape(size, view.features))


def _both(view: View) -> tuple[Any, Any]:
    there, back = view.trace.sorted.sorted_indices, view.trace.sorted.unsorted_indices
    assert there is not None
    assert back is not None
    return there, back


def _indices(view: View) -> tuple[CodeLine, ...]:
    there, back = _both(view)
    size = shape(len(there))
    return (
        CodeLine(f"sorted_indices = {listed(there.tolist())}", size),
        CodeLine(f"unsorted_indices = {listed(back.tolist())}", size),
    )


def _inverse(view: View) -> tuple[CodeLine, ...]:
    there, back = _both(view)
    again = CodeLine("unsorted_indices[sorted_indices]", shape(len(there)))
    return (*_indices(view), again, CodeLine(f"= {listed(back[there].tolist())}"))


def _none_detail() -> tuple[CodeLine, ...]:
    return CodeLine("packed.sorted_indices is None"), CodeLine("packed.unsorted_indices is None")


def _state_detail(view: View) -> tuple[CodeLine, ...]:
    start, end = shape(*view.trace.h_0.shape), shape(*view.trace.h_n.shape)
    return CodeLine("h_0[:, sorted_indices]", start), CodeLine("h_n[:, unsorted_indices]", end)


def _at(view: View, t: int) -> dict[str, Any]:
    """Return what a caption on a time step needs."""
    left = view.padding_side == "left"
    return {"t": t, "at": f"By the lengths, at t = {t}" if left else f"At t = {t}", "line": _line(view)}


def _line(view: View) -> str:
    """What a sequence is in x as it is laid out."""
    return "row" if view.batch_first else "column"
