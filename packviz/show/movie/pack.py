"""Column after column flies into the strip, and batch_sizes are counted on the way."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

from packviz.show.movie.layout import Scene, above, beside
from packviz.show.movie.marks import Frame, Marks, Place, frame, marks
from packviz.show.movie.memory_strips import memory_strips
from packviz.show.movie.sheet import focus, named, steps, texts
from packviz.show.movie.sort import sort_end, sorted_grid
from packviz.show.movie.step import CodeLine, Step
from packviz.show.movie.view import View, listed, once, shape
from packviz.show.movie.words import say

CROWDED = 24  # time steps from which the counts have no room to be lit up all at once


def pack(view: View) -> Iterator[Step]:
    """Show one step for every time step; in depth, what the counts are, and how all of it lies in memory."""
    if "pack" in view.deep:
        yield Step(say("pack", "before", view), (sort_end(view),))
    for t in range(len(view.alive)):
        frames = (packed(view, t - 1, now=t), packed(view, t, now=t, origin=True))
        yield Step(_caption(view, t), frames, detail=_detail(view, t), time=t)
    if "pack" in view.deep:
        yield _margins(view)
        yield from memory_strips(view, packed(view, len(view.alive) - 1))


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
    groups = dict(sorted_grid(view))
    if done < 0:
        return groups
    still, every = _marks(view), np.arange(len(view.alive))
    groups |= {name: still[name].but(shown=every <= done) for name in ("count", "bracket") if name in still}
    groups |= {
        "ghost": still["ghost"].but(shown=still["ghost"].keys[1] <= done),
        "title:counts": still["title:counts"],
        "title:strip": still["title:strip"].but(text=_counted(view, done)),
        "token": _flown(view, done),
    }
    if "stray" in still:
        groups["stray"] = still["stray"].but(shown=still["stray"].keys[1] <= done)
    if "address" in still:
        groups["address"] = still["address"].but(shown=view.packed_t <= done)
    return groups


def lit(view: View, seen: Frame, t: int) -> dict[str, Marks]:
    """Return the same with a time step looked at, its count and its bracket lit."""
    tone = np.where(np.arange(len(view.alive)) == t, "now", "")
    counts: Frame = {name: seen[name].but(tone=tone) for name in ("count", "bracket") if name in seen}
    return {**seen, **_looked_at(view, t), **counts}


@once
def _looked_at(view: View, t: int) -> Frame:
    """Return the outlines around a time step, and its name lit."""
    axis, alive, strip = sorted_grid(view)["axis"], len(view.alive[t]), view.strip
    groups = [axis.but(tone=np.where(view.ts == t, "now", "")), focus("focus:x", view.grid, t, alive)]
    if not strip.marks:
        groups.append(marks("focus:strip", "focus", strip.cell(t, 0), w=alive * strip.width, h=strip.height))
    return frame(*groups)


def _flown(view: View, done: int) -> Marks:
    """Return the tokens: those up to a time step in the strip, the others in the grid."""
    token, strip = sorted_grid(view)["token"], view.strip
    flown = (view.token_n >= 0) & (view.token_t <= done)
    place = Place(
        np.where(flown, "strip", "x"),
        np.where(flown, _strip_x(view), token.look["x"]),
        np.where(flown, 0.0, token.look["y"]),
    )
    width, height = np.where(flown, strip.width, view.cell_width), np.where(flown, strip.height, 1.0)
    return token.but(place, w=width, h=height)


@once
def _strip_x(view: View) -> np.ndarray:
    """Return where each token stands along the strip, if it was packed."""
    packed_steps = np.minimum(view.token_t, len(view.alive) - 1)
    x: np.ndarray = view.strip.cell(packed_steps, view.rank[view.token_b]).x
    return x


@once
def _marks(view: View) -> dict[str, Marks]:
    """Return what packing brings, all of it: the copies that stay, the counts, and what stands around the strip."""
    grid, strip, token = view.grid, view.strip, sorted_grid(view)["token"]
    kept = view.token_n >= 0
    look: dict[str, Any] = {
        name: column[kept] if isinstance(column, np.ndarray) else column for name, column in token.look.items()
    }
    b, t = view.token_b[kept], view.token_t[kept]
    sizes, every = np.array(view.batch_sizes[: len(view.alive)]), np.arange(len(view.alive))
    width, height = (1.6, 1.0) if view.transposed else (view.cell_width, view.text)
    groups = [
        marks("ghost", "ghost", Place("x", 0.0, 0.0), (b, t), seq=b).but(**look),  # the padded tensor is copied
        marks("title:strip", "title", strip.heading(), h=1.0 if strip.marks else view.text),
        marks("title:counts", "note", grid.counts_heading(), h=view.text, text="batch_sizes"),
        marks(
            "count", "count", grid.count(every), (every,), w=width, h=height, text=texts(sizes),
            v=np.rint(1e4 * sizes / sizes[0]),
        ),
    ]  # fmt: skip
    if strip.marks:
        groups += named(strip, steps(len(every)), strip.cell(view.packed_t, view.rank[view.packed_b]), view.packed_n)
    wrong = ~view.mask[view.packed_b, view.packed_t]
    if wrong.any():
        b, t = view.packed_b[wrong], view.packed_t[wrong]
        groups.append(
            marks(
                "stray", "pad", strip.cell(t, view.rank[b]), (b, t), seq=b, w=strip.width, h=strip.height,
                text=view.pad_text,
                vec=view.x_rows(b, t) if view.embedded else -1, scale="input", tone="wrong",
            )
        )  # fmt: skip
    return frame(*groups)


def _margins(view: View) -> Step:
    """Read the grid both ways: lengths along the sequences, batch_sizes along the time steps."""
    grid, x, end = view.grid, view.text, packed(view, len(view.alive) - 1)
    at = grid.length(0)
    if view.transposed:  # to the right stands `batch_sizes`
        title = marks("title:lengths", "note", Place(at.panel, -1.3 * x, at.y), w=x, text="len", tone="now")
    else:
        place = Place(at.panel, at.x, grid.axis(0).y)
        title = marks("title:lengths", "note", place, h=x, text="lengths", tone="now")
    crowded = view.small or len(view.alive) > CROWDED
    lit: dict[str, Any] = {name: end[name].but(tone="now") for name in ("title:counts", "length")}
    lit["count"] = end["count"].but(tone="" if crowded else "now")
    return Step(_margins_caption(view), ({**end, **lit, **frame(title)},), detail=_margins_detail(view), name="margins")


def _counted(view: View, t: int) -> str:
    done = sum(view.batch_sizes[: t + 1])
    total, width = view.trace.packed.data.shape
    return f"packed data {shape(total, width)}: {done} of {total} rows"


def _detail(view: View, t: int) -> tuple[CodeLine, ...]:
    start, size = view.offsets[t], view.batch_sizes[t]
    rows = f"x[:{size}, {t}]" if view.batch_first else f"x[{t}, :{size}]"
    taken = rows.replace("x", "x_sorted") if view.trace.sorted.sorted_indices is not None else rows
    width = view.trace.packed.data.shape[1]
    return (
        CodeLine(f"data[{start}:{start + size}] = {taken}", shape(size, width)),
        CodeLine(f"batch_sizes = {listed(view.batch_sizes[: t + 1])}", shape(t + 1)),
    )


def _margins_detail(view: View) -> tuple[CodeLine, ...]:
    """Return each margin made from the other one, by torch."""
    lengths, sizes = view.trace.padded.lengths, view.trace.packed.batch_sizes
    rank = view.trace.sorted.unsorted_indices
    ranks = torch.arange(len(lengths), device="cpu") if rank is None else rank
    counts = [int((lengths > t).sum()) for t in range(int(lengths.max()))]
    rows = [int((sizes > row).sum()) for row in ranks.tolist()]
    return (
        CodeLine(f"batch_sizes[t] = (lengths > t).sum()\n# {listed(counts)}"),
        CodeLine(f"lengths[b] = (batch_sizes > rank[b]).sum()\n# {listed(rows)}"),
        CodeLine(f"# rank: {'as given' if rank is None else 'unsorted_indices'}\n# {listed(ranks.tolist())}"),
    )


def _caption(view: View, t: int) -> str:
    rows = say("pack", "rows", view, t=t, total=sum(view.batch_sizes[: t + 1]))
    pads = [b for b in view.alive[t] if not view.mask[b, t]]
    dropped = [b for b in view.by_rank if view.mask[b, t] and b not in view.alive[t]]
    return say("pack", "step", view, t=t, rows=rows, pads=pads, dropped=dropped)


def _margins_caption(view: View) -> str:
    lengths, sizes = (_read(values) for values in (view.trace.sorted.lengths.tolist(), view.batch_sizes))
    return say("pack", "margins", view, lengths=lengths, sizes=sizes)


def _read(values: list[int]) -> str:
    return listed(values).strip("[]")
