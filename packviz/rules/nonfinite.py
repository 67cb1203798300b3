"""Numbers that are not finite: in the data they reach every later state, in the pads all that is done to the grid."""

from __future__ import annotations

from math import isfinite

from torch import Tensor
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence

from packviz.inputs.packed_rows import origins
from packviz.inputs.torch_answers import ask
from packviz.rules.case import Case
from packviz.rules.finding import Finding, places
from packviz.rules.padding_value import inside
from packviz.rules.repairs import emptied_pads
from packviz.text import counted

__all__ = ["all_finite", "check_finite_grid", "check_finite_rows"]

_MENDED = "import torch\n\n# better: find out where they come from"


def all_finite(values: Tensor) -> bool:
    """Tell whether all values are finite; one sum, and a second look only where that is not."""
    return not values.is_floating_point() or isfinite(values.sum().item()) or bool(values.isfinite().all())


def check_finite_grid(case: Case, lengths: list[int] | None) -> list[Finding]:
    """Look for NaN and inf in x; all of it is data where there are no lengths."""
    values = case.by_sequence
    if not values.is_floating_point() or all_finite(case.peaks):
        return []
    bad = ~values.isfinite()
    bad = bad if bad.dim() == 2 else bad.flatten(2).any(-1)
    lengths = [values.size(1)] * values.size(0) if lengths is None else lengths
    mask = inside(lengths, values.size(1), values.device)
    found = []
    if within := _first_in_each(bad & mask):
        says = _packed_says(values, lengths, within[0][0])
        repair = f"{_MENDED}\nx = torch.nan_to_num(x, nan=0.0, posinf=0.0, neginf=0.0)"
        found.append(_in_data(values[bad & mask], within, says, repair))
    told = case.padding_value
    if (after := _first_in_each(bad & ~mask)) and (told is None or isfinite(told)):
        found.append(_in_pads(case, values, mask, after))
    return found


def check_finite_rows(packed: PackedSequence) -> list[Finding]:
    """Return the finding for packed data with NaN or inf in them."""
    bad = (~packed.data.isfinite()).reshape(len(packed.data), -1).any(1)
    firsts: dict[int, int] = {}
    sequence, timestep = origins(packed)
    rows = bad.nonzero().flatten().cpu()
    for b, t in zip(sequence[rows].tolist(), timestep[rows].tolist(), strict=True):
        firsts[b] = min(t, firsts.get(b, t))
    says = f"packs and runs them without a word: {counted(int(bad.sum()), 'row')} of {len(bad)}"
    data = "torch.nan_to_num(packed.data, nan=0.0, posinf=0.0, neginf=0.0)"
    return [
        _in_data(packed.data[bad], sorted(firsts.items()), says, f"{_MENDED}\npacked = packed._replace(data={data})")
    ]


def _first_in_each(bad: Tensor) -> list[tuple[int, int]]:
    """Return (b, t) of the first True in each row (B, T) that has one."""
    rows = bad.any(1).nonzero().flatten()
    return list(zip(rows.tolist(), bad[rows].int().argmax(1).tolist(), strict=True)) if len(rows) else []


def _in_data(values: Tensor, at: list[tuple[int, int]], says: str, repair: str) -> Finding:
    found = f"{_kinds(values)} in the data."
    sequences, steps = tuple(b for b, _ in at), tuple(t for _, t in at)
    return Finding("nan_in_data", "silent", found, places(sequences, steps), says, repair, sequences, steps)


def _kinds(values: Tensor) -> str:
    nan, inf = int(values.isnan().sum()), int(values.isinf().sum())
    return " and ".join(f"{number:,} {name}" for number, name in ((nan, "NaN"), (inf, "inf")) if number)


def _packed_says(values: Tensor, lengths: list[int], b: int) -> str:
    alone = values[b : b + 1].detach().cpu()

    def words(packed: PackedSequence) -> str:
        bad = int((~packed.data.isfinite()).reshape(len(packed.data), -1).any(1).sum())
        are = "is" if bad == 1 else "are"
        return f"packs {places((b,))} without a word: {bad} of {counted(len(packed.data), 'row')} {are} not finite"

    return ask(lambda: pack_padded_sequence(alone, [lengths[b]], batch_first=True)).does(words)


def _in_pads(case: Case, values: Tensor, mask: Tensor, at: list[tuple[int, int]]) -> Finding:
    b = at[0][0]
    length = int(mask[b].sum())
    row = values[b].detach().cpu()

    def words(packed: PackedSequence) -> str:
        kept = "leaves them out when it packs" if all_finite(packed.data) else "packs what is before them"
        times_mask = (row * mask[b].cpu().reshape(-1, *[1] * (row.dim() - 1))).sum()
        return f"{kept}; but x * mask keeps them: the sum over {places((b,))} is {times_mask.item():g}"

    says = ask(lambda: pack_padded_sequence(row.unsqueeze(0), [length], batch_first=True)).does(words)
    sequences, steps = tuple(b for b, _ in at), tuple(t for _, t in at)
    found = f"{_kinds(values[~mask])} in the pads."
    return Finding("nan_in_pads", "silent", found, places(sequences, steps), says, emptied_pads(case), sequences, steps)
