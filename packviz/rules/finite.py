"""Decides whether the numbers of a batch are finite: those of the data and those of the pads."""

from collections.abc import Iterator
from math import isfinite
from typing import cast

from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence

from packviz.inputs.packed_rows import as_grid
from packviz.inputs.torch_answers import Answer, ask
from packviz.rules.case import Case, has_no_wrong_lengths, has_numbers, has_this_layout, rule
from packviz.rules.finding import Fault
from packviz.rules.padded_grid import all_finite, first_in_each, inside, peaks
from packviz.rules.words import Said
from packviz.text import joined


@rule("x", needs=(has_numbers, has_no_wrong_lengths, has_this_layout))
def x_is_finite(case: Case) -> Iterator[Fault]:
    """Find NaN and inf in x; all of it is data if there are no lengths."""
    values = case.by_sequence
    if not values.is_floating_point() or all_finite(case.peaks):
        return
    bad, lengths = ~case.peaks.isfinite(), case.valid_lengths or [case.T] * case.B
    mask = inside(lengths, case.T, values.device)
    rows, steps = first_in_each(bad & mask)
    if rows:
        b = rows[0]
        alone, count = values[b : b + 1].detach().cpu(), int((bad & mask)[b].sum())
        answer = ask(lambda: pack_padded_sequence(alone, [lengths[b]], batch_first=True))
        kinds = _kinds(values[bad & mask])
        yield Fault("nan_in_data", answer, rows, steps, severity="silent", kinds=kinds, bad=count, of=lengths[b])
    rows, steps = first_in_each(bad & ~mask)
    given = case.padding_value
    if rows and (given is None or isfinite(given)):
        b = rows[0]
        row, inner = values[b].detach().cpu(), mask[b].cpu()
        total = ask(lambda: (row * inner.reshape(-1, *[1] * (row.dim() - 1))).sum().item())
        yield Fault("nan_in_pads", total, rows, steps, kinds=_kinds(values[~mask]))


@rule("packed", needs=(has_numbers,))
def packed_data_are_finite(case: Case) -> Iterator[Fault]:
    """Find NaN and inf in packed data."""
    packed = cast(PackedSequence, case.packed)
    if all_finite(peaks(packed.data.unsqueeze(0))):
        return
    bad = (~packed.data.isfinite()).reshape(len(packed.data), -1).any(1)
    rows, steps = first_in_each(as_grid(packed._replace(data=bad))[0])
    answer, count = ask(lambda: packed.data.sum().item()), int(bad.sum())
    kinds = _kinds(packed.data[bad])
    yield Fault("nan_in_packed", answer, rows, steps, severity="silent", kinds=kinds, bad=count, of=len(bad))


def output_fault(layer: nn.Module, output: Tensor, answer: Answer[None]) -> Fault:
    """Return the fault of an output that is not finite, although the input is: of the weights, or of the state."""
    weights = [key for key, weight in layer.named_parameters() if not all_finite(weight)]
    says: Said = "weights" if weights else "state"
    bad = int((~output.isfinite()).sum())
    return Fault(
        "nan_in_output", answer, severity="silent", says=[says], weights=weights, number=bad, of=output.numel()
    )


def _kinds(values: Tensor) -> str:
    """Return how many NaN and inf there are, in words."""
    counts = {"NaN": int(values.isnan().sum()), "inf": int(values.isinf().sum())}
    return joined([f"{count:,} {kind} value{'s' * (count > 1)}" for kind, count in counts.items() if count])
