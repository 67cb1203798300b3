"""The batches and settings that every movie is held to: at random by seed, and the corners by name."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, wraps
from typing import Any

import torch
import torch.nn.functional as F
from movie_screen import Look, Show, grid_of, standing, typed
from random_runs import random_run
from seeds import seeds, some
from torch import Tensor, nn
from torch.nn.utils import rnn

import packviz as pv
from packviz import Batch, Config, Movie
from packviz.compute.record import Refusal
from packviz.show.movie import beside
from packviz.text import sequence_label

__all__ = ["BESIDE", "CASES", "DEEP", "FILMS", "ORDINARY", "PACKED", "REFUSED", "Case", "Film", "over"]


class Case:
    """A trace to film, what its run watches, and what its movie has to show: torch's own numbers.

    These are read off the trace, as `Trace.exact` and test_oracle.py hold, by sequence and time step whatever
    batch_first says. x (B,T,F). mask (B,T) is True where a token stands.
    """

    def __init__(self, name: str, trace: Any, layer: int | None = None, direction: int = 0) -> None:
        self.name, self.trace, self.layer, self.direction = name, trace, layer, direction
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
        self.filmed = (list(range(self.B)) if self.refused else self.order)[:40]
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


def random_case(seed: int) -> Case:
    """Return a case that depends on the seed alone."""
    run, r = random_run(seed), random.Random(seed)
    layer = r.choice([None, 0, run.config.num_layers - 1])
    direction = int(run.config.bidirectional and r.random() < 0.6)
    name = f"{seed}-{run.kind}-{run.config.cell}-{'x'.join(map(str, run.lengths))}"
    return Case(name, pv.trace(run.batch, run.config), layer, direction)


def _typed(name: str, given: str | list[int] | Batch, direction: int = 0, **settings: Any) -> Case:
    """A batch, or what is typed for it, or the lengths of its sequences."""
    text = typed(given) if isinstance(given, list) else given
    batch = Batch.parse(text) if isinstance(text, str) else text
    return Case(name, pv.trace(batch, Config(**settings)), None, direction)


def _own(name: str, build: Callable[[], nn.RNNBase], grid: Callable[[], Tensor], **given: Any) -> Case:
    """A module of one's own over a padded grid (B,T,F) of sequences of lengths 3, 4 and 2."""
    torch.manual_seed(0)
    module, x = build(), grid()
    return Case(name, pv.trace_module(module, x if module.batch_first else x.transpose(0, 1), [3, 4, 2], **given))


def _broken(features: int, *holes: tuple[int, int, float]) -> Tensor:
    x = torch.randn(3, 4, features)
    for b, t, value in holes:
        x[b, t, 0] = value
    return x


NAN, INF = float("nan"), float("inf")

CORNERS = [
    _typed("one-token", "7"),
    _typed("one-sequence", "1 2 3 4", cell="lstm"),
    _typed("equal-lengths", "1 2\n3 4\n5 6"),
    _typed("one-pad", "1 2\n3"),
    _typed("one-empty-place", "7", embedding_dim=1, total_length=2),
    _typed("vectors-of-one-number", Batch.from_tensors([torch.ones(2, 1), torch.zeros(3, 1)])),
    _typed("decreasing-enforced", "1 2 3\n4 5\n6", enforce_sorted=True),
    _typed("forum", "1 2 3\n4 5\n6"),
    _typed("unsorted", "1 2 3\n4 5\n6 7 8 9"),
    _typed("unsorted-backward", "1 2 3\n4 5\n6 7 8 9", 1, bidirectional=True),
    _typed("words", "on your mark\nget set\ngo"),
    _typed("pads-on-the-left", "1 2 3\n4\n5 6", padding_side="left", total_length=5),
    _typed("pads-on-the-left-backward", "1 2 3 4\n4 5 6\n5 6", 1, padding_side="left", bidirectional=True),
    _typed("pads-on-the-left-words", "on your mark\nget set\ngo", padding_side="left", num_layers=2),
    _typed("padding-idx", "a b c\nd e\nf", padding_idx=2),
    _typed("padding-idx-time-first", "1 2 3\n4 5\n6", embedding_dim=3, padding_idx=5, batch_first=False),
    _typed("refused", "1 2\n3 4 5\n6", enforce_sorted=True),
    _typed("refused-words-time-first", "go\nget set\non your mark", enforce_sorted=True, batch_first=False),
    _typed("large-numbers", "1e30 -2.5e20 3\n1e-8 4", cell="rnn", nonlinearity="relu"),
    _typed("twenty-four", [n % 5 + 1 for n in range(24)]),
    _typed("forty", [(7 * n) % 11 + 1 for n in range(40)], cell="lstm"),
    _typed("forty-time-first-backward", [(7 * n) % 6 + 1 for n in range(40)], 1, batch_first=False, bidirectional=True),
    _typed("window", [1, *(n % 3 + 2 for n in range(132)), 1, 1]),
    _typed("long", [3, 130]),
    _typed("long-backward", [3, 130], 1, bidirectional=True, batch_first=False),
    _typed("long-lstm-backward", [64, 61], 1, cell="lstm", bidirectional=True, num_layers=2, initial_state="carried"),
    _typed("long-left-backward", [59, 66, 61, 60], 1, padding_side="left", bidirectional=True, initial_state="learned"),
    _typed("window-long-backward", [59 + n % 4 for n in range(26)], 1, bidirectional=True, initial_state="random"),
    _typed("zen", Batch.example("zen"), num_layers=2),
    _typed("vowels", Batch.example("vowels"), cell="lstm", bidirectional=True),
    _typed("hundred", Batch.example("hundred"), cell="lstm"),
    _own("own-gru", lambda: nn.GRU(2, 4, batch_first=True), lambda: torch.randn(3, 4, 2)),
    _own("own-one-feature", lambda: nn.GRU(1, 4), lambda: torch.randn(3, 4, 1)),
    _own("own-projection", lambda: nn.LSTM(2, 6, 2, bidirectional=True, proj_size=3), lambda: torch.randn(3, 4, 2)),
    _own("own-wide-grid", lambda: nn.GRU(2, 4, batch_first=True), lambda: torch.randn(3, 7, 2)),
    _own("own-filler", lambda: nn.GRU(1, 4, batch_first=True), lambda: torch.full((3, 4, 1), 9.0)),
    _own("own-not-finite", lambda: nn.GRU(2, 4, batch_first=True), lambda: _broken(2, (0, 1, NAN), (1, 0, INF))),
    _own("own-not-finite-single", lambda: nn.LSTM(1, 4), lambda: _broken(1, (0, 1, NAN), (1, 0, -INF))),
    _own("own-nan-in-the-padding", lambda: nn.GRU(2, 4, batch_first=True), lambda: _broken(2, (0, 3, NAN))),
    _own("own-filled-with-nan", lambda: nn.RNN(2, 4), lambda: torch.randn(3, 4, 2), padding_value=NAN),
    _own("own-filled-with-infinity", lambda: nn.RNN(2, 4), lambda: torch.randn(3, 4, 2), padding_value=-INF),
    _own("own-refused", lambda: nn.LSTM(2, 6), lambda: torch.randn(3, 4, 2), enforce_sorted=True),
]  # fmt: skip

CASES = [*CORNERS, *map(random_case, seeds(16))]
REFUSED = [case for case in CASES if case.refused]
PACKED = [case for case in CASES if not case.refused]


@dataclass(frozen=True)
class Film:
    """One of the movies of a case: "show", "deep" or "beside"."""

    case: Case
    kind: str

    @property
    def name(self) -> str:
        return f"{self.case.name}-{self.kind}"

    @property
    def show(self) -> Show:
        shown: Show = getattr(self.case, self.kind)
        return shown


ORDINARY = [Film(case, "show") for case in CASES]
DEEP = [Film(case, "deep") for case in CASES]
BESIDE = [Film(case, "beside") for case in PACKED]
FILMS = [*ORDINARY, *DEEP, *BESIDE]


def over(cases: Sequence[Any], least: int = 1) -> Callable[[Callable[[Any], int | None]], Callable[[], None]]:
    """Make one test of a fact that holds for many cases; it fails as its first case does, and names them all.

    A fact that only speaks where something is the case returns how often it spoke: at least so often in all. If it did
    not in the cases that a quick run tries, it goes on to others.
    """

    def decorate(fact: Callable[[Any], int | None]) -> Callable[[], None]:
        @wraps(fact)
        def test() -> None:
            spoke: list[int] = []
            failed: dict[str, Exception] = {}
            tried = some(cases)
            for i, case in enumerate([*tried, *(case for case in cases if case not in tried)]):
                if i >= len(tried) and sum(spoke) >= least:
                    break
                try:
                    times = fact(case)
                except Exception as error:
                    failed[case.name] = error
                else:
                    spoke.append(least if times is None else times)
            for first in failed.values():
                first.add_note(f"in {len(failed)} of {len(cases)} cases: {', '.join(failed)}")
                raise first
            assert sum(spoke) >= least, "the fact never spoke"

        del test.__wrapped__
        return test

    return decorate
