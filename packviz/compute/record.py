"""The record of a run: every stage, every layer and direction, and how far it is from torch's own run."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence

from packviz.compute.packing import Packed
from packviz.compute.padding import Padded
from packviz.compute.recurrence import Direction, Schedule
from packviz.compute.sorting import Sorted
from packviz.compute.unpacking import Unpacked
from packviz.errors import PackvizError
from packviz.inputs.batch import Batch
from packviz.inputs.config import Config

__all__ = ["Forward", "Run", "Trace", "check_own_making"]


@dataclass(frozen=True, eq=False)
class Forward:
    """Hold what happens between packed input and packed output; see Trace for the names."""

    sorted: Sorted
    packed: Packed
    layers: tuple[tuple[Direction, ...], ...]
    output: Tensor
    h_0: Tensor
    c_0: Tensor | None
    h_n: Tensor
    c_n: Tensor | None
    schedule: Schedule


@dataclass(frozen=True, eq=False)
class Run(Forward):
    """Hold every stage from the sort on."""

    unpacked: Unpacked


@dataclass(frozen=True, eq=False)
class Trace:
    """Hold one run from the padded grid to the unpacked output.

    batch, config   what trace() was given; None after trace_module()
    module          the nn.RNN, nn.GRU or nn.LSTM that was run, with a copy of the weights it had then
    padded          the grid
    run             everything after it; None where torch refuses the lengths
    error           torch's own message, where enforce_sorted=True meets lengths that are not sorted; else None
    notes           what a reader should know, in sentences
    padding_value   what fills the unpacked output
    total_length    its width, or None for the longest length

    Where there is an error, everything from ``sorted`` to ``exact`` raises PackvizError.
    """

    batch: Batch | None
    config: Config | None
    module: nn.RNNBase
    padded: Padded
    run: Run | None = None
    distances: tuple[tuple[str, float], ...] = ()
    error: str | None = None
    notes: tuple[str, ...] = ()
    padding_value: float = 0.0
    total_length: int | None = None

    @property
    def sorted(self) -> Sorted:
        """Return the order in which torch packed the sequences."""
        return self._done.sorted

    @property
    def packed(self) -> Packed:
        """Return the packed rows (N, F) and where each came from."""
        return self._done.packed

    @property
    def packed_sequence(self) -> PackedSequence:
        """Return torch's own record of the packed rows, with its four fields."""
        order = self.sorted
        return PackedSequence(self.packed.data, self.packed.batch_sizes, order.sorted_indices, order.unsorted_indices)

    @cached_property
    def packed_is_pad(self) -> Tensor:
        """Return (N,) bool: True for packed rows that hold a pad, as after padding on the left."""
        return ~self.padded.mask[self.packed.sequence, self.packed.timestep]

    @property
    def layers(self) -> tuple[tuple[Direction, ...], ...]:
        """Return layers[l][d]: layer l, d = 0 forward, 1 backward."""
        return self._done.layers

    @property
    def output(self) -> Tensor:
        """Return (N, D*H): the top layer's states, packed, its directions side by side."""
        return self._done.output

    @property
    def h_0(self) -> Tensor:
        """Return (L*D, B, H): the initial state, in the order in which the sequences came."""
        return self._done.h_0

    @property
    def c_0(self) -> Tensor | None:
        """Return (L*D, B, H) for an LSTM, else None."""
        return self._done.c_0

    @property
    def h_n(self) -> Tensor:
        """Return (L*D, B, H): the state after each sequence's last valid step, in the order in which they came."""
        return self._done.h_n

    @property
    def c_n(self) -> Tensor | None:
        """Return (L*D, B, H) for an LSTM, else None."""
        return self._done.c_n

    @property
    def unpacked(self) -> Unpacked:
        """Return the output as a grid again."""
        return self._done.unpacked

    @property
    def proof(self) -> dict[str, float]:
        """Return, by name, the largest distance from torch's own run on the same packed input; 0.0 is identical."""
        return dict(self.distances) if self._done else {}

    @property
    def exact(self) -> bool:
        """Return whether every distance is 0.0."""
        return all(distance == 0.0 for distance in self.proof.values())

    @property
    def _done(self) -> Run:
        if self.run is None:
            raise PackvizError(
                "enforce_sorted",
                expected="lengths in decreasing order where enforce_sorted is True",
                came=", ".join(str(length) for length in self.padded.lengths.tolist()[:20]),
                mend="set enforce_sorted=False, and torch sorts and unsorts by itself",
                torch_says=self.error,
            )
        return self.run


def check_own_making(trace: Trace, mend: str) -> tuple[Batch, Config]:
    """Return what a trace was made from; raises PackvizError, with `mend`, for the trace of a module of one's own."""
    if trace.batch is None or trace.config is None:
        raise PackvizError(
            "trace",
            expected="a trace that packviz made from a Batch and a Config",
            came="the trace of a module of your own",
            mend=mend,
        )
    return trace.batch, trace.config
