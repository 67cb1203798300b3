"""The model that runs over rows: an embedding, layers of one kind, a linear head."""

import math
from collections.abc import Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence, pack_sequence

from packviz.compute.weights import drawn, generator_of
from packviz.inputs.cell_kinds import CELL_KINDS
from packviz.inputs.module import one_layer
from packviz.inputs.row_config import RowConfig

_THETA = 10_000.0  # of rotary positions, as in RoFormer (Su et al., 2021)


class Attention(nn.Module):
    """Scaled dot-product attention of several heads, their outputs side by side, without an output projection."""

    def __init__(self, project: nn.Linear, num_heads: int, *, rotary: bool) -> None:
        super().__init__()
        self.project, self.num_heads, self.rotary = project, num_heads, rotary  # project: (3E, E), for q, k and v

    def heads(self, x: Tensor, position_ids: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return query, key and value (B, heads, N, d) of x (B, N, E); query and key are rotated if positions are."""
        parts = self.project(x).chunk(3, -1)  # (B, N, E) each
        q, k, v = (part.view(*part.shape[:2], self.num_heads, -1).transpose(1, 2) for part in parts)
        return (rotated(q, position_ids), rotated(k, position_ids), v) if self.rotary else (q, k, v)

    def forward(self, x: Tensor, position_ids: Tensor, mask: Tensor) -> Tensor:
        """Return (B, N, E) for x (B, N, E) and mask (1, N, N), True where the query (row) may read the key (column)."""
        return joined_heads(F.scaled_dot_product_attention(*self.heads(x, position_ids), mask.unsqueeze(1)))


def joined_heads(output: Tensor) -> Tensor:
    """Return the outputs of the heads (B, heads, N, d) side by side, (B, N, E)."""
    return output.transpose(1, 2).flatten(2)


def rotated(x: Tensor, position_ids: Tensor) -> Tensor:
    """Rotate each pair of numbers (2i, 2i + 1) of x (B, heads, N, d) by position * 10000^(-2i / d)."""
    d = x.size(-1)
    frequencies = _THETA ** -(torch.arange(0, d, 2, dtype=torch.float64, device="cpu") / d)  # (d/2,)
    angles = position_ids[:, None, :, None] * frequencies  # (B, 1, N, d/2)
    turns = torch.polar(torch.ones_like(angles), angles).to(x.dtype.to_complex())
    pairs = torch.view_as_complex(x.reshape(*x.shape[:-1], -1, 2))  # (B, heads, N, d/2)
    return torch.view_as_real(pairs * turns).flatten(-2)


class RowModel(nn.Module):
    """Embed tokens, and run layers of one kind over a row, according to a RowConfig.

    layers           attention or nn.Conv1d, one for each layer, or one nn.RNN, nn.GRU or nn.LSTM of all layers; first,
                     because their sizes do not depend on the tokens: a new word leaves their weights as they are
    embed_tokens     nn.Embedding (V, E), or nn.Linear (E, F) for tokens that are numbers or vectors
    head             nn.Linear (V, E): the scores of the next token; None without ids
    embed_positions  nn.Embedding (N, E), or None; N is C rounded up to a multiple of 16, in which torch draws normal
                     numbers, and it is the last: so rows of another length leave all weights as they are

    The weights are drawn from config.seed in the order of this list, as torch draws them in a script that makes the
    same modules after ``torch.manual_seed(seed)``.
    """

    def __init__(self, config: RowConfig, C: int, *, V: int | None = None, features: int = 1) -> None:
        """Draw a model for rows of C cells that hold ids below V, or, without V, numbers of so many features."""
        super().__init__()
        E, L, generator = config.embedding_dim, config.num_layers, generator_of(config.seed)
        dtype: torch.dtype = getattr(torch, config.dtype)

        def linear(inputs: int, outputs: int) -> nn.Linear:
            return drawn(nn.Linear, inputs, outputs, dtype=dtype, generator=generator)

        def convolution() -> nn.Conv1d:
            sizes, settings = (E, E, config.kernel_size), {"groups": E, "padding": config.kernel_size - 1}
            return drawn(nn.Conv1d, *sizes, **settings, dtype=dtype, generator=generator)

        self.config = config
        learned = config.layer == "attention" and config.positions == "learned"
        if config.layer == "attention":
            rotary = config.positions == "rope"
            layers: list[nn.Module] = [Attention(linear(E, 3 * E), config.num_heads, rotary=rotary) for _ in range(L)]
        elif config.layer == "conv":
            layers = [convolution() for _ in range(L)]
        else:
            build = CELL_KINDS[config.layer].build
            layers = [drawn(build, E, E, L, batch_first=True, dtype=dtype, generator=generator)]
        self.layers = nn.ModuleList(layers)
        self.embed_tokens = drawn(nn.Embedding, V, E, dtype=dtype, generator=generator) if V else linear(features, E)
        self.head = linear(E, V) if V else None
        N = 16 * math.ceil(C / 16)
        self.embed_positions = drawn(nn.Embedding, N, E, dtype=dtype, generator=generator) if learned else None
        self.eval()

    def forward(self, input_ids: Tensor, position_ids: Tensor, document_ids: Tensor) -> Tensor:
        """Return (1, N, E): the output of the last layer, 0 at pads.

        input_ids     (1, N) int64; for tokens that are numbers or vectors, (1, N, F)
        position_ids  (1, N) int64
        document_ids  (1, N) int64: the number of the document of each token, -1 at pads
        """
        return self.run(self.embed(input_ids), position_ids, document_ids)

    def embed(self, input_ids: Tensor) -> Tensor:
        """Return the embedded tokens (1, N, E), without their positions."""
        embedded: Tensor = self.embed_tokens(input_ids)
        return embedded

    def run(self, x: Tensor, position_ids: Tensor, document_ids: Tensor) -> Tensor:
        """Return (B, N, E): the output for embedded tokens x (B, N, E), of B rows with the same documents."""
        return self.outputs(x, position_ids, document_ids)[-1]

    def outputs(self, x: Tensor, position_ids: Tensor, document_ids: Tensor) -> list[Tensor]:
        """Return the output of each layer, (B, N, E) each; see `run`."""
        made, x = list[Tensor](), self.located(x, position_ids)
        if self.config.layer == "attention":
            mask = document_mask(self.config, document_ids)
            for layer in self.layers:
                x = layer(x, position_ids, mask)
                made.append(x)
            return made
        real = document_ids[0] >= 0
        lengths = border_lengths(document_ids[0][real], isolate=self.config.isolate)
        for layer in self._single_layers():
            over = _convolve if isinstance(layer, nn.Conv1d) else _recur
            x = torch.zeros_like(x).index_copy(1, real.nonzero()[:, 0], over(layer, x[:, real], lengths))
            made.append(x)
        return made

    def located(self, x: Tensor, position_ids: Tensor) -> Tensor:
        """Return x (B, N, E) with the learned embedding of its positions added, if there is one."""
        return x if self.embed_positions is None else x + self.embed_positions(position_ids)

    def _single_layers(self) -> list[Any]:
        first = self.layers[0]
        if isinstance(first, nn.RNNBase) and first.num_layers > 1:
            return [one_layer(first, layer) for layer in range(first.num_layers)]
        return list(self.layers)


def document_mask(config: RowConfig, document_ids: Tensor) -> Tensor:
    """Return (R, N, N) bool, True where the query (row) may read the key (column). Pads neither read nor are read."""
    query, key = document_ids.unsqueeze(2), document_ids.unsqueeze(1)
    mask = (query == key) & (query >= 0) if config.isolate else (query >= 0) & (key >= 0)
    return mask.tril() if config.causal else mask


def border_lengths(document_ids: Tensor, *, isolate: bool) -> list[int]:
    """Return the lengths of the documents of a row without pads (N,), or, if they are not kept apart, of all as one."""
    if not isolate:
        return [len(document_ids)]
    lengths: list[int] = torch.unique_consecutive(document_ids, return_counts=True)[1].tolist()
    return lengths


def _recur(layer: nn.Module, x: Tensor, lengths: list[int]) -> Tensor:
    """Run an RNN, GRU or LSTM over each document of B rows (B, N, E), as one PackedSequence."""
    if len(lengths) == 1:  # not packed: the gradient of 48 packed steps takes 2 to 3 times as long
        whole: Tensor = layer(x)[0]
        return whole
    packed = pack_sequence(split(torch.arange(x.size(1), device="cpu"), lengths), enforce_sorted=False)  # of one row
    data = x.transpose(0, 1)[packed.data].flatten(0, 1)  # (N*B, E): the B rows side by side
    output, _ = layer(PackedSequence(data, packed.batch_sizes * len(x)))
    by_row: Tensor = output.data.view(x.size(1), len(x), -1)
    return by_row[packed.data.argsort()].transpose(0, 1)


def _convolve(layer: nn.Conv1d, x: Tensor, lengths: list[int]) -> Tensor:
    """Run a causal convolution over each document of B rows (B, N, E), with k - 1 zeros between two documents."""
    gaps = (layer.kernel_size[0] - 1) * torch.arange(len(lengths), device="cpu")
    columns = torch.arange(x.size(1), device="cpu") + gaps.repeat_interleave(torch.tensor(lengths, device="cpu"))
    spread = x.new_zeros(len(x), x.size(2), int(columns[-1]) + 1).index_copy(2, columns, x.transpose(1, 2))
    output: Tensor = layer(spread)[..., columns]
    return output.transpose(1, 2)


def split(row: Tensor, lengths: Sequence[int]) -> list[Tensor]:
    """Return the parts of a row (N, ...) that have these lengths."""
    return list(torch.split(row, list(lengths)))
