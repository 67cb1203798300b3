"""Decides whether the lengths agree with the data: tokens left out, pads taken in, pads on the other side, NaN.

What a pad is, the first that applies; unless it was given, the finding says what is assumed:
    padding_value was given                                 that value
    two or more steps after the lengths, all alike          that step
    one step after the lengths, or zeros that end a row     0
    other steps after the lengths                           not known: only pads in another place are looked for
    nothing after the lengths, but one vector ends several  that vector: see padding_value.shared_end()
    nothing after the lengths                               0

What is found, the first that applies:
    the tokens end where the lengths say, if the first two dimensions are swapped      batch_first
    the tokens end where the lengths say, if view or reshape is undone                 viewed
    the last steps are tokens, and as many pads begin each row as its length leaves    left_padded
    the sequences end after the lengths of other sequences                             lengths_order
else both of these:
    steps beyond a length are not pads: as many as there are pads before it            zero_counted_out
                                        other numbers                                  tokens_dropped
    steps before a length are pads: at the end of the sequence                         pads_packed
                                    at its beginning, and all lengths are T            left_padded

Not found: lengths that are too short before steps of which no two are alike and none is 0; two readings of a square
batch with pads in the same places. Real zeros at an end and packed pads look the same unless padding_value is given:
they are a note, and nothing if such steps are inside the sequences, too.
"""

from collections.abc import Iterator, Sequence
from math import isfinite
from typing import Any, cast

from torch import Tensor
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence

from packviz.inputs.packed_rows import as_grid
from packviz.inputs.torch_answers import Answer, ask
from packviz.rules.case import Case, has_no_wrong_lengths, has_numbers, has_this_layout, has_valid_lengths, rule
from packviz.rules.finding import Fault, Severity
from packviz.rules.padding_value import (
    GivenGrid,
    Pad,
    all_finite,
    ends_of,
    first_in_each,
    packed_ends,
    pad_code,
    pad_step,
    peaks,
    real_cells,
    shared_end,
    zeros_begin_at,
)
from packviz.rules.preconditions import numbers
from packviz.text import joined


@rule("x", "lengths", needs=(has_numbers, has_valid_lengths))
def lengths_fit_data(case: Case) -> Iterator[Fault]:
    """Compare lengths that torch would take with where the data end; of x or, if they are given, the ids."""
    lengths, given = case.valid_lengths, case.padding_value
    if case.data.is_complex():
        return
    if not given and case.ids is None and zeros_begin_at(case.peaks, lengths) and not _may_count_pads(case):
        return  # every step before its length is something, every one after it is zero
    source = _source(case)
    values = source if case.batch_first else source.transpose(0, 1)
    grid = GivenGrid(values, lengths, given)
    # if nothing after the lengths looks like a pad, the pads may be elsewhere, as zeros
    padded = grid if grid.pad is not None else GivenGrid(values, lengths, 0.0)
    displaced = [] if grid.pad is not None and grid.pad.constant else [*_displaced(case, grid, padded)]
    yield from displaced
    if grid.pad is not None and not displaced:
        yield from _left_out(grid, grid.pad)
        yield from _taken_in(grid, grid.pad)


def _may_count_pads(case: Case) -> bool:
    """Return whether all lengths are T and several sequences end with one vector: these steps may be pads."""
    x = case.by_sequence
    if case.padding_value is not None or x.dim() != 3 or case.T < 2 or min(case.valid_lengths) < case.T:
        return False
    return shared_end(x[:, -1], x[:, -2]) is not None


def _fault(
    key: str,
    grid: GivenGrid,
    rows: Sequence[int],
    steps: Sequence[int],
    pad: Pad | None = None,
    *,
    first: int = 0,
    note: bool = False,
    **values: object,
) -> Fault:
    """Return a fault with what pack_padded_sequence makes of the first of these sequences, alone, from a step on."""
    b = rows[0]
    alone, length = grid.values[b : b + 1].detach().cpu(), grid.lengths[b]
    answer: Answer[PackedSequence] = ask(lambda: pack_padded_sequence(alone, [length], batch_first=True))
    after = alone[0, length:]
    lost = after[real_cells(after.unsqueeze(0), 0.0 if grid.given is None else grid.given)[0]]
    taken = alone[0, :0] if answer.result is None else answer.result.data[first:]
    assumed = ""
    if pad is not None and grid.given is None:
        assumed = f" A pad is assumed to be {pad.code.removesuffix('.0')}, because no padding_value was given."
    values |= {"taken": _steps(taken), "lost": _steps(lost), "pad": pad.code if pad else None}
    severity: Severity = "note" if note else "silent"
    return Fault(key, answer, rows, steps, severity=severity, **values, grid=grid, assumed=assumed, note=note)


def _steps(values: Tensor, most: int = 4) -> str:
    """Return the first few steps in words: each its number, or the first few of its features in brackets."""
    words = [numbers(step) if step.numel() > 1 else numbers(step)[1:-1] for step in values[:most]]
    return ", ".join(words) + (f" and {len(values) - most} more" if len(values) > most else "")


def _displaced(case: Case, grid: GivenGrid, padded: GivenGrid) -> Iterator[Fault]:
    """Find pads that are as many as the lengths leave, but elsewhere; padded: what they look like."""
    short = [b for b, length in enumerate(grid.lengths) if length < grid.T]
    first, ends = short[:1], [grid.lengths[b] for b in short[:1]]
    turned = GivenGrid(grid.values.transpose(0, 1), grid.lengths, grid.given)
    if grid.values.size(0) == grid.T and _fits(turned):
        yield _fault("square", grid, first, ends, turned.pad)
    elif seen := _viewed(case, grid):
        shape = tuple(_source(case).shape)
        yield _fault("viewed", grid, first, ends, seen.pad, source=shape, back=(shape[1], shape[0], *shape[2:]))
    elif (cell := _left(grid, short)) is not None:
        missing, code = [grid.T - grid.lengths[b] for b in short], pad_code(cell.reshape(-1), (short[0], 0))
        yield _fault("left_padded", grid, short, [0] * len(short), number=missing, counts=False, code=code)
    elif sorted(padded.ends) == sorted(grid.lengths) and padded.ends != grid.lengths:
        rows = [b for b, end in enumerate(padded.ends) if end != grid.lengths[b]]
        steps = [min(padded.ends[b], grid.lengths[b]) for b in rows]
        yield _fault("lengths_order", grid, rows, steps, padded.pad, reach=padded.ends)


def _fits(grid: GivenGrid) -> bool:
    """Return whether the data end exactly where the lengths say, with pads after them."""
    pad = grid.pad
    if pad is None or not pad.constant or all(length == grid.T for length in grid.lengths):
        return False
    zero = bool((pad.cell == 0).all())
    return (grid.given is not None or zero or int((~grid.mask).sum()) > 1) and grid.ends == grid.lengths


def _source(case: Case) -> Tensor:
    return cast(Tensor, case.x) if case.ids is None else case.ids


def _viewed(case: Case, grid: GivenGrid) -> GivenGrid | None:
    """Return the grid as it was, if view brought it to its layout, which mixes the rows, and not transpose."""
    source = _source(case)
    there, here = source.shape[:2]
    back = source.reshape(here, there, *source.shape[2:])  # the numbers in their old order, in the other layout
    seen = GivenGrid(back.transpose(0, 1) if case.batch_first else back, grid.lengths, grid.given)
    return seen if there != here and _fits(seen) else None


def _left(grid: GivenGrid, short: list[int]) -> Tensor | None:
    """Return what the pads look like if the data end with the last step and begin as late as their lengths say."""
    missing = [grid.T - grid.lengths[b] for b in short]
    if sum(missing) < 2 and (grid.given is None or not short):
        return None
    first = grid.values[short[0], 0] if grid.given is None else pad_step(grid.values, grid.given)
    real = real_cells(grid.values, first)
    reach = ends_of(real.flip(1))  # how far the data go back from the last step
    fitting = all(reach[b] == grid.lengths[b] for b in short)
    return first if fitting and bool(real[short, -1].all()) else None


def _left_out(grid: GivenGrid, pad: Pad) -> Iterator[Fault]:
    over = [] if pad.constant else [b for b, end in enumerate(grid.ends) if end > grid.lengths[b]]
    by_count = [b for b in over if int(grid.real[b].sum()) == grid.lengths[b]]
    if by_count:
        gaps = sum(int((~grid.real[b, : grid.ends[b]]).sum()) for b in by_count)
        yield _fault("zero_counted_out", grid, by_count, [grid.lengths[b] for b in by_count], pad, gaps=gaps)
    rest = [b for b in over if b not in by_count]
    if rest:
        if all(grid.ends[b] == grid.lengths[b] + 1 and _is_partly_pad(grid, b, pad) for b in rest):
            return  # a pyramidal encoder joins two or more steps to one, and the last one of these has too few
        gone = sum(grid.ends[b] - grid.lengths[b] for b in rest)
        # what a layer computed from pads, such as a convolution at its edge, is not a padding value
        computed = grid.given is None and grid.values.is_floating_point() and grid.values.dim() > 2
        steps = [grid.lengths[b] for b in rest]
        yield _fault("tokens_dropped", grid, rest, steps, pad, gone=gone, note=computed)


def _is_partly_pad(grid: GivenGrid, b: int, pad: Pad) -> bool:
    """Return whether the step after the length of sequence b joins steps of which the last is a pad.

    Its features are then those of two to four steps, one after the other.
    """
    step, cell = grid.values[b, grid.lengths[b]].flatten(), pad.cell.flatten()
    joined = [k for k in (2, 3, 4) if len(step) % k == 0 and len(step) // k > 1]
    return any(bool((step[-(len(step) // k) :] == cell[-(len(step) // k) :]).all()) for k in joined)


def _taken_in(grid: GivenGrid, pad: Pad) -> Iterator[Fault]:
    """Find pads before the lengths: at the ends of the sequences, or at their beginnings."""
    real = grid.real & grid.mask
    for b, end in enumerate(grid.ends):
        if end > grid.lengths[b]:  # its data go on: what is before the length is inside them
            real[b, grid.lengths[b] - 1] = True
    found = [*_at_the_ends(grid, real, pad)]
    yield from found
    if not found and min(grid.lengths) == grid.T and len(set(grid.starts)) > 1:  # alike: a vector of zeros
        for back in _at_the_ends(GivenGrid(grid.values.flip(1), grid.lengths, grid.given), real.flip(1), pad):
            rows, note = back.rows, bool(back.values["note"])
            about: dict[str, Any] = {"number": [grid.starts[b] for b in rows], "counts": True, "code": pad.code}
            yield _fault("left_padded", grid, rows, [0] * len(rows), pad, note=note, **about)


def _at_the_ends(grid: GivenGrid, real: Tensor, pad: Pad) -> Iterator[Fault]:
    """Yield the fault if steps like pads end the sequences (B, T) or (B, T, ...).

    It is certain if the caller gave the padding value and no step inside the sequences looks like it; else the
    steps may be real. With an assumed value it is a note at most, and nothing if such steps are inside the
    sequences, too: then they are data. A sequence of nothing but such steps counts only if the value is given.

    real: (B, T) bool, True at steps before their lengths that do not look like a pad
    """
    ends, lengths, told = ends_of(real), grid.lengths, grid.given is not None
    rows = [b for b, end in enumerate(ends) if end < lengths[b] and (end or (told and lengths[b] > 1))]
    within = sum(ends) - int(real.sum())
    if not rows or (within and not told):
        return
    steps, note = [ends[b] for b in rows], not told or within > 0
    about = {"at_ends": sum(lengths[b] - ends[b] for b in rows), "such": int((grid.mask & ~real).sum())}
    yield _fault("pads_packed", grid, rows, steps, pad, first=steps[0], note=note, within=within, **about)


@rule("packed", needs=(has_numbers,))
def packed_data_are_tokens(case: Case) -> Iterator[Fault]:
    """Check packed data: whether there are any, whether they are finite, and whether pads end the sequences."""
    packed, given = cast(PackedSequence, case.packed), case.padding_value
    if not packed.data.numel():
        yield Fault("empty_packed", severity="note")
        return
    largest = peaks(packed.data.unsqueeze(0))[0]
    if not all_finite(largest):
        bad = (~packed.data.isfinite()).reshape(len(packed.data), -1).any(1)
        rows, steps = first_in_each(as_grid(packed._replace(data=bad))[0])
        yield Fault(
            "nan_in_packed",
            None,
            rows,
            steps,
            severity="silent",
            **_kinds(packed.data[bad]),
            bad=int(bad.sum()),
            of=len(bad),
        )
    real = real_cells(packed.data.unsqueeze(0), given)[0] if given else largest != 0
    shared = None
    if bool(real.all()) and given is None and packed.data.dim() == 2:
        last, before, order = packed_ends(packed)
        shared = shared_end(last, before)
        if shared is not None:
            real = real_cells(packed.data.unsqueeze(0), shared[0])[0]
    if bool(real.all()):
        return
    flags, lengths = as_grid(packed._replace(data=real))
    if given is not None or any(end not in (0, length) for end, length in zip(ends_of(flags), lengths, strict=True)):
        values, _ = as_grid(packed._replace(data=packed.data.detach()))
        pad = Pad(pad_step(values, given or 0), True, f"{given or 0:g}")
        if shared is not None:
            b = order[shared[1]]
            pad = Pad(shared[0], True, pad_code(shared[0], (b, lengths[b] - 1)))
        yield from _at_the_ends(GivenGrid(values, lengths, given), flags, pad)


@rule("x", needs=(has_numbers, has_no_wrong_lengths, has_this_layout))
def x_is_finite(case: Case) -> Iterator[Fault]:
    """Find NaN and inf in x; all of it is data if there are no lengths."""
    values = case.by_sequence
    if not values.is_floating_point() or all_finite(case.peaks):
        return
    bad = ~case.peaks.isfinite()
    grid = GivenGrid(values, case.valid_lengths or [case.T] * case.B, None)
    mask = grid.mask
    rows, steps = first_in_each(bad & mask)
    if rows:
        b = rows[0]
        count = int((bad & mask)[b].sum())
        yield _fault("nan_in_data", grid, rows, steps, bad=count, of=grid.lengths[b], **_kinds(values[bad & mask]))
    rows, steps = first_in_each(bad & ~mask)
    given = case.padding_value
    if rows and (given is None or isfinite(given)):
        b = rows[0]
        row, inner = values[b].detach().cpu(), mask[b].cpu()
        times_mask = (row * inner.reshape(-1, *[1] * (row.dim() - 1))).sum().item()
        yield Fault("nan_in_pads", None, rows, steps, times_mask=times_mask, **_kinds(values[~mask]))


def _kinds(values: Tensor) -> dict[str, Any]:
    """Return how many NaN and inf there are, in words."""
    counts = {"NaN": int(values.isnan().sum()), "inf": int(values.isinf().sum())}
    return {"kinds": joined([f"{count:,} {kind} value{'s' * (count > 1)}" for kind, count in counts.items() if count])}
