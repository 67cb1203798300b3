"""One batch in memory three times: the padded tensor, the packed rows, and torch's jagged nested tensor."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from packviz.facts.memory_layout import Memory, memory
from packviz.show.movie.layout import Column, Place, Scene, Strip, above, beside
from packviz.show.movie.marks import NONE, CodeLine, Frame, Marks, Role, Step, frame, marks, title
from packviz.show.movie.sheet import named, texts
from packviz.show.movie.view import View, shape
from packviz.show.movie.words import say
from packviz.text import counted, sequence_label

MARKED = 48  # cells of the padded tensor up to which every row has its address below it
MOST = 400  # cells of the padded tensor up to which it is drawn
SCENE = "pack:memory"


def memory_strips(view: View, end: Frame) -> Iterator[Step]:
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
