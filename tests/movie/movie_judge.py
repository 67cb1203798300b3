"""What a movie has to show, read off its trace: torch's own numbers, as `Trace.exact` and test_oracle.py hold."""

from functools import cached_property
from math import isfinite
from typing import Any

import torch
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence

from packviz import Trace
from packviz.compute.determinism import exact_arithmetic
from packviz.facts.padded_run import layer_states

__all__ = ["Judge", "close"]


class Judge:
    """The numbers of a trace, by sequence and time step whatever batch_first says.

    x (B,T,F). mask (B,T) is True where a token stands. h_0 and c_0 are None where torch refuses to pack.
    """

    def __init__(self, trace: Trace) -> None:
        self.trace, self.module, self.x = trace, trace.module.requires_grad_(False), trace.padded.grid
        self.lengths: list[int] = trace.padded.lengths.tolist()
        self.B, self.T, self.D = *self.x.shape[:2], 1 + self.module.bidirectional
        self.padding_value, self.total_length = trace.padding_value, trace.total_length
        self.enforce_sorted = trace.error is not None or trace.sorted.sorted_indices is None
        self.h_0: Any = None if trace.error else trace.h_0
        self.c_0: Any = None if trace.error else trace.c_0
        left, steps = trace.config is not None and trace.config.padding_side == "left", torch.arange(self.T)
        self.mask = torch.stack([steps >= self.T - n if left else steps < n for n in self.lengths])

    def pack(self, grid: Tensor) -> PackedSequence:
        """Pack any grid (B,T,...) as the sequences were packed."""
        return pack_padded_sequence(grid, torch.tensor(self.lengths), True, self.enforce_sorted)

    @property
    def packed(self) -> Any:
        return self.trace.packed_sequence

    @cached_property
    def at(self) -> list[tuple[int, int]]:
        """(b, t) of every packed row."""
        return [*zip(self.trace.packed.sequence.tolist(), self.trace.packed.timestep.tolist(), strict=True)]

    @cached_property
    def row(self) -> dict[tuple[int, int], int]:
        """The packed row of every (b, t) that was packed."""
        return {position: n for n, position in enumerate(self.at)}

    @cached_property
    def batch_sizes(self) -> list[int]:
        return [*self.trace.packed.batch_sizes.tolist()]

    @cached_property
    def strays(self) -> list[int]:
        """The sequence of each packed row that is a pad."""
        return [b for b, t in self.at if not self.mask[b, t]]

    @property
    def order(self) -> list[int]:
        """The original sequence in each sorted row."""
        return [b for b, t in self.at if t == 0]

    def live(self, t: int) -> list[int]:
        """Return the sequences that have a packed row at a time step, row by row."""
        return [b for b, step in self.at if step == t]

    @property
    def output(self) -> PackedSequence:
        return self.trace.packed_sequence._replace(data=self.trace.output)

    @property
    def h_n(self) -> Tensor:
        return self.trace.h_n

    @property
    def c_n(self) -> Any:
        return self.trace.c_n

    @property
    def unpacked(self) -> Tensor:
        """(B, T or total_length, D*H)"""
        grid = self.trace.unpacked.output
        return grid if self.trace.padded.batch_first else grid.transpose(0, 1)

    @property
    def hidden(self) -> list[list[Tensor]]:
        """[layer][direction] (N,H): the states in packed order."""
        return [[direction.h for direction in layer] for layer in self.trace.layers]

    @cached_property
    def on_the_grid(self) -> tuple[tuple[Tensor, ...], ...]:
        """[layer][direction] (B,T,H): the states where the padded grid is run instead: see test_comparison.py."""
        with exact_arithmetic():
            return layer_states(self.trace)

    def entering(self, layer: int) -> Tensor:
        """Return (N,F): what enters a layer, in packed order."""
        return self.trace.packed.data if layer == 0 else torch.cat(self.hidden[layer - 1], 1)


def close(shown: list[float | None] | None, true: Tensor) -> bool:
    """Return whether numbers are shown and are the first of the true ones, rounded to four decimals.

    None among them is not finite.
    """
    if shown is None:
        return False
    pairs = zip(shown, true.flatten()[: len(shown)].tolist(), strict=True)
    return all((a is None) == (not isfinite(b)) and (a is None or abs(a - b) <= 6e-5 + 1e-5 * abs(b)) for a, b in pairs)
