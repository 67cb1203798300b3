"""examine(): look at a batch, a packed sequence, or a module and its batch, and say what is wrong."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils import parametrize
from torch.nn.utils.rnn import PackedSequence

from packviz.inputs.module import has_own_forward, snapshot
from packviz.inputs.packed_rows import packed_lengths
from packviz.rules import check_weights
from packviz.rules.case import Case
from packviz.rules.companions import check_mask, check_output, check_targets
from packviz.rules.finding import Finding
from packviz.rules.lengths import check_lengths
from packviz.rules.module_input import check_input, check_settings, empty_or_flat
from packviz.rules.nonfinite import check_finite_grid
from packviz.rules.packed_sequence import check_packed
from packviz.rules.pads import check_pads
from packviz.rules.preconditions import check_partners, check_subject, refusal_of
from packviz.rules.readout import check_readout
from packviz.rules.state import check_state

__all__ = ["examine"]

RECURRENT = (nn.RNN, nn.GRU, nn.LSTM)

Lengths = Tensor | Sequence[int] | Sequence[float]
State = Tensor | tuple[Tensor, Tensor]


def examine(
    subject: Tensor | PackedSequence | nn.Module,
    /,
    x: Tensor | PackedSequence | Lengths | None = None,
    lengths: Lengths | None = None,
    *,
    batch_first: bool | None = None,
    enforce_sorted: bool = True,
    hx: State | None = None,
    mask: Tensor | None = None,
    targets: Tensor | PackedSequence | None = None,
    target_lengths: Lengths | None = None,
    output: Tensor | None = None,
    state: Tensor | None = None,
    ids: Tensor | None = None,
    padding_value: float | None = None,
) -> tuple[Finding, ...]:
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
    state           (B, D*H), what one goes on with: which reading of the output it is (needs output or module); one
                    that is none of the readings known here is a note, with its distance from the right one
    ids             integers, laid out as x, that x are the embeddings of: pads are looked for in these
    padding_value   of x, or of ids. None: not told; then it is assumed to be the one value after the lengths, else 0,
                    and a finding that rests on it says so

    Nothing is changed, and the module's hooks are not called. Raises PackvizError for unsupported inputs.
    """
    beside = enforce_sorted, hx, mask, targets, target_lengths, output, state, ids, padding_value
    with torch.no_grad():
        return _examined(_case(subject, x, lengths, batch_first, *beside))


def _case(subject: object, x: object, lengths: object, batch_first: bool | None, *beside: Any) -> Case:
    """Tell module, batch and lengths apart; beside: what follows in a Case, in its order."""
    module = _readable(subject) if isinstance(subject, nn.Module) else None
    if module is None:
        if x is not None and lengths is not None:
            raise TypeError("examine() takes lengths once: examine(x, lengths)")
        x, lengths = subject, x if lengths is None else lengths
    check_subject(x)
    grid, packed = (x if isinstance(x, Tensor) else None), (x if isinstance(x, PackedSequence) else None)
    if batch_first is None:
        batch_first = module is not None and module.batch_first
    return Case(grid, packed, lengths, module, batch_first, *beside)


def _readable(module: nn.Module) -> nn.RNNBase:
    if not isinstance(module, RECURRENT):
        raise refusal_of("module", "an nn.RNN, nn.GRU or nn.LSTM", module, "give the recurrent layer, or use pv.watch")
    if has_own_forward(module):
        expected = "a module whose forward is torch's own"
        raise refusal_of("module", expected, module, "give the nn.RNN, nn.GRU or nn.LSTM inside it")
    # to read a weight with a parametrization would compute it anew, and change its buffers
    return check_weights(module, snapshot if parametrize.is_parametrized(module) else lambda given: given)


def _examined(case: Case) -> tuple[Finding, ...]:
    check_partners(case)
    found = check_settings(case.module) if case.module is not None else []
    return (*found, *(_of_grid(case) if case.packed is None else _of_packed(case, case.packed)))


def _of_grid(case: Case) -> list[Finding]:
    """Examine a padded x: its shape first, then the lengths, then where its data end."""
    x = case.x
    assert x is not None
    if unusable := empty_or_flat(case):
        return unusable
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
    if packed.unsorted_indices is not None and packed.unsorted_indices.device.type == "meta":
        return found + inside  # nobody knows which sequence is which
    lengths = packed_lengths(packed)
    found += check_mask(case, lengths, max(lengths)) + check_targets(case, lengths)
    refused = any(one.severity == "error" for one in (*found, *inside))
    return found + inside + ([] if refused else check_readout(case, lengths))
