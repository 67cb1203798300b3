"""examine(): look at a batch, a packed sequence, or a module and its batch, and list what is wrong."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils import parametrize
from torch.nn.utils.rnn import PackedSequence

from packviz.errors import PackvizError
from packviz.inputs.module import snapshot
from packviz.rules import findings
from packviz.rules.case import Case
from packviz.rules.finding import Findings
from packviz.rules.module import read_module
from packviz.rules.pads import padded_grid
from packviz.rules.preconditions import check_beside, check_subject
from packviz.validate import flag

__all__ = ["examine", "filler_of"]

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
    lengths_device: str = "cpu",
    starts: Tensor | None = None,
    done: Tensor | None = None,
    ignore: str | Collection[str] = (),
) -> Findings:
    """Report what is wrong with a padded batch, a packed sequence, or a module and its input.

    examine(x, lengths)           x: (T, B) or (T, B, F), with batch_first=True (B, T) or (B, T, F)
    examine(packed, lengths)      lengths: in the order of the original sequences, if you have them
    examine(module, x, lengths)   an nn.RNN, nn.GRU or nn.LSTM; or examine(module, packed)
    batch_first     of x, as in pack_padded_sequence: None for the module's own, without a module False
    enforce_sorted  as in pack_padded_sequence; True by default
    hx              the module's initial state, (L*D, B, H), for the LSTM (h_0, c_0)
    mask            (B, T) or laid out as x, True or 1 where there is a token
    targets, target_lengths   a PackedSequence whose rows should match the inputs' rows; or the lengths it is made with
    output          the unpacked output, laid out as x
    state           (B, D*H), the state you use next: which readout of the output it is (needs output or module)
    ids             the integer ids whose embeddings are x, laid out as x: pads are looked for in these
    padding_value   of x, or of ids. None: what alone is after the lengths, or else a step of zeros; see the findings
    lengths_device  where the lengths were when they were printed: see printed_device()
    starts, done    (T, B), laid out as x: where an episode starts, or ends: must be reset in output, or in a run over x
    ignore          keys of findings that are left out

    Nothing is modified, and the module's hooks are not called. Raises PackvizError for unsupported inputs.
    """
    beside: dict[str, Any] = {"hx": hx, "mask": mask, "output": output, "state": state, "starts": starts, "done": done}
    beside |= {"targets": targets, "target_lengths": target_lengths, "ids": ids, "padding_value": padding_value}
    beside |= {"enforce_sorted": flag("enforce_sorted", enforce_sorted), "lengths_device": lengths_device}
    return _found(subject, x, lengths, batch_first, beside).ignoring(ignore)


def filler_of(x: Tensor, lengths: Lengths | None, *, batch_first: bool) -> float:
    """Return the padding_value that examine() assumes for x (B, T) or (B, T, F).

    It is 0.0, which is what pad_sequence fills with, unless all of two or more steps after the lengths are one number.
    batch_first as in pack_padded_sequence.
    """
    if x.dim() < 2 or not x.numel() or x.is_complex():
        return 0.0
    case = Case(x=x, lengths=lengths, batch_first=batch_first)
    ends = case.valid_lengths or [case.T]
    pad = padded_grid(case.by_sequence, ends, None).pad if min(ends) < case.T else 0.0
    return pad if isinstance(pad, int | float) else 0.0


@torch.no_grad()
def _found(
    subject: object, x: object, lengths: object, batch_first: bool | None, beside: Mapping[str, Any]
) -> Findings:
    """Return the findings of these arguments; beside: the other fields of a Case, by their names."""
    module = (
        read_module(subject, _readable, "; pv.watch(module) examines it inside the whole model")
        if isinstance(subject, nn.Module)
        else None
    )
    if module is None:
        if x is not None and lengths is not None:
            got = "another value beside them"
            raise PackvizError("lengths", expected="the lengths once", got=got, fix="call examine(x, lengths)")
        x, lengths = subject, x if lengths is None else lengths
    if batch_first is None:
        batch_first = module is not None and module.batch_first
    batch_first = flag("batch_first", batch_first)
    check_subject(x, batch_first)
    grid, packed = (x if isinstance(x, Tensor) else None), (x if isinstance(x, PackedSequence) else None)
    case = Case(x=grid, packed=packed, lengths=lengths, module=module, batch_first=batch_first, **beside)
    check_beside(case)
    return Findings(sorted(findings(case), key=lambda one: one.severity == "note"))


def _readable(module: nn.RNNBase) -> nn.RNNBase:
    # to read a weight with a parametrization would compute it anew, and change its buffers
    return snapshot(module) if parametrize.is_parametrized(module) else module
