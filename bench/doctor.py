"""What examining costs: pv.examine beside one forward of the module that it examines, on sound batches, one thread."""

from collections.abc import Iterator

import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence

from bench.report import Line, at_most
from bench.trace_cost import Cell, fastest, undisturbed
from packviz.doctor import examine

__all__ = ["doctor"]

SIZES = ((3, 5, 4, 4), (32, 100, 64, 64))  # B, T, F, H
COST = at_most(1.0)


def doctor() -> list[Line]:
    """Time both ways to examine, padded with lengths and packed, for the three cells, without gradients."""
    with undisturbed():
        return [line for size in SIZES for cell in (nn.RNN, nn.GRU, nn.LSTM) for line in _lines(cell, *size)]


def _lines(cell: Cell, B: int, T: int, F: int, H: int) -> Iterator[Line]:
    torch.manual_seed(0)
    module = cell(F, H, batch_first=True)
    lengths = torch.linspace(T, max(T // 4, 1), B).long()
    x = torch.randn(B, T, F) * (torch.arange(T) < lengths.unsqueeze(1)).unsqueeze(2)
    packed = pack_padded_sequence(x, lengths, batch_first=True)
    name = f"{cell.__name__} {B} × {T} × {F}: examine"
    yield _line(
        f"{name}(module, x, lengths) ÷ its padded forward",
        *fastest(lambda: examine(module, x, lengths), lambda: module(x)),
    )
    yield _line(
        f"{name}(module, packed) ÷ its packed forward",
        *fastest(lambda: examine(module, packed), lambda: module(packed)),
    )


def _line(what: str, ours: float, theirs: float) -> Line:
    return Line(what, ours / theirs, COST, f"{ours * 1e6:,.0f} µs ÷ {theirs * 1e6:,.0f} µs, fastest of runs in turns")
