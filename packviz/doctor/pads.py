"""Whether the lengths say what the data show: tokens left out, pads taken in, the pads on the other side.

A value tells nothing by itself: 0 can be a pad or a token. So everything here needs evidence, which is of three kinds:
the caller told the padding value; the cells after the lengths show one; or zeros stand at the ends of the sequences
in a number that chance does not bring there (packviz.doctor.chance). What is left open:

- lengths that are too short where the cells after them show no padding value twice, or a constant one;
- two readings of a square batch whose pads stand in the same places both ways;
- a real zero vector at the end of a sequence and a pad that was packed: a note, not more.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.utils.rnn import pack_padded_sequence

from packviz.doctor.asking import answer, step_numbers
from packviz.doctor.case import Case
from packviz.doctor.finding import Finding, counted, listed, places
from packviz.doctor.grid import Grid, Pad, fills, inside, pad_code, real_cells
from packviz.doctor.packed_pads import packed_pads
from packviz.doctor.repairs import recounted, rolled, turned

__all__ = ["check_pads"]

_ELSEWHERE = ("batch_first", "left_padded", "lengths_order")


def check_pads(case: Case, lengths: list[int]) -> list[Finding]:
    """Compare lengths that torch would take with where the data end; x or, where they are given, the ids."""
    told = case.padding_value
    if not told and case.ids is None and fills(case.peaks, lengths):
        return []  # every step before its length is something, every one after it is zero
    values = case.by_sequence if case.ids is None else _ids_by_sequence(case)
    mask = inside(lengths, values.size(1), values.device)
    grid = Grid(values, lengths, mask, told)
    if grid.pad is None:  # nothing after the lengths looks like a pad: unless the pads, zeros, stand elsewhere
        return _displaced(case, grid, Grid(values, lengths, mask, 0.0))
    beyond = _beyond(case, grid, grid.pad)
    return beyond if beyond and beyond[0].key in _ELSEWHERE else beyond + _within(case, grid)


def _ids_by_sequence(case: Case) -> Tensor:
    assert case.ids is not None
    return case.ids if case.batch_first else case.ids.transpose(0, 1)


def _beyond(case: Case, grid: Grid, pad: Pad) -> list[Finding]:
    """Explain data after the lengths, the simplest explanation first."""
    if pad.constant:
        return []
    if elsewhere := _displaced(case, grid, grid):
        return elsewhere
    over = [b for b, end in enumerate(grid.ends) if end > grid.lengths[b]]
    filled = grid.real.sum(1).tolist()
    by_count = [b for b in over if filled[b] == grid.lengths[b]]
    rest = [b for b in over if filled[b] != grid.lengths[b]]
    found = [_zero_counted_out(case, grid, pad, by_count)] if by_count else []
    return found + ([_dropped(case, grid, pad, rest)] if rest else [])


def _displaced(case: Case, grid: Grid, padded: Grid) -> list[Finding]:
    """Look for pads that are as many as the lengths leave, but elsewhere; `padded` says what they look like."""
    if grid.values.size(0) == grid.T and _fits(grid.turned):
        return [_square(case, grid)]
    if left := _left(case, grid):
        return left
    if sorted(padded.ends) == sorted(grid.lengths) and padded.ends != grid.lengths:
        return [_permuted(case, padded)]
    return []


def _fits(grid: Grid) -> bool:
    """Tell whether the data end exactly where the lengths say, with pads after them."""
    pad = grid.pad
    if pad is None or not pad.constant or all(length == grid.T for length in grid.lengths):
        return False
    zero = bool((pad.cell == 0).all())
    return (pad.told or zero or int((~grid.mask).sum()) > 1) and grid.ends == grid.lengths


def _square(case: Case, grid: Grid) -> Finding:
    b, t = next((b, length) for b, length in enumerate(grid.lengths) if length < grid.T)
    found = (
        f"x has as many sequences as time steps, {grid.T}, and with batch_first={case.batch_first} its pads stand "
        f"where the lengths say there are data. Read the other way round, all {counted(grid.T, 'length')} are right."
    )
    says = _packs_first(grid, [b])
    return Finding("batch_first", "silent", found, "every sequence", says, turned(case), (b,), (t,))


def _left(case: Case, grid: Grid) -> list[Finding]:
    """Look for data that end with the last step and begin as late as their lengths say, after equal cells."""
    short = [b for b, length in enumerate(grid.lengths) if length < grid.T]
    missing = [grid.T - grid.lengths[b] for b in short]
    if sum(missing) < 2 and grid.told is None:
        return []
    first = (
        grid.values[short[0], 0]
        if grid.told is None
        else torch.full(grid.values.shape[2:], grid.told, device=grid.values.device)
    )
    real = real_cells(grid.values, first)
    starts = torch.where(real.any(1), real.int().argmax(1), grid.T)[short].tolist()
    if starts != missing or not bool(real[short, -1].all()):
        return []
    code = pad_code(first.reshape(-1), (short[0], 0))
    found = f"The pads of {counted(len(short), 'sequence')} stand before the data: {listed(missing)}."
    repair, says = rolled(case, code), _packs_first(grid, short)
    return [Finding("left_padded", "silent", found, places(short), says, repair, tuple(short), (0,) * len(short))]


def _permuted(case: Case, grid: Grid) -> Finding:
    rows = [b for b, end in enumerate(grid.ends) if end != grid.lengths[b]]
    found = (
        f"The lengths are right as numbers, but in another order than the sequences: {listed(grid.lengths)}, "
        f"and the data reach {listed(grid.ends)}."
    )
    steps = [min(grid.ends[b], grid.lengths[b]) for b in rows]
    says, repair = _packs_first(grid, rows), recounted(case, grid.pad.code if grid.pad else None)
    return Finding("lengths_order", "silent", found, places(rows, steps), says, repair, tuple(rows), tuple(steps))


def _zero_counted_out(case: Case, grid: Grid, pad: Pad, rows: list[int]) -> Finding:
    gaps = [int((~grid.real[b, : grid.ends[b]]).sum()) for b in rows]
    steps = tuple(grid.lengths[b] for b in rows)
    found = (
        f"The lengths count the steps that are not {pad.code}, and {pad.code} also stands inside the data: "
        f"{counted(sum(gaps), 'time')} in {counted(len(rows), 'sequence')}. So as many steps at the end are left out."
    )
    says, repair = _packs_first(grid, rows), recounted(case, pad.code)
    return Finding("zero_counted_out", "silent", found, places(rows, steps), says, repair, tuple(rows), steps)


def _dropped(case: Case, grid: Grid, pad: Pad, rows: list[int]) -> Finding:
    steps = tuple(grid.lengths[b] for b in rows)
    gone = sum(grid.ends[b] - grid.lengths[b] for b in rows)
    found = f"{counted(gone, 'step')} of data stand after the length of {'their' if gone > 1 else 'its'} sequence."
    says, repair = _packs_first(grid, rows), recounted(case, pad.code)
    return Finding("tokens_dropped", "silent", found, places(rows, steps), says, repair, tuple(rows), steps)


def _packs_first(grid: Grid, rows: list[int]) -> str:
    """Return what pack_padded_sequence makes of the first of these sequences, alone."""
    b = rows[0]
    alone, length = grid.values[b : b + 1].detach().cpu(), grid.lengths[b]

    def words(packed: object) -> str:
        left = alone[0, length:]
        gone = left[real_cells(left.unsqueeze(0), 0.0 if grid.told is None else grid.told)[0]]
        lost = f", and leaves out {listed([step_numbers(step) for step in gone])}" if len(gone) else ""
        taken = listed([step_numbers(step) for step in packed.data])  # type: ignore[attr-defined]
        return f"packs {places((b,))} as {taken}{lost}, without a word"

    return answer(lambda: pack_padded_sequence(alone, [length], batch_first=True), words)


def _within(case: Case, grid: Grid) -> list[Finding]:
    """Look for pads before the lengths: at the ends of the sequences, or at their beginnings."""
    pad = grid.pad
    assert pad is not None
    value: Tensor | float = pad.cell if grid.told is None else grid.told
    real, repair = grid.real & grid.mask, recounted(case, pad.code)
    for b, end in enumerate(grid.ends):
        if end > grid.lengths[b]:  # its data go on: what stands before the length is inside them
            real[b, grid.lengths[b] - 1] = True
    found = packed_pads(grid.values, real, grid.lengths, value, told=pad.told, repair=repair)
    if found is not None:
        return [found]
    if min(grid.lengths) < grid.T or len(set(grid.starts)) == 1:  # all may start alike, with a vector of zeros
        return []
    mirrored, real = grid.values.flip(1), real.flip(1)
    back = packed_pads(mirrored, real, grid.lengths, value, told=pad.told, repair="", places_alone=True)
    return [] if back is None else [_left_inside(case, grid, back)]


def _left_inside(case: Case, grid: Grid, back: Finding) -> Finding:
    rows = list(back.sequences)
    pads = [grid.starts[b] for b in rows]
    found = (
        f"The pads of {counted(len(rows), 'sequence')} stand before the data, and are counted as steps: {listed(pads)}."
    )
    repair = rolled(case, grid.pad.code if grid.pad else "0")
    says, steps = _packs_first(grid, rows), (0,) * len(rows)
    return Finding("left_padded", back.severity, found, places(rows), says, repair, tuple(rows), steps)
