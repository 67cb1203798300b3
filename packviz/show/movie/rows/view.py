"""What the stages of a run over rows share: which tokens are shown, and where each stands in every order."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.utils.rnn import pack_sequence

from packviz.compute.fill import LONGEST_FIRST, Piece
from packviz.compute.row_record import RowsTrace
from packviz.show.movie.about import Asked
from packviz.show.movie.written import rounded, stored
from packviz.validate import integer


@dataclass(frozen=True, eq=False)
class RowsView:
    """A run over rows, and what is shown of it.

    trace            the run
    layer, head      that are watched, by default the last layer and the first head
    sequences, steps  at most how many sequences and rows, and how many tokens of each, are shown
    lengths          (B,): of all sequences
    b, t             (M,): sequence and place in it of each token shown, in the order of their numbers
    packed           (M,): its row in the PackedSequence
    batch_sizes      (T,)
    row, column      (M,): the row in which it stands and its cell there; -1 if it was dropped
    exact            whether torch packs the tokens themselves in this order
    deep             the stages that are shown with all their explanations
    stages           those of the movie
    micro_batch      how many documents a micro-batch of the losses has; None: so many that it matters
    numbers          every row of numbers that a mark shows as stripes, in ten-thousandths; stages add to it
    made             what `once` keeps
    """

    trace: RowsTrace
    layer: int
    head: int
    sequences: int
    steps: int
    lengths: list[int]
    b: np.ndarray
    t: np.ndarray
    packed: np.ndarray
    batch_sizes: list[int]
    row: np.ndarray
    column: np.ndarray
    exact: bool
    deep: frozenset[str] = frozenset()
    stages: frozenset[str] = frozenset()
    micro_batch: int | None = None
    numbers: list[list[int | None]] = field(default_factory=list)
    made: dict[object, Any] = field(default_factory=dict)

    def stripes(self, matrix: Tensor) -> int:
        """Add the rows of a matrix (M, E) to the numbers, and return where they begin."""
        begins = len(self.numbers)
        self.numbers.extend(stored(rounded(matrix)))
        return begins

    @property
    def placed(self) -> list[tuple[int, int, Piece]]:
        """Return row, first cell and piece of every piece, in the order in which the strategy places them."""
        rows = self.trace.rows
        found = [(row, at, piece) for row in range(len(rows.rows)) for at, piece in rows.placed(row)]
        longest = self.trace.config.strategy in LONGEST_FIRST
        return sorted(found, key=lambda each: (longest * (each[2][1] - each[2][2]), *each[2]))


def heads_of(run: RowsTrace) -> int:
    """Return the number of heads of a layer: 1 unless it is attention."""
    return run.config.num_heads if run.config.layer == "attention" else 1


def view_of(run: RowsTrace, asked: Asked) -> RowsView:
    """Return what the stages share; raises PackvizError for a missing layer or head, and for what rows do not have."""
    asked.check_without("direction", "on", "upstream", kind="rows")
    last = len(run.layers) - 1
    layer = last if asked.layer is None else integer("layer", asked.layer, 0, last)
    head = integer("head", asked.head, 0, heads_of(run) - 1)
    micro_batch = None if asked.micro_batch is None else integer("micro_batch", asked.micro_batch, 1)
    sequences, steps = integer("sequences", asked.sequences, 1), integer("steps", asked.steps, 1)
    lengths, documents = [len(sequence) for sequence in run.batch.sequences], list(run.batch.sequences)
    b = np.repeat(np.arange(len(lengths)), lengths)
    t = np.concatenate([np.arange(length) for length in lengths])
    index = pack_sequence(list(torch.split(torch.arange(len(b), device="cpu"), lengths)), enforce_sorted=False)
    packed, row, column = np.empty(len(b), int), np.full(len(b), -1), np.full(len(b), -1)
    packed[index.data.numpy()] = np.arange(len(b))
    begins = np.cumsum([0, *lengths])
    for number, cells in enumerate(run.rows.cells):
        sequence, place = np.array(cells).T
        tokens = begins[sequence] + place
        row[tokens], column[tokens] = number, np.arange(len(cells))
    kept = (b < sequences) & (t < steps)
    return RowsView(
        trace=run,
        layer=layer,
        head=head,
        sequences=sequences,
        steps=steps,
        lengths=lengths,
        b=b[kept],
        t=t[kept],
        packed=packed[kept],
        batch_sizes=index.batch_sizes.tolist(),
        row=row[kept],
        column=column[kept],
        exact=torch.equal(pack_sequence(documents, enforce_sorted=False).data, torch.cat(documents)[index.data]),
        deep=asked.deep,
        stages=asked.stages,
        micro_batch=micro_batch,
    )
