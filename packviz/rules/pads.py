"""Compares the lengths with the pads: tokens left out, pads taken for tokens, pads elsewhere; finds NaN and inf, too.

padding_value.py defines what a pad is; the finding says so if it is assumed. A sequence ends after its last step that
is not a pad. Of each list, the first line that applies is found.

x with lengths, and sequences end after their lengths:
    B = T, and with these swapped each sequence ends at its length               batch_first
    with the time steps reversed each sequence ends at its length                left_padded
    each sequence ends at the length of one: the lengths are in another order    lengths_order
    no padding_value, and each sequence with a length below T ends at T          nothing: a layer may have computed this
    as many steps of a sequence are not pads as its length says                  zero_counted_out
    otherwise                                                                    tokens_dropped
x with lengths, unless one of the first four lines applies:
    pads end sequences before their lengths                                      pads_packed
    all lengths are T, and pads begin sequences, not as many in each             left_padded
packed data:
    pads end sequences                                                           pads_packed
x without lengths that a module runs over:
    pads end sequences                                                           unpacked
    pads begin sequences, not as many in each, and two or more in all            left_padded
    with B and T swapped, 4 or more pads end 2 or more sequences unequally       batch_first, a note

Pads that are packed or run over may be data. Without a padding_value, they are a note; they are not found if there are
such steps inside the sequences, too, and a sequence of nothing else does not count. With one, packed pads are a note if
there are others inside; pads at the ends that are run over in one direction are a note: the outputs before them are
right. Steps of several features that are left out are a note without a padding_value: a layer may have computed them.

>>> import packviz, torch
>>> x = torch.tensor([[1.0, 2, 3, 4], [5, 6, 0, 0]])  # and lengths 4 and 2
>>> [packviz.examine(x, lengths, batch_first=True) for lengths in ([4, 2], [4, 3], [3, 2])]
[Findings(), Findings(note: pads_packed), Findings(silent: tokens_dropped)]
"""

from collections.abc import Iterator, Sequence
from math import isfinite
from typing import Any, cast

from torch import Tensor
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence

from packviz.inputs.module import run_module, states_of
from packviz.inputs.packed_rows import as_grid
from packviz.inputs.torch_answers import Answer, ask
from packviz.rules.case import Case, has_no_wrong_lengths, has_numbers, has_this_layout, has_valid_lengths, rule
from packviz.rules.finding import Fault, Severity
from packviz.rules.padding_value import (
    PaddedGrid,
    all_finite,
    ends_of,
    first_in_each,
    may_have_pads,
    packed_pad,
    peaks,
    plainly_fit,
    real_cells,
)
from packviz.text import joined, numbers


@rule("x", "lengths", needs=(has_numbers, has_valid_lengths))
def lengths_fit_data(case: Case) -> Iterator[Fault]:
    """Compare lengths that torch would take with where the data end; of x or, if they are given, the ids."""
    lengths, given = case.valid_lengths, case.padding_value
    if case.data.is_complex():
        return
    if not given and case.ids is None and plainly_fit(lengths, case.by_sequence, case.peaks, given):
        return
    source = cast(Tensor, case.x) if case.ids is None else case.ids
    grid = PaddedGrid(source if case.batch_first else source.transpose(0, 1), lengths, given)
    over = [b for b, end in enumerate(grid.ends) if end > lengths[b]]
    if over:
        elsewhere = [*_pads_elsewhere(grid)]
        yield from elsewhere
        ends_with_pad = any(end < grid.T for b, end in enumerate(grid.ends) if lengths[b] < grid.T)
        if elsewhere or (given is None and not ends_with_pad):
            return
        yield from _left_out(grid, over)
    yield from _taken_in(grid)


def _pads_elsewhere(grid: PaddedGrid) -> Iterator[Fault]:
    """Find pads that are as many as the lengths leave, but not after the lengths."""
    lengths, T = grid.lengths, grid.T
    short = [b for b, length in enumerate(lengths) if length < T]
    swapped = PaddedGrid(grid.values.transpose(0, 1), lengths, grid.given)
    mirrored = PaddedGrid(grid.values.flip(1), lengths, grid.given)
    if len(lengths) == T and swapped.ends == lengths:
        yield _fault("square", grid, short[:1], [lengths[short[0]]], pad=swapped.pad)
    elif mirrored.ends == lengths:
        before = [T - lengths[b] for b in short]
        yield _fault("left_padded", grid, short, [0] * len(short), pad=mirrored.pad, number=before, counts=False)
    elif sorted(grid.ends) == sorted(lengths):
        rows = [b for b, end in enumerate(grid.ends) if end != lengths[b]]
        steps = [min(grid.ends[b], lengths[b]) for b in rows]
        yield _fault("lengths_order", grid, rows, steps, reach=grid.ends)


def _left_out(grid: PaddedGrid, over: list[int]) -> Iterator[Fault]:
    """Find steps that are not pads after the lengths of these sequences."""
    by_count = [b for b in over if int(grid.real[b].sum()) == grid.lengths[b]]
    if by_count:
        gaps = sum(int((~grid.real[b, : grid.ends[b]]).sum()) for b in by_count)
        yield _fault("zero_counted_out", grid, by_count, [grid.lengths[b] for b in by_count], gaps=gaps)
    rest = [b for b in over if b not in by_count]
    if rest:
        gone = sum(grid.ends[b] - grid.lengths[b] for b in rest)
        # what a layer computed from pads, such as a convolution at its edge, is not a padding value
        computed = grid.given is None and grid.values.is_floating_point() and grid.values.dim() > 2
        yield _fault("tokens_dropped", grid, rest, [grid.lengths[b] for b in rest], note=computed, gone=gone)


def _taken_in(grid: PaddedGrid) -> Iterator[Fault]:
    """Find pads before the lengths: at the ends of the sequences, or at their beginnings."""
    real = grid.real & grid.mask
    for b, end in enumerate(grid.ends):
        if end > grid.lengths[b]:  # its data go on: what is before the length is inside them
            real[b, grid.lengths[b] - 1] = True
    found = [*_pads_packed(grid, real)]
    yield from found
    if not found and min(grid.lengths) == grid.T:
        pads, within = _pads_at_ends(real.flip(1), grid.lengths, grid.given)
        if not _as_many_in_each(pads, len(real)):
            rows, note = [*pads], grid.given is None or within > 0
            yield _fault("left_padded", grid, rows, [0] * len(rows), note=note, number=[*pads.values()], counts=True)


def _pads_packed(grid: PaddedGrid, real: Tensor) -> Iterator[Fault]:
    """Find sequences that end with pads before their lengths."""
    pads, within = _pads_at_ends(real, grid.lengths, grid.given)
    if pads:
        steps, note = [grid.lengths[b] - number for b, number in pads.items()], grid.given is None or within > 0
        about = {"at_ends": sum(pads.values()), "such": int((grid.mask & ~real).sum())}
        yield _fault("pads_packed", grid, [*pads], steps, first=steps[0], note=note, within=within, **about)


def _pads_at_ends(real: Tensor, lengths: list[int], given: float | None) -> tuple[dict[int, int], int]:
    """Return how many pads end each sequence that ends in pads, by sequence, and how many are inside the sequences.

    real: (B, T), True at steps before their lengths that are not pads
    """
    ends = ends_of(real)
    within, is_given = sum(ends) - int(real.sum()), given is not None
    if within and not is_given:  # such steps are data
        return {}, within
    rows = [b for b, end in enumerate(ends) if end < lengths[b] and (end or (is_given and lengths[b] > 1))]
    return {b: lengths[b] - ends[b] for b in rows}, within


def _as_many_in_each(pads: dict[int, int], B: int) -> bool:
    """Return whether all B sequences have the same number of pads: 0, or the first inputs of a decoder are zeros."""
    return not pads or (len(pads) == B and len({*pads.values()}) == 1)


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
        about = {**_kinds(packed.data[bad]), "bad": int(bad.sum()), "of": len(bad)}
        yield Fault("nan_in_packed", ask(lambda: packed.data.sum().item()), rows, steps, severity="silent", **about)
    pad = packed_pad(packed, given)
    real = real_cells(packed.data.unsqueeze(0), pad)[0] if isinstance(pad, Tensor) or pad else largest != 0
    if not bool(real.all()):
        flags, lengths = as_grid(packed._replace(data=real))
        if _pads_at_ends(flags, lengths, given)[0]:
            values, _ = as_grid(packed._replace(data=packed.data.detach()))
            yield from _pads_packed(PaddedGrid(values, lengths, given), flags)


@rule("x", "module", needs=(has_numbers, has_this_layout))
def no_pads_are_run(case: Case) -> Iterator[Fault]:
    """Find pads in x without lengths, which the module runs over: at the ends, the beginnings, or in the other axis."""
    if case.lengths is not None or case.traced or case.data.dim() != 3 or min(case.data.shape[:2]) < 2:
        return  # a single step, as of a decoder, is not a padded grid
    values, given, B, T = case.by_sequence.detach(), case.padding_value, case.B, case.T
    if not may_have_pads(values, True, given):
        return
    grid = PaddedGrid(values, [T] * B, given)
    if not bool(grid.real.any()):
        return
    pads, _ = _pads_at_ends(grid.real, grid.lengths, given)
    if pads:
        yield _run_over("unpacked", case, grid.pad, pads)
        return
    grid = PaddedGrid(values.flip(1), [T] * B, given)
    pads, _ = _pads_at_ends(grid.real, grid.lengths, given)
    if not _as_many_in_each(pads, B) and sum(pads.values()) > 1:
        yield _run_over("unpacked_left", case, grid.pad, pads)
        return
    grid = PaddedGrid(values.transpose(0, 1), [B] * T, given)
    real = grid.real[grid.real.any(1)]  # without time steps of nothing but pads
    pads, _ = _pads_at_ends(real, [B] * len(real), given)
    if not _as_many_in_each(pads, len(real)) and len(pads) > 1 and sum(pads.values()) > 3:
        yield Fault("pads_in_other_axis", severity="note", **_pad_in_words(grid.pad, given, grid.values))


def _run_over(key: str, case: Case, pad: float | Tensor, pads: dict[int, int]) -> Fault:
    """Return a fault with how far the pads, so many in these sequences, move the last state of the first of them."""
    on_left, given, before = key == "unpacked_left", case.padding_value, [*pads.values()]
    row, n = case.by_sequence.detach()[next(iter(pads))], max(case.T - before[0], 1)
    drift = _drift(case, row, row[-n:] if on_left else row[:n])
    certain = given is not None and (on_left or case.layer.bidirectional)
    severity: Severity = "silent" if certain else "note"
    steps = [0 if on_left else case.T - number for number in before]
    words = _pad_in_words(pad, given, case.by_sequence.detach())
    return Fault(key, drift, [*pads], steps, severity=severity, number=len(pads), before=before, **words)


def _drift(case: Case, row: Tensor, tokens: Tensor) -> Answer[float]:
    """Return how far the last state of a sequence (T, F) is from that of its tokens alone."""

    def run(steps: Tensor) -> Tensor:
        grid = steps.unsqueeze(0) if case.layer.batch_first else steps.unsqueeze(1)
        h_n, _ = states_of(run_module(case.layer, grid)[1])
        return h_n[-1]

    return ask(lambda: float((run(row) - run(tokens)).abs().max()))


@rule("x", needs=(has_numbers, has_no_wrong_lengths, has_this_layout))
def x_is_finite(case: Case) -> Iterator[Fault]:
    """Find NaN and inf in x; all of it is data if there are no lengths."""
    values = case.by_sequence
    if not values.is_floating_point() or all_finite(case.peaks):
        return
    bad = ~case.peaks.isfinite()
    grid = PaddedGrid(values, case.valid_lengths or [case.T] * case.B, None)
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
        answer = ask(lambda: (row * inner.reshape(-1, *[1] * (row.dim() - 1))).sum().item())
        yield Fault("nan_in_pads", answer, rows, steps, **_kinds(values[~mask]))


def _kinds(values: Tensor) -> dict[str, Any]:
    """Return how many NaN and inf there are, in words."""
    counts = {"NaN": int(values.isnan().sum()), "inf": int(values.isinf().sum())}
    return {"kinds": joined([f"{count:,} {kind} value{'s' * (count > 1)}" for kind, count in counts.items() if count])}


def _fault(
    key: str,
    grid: PaddedGrid,
    rows: Sequence[int],
    steps: Sequence[int],
    *,
    pad: float | Tensor | None = None,
    first: int = 0,
    note: bool = False,
    **values: object,
) -> Fault:
    """Return a fault with what pack_padded_sequence makes of the first of these sequences, alone, from a step on.

    pad: what a pad is, if it is not that of the grid
    """
    b = rows[0]
    alone, length = grid.values[b : b + 1].detach().cpu(), grid.lengths[b]
    answer: Answer[PackedSequence] = ask(lambda: pack_padded_sequence(alone, [length], batch_first=True))
    taken = alone[0, :0] if answer.result is None else answer.result.data[first:]
    lost = alone[0, length:][real_cells(alone[:, length:], grid.pad)[0]]
    values |= {"taken": _steps(taken), "lost": _steps(lost), "note": note, "grid": grid}
    values |= _pad_in_words(grid.pad if pad is None else pad, grid.given, grid.values)
    severity: Severity = "note" if note else "silent"
    return Fault(key, answer, rows, steps, severity=severity, **values)


def _pad_in_words(pad: float | Tensor, given: float | None, values: Tensor) -> dict[str, str]:
    """Return the pad as code, and the sentence that it is assumed if it was not given.

    values: (B, T, ...), `grid` in the code: a pad of different features is the first step that is like it.
    """
    words = code = repr(pad).removesuffix(".0")
    if isinstance(pad, Tensor):
        b, t = (~real_cells(values, pad)).nonzero()[0].tolist()
        words, code = numbers(pad), f"grid[{b}, {t}]"
    assumed = f" Pads are assumed to be {words}: give padding_value if they are not." if given is None else ""
    return {"pad": code, "assumed": assumed}


def _steps(values: Tensor, most: int = 4) -> str:
    """Return the first few steps in words: each its number, or the first few of its features in brackets."""
    words = [numbers(step) if step.numel() > 1 else numbers(step)[1:-1] for step in values[:most]]
    return ", ".join(words) + (f" and {len(values) - most} more" if len(values) > most else "")
