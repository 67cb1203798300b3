"""The judge of a movie: what torch itself makes of the same values, asked without a line of our own stages."""

from dataclasses import dataclass
from functools import cached_property
from math import isfinite
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence, pad_sequence

from packviz import Trace

__all__ = ["Judge", "close", "judge_of"]


@dataclass(frozen=True, eq=False)
class Judge:
    """Ask torch about a grid x (B,T,F) with lengths, and about a module that runs over it.

    mask (B,T) is True where a token stands; h_0 and c_0 are in the original order, None where torch refuses to pack.
    """

    x: Tensor
    mask: Tensor
    lengths: list[int]
    module: nn.RNNBase
    enforce_sorted: bool
    h_0: Any
    c_0: Any
    padding_value: float
    total_length: int | None

    def pack(self, grid: Tensor) -> PackedSequence:
        """Pack any grid (B,T,...) as the sequences were packed."""
        return pack_padded_sequence(grid, torch.tensor(self.lengths), True, self.enforce_sorted)

    @property
    def B(self) -> int:
        return self.x.shape[0]

    @property
    def T(self) -> int:
        return self.x.shape[1]

    @cached_property
    def packed(self) -> Any:
        return self.pack(self.x)

    @cached_property
    def at(self) -> list[tuple[int, int]]:
        """(b, t) of every packed row, found by packing an index tensor."""
        numbers = torch.arange(self.B * self.T).view(self.B, self.T)
        return [divmod(n, self.T) for n in self.pack(numbers).data.tolist()]

    @cached_property
    def row(self) -> dict[tuple[int, int], int]:
        """The packed row of every (b, t) that was packed."""
        return {position: n for n, position in enumerate(self.at)}

    @cached_property
    def batch_sizes(self) -> list[int]:
        return [*self.packed.batch_sizes.tolist()]

    @cached_property
    def order(self) -> list[int]:
        """The original sequence in each sorted row."""
        return [b for b, t in self.at if t == 0]

    def live(self, t: int) -> list[int]:
        """Return the sequences that have a packed row at a time step, row by row."""
        return [b for b, step in self.at if step == t]

    @property
    def D(self) -> int:
        return 2 if self.module.bidirectional else 1

    def _state(self, layer: int | None = None) -> Any:
        rows = slice(None) if layer is None else slice(layer * self.D, (layer + 1) * self.D)
        if self.h_0 is None:
            return None
        return self.h_0[rows] if self.c_0 is None else (self.h_0[rows], self.c_0[rows])

    @cached_property
    def _run(self) -> tuple[PackedSequence, Tensor, Any]:
        with torch.no_grad():
            output, state = self.module(self.packed, self._state())
        h_n, c_n = state if self.module.mode == "LSTM" else (state, None)
        return output, h_n, c_n

    @property
    def output(self) -> PackedSequence:
        return self._run[0]

    @property
    def h_n(self) -> Tensor:
        return self._run[1]

    @property
    def c_n(self) -> Any:
        return self._run[2]

    @cached_property
    def unpacked(self) -> Tensor:
        """(B, T or total_length, D*H)"""
        return pad_packed_sequence(self.output, True, self.padding_value, self.total_length)[0]

    @cached_property
    def hidden(self) -> list[tuple[Tensor, ...]]:
        """[layer][direction] (N,H): the states in packed order, from one-layer modules of torch with these weights."""
        flowing, layers = self.packed, []
        for layer in range(self.module.num_layers):
            flowing, _ = _one_layer(self.module, layer)(flowing, self._state(layer))
            layers.append(flowing.data.chunk(self.D, 1))
        return layers

    @cached_property
    def on_the_grid(self) -> list[tuple[Tensor, Tensor]]:
        """[layer] (B,T,D*H) and (D,B,H): output and h_n of the same modules where the padded grid is run instead."""
        flowing, layers = self.x, []
        with torch.backends.mkldnn.flags(enabled=False, allow_tf32=None):
            for layer in range(self.module.num_layers):
                flowing, state = _one_layer(self.module, layer)(flowing, self._state(layer))
                layers.append((flowing, state[0] if isinstance(state, tuple) else state))
        return layers

    def entering(self, layer: int) -> Tensor:
        """Return (N,F): what enters a layer, in packed order."""
        return self.packed.data if layer == 0 else torch.cat(self.hidden[layer - 1], 1)


def _one_layer(module: nn.RNNBase, layer: int) -> nn.RNNBase:
    width = module.input_size if layer == 0 else (module.proj_size or module.hidden_size) * (1 + module.bidirectional)
    named = {"nonlinearity": module.nonlinearity} if isinstance(module, nn.RNN) else {}
    named |= {"proj_size": module.proj_size} if module.proj_size else {}
    named |= {"bias": module.bias, "bidirectional": module.bidirectional, "dtype": module.weight_ih_l0.dtype}
    named |= {"batch_first": True}
    kind: type[Any] = type(module)
    one: nn.RNNBase = kind(width, module.hidden_size, 1, **named)
    for name, parameter in one.named_parameters():
        parameter.data = getattr(module, name.replace("_l0", f"_l{layer}")).data
    return one.requires_grad_(False)


def judge_of(trace: Trace, x: Tensor | None = None, lengths: list[int] | None = None) -> Judge:
    """Return the judge of a trace: of its batch, or of the grid x (B,T,F) that trace_module was given."""
    lengths = trace.batch.lengths.tolist() if trace.batch else lengths
    assert lengths is not None
    side = trace.config.padding_side if trace.config else "right"
    enforced = trace.error is not None or trace.sorted.sorted_indices is None
    return Judge(
        x=_grid(trace) if x is None else x,
        mask=pad_sequence([torch.ones(length) for length in lengths], True, padding_side=side).bool()
        if x is None
        else torch.arange(x.shape[1]) < torch.tensor(lengths).unsqueeze(1),
        lengths=lengths,
        module=trace.module.requires_grad_(False) if trace.batch else trace.module,
        enforce_sorted=enforced,
        h_0=None if trace.error else trace.h_0,
        c_0=None if trace.error else trace.c_0,
        padding_value=trace.padding_value,
        total_length=trace.total_length,
    )


def _grid(trace: Trace) -> Tensor:
    """Pad and embed the sequences of a batch."""
    batch, config, table = trace.batch, trace.config, trace.padded.embedding
    assert batch is not None
    assert config is not None
    if table is not None:
        ids = [sequence.long() for sequence in batch.sequences]
        return F.embedding(pad_sequence(ids, True, config.padding_idx or 0, config.padding_side), table)
    rows = [sequence.to(next(trace.module.parameters()).dtype) for sequence in batch.sequences]
    grid = pad_sequence(rows, True, config.padding_value, config.padding_side)
    return grid.unsqueeze(-1) if grid.dim() == 2 else grid


def close(shown: list[float | None] | None, true: Tensor) -> bool:
    """Return whether numbers are shown and are the first of the true ones, rounded to four decimals.

    None among them is not finite.
    """
    if shown is None:
        return False
    pairs = zip(shown, true.flatten()[: len(shown)].tolist(), strict=True)
    return all((a is None) == (not isfinite(b)) and (a is None or abs(a - b) <= 6e-5 + 1e-5 * abs(b)) for a, b in pairs)
