"""The record of a run: every stage, every layer and direction, and how far it is from torch's own run."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NoReturn, TypeAlias

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence, pad_packed_sequence

from packviz.compute import notebook
from packviz.compute.backward import Gradients, On, differentiate
from packviz.compute.recurrence import Layer, output_of
from packviz.compute.stages import Packed, Padded, Sorted, Unpacked
from packviz.errors import PackvizError
from packviz.inputs.batch import Batch
from packviz.inputs.config import Config
from packviz.rules.preconditions import check_kind
from packviz.text import counted
from packviz.validate import integer


@dataclass(frozen=True, eq=False)
class Start:
    """What a run starts from, up to the padded grid.

    batch, config   what trace() was given; None after trace_module()
    module          the nn.RNN, nn.GRU or nn.LSTM that is run, with a copy of its weights at the time
    padded          the grid
    padding_value   what fills the unpacked output
    total_length    its width, or None for the longest length
    notes           remarks for the reader
    texts           the text of each token, sequence by sequence, if known
    """

    batch: Batch | None
    config: Config | None
    module: nn.RNNBase
    padded: Padded
    padding_value: float = 0.0
    total_length: int | None = None
    notes: tuple[str, ...] = ()
    texts: tuple[tuple[str, ...], ...] = ()

    def _repr_html_(self) -> str | None:
        return notebook.shown(self)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Trace(Start):
    """One run from the padded grid to the unpacked output. Each number is stored once; the rest is derived.

    packed      the packed rows (N, F) and where each came from
    h_0, c_0    (L*D, B, H): the initial state, in the original order of the sequences; c_0 for an LSTM, else None
    layers      `layers[l][d]`: layer l, d = 0 forward, 1 backward
    distances   the proof: names, and the largest distance from torch's own run on the same packed input
    """

    packed: Packed
    h_0: Tensor
    c_0: Tensor | None
    layers: tuple[Layer, ...]
    distances: tuple[tuple[str, float], ...]

    @cached_property
    def sorted(self) -> Sorted:
        """Return the order in which torch packed the sequences."""
        order = self.packed.sorted_indices
        lengths = self.padded.lengths if order is None else self.padded.lengths.index_select(0, order)
        return Sorted(lengths, order, self.packed.unsorted_indices)

    def __repr__(self) -> str:
        ours = "equal to torch's run" if self.exact else f"up to {max(self.proof.values()):.1e} from torch's run"
        return f"Trace({_batch(self.padded)}, {self.module}: {ours})"

    @property
    def packed_sequence(self) -> PackedSequence:
        """Return torch's own record of the packed rows, with its four fields."""
        packed = self.packed
        return PackedSequence(packed.data, packed.batch_sizes, packed.sorted_indices, packed.unsorted_indices)

    @cached_property
    def packed_is_pad(self) -> Tensor:
        """Return (N,) bool: True for packed rows that hold a pad, as after padding on the left."""
        return ~self.padded.mask[self.packed.sequence, self.packed.timestep]

    @cached_property
    def output(self) -> Tensor:
        """Return (N, D*H): the top layer's states, packed, its directions side by side."""
        return output_of(self.layers[-1])

    @cached_property
    def h_n(self) -> Tensor:
        """Return (L*D, B, H): the state after each sequence's last valid step, in the original order."""
        return torch.stack([direction.h_n for layer in self.layers for direction in layer])

    @cached_property
    def c_n(self) -> Tensor | None:
        """Return (L*D, B, H) for an LSTM, else None."""
        states = [direction.c_n for layer in self.layers for direction in layer if direction.c_n is not None]
        return torch.stack(states) if states else None

    @cached_property
    def unpacked(self) -> Unpacked:
        """Return the output as a grid, made by torch's ``pad_packed_sequence``."""
        how = self.padded.batch_first, self.padding_value, self.total_length
        grid, lengths = pad_packed_sequence(self.packed_sequence._replace(data=self.output), *how)
        return Unpacked(grid, lengths, last_valid=torch.cat([direction.h_n for direction in self.layers[-1]], 1))

    @property
    def proof(self) -> dict[str, float]:
        """Return, by name, the largest distance from torch's own run on the same packed input; 0.0 is identical."""
        return dict(self.distances)

    @property
    def exact(self) -> bool:
        """Return whether every distance is 0.0."""
        return all(distance == 0.0 for _, distance in self.distances)

    def backward(self, on: On = "last_valid", upstream: Tensor | None = None) -> Gradients:
        """Return the gradients of a loss on the result of this run: of every state and gate, input and weight.

        on        where the loss begins: at "last_valid", as in `unpacked.last_valid`, or at "output"
        upstream  the gradient of the loss there: (B, D*P), or (N, D*P) in packed order; None for ones, the gradient
                  of the sum. For the final state of one sequence b, zeros but for row b of "last_valid"

        The run is computed again for it, and torch's autograd goes back through every time step; its result is
        compared with torch's own backward pass through the module (`proof`). No parameter's ``grad`` is touched.
        Raises PackvizError for an upstream of another shape or dtype, or with values that are not finite.
        """
        return differentiate(self, on, upstream)


class NotPackedError(PackvizError, AttributeError):
    """The error for packed data of a run whose lengths torch refused: hasattr() and getattr() see an AttributeError."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Refusal(Start):
    """A run that ended before packing, because torch refused the lengths.

    error  torch's own message

    Asking it for what only a Trace has raises NotPackedError, a PackvizError with that message.
    """

    error: str

    def __repr__(self) -> str:
        return f"Refusal({_batch(self.padded)}, {self.module}: torch refused to pack)"

    @property
    def packed(self) -> NoReturn:
        """Raise NotPackedError, as do the other results that only a Trace has."""
        raise NotPackedError(
            "enforce_sorted",
            expected="lengths in decreasing order if enforce_sorted is True",
            got=", ".join(str(length) for length in self.padded.lengths.tolist()[:20]),
            fix="set enforce_sorted=False, and torch sorts and unsorts for you",
            torch_says=self.error,
        )

    sorted = packed_sequence = packed_is_pad = h_0 = c_0 = layers = output = packed
    h_n = c_n = unpacked = distances = proof = exact = backward = packed


# What trace() returns; Any stands for the Refusal: only enforce_sorted=True can cause one, so most callers need not ask
Traced: TypeAlias = Trace | Any


def _batch(padded: Padded) -> str:
    return f"{counted(len(padded.lengths), 'sequence')}, {counted(int(padded.lengths.sum()), 'token')}"


def check_traced(trace: object, fix: str = "make one with packviz.trace or packviz.trace_module") -> None:
    """Raise PackvizError unless this is a Trace or a Refusal."""
    if not isinstance(trace, Refusal):
        check_kind("trace", trace, Trace, fix)


def check_own_making(trace: Trace | Refusal, fix: str) -> tuple[Batch, Config]:
    """Return a trace's batch and config; raises PackvizError, with `fix`, for the trace of a user's own module."""
    check_traced(trace, "make one with packviz.trace")
    if trace.batch is None or trace.config is None:
        expected, got = "a trace that packviz made from a Batch and a Config", "the trace of a module of your own"
        raise PackvizError("trace", expected=expected, got=got, fix=fix)
    return trace.batch, trace.config


def watched_layer(trace: Trace, layer: int | None, direction: int) -> tuple[int, int]:
    """Return the layer to watch, the top one if none is given, and its direction.

    Raises PackvizError for a layer or direction that the trace does not have, or if torch refused to pack.
    """
    top, last = len(trace.layers) - 1, len(trace.layers[0]) - 1
    fix = "choose a layer of this trace, counted from 0"
    layer = top if layer is None else integer("layer", layer, 0, top, fix=fix)
    return layer, integer("direction", direction, 0, last, fix="choose a direction of this trace, counted from 0")
