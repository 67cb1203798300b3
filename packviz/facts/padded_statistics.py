"""Pads in a normalisation, in attention and in pooling: what they do there, and what is left without them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_packed_sequence

from packviz.compute.determinism import exact_arithmetic
from packviz.compute.record import Trace
from packviz.compute.verify import differing, distance, tolerance_of
from packviz.errors import PackvizError
from packviz.text import counted, letters, shown, two_digits

__all__ = ["Attention", "Norms", "Pooling", "attention", "norms", "pooling"]

Where = Literal["input", "output"]


@dataclass(frozen=True, eq=False)
class Norms:
    """Hold the statistics that a batch norm would take, (F,) each; the variance is the biased one, as it divides by.

    where        of the input (the padded grid) or of the output (unpacked, with filler)
    mean_padded, var_padded   over all cells of the grid, pads among them
    mean_packed, var_packed   over packed data
    cells, rows  how many cells and how many packed rows there are
    packed_pads  how many of the packed rows are pads, as after padding on the left
    """

    where: Where
    mean_padded: Tensor
    var_padded: Tensor
    mean_packed: Tensor
    var_packed: Tensor
    cells: int
    rows: int
    packed_pads: int

    @property
    def told(self) -> str:
        """Return how far both are apart, in a sentence."""
        mean, var = distance(self.mean_padded, self.mean_packed), distance(self.var_padded, self.var_packed)
        f = int((self.mean_padded - self.mean_packed).abs().argmax())
        apart = f"Means are up to {two_digits(mean)} apart, variances up to {two_digits(var)}"
        return (
            f"Over the {_many(self.cells, 'cell')} of the grid feature {f} has the mean {self.mean_padded[f]:.3g}, "
            f"over the {_many(self.rows, 'packed row')}{self._pads()} {self.mean_packed[f]:.3g}. "
            f"{apart if mean or var else 'Means are the same, variances, too'}."
        )

    def _pads(self) -> str:
        are = "is a pad" if self.packed_pads == 1 else "are pads"
        return f", of which {self.packed_pads} {are}," if self.packed_pads else ""


@dataclass(frozen=True, eq=False)
class Attention:
    """Hold the softmax weights of one query for each sequence over all its cells, (B, T) each.

    The query is the state after the sequence's last step, the keys are the unpacked output with zeros as filler.

    unmasked, masked  the weights without a mask, and with -inf in place of the scores of what was not packed
    valid             (B, T) bool: the cells that were packed, which is the mask by length
    real              (B, T) bool: the cells that hold a token; other ones than valid only after padding on the left
    """

    unmasked: Tensor
    masked: Tensor
    valid: Tensor
    real: Tensor

    @property
    def leaks(self) -> Tensor:
        """Return (B,): the share of the weight that lies on pads without a mask, 0.0 to 1.0."""
        return self.unmasked.masked_fill(self.real, 0.0).sum(1)

    @property
    def leaks_masked(self) -> Tensor:
        """Return (B,): the same with the mask by length; above 0 only where pads were packed."""
        return self.masked.masked_fill(self.real, 0.0).sum(1)

    @property
    def told(self) -> str:
        """Return how much weight leaks to pads, in a sentence."""
        leaks, short = self.leaks, (~self.real).any(1).nonzero().flatten().tolist()
        if not short:
            return "There is no padding in this batch: no weight can leak to it."
        b = int(leaks.argmax())
        most = f" on average, most for {letters([b])}: {100 * float(leaks[b]):.1f} %" if len(short) > 1 else ""
        share = f"{100 * float(leaks[short].mean()):.1f} % of the weight of {letters(short)}"
        return f"Without a mask {share} lies on pads{most}. {self._masked(short)}"

    def _masked(self, short: list[int]) -> str:
        most, through = self.leaks_masked[short].max(), int((self.valid & ~self.real).sum())
        if not through:
            return f"With a mask it is {100 * float(most):g} %."
        up_to = "up to " if len(short) > 1 else ""
        return (
            f"The length mask lets {counted(through, 'pad')} through: with it, it is {up_to}{100 * float(most):.1f} %."
        )


@dataclass(frozen=True, eq=False)
class Pooling:
    """Hold the mean and the largest number over time of the unpacked output with zeros as filler, (B, D*H) each.

    mean, max              over all columns of the grid, filler among them
    mean_valid, max_valid  over the packed steps of each sequence alone
    packed_pads            how many of these are pads, as after padding on the left
    """

    mean: Tensor
    max: Tensor
    mean_valid: Tensor
    max_valid: Tensor
    packed_pads: int

    @property
    def told(self) -> str:
        """Return for which sequences filler changes the mean and the largest number, in a sentence."""
        pairs = (("mean", self.mean, self.mean_valid), ("max", self.max, self.max_valid))
        return " ".join([*(self._said(*pair) for pair in pairs), *self._pads()])

    def _pads(self) -> list[str]:
        if not self.packed_pads:
            return []
        was = "was packed and is" if self.packed_pads == 1 else "were packed and are"
        return [f"Without filler, padding is still there: {counted(self.packed_pads, 'pad')} {was} pooled, too."]

    def _said(self, name: str, naive: Tensor, valid: Tensor) -> str:
        off = differing(naive, valid, tolerance_of(naive.dtype))
        if not off:
            return f"Filler changes no {name}."
        return f"Filler changes the {name} of {letters(off)}, by up to {two_digits(distance(naive, valid))}."


def norms(trace: Trace, where: Where = "input") -> Norms:
    """Let torch take mean and variance of each feature, over the padded grid and over packed data.

    Raises PackvizError unless where is "input" or "output", and where torch refused to pack the lengths.
    """
    if where not in ("input", "output"):
        raise PackvizError("where", expected="input or output", came=shown(where), mend="choose one of the two")
    grid, data = (trace.padded.grid, trace.packed.data) if where == "input" else (_unpacked(trace, None), trace.output)
    with exact_arithmetic():
        var_padded, mean_padded = torch.var_mean(grid.flatten(0, 1), 0, correction=0)
        var_packed, mean_packed = torch.var_mean(data, 0, correction=0)
    return Norms(
        where,
        mean_padded,
        var_padded,
        mean_packed,
        var_packed,
        grid.size(0) * grid.size(1),
        len(data),
        _packed_pads(trace),
    )


def attention(trace: Trace) -> Attention:
    """Let each sequence's last valid state attend to its row of the unpacked output, by dot products and softmax.

    Raises PackvizError where torch refused to pack the lengths.
    """
    keys, valid = _unpacked(trace, 0.0), _valid(trace)
    with exact_arithmetic():
        scores = torch.einsum("bth,bh->bt", keys, trace.unpacked.last_valid)
        masked = scores.masked_fill(~valid, float("-inf"))
        return Attention(scores.softmax(1), masked.softmax(1), valid, trace.padded.mask)


def pooling(trace: Trace) -> Pooling:
    """Take the mean and the largest number over time, with filler and without.

    Raises PackvizError where torch refused to pack the lengths.
    """
    grid, outside = _unpacked(trace, 0.0), ~_valid(trace).unsqueeze(2)
    with exact_arithmetic():
        mean_valid = grid.sum(1) / trace.padded.lengths.unsqueeze(1)  # the filler is 0
        max_valid = grid.masked_fill(outside, float("-inf")).amax(1)
        return Pooling(grid.mean(1), grid.amax(1), mean_valid, max_valid, _packed_pads(trace))


def _unpacked(trace: Trace, filler: float | None) -> Tensor:
    """Return (B, T, D*H): the packed output as a grid as wide as the padded one."""
    output, T = trace.packed_sequence._replace(data=trace.output), trace.padded.mask.size(1)
    grid, _ = pad_packed_sequence(output, True, trace.padding_value if filler is None else filler, T)
    return grid


def _valid(trace: Trace) -> Tensor:
    columns = torch.arange(trace.padded.mask.size(1), device="cpu")
    return columns < trace.padded.lengths.unsqueeze(1)  # (B, T)


def _packed_pads(trace: Trace) -> int:
    return int(trace.packed_is_pad.sum())


def _many(number: int, noun: str) -> str:
    return f"one {noun}" if number == 1 else counted(number, noun)
