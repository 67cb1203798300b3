"""The ragged input and the padding; in depth, every side of the padded grid."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import torch
from torch.nn.utils.rnn import pack_padded_sequence, pad_sequence

from packviz.inputs.config import PaddingSide
from packviz.show.movie.facts import exact
from packviz.show.movie.layout import Box, Scene, above, beside
from packviz.show.movie.marks import Frame, Marks, frame, marks
from packviz.show.movie.places import Grid
from packviz.show.movie.sheet import around, edges, padded, ragged, sheet, upright
from packviz.show.movie.step import CodeLine, Step
from packviz.show.movie.view import View, shape
from packviz.show.movie.words import say

FLAG = 1.6  # units that the word False needs in the mask
ASPECT = 1.8  # width by height that the turned grid may take without making the picture smaller


def pad(view: View) -> Iterator[Step]:
    """Show the ragged rows and the filler that makes them a tensor."""
    first = ragged(view)
    yield Step(say("pad", "ragged", view), (first,))
    filled = _filled(view)
    yield Step(say("pad", "padded", view), (filled,), detail=_axes_of(view), name="padded")
    if not view.batch_first:
        yield Step(say("pad", "transposed", view, grid=_mask_shape(view)), (pad_end(view),))
    if "pad" in view.deep:
        end = back = pad_end(view)
        yield Step(
            say("pad", "mask", view, pads=int((~view.mask).sum())),
            ({**end, **_mask(view)},),
            detail=(_mask_code(view),),
        )
        if _two_sides(view):
            yield _other_side(view, end)
            back = {**end, "pad": _entering(view, view.grid, end["pad"], view.padding_side, anew=True)}
        if view.total != (1, 1):
            yield _turned_step(view, back)
        yield Step(say("pad", "back", view, here=shape(*_sizes(view, turn=False))), (end,))


def pad_end(view: View) -> Frame:
    """Return the padded grid as the stage leaves it."""
    return padded(view, view.grid)


def pad_scene(view: View) -> Scene:
    """Return the scene of the padding, with room for the mask where it is shown."""
    if "pad" in view.deep:
        return Scene([_with_mask(view, beside), _with_mask(view, above)])
    return Scene([_together(upright(view).box(counts=False), view.grid.box(counts=False))])


def _together(*boxes: Box) -> Box:
    """Return a box in which the grid has room before it is turned and after, without moving."""
    left, top = (max(box.panels["x"][axis] for box in boxes) for axis in (0, 1))
    right = max(box.width - box.panels["x"][0] for box in boxes)
    bottom = max(box.height - box.panels["x"][1] for box in boxes)
    panels: dict[str, tuple[float, float]] = {}
    for box in boxes:
        x, y = left - box.panels["x"][0], top - box.panels["x"][1]
        panels |= {name: (at[0] + x, at[1] + y) for name, at in box.panels.items()}
    return Box(left + right, top + bottom, panels)


def _with_mask(view: View, joined: Callable[..., Box]) -> Box:
    """Return a box with room for the mask too; it is away while the grid is turned, and leaves its room to it."""
    grid, turned = view.grid.box(counts=False), _turned(view).box(counts=False)
    lower = Box(turned.width, turned.height - view.columns * (1 - _tall(view)), turned.panels)
    mask = _mask_grid(view).box(counts=False)
    return _together(joined(grid, mask), upright(view).box(counts=False), lower)


def _filled(view: View) -> Frame:
    """Return the rows with their pads, which come in from the other side than the tokens keep to."""
    grid = upright(view)
    end = padded(view, grid)
    return {**end, "pad": _entering(view, grid, end["pad"], view.padding_side)} if "pad" in end else end


def _entering(view: View, grid: Grid, pads: Marks, side: str, *, anew: bool = False) -> Marks:
    start = grid.cell(view.place[view.pads[0]], -1.5 if side == "left" else view.columns + 0.5)
    return pads.but(origin=start, anew=anew)


def _mask_grid(view: View) -> Grid:
    """Return where the mask stands: laid out as x is."""
    width = view.cell_width if view.small else max(view.cell_width, FLAG)
    return replace(view.grid, name="mask", width=width, below=0.0)


def _mask(view: View) -> Frame:
    """Return the mask: of every cell of the grid, which comes from there, whether it is a token."""
    grid, bs, row = _mask_grid(view), view.bs, view.place
    title, label, _, axis = edges(view, grid, row, f"mask {_mask_shape(view)}", "m")
    b, t = np.repeat(bs, view.columns), np.tile(view.ts, len(bs))
    truth = np.where(view.mask[b, t], "True", "False")
    return frame(
        title,
        axis,
        label,
        marks(
            "flag", "flag", grid.cell(row[b], t), (b, t), seq=b, text=truth, w=grid.width,
            token=view.token_number[b, t], origin=view.grid.cell(row[b], t),
        ),
    )  # fmt: skip


def _two_sides(view: View) -> bool:
    """Whether there is padding whose other side can be shown."""
    return view.trace.batch is not None and len(view.pads[0]) > 0 and view.columns == view.total[1]


def _other_side(view: View, end: Frame) -> Step:
    """Show the tokens at the other end of their rows, and which columns packing would take then."""
    side: PaddingSide = "right" if view.padding_side == "left" else "left"
    lengths, pad_b = view.lens, view.pads[0]
    lead = view.columns - lengths if side == "left" else 0 * lengths
    b, t = view.token_b, view.token_t
    tokens = end["token"].but(view.grid.cell(view.place[b], t - view.leads[b] + lead[b]))
    k = view.pads[1] - (0 if view.padding_side == "left" else lengths[pad_b])  # of each row's own pads, counted from 0
    at = view.grid.cell(view.place[pad_b], k + np.where(side == "left", 0, lengths[pad_b]))
    pads = _entering(view, view.grid, end["pad"].but(at), side, anew=True)
    taken = lengths[view.bs]
    spoilt = (side == "left") & (taken < view.columns)
    outlines = marks(
        "mark:taken", "mark", view.grid.cell(view.place[view.bs], 0), (view.bs,),
        tone=np.where(spoilt, "wrong", "good"),
    ).but(**around(view.grid, view.place[view.bs], 0, 1, taken))  # fmt: skip
    slid = {**end, "token": tokens, "pad": pads}
    frames = (slid, {**slid, "pad": pads.but(), **frame(outlines)})
    return Step(
        say("pad", "other_side", view, side=side, lost=pads_taken(view.lengths, "left")),
        frames,
        detail=(_side_code(view, side),),
    )


def pads_taken(lengths: list[int], side: PaddingSide) -> int:
    """Return how many pads torch packs, and so how many tokens it drops, where these lengths are padded on a side."""
    ones = [torch.ones(length, device="cpu") for length in lengths]
    grid = pad_sequence(ones, batch_first=True, padding_side=side)
    sizes = torch.tensor(lengths, device="cpu")
    return int((pack_padded_sequence(grid, sizes, batch_first=True, enforce_sorted=False).data == 0).sum())


def _turned(view: View) -> Grid:
    """Return the grid the other way round; its cells are as wide as before where there is room for that."""
    grid = view.grid
    if grid.transposed:
        return upright(view)
    room = max(grid.columns * grid.width, grid.rows * (1.0 if view.small else ASPECT))
    return replace(grid, transposed=True, width=max(1.0, min(grid.width, room / grid.rows)))


def _tall(view: View) -> float:
    """Units of a row of the turned grid: fewer than one where there are far more time steps than sequences."""
    grid = view.grid
    if grid.transposed:
        return 1.0
    return min(1.0, max(float(grid.rows), grid.columns * grid.width / ASPECT, 9.0) / grid.columns)


def _turned_step(view: View, end: Frame) -> Step:
    sizes, name = shape(*_sizes(view, turn=True)), "ids" if view.embedded else "x"
    turned = sheet(view, _turned(view), view.place, f"padded {name} {sizes}", tall=_tall(view), raw=True)
    detail = CodeLine(f"{name}.transpose(0, 1)", sizes)
    caption = say("pad", "turned", view, there=sizes, here=shape(*_sizes(view, turn=False)))
    return Step(caption, (end, turned), detail=(detail,))


def _sizes(view: View, *, turn: bool) -> tuple[int, ...]:
    first, second, features = view.trace.padded.values.shape
    sizes = (second, first) if turn else (first, second)
    return sizes if view.embedded else (*sizes, features)


def _mask_shape(view: View) -> str:
    return shape(*view.trace.padded.values.shape[:2])


def _mask_code(view: View) -> CodeLine:
    steps = "arange(T).flip(0)" if view.padding_side == "left" else "arange(T)"
    compared = f"{steps} < lengths[:, None]" if view.batch_first else f"{steps}[:, None] < lengths"
    return CodeLine(f"mask = {compared}", _mask_shape(view))


def _side_code(view: View, side: PaddingSide) -> CodeLine:
    first = "    sequences, batch_first=True," if view.batch_first else "    sequences,"
    value = f"    padding_value={exact(view.pad_id)},\n" if view.pad_id else ""
    sizes = view.trace.padded.values.shape
    made = shape(*sizes[:2]) if view.trace.padded.tokens.dim() == 2 else shape(*sizes)
    return CodeLine(f'pad_sequence(\n{first}\n{value}    padding_side="{side}")', made)


def _axes_of(view: View) -> tuple[CodeLine, ...]:
    sizes = view.trace.padded.values.shape
    if not view.one_number or view.trace.batch is None:
        return ()
    rows = "pad_sequence: B rows, T steps" if view.batch_first else "pad_sequence: T steps, B columns"
    return CodeLine(rows, shape(*sizes[:2])), CodeLine("unsqueeze(-1): F = 1 a token", shape(*sizes))
