"""Packing: columns move into the strip one by one, and batch_sizes are counted on the way."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from packviz.facts.memory_layout import Memory, memory
from packviz.show.movie.layout import Column, Place, Scene, Strip, above, beside
from packviz.show.movie.marks import (
    NONE,
    CodeLine,
    Frame,
    Marks,
    Role,
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
from packviz.show.movie.packing.sheet import focus, named, steps, texts
from packviz.show.movie.packing.sort import sort_end, sorted_grid
from packviz.show.movie.packing.view import View, listed
from packviz.show.movie.packing.words import say
from packviz.show.movie.written import scaled
from packviz.text import counted, sequence_label, shape

CROWDED = 24  # from this many time steps on, there is no room to highlight all counts at once
MARKED = 48  # up to this many cells of the padded tensor, every row has its address below it
Look = dict[str, Any]
MOST = 400  # up to this many cells, the padded tensor is drawn
SCENE = "pack:memory"


def pack(view: View) -> Iterator[Shot]:
    """Show one step for every time step; in depth, what the counts are, and the memory layout."""
    if "pack" in view.deep:
        yield Step(say("pack", "before", view), (sort_end(view),))
    width, name = view.trace.packed.data.shape[1], "x" if view.trace.sorted.sorted_indices is None else "x_sorted"
    steps = []
    for t, live in enumerate(packed_rows.live(view)):
        start, size = packed_rows.offsets(view)[t], view.batch_sizes[t]
        taken = f"{name}[:{size}, {t}]" if inputs.batch_first(view) else f"{name}[{t}, :{size}]"
        detail = (
            CodeLine(f"data[{start}:{start + size}] = {taken}", shape(size, width)),
            CodeLine(f"batch_sizes = {listed(view.batch_sizes[: t + 1])}", shape(t + 1)),
        )
        rows = say("pack", "rows", view, t=t, total=sum(view.batch_sizes[: t + 1]))
        pads = [b for b in live if not view.mask[b, t]]
        dropped = [b for b in view.ranked if view.mask[b, t] and b not in live]
        caption = say("pack", "step", view, t=t, rows=rows, pads=pads, dropped=dropped)
        steps.append(Step(caption, detail=detail, time=t, beats=2))
    yield StepSeries(_film(view), steps)
    if "pack" in view.deep:
        end = lit(view, pack_end(view), -1)
        yield _margins(view, end)
        yield from _memory_strips(view, end)


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
    heading = marks("title:lengths", "note", Place(at.panel, at.x, grid.axis(0).y), h=x, text="lengths", tone="now")
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
        CodeLine(f"lengths[b] = (batch_sizes > rank[b]).sum()\n# {listed(rows)}"),
        CodeLine(f"# rank: {'as given' if rank is None else 'unsorted_indices'}\n# {listed(ranks)}"),
    )
    read = [listed(values).strip("[]") for values in (view.trace.sorted.lengths.tolist(), view.batch_sizes)]
    caption = say("pack", "margins", view, lengths=read[0], sizes=read[1])
    return Step(caption, ({**end, **toned},), detail=detail, name="margins")


def _memory_strips(view: View, end: Frame) -> Iterator[Step]:
    """Show the padded and the jagged layout beside the packed one; large grids are only counted."""
    kept = memory(view.trace)
    if kept.padded.rows > MOST or view.total != (len(view.shown), view.columns):
        caption = say("pack", "counted_memory", view, kept=kept, pads=kept.padded.pads)
        yield Step(caption, (end,), detail=_bytes(kept, 3))
        return
    packed = (
        places.strip(view)
        if kept.padded.rows <= MARKED
        else replace(places.strip(view), name="packed", height=1.0, marks=False)
    )
    letters, rows, (B, T) = list(map(sequence_label, range(view.total[0]))), kept.packed.rows, view.total
    names, size = (letters, T) if inputs.batch_first(view) else ([f"t={t}" for t in range(T)], B)
    padded = replace(packed, name="padded", counts=[size] * len(names))
    jagged = replace(packed, name="jagged", counts=[end - start for start, end in pairwise(kept.offsets)])
    grid, alone = places.grid(view).box(), above(*(strip.box for strip in (padded, packed, jagged)), gap=0.25)
    where = (SCENE, Scene([beside(grid, alone, gap=0.8 * view.text), above(grid, alone, gap=0.25)], [alone]))
    here = _moved(view, end, packed)
    order = "row by row" if inputs.batch_first(view) else "time step by time step"
    b, t = kept.padded.grid_cells.numpy().T
    heading = f"padded: {counted(kept.padded.rows, 'cell')}, {order}"
    first = _drawn(view, padded, names, b, t, places.grid(view).cell(view.rank[b], t), heading)
    caption = say("pack", "padded_memory", view, kept=kept, pads=kept.padded.pads)
    yield Step(caption, (here, {**here, **first}), detail=_bytes(kept, 1), scene=where)
    b, t = kept.jagged.grid_cells.numpy().T
    heading = f"jagged: {counted(kept.jagged.rows, 'row')}, sequence by sequence"
    second = _drawn(view, jagged, letters, b, t, _place_of(view, packed, b, t), heading)
    still = {name: group.but() for name, group in first.items()}
    heading = f"packed: {counted(rows, 'row')}, time step by time step"
    seen = {**here, **still, "title:strip": here["title:strip"].but(text=heading), **second}
    rows_of = "[embedding(ids) for ids in sequences]" if inputs.embedded(view) else "sequences"
    sizes = (kept.jagged.rows,) if inputs.one_number(view) else (kept.jagged.rows, inputs.features(view))
    made = CodeLine(f"jagged = nested_tensor(\n    {rows_of},\n    layout=torch.jagged)", shape(*sizes))
    caption = say("pack", "jagged_memory", view, kept=kept, pads=kept.packed.pads)
    yield Step(caption, (seen,), detail=(made, *_bytes(kept, 3)), scene=where)


def _place_of(view: View, packed: Strip, b: np.ndarray, t: np.ndarray) -> Place:
    """Return the place of a sequence's time step after packing: in the strip, or in the grid if it was not packed."""
    inside, grid = packed_rows.row_at(view)[b, t] >= 0, places.grid(view).cell(view.rank[b], t)
    target = packed.cell(np.minimum(t, len(packed.counts) - 1), view.rank[b])
    return Place(*(np.where(inside, one, other) for one, other in zip(target, grid, strict=True)))


def _moved(view: View, end: Frame, packed: Strip) -> Frame:
    """Return the packed rows in a strip with less around it, without the heading of the counts."""
    groups = {name: group for name, group in end.items() if name != "title:counts"}
    for group in [groups[name] for name in ("token", "stray") if name in groups]:
        height = np.where(packed_rows.row_at(view)[group.keys] >= 0, packed.height, 1.0)
        groups[group.name] = group.but(_place_of(view, packed, *group.keys), h=height)
    return groups | {"title:strip": groups["title:strip"].but(packed.heading())}


def _drawn(
    view: View, strip: Strip, names: Sequence[str], b: np.ndarray, t: np.ndarray, origin: Place, heading: str
) -> Frame:
    """Return the rows of a layout, coming from their origin, with everything around them.

    names: the groups of its strip. b, t: sequence and time step of every row in memory order.
    """
    counts, real = np.array(strip.counts), view.mask[b, t]
    group, i = np.repeat(np.arange(len(counts)), counts), np.arange(len(b))
    at = strip.cell(group, i - (np.cumsum(counts) - counts)[group])
    groups = [title(strip.heading(), heading)]
    if strip.marks:
        groups += named(strip, texts(names), at, i, f":{strip.name}")
    size: dict[str, Any] = {"w": strip.width, "h": strip.height}

    def rows(name: str, role: Role, which: np.ndarray, inside: bool, **look: Column) -> Marks:
        vec = matrices.x_rows(view, b[which], t[which]) if inside else NONE
        start = Place(*(column[which] if isinstance(column, np.ndarray) else column for column in origin))
        place = Place(strip.name, at.x[which], 0.0)
        return marks(name, role, place, i[which], seq=b[which], vec=vec, origin=start, scale="input", **look, **size)

    token = token_table.numbered(view)[b, t][real]
    sub = token_table.subtexts(view)[token] if isinstance(token_table.subtexts(view), np.ndarray) else ""
    text, inside = token_table.texts(view)[token], inputs.embedded(view) or inputs.raw_vectors(view)
    return frame(
        rows(strip.name, "token", real, inside, token=token, text=text, sub=sub),
        rows(f"{strip.name}:pad", "pad", ~real, inputs.embedded(view), text=inputs.pad_text(view)),
        *groups,
    )


def _bytes(kept: Memory, many: int) -> tuple[CodeLine, ...]:
    """Return how many bytes each layout takes, and the int64 tensors needed to read it."""
    sizes = {"x + lengths": kept.padded, "packed data + indices": kept.packed, "jagged values + offsets": kept.jagged}
    lines = [CodeLine(name, f"{layout.bytes} + {layout.index_bytes}") for name, layout in sizes.items()]
    return (CodeLine("# bytes: values + int64 index arrays"), *lines[:many])
