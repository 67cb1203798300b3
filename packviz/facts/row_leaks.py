"""What reaches a document from the others of its row: each document alone beside the row, and influence."""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import torch
from torch import Tensor

from packviz.compute.row_record import RowsRun, RowsTrace
from packviz.compute.runs import SEQUENCES, STEPS
from packviz.compute.verify import apart
from packviz.inputs.documents import seq_idx_of

__all__ = ["ROUNDING", "Leak", "Verdict", "fullest", "leak_in", "rounding_of"]

Verdict = Literal["none", "leak", "convolution", "positions"]

ROUNDING = {"float32": 2e-6, "float64": 1e-13}  # of outputs up to 1, between a document in a row and alone


@dataclass(frozen=True, eq=False)
class Leak:
    """What two probes show about one row of n tokens.

    run, row     the run, and the number of the row
    owner        (n,): the number of each token's piece in the row
    alone        (L, n, E): the output of each layer for each piece by itself
    difference   (L, n): the largest difference of each token's output from alone, after each layer
    probed       of how many outputs the influence is computed, the first ones
    """

    run: RowsRun
    row: int
    owner: Tensor
    alone: Tensor
    difference: Tensor
    probed: int

    @cached_property
    def influence(self) -> Tensor:
        """Return (probed, n): how strongly output q (row) depends on token k (column); 0.0 means not."""
        return self._influence(range(self.probed))

    @cached_property
    def rounding(self) -> Tensor:
        """Return (L,): up to which difference each layer's outputs count as equal."""
        dtype = self.run.config.dtype
        return torch.tensor([rounding_of(dtype, layer) for layer in self.alone], dtype=torch.float64, device="cpu")

    @property
    def differs(self) -> Tensor:
        """Return (L, n) bool: the tokens whose output differs from alone by more than rounding, after each layer."""
        return self.difference > self.rounding[:, None]

    @property
    def crossing(self) -> Tensor:
        """Return (probed, n) bool: where output q depends on token k of another document."""
        return (self.influence != 0) & (self.owner[: self.probed, None] != self.owner)

    @property
    def crossed(self) -> bool:
        """Return whether an output depends on another document: a probed one, or the first that differs after these."""
        if self.crossing.any():
            return True
        later = self.differs[-1, self.probed :].nonzero()
        if not len(later):
            return False
        q = self.probed + int(later[0])
        return bool(self._influence(range(q, q + 1))[0, self.owner != self.owner[q]].any())

    def _influence(self, outputs: range) -> Tensor:
        found = self.run.influence_on(self.row, outputs)
        return found[:, : len(self.owner)].nan_to_num(0.0)  # of outputs beyond all numbers

    @property
    def hit(self) -> Tensor:
        """Return (n,) bool: the tokens whose final output differs from alone, or depends on another document."""
        found = self.differs[-1].clone()
        found[: self.probed] |= self.crossing.any(1)
        return found

    @property
    def verdict(self) -> Verdict:
        """Return what the probes say together.

        none          no difference and no influence of another document
        convolution   the influence of another document, and the layer is a convolution
        positions     a difference without influence, and the model adds an embedding of positions
        leak          any other influence of another document, or difference
        """
        if not self.hit.any():
            return "none"
        if self.run.config.layer == "conv":
            return "convolution"
        learned = self.run.config.layer == "attention" and self.run.config.positions == "learned"
        return "positions" if learned and not self.crossed else "leak"


def rounding_of(dtype: str, outputs: Tensor) -> float:
    """Return up to which difference outputs of this size count as equal: those of a document in a row and alone."""
    return ROUNDING[dtype] * max(1.0, float(outputs.detach().abs().max()))


def fullest(run: RowsTrace, sequences: int = SEQUENCES, steps: int = STEPS) -> int:
    """Return the number of the row that a movie shows: that with the most documents shown, the first of several.

    sequences, steps: how many sequences the movie shows, and how many tokens of each.
    """

    def documents(row: int) -> int:
        return sum(b < sequences and start < steps for b, start, _ in run.rows.rows[row])

    return max(range(len(run.rows.rows)), key=documents)


def leak_in(run: RowsRun, row: int, probed: int | None = None) -> Leak:
    """Return what two probes say about a row; raises IndexError for a row that the run does not have.

    probed: of how many outputs the influence is computed, the first ones; None: of all. Each costs a run of the row.
    """
    lengths = run.rows.lengths[row]
    n, alone = sum(lengths), torch.cat(run.alone_in(row), 1)
    ours = torch.stack([layer.output[row, :n] for layer in run.layers])  # (L, n, E)
    difference = apart(ours, alone).detach().amax(-1)
    return Leak(run, row, seq_idx_of(lengths), alone, difference, min(n, probed or n))
