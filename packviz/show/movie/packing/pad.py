"""The ragged input and the padding; in depth, every side of the padded grid."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch.nn.utils.rnn import pack_padded_sequence, pad_sequence

from packviz.inputs.config import PaddingSide
from packviz.show.movie.layout import Box, Grid, Scene, above, beside
from packviz.show.movie.marks import CodeLine, Frame, Marks, Step, frame, marks
from packviz.show.movie.packing import inputs, places, token_table
from packviz.show.movie.packing.code_lines import axes
from packviz.show.movie.packing.sheet import edges, outline, padded, ragged, sheet, upright
from packviz.show.movie.packing.view import View
from packviz.show.movie.packing.words import say
from packviz.show.movie.written import exact
from packviz.text import shape

FLAG = 1.6  # units: the width of the word False in the mask
ASPECT = 1.8  # aspect ratio that the transposed grid may have without making the picture smaller


def pad(view: View) -> Iterator[Step]:
    """Show the ragged rows and the filler that makes them a tensor."""
    sizes, end = view.trace.padded.values.shape, pad_end(view)
    here, grid = shape(*(sizes[:2] if inputs.embedded(view) else sizes)), shape(*sizes[:2])
    # the tensor that torch makes may be turned: its shape comes with it, and so does the room that both ways need
    across = None if inputs.batch_first(view) else ("across", Scene([upright(view).box(counts=False)]))
    yield Step(_ragged_caption(view), (ragged(view),), scene=across)
    filled, told = padded(view, upright(view), shaped=inputs.batch_first(view)), tuple[CodeLine, ...]()
    if "pad" in filled:  # pads come from the side opposite the tokens
        filled = {**filled, "pad": _entering(view, upright(view), filled["pad"], inputs.padding_side(view))}
    if inputs.one_number(view) and view.trace.batch is not None:
        rows = "pad_sequence: B rows, T steps" if inputs.batch_first(view) else "pad_sequence: T steps, B columns"
        told = CodeLine(rows, grid), CodeLine("each token is one number (F = 1)", shape(*sizes))
    elif inputs.batch_first(view):
        told = (axes(view, ids=inputs.embedded(view)),)
    yield Step(_padded_caption(view), (filled,), detail=told, name="padded", scene=across)
    if not inputs.batch_first(view):
        bare = {name: group for name, group in filled.items() if name not in ("axis", "length")}  # where it turns
        turned_axes = () if told else (axes(view, ids=inputs.embedded(view)),)
        yield Step(say("pad.transposed", grid=grid), (bare, end), detail=turned_axes)
    if "pad" in view.deep:
        steps = "arange(T).flip(0)" if inputs.padding_side(view) == "left" else "arange(T)"
        compared = f"{steps} < lengths[:, None]" if inputs.batch_first(view) else f"{steps}[:, None] < lengths"
        detail = (CodeLine(f"mask = {compared}", grid),)
        back = end
        masked = {**end, **_mask(view, grid)}
        boxes = [places.grid(view).box(counts=False), _mask_grid(view).box(counts=False)]
        where = ("mask", Scene([beside(*boxes), above(*boxes)]))
        yield Step(_mask_caption(view), (masked,), detail=detail, scene=where)
        if view.trace.batch is not None and len(token_table.pads(view)[0]) and view.columns == view.total[1]:
            yield _other_side(view, end)
            back = {**end, "pad": _entering(view, places.grid(view), end["pad"], inputs.padding_side(view), anew=True)}
        if view.total != (1, 1):
            first, second, features = sizes
            name, turned_sizes = ("ids", (second, first)) if inputs.embedded(view) else ("x", (second, first, features))
            there = shape(*turned_sizes)
            turned = sheet(view, _turned(view), view.place, f"padded {name} {there}", raw=True)
            detail, both = (CodeLine(f"{name}.transpose(0, 1)", there),), (places.grid(view), _turned(view))
            where = ("turned", Scene([_together(*(grid.box(counts=False) for grid in both))]))
            yield Step(_turned_caption(view, there, here), (back, turned), detail=detail, scene=where)
        yield Step(_back_caption(view, here), (end,))


def _ragged_caption(view: View) -> str:
    lengths = view.lengths
    if len(lengths) == 1:
        return say("pad.ragged_alone", length=lengths[0])
    if len(set(lengths)) == 1:
        return say("pad.ragged_equal", sequences=len(lengths), length=lengths[0])
    return say("pad.ragged")


def _padded_caption(view: View) -> str:
    T, cells, pads = view.total[1], view.mask.size, inputs.pads(view)
    if not pads:
        return say("pad.full", T=T)
    if view.trace.batch is None:
        return say("pad.already", T=T, pads=pads, cells=cells, share=pads / cells)
    short, pad = [b for b, length in enumerate(view.lengths) if length < T], inputs.pad_text(view)
    fills = "pad.fills_left" if inputs.padding_side(view) == "left" else "pad.fills"
    return say(fills, "pad.share", short=short, pad=pad, T=T, pads=pads, cells=cells, share=pads / cells)


def _mask_caption(view: View) -> str:
    if not inputs.pads(view):
        return say("pad.mask_without_pads")
    return say("pad.mask", tokens=inputs.count(view), pads=inputs.pads(view))


def _turned_caption(view: View, there: str, here: str) -> str:
    return say("pad.down" if inputs.batch_first(view) else "pad.across", there=there, here=here)


def _back_caption(view: View, here: str) -> str:
    if inputs.embedded(view):
        return say("pad.back_ids", batch_first=inputs.batch_first(view), here=here)
    return say("pad.back", here=here)


def pad_end(view: View) -> Frame:
    """Return the padded grid as it is after the stage."""
    return padded(view, places.grid(view))


def pad_scene(view: View) -> Scene:
    """Return the scene of the padding: the grid as typed and as computed."""
    return Scene([_together(upright(view).box(counts=False), places.grid(view).box(counts=False))])


def _together(*boxes: Box) -> Box:
    """Return a box in which the grid fits before and after it is transposed, without moving."""
    left, top = (max(box.panels["x"][axis] for box in boxes) for axis in (0, 1))
    right = max(box.width - box.panels["x"][0] for box in boxes)
    bottom = max(box.height - box.panels["x"][1] for box in boxes)
    panels: dict[str, tuple[float, float]] = {}
    for box in boxes:
        x, y = left - box.panels["x"][0], top - box.panels["x"][1]
        panels |= {name: (at[0] + x, at[1] + y) for name, at in box.panels.items()}
    return Box(left + right, top + bottom, panels)


def _entering(view: View, grid: Grid, pads: Marks, side: str, *, anew: bool = False) -> Marks:
    start = grid.cell(view.place[token_table.pads(view)[0]], -1.5 if side == "left" else view.columns + 0.5)
    return pads.but(origin=start, anew=anew)


def _mask_grid(view: View) -> Grid:
    width = places.cell_width(view) if view.small else max(places.cell_width(view), FLAG)
    return replace(places.grid(view), name="mask", width=width, below=0.0)


def _mask(view: View, sizes: str) -> Frame:
    """Return the mask: whether each cell of the grid, from which it comes, is a token."""
    grid, bs, row = _mask_grid(view), view.shown, view.place
    heading, label, _, axis = edges(view, grid, row, f"mask {sizes}", "m")
    b, t = np.repeat(bs, view.columns), np.tile(places.time_steps(view), len(bs))
    look: dict[str, Any] = {
        "text": np.where(view.mask[b, t], "True", "False"),
        "token": token_table.numbered(view)[b, t],
    }
    at, origin = grid.cell(row[b], t), places.grid(view).cell(row[b], t)
    return frame(heading, axis, label, marks("flag", "flag", at, b, t, w=grid.width, origin=origin, **look))


def _other_side(view: View, end: Frame) -> Step:
    """Show the tokens at the other end of their rows, and which columns packing would then take."""
    side: PaddingSide = "right" if inputs.padding_side(view) == "left" else "left"
    lengths, bs, sizes = np.array(view.lengths), view.shown, view.trace.padded.values.shape
    pad_b, pad_t = token_table.pads(view)
    lead = view.columns - lengths if side == "left" else 0 * lengths
    b, t = token_table.sequence(view), token_table.time_step(view)
    tokens = end["token"].but(places.grid(view).cell(view.place[b], t - inputs.leads(view)[b] + lead[b]))
    k = pad_t if side == "right" else pad_t - lengths[pad_b]  # the index among each row's pads, from 0
    at = places.grid(view).cell(view.place[pad_b], k + np.where(side == "left", 0, lengths[pad_b]))
    pads = _entering(view, places.grid(view), end["pad"].but(at), side, anew=True)
    tone = np.where((side == "left") & (lengths[bs] < view.columns), "wrong", "good")
    outlines = outline("mark:taken", places.grid(view), (view.place[bs], 0), 1, lengths[bs], bs, tone=tone)
    slid = {**end, "token": tokens, "pad": pads}
    frames = (slid, {**slid, "pad": pads.but(), **frame(outlines)})
    first = "    sequences, batch_first=True," if inputs.batch_first(view) else "    sequences,"
    value = f"    padding_value={exact(inputs.pad_id(view))},\n" if inputs.pad_id(view) else ""
    made = shape(*(sizes[:2] if view.trace.padded.tokens.dim() == 2 else sizes))
    ones = pad_sequence([torch.ones(n, device="cpu") for n in view.lengths], batch_first=True, padding_side="left")
    packed = pack_padded_sequence(ones, view.trace.padded.lengths, batch_first=True, enforce_sorted=False)
    detail = (CodeLine(f'pad_sequence(\n{first}\n{value}    padding_side="{side}")', made),)
    caption = say("pad.other_left" if side == "left" else "pad.other_right", lost=int((packed.data == 0).sum()))
    return Step(caption, frames, detail=detail)


def _turned(view: View) -> Grid:
    """Return the transposed grid: its cells are as wide as before if there is room.

    They are lower if there are far more time steps than sequences.
    """
    grid = places.grid(view)
    if grid.transposed:
        return upright(view)
    wide = grid.columns * grid.width
    room = max(wide, grid.rows * (1.0 if view.small else ASPECT))
    height = min(1.0, max(float(grid.rows), wide / ASPECT, 9.0) / grid.columns)
    return replace(grid, transposed=True, width=max(1.0, min(grid.width, room / grid.rows)), height=height)
