"""One batch in memory three times: the padded tensor, the packed rows, and torch's jagged nested tensor."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from packviz.facts.memory_layout import Memory, memory
from packviz.show.movie.layout import Scene, above, beside
from packviz.show.movie.marks import NONE, Column, Frame, Marks, Place, Role, frame, marks
from packviz.show.movie.places import Strip
from packviz.show.movie.sheet import named, texts
from packviz.show.movie.step import CodeLine, Step
from packviz.show.movie.view import View, shape
from packviz.show.movie.words import say
from packviz.text import counted

MARKED = 48  # cells of the padded tensor up to which every row has its address below it
MOST = 400  # cells of the padded tensor up to which it is drawn
SCENE = "pack:memory"


@dataclass(frozen=True)
class _Layout:
    """A strip of its own: sequence and time step of every row in memory order, and the names of their groups."""

    strip: Strip
    heading: str
    names: Sequence[str]
    b: np.ndarray
    t: np.ndarray


def memory_strips(view: View, end: Frame) -> Iterator[Step]:
    """Show the padded and the jagged layout beside the packed one; many cells are only counted."""
    kept = memory(view.trace)
    if kept.padded.rows > MOST or view.total != (len(view.shown), view.columns):
        yield Step(
            say("pack", "counted_memory", view, kept=kept, pads=kept.padded.pads),
            (end,),
            detail=_bytes(kept, 3),
        )
        return
    packed = view.strip if kept.padded.rows <= MARKED else replace(view.strip, name="packed", height=1.0, marks=False)
    padded, jagged = _padded(view, kept, packed), _jagged(view, kept, packed)
    strips = (padded.strip, packed, jagged.strip)
    grid, alone = view.grid.box(), above(*(strip.box for strip in strips), gap=0.25)
    where = (SCENE, Scene([beside(grid, alone, gap=0.8 * view.text), above(grid, alone, gap=0.25)], [alone]))
    here = _moved(view, end, packed)
    first = _drawn(view, padded, view.grid.cell(view.rank[padded.b], padded.t))
    yield Step(
        say("pack", "padded_memory", view, kept=kept, pads=kept.padded.pads),
        (here, {**here, **first}),
        detail=_bytes(kept, 1),
        scene=where,
    )
    heading = f"packed: {counted(kept.packed.rows, 'row')}, time step after time step"
    second = _drawn(view, jagged, _place_of(view, packed, jagged.b, jagged.t))
    still = {name: group.but() for name, group in first.items()}
    seen = {**here, **still, "title:strip": here["title:strip"].but(text=heading), **second}
    yield Step(
        say("pack", "jagged_memory", view, kept=kept, pads=kept.packed.pads),
        (seen,),
        detail=(*_made(kept), *_bytes(kept, 3)),
        scene=where,
    )


def _place_of(view: View, packed: Strip, b: np.ndarray, t: np.ndarray) -> Place:
    """Return where a sequence's time step stands after packing: in the strip, or in the grid if it was not packed."""
    inside = view.row_at[b, t] >= 0
    there = packed.cell(np.minimum(t, len(packed.counts) - 1), view.rank[b])
    grid = view.grid.cell(view.rank[b], t)
    return Place(
        np.where(inside, packed.name, grid.panel), np.where(inside, there.x, grid.x), np.where(inside, 0.0, grid.y)
    )


def _moved(view: View, end: Frame, packed: Strip) -> Frame:
    """Return the packed rows in a strip that has less around it, without a name for the counts."""
    groups = {name: group for name, group in end.items() if name != "title:counts"}
    for name in ("token", "stray"):
        if name in groups:
            where = groups[name].keys
            height = np.where(view.row_at[where] >= 0, packed.height, 1.0)
            groups[name] = groups[name].but(_place_of(view, packed, *where), h=height)
    return groups | {"title:strip": groups["title:strip"].but(packed.heading())}


def _drawn(view: View, layout: _Layout, origin: Place) -> Frame:
    """Return the rows of a layout, on their way from where they come, with all that stands around them."""
    strip, b, t = layout.strip, layout.b, layout.t
    counts = np.array(strip.counts)
    group = np.repeat(np.arange(len(counts)), counts)
    first = np.cumsum(counts) - counts
    i = np.arange(len(b))
    at = strip.cell(group, i - first[group])
    heading = marks(f"title:{strip.name}", "title", strip.heading(), text=layout.heading)
    groups = [*_rows_of(view, strip, at, origin, b, t), heading]
    if strip.marks:
        groups += named(strip, texts(layout.names), at, i, f":{strip.name}")
    return frame(*groups)


def _rows_of(view: View, strip: Strip, at: Place, origin: Place, b: np.ndarray, t: np.ndarray) -> Iterator[Marks]:
    """Yield the tokens of a layout, and its pads."""
    real = view.mask[b, t]
    kinds: tuple[tuple[Role, np.ndarray], ...] = (("token", real), ("pad", ~real))
    for role, which in kinds:
        if not which.any():
            continue
        i, rows, steps = np.flatnonzero(which), b[which], t[which]
        inside = view.embedded or (role == "token" and view.raw_vectors)
        token: Column = view.token_number[rows, steps] if role == "token" else NONE
        text, sub = (view.token_text[token], _picked(view.token_sub, token)) if role == "token" else (view.pad_text, "")
        yield marks(
            strip.name if role == "token" else f"{strip.name}:pad", role, Place(strip.name, at.x[which], 0.0), (i,),
            seq=rows, text=text, sub=sub, token=token, w=strip.width, h=strip.height, scale="input",
            vec=view.x_rows(rows, steps) if inside else NONE,
            origin=Place(_picked(origin.panel, which), origin.x[which], _picked(origin.y, which)),
        )  # fmt: skip


def _picked(column: Column, which: Column) -> Column:
    return column[which] if isinstance(column, np.ndarray) else column


def _padded(view: View, kept: Memory, packed: Strip) -> _Layout:
    rows, columns = view.total
    groups, size = (rows, columns) if view.batch_first else (columns, rows)
    across, along = np.divmod(np.arange(groups * size), size)
    b, t = (across, along) if view.batch_first else (along, across)
    names = [view.label(b) for b in range(rows)] if view.batch_first else [f"t={t}" for t in range(columns)]
    order = "row after row" if view.batch_first else "time step after time step"
    heading = f"padded: {counted(len(b), 'cell')}, {order}"
    real = kept.padded.real.numpy()
    b[real], t[real] = kept.padded.grid_cells.numpy()[real].T
    return _Layout(replace(packed, name="padded", counts=[size] * groups), heading, names, b, t)


def _jagged(view: View, kept: Memory, packed: Strip) -> _Layout:
    counts = [end - start for start, end in pairwise(kept.offsets)]
    b, t = kept.jagged.grid_cells.numpy().T
    names = [view.label(b) for b in range(len(counts))]
    heading = f"jagged: {counted(len(b), 'row')}, sequence after sequence"
    return _Layout(replace(packed, name="jagged", counts=counts), heading, names, b, t)


def _made(kept: Memory) -> tuple[CodeLine, ...]:
    code = "jagged = nested_tensor(\n    sequences, layout=torch.jagged)"
    return (CodeLine(code, shape(kept.jagged.rows)),)


def _bytes(kept: Memory, many: int) -> tuple[CodeLine, ...]:
    """Return how many bytes each layout takes, and the int64 tensors without which it cannot be read."""
    sizes = {
        "x + lengths": kept.padded,
        "packed data + indices": kept.packed,
        "jagged values + offsets": kept.jagged,
    }
    lines = [CodeLine(name, f"{layout.bytes} + {layout.index_bytes}") for name, layout in sizes.items()]
    return (CodeLine("# bytes: values + int64 beside"), *lines[:many])
