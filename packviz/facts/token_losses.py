"""What the loss of each token weighs in the mean that a framework prints: padded, packed by time step and in rows."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias, get_args

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from packviz.compute.determinism import exact_arithmetic
from packviz.compute.fill import Piece
from packviz.compute.record import Trace
from packviz.compute.row_record import RowsTrace
from packviz.facts.padded_gradients import draw_head
from packviz.facts.padded_run import packed_grid, run_padded, valid_cells
from packviz.facts.row_leaks import rounding_of
from packviz.inputs.documents import NO_LABEL
from packviz.inputs.tensors import valid_mask
from packviz.text import Brief
from packviz.validate import integer

__all__ = ["Over", "TokenLosses", "changed_means", "losses_in_rows", "losses_of", "means"]

Order: TypeAlias = Literal["padded", "masked", "packed", "rows"]
Over: TypeAlias = Literal["tokens", "documents", "rows", "micro_batches"]

ORDERS: tuple[Order, ...] = get_args(Order)
MEANS: tuple[Over, ...] = ("tokens", "documents", "rows")


@dataclass(frozen=True, eq=False, repr=False)
class TokenLosses(Brief):
    """The losses of D documents of up to T tokens, in each order in which a batch can stand.

    documents  sequence, start and stop of each
    places     the row in which each stands, and its number there; of a trace without rows, each in one of its own
    real       (D, T) bool: the cells of the padded grid that hold tokens
    losses     by order, (D, T): the loss of each cell, 0 without a label
    labelled   by order, (D, T) bool: the cells with a label; in the order "padded" a pad can be one, as without a mask

    The cell (d, t) is token t of document d, wherever an order puts it.
    """

    documents: tuple[Piece, ...]
    places: tuple[tuple[int, int], ...]
    real: Tensor
    losses: Mapping[Order, Tensor]
    labelled: Mapping[Order, Tensor]

    def groups(self, over: Over, size: int = 1) -> Tensor:
        """Return (D,) int64: the group of each document in a mean; size: the documents of a micro-batch.

        Raises PackvizError unless size is an integer of at least 1.
        """
        numbers = torch.arange(len(self.documents), device="cpu")
        if over == "rows":
            return torch.tensor([row for row, _ in self.places], device="cpu")
        return numbers * (over != "tokens") // (integer("size", size, 1) if over == "micro_batches" else 1)

    def counts(self, order: Order, over: Over, size: int = 1) -> Tensor:
        """Return (G,) int64: the labels of each group."""
        return self._weighed(order, over, size)[0]

    def weights(self, order: Order, over: Over = "tokens", size: int = 1) -> Tensor:
        """Return (D, T) float64: what each loss weighs in a mean; the weights add up to 1.

        Each group with a label weighs the same, and shares its weight among its labels.
        """
        return self._weighed(order, over, size)[1]

    def _weighed(self, order: Order, over: Over, size: int) -> tuple[Tensor, Tensor]:
        """Return the labels of each group, and the weight of each loss."""
        key = order, over, size if over == "micro_batches" else 1
        if key not in self._known:
            group = self.groups(over, size)
            zeros = torch.zeros(int(group.max()) + 1, dtype=torch.int64, device="cpu")
            counts = zeros.index_add(0, group, self.labelled[order].sum(1))
            share = 1 / (counts.clamp(min=1) * (counts > 0).sum().clamp(min=1)).double()  # (G,)
            self._known[key] = counts, self.labelled[order] * share[group].unsqueeze(1)
        return self._known[key]

    @cached_property
    def _known(self) -> dict[tuple[Order, Over, int], tuple[Tensor, Tensor]]:
        """Return what each mean weighs, once computed: a movie and its questions need each some ten times."""
        return {}

    def mean(self, order: Order, over: Over = "tokens", size: int = 1) -> float:
        """Return the mean of the groups' means; NaN without a label, and if a micro-batch has none.

        Documents and rows without a label are left out.
        """
        counts = self.counts(order, over, size)
        if not counts.any() or (over == "micro_batches" and not counts.all()):
            return math.nan
        return float((self.losses[order] * self.weights(order, over, size)).sum())

    @property
    def telling_size(self) -> int:
        """Return a size of micro-batches for which the mean of their means is not that over tokens; 2 without one."""
        counts = {size: self.counts("masked", "micro_batches", size) for size in (2, 1, 3)}
        return next((size for size, each in counts.items() if each.all() and bool((each != each[0]).any())), 2)

    @property
    def heaviest(self) -> float:
        """Return the largest weight of a loss in any mean; 1.0 if there is no label."""
        orders = [(order, over) for order in self.losses for over in MEANS]
        return max(float(self.weights(order, over).max()) for order, over in orders) or 1.0


def losses_in_rows(run: RowsTrace) -> TokenLosses:
    """Return the losses of a run over rows, beside those of the same documents in a padded batch.

    Padded, the model reads a grid of one document a line without a mask, pads included, and the label of a cell is the
    next cell. With a mask, and packed by time step, each document is run by itself. A piece of a sequence that was cut
    is a document, and tokens that are in no row belong to none. Without ids there are no labels.
    """
    documents = sorted((piece, (r, d)) for r, row in enumerate(run.rows.rows) for d, piece in enumerate(row))
    places = tuple(place for _, place in documents)

    def grid(cells: Tensor, filler: int = 0) -> Tensor:
        return pad_sequence([cells[r][run.document_ids[r] == d] for r, d in places], True, filler)

    ids, labels = grid(run.input_ids), grid(run.labels, NO_LABEL)
    lengths, T = torch.tensor([stop - start for (_, start, stop), _ in documents], device="cpu"), ids.size(1)
    following = F.pad(ids[:, 1:], (0, 1), value=NO_LABEL)
    own = following.masked_fill(~valid_mask(lengths - 1, T), NO_LABEL)
    head, positions = run.model.head, torch.arange(T, device="cpu").unsqueeze(0)
    with exact_arithmetic():
        alone = pad_sequence([run.alone[r][d] for r, d in places], True)
        if head is None:
            following = own = labels
            padded = masked = torch.zeros_like(alone[..., 0])
        else:
            whole = run.model(ids, positions, torch.zeros_like(positions))
            padded, masked = _cross_entropy(head, whole, following), _cross_entropy(head, alone, own)
    return TokenLosses(
        documents=tuple(piece for piece, _ in documents),
        places=places,
        real=valid_mask(lengths, T),
        losses={"padded": padded, "masked": masked, "packed": masked, "rows": grid(run.losses)},
        labelled=dict(zip(ORDERS, (each != NO_LABEL for each in (following, own, own, labels)), strict=True)),
    )


def losses_of(trace: Trace, seed: int = 0) -> TokenLosses:
    """Return the losses of a seeded linear head and seeded targets on the padded and on the packed output of a trace.

    Raises PackvizError for an invalid seed, or if torch refused to pack the lengths.
    """
    drawn, real = draw_head(trace, integer("seed", seed, 0, 2**63 - 1)), trace.padded.mask
    with exact_arithmetic():
        outputs = packed_grid(trace), run_padded(trace)[0]
        packed, padded = (_cross_entropy(drawn.head, output, drawn.target) for output in outputs)
    return TokenLosses(
        documents=tuple((b, 0, length) for b, length in enumerate(trace.padded.lengths.tolist())),
        places=tuple((b, 0) for b in range(len(real))),
        real=real,
        losses={"padded": padded, "masked": padded, "packed": packed},
        labelled={"padded": torch.ones_like(real), "masked": real, "packed": valid_cells(trace)},
    )


def means(run: RowsTrace, losses: TokenLosses | None = None) -> dict[Over, tuple[float, float]]:
    """Return by its name each mean with each document alone, and in the rows of this run; NaN where there is no label.

    Alone, each document has a row of its own, as in a padded batch with a mask. losses: those of the run, if they are
    known.
    """
    found = losses or losses_in_rows(run)
    return {
        over: (found.mean("masked", "tokens" if over == "tokens" else "documents"), run.loss[over]) for over in MEANS
    }


def changed_means(run: RowsTrace, losses: TokenLosses | None = None) -> tuple[Over, ...]:
    """Return the names of the means that differ, by more than rounding, from those with each document alone.

    NaN is equal to NaN. losses: as in `means`.
    """
    most = 4 * rounding_of(run.config.dtype, run.output)  # a head adds up E outputs
    return tuple(
        over
        for over, (alone, rows) in means(run, losses).items()
        if not ((math.isnan(alone) and math.isnan(rows)) or math.isclose(alone, rows, rel_tol=most, abs_tol=most))
    )


def _cross_entropy(head: nn.Linear, output: Tensor, labels: Tensor) -> Tensor:
    """Return (D, T): the cross entropy of each output (D, T, E) with its label; 0 without a label."""
    return F.cross_entropy(head(output).transpose(1, 2), labels, ignore_index=NO_LABEL, reduction="none")
