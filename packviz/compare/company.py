"""The company that a sequence keeps: its result alone, and in this batch, padded and packed."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_packed_sequence

from packviz.batch import sequence_label
from packviz.compare.judging import counted, differing, largest, tolerance_of, written
from packviz.compare.runs import initial_state, plain, run_padded, run_tokens, tokens_of
from packviz.errors import PackvizError
from packviz.exactness import exact_arithmetic
from packviz.modules import directions
from packviz.record import Trace
from packviz.visible import shown

__all__ = ["Company", "company"]


@dataclass(frozen=True, eq=False)
class Company:
    """Hold the top layer's h_n of one sequence, its directions side by side, (D*H,) each.

    b                the sequence
    pads             how many pads its row of the padded grid has
    padded_alone, padded_in_batch, packed_alone, packed_in_batch   the four states
    output_padded    the largest difference between its output alone and in the batch, over its own tokens, padded
    output_packed    the same, packed
    tolerance        up to where two numbers are called equal
    """

    b: int
    pads: int
    padded_alone: Tensor
    padded_in_batch: Tensor
    packed_alone: Tensor
    packed_in_batch: Tensor
    output_padded: float
    output_packed: float
    tolerance: float

    @property
    def padded_moved(self) -> float:
        """Return the largest difference that the batch makes to h_n, padded."""
        return largest(self.padded_alone, self.padded_in_batch)

    @property
    def packed_moved(self) -> float:
        """Return the largest difference that the batch makes to h_n, packed."""
        return largest(self.packed_alone, self.packed_in_batch)

    @property
    def padded_changes(self) -> bool:
        """Return whether the batch changes h_n by more than rounding, padded."""
        return self._differ(self.padded_alone, self.padded_in_batch)

    @property
    def packed_changes(self) -> bool:
        """Return whether the batch changes h_n by more than rounding, packed."""
        return self._differ(self.packed_alone, self.packed_in_batch)

    @property
    def told(self) -> str:
        """Return what the batch does to this sequence, in plain sentences."""
        name = sequence_label(self.b)
        padded = _effect(self.padded_changes, self.padded_moved)
        packed = _effect(self.packed_changes, self.packed_moved)
        return f"{name} has {counted(self.pads, 'pad')} in this batch. Padded, its h_n {padded}. Packed, it {packed}."

    def _differ(self, one: Tensor, other: Tensor) -> bool:
        return bool(differing(one.unsqueeze(0), other.unsqueeze(0), self.tolerance))


def company(trace: Trace, b: int = 0) -> Company:
    """Run torch's module over sequence b alone, padded to its own length and packed, beside both runs of the batch.

    Raises PackvizError where there is no such sequence, and where torch refused to pack the lengths.
    """
    B = len(trace.padded.lengths)
    if isinstance(b, bool) or not (isinstance(b, int) and 0 <= b < B):
        expected = f"a sequence from 0 to {B - 1}"
        raise PackvizError("b", came=shown(b), expected=expected, mend="choose a sequence of this batch")
    x, D, T = tokens_of(trace, b), directions(trace.module), trace.padded.mask.size(1)
    with exact_arithmetic():
        output, h_n, _ = run_padded(trace)
        alone, alone_h_n = _padded_alone(trace, x, b)
        packed, packed_h_n = run_tokens(trace, [x], [b])
        batch, _ = pad_packed_sequence(trace.packed_sequence._replace(data=trace.output), True, 0.0, T)
        return Company(
            b=b,
            pads=T - len(x),
            padded_alone=torch.cat(alone_h_n[-D:, 0].unbind(0)),
            padded_in_batch=torch.cat(h_n[-D:, b].unbind(0)),
            packed_alone=torch.cat(packed_h_n[-D:, 0].unbind(0)),
            packed_in_batch=torch.cat(trace.h_n[-D:, b].unbind(0)),
            output_padded=largest(output[b][trace.padded.mask[b]], alone),
            output_packed=largest(batch[b, : len(x)], packed.data),
            tolerance=tolerance_of(x.dtype),
        )


def _padded_alone(trace: Trace, x: Tensor, b: int) -> tuple[Tensor, Tensor]:
    """Return output (length, D*H) and h_n (L*D, 1, H) of x (length, F) as a batch of one."""
    batch = 0 if trace.module.batch_first else 1
    output, state = plain(trace.module)(x.unsqueeze(batch), initial_state(trace, [b]))
    return output.squeeze(batch), state[0] if isinstance(state, tuple) else state


def _effect(changes: bool, moved: float) -> str:
    if changes:
        return f"is another one than alone, by up to {written(moved)}"
    return f"is the same as alone (largest difference {written(moved)})"
