"""A trace to film, and what torch itself says about it: what the tests of the movie compare with."""

from functools import cached_property
from typing import Any

import torch
import torch.nn.functional as F
from movie_screen import Look, Show, grid_of, standing
from torch import Tensor
from torch.nn.utils import rnn

import packviz as pv
from packviz import Movie
from packviz.compute.record import Refusal
from packviz.show.movie import beside
from packviz.text import sequence_label

__all__ = ["Case"]


class Case:
    """A trace to film, what its run watches, and what its movie has to show: torch's own numbers.

    These are read off the trace, as `Trace.exact` and test_oracle.py hold, by sequence and time step whatever
    batch_first says. x (B,T,F). mask (B,T) is True where a token stands.
    """

    name: str

    def __init__(self, trace: Any, layer: int | None = None, direction: int = 0) -> None:
        self.trace, self.layer, self.direction = trace, layer, direction
        self.module, self.config, self.batch = trace.module.requires_grad_(False), trace.config, trace.batch
        self.table, self.x = trace.padded.embedding, trace.padded.grid  # (V,E), (B,T,F)
        self.lengths: list[int] = trace.padded.lengths.tolist()
        self.B: int = len(self.lengths)
        self.T, self.D = int(self.x.shape[1]), 1 + int(self.module.bidirectional)
        self.refused = isinstance(trace, Refusal)
        self.enforce_sorted = self.refused or trace.sorted.sorted_indices is None
        left, steps = trace.config is not None and trace.config.padding_side == "left", torch.arange(self.T)
        self.mask = torch.stack([steps >= self.T - n if left else steps < n for n in self.lengths])
        # The layer and direction that the run watches, and their row of h_n.
        self.watched = (self.module.num_layers - 1 if layer is None else layer), direction
        self.row_of_h = self.watched[0] * self.D + direction
        self.transposed, self.small = not trace.padded.batch_first, self.B >= 25
        self.steps_filmed = min(self.T, 60)
        # The sequences that the movie shows, in sorted order, at most 40, and in the order in which they were given.
        if self.refused:
            self.filmed = list(range(self.B))[:40]
        else:
            self.filmed = self.order if self.B <= 40 else self.order[:20] + self.order[-20:]
        self.rows = sorted(self.filmed)

    def film(self, stages: Any = None, *, deep: bool = False) -> Movie:
        return pv.movie(self.trace, stages, layer=self.layer, direction=self.direction, deep=deep)

    @cached_property
    def show(self) -> Show:
        return Show(self.film())

    @property
    def movie(self) -> Movie:
        return self.show.movie

    @cached_property
    def deep(self) -> Show:
        """The same movie with all its whys."""
        return Show(self.film(deep=True))

    @cached_property
    def beside(self) -> Show:
        """The padded run beside the packed one."""
        return Show(beside(self.trace, layer=self.layer, direction=self.direction))

    @property
    def packed(self) -> Any:
        """torch's PackedSequence."""
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
        return self.live(0)

    def live(self, t: int) -> list[int]:
        """Return the sequences that have a packed row at a time step, row by row."""
        return [b for b, step in self.at if step == t]

    @property
    def output(self) -> Any:
        """The packed output."""
        return self.packed._replace(data=self.trace.output)

    @property
    def unpacked(self) -> Tensor:
        """(B, T or total_length, D*H)"""
        grid: Tensor = self.trace.unpacked.output
        return grid.transpose(0, 1) if self.transposed else grid

    @property
    def hidden(self) -> Tensor:
        """(N,H) the watched states in packed order."""
        layer, direction = self.watched
        states: Tensor = self.trace.layers[layer][direction].h
        return states

    @property
    def h_0(self) -> Tensor:
        """(B,H) the states in which the watched direction begins."""
        first: Tensor = self.trace.h_0[self.row_of_h]
        return first

    def held(self, b: int, t: int, name: str = "h") -> Tensor:
        """Return h or c of a sequence once the watched run has taken time step t; the initial one before its first."""
        layer, direction = self.watched
        last = t if direction else min(t, self.lengths[b] - 1)
        if not 0 <= last < self.lengths[b]:
            first: Tensor = (self.trace.h_0 if name == "h" else self.trace.c_0)[self.row_of_h, b]
            return first
        rows: Tensor = self.trace.layers[layer][direction].rows[name]
        return rows[self.row[b, last]]

    def entering(self, layer: int) -> Tensor:
        """Return (N,F): what enters a layer, in packed order."""
        below = self.trace.layers[layer - 1] if layer else ()
        return torch.cat([direction.h for direction in below], 1) if below else self.packed.data

    def grid(self, cells: dict[str, Look]) -> dict[tuple[int, int], Look]:
        """Return the tokens and pads of the grid by (row, time step)."""
        return grid_of(standing(cells, "token", "pad"), transposed=self.transposed)

    def given(self) -> dict[str, Any]:
        """Return what a reader of the code has: torch's functions, the sequences, the module, its initial state.

        Of a grid of one's own there is x instead of the sequences; ids are whole numbers.
        """
        kind = self.module.weight_ih_l0.dtype if self.table is None else torch.int64
        names: dict[str, Any] = {"linear": F.linear, "embedding": lambda ids: F.embedding(ids, self.table)}
        names |= {name: getattr(torch, name) for name in ("arange", "cat", "relu", "sigmoid", "tanh")}
        names |= {name: getattr(rnn, name) for name in rnn.__all__ if name.startswith("pa")}
        names |= {"B": self.B, "T": self.T, "lengths": torch.tensor(self.lengths)}
        names |= {type(self.module).__name__.lower(): self.module}
        sequences = [sequence.to(kind) for sequence in self.batch.sequences] if self.batch else []
        names |= {"sequences": sequences} if sequences else {"x": self.trace.padded.values}
        return names if self.refused else names | {"h_0": self.trace.h_0, "c_0": self.trace.c_0}

    def said(self, sequences: list[int]) -> str:
        """Return the letters of some sequences as a caption names them."""
        letters = ["{" + sequence_label(b) + "}" for b in sequences]
        if len(letters) > 6:
            return f"{letters[0]}, {letters[1]}, … {letters[-1]} ({len(letters)} sequences)"
        return " and ".join(filter(None, [", ".join(letters[:-1]), letters[-1]]))
