"""One layer and direction of a run, laid out as a grid of sequences and time steps."""

from dataclasses import dataclass

import torch
from torch import Tensor

from packviz.compute.trace import Trace
from packviz.validate import integer

__all__ = ["Watched", "state_end", "watched"]


@dataclass(frozen=True, eq=False)
class Watched:
    """Hold one layer and direction as a grid.

    grid      (B, T, P): h, NaN where nothing was packed
    rows      (B, T): the packed row, -1 where there is none
    lengths   B numbers
    name      which layer and direction, in words
    """

    grid: Tensor
    rows: Tensor
    lengths: tuple[int, ...]
    backward: bool
    name: str

    def final_step(self, b: int) -> int:
        """Return the time step after which the state of sequence `b` is final."""
        return 0 if self.backward else self.lengths[b] - 1


def watched(trace: Trace, layer: int | None = None, direction: int = 0) -> Watched:
    """Return one layer and direction of a trace. Raises PackvizError where there is no such one."""
    layers = trace.layers
    layer = len(layers) - 1 if layer is None else layer
    integer("layer", layer, 0, len(layers) - 1, mend=f"this run has {len(layers)}, counted from 0")
    integer("direction", direction, 0, len(layers[0]) - 1, mend=f"this run has {len(layers[0])}, counted from 0")
    h, packed = layers[layer][direction].h, trace.packed
    B, T = len(trace.padded.lengths), len(packed.batch_sizes)
    rows = torch.full((B, T), -1, dtype=torch.int64)
    rows[packed.sequence, packed.timestep] = torch.arange(len(h))
    grid = torch.full((B, T, h.shape[1]), float("nan"), dtype=h.dtype)
    grid[packed.sequence, packed.timestep] = h.detach()
    kind = type(trace.module).__name__
    name = f"{kind}, layer {layer}" if len(layers) > 1 else kind
    name += ["", f", {'backward' if direction else 'forward'}"][len(layers[0]) - 1]
    lengths = tuple(int(length) for length in (rows >= 0).sum(1))
    return Watched(grid, rows, lengths, direction == 1, name)


def state_end(trace: Trace) -> float:
    """Return the number at which the scale of states ends: the largest of all of them, at least 1."""
    states = [part for layer in trace.layers for half in layer for part in (half.h, half.c) if part is not None]
    return max(1.0, *(float(part.abs().nan_to_num(posinf=0.0).amax()) for part in states))
