"""What each case of the list in pads.py looks at, and the fault that it finds.

Each function is given the case, the grid and the numbers of the sequences that no case above it holds for. It returns
a fault, or "nothing" if there is none, whatever the cases below it say; or None if it does not apply.
"""

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

from torch import Tensor
from torch.nn.utils.rnn import pack_padded_sequence

from packviz.inputs.module import run_module, states_of
from packviz.inputs.torch_answers import Answer, ask
from packviz.rules.case import Case
from packviz.rules.finding import Fault, Severity
from packviz.rules.padded_grid import PaddedGrid, real_cells
from packviz.text import numbers

MIN_PADS_RUN_FIRST = 2  # in all: a single 0 is often a first input
MIN_PADS_ACROSS, MIN_ROWS_ACROSS = 4, 2  # fewer 0 along another dimension are more likely data
MAX_SHOWN = 4  # steps in a sentence

Nothing = Literal["nothing"]
NOTHING: Nothing = "nothing"
Find = Callable[[Case, PaddedGrid, Sequence[int]], Fault | Nothing | None]


def fits(_: Case, grid: PaddedGrid, __: Sequence[int]) -> Nothing | None:
    return NOTHING if grid.fits else None


def swapped(_: Case, grid: PaddedGrid, __: Sequence[int]) -> Fault | None:
    lengths = grid.lengths
    if not grid.beyond or len(lengths) != grid.T or (turned := grid.turned(lengths)).ends != lengths:
        return None
    b = grid.short[0]
    return Fault("square", _alone(grid, b), [b], [lengths[b]], severity="silent", assumed=_words(turned)[1])


def reversed_time(_: Case, grid: PaddedGrid, __: Sequence[int]) -> Fault | None:
    if not grid.beyond or (begun := grid.begun).ends != grid.lengths:
        return None
    return _left_padded(grid, begun, {b: grid.T - grid.lengths[b] for b in grid.short}, counts=False, note=False)


def reordered(_: Case, grid: PaddedGrid, __: Sequence[int]) -> Fault | None:
    ends, lengths = grid.ends, grid.lengths
    if not grid.beyond or sorted(ends) != sorted(lengths):
        return None
    rows = [b for b, end in enumerate(ends) if end != lengths[b]]
    answer, (pad, assumed) = _alone(grid, rows[0]), _words(grid)
    steps = [min(ends[b], lengths[b]) for b in rows]
    return Fault("lengths_order", answer, rows, steps, severity="silent", reach=ends, pad=pad, assumed=assumed)


def computed(_: Case, grid: PaddedGrid, __: Sequence[int]) -> Nothing | None:
    some_end_in_pads = any(grid.ends[b] < grid.T for b in grid.short)
    return NOTHING if grid.beyond and grid.given is None and not some_end_in_pads else None


def counted_out(_: Case, grid: PaddedGrid, __: Sequence[int]) -> Fault | None:
    rows = [b for b in grid.beyond if int(grid.real[b].sum()) == grid.lengths[b]]
    if not rows:
        return None
    answer, steps, (pad, assumed) = _alone(grid, rows[0]), [grid.lengths[b] for b in rows], _words(grid)
    gaps = sum(grid.ends[b] - grid.lengths[b] for b in rows)
    return Fault("zero_counted_out", answer, rows, steps, severity="silent", gaps=gaps, pad=pad, assumed=assumed)


def left_out(_: Case, grid: PaddedGrid, left: Sequence[int]) -> Fault | None:
    rows = [b for b in grid.beyond if b in left]
    if not rows:
        return None
    answer, steps, (pad, assumed) = _alone(grid, rows[0]), [grid.lengths[b] for b in rows], _words(grid)
    gone = sum(grid.ends[b] - grid.lengths[b] for b in rows)
    # what a layer computed from pads, such as a convolution at its edge, is not a padding value
    note = grid.given is None and grid.values.is_floating_point() and grid.values.dim() > 2
    severity = _severity(note)
    return Fault(
        "tokens_dropped", answer, rows, steps, severity=severity, note=note, gone=gone, pad=pad, assumed=assumed
    )


def packed_pads(_: Case, grid: PaddedGrid, __: Sequence[int]) -> Fault | None:
    if not (pads := grid.pads_at_ends):
        return None
    rows, steps = [*pads], [grid.lengths[b] - number for b, number in pads.items()]
    answer, (pad, assumed) = _alone(grid, rows[0], steps[0]), _words(grid)
    note = grid.given is None or grid.pads_inside > 0
    return Fault(
        "pads_packed",
        answer,
        rows,
        steps,
        severity=_severity(note),
        note=note,
        at_ends=sum(pads.values()),
        within=grid.pads_inside,
        such=grid.pads_before_lengths,
        pad=pad,
        assumed=assumed,
    )


def packed_first(_: Case, grid: PaddedGrid, left: Sequence[int]) -> Fault | None:
    if not grid.is_full or len(left) < len(grid.lengths):
        return None
    begun = grid.begun
    pads = begun.pads_at_ends
    note = grid.given is None or begun.pads_inside > 0
    return _left_padded(grid, begun, pads, counts=True, note=note) if _are_uneven(pads, len(grid.lengths)) else None


def _left_padded(grid: PaddedGrid, begun: PaddedGrid, pads: dict[int, int], *, counts: bool, note: bool) -> Fault:
    """Return the fault of pads, so many, that begin these sequences; counts: whether the lengths count them."""
    rows, number, (pad, assumed), severity = [*pads], [*pads.values()], _words(begun), _severity(note)
    return Fault(
        "left_padded",
        _alone(grid, rows[0]),
        rows,
        [0] * len(rows),
        severity=severity,
        number=number,
        counts=counts,
        note=note,
        pad=pad,
        assumed=assumed,
    )


def no_pads(_: Case, grid: PaddedGrid, __: Sequence[int]) -> Nothing | None:
    return NOTHING if grid.has_no_pads else None


def only_pads(_: Case, grid: PaddedGrid, __: Sequence[int]) -> Nothing | None:
    return NOTHING if not any(grid.ends) else None


def run_last(case: Case, grid: PaddedGrid, _: Sequence[int]) -> Fault | None:
    if not (pads := grid.pads_at_ends):
        return None
    b, steps = next(iter(pads)), [grid.T - number for number in pads.values()]
    drift, (pad, assumed) = _drift(case, grid.values[b], grid.values[b, : max(steps[0], 1)]), _words(grid)
    severity = _severity(grid.given is None or not case.layer.bidirectional)
    return Fault("unpacked", drift, [*pads], steps, severity=severity, pad=pad, assumed=assumed)


def run_first(case: Case, grid: PaddedGrid, _: Sequence[int]) -> Fault | None:
    begun = grid.begun
    pads = begun.pads_at_ends
    if not _are_uneven(pads, len(grid.lengths)) or sum(pads.values()) < MIN_PADS_RUN_FIRST:
        return None
    b, before, severity = next(iter(pads)), [*pads.values()], _severity(grid.given is None)
    tokens = grid.values[b, -max(grid.T - pads[b], 1) :]
    drift, (pad, assumed) = _drift(case, grid.values[b], tokens), _words(begun)
    at = [0] * len(pads)
    return Fault("unpacked_left", drift, [*pads], at, severity=severity, before=before, pad=pad, assumed=assumed)


def run_across(_: Case, grid: PaddedGrid, __: Sequence[int]) -> Fault | None:
    turned = grid.turned([len(grid.lengths)] * grid.T)
    pads = {t: number for t, number in turned.pads_at_ends.items() if turned.ends[t]}  # not of steps that are all pads
    if len(pads) < MIN_ROWS_ACROSS or sum(pads.values()) < MIN_PADS_ACROSS:
        return None
    has_data = sum(map(bool, turned.ends))
    return (
        Fault("pads_in_other_axis", severity="note", assumed=_words(turned)[1]) if _are_uneven(pads, has_data) else None
    )


def _are_uneven(pads: dict[int, int], B: int) -> bool:
    """Return whether there are pads, and not as many in each of B sequences: a decoder may begin each with 0."""
    return bool(pads) and (len(pads) < B or len({*pads.values()}) > 1)


def _severity(is_note: bool) -> Severity:
    return "note" if is_note else "silent"


class PackedAlone(NamedTuple):
    """What pack_padded_sequence takes of a sequence, and what it leaves out, in words."""

    taken: str
    lost: str


def _alone(grid: PaddedGrid, b: int, first: int = 0) -> Answer[PackedAlone]:
    """Return what pack_padded_sequence makes of one of the sequences, alone, from a step on."""
    alone, length = grid.values[b : b + 1].detach().cpu(), grid.lengths[b]

    def parts() -> PackedAlone:
        taken = pack_padded_sequence(alone, [length], batch_first=True).data[first:]
        return PackedAlone(_steps(taken), _steps(alone[0, length:][real_cells(alone[:, length:], grid.pad)[0]]))

    return ask(parts)


def _steps(values: Tensor) -> str:
    """Return the first few steps in words: each its number, or the first few of its features in brackets."""
    words = [numbers(step) if step.numel() > 1 else numbers(step)[1:-1] for step in values[:MAX_SHOWN]]
    return ", ".join(words) + (f" and {len(values) - MAX_SHOWN} more" if len(values) > MAX_SHOWN else "")


def _words(grid: PaddedGrid) -> tuple[str, str]:
    """Return the pad as code, and the sentence that it is assumed if it was not given.

    Of different features, it is the first step of `grid`, (B, T, ...), that is like it.
    """
    words = code = repr(grid.pad).removesuffix(".0")
    if isinstance(grid.pad, Tensor):
        b, t = (~real_cells(grid.values, grid.pad)).nonzero()[0].tolist()
        words, code = numbers(grid.pad), f"grid[{b}, {t}]"
    is_given = grid.given is not None
    return code, "" if is_given else f" Pads are assumed to be {words}: give padding_value if they are not."


def _drift(case: Case, row: Tensor, tokens: Tensor) -> Answer[float]:
    """Return how far the last state of a sequence (T, F) is from that of its tokens alone."""

    def run(steps: Tensor) -> Tensor:
        grid = steps.unsqueeze(0) if case.layer.batch_first else steps.unsqueeze(1)
        h_n, _ = states_of(run_module(case.layer, grid)[1])
        return h_n[-1]

    return ask(lambda: float((run(row) - run(tokens)).abs().max()))
