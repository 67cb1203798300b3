"""Pads in a normalisation, in attention and in pooling: what they do there, and what is left without them."""

from dataclasses import dataclass

import torch
from torch import Tensor

from packviz.compute.determinism import exact_arithmetic
from packviz.compute.record import Trace
from packviz.compute.verify import differing, distance
from packviz.facts.padded_run import packed_grid, valid_cells
from packviz.facts.words import sentence
from packviz.text import Brief

__all__ = ["Attention", "Norms", "Pooling", "attention", "norms", "pooling"]


@dataclass(frozen=True, eq=False, repr=False)
class Norms(Brief):
    """Hold the statistics that a batch norm would take, (F,) each; the variance is the biased one, as it divides by."""

    mean_padded: Tensor  # over all cells of the grid, pads among them
    var_padded: Tensor
    mean_packed: Tensor  # over packed data
    var_packed: Tensor
    cells: int  # how many there are
    rows: int  # how many packed rows there are
    packed_pads: int  # how many of the packed rows are pads, as after padding on the left

    @property
    def sentence(self) -> str:
        """Return how far both are apart, in a sentence."""
        mean, var = distance(self.mean_padded, self.mean_packed), distance(self.var_padded, self.var_packed)
        f = int((self.mean_padded - self.mean_packed).abs().argmax())
        return sentence("statistics.norms", it=self, f=f, mean=mean, var=var)


@dataclass(frozen=True, eq=False, repr=False)
class Attention(Brief):
    """Hold the softmax weights of one query for each sequence over all its cells, (B, T) each.

    The query is the state after the sequence's last step, the keys are the unpacked output with zeros as filler.
    """

    unmasked: Tensor  # the weights without a mask
    masked: Tensor  # those with -inf in place of the scores of what was not packed
    valid: Tensor  # (B, T) bool: the cells that were packed, which is the mask by length
    real: Tensor  # (B, T) bool: the cells that hold a token; they differ from valid only after padding on the left

    @property
    def leaks(self) -> Tensor:
        """Return (B,): the share of the weight that lies on pads without a mask, 0.0 to 1.0."""
        return self.unmasked.masked_fill(self.real, 0.0).sum(1)

    @property
    def leaks_masked(self) -> Tensor:
        """Return (B,): the same with the mask by length; above 0 only where pads were packed."""
        return self.masked.masked_fill(self.real, 0.0).sum(1)

    @property
    def sentence(self) -> str:
        """Return how much weight leaks to pads, in a sentence."""
        leaks, masked = 100 * self.leaks, 100 * self.leaks_masked
        short = (~self.real).any(1).nonzero().flatten().tolist()
        most = {"b": int(leaks.argmax()), "most": leaks.max(), "mean": leaks[short].mean(), "masked": masked.max()}
        return sentence("statistics.attention", short=short, through=int((self.valid & ~self.real).sum()), **most)


@dataclass(frozen=True, eq=False, repr=False)
class Pooling(Brief):
    """Hold the mean and the largest number over time of the unpacked output with zeros as filler, (B, D*H) each."""

    mean: Tensor  # over all columns of the grid, filler among them
    max: Tensor
    mean_valid: Tensor  # over the packed steps of each sequence alone
    max_valid: Tensor
    packed_pads: int  # how many of these are pads, as after padding on the left

    @property
    def sentence(self) -> str:
        """Return for which sequences filler changes the mean and the largest number, in a sentence."""
        told = []
        for name, naive, valid in (("mean", self.mean, self.mean_valid), ("max", self.max, self.max_valid)):
            off, most = differing(naive, valid), distance(naive, valid)
            told.append(sentence("statistics.pooling", name=name, off=off, most=most))
        return " ".join([*told, sentence("statistics.pooled_pads", it=self)] if self.packed_pads else told)


def norms(trace: Trace) -> Norms:
    """Let torch take mean and variance of each feature, over the padded grid and over packed data.

    Raises PackvizError where torch refused to pack the lengths.
    """
    data, cells, pads = trace.packed.data, trace.padded.grid.flatten(0, 1), int(trace.packed_is_pad.sum())
    with exact_arithmetic():
        var_padded, mean_padded = torch.var_mean(cells, 0, correction=0)
        var_packed, mean_packed = torch.var_mean(data, 0, correction=0)
    return Norms(mean_padded, var_padded, mean_packed, var_packed, len(cells), len(data), pads)


def attention(trace: Trace) -> Attention:
    """Let each sequence's last valid state attend to its row of the unpacked output, by dot products and softmax.

    Raises PackvizError where torch refused to pack the lengths.
    """
    keys, valid = packed_grid(trace, 0.0), valid_cells(trace)
    with exact_arithmetic():
        scores = torch.einsum("bth,bh->bt", keys, trace.unpacked.last_valid)
        masked = scores.masked_fill(~valid, float("-inf"))
        return Attention(scores.softmax(1), masked.softmax(1), valid, trace.padded.mask)


def pooling(trace: Trace) -> Pooling:
    """Take the mean and the largest number over time, with filler and without.

    Raises PackvizError where torch refused to pack the lengths.
    """
    grid, outside = packed_grid(trace, 0.0), ~valid_cells(trace).unsqueeze(2)
    with exact_arithmetic():
        mean_valid = grid.sum(1) / trace.padded.lengths.unsqueeze(1)  # the filler is 0
        max_valid = grid.masked_fill(outside, float("-inf")).amax(1)
        return Pooling(grid.mean(1), grid.amax(1), mean_valid, max_valid, int(trace.packed_is_pad.sum()))
