"""The padding on the other side, and what packing would then take."""

from collections.abc import Iterator

import torch
from torch.nn.utils.rnn import pack_padded_sequence, pad_sequence

from packviz.inputs.config import PaddingSide
from packviz.show.movie.figures import exact
from packviz.show.movie.film import Film
from packviz.show.movie.mask import mask_gone
from packviz.show.movie.model import Cell, Change, CodeLine
from packviz.show.movie.outlines import outline
from packviz.show.movie.plan import Plan
from packviz.show.movie.program import index, shape
from packviz.text import counted

__all__ = ["other_side", "own_side", "pads_taken"]


def other_side(film: Film, plan: Plan) -> None:
    """Film the tokens at the other end of their rows; nothing where there is no padding, or not all of it is shown."""
    if not _to_be_shown(plan):
        return
    other = _other(plan)
    film.add(*_columns_taken(plan))
    beats = (mask_gone(plan), _slid(plan, other), _marked(plan, other))
    film.step("pad", _caption(plan, other), index(plan, "pad"), *beats, detail=(_code(plan, other),))


def own_side(plan: Plan) -> Iterator[Change]:
    """Yield the changes that bring every token back to where this run has it."""
    if _to_be_shown(plan):
        yield from _slid(plan, plan.trace.config.padding_side if plan.trace.config else "right")


def pads_taken(lengths: list[int], side: PaddingSide) -> int:
    """Return how many pads torch packs, and so how many tokens it drops, where these lengths are padded on a side."""
    ones = [torch.ones(length, device="cpu") for length in lengths]
    grid = pad_sequence(ones, batch_first=True, padding_side=side)
    sizes = torch.tensor(lengths, device="cpu")
    return int((pack_padded_sequence(grid, sizes, batch_first=True, enforce_sorted=False).data == 0).sum())


def _to_be_shown(plan: Plan) -> bool:
    return plan.trace.batch is not None and len(set(plan.lengths)) > 1 and plan.columns == plan.total[1]


def _other(plan: Plan) -> PaddingSide:
    return "right" if plan.padding_side == "left" else "left"


def _slid(plan: Plan, side: PaddingSide) -> Iterator[Change]:
    """Tokens slide to this side; the pads come in from the other one."""
    for b in plan.shown:
        p, length, T = plan.place[b], plan.lengths[b], plan.columns
        first, pads = (T - length, 0) if side == "left" else (0, length)
        for k in range(length):
            yield Change(f"token:{b}:{plan.lead(b) + k}", place=plan.grid.cell(p, first + k))
        for k, t in enumerate(t for t in range(T) if not plan.mask[b][t]):
            start = plan.grid.cell(p, -1.5 if side == "left" else T + 0.5)
            yield Change(f"pad:{b}:{t}", place=plan.grid.cell(p, pads + k), origin=start)


def _columns_taken(plan: Plan) -> Iterator[Cell]:
    for b in plan.shown:
        yield outline(f"mark:taken:{b}", plan.grid, plan.place[b], 0, steps=plan.lengths[b])


def _marked(plan: Plan, side: PaddingSide) -> Iterator[Change]:
    for b in plan.shown:
        spoilt = side == "left" and plan.lengths[b] < plan.columns
        yield Change(f"mark:taken:{b}", shown=True, tone="wrong" if spoilt else "good")


def _code(plan: Plan, side: PaddingSide) -> CodeLine:
    first = "    sequences, batch_first=True," if plan.batch_first else "    sequences,"
    value = f"    padding_value={exact(plan.pad_id)},\n" if plan.pad_id else ""
    sizes = plan.trace.padded.values.shape
    made = shape(*sizes[:2]) if plan.trace.padded.tokens.dim() == 2 else shape(*sizes)
    return CodeLine(f'pad_sequence(\n{first}\n{value}    padding_side="{side}")', made)


def _caption(plan: Plan, side: PaddingSide) -> str:
    lost = pads_taken(plan.lengths, "left")
    pads, tokens = counted(lost, "pad"), counted(lost, "token")
    if side == "left":
        return (
            '**padding_side="left"** puts the pads first. But pack_padded_sequence always takes the first lengths[b] '
            f"columns, outlined here: it would take {pads} and drop {tokens}."
        )
    return (
        '**padding_side="right"** puts the pads last, so the first lengths[b] columns, which pack_padded_sequence '
        f"takes, are the tokens. On the left, as in this run, it takes {pads} and drops {tokens}."
    )
