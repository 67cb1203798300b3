"""What goes beside the batch: a mask, targets and their lengths, the unpacked output."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence

from packviz.inputs.packed_rows import packed_lengths
from packviz.inputs.torch_answers import ask
from packviz.rules.case import Case
from packviz.rules.evidence import MAX_CELLS, numbers, pack_cells
from packviz.rules.finding import Finding, places
from packviz.rules.lengths import known_lengths
from packviz.rules.packed_sequence import check_indices, check_sizes
from packviz.rules.padding_value import inside
from packviz.rules.preconditions import check_unpacked_size
from packviz.text import counted

__all__ = ["check_mask", "check_output", "check_targets"]


def check_mask(case: Case, lengths: list[int], T: int) -> list[Finding]:
    """Compare a mask, (B, T) or laid out as x, with the lengths: True, or 1, where a token stands."""
    mask = case.mask
    if mask is None:
        return []
    B = len(lengths)
    flags = mask.detach().cpu().squeeze(-1) if mask.dim() == 3 else mask.detach().cpu()
    expected = inside(lengths, T, flags.device)
    layouts = [flags] if case.batch_first else [flags, flags.transpose(0, 1)] if flags.dim() == 2 else []
    fitting = [layout != 0 for layout in layouts if tuple(layout.shape) == (B, T)]
    grid = f"torch.arange({T}) < torch.as_tensor(lengths)[:, None]"
    turn = "" if case.batch_first or tuple(flags.shape) == (B, T) else ".transpose(0, 1)"
    repair = f"import torch\n\nmask = ({grid}){turn}"
    if not fitting:
        answer = ask(lambda: torch.zeros(B, T) * flags)
        says = answer.does(lambda done: f"multiplies the two to a shape of {tuple(done.shape)}")
        found = (
            f"The mask has shape {tuple(mask.shape)}; {counted(B, 'sequence')} of {counted(T, 'step')} make {(B, T)}."
        )
        says = f"{says} when a grid is multiplied by it"
        return [Finding("mask_shape", answer.severity, found, "the mask", says, repair)]
    if any(torch.equal(layout, expected) for layout in fitting):
        return []
    if any(bool((layout != expected).all()) for layout in fitting):
        fitting = [layout for layout in fitting if bool((layout != expected).all())]
    return [_differing(min(fitting, key=lambda layout: int((layout != expected).sum())), expected, repair)]


def _differing(flags: Tensor, expected: Tensor, repair: str) -> Finding:
    wrong = flags != expected
    rows = tuple(wrong.any(1).nonzero().flatten().tolist())
    steps = tuple(wrong[list(rows)].int().argmax(1).tolist())
    kept, dropped = int((flags & ~expected).sum()), int((~flags & expected).sum())
    sums = (torch.ones_like(expected, dtype=torch.float32) * flags).sum(1)[list(rows)]
    says = f"takes any mask without a word: over a grid of ones these sequences then sum to {numbers(sums)}"
    if bool(wrong.all()):
        found = "The mask is True at the pads and False at the tokens, as key_padding_mask of attention wants it."
        return Finding("mask_inverted", "silent", found, places(rows, steps), says, "mask = ~mask.bool()", rows, steps)
    parts = [
        f"{does} {counted(n, word)}" for n, does, word in ((kept, "keeps", "pad"), (dropped, "drops", "token")) if n
    ]
    found = f"The mask disagrees with the lengths: it {' and '.join(parts)}."
    return Finding("mask_differs", "silent", found, places(rows, steps), says, repair, rows, steps)


def check_targets(case: Case, lengths: list[int]) -> list[Finding]:
    """Compare what the targets were, or would be, packed with: row n of theirs must be row n of the inputs'."""
    if isinstance(case.targets, PackedSequence):
        if unsound := check_sizes(case.targets) or check_indices(case.targets):
            return unsound
        check_unpacked_size(case.targets)
        return _compare(packed_lengths(case.targets), lengths, _packed_repair(case))
    if case.target_lengths is not None:
        return _compare(known_lengths("target_lengths", case.target_lengths), lengths, "target_lengths = lengths")
    return []


def _packed_repair(case: Case) -> str:
    source = "packed" if case.packed is not None else "pack_padded_sequence(x, lengths, batch_first, enforce_sorted)"
    return (
        "from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence\n\n"
        f"inputs = {source}\n_, lengths = pad_packed_sequence(inputs, batch_first=True)\n"
        "T = max(len(targets.batch_sizes), int(lengths.max()))\n"
        "grid, _ = pad_packed_sequence(targets, batch_first=True, total_length=T)\n"
        "targets = pack_padded_sequence(grid, lengths, batch_first=True, enforce_sorted=False)\n"
        "# what the targets do not reach is a pad now: take it out of the loss"
    )


def _compare(theirs: list[int], ours: list[int], repair: str) -> list[Finding]:
    if theirs == ours:
        return []
    rows = tuple(b for b in range(max(len(theirs), len(ours))) if theirs[b : b + 1] != ours[b : b + 1])
    found = f"The inputs have the lengths {numbers(torch.tensor(ours))}, the targets {numbers(torch.tensor(theirs))}."
    return [Finding("targets_differ", "silent", found, places(rows), _misaligned(theirs, ours), repair, rows)]


def _misaligned(theirs: list[int], ours: list[int]) -> str:
    """Pack the numbers of the cells themselves with both, and return where the rows part."""
    T = max(*theirs, *ours, 1)
    if max(len(theirs), len(ours)) * T > MAX_CELLS:
        return f"was not asked: it would take a grid of {T:,} time steps"

    def words(pair: tuple[Tensor, Tensor]) -> str:
        mine, yours = pair
        both = min(len(mine), len(yours))
        parted = (mine[:both] != yours[:both]).nonzero().flatten()
        rows = f"packs {counted(len(mine), 'row')} of inputs and {len(yours)} of targets"
        if not len(parted):
            return f"{rows}, without a word"
        n = int(parted[0])
        one, other = (places((int(rows[n]) // T,), (int(rows[n]) % T,)) for rows in pair)
        return f"{rows}, without a word; row {n} is {one} in the inputs, {other} in the targets"

    def packed_cells(lengths: list[int]) -> Tensor:
        return pack_cells(len(lengths), T, lengths, enforce_sorted=False).data

    return ask(lambda: (packed_cells(ours), packed_cells(theirs))).does(words)


def check_output(case: Case, lengths: list[int], T: int) -> list[Finding]:
    """Compare the unpacked output's shape with x, for its layout, and with the mask, for its width."""
    output = case.output
    if output is None or output.dim() != 3:
        return []
    B = len(lengths)
    seen = output if case.batch_first else output.transpose(0, 1)
    packed = pack_padded_sequence(torch.zeros(B, T, seen.size(2)), lengths, batch_first=True, enforce_sorted=False)
    if seen.size(0) != B and seen.size(1) == B:
        other = pad_packed_sequence(packed, batch_first=not case.batch_first)[0]
        found = (
            f"The output has shape {tuple(output.shape)}, and x has its sequences in dimension {1 - case.steps_axis}."
        )
        says = f"unpacks a shape of {tuple(other.shape)} with batch_first={not case.batch_first}: each call has its own"
        return [Finding("output_layout", "silent", found, "the output", says, "output = output.transpose(0, 1)")]
    width = seen.size(1)
    if seen.size(0) != B or width >= T or case.mask is None or T not in case.mask.shape:
        return []
    answer = ask(lambda: pad_packed_sequence(packed, batch_first=True)[0] * torch.ones(B, T, 1))
    says = answer.does(lambda done: f"multiplies output and mask to a shape of {tuple(done.shape)}")
    found = f"The mask has {counted(T, 'step')}, the output {width}: the longest length is {max(lengths)}."
    pad = f"(0, 0, 0, {T - width})" if case.batch_first else f"(0, 0, 0, 0, 0, {T - width})"
    repair = f"import torch\n\noutput = torch.nn.functional.pad(output, {pad})  # or unpack with total_length={T}"
    return [Finding("output_narrower", answer.severity, found, f"t = {width} on", says, repair, (), (width,))]
