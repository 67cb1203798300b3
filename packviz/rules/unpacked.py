"""Decides whether steps at the edges of a grid that a module runs over without packing are pads."""

from collections.abc import Iterator

import torch
from torch import Tensor

from packviz.inputs.module import run_module, states_of
from packviz.inputs.torch_answers import Answer, ask
from packviz.rules.case import Case, has_numbers, has_this_layout, rule
from packviz.rules.finding import Fault, Severity
from packviz.rules.padding_value import ends_of, pad_code, pad_step, real_cells, shared_end

_LEFT, _OTHER = "unpacked_left", "pads_in_other_axis"


@rule("x", "module", needs=(has_numbers, has_this_layout))
def no_pads_are_run(case: Case) -> Iterator[Fault]:
    """Find steps like pads at either end of sequences run without lengths, or at the ends of the other axis."""
    if case.lengths is not None or case.traced or case.data.dim() != 3 or min(case.data.shape[:2]) < 2:
        return  # a single step, as of a decoder, is not a padded grid
    values, is_given = case.by_sequence.detach(), case.padding_value is not None
    for key, read in (("unpacked", values), (_LEFT, values.flip(1)), (_OTHER, values.transpose(0, 1))):
        seen = _pads_at_the_ends(read, case.padding_value)
        if seen is not None and (is_given or _is_doubtful(key, seen[1], read.size(1))):
            yield _fault(case, key, *seen)
            return


def _is_doubtful(key: str, ends: list[int], T: int) -> bool:
    """Return whether undeclared pads are reason enough to suspect the wrong layout. ends: of each sequence's data."""
    rows, number = sum(end < T for end in ends), len(ends) * T - sum(ends)
    if key == _LEFT:  # all of them may begin with a first input of zeros, as of a decoder
        return number > 1 and rows < len(ends)
    return key == "unpacked" or (rows > 1 and number > 3)


def _fault(case: Case, key: str, cell: Tensor, ends: list[int], at: tuple[int, int]) -> Fault:
    is_given, values = case.padding_value is not None, case.by_sequence.detach()
    T = case.B if key == _OTHER else case.T
    rows = [b for b, end in enumerate(ends) if end < T]
    if key == _OTHER:
        return Fault(key, severity="note", is_given=is_given)
    row, reach, before = values[rows[0]], max(ends[rows[0]], 1), [T - ends[b] for b in rows]
    if key == _LEFT:
        drift, steps, at = _drift(case, row, row[-reach:]), [0] * len(rows), (at[0], 0)
    else:
        drift, steps = _drift(case, row, row[:reach]), [ends[b] for b in rows]
    severity: Severity = "silent" if is_given and (key == _LEFT or case.layer.bidirectional) else "note"
    about = {"pad": pad_code(cell, at), "is_given": is_given, "number": len(rows), "before": before}
    return Fault(key, drift, rows, steps, severity=severity, **about)


def _pads_at_the_ends(values: Tensor, given: float | None) -> tuple[Tensor, list[int], tuple[int, int]] | None:
    """Return what ends sequences (B, T, F) and nothing else in them, how far each reaches, and where it is seen.

    Without a padding value, that is a step of zeros, or a vector repeated at the end of at least two sequences.
    """
    B, T = values.shape[:2]
    cells = [(pad_step(values, given or 0.0), (0, 0))]
    shared = shared_end(values[:, -1], values[:, -2], packed=False) if given is None and T > 1 else None
    if shared is not None:
        cells.append((shared[0], (shared[1], T - 1)))
    for cell, at in cells:
        real = real_cells(values, cell if given is None else given)
        ends = ends_of(real)
        within = sum(ends) - int(real.sum())
        if B and any(ends) and min(ends) < T and (given is not None or not within):
            return cell, ends, at
    return None


def may_have_pads(x: Tensor, batch_first: bool, given: float | None) -> bool:
    """Return whether the edges of x, (B, T, F) or (T, B, F), may be pads; if not, no_pads_are_run() finds nothing."""
    if min(x.shape[:2]) < 2:
        return False
    steps = x.unbind(1) if batch_first else x
    edge, inner = torch.cat([x[-1], x[:, -1], steps[0]]), torch.cat([x[-2], x[:, -2], steps[1]])
    return bool(((edge == (given or 0.0)) | (edge == inner)).all(1).any())


def _drift(case: Case, row: Tensor, tokens: Tensor) -> Answer[float]:
    """Return how far the last state of a sequence (T, F) is from that of its tokens alone."""

    def run(steps: Tensor) -> Tensor:
        grid = steps.unsqueeze(0) if case.layer.batch_first else steps.unsqueeze(1)
        h_n, _ = states_of(run_module(case.layer, grid)[1])
        return h_n[-1]

    return ask(lambda: float((run(row) - run(tokens)).abs().max()))
