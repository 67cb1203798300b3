"""The padded grid that a run starts from: padded from a Batch, or read from what trace_module() was given."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence, pad_packed_sequence

from packviz.batch import Batch
from packviz.checks import check_grid, check_lengths, check_no_lengths, check_packed_sequence
from packviz.config import Config
from packviz.modules import Parts
from packviz.stages.padding import Padded, pad, read_padded

__all__ = ["pad_batch", "read_input"]


def pad_batch(batch: Batch, config: Config, parts: Parts) -> Padded:
    """Pad the sequences of a batch, and embed them where there is an embedding.

    Without an embedding the pads are padding_value. With one they are ids, padding_idx or 0, and padding_value fills
    the unpacked output only.
    """
    table = None if parts.embedding is None else parts.embedding.weight.detach()
    dtype = parts.h_0.dtype if table is None else torch.int64
    return pad(
        [sequence.to("cpu", dtype) for sequence in batch.sequences],
        batch_first=config.batch_first,
        padding_value=config.padding_value if table is None else config.padding_idx or 0,
        padding_side=config.padding_side,
        embedding=table,
    )


def read_input(
    module: nn.RNNBase,
    x: Tensor | PackedSequence,
    lengths: Tensor | Sequence[int] | None,
    *,
    enforce_sorted: bool,
) -> tuple[Padded, PackedSequence | None]:
    """Return the grid of a padded x and its lengths, or of a PackedSequence, and a copy of the latter.

    Raises PackvizError for whatever torch would refuse, take silently, or crash on.
    """
    batch_first = module.batch_first
    if isinstance(x, PackedSequence):
        check_no_lengths(lengths)
        given = check_packed_sequence(x, module)
        return read_padded(*pad_packed_sequence(given, batch_first), batch_first=batch_first), given
    x = check_grid(x, module)
    B, T = x.shape[:2] if batch_first else (x.size(1), x.size(0))
    return read_padded(x, check_lengths(lengths, B, T, enforce_sorted=enforce_sorted), batch_first=batch_first), None
