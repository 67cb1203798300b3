"""The numbers of a trace that the questions about packing need."""

import tomllib
from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from packviz.compute import runs
from packviz.compute.record import Refusal, Trace
from packviz.compute.recurrence import TimeStep
from packviz.show.movie.packing.view import Window
from packviz.teach.predictions.kind import Draft, Subject
from packviz.text import sequence_label

MAX_FILMED = Window().steps  # shown in a movie


class Facts:
    """The numbers of a trace.

    Those after the sort are empty if torch refused to pack.

    packed, two_ways      whether torch packed the batch, and whether the module is bidirectional
    embedded, pads_packed whether the tokens were embedded, and whether pads are among the packed rows
    B, T, N               the sequences and the columns of the padded grid, and the sum of the lengths
    lengths               B numbers, in the original order of the sequences
    sequences, timesteps  the sequences that torch packed, and the packed time steps that a movie shows
    order, rank           the sequence in each row of the sorted batch, and the row of each sequence
    tied                  for each sequence, whether another has the same length
    ranked                by kind, the ordered questions about this trace, cached when first asked
    """

    def __init__(self, trace: Trace | Refusal) -> None:
        self.trace = trace
        self.cell, self.two_ways = trace.module.mode.split("_")[0], trace.module.bidirectional
        self.batch_first, self.embedded = trace.padded.batch_first, trace.padded.embedding is not None
        self.packed = isinstance(trace, Trace)
        self.pads_packed = self.packed and bool(trace.packed_is_pad.any())
        self.B, self.T = trace.padded.mask.shape
        self.lengths: list[int] = trace.padded.lengths.tolist()
        self.letters = tuple(map(sequence_label, range(self.B)))
        self.longest, self.shortest, self.N = max(self.lengths), min(self.lengths), sum(self.lengths)
        self.sorted_lengths = sorted(self.lengths, reverse=True)
        self.sequences = range(self.B if self.packed else 0)
        self.timesteps = range(min(self.longest, MAX_FILMED) if self.packed else 0)
        self.batch_sizes: list[int] = trace.packed.batch_sizes.tolist() if self.packed else []
        self.offsets: list[int] = trace.packed.offsets.tolist() if self.packed else []
        self.order: list[int] = trace.sorted.order.tolist() if self.packed else []
        self.rank: list[int] = trace.sorted.rank.tolist() if self.packed else []
        how_often = Counter(self.lengths)
        self.tied = [how_often[length] > 1 for length in self.lengths]
        self.ranked: dict[str, list[Draft]] = {}

    @cached_property
    def placed(self) -> list[int]:
        """The sequences whose sorted row follows from the lengths, or from a stable sort if ties kept their order."""
        pairs = zip(self.order, self.order[1:], strict=False)
        stable = all(a < b for a, b in pairs if self.lengths[a] == self.lengths[b])
        return [b for b in self.sequences if stable or not self.tied[b]]

    @cached_property
    def placed_rows(self) -> list[int]:
        """The packed rows of these sequences that a movie shows."""
        placed, origins = set(self.placed), self.trace.packed.origins if self.packed else []
        return [n for n, (b, t) in enumerate(origins) if b in placed and t in self.timesteps]

    def step(self, t: int, direction: int) -> TimeStep:
        """Return the step of the top layer at time step t."""
        return self.trace.layers[-1][direction].step(self.longest - 1 - t if direction else t)

    def owner_of(self, n: int, order: Sequence[int]) -> int:
        """Return the sequence of the n-th token, reading the sequences one after another in this order."""
        return [b for b in order for _ in range(self.lengths[b])][n]

    def where(self, lengths: range) -> list[int]:
        """Return the sequences whose length is in a range."""
        return [b for b, length in enumerate(self.lengths) if length in lengths]


def code_of(trace: Trace | Refusal) -> dict[str, str]:
    """Return the settings as code, by name: the cell, enforce_sorted, and whatever differs from the defaults."""
    config = trace.config or runs.PACKING_RUN.config()
    shown = {"enforce_sorted": config.enforce_sorted} | runs.PACKING_RUN.changed(config)
    if trace.padded.embedding is not None:
        shown["embedding_dim"] = trace.padded.embedding.size(1)
    code = {name: f"{name}={value!r}" for name, value in shown.items() if name not in ("cell", "seed")}
    return {"cell": f"nn.{config.cell.upper()}"} | code


WORDS: dict[str, Any] = tomllib.loads(Path(__file__).with_name("predictions.toml").read_text(encoding="utf-8"))
PACKING_QUESTIONS = Subject(runs.PACKING_RUN, Facts, code_of, WORDS, "Choose shorter sequences.")
