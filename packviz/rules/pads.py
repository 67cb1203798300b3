"""Whether the lengths say what the data show: tokens left out, pads taken in, the pads on the other side.

What a pad looks like is what the caller told. Untold it is assumed, and the finding says so: the one value that stands
everywhere after the lengths, at least twice, else 0. What is left open:

- lengths that are too short where the cells after them are neither all alike nor 0 anywhere at the end;
- two readings of a square batch whose pads stand in the same places both ways;
- real zeros at the end of a sequence and pads that were packed: a note, unless the padding value is told; and nothing
  where zeros stand inside the sequences, too.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.utils.rnn import pack_padded_sequence

from packviz.inputs.torch_answers import ask
from packviz.rules.case import Case
from packviz.rules.evidence import step_numbers
from packviz.rules.finding import Finding, Severity, places
from packviz.rules.padding_value import Grid, Pad, filled, fills, inside, pad_code, real_cells
from packviz.rules.repairs import recounted, rolled, turned, viewed_back
from packviz.text import counted, listed

__all__ = ["check_pads", "packed_pads"]

_ELSEWHERE = ("batch_first", "viewed", "left_padded", "lengths_order")


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
    if viewed := _viewed(case, grid):
        return viewed
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
    ) + _assumption(grid.turned.pad)
    says = _packs_first(grid, [b])
    return Finding("batch_first", "silent", found, "every sequence", says, turned(case), (b,), (t,))


def _viewed(case: Case, grid: Grid) -> list[Finding]:
    """Look for a grid that was brought to its layout by view, which cuts the rows anew, and not by transpose."""
    source = case.x if case.ids is None else case.ids
    assert source is not None
    there, here = source.shape[:2]
    back = source.reshape(here, there, *source.shape[2:])  # the numbers as they stood, in the other layout
    by_sequence = back.transpose(0, 1) if case.batch_first else back
    if there == here or not _fits(seen := Grid(by_sequence, grid.lengths, grid.mask, grid.told)):
        return []
    b, t = next((b, length) for b, length in enumerate(grid.lengths) if length < grid.T)
    found = (
        f"x looks as if view or reshape had made it {tuple(source.shape)}, which mixes the sequences: viewed as "
        f"{tuple(back.shape)} again, its data end where the lengths say. transpose(0, 1) is what exchanges dimensions."
    ) + _assumption(seen.pad)
    repair = viewed_back(case)
    return [Finding("viewed", "silent", found, "every sequence", _packs_first(grid, [b]), repair, (b,), (t,))]


def _left(case: Case, grid: Grid) -> list[Finding]:
    """Look for data that end with the last step and begin as late as their lengths say, after equal cells."""
    short = [b for b, length in enumerate(grid.lengths) if length < grid.T]
    missing = [grid.T - grid.lengths[b] for b in short]
    if sum(missing) < 2 and grid.told is None:
        return []
    first = grid.values[short[0], 0] if grid.told is None else filled(grid.values, grid.told)
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
    ) + _assumption(grid.pad)
    steps = [min(grid.ends[b], grid.lengths[b]) for b in rows]
    says, repair = _packs_first(grid, rows), recounted(case, grid.pad.code if grid.pad else None)
    return Finding("lengths_order", "silent", found, places(rows, steps), says, repair, tuple(rows), tuple(steps))


def _zero_counted_out(case: Case, grid: Grid, pad: Pad, rows: list[int]) -> Finding:
    gaps = [int((~grid.real[b, : grid.ends[b]]).sum()) for b in rows]
    steps = tuple(grid.lengths[b] for b in rows)
    found = (
        f"The lengths count the steps that are not {pad.code}, and {pad.code} also stands inside the data: "
        f"{counted(sum(gaps), 'time')} in {counted(len(rows), 'sequence')}. So as many steps at the end are left out."
    ) + _assumption(pad)
    says, repair = _packs_first(grid, rows), recounted(case, pad.code)
    return Finding("zero_counted_out", "silent", found, places(rows, steps), says, repair, tuple(rows), steps)


def _dropped(case: Case, grid: Grid, pad: Pad, rows: list[int]) -> Finding:
    steps = tuple(grid.lengths[b] for b in rows)
    gone = sum(grid.ends[b] - grid.lengths[b] for b in rows)
    found = f"{counted(gone, 'step')} of data stand after the length of {'their' if gone > 1 else 'its'} sequence."
    computed = not pad.told and grid.values.is_floating_point() and grid.values.dim() > 2
    if computed:  # a convolution's edge, a bias: what is computed from pads is no padding value
        found += " If an earlier layer computed them from pads, nothing is wrong."
    found += _assumption(pad)
    says, repair = _packs_first(grid, rows), recounted(case, pad.code)
    severity: Severity = "note" if computed else "silent"
    return Finding("tokens_dropped", severity, found, places(rows, steps), says, repair, tuple(rows), steps)


def _assumption(pad: Pad | None) -> str:
    return "" if pad is None or pad.told else _assumed(pad.code)


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

    return ask(lambda: pack_padded_sequence(alone, [length], batch_first=True)).does(words)


def _within(case: Case, grid: Grid) -> list[Finding]:
    """Look for pads before the lengths: at the ends of the sequences, or at their beginnings."""
    pad = grid.pad
    assert pad is not None
    real, repair = grid.real & grid.mask, recounted(case, pad.code)
    for b, end in enumerate(grid.ends):
        if end > grid.lengths[b]:  # its data go on: what stands before the length is inside them
            real[b, grid.lengths[b] - 1] = True
    found = packed_pads(grid.values, real, grid.lengths, pad.code, told=pad.told, repair=repair)
    if found is not None:
        return [found]
    if min(grid.lengths) < grid.T or len(set(grid.starts)) == 1:  # all may start alike, with a vector of zeros
        return []
    back = packed_pads(grid.values.flip(1), real.flip(1), grid.lengths, pad.code, told=pad.told, repair="")
    return [] if back is None else [_left_inside(case, grid, back)]


def _left_inside(case: Case, grid: Grid, back: Finding) -> Finding:
    rows = list(back.sequences)
    pads = [grid.starts[b] for b in rows]
    found = (
        f"The pads of {counted(len(rows), 'sequence')} stand before the data, and are counted as steps: {listed(pads)}."
    )
    if back.severity == "note":
        found += f" If they are real, nothing is wrong.{_assumption(grid.pad)}"
    repair = rolled(case, grid.pad.code if grid.pad else "0")
    says, steps = _packs_first(grid, rows), (0,) * len(rows)
    return Finding("left_padded", back.severity, found, places(rows), says, repair, tuple(rows), steps)


def _assumed(code: str) -> str:
    """Return what is said of a finding that rests on a padding value nobody told."""
    return f" Assumed: a pad is {code.removesuffix('.0')}, since no padding_value was given."


def packed_pads(
    values: Tensor, real: Tensor, lengths: list[int], code: str, *, told: bool, repair: str
) -> Finding | None:
    """Return the finding where steps like pads end the sequences (B, T) or (B, T, ...).

    It is certain where the caller told the padding value and no step inside the sequences looks like it; else the
    steps may be real. Untold it is a note at most, and nothing where such steps stand inside the sequences, too: then
    they are data. A sequence of nothing but such steps counts only where the value is told.

    real: (B, T) bool, True at steps before their lengths that do not look like a pad; code: the pad, as code
    """
    ends: list[int] = (real * torch.arange(1, real.size(1) + 1, device=real.device)).amax(1).tolist()
    rows = [b for b, end in enumerate(ends) if end < lengths[b] and (end or (told and lengths[b] > 1))]
    if not rows:
        return None
    at_ends = sum(lengths[b] - ends[b] for b in rows)
    within = sum(ends) - int(real.sum())
    if within and not told:
        return None
    like = "looks like a pad and counts" if at_ends == 1 else "look like pads and count"
    found = f"{counted(at_ends, 'step')} at the end of {counted(len(rows), 'sequence')} {like} as data."
    severity: Severity = "silent" if told and not within else "note"
    if within:
        found += f" So {'does' if within == 1 else 'do'} {counted(within, 'step')} inside the sequences."
    if severity == "note":
        found += (
            f" If {'it is' if at_ends == 1 else 'they are'} real, nothing is wrong.{'' if told else _assumed(code)}"
        )
    steps = [ends[b] for b in rows]
    does = _packs(values, lengths, ends, rows[0])
    return Finding("pads_packed", severity, found, places(rows, steps), does, repair, tuple(rows), tuple(steps))


def _packs(values: Tensor, lengths: list[int], ends: list[int], b: int) -> str:
    alone = values[b : b + 1, : lengths[b]].detach().cpu()

    def words(packed: object) -> str:
        taken = [step_numbers(step) for step in packed.data[ends[b] :]]  # type: ignore[attr-defined]
        return f"packs {places((b,))} with {counted(len(taken), 'row')} {listed(taken)} at its end, as if data"

    return ask(lambda: pack_padded_sequence(alone, [lengths[b]], batch_first=True)).does(words)
