"""examine(): look at a batch, a packed sequence, or a module and its batch, and say what is wrong."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict, Unpack, cast, overload

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence

from packviz.doctor.asking import MOST_CELLS, answer
from packviz.doctor.case import Case
from packviz.doctor.finding import Finding, Severity
from packviz.doctor.finite import check_finite_grid
from packviz.doctor.lengths import check_lengths
from packviz.doctor.module_input import check_input, check_settings
from packviz.doctor.packed import check_packed
from packviz.doctor.pads import check_pads
from packviz.doctor.partners import check_mask, check_output, check_targets
from packviz.doctor.readout import check_readout
from packviz.doctor.refusing import check_partners, check_subject, refusal_of
from packviz.doctor.rows import packed_lengths
from packviz.doctor.states import check_state

__all__ = ["Options", "diagnose", "examine"]

RECURRENT = (nn.RNN, nn.GRU, nn.LSTM)

Lengths = Tensor | Sequence[int] | Sequence[float]
State = Tensor | tuple[Tensor, Tensor]


class Options(TypedDict, total=False):
    """Name what examine() takes beside the batch."""

    batch_first: bool | None
    enforce_sorted: bool
    hx: State | None
    mask: Tensor | None
    targets: Tensor | PackedSequence | None
    target_lengths: Lengths | None
    output: Tensor | None
    state: Tensor | None
    ids: Tensor | None
    padding_value: float | None


@overload
def examine(
    subject: Tensor | PackedSequence, /, lengths: Lengths | None = None, **options: Unpack[Options]
) -> tuple[Finding, ...]: ...


@overload
def examine(
    subject: nn.Module, /, x: Tensor | PackedSequence, lengths: Lengths | None = None, **options: Unpack[Options]
) -> tuple[Finding, ...]: ...


def examine(subject: object, /, *given: object, **named: object) -> tuple[Finding, ...]:
    """Say what is wrong with a padded batch, a packed sequence, or a module and what it is given; () for nothing.

    examine(x, lengths)           x: (T, B) or (T, B, F), with batch_first=True (B, T) or (B, T, F)
    examine(packed, lengths)      lengths: in the order in which the sequences came, where they are at hand
    examine(module, x, lengths)   an nn.RNN, nn.GRU or nn.LSTM; or examine(module, packed)
    batch_first     of x, as in pack_padded_sequence: None for the module's own, without a module False
    enforce_sorted  as in pack_padded_sequence, True
    hx              the module's initial state, (L*D, B, H), for the LSTM (h_0, c_0)
    mask            (B, T) or laid out as x, True or 1 where a token stands
    targets, target_lengths   a PackedSequence whose rows shall go with the inputs' rows; or the lengths it is made with
    output          the unpacked output, laid out as x
    state           (B, D*H), what one goes on with: which reading of the output it is (needs output or module)
    ids             whole numbers, laid out as x, that x are the embeddings of: pads are looked for in these
    padding_value   of x, or of ids. None: not told; then a finding about pads needs evidence from the data alone,
                    and what has none is not found (packviz.doctor.pads says what that is)

    Nothing is changed, and the module's hooks are not called. Raises PackvizError for what is no such thing at all.
    """
    names = ("x", "lengths") if isinstance(subject, nn.Module) else ("lengths",)
    if len(given) > len(names):
        raise TypeError(f"examine() takes at most {len(names) + 1} positional arguments")
    named = {**dict(zip(names, given, strict=False)), **named}
    module = subject if isinstance(subject, nn.Module) else None
    x = named.pop("x", None) if module is not None else subject
    options = cast(Options, {name: value for name, value in named.items() if name != "lengths"})
    with torch.no_grad():
        return diagnose(module, x, named.get("lengths"), **options)


def diagnose(
    module: nn.Module | None, x: object, lengths: object = None, **options: Unpack[Options]
) -> tuple[Finding, ...]:
    """Examine, with the module and the batch told apart."""
    if module is not None and not isinstance(module, RECURRENT):
        raise refusal_of("module", "an nn.RNN, nn.GRU or nn.LSTM", module, "give the recurrent layer, or use pv.watch")
    check_subject(x)
    packed = x if isinstance(x, PackedSequence) else None
    if options.get("batch_first") is None:
        options["batch_first"] = module is not None and module.batch_first
    grid = x if isinstance(x, Tensor) else None
    case = Case(grid, packed, lengths, module, **options)  # type: ignore[arg-type]
    check_partners(case)
    found = check_settings(module) if module is not None else []
    return (*found, *(_of_grid(case) if packed is None else _of_packed(case, packed)))


def _of_grid(case: Case) -> list[Finding]:
    """Examine a padded x: its shape first, then the lengths, then where its data end."""
    x = case.x
    assert x is not None
    if x.dim() < 2 or not x.numel():
        return [_no_grid(case, x)]
    if case.lengths is None:
        alone = case.module is not None and x.dim() == 2
        return _numbers(case, None, unbatched=alone) + _of_module(case, 1 if alone else case.by_sequence.size(0))
    B, T = case.by_sequence.shape[:2]
    read = check_lengths(case, B, T)
    found = list(read.findings)
    if read.values is None:
        return found + _of_module(case, None if "batch_first" in {one.key for one in found} else B)
    if x.device.type != "meta" and not x.is_complex():
        pads = check_pads(case, read.values)
        found += pads
        if "batch_first" in {one.key for one in pads}:
            return found + _of_module(case, None)
    found += _numbers(case, read.values)
    found += check_mask(case, read.values, T) + check_targets(case, read.values)
    found += check_output(case, read.values, T)
    inside = _of_module(case, B)
    sound = not any(one.severity == "error" and one.key != "unsorted" for one in (*found, *inside))
    return found + inside + (check_readout(case, read.values) if sound else [])


def _no_grid(case: Case, x: Tensor) -> Finding:
    """Return the finding for a grid without cells, or with one dimension."""
    ones = [1] * (len(x) if x.dim() == 1 and len(x) <= MOST_CELLS else 1)
    says = answer(
        lambda: pack_padded_sequence(x.cpu() if x.device.type != "meta" else x, ones, case.batch_first),
        lambda packed: f"packs {len(packed.data)} rows",
    )
    shape = tuple(x.shape)
    if x.dim() < 2:
        found = f"x has shape {shape}; sequences and time steps are two dimensions."
        axis = 0 if case.batch_first else 1
        repair = f"x = x.reshape(-1).unsqueeze({axis})  # one sequence"
        return Finding("one_dimension", "error", found, "the shape of x", says, repair)
    found = f"x has shape {shape}: there is nothing in it."
    repair = "import torch\n\nif x.numel() == 0:\n    raise StopIteration  # leave the empty batch out"
    severity: Severity = "error" if says.startswith("raises") else "note"
    return Finding("empty_batch", severity, found, "the shape of x", says, repair)


def _numbers(case: Case, lengths: list[int] | None, *, unbatched: bool = False) -> list[Finding]:
    if case.x is None or case.x.device.type == "meta":
        return []
    if unbatched:  # (T, F): one sequence
        case = Case(case.x.unsqueeze(0 if case.batch_first else 1), batch_first=case.batch_first)
    return check_finite_grid(case, lengths)


def _of_module(case: Case, B: int | None) -> list[Finding]:
    """Examine what the module is given; B None where nobody knows which dimension holds the sequences."""
    if case.module is None:
        return []
    found = check_input(case)
    return found if B is None else found + check_state(case, B)


def _of_packed(case: Case, packed: PackedSequence) -> list[Finding]:
    found, sound = check_packed(case)
    if not sound:
        return found
    inside = _of_module(case, int(packed.batch_sizes[0]))
    if case.state is None and case.mask is None and case.targets is None and case.target_lengths is None:
        return found + inside
    lengths = packed_lengths(packed)
    found += check_mask(case, lengths, max(lengths)) + check_targets(case, lengths)
    refused = any(one.severity == "error" for one in (*found, *inside))
    return found + inside + ([] if refused else check_readout(case, lengths))
