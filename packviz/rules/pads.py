"""Decides what a pad is, and whether the pads are where the lengths say, by this list: its lines are PADS and CASES.

The cases of a group are tried from the top, and the first that applies holds. If that begins with "a sequence", the
cases below it are still tried for the other sequences.

what a pad is
    padding_value was given                                                        that number
    the lengths leave 2 or more steps, all alike                                   that step
    the lengths leave no step, and each step is a single number                    nothing
    otherwise                                                                      0, as pad_sequence fills
x with lengths
    each sequence ends at its length, and no pad is before it                      nothing
    all steps are pads                                                             nothing
    some end later; with B and T swapped each ends at its length                   batch_first
    some end later; with time reversed each ends at its length                     left_padded
    some end later; all lengths are there, in another order                        lengths_order
    some end later; no padding_value, and where lengths leave steps none is last   nothing
    a sequence ends later; its length counts its steps that are not pads           zero_counted_out
    a sequence ends later                                                          tokens_dropped
    a sequence ends with pads, before its length                                   pads_packed
    padding_value was given, all lengths are T, and sequences begin with pads      left_padded
packed data
    all steps are pads                                                             nothing
    a sequence ends with pads                                                      pads_packed
x without lengths, which a module runs over
    all steps are pads                                                             nothing
    sequences end with pads                                                        unpacked
    padding_value was given, and sequences begin with pads                         left_padded

A pad is a step whose features all are that number, or are that step. A single number is often data, so it is a pad only
if padding_value or the lengths say so. Packed data, and x without lengths, leave no step. A sequence ends after its
last step that is not a pad, and has at least one step. If x is read in another way, what a pad is, is asked anew.

Without padding_value, the finding says what is assumed, and pads_packed, tokens_dropped and unpacked are notes: these
steps may be data, or an earlier layer may have computed them from pads. With it, only unpacked is a note, if the module
has one direction: then the outputs before the pads are right.

>>> import packviz, torch
>>> x = torch.tensor([[1.0, 2, 3, 4], [5, 6, 0, 0]])  # and lengths 4 and 2
>>> [packviz.examine(x, lengths, batch_first=True) for lengths in ([4, 2], [4, 3], [3, 2])]
[Findings(), Findings(note: pads_packed), Findings(note: tokens_dropped)]
>>> [packviz.examine(x, [4, 4], batch_first=True, padding_value=value) for value in (None, 0)]
[Findings(), Findings(silent: pads_packed)]
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
    Find,
    computed,
    counted_out,
    fits,
    left_out,
    only_pads,
    packed_first,
    packed_pads,
    reordered,
    reversed_time,
    run_first,
    run_last,
    swapped,
)
from packviz.rules.padded_grid import MIN_ALIKE, NOTHING, Pad, PaddedGrid, peaks

Look = TypeVar("Look")
Guess = Callable[[PaddedGrid], Pad | None]  # what a pad is; None if the case does not apply


@dataclass(frozen=True)
class PadCase(Generic[Look]):
    """One line of the list: when it applies, what it concludes, and the function that looks."""

    question: str
    concludes: str
    look: Look
    on_one: bool = False  # it holds for single sequences: the cases below it are tried for the others


PADS: tuple[PadCase[Guess], ...] = (
    PadCase("padding_value was given", "that number", lambda grid: grid.given),
    PadCase(f"the lengths leave {MIN_ALIKE} or more steps, all alike", "that step", lambda grid: grid.step_after),
    PadCase(
        "the lengths leave no step, and each step is a single number",
        NOTHING,
        lambda grid: NOTHING if grid.leaves_no_step and grid.has_single_numbers else None,
    ),
    PadCase("otherwise", "0, as pad_sequence fills", lambda _: 0),
)

CASES: dict[str, tuple[PadCase[Find], ...]] = {
    "x with lengths": (
        PadCase("each sequence ends at its length, and no pad is before it", NOTHING, fits),
        PadCase("all steps are pads", NOTHING, only_pads),
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
        PadCase(
            "padding_value was given, all lengths are T, and sequences begin with pads", "left_padded", packed_first
        ),
    ),
    "packed data": (
        PadCase("all steps are pads", NOTHING, only_pads),
        PadCase("a sequence ends with pads", "pads_packed", packed_pads, on_one=True),
    ),
    "x without lengths, which a module runs over": (
        PadCase("all steps are pads", NOTHING, only_pads),
        PadCase("sequences end with pads", "unpacked", run_last),
        PadCase("padding_value was given, and sequences begin with pads", "left_padded", run_first),
    ),
}


def pad_of(grid: PaddedGrid) -> Pad:
    """Return what a pad is in a grid."""
    return next(pad for pad in (each.look(grid) for each in PADS) if pad is not None)


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


def packed_rows(packed: PackedSequence, given: float | None) -> PaddedGrid:
    """Return packed data as one sequence, (1, N) or (1, N, ...): nothing is after its length."""
    return padded_grid(packed.data.unsqueeze(0), [len(packed.data)], given)


@rule("packed", needs=(has_numbers,))
def packed_sequences_end_with_tokens(case: Case) -> Iterator[Fault]:
    """Find pads that end packed sequences."""
    packed, given = cast(PackedSequence, case.packed), case.padding_value
    if not packed_rows(packed, given).fits:
        values, lengths = as_grid(packed._replace(data=packed.data.detach()))
        grid = PaddedGrid(values, lengths, given, peaks(values), pad_of, is_packed=True)
        yield from _found(case, grid, "packed data")


@rule("x", "module", needs=(has_numbers, has_this_layout))
def no_pads_are_run(case: Case) -> Iterator[Fault]:
    """Find pads in x without lengths, which the module runs over: at the ends or the beginnings."""
    if case.lengths is None and not case.traced and may_be_padded(case.data):
        grid = PaddedGrid(case.by_sequence, [case.T] * case.B, case.padding_value, case.peaks, pad_of)
        yield from () if grid.fits else _found(case, grid, "x without lengths, which a module runs over")


def may_be_padded(x: Tensor) -> bool:
    """Return whether x has two or more sequences and steps: a single step, as of a decoder, is not a padded grid."""
    return x.dim() == 3 and min(x.shape[:2]) > 1


def has_no_pad(x: Tensor, given: float | None) -> bool:
    """Return whether no step of x (B, T, F) is a pad, so that no_pads_are_run() finds none."""
    return not may_be_padded(x) or padded_grid(x, [x.size(1)] * len(x), given).fits
