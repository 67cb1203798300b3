"""What each token weighs in the mean that a loss is, and the same mean with each document alone."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from packviz.compute.determinism import exact_arithmetic
from packviz.compute.row_model import split
from packviz.compute.row_record import NO_LABEL, RowsTrace
from packviz.facts.row_leaks import ROUNDING
from packviz.text import Brief
from packviz.validate import integer

__all__ = ["Accumulated", "accumulated", "changed_means", "means", "token_weights"]

MEANS = ("tokens", "documents", "rows")


def token_weights(run: RowsTrace) -> dict[str, Tensor]:
    """Return by the name of a mean what each token weighs in it, (R, C): the weights add up to 1.

    In the mean over tokens all tokens with a label weigh the same. In those over documents and over rows each document,
    or row, weighs the same, and shares its weight among its tokens with a label; one without any is left out.
    """
    labelled = run.labels != NO_LABEL
    documents = [of & labelled for of in _documents(run)]
    rows = [labelled & (torch.arange(len(labelled), device="cpu") == row).unsqueeze(1) for row in range(len(labelled))]
    return {name: _shared(groups) for name, groups in zip(MEANS, ([labelled], documents, rows), strict=True)}


def heaviest(run: RowsTrace) -> float:
    """Return the largest weight of a token in any of the means; 1.0 if no token has a label."""
    return max(float(each.max()) for each in token_weights(run).values()) or 1.0


def means(run: RowsTrace) -> dict[str, tuple[float, float]]:
    """Return by its name each mean with each document alone, and in the rows of this run; NaN if there is no label.

    Alone, each document is run by itself, as in a padded batch of these documents, and its labels are its own next
    tokens. A piece of a sequence that was cut is a document, and tokens that are in no row belong to none.
    """
    alone = [each for each in _alone_losses(run) if len(each)]
    each = torch.stack([losses.mean() for losses in alone]).mean() if alone else torch.tensor(torch.nan, device="cpu")
    tokens = torch.cat(alone).mean() if alone else each
    single = dict(zip(MEANS, map(float, (tokens, each, each)), strict=True))
    return {name: (single[name], run.loss[name]) for name in MEANS}


def changed_means(run: RowsTrace) -> tuple[str, ...]:
    """Return the names of the means that differ, by more than rounding, from those with each document alone.

    NaN is equal to NaN.
    """
    most = 4 * ROUNDING[run.config.dtype]  # a head adds up E outputs
    both = means(run).items()
    same = {name for name, (one, other) in both if math.isclose(one, other, rel_tol=most, abs_tol=most)}
    same |= {name for name, pair in both if all(map(math.isnan, pair))}
    return tuple(name for name in MEANS if name not in same)


@dataclass(frozen=True, eq=False, repr=False)
class Accumulated(Brief):
    """What gradient accumulation makes of the loss: one micro-batch after another.

    batches  for each micro-batch how many documents and how many tokens with a label it has
    right    the sum of all losses divided by the number of all tokens with a label: the mean over tokens
    wrong    the mean of the micro-batches' own means; NaN if one of them has no label
    """

    batches: tuple[tuple[int, int], ...]
    right: float
    wrong: float


def accumulated(run: RowsTrace, size: int) -> Accumulated:
    """Return the loss of this run in micro-batches of so many documents, accumulated rightly and wrongly.

    Raises PackvizError unless size is an integer of at least 1.
    """
    size, labelled = integer("size", size, 1), run.labels != NO_LABEL
    documents = [of & labelled for of in _documents(run)]
    groups = [documents[at : at + size] for at in range(0, len(documents), size)]
    batches = [(len(group), torch.stack(group).any(0)) for group in groups]
    own = torch.stack([run.losses[tokens].mean() for _, tokens in batches])  # nan for one without a label
    counts = tuple((count, int(tokens.sum())) for count, tokens in batches)
    return Accumulated(counts, float(run.losses[labelled].mean()), float(own.mean()))


def _documents(run: RowsTrace) -> Iterator[Tensor]:
    """Yield for each piece, row by row, which cells hold it: (R, C) bool."""
    for row, pieces in enumerate(run.rows.rows):
        for piece in range(len(pieces)):
            of = run.document_ids == piece
            yield of & (torch.arange(len(of), device="cpu") == row).unsqueeze(1)


def _shared(groups: list[Tensor]) -> Tensor:
    """Return (R, C): weight 1 divided among the groups with any token, and then among the tokens of each."""
    counted = [group for group in groups if group.any()]
    if not counted:
        return torch.zeros(groups[0].shape, dtype=torch.float64, device="cpu")
    return torch.stack([group.double() / group.sum() for group in counted]).mean(0) * 1.0


def _alone_losses(run: RowsTrace) -> Iterator[Tensor]:
    """Yield the losses of each document, run by itself, (length - 1,)."""
    if run.model.head is None:
        return
    with exact_arithmetic():
        for row, pieces in enumerate(run.alone):
            lengths = run.rows.lengths[row]
            ids = split(run.input_ids[row, : sum(lengths)], lengths)
            for output, tokens in zip(pieces, ids, strict=True):
                yield F.cross_entropy(run.model.head(output)[:-1], tokens[1:], reduction="none")
