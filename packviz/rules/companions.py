"""Decides whether what is given beside a batch matches it: a mask, targets and their lengths, the output, hx."""

from collections.abc import Iterator
from typing import NamedTuple, cast

import torch
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence

from packviz.inputs.module import run_module, state_shapes
from packviz.inputs.packed_rows import packed_lengths
from packviz.inputs.torch_answers import Answer, ask
from packviz.rules.case import Case, has_this_layout, has_valid_lengths, rule
from packviz.rules.data import pack_cells
from packviz.rules.finding import Fault
from packviz.rules.packed_sequence import fields_fit
from packviz.rules.padded_grid import first_in_each, inside
from packviz.rules.preconditions import MAX_CELLS, known_lengths
from packviz.rules.words import Said, places


@rule("mask", needs=(has_valid_lengths, has_this_layout))
def mask_fits(case: Case) -> Iterator[Fault]:
    """Compare a mask, (B, T) or laid out as x, with the lengths: True, or 1, where there is a token."""
    lengths, flags = case.valid_lengths, cast(Tensor, case.mask).detach().cpu()
    B, T = case.B, case.T
    if flags.dim() == 3:
        flags = flags.squeeze(-1)
    layouts = [flags] if case.batch_first or flags.dim() != 2 else [flags, flags.transpose(0, 1)]
    fitting = [layout != 0 for layout in layouts if tuple(layout.shape) == (B, T)]
    if not fitting:
        yield Fault("mask_shape", ask(lambda: torch.zeros(B, T, device="cpu") * flags))
        return
    expected = inside(lengths, T, flags.device)
    wrong = sorted((layout != expected for layout in fitting), key=lambda cells: int(cells.sum()))
    if not bool(wrong[0].any()):
        return
    inverted = bool(wrong[-1].all())
    cells = wrong[-1] if inverted else wrong[0]
    rows, steps = first_in_each(cells)
    sums = Answer((cells ^ expected).float().sum(1)[rows])
    if inverted:
        yield Fault("mask_inverted", sums, rows, steps, severity="silent")
        return
    kept, dropped = int((cells & ~expected).sum()), int((cells & expected).sum())
    says: Said = "keeps_and_drops" if kept and dropped else "keeps" if kept else "drops"
    yield Fault("mask_differs", sums, rows, steps, severity="silent", says=[says], kept=kept, dropped=dropped)


@rule(needs=(has_this_layout,))
def targets_fit(case: Case) -> Iterator[Fault]:
    """Compare the lengths that the targets were, or would be, packed with: row n of theirs must be row n of x's."""
    packed = case.targets if isinstance(case.targets, PackedSequence) else None
    if (packed is None and case.target_lengths is None) or not case.valid_lengths:
        return
    unsound = [] if packed is None else [*fields_fit.condition(Case(packed=packed))]
    if unsound:
        yield from unsound
        return
    theirs = known_lengths("target_lengths", case.target_lengths) if packed is None else packed_lengths(packed)
    ours = case.valid_lengths
    if theirs != ours:
        rows = [b for b in range(max(len(theirs), len(ours))) if theirs[b : b + 1] != ours[b : b + 1]]
        answer = _packed_with(ours, theirs)
        parted = answer.result is not None and answer.result.row is not None
        yield Fault(
            "targets_differ",
            answer,
            rows,
            severity="silent",
            fails_in="" if sum(ours) == sum(theirs) else "the loss",  # which refuses another number of rows
            says=["parted" if parted else "not_parted"],
            ours=ours,
            theirs=theirs,
            packed=packed is not None,
        )


class PackedTwice(NamedTuple):
    """How many rows the inputs and the targets have, and the first row in which different cells are, in words."""

    inputs: int
    targets: int
    row: int | None
    of_inputs: str = ""
    of_targets: str = ""


def _packed_with(ours: list[int], theirs: list[int]) -> Answer[PackedTwice]:
    """Pack the numbers of the cells of a grid of T steps with both, and say in which row the two part."""
    T = max(*theirs, *ours, 1)
    if max(len(theirs), len(ours)) * T > MAX_CELLS:
        return Answer(unasked=f"it would take a grid of {T:,} time steps")

    def packed() -> PackedTwice:
        inputs, targets = (pack_cells(len(n), T, n, enforce_sorted=False).data.tolist() for n in (ours, theirs))
        for n, cells in enumerate(zip(inputs, targets, strict=False)):
            if cells[0] != cells[1]:
                of_inputs, of_targets = (places((cell // T,), (cell % T,)) for cell in cells)
                return PackedTwice(len(inputs), len(targets), n, of_inputs, of_targets)
        return PackedTwice(len(inputs), len(targets), None)

    return ask(packed)


@rule("x", "output", needs=(has_valid_lengths, has_this_layout))
def output_fits(case: Case) -> Iterator[Fault]:
    """Compare the unpacked output's shape with x, for its layout, and with the mask, for its width."""
    given, lengths = cast(Tensor, case.output), case.valid_lengths
    if given.dim() != 3:
        return
    B, T = case.B, case.T
    seen = given if case.batch_first else given.transpose(0, 1)
    zeros = torch.zeros(B, T, seen.size(2), device="cpu")
    packed = pack_padded_sequence(zeros, lengths, batch_first=True, enforce_sorted=False)
    width = seen.size(1)
    if seen.size(0) != B and width == B:
        yield Fault(
            "output_layout",
            ask(lambda: pad_packed_sequence(packed, batch_first=not case.batch_first)[0]),
            severity="silent",
        )
    elif seen.size(0) == B and width < T and case.mask is not None and T in case.mask.shape:
        answer = ask(lambda: pad_packed_sequence(packed, batch_first=True)[0] * torch.ones(B, T, 1, device="cpu"))
        yield Fault("output_narrower", answer, (), [width], says=["longest" if width == max(lengths) else "another"])


@rule("module", "hx", needs=(has_this_layout,), refuses=True)
def hx_fits(case: Case) -> Iterator[Fault]:
    """Find an hx of another kind, shape, dtype or device; its sequences are in the order in which they were given."""
    weight, parts, shapes = case.weight, case.states, state_shapes(case.layer, case.B)
    several, pair = isinstance(case.hx, tuple | list), len(shapes) == 2
    if len(parts) != 1 + pair or not all(isinstance(part, Tensor) for part in parts) or several != pair:
        tensors = [isinstance(part, Tensor) for part in parts]
        got: Said = "one" if not several else "several" if all(tensors) else "mixed"
        says: list[Said] = [got, "two_states" if pair else "one_state"]
        yield Fault("hx_kind", _run_state(case), says=says, pair=pair, several=several, tensors=tensors)
        return
    batched = case.packed is not None or case.lengths is not None or case.data.dim() == 3
    for name, part, (slots, B, width) in zip(("h_0", "c_0"), parts, shapes, strict=False):
        shape = (slots, B, width) if batched else (slots, width)
        if tuple(part.shape) != shape:
            turned = batched and tuple(part.shape) == (B, slots, width)
            yield Fault(
                "hx_shape",
                _run_state(case),
                says=["batched" if batched else "unbatched"],
                name=name,
                part=part,
                shape=shape,
                size="hidden size" if width == case.layer.hidden_size else "projection size",
                several=several,
                turned=turned,
            )
            return
        if part.dtype != weight.dtype or part.device != weight.device:
            answer = _run_state(case)
            if case.traced or answer.error or answer.unasked:  # else autocast converts it
                yield Fault("hx_dtype", answer, severity="error", name=name, part=part, pair=pair)
                return


def _run_state(case: Case) -> Answer[object]:
    """Return what torch says of this hx beside one step of B sequences."""
    module, weight, B = case.layer, case.weight, case.B
    if _overreads_state(case):
        return Answer(unasked="it does not check the hx of a packed LSTM, and such states can crash the process")
    row = torch.zeros(B, module.input_size, dtype=weight.dtype, device=weight.device)
    size = torch.tensor([B], device="cpu")
    given: Tensor | PackedSequence = PackedSequence(row, size)
    if case.packed is not None:
        given = PackedSequence(row, size, *case.packed[2:])
    elif case.lengths is not None and not case.enforce_sorted:
        given = PackedSequence(row, size, torch.arange(B, device=weight.device))
    elif case.lengths is None:
        given = case.data[:1] if case.is_unbatched else row.unsqueeze(1 if module.batch_first else 0)
    return ask(lambda: run_module(module, given, case.hx))  # type: ignore[type-var]


def _overreads_state(case: Case) -> bool:
    """Return whether torch can read past the end of a state: it does not check the hx of a packed LSTM."""
    if not case.runs_packed_lstm or not isinstance(case.hx, tuple | list) or len(case.hx) != 2:
        return False
    states = [part for part in case.hx if isinstance(part, Tensor)]
    narrow = any(part.element_size() < case.weight.element_size() for part in states)
    return narrow or [tuple(part.shape) for part in states] != state_shapes(case.layer, case.B)
