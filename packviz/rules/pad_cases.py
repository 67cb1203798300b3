"""What each case of the list in pads.py looks at, and the fault that it finds.

Each function is given the case, the grid and the numbers of the sequences that no case above it holds for. It returns
a fault, or "nothing" if there is none, whatever the cases below it say; or None if it does not apply.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from torch import Tensor
from torch.nn.utils.rnn import pack_padded_sequence

from packviz.inputs.module import run_module, states_of
from packviz.inputs.torch_answers import Answer, ask
from packviz.rules.case import Case
from packviz.rules.finding import Fault, Severity
from packviz.rules.padded_grid import NOTHING, Nothing, Pad, PaddedGrid, real_cells
from packviz.rules.words import Said
from packviz.text import numbers

MAX_SHOWN = 4  # steps in a sentence

Find = Callable[[Case, PaddedGrid, Sequence[int]], Fault | Nothing | None]


def fits(_: Case, grid: PaddedGrid, __: Sequence[int]) -> Nothing | None:
    return NOTHING if grid.fits else None


def only_pads(_: Case, grid: PaddedGrid, __: Sequence[int]) -> Nothing | None:
    return None if bool(grid.real.any()) else NOTHING


def swapped(_: Case, grid: PaddedGrid, __: Sequence[int]) -> Fault | None:
    lengths = grid.lengths
    if not grid.beyond or len(lengths) != grid.T or (turned := grid.turned()).ends != lengths:
        return None
    b, assumed = grid.short[0], _words(grid, turned.pad)[1]
    answer = _alone(grid, b)
    return Fault("square", answer, [b], [lengths[b]], severity="silent", says=_says(grid, answer), assumed=assumed)


def reversed_time(_: Case, grid: PaddedGrid, __: Sequence[int]) -> Fault | None:
    if not grid.beyond or (turned := grid.backwards()).ends != grid.lengths:
        return None
    return _left_padded(grid, turned.pad, {b: grid.T - grid.lengths[b] for b in grid.short}, counts=False)


def reordered(_: Case, grid: PaddedGrid, __: Sequence[int]) -> Fault | None:
    ends, lengths = grid.ends, grid.lengths
    if not grid.beyond or sorted(ends) != sorted(lengths):
        return None
    rows = [b for b, end in enumerate(ends) if end != lengths[b]]
    answer, (pad, assumed) = _alone(grid, rows[0]), _words(grid, grid.pad)
    steps = [min(ends[b], lengths[b]) for b in rows]
    says = _says(grid, answer)
    return Fault(
        "lengths_order", answer, rows, steps, severity="silent", says=says, reach=ends, pad=pad, assumed=assumed
    )


def computed(_: Case, grid: PaddedGrid, __: Sequence[int]) -> Nothing | None:
    some_end_in_pads = any(grid.ends[b] < grid.T for b in grid.short)
    return NOTHING if grid.beyond and grid.given is None and not some_end_in_pads else None


def counted_out(_: Case, grid: PaddedGrid, __: Sequence[int]) -> Fault | None:
    rows = [b for b in grid.beyond if int(grid.real[b].sum()) == grid.lengths[b]]
    if not rows:
        return None
    answer, steps, (pad, assumed) = _alone(grid, rows[0]), [grid.lengths[b] for b in rows], _words(grid, grid.pad)
    gaps = sum(grid.ends[b] - grid.lengths[b] for b in rows)
    says = _says(grid, answer)
    return Fault(
        "zero_counted_out", answer, rows, steps, severity="silent", says=says, gaps=gaps, pad=pad, assumed=assumed
    )


def left_out(_: Case, grid: PaddedGrid, left: Sequence[int]) -> Fault | None:
    rows = [b for b in grid.beyond if b in left]
    if not rows:
        return None
    answer, steps, (pad, assumed) = _alone(grid, rows[0]), [grid.lengths[b] for b in rows], _words(grid, grid.pad)
    gone = sum(grid.ends[b] - grid.lengths[b] for b in rows)
    severity, says = _severity(is_note=grid.given is None), _says(grid, answer)
    return Fault(
        "tokens_dropped", answer, rows, steps, severity=severity, says=says, gone=gone, pad=pad, assumed=assumed
    )


def packed_pads(_: Case, grid: PaddedGrid, __: Sequence[int]) -> Fault | None:
    if not (pads := grid.pads_at_ends):
        return None
    rows, steps, at_ends = [*pads], [grid.lengths[b] - number for b, number in pads.items()], sum(pads.values())
    answer, (pad, assumed) = _alone(grid, rows[0], steps[0]), _words(grid, grid.pad)
    return Fault(
        "pads_packed",
        answer,
        rows,
        steps,
        severity=_severity(is_note=grid.given is None),
        says=_assumed(grid),
        at_ends=at_ends,
        at_first=pads[rows[0]],
        pad=pad,
        assumed=assumed,
    )


def packed_first(_: Case, grid: PaddedGrid, __: Sequence[int]) -> Fault | None:
    if grid.given is None or not grid.is_full or not (pads := grid.pads_at_starts):
        return None
    return _left_padded(grid, grid.pad, pads, counts=True)


def _left_padded(grid: PaddedGrid, pad: Pad, pads: dict[int, int], *, counts: bool) -> Fault:
    """Return the fault of pads, so many, that begin these sequences; counts: whether the lengths count them."""
    rows, number, (code, assumed) = [*pads], [*map(str, pads.values())], _words(grid, pad)
    answer, at = _alone(grid, rows[0]), [0] * len(pads)
    says: list[Said] = [*_says(grid, answer), "counted" if counts else "not_counted"]
    return Fault(
        "left_padded", answer, rows, at, severity="silent", says=says, number=number, pad=code, assumed=assumed
    )


def run_last(case: Case, grid: PaddedGrid, _: Sequence[int]) -> Fault | None:
    if not (pads := grid.pads_at_ends):
        return None
    b, steps = next(iter(pads)), [grid.T - number for number in pads.values()]
    drift, (pad, assumed) = _drift(case, grid.values[b], grid.values[b, : steps[0]]), _words(grid, grid.pad)
    severity = _severity(is_note=grid.given is None or not case.layer.bidirectional)
    directions: Said = "two_directions" if case.layer.bidirectional else "one_direction"
    says = (directions, *_assumed(grid), _moved(drift))
    return Fault("unpacked", drift, [*pads], steps, severity=severity, says=says, pad=pad, assumed=assumed)


def run_first(case: Case, grid: PaddedGrid, _: Sequence[int]) -> Fault | None:
    if grid.given is None or not (pads := grid.pads_at_starts):
        return None
    b, before = next(iter(pads)), [*map(str, pads.values())]
    drift, pad = _drift(case, grid.values[b], grid.values[b, pads[b] :]), _words(grid, grid.pad)[0]
    says, at = [_moved(drift)], [0] * len(pads)
    return Fault("unpacked_left", drift, [*pads], at, severity="silent", says=says, before=before, pad=pad)


def _severity(*, is_note: bool) -> Severity:
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
        return PackedAlone(_steps(taken), _steps(alone[0, length:][grid.real[b, length:].cpu()]))

    return ask(parts)


def _steps(values: Tensor) -> str:
    """Return the first few steps in words: each its number, or the first few of its features in brackets."""
    words = [numbers(step) if step.numel() > 1 else numbers(step)[1:-1] for step in values[:MAX_SHOWN]]
    return ", ".join(words) + (f" and {len(values) - MAX_SHOWN} more" if len(values) > MAX_SHOWN else "")


def _words(grid: PaddedGrid, pad: Pad) -> tuple[str, str]:
    """Return a pad as code, and in words.

    Of different features, the code is the first step of `grid`, (B, T, ...), that is like it.
    """
    if isinstance(pad, Tensor):
        b, t = (~real_cells(grid.values, pad)).nonzero()[0].tolist()
        return f"grid[{b}, {t}]", numbers(pad)
    code = repr(pad).removesuffix(".0")
    return code, code


def _assumed(grid: PaddedGrid) -> tuple[Said, ...]:
    """Return the name of the sentence that the pad is assumed, unless it was given."""
    return () if grid.given is not None else ("assumed",)


def _says(grid: PaddedGrid, answer: Answer[PackedAlone]) -> tuple[Said, ...]:
    """Return what is said of pads in the wrong place: whether steps are lost, and whether the pad is assumed."""
    lost = answer.result is not None and answer.result.lost
    return ("some_lost" if lost else "all_taken", *_assumed(grid))


def _moved(drift: Answer[float]) -> Said:
    return "moves" if drift.result else "stays"


def _drift(case: Case, row: Tensor, tokens: Tensor) -> Answer[float]:
    """Return how far the last state of a sequence (T, F) is from that of its tokens alone."""

    def run(steps: Tensor) -> Tensor:
        grid = steps.unsqueeze(0) if case.layer.batch_first else steps.unsqueeze(1)
        h_n, _ = states_of(run_module(case.layer, grid)[1])
        return h_n[-1]

    return ask(lambda: float((run(row) - run(tokens)).abs().max()))
