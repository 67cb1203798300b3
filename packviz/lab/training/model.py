"""The model that learns: one recurrent layer, one way to read one vector for each sequence, one linear layer."""

from __future__ import annotations

from math import sqrt
from typing import Any

import torch
from torch import Generator, Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence

from packviz.inputs.cell_kinds import CELL_KINDS
from packviz.lab.training.experiment import Experiment

__all__ = ["Model", "read"]

UNDRAWN: dict[str, Any] = {"device": "meta", "dtype": torch.float64}  # no memory yet, no random numbers


class Model(nn.Module):
    """Give each sequence one score for each class.

    The weights are drawn as torch draws them, but from `generator`: the random numbers of the process stay untouched.
    They are float64: in float32 rounding errors grow until two ways to compute the same thing end with another
    accuracy (an LSTM's last valid step and its packed h_n did, within six epochs).
    """

    def __init__(self, experiment: Experiment, features: int, classes: int, generator: Generator) -> None:
        super().__init__()
        H, ways = experiment.hidden_size, 2 if experiment.bidirectional else 1
        self.readout = experiment.readout
        build = CELL_KINDS[experiment.cell].build
        self.cell = build(features, H, batch_first=True, bidirectional=experiment.bidirectional, **UNDRAWN)
        self.head = nn.Linear(ways * H, classes, **UNDRAWN)
        self.to_empty(device="cpu")
        _draw(self.cell, 1 / sqrt(H), generator)
        _draw(self.head, 1 / sqrt(ways * H), generator)

    def forward(self, x: Tensor, lengths: Tensor) -> Tensor:
        """Return (B, classes): the scores of padded sequences x (B, T, F) float64 of `lengths` (B,)."""
        scores: Tensor = self.head(read(self.cell, x, lengths, self.readout))
        return scores


def read(cell: nn.RNNBase, x: Tensor, lengths: Tensor, readout: str) -> Tensor:
    """Return (B, D*H): what is read out of the run of padded x (B, T, F) of `lengths` (B,)."""
    if readout == "packed":
        _, state = cell(pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False))
        h_n = state[0] if isinstance(state, tuple) else state  # (D, B, H)
        return torch.cat(h_n.unbind(0), 1)
    output: Tensor = cell(x)[0]  # (B, T, D*H): the pads are run through, too
    if readout == "naive":
        return output[:, -1]
    if readout == "last_valid":
        return output[torch.arange(len(lengths), device="cpu"), lengths - 1]
    pad = torch.arange(x.size(1), device="cpu") >= lengths[:, None]  # (B, T)
    return output.masked_fill(pad[:, :, None], 0.0).sum(1) / lengths[:, None]


def _draw(module: nn.Module, bound: float, generator: Generator) -> None:
    for parameter in module.parameters():
        nn.init.uniform_(parameter, -bound, bound, generator=generator)
