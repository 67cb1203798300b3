"""Packing: columns move into the strip one by one, and batch_sizes are counted on the way."""

from collections.abc import Iterator
from itertools import accumulate
from typing import Any

import numpy as np

from packviz.show.movie.layout import Column, Place, Scene, Strip, above, beside
from packviz.show.movie.marks import (
    NONE,
    CodeLine,
    Frame,
    Shot,
    Step,
    StepSeries,
    filmed,
    frame,
    marks,
    title,
)
from packviz.show.movie.once import once
from packviz.show.movie.packing import inputs, matrices, packed_rows, places, token_table
from packviz.show.movie.packing.embed import embed_scene
from packviz.show.movie.packing.sheet import focus, named, steps, texts
from packviz.show.movie.packing.sort import sort_end, sorted_grid
from packviz.show.movie.packing.view import View, listed
from packviz.show.movie.packing.words import say
from packviz.show.movie.written import scaled
from packviz.text import shape

CROWDED = 24  # from this many time steps on, there is no room to highlight all counts at once
Look = dict[str, Any]


def pack(view: View) -> Iterator[Shot]:
    """Show one step for every time step; in depth, what the counts are."""
    if "pack" in view.deep:
        yield Step(_before_caption(view), (sort_end(view),), scene=("pack:start", embed_scene(view)))
    width, name = view.trace.packed.data.shape[1], "x" if view.trace.sorted.sorted_indices is None else "x_sorted"
    steps = []
    for t in range(len(packed_rows.live(view))):
        start, size = packed_rows.offsets(view)[t], view.batch_sizes[t]
        taken = f"{name}[:{size}, {t}]" if inputs.batch_first(view) else f"{name}[{t}, :{size}]"
        detail = (
            CodeLine(f"data[{start}:{start + size}] = {taken}", shape(size, width)),
            CodeLine(f"batch_sizes = {listed(view.batch_sizes[: t + 1])}", shape(t + 1)),
        )
        steps.append(Step(_step_caption(view, t), detail=detail, time=t, beats=2))
    yield StepSeries(_film(view), steps)
    if "pack" in view.deep:
        yield _margins(view, lit(view, pack_end(view), -1))


def _before_caption(view: View) -> str:
    column = inputs.time_line(view)
    if len(view.batch_sizes) == 1:
        return say("pack.before_single", column=column)
    in_place = view.trace.sorted.sorted_indices is None
    return say("pack.before" if in_place else "pack.before_sorted", column=column)


def _step_caption(view: View, t: int) -> str:
    """Say which sequences have a row at a time step, and what of it is a pad or left out."""
    size, live = view.batch_sizes[t], packed_rows.live(view)[t]
    pads = [b for b in live if not view.mask[b, t]]
    dropped = [b for b in view.ranked if view.mask[b, t] and b not in live]
    if pads:
        return say("pack.pads", t=t, size=size, pads=pads)
    if dropped:
        return say("pack.dropped", t=t, size=size, dropped=dropped)
    if packed_rows.pads(view):
        taken = say("pack.by_lengths", t=t, size=size)
    elif size == view.total[0]:
        taken = say("pack.every", t=t, size=size)
    else:
        taken = say("pack.only", t=t, size=size, live=view.order[:size])
    return f"{taken} {_rows_caption(view, t)}"


def _rows_caption(view: View, t: int) -> str:
    """Say how many rows data has after a time step."""
    rows, pads = sum(view.batch_sizes[: t + 1]), packed_rows.pads(view)
    if t == len(view.batch_sizes) - 1:
        return say("pack.all_rows_pads", rows=rows, pads=pads) if pads else say("pack.all_rows", rows=rows)
    if t:
        return say("pack.rows", rows=rows)
    return say("pack.first_row") if rows == 1 else say("pack.first_rows", rows=rows)


def pack_scene(view: View) -> Scene:
    """Return the scene: the grid, and the strip below it or beside it."""
    grid, strip = places.grid(view).box(), places.strip(view).box
    return Scene([above(grid, strip, gap=0.4 * view.text), beside(grid, strip, gap=view.text)])


@once
def pack_end(view: View) -> Frame:
    """Return the packed rows as they are after the stage."""
    return {name: group.at(-1) for name, group in _film(view).items()}


@once
def _film(view: View) -> Frame:
    """Return two frames for each time step, the second with its rows packed.

    Packing adds copies that stay, the counts, and what surrounds the strip.
    """
    grid, strip, x, (total, width) = places.grid(view), places.strip(view), view.text, view.trace.packed.data.shape
    t, phase = np.divmod(np.arange(2 * len(packed_rows.live(view)))[:, None], 2)
    every, sizes = np.arange(len(packed_rows.live(view))), np.array(view.batch_sizes[: len(packed_rows.live(view))])
    begun, done = every < t + phase, every[:, None]  # in each frame, and in those after packing
    wide, high = (1.6, 1.0) if view.transposed else (places.cell_width(view), x)
    bars: Look = {"w": wide, "h": high, "v": scaled(sizes / sizes[0]), "shown": begun}
    cell: Look = {"w": strip.width, "h": strip.height, "text": inputs.pad_text(view), "scale": "input", "tone": "wrong"}
    token, b, at = sorted_grid(view)["token"], token_table.sequence(view), token_table.time_step(view)
    target, packed = _place_of(view, strip, b, at), (token_table.packed_row(view) >= 0) & (at <= done)
    panels = np.array(["x", "strip"], dtype=object)  # as objects: two texts for all of them
    x_y = (np.where(packed, one, token.look[field]) for one, field in zip(target[1:], "xy", strict=True))
    sizes_of = {"w": (strip.width, places.cell_width(view)), "h": (strip.height, 1.0)}
    moved: Look = {
        name: one if one == other else np.where(packed, one, other) for name, (one, other) in sizes_of.items()
    }
    flown = token.but(Place(panels[packed.astype(int)], *x_y), **moved)
    kept = token_table.packed_row(view) >= 0
    left: Look = {name: each[kept] if isinstance(each, np.ndarray) else each for name, each in token.look.items()}
    rows = texts(f"packed data {shape(total, width)}: {rows} of {total} rows" for rows in accumulate(view.batch_sizes))
    wrong = ~view.mask[packed_rows.sequence(view), packed_rows.time_step(view)]
    pad_b, pad_t = packed_rows.sequence(view)[wrong], packed_rows.time_step(view)[wrong]
    pad: Look = {
        "vec": matrices.x_rows(view, pad_b, pad_t) if inputs.embedded(view) else NONE,
        "origin": grid.cell(view.rank[pad_b], pad_t),
    }
    below = strip.cell(packed_rows.time_step(view), view.rank[packed_rows.sequence(view)])
    names, addresses = named(strip, steps(len(every)), below, packed_rows.number(view))
    counts = frame(
        marks("count", "count", grid.count(every), every, text=texts(sizes), **bars),
        *([names.but(shown=begun)] if strip.marks else []),
    )
    groups = frame(
        marks("ghost", "ghost", Place("x", 0.0, 0.0), b[kept], at[kept]).but(**left, shown=at[kept] <= done),
        marks("title:counts", "note", grid.counts_heading(), h=x, text="batch_sizes", shown=done >= 0),
        title(strip.heading(), rows[done], h=1.0 if strip.marks else x).but(shown=done >= 0),
        marks("stray", "pad", strip.cell(pad_t, view.rank[pad_b]), pad_b, pad_t, shown=pad_t <= done, **pad, **cell),
        *([addresses.but(shown=packed_rows.time_step(view) <= done)] if strip.marks else []),
    )
    moved = filmed({**groups, "token": flown}, range(1, 2 * len(every), 2))
    return lit(view, {**sorted_grid(view), **counts, **moved}, t)


def lit(view: View, seen: Frame, t: Column) -> Frame:
    """Return the same with a time step focused, its count and its bracket highlighted; with none if it is -1."""
    strip, live = places.strip(view), packed_rows.live_sizes(view)[t]
    tone = np.where(np.arange(len(packed_rows.live(view))) == t, "now", "")
    axis = seen["axis"].but(tone=np.where(places.time_steps(view) == t, "now", ""))
    counts: Frame = {name: seen[name].but(tone=tone) for name in ("count", "bracket") if name in seen}
    outlines = frame(focus("focus:x", places.grid(view), t, live, shown=t >= 0))
    if not strip.marks:
        outline = marks("focus:strip", "focus", strip.cell(t, 0), w=live * strip.width, h=strip.height, shown=t >= 0)
        outlines |= frame(outline)
    return {**seen, "axis": axis, **outlines, **counts}


def _margins(view: View, end: Frame) -> Step:
    """Read the grid both ways: lengths per sequence, batch_sizes per time step; each determines the other."""
    grid, x = places.grid(view), view.text
    at = grid.length(0)
    heading = marks(
        "title:lengths", "note", Place(at.panel, at.x, grid.axis(0).y), h=grid.axis_height, text="lengths", tone="now"
    )
    if view.transposed:  # `batch_sizes` is on the right
        heading = marks("title:lengths", "note", Place(at.panel, -1.3 * x, at.y), w=x, text="len", tone="now")
    crowded = view.small or len(packed_rows.live(view)) > CROWDED
    tones = {"title:counts": "now", "length": "now", "count": "" if crowded else "now"}
    toned = {name: end[name].but(tone=tone) for name, tone in tones.items()} | frame(heading)
    lengths, sizes = view.trace.padded.lengths, view.trace.packed.batch_sizes
    rank, ranks = view.trace.sorted.unsorted_indices, view.trace.sorted.rank.tolist()
    counts = [int((lengths > t).sum()) for t in range(int(lengths.max()))]
    rows = [int((sizes > row).sum()) for row in ranks]
    detail = (
        CodeLine(f"batch_sizes[t] = (lengths > t).sum()\n# {listed(counts)}"),
        CodeLine(
            f"lengths[b] = (batch_sizes > rank[b]).sum()\n# {listed(rows)}{'' if rank is None else ': original order'}"
        ),
        CodeLine(f"rank = {f'arange({len(ranks)})' if rank is None else 'unsorted_indices'}\n# {listed(ranks)}"),
    )
    thing = "packed cell" if packed_rows.pads(view) else "token"
    caption = say("pack.margins", thing=thing, row=inputs.line(view), column=inputs.time_line(view))
    return Step(caption, ({**end, **toned},), detail=detail, name="margins")


def _place_of(view: View, packed: Strip, b: np.ndarray, t: np.ndarray) -> Place:
    """Return the place of a sequence's time step after packing: in the strip, or in the grid if it was not packed."""
    inside, grid = packed_rows.row_at(view)[b, t] >= 0, places.grid(view).cell(view.rank[b], t)
    target = packed.cell(np.minimum(t, len(packed.counts) - 1), view.rank[b])
    return Place(*(np.where(inside, one, other) for one, other in zip(target, grid, strict=True)))
