"""Decides what a pad is, and whether the pads are where the lengths say, by this list: its lines are PADS and CASES.

The cases of a group are tried from the top, and the first that applies holds. If that begins with "a sequence", the
cases below it are still tried for the other sequences.

what a pad is
    padding_value was given                                                        that number
    the lengths leave steps, and these are 0, as pad_sequence fills                0
    the lengths leave 2 or more steps, all alike                                   that step
    the lengths leave no step; one step ends sequences as only pads do             that step
    otherwise                                                                      0
x with lengths
    each sequence ends at its length, and no pad is before it                      nothing
    some end later; with B and T swapped each ends at its length                   batch_first
    some end later; with time reversed each ends at its length                     left_padded
    some end later; all lengths are there, in another order                        lengths_order
    some end later; no padding_value, and where lengths leave steps none is last   nothing
    a sequence ends later; its length counts its steps that are not pads           zero_counted_out
    a sequence ends later                                                          tokens_dropped
    a sequence ends with pads, before its length                                   pads_packed
    all lengths are T, and pads begin sequences, not as many in each               left_padded
packed data
    no step is a pad                                                               nothing
    a sequence ends with pads                                                      pads_packed
x without lengths, which a module runs over
    no step is a pad, in whatever way x is read                                    nothing
    all steps are pads                                                             nothing
    sequences end with pads                                                        unpacked
    pads begin sequences, not as many in each, and 2 or more in all                left_padded
    with B and T swapped, 4 or more pads end 2 or more rows, not equally           batch_first

A sequence ends after its last step that is not a pad. What a pad is, is asked anew if x is read in another way.

Without padding_value, the finding says what is assumed. Then pads at ends or beginnings may be data: they are a note,
and not found if there are such steps inside the sequences, too, or if a sequence has nothing else. With it they are a
note if there are others inside; those that a module runs over in one direction are a note, as the outputs before them
are right. Steps of several features that are left out are a note without it: an earlier layer may have computed them.

>>> import packviz, torch
>>> x = torch.tensor([[1.0, 2, 3, 4], [5, 6, 0, 0]])  # and lengths 4 and 2
>>> [packviz.examine(x, lengths, batch_first=True) for lengths in ([4, 2], [4, 3], [3, 2])]
[Findings(), Findings(note: pads_packed), Findings(silent: tokens_dropped)]
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar, cast

from torch import Tensor
from torch.nn.utils.rnn import PackedSequence

from packviz.inputs.packed_rows import as_grid
from packviz.rules.case import Case, has_numbers, has_this_layout, has_valid_lengths, rule
from packviz.rules.finding import Fault
from packviz.rules.pad_cases import (
    MIN_PADS_ACROSS,
    MIN_PADS_RUN_FIRST,
    MIN_ROWS_ACROSS,
    NOTHING,
    Find,
    computed,
    counted_out,
    fits,
    left_out,
    no_pads,
    only_pads,
    packed_first,
    packed_pads,
    reordered,
    reversed_time,
    run_across,
    run_first,
    run_last,
    swapped,
)
from packviz.rules.padded_grid import MIN_ALIKE, PaddedGrid, peaks, real_cells

Look = TypeVar("Look")
Guess = Callable[[PaddedGrid], float | Tensor | None]  # what a pad is; None if the case does not apply


@dataclass(frozen=True)
class PadCase(Generic[Look]):
    """One line of the list: when it applies, what it concludes, and the function that looks."""

    question: str
    concludes: str
    look: Look
    on_one: bool = False  # it holds for single sequences: the cases below it are tried for the others


PADS: tuple[PadCase[Guess], ...] = (
    PadCase("padding_value was given", "that number", lambda grid: grid.given),
    PadCase("the lengths leave steps, and these are 0, as pad_sequence fills", "0", lambda grid: grid.zero_after),
    PadCase(f"the lengths leave {MIN_ALIKE} or more steps, all alike", "that step", lambda grid: grid.step_after),
    PadCase(
        "the lengths leave no step; one step ends sequences as only pads do",
        "that step",
        lambda grid: grid.step_at_ends,
    ),
    PadCase("otherwise", "0", lambda _: 0),
)

CASES: dict[str, tuple[PadCase[Find], ...]] = {
    "x with lengths": (
        PadCase("each sequence ends at its length, and no pad is before it", NOTHING, fits),
        PadCase("some end later; with B and T swapped each ends at its length", "batch_first", swapped),
        PadCase("some end later; with time reversed each ends at its length", "left_padded", reversed_time),
        PadCase("some end later; all lengths are there, in another order", "lengths_order", reordered),
        PadCase("some end later; no padding_value, and where lengths leave steps none is last", NOTHING, computed),
        PadCase(
            "a sequence ends later; its length counts its steps that are not pads",
            "zero_counted_out",
            counted_out,
            on_one=True,
        ),
        PadCase("a sequence ends later", "tokens_dropped", left_out, on_one=True),
        PadCase("a sequence ends with pads, before its length", "pads_packed", packed_pads, on_one=True),
        PadCase("all lengths are T, and pads begin sequences, not as many in each", "left_padded", packed_first),
    ),
    "packed data": (
        PadCase("no step is a pad", NOTHING, fits),
        PadCase("a sequence ends with pads", "pads_packed", packed_pads, on_one=True),
    ),
    "x without lengths, which a module runs over": (
        PadCase("no step is a pad, in whatever way x is read", NOTHING, no_pads),
        PadCase("all steps are pads", NOTHING, only_pads),
        PadCase("sequences end with pads", "unpacked", run_last),
        PadCase(
            f"pads begin sequences, not as many in each, and {MIN_PADS_RUN_FIRST} or more in all",
            "left_padded",
            run_first,
        ),
        PadCase(
            f"with B and T swapped, {MIN_PADS_ACROSS} or more pads end {MIN_ROWS_ACROSS} or more rows, not equally",
            "batch_first",
            run_across,
        ),
    ),
}


def pad_of(grid: PaddedGrid) -> float | Tensor:
    """Return what a pad is in a grid: the number of all its features, else these."""
    pad = next(pad for pad in (each.look(grid) for each in PADS) if pad is not None)
    if not isinstance(pad, Tensor):
        return pad
    number = pad.flatten()[0]
    return number.item() + 0 if bool((pad == number).all()) else pad  # 0 for -0.0


def _found(case: Case, grid: PaddedGrid, group: str) -> Iterator[Fault]:
    """Yield the faults of the first case that applies, and of the cases below for the other sequences."""
    left = [*range(len(grid.lengths))]
    for each in CASES[group]:
        fault = each.look(case, grid, left)
        if fault is None:
            continue
        if fault != NOTHING:
            yield fault
            left = [b for b in left if b not in fault.rows]
        if not each.on_one:
            return


def padded_grid(values: Tensor, lengths: list[int], given: float | None) -> PaddedGrid:
    """Return the grid (B, T) or (B, T, ...) of a padded batch whose padding_value may be given."""
    return PaddedGrid(values, lengths, given, peaks(values), pad_of)


@rule("x", "lengths", needs=(has_numbers, has_valid_lengths))
def lengths_fit_data(case: Case) -> Iterator[Fault]:
    """Compare lengths that torch would take with where the data end; of x or, if they are given, the ids."""
    if case.data.is_complex():
        return
    lengths, given, ids = case.valid_lengths, case.padding_value, case.ids
    if ids is None:
        grid = PaddedGrid(case.by_sequence, lengths, given, case.peaks, pad_of)
    else:
        grid = padded_grid(ids if case.batch_first else ids.transpose(0, 1), lengths, given)
    yield from _found(case, grid, "x with lengths")


def packed_pad(packed: PackedSequence, given: float | None) -> float | Tensor:
    """Return what a pad is in packed data, which are a grid if all lengths are T; else nothing is after the lengths."""
    B, T = int(packed.batch_sizes[0]), len(packed.batch_sizes)
    if given is not None or len(packed.data) != B * T:
        return given or 0
    return padded_grid(packed.data.reshape(T, B, *packed.data.shape[1:]).transpose(0, 1), [T] * B, given).pad


def has_no_packed_pad(packed: PackedSequence, given: float | None) -> bool:
    """Return whether no step of packed data is a pad: then they need not be unpacked."""
    return bool(real_cells(packed.data.unsqueeze(0), packed_pad(packed, given)).all())


@rule("packed", needs=(has_numbers,))
def packed_sequences_end_with_tokens(case: Case) -> Iterator[Fault]:
    """Find pads that end packed sequences."""
    packed, given = cast(PackedSequence, case.packed), case.padding_value
    if not has_no_packed_pad(packed, given):
        values, lengths = as_grid(packed._replace(data=packed.data.detach()))
        grid = PaddedGrid(values, lengths, given, peaks(values), pad_of, is_packed=True)
        yield from _found(case, grid, "packed data")


@rule("x", "module", needs=(has_numbers, has_this_layout))
def no_pads_are_run(case: Case) -> Iterator[Fault]:
    """Find pads in x without lengths, which the module runs over: at the ends, the beginnings, or in the other axis."""
    if case.lengths is None and not case.traced and may_be_padded(case.data):
        grid = PaddedGrid(case.by_sequence, [case.T] * case.B, case.padding_value, case.peaks, pad_of)
        yield from _found(case, grid, "x without lengths, which a module runs over")


def may_be_padded(x: Tensor) -> bool:
    """Return whether x has two or more sequences and steps: a single step, as of a decoder, is not a padded grid."""
    return x.dim() == 3 and min(x.shape[:2]) > 1


def has_no_pad(x: Tensor, given: float | None) -> bool:
    """Return whether no step of x (B, T, F) is a pad, in whatever way it is read: no_pads_are_run() finds none."""
    return not may_be_padded(x) or padded_grid(x, [x.size(1)] * len(x), given).has_no_pads
