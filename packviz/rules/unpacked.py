"""A padded grid that a module runs over as it is: the steps at its ends may be pads."""

from collections.abc import Iterator

from torch import Tensor

from packviz.inputs.module import run_module, states_of
from packviz.inputs.torch_answers import Answer, ask
from packviz.rules.case import Case, rule
from packviz.rules.finding import Fault, Severity
from packviz.rules.padding_value import ends_of, filled, pad_code, real_cells


@rule("grid module numbers", "layout")
def unpacked(case: Case) -> Iterator[Fault]:
    """Find steps like pads at the ends of sequences that are run without lengths, or at the ends of the other axis."""
    if case.lengths is not None or case.traced or case.data.dim() != 3 or min(case.data.shape[:2]) < 2:
        return  # a single step, as of a decoder, is no padded grid
    for turned, values in ((False, case.by_sequence), (True, case.by_sequence.transpose(0, 1))):
        seen = _pads_at_the_ends(values.detach(), case.padding_value)
        if seen is not None:
            cell, ends, at = seen
            rows = [b for b, end in enumerate(ends) if end < values.size(1)]
            told = case.padding_value is not None
            if turned and not told and (len(rows) < 2 or sum(values.size(1) - ends[b] for b in rows) < 4):
                continue  # too little to doubt batch_first
            about: dict[str, object] = {"pad": pad_code(cell, at), "told": told, "number": len(rows)}
            if turned:
                yield Fault("pads_in_other_axis", Answer(True), about)
            else:
                severity: Severity = "silent" if told and case.layer.bidirectional else "note"
                yield Fault(
                    "unpacked", _drift(case, rows[0], ends[rows[0]]), about, rows, [ends[b] for b in rows], severity
                )
            return


def _pads_at_the_ends(values: Tensor, given: float | None) -> tuple[Tensor, list[int], tuple[int, int]] | None:
    """Return what ends sequences (B, T, F) and nothing else in them, how far each reaches, and where it is seen.

    Without a padding value, that is a step of zeros, or one vector that ends at least two sequences more than once.
    """
    B, T = values.shape[:2]
    cells = [(filled(values, given or 0.0), (0, 0))]
    if given is None and T > 1 and values.size(2) > 1:
        repeated = (values[:, -1] == values[:, -2]).all(1).nonzero().flatten().tolist()
        cells += [
            (values[b, -1], (b, T - 1))
            for b in repeated[:1]
            if bool((values[repeated[1:], -1] == values[b, -1]).all(1).any())
        ]
    for cell, at in cells:
        real = real_cells(values, cell if given is None else given)
        ends = ends_of(real)
        within = sum(ends) - int(real.sum())
        if B and any(ends) and min(ends) < T and (given is not None or not within):
            return cell, ends, at
    return None


def may_end_in_pads(x: Tensor) -> bool:
    """Tell from its edges alone whether unpacked() may find something in x, (B, T, F) or (T, B, F)."""
    edges = [] if min(x.shape[:2]) < 2 else [(x[-1], x[-2]), (x[:, -1], x[:, -2])]
    return any(bool((~last.any(1) | (last == before).all(1)).any()) for last, before in edges)


def _drift(case: Case, b: int, end: int) -> Answer[float]:
    """Return how far the last state of sequence b is from that after its last step, where there is one."""

    def run(steps: Tensor) -> Tensor:
        grid = steps.unsqueeze(0) if case.layer.batch_first else steps.unsqueeze(1)
        h_n, _ = states_of(run_module(case.layer, grid)[1])
        return h_n[-1]

    row = case.by_sequence[b].detach()
    return ask(lambda: float((run(row) - run(row[: max(end, 1)])).abs().max()))
