"""Batch dependence: the result of a sequence alone, and in this batch, padded and packed."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_packed_sequence

from packviz.compute.determinism import exact_arithmetic
from packviz.compute.record import Trace
from packviz.compute.verify import differing, distance, tolerance_of
from packviz.facts.padded_run import initial_state, run_padded, run_tokens, tokens_of
from packviz.inputs.module import directions
from packviz.text import counted, sequence_label, two_digits
from packviz.validate import integer

__all__ = ["BatchDependence", "batch_dependence"]


@dataclass(frozen=True, eq=False)
class BatchDependence:
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
        return distance(self.padded_alone, self.padded_in_batch)

    @property
    def packed_moved(self) -> float:
        """Return the largest difference that the batch makes to h_n, packed."""
        return distance(self.packed_alone, self.packed_in_batch)

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


def batch_dependence(trace: Trace, b: int = 0) -> BatchDependence:
    """Run torch's module over sequence b alone, padded to its own length and packed, beside both runs of the batch.

    Raises PackvizError where there is no such sequence, and where torch refused to pack the lengths.
    """
    B = len(trace.padded.lengths)
    b = integer("b", b, 0, B - 1, what="a sequence", mend="choose a sequence of this batch")
    x, D, T = tokens_of(trace, b), directions(trace.module), trace.padded.mask.size(1)
    with exact_arithmetic():
        output, h_n, _ = run_padded(trace)
        alone, alone_h_n = _padded_alone(trace, x, b)
        packed, packed_h_n = run_tokens(trace, [x], [b])
        batch, _ = pad_packed_sequence(trace.packed_sequence._replace(data=trace.output), True, 0.0, T)
        return BatchDependence(
            b=b,
            pads=T - len(x),
            padded_alone=torch.cat(alone_h_n[-D:, 0].unbind(0)),
            padded_in_batch=torch.cat(h_n[-D:, b].unbind(0)),
            packed_alone=torch.cat(packed_h_n[-D:, 0].unbind(0)),
            packed_in_batch=torch.cat(trace.h_n[-D:, b].unbind(0)),
            output_padded=distance(output[b][trace.padded.mask[b]], alone),
            output_packed=distance(batch[b, : len(x)], packed.data),
            tolerance=tolerance_of(x.dtype),
        )


def _padded_alone(trace: Trace, x: Tensor, b: int) -> tuple[Tensor, Tensor]:
    """Return output (length, D*H) and h_n (L*D, 1, H) of x (length, F) as a batch of one."""
    batch = 0 if trace.module.batch_first else 1
    output, state = trace.module(x.unsqueeze(batch), initial_state(trace, [b]))
    return output.squeeze(batch), state[0] if isinstance(state, tuple) else state


def _effect(changes: bool, moved: float) -> str:
    if changes:
        return f"is another one than alone, by up to {two_digits(moved)}"
    return f"is the same as alone (largest difference {two_digits(moved)})"
