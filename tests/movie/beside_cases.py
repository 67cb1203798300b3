"""Padded beside packed: the cases that such a movie is held to, and what torch makes of their padded grids."""

from functools import cached_property
from typing import Any

import torch
from movie_cases import PACKED, Case
from torch import Tensor

from packviz import Movie
from packviz.show.movie import beside

__all__ = ["BESIDE", "Beside", "apart"]


class Beside(Case):
    """A case whose padded run is filmed beside its packed one."""

    def film(self, stages: Any = None) -> Movie:  # noqa: ARG002
        return beside(self.trace, layer=self.layer, direction=self.direction)

    @cached_property
    def padded(self) -> Tensor:
        """(B,T,H) the watched states on the padded grid: the output of torch's module, cut after the watched layer."""
        layer, direction = self.watched
        output, _ = self._cut(layer)
        return output.chunk(self.judge.D, 2)[direction]

    @cached_property
    def padded_h_n(self) -> Tensor:
        """(B,H) the watched row of h_n, as torch's module returns it for the padded grid."""
        layer, direction = self.watched
        return self._cut(layer)[1][layer * self.judge.D + direction]

    def _cut(self, layer: int) -> tuple[Tensor, Tensor]:
        """Return output (B,T,D*H) and h_n of torch's module over the padded grid, without the layers above."""
        judge = self.judge
        module, rows = judge.module, (layer + 1) * judge.D
        named = {"nonlinearity": module.nonlinearity} if isinstance(module, torch.nn.RNN) else {}
        named |= {"proj_size": module.proj_size} if module.proj_size else {}
        named |= {"bias": module.bias, "bidirectional": module.bidirectional, "dtype": judge.x.dtype}
        cut = type(module)(module.input_size, module.hidden_size, layer + 1, batch_first=True, **named)
        for name, parameter in cut.named_parameters():
            parameter.data = getattr(module, name).data
        state = judge.h_0[:rows] if judge.c_0 is None else (judge.h_0[:rows], judge.c_0[:rows])
        with torch.no_grad(), torch.backends.mkldnn.flags(enabled=False, allow_tf32=None):
            output, states = cut(judge.x, state)
        return output, states[0] if isinstance(states, tuple) else states

    @cached_property
    def packed(self) -> Tensor:
        """(B,T,H) what the packed side holds at each time step: the row of then, or that on which it waits or rests."""
        judge, (layer, direction) = self.judge, self.watched
        rows, first = judge.hidden[layer][direction], judge.h_0[layer * judge.D + direction]
        held = torch.empty_like(self.padded)
        for b, length in enumerate(judge.lengths):
            for t in range(judge.T):
                waits = direction and t >= length
                held[b, t] = first[b] if waits else rows[judge.row[b, min(t, length - 1)]]
        return held

    @property
    def packed_h_n(self) -> Tensor:
        """(B,H) the watched row of the packed run's h_n."""
        return self.judge.h_n[self.watched[0] * self.judge.D + self.watched[1]]

    @property
    def times(self) -> list[int]:
        """The time steps that are filmed, in order."""
        filmed = range(min(self.judge.T, 128))
        return list(reversed(filmed)) if self.direction else list(filmed)

    @cached_property
    def timed(self) -> list[tuple[int, dict, dict]]:
        """(t, step, cells after it) for every time step."""
        steps = self.show.of("run")[1:-2]
        return [(t, step, cells) for t, (step, cells) in zip(self.times, steps, strict=True)]


def apart(a: Tensor, b: Tensor) -> tuple[float, bool | None]:
    """Return the largest distance of two states, and whether it is more than rounding; None where it is close to it."""
    same = (a == b) | (a.isnan() & b.isnan())
    distance = float((a.double() - b.double()).abs().masked_fill(same, 0).max())
    size = max(1.0, float(torch.maximum(a.abs(), b.abs()).nan_to_num(0, 0, 0).max()))
    if distance <= 2e-6 * size:
        return distance, False
    return distance, None if distance < 5e-5 * size else True


BESIDE = [Beside(f"{case}-beside", lambda case=case: case._made, case.layer, case.direction) for case in PACKED]
