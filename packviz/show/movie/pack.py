"""Column after column flies into the strip, and batch_sizes are counted on the way."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from packviz.facts.memory_layout import Memory, memory
from packviz.show.movie.layout import Column, Place, Scene, Strip, above, beside
from packviz.show.movie.marks import NONE, CodeLine, Frame, Marks, Role, Step, frame, marks, title
from packviz.show.movie.sheet import focus, named, steps, texts
from packviz.show.movie.sort import sort_end, sorted_grid
from packviz.show.movie.view import View, listed, once, shape
from packviz.show.movie.words import say
from packviz.text import counted, sequence_label

CROWDED = 24  # time steps from which the counts have no room to be lit up all at once
MARKED = 48  # cells of the padded tensor up to which every row has its address below it
MOST = 400  # cells of the padded tensor up to which it is drawn
SCENE = "pack:memory"


def pack(view: View) -> Iterator[Step]:
    """Show one step for every time step; in depth, what the counts are, and how all of it lies in memory."""
    if "pack" in view.deep:
        yield Step(say("pack", "before", view), (sort_end(view),))
    width, name = view.trace.packed.data.shape[1], "x" if view.trace.sorted.sorted_indices is None else "x_sorted"
    for t, live in enumerate(view.alive):
        start, size = view.offsets[t], view.batch_sizes[t]
        taken = f"{name}[:{size}, {t}]" if view.batch_first else f"{name}[{t}, :{size}]"
        detail = (
            CodeLine(f"data[{start}:{start + size}] = {taken}", shape(size, width)),
            CodeLine(f"batch_sizes = {listed(view.batch_sizes[: t + 1])}", shape(t + 1)),
        )
        rows = say("pack", "rows", view, t=t, total=sum(view.batch_sizes[: t + 1]))
        pads = [b for b in live if not view.mask[b, t]]
        dropped = [b for b in view.by_rank if view.mask[b, t] and b not in live]
        caption = say("pack", "step", view, t=t, rows=rows, pads=pads, dropped=dropped)
        frames = (packed(view, t - 1, now=t), packed(view, t, now=t, origin=True))
        yield Step(caption, frames, detail=detail, time=t)
    if "pack" in view.deep:
        yield _margins(view)
        yield from _memory_strips(view, packed(view, len(view.alive) - 1))


def pack_scene(view: View) -> Scene:
    """Return the scene: the grid, and the strip below it or beside it."""
    grid, strip = view.grid.box(), view.strip.box
    return Scene([above(grid, strip, gap=0.4 * view.text), beside(grid, strip, gap=view.text)])


@once
def pack_end(view: View) -> Frame:
    """Return the packed rows as the stage leaves them."""
    return packed(view, len(view.alive) - 1, now=len(view.alive) - 1)


def packed(view: View, done: int, *, now: int | None = None, origin: bool = False) -> Frame:
    """Return the grid and the strip once the time steps up to `done` are packed.

    now: the time step that is looked at. origin: whether pads that were packed by mistake are on their way.
    """
    groups = dict(_packed(view, done))
    if origin and "stray" in groups:
        b, t = groups["stray"].keys
        groups["stray"] = groups["stray"].but(origin=view.grid.cell(view.rank[b], t))
    return groups if now is None else lit(view, groups, now)


@once
def _packed(view: View, done: int) -> Frame:
    grid = sorted_grid(view)
    if done < 0:
        return grid
    still, rows, (total, width) = _marks(view), sum(view.batch_sizes[: done + 1]), view.trace.packed.data.shape
    steps = {name: group.keys[-1] for name, group in still.items() if group.keys} | {"address": view.packed_t}
    seen = {name: group.but(shown=steps[name] <= done) if group.keys else group for name, group in still.items()}
    heading = f"packed data {shape(total, width)}: {rows} of {total} rows"
    return {**grid, **seen, "title:strip": still["title:strip"].but(text=heading), "token": _flown(view, done)}


def lit(view: View, seen: Frame, t: int) -> dict[str, Marks]:
    """Return the same with a time step looked at, its count and its bracket lit."""
    tone = np.where(np.arange(len(view.alive)) == t, "now", "")
    counts: Frame = {name: seen[name].but(tone=tone) for name in ("count", "bracket") if name in seen}
    return {**seen, **_looked_at(view, t), **counts}


@once
def _looked_at(view: View, t: int) -> Frame:
    axis, alive, strip = sorted_grid(view)["axis"], len(view.alive[t]), view.strip
    groups = [axis.but(tone=np.where(view.ts == t, "now", "")), focus("focus:x", view.grid, t, alive)]
    if not strip.marks:
        groups.append(marks("focus:strip", "focus", strip.cell(t, 0), w=alive * strip.width, h=strip.height))
    return frame(*groups)


def _flown(view: View, done: int) -> Marks:
    """Return the tokens: those up to a time step in the strip, the others in the grid."""
    token, strip, t = sorted_grid(view)["token"], view.strip, view.token_t
    flown, there = (view.token_n >= 0) & (t <= done), _in_strip(view)
    place = Place(
        np.where(flown, "strip", "x"),
        np.where(flown, there.x, token.look["x"]),
        np.where(flown, there.y, token.look["y"]),
    )
    return token.but(place, w=np.where(flown, strip.width, view.cell_width), h=np.where(flown, strip.height, 1.0))


@once
def _in_strip(view: View) -> Place:
    """Return where each token stands in the strip, if it was packed."""
    return view.strip.cell(np.minimum(view.token_t, len(view.alive) - 1), view.rank[view.token_b])


@once
def _marks(view: View) -> Frame:
    """Return what packing brings, all of it: the copies that stay, the counts, and what stands around the strip."""
    grid, strip, token, x = view.grid, view.strip, sorted_grid(view)["token"], view.text
    kept, wrong = view.token_n >= 0, ~view.mask[view.packed_b, view.packed_t]
    copied: dict[str, Any] = {
        name: column[kept] if isinstance(column, np.ndarray) else column for name, column in token.look.items()
    }
    sizes, every = np.array(view.batch_sizes[: len(view.alive)]), np.arange(len(view.alive))
    wide, high = (1.6, 1.0) if view.transposed else (view.cell_width, x)
    size = {"w": wide, "h": high, "v": np.rint(1e4 * sizes / sizes[0])}
    names, addresses = named(
        strip, steps(len(every)), strip.cell(view.packed_t, view.rank[view.packed_b]), view.packed_n
    )
    b, t = view.packed_b[wrong], view.packed_t[wrong]
    look: dict[str, Any] = {
        "w": strip.width,
        "h": strip.height,
        "text": view.pad_text,
        "scale": "input",
        "tone": "wrong",
    }
    vec = view.x_rows(b, t) if view.embedded else NONE
    return frame(
        marks("count", "count", grid.count(every), every, text=texts(sizes), **size),
        *([names] if strip.marks else []),
        marks("ghost", "ghost", Place("x", 0.0, 0.0), view.token_b[kept], view.token_t[kept]).but(**copied),
        marks("title:counts", "note", grid.counts_heading(), h=x, text="batch_sizes"),
        title(strip.heading(), "", h=1.0 if strip.marks else x),
        marks("stray", "pad", strip.cell(t, view.rank[b]), b, t, vec=vec, **look),
        *([addresses] if strip.marks else []),
    )


def _margins(view: View) -> Step:
    """Read the grid both ways: lengths along the sequences, batch_sizes along the time steps; each makes the other."""
    grid, x, end = view.grid, view.text, packed(view, len(view.alive) - 1)
    at = grid.length(0)
    heading = marks("title:lengths", "note", Place(at.panel, at.x, grid.axis(0).y), h=x, text="lengths", tone="now")
    if view.transposed:  # to the right stands `batch_sizes`
        heading = marks("title:lengths", "note", Place(at.panel, -1.3 * x, at.y), w=x, text="len", tone="now")
    crowded = view.small or len(view.alive) > CROWDED
    tones = {"title:counts": "now", "length": "now", "count": "" if crowded else "now"}
    lit = {name: end[name].but(tone=tone) for name, tone in tones.items()} | frame(heading)
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
    return Step(caption, ({**end, **lit},), detail=detail, name="margins")


def _memory_strips(view: View, end: Frame) -> Iterator[Step]:
    """Show the padded and the jagged layout beside the packed one; many cells are only counted."""
    kept = memory(view.trace)
    if kept.padded.rows > MOST or view.total != (len(view.shown), view.columns):
        caption = say("pack", "counted_memory", view, kept=kept, pads=kept.padded.pads)
        yield Step(caption, (end,), detail=_bytes(kept, 3))
        return
    packed = view.strip if kept.padded.rows <= MARKED else replace(view.strip, name="packed", height=1.0, marks=False)
    letters, rows, (B, T) = list(map(sequence_label, range(view.total[0]))), kept.packed.rows, view.total
    names, size = (letters, T) if view.batch_first else ([f"t={t}" for t in range(T)], B)
    padded = replace(packed, name="padded", counts=[size] * len(names))
    jagged = replace(packed, name="jagged", counts=[end - start for start, end in pairwise(kept.offsets)])
    grid, alone = view.grid.box(), above(*(strip.box for strip in (padded, packed, jagged)), gap=0.25)
    where = (SCENE, Scene([beside(grid, alone, gap=0.8 * view.text), above(grid, alone, gap=0.25)], [alone]))
    here = _moved(view, end, packed)
    order = "row by row" if view.batch_first else "time step by time step"
    b, t = kept.padded.grid_cells.numpy().T
    heading = f"padded: {counted(kept.padded.rows, 'cell')}, {order}"
    first = _drawn(view, padded, names, b, t, view.grid.cell(view.rank[b], t), heading)
    caption = say("pack", "padded_memory", view, kept=kept, pads=kept.padded.pads)
    yield Step(caption, (here, {**here, **first}), detail=_bytes(kept, 1), scene=where)
    b, t = kept.jagged.grid_cells.numpy().T
    heading = f"jagged: {counted(kept.jagged.rows, 'row')}, sequence by sequence"
    second = _drawn(view, jagged, letters, b, t, _place_of(view, packed, b, t), heading)
    still = {name: group.but() for name, group in first.items()}
    heading = f"packed: {counted(rows, 'row')}, time step by time step"
    seen = {**here, **still, "title:strip": here["title:strip"].but(text=heading), **second}
    made = CodeLine("jagged = nested_tensor(\n    sequences, layout=torch.jagged)", shape(kept.jagged.rows))
    caption = say("pack", "jagged_memory", view, kept=kept, pads=kept.packed.pads)
    yield Step(caption, (seen,), detail=(made, *_bytes(kept, 3)), scene=where)


def _place_of(view: View, packed: Strip, b: np.ndarray, t: np.ndarray) -> Place:
    """Return where a sequence's time step stands after packing: in the strip, or in the grid if it was not packed."""
    inside, grid = view.row_at[b, t] >= 0, view.grid.cell(view.rank[b], t)
    there = packed.cell(np.minimum(t, len(packed.counts) - 1), view.rank[b])
    return Place(*(np.where(inside, one, other) for one, other in zip(there, grid, strict=True)))


def _moved(view: View, end: Frame, packed: Strip) -> Frame:
    """Return the packed rows in a strip that has less around it, without a name for the counts."""
    groups = {name: group for name, group in end.items() if name != "title:counts"}
    for group in [groups[name] for name in ("token", "stray") if name in groups]:
        height = np.where(view.row_at[group.keys] >= 0, packed.height, 1.0)
        groups[group.name] = group.but(_place_of(view, packed, *group.keys), h=height)
    return groups | {"title:strip": groups["title:strip"].but(packed.heading())}


def _drawn(
    view: View, strip: Strip, names: Sequence[str], b: np.ndarray, t: np.ndarray, origin: Place, heading: str
) -> Frame:
    """Return the rows of a layout, on their way from where they come, with all that stands around them.

    names: of the groups of its strip. b, t: sequence and time step of every row in memory order.
    """
    counts, real = np.array(strip.counts), view.mask[b, t]
    group, i = np.repeat(np.arange(len(counts)), counts), np.arange(len(b))
    at = strip.cell(group, i - (np.cumsum(counts) - counts)[group])
    groups = [title(strip.heading(), heading)]
    if strip.marks:
        groups += named(strip, texts(names), at, i, f":{strip.name}")
    size: dict[str, Any] = {"w": strip.width, "h": strip.height}

    def rows(name: str, role: Role, which: np.ndarray, inside: bool, **look: Column) -> Marks:
        vec = view.x_rows(b[which], t[which]) if inside else NONE
        start = Place(*(column[which] if isinstance(column, np.ndarray) else column for column in origin))
        place = Place(strip.name, at.x[which], 0.0)
        return marks(name, role, place, i[which], seq=b[which], vec=vec, origin=start, scale="input", **look, **size)

    token = view.token_number[b, t][real]
    sub = view.token_sub[token] if isinstance(view.token_sub, np.ndarray) else ""
    text, inside = view.token_text[token], view.embedded or view.raw_vectors
    return frame(
        rows(strip.name, "token", real, inside, token=token, text=text, sub=sub),
        rows(f"{strip.name}:pad", "pad", ~real, view.embedded, text=view.pad_text),
        *groups,
    )


def _bytes(kept: Memory, many: int) -> tuple[CodeLine, ...]:
    """Return how many bytes each layout takes, and the int64 tensors without which it cannot be read."""
    sizes = {"x + lengths": kept.padded, "packed data + indices": kept.packed, "jagged values + offsets": kept.jagged}
    lines = [CodeLine(name, f"{layout.bytes} + {layout.index_bytes}") for name, layout in sizes.items()]
    return (CodeLine("# bytes: values + int64 beside"), *lines[:many])
