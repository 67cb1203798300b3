"""One case: what examine() was given, told apart and named."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import cast

from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence

from packviz.rules.padding_value import peaks

__all__ = ["Case"]


@dataclass(frozen=True, eq=False)
class Case:
    """Hold what is examined: a padded x or a packed sequence, perhaps a module, and what stands beside them.

    batch_first   of x: (B, T) or (B, T, F) where True, else (T, B) or (T, B, F)
    Everything else is named as the arguments of examine().
    """

    x: Tensor | None = None
    packed: PackedSequence | None = None
    lengths: object = None
    module: nn.RNNBase | None = None
    batch_first: bool = False
    enforce_sorted: bool = True
    hx: object = None
    mask: Tensor | None = None
    targets: Tensor | PackedSequence | None = None
    target_lengths: object = None
    output: Tensor | None = None
    state: Tensor | None = None
    ids: Tensor | None = None
    padding_value: float | None = None

    @property
    def data(self) -> Tensor:
        """Return x, or the packed data."""
        data = self.x if self.packed is None else self.packed.data
        assert data is not None
        return data

    @property
    def layer(self) -> nn.RNNBase:
        """Return the module, where one was given."""
        assert self.module is not None
        return self.module

    @property
    def weight(self) -> Tensor:
        """Return the first weight of the module: its dtype and device are those of all of them."""
        return cast(Tensor, self.layer.weight_ih_l0)

    @property
    def by_sequence(self) -> Tensor:
        """Return x with the sequences first: (B, T) or (B, T, F)."""
        assert self.x is not None
        return self.x if self.batch_first else self.x.transpose(0, 1)

    @cached_property
    def peaks(self) -> Tensor:
        """Return the largest magnitude of each step of x, (B, T): see packviz.rules.padding_value.peaks()."""
        return peaks(self.by_sequence)

    @property
    def steps_axis(self) -> int:
        """Return the dimension of x that counts the time steps."""
        return 1 if self.batch_first else 0
