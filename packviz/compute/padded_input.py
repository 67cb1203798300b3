"""The padded grid that a run starts from: padded from a Batch, or read from what trace_module() was given."""

from __future__ import annotations

import torch
from torch.nn.utils.rnn import PackedSequence, pad_packed_sequence

from packviz.compute.draw import Parts
from packviz.compute.padding import Padded, pad, read_padded
from packviz.errors import PackvizError
from packviz.inputs.batch import Batch
from packviz.inputs.config import Config
from packviz.rules import Case, grid_of, lengths_of, packed_of
from packviz.rules.evidence import described

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


def read_input(case: Case) -> tuple[Padded, PackedSequence | None]:
    """Return the grid of a padded x and its lengths, or of a PackedSequence, and a copy of the latter.

    Raises PackvizError for whatever torch would refuse, take silently, or crash on.
    """
    if case.packed is not None:
        if case.lengths is not None:
            came, mend = described(case.lengths), "leave lengths out, or give the padded tensor"
            raise PackvizError("lengths", expected="None beside a PackedSequence", came=came, mend=mend)
        given = packed_of(case)
        return read_padded(*pad_packed_sequence(given, case.batch_first), batch_first=case.batch_first), given
    x = grid_of(case)
    B, T = x.shape[:2] if case.batch_first else (x.size(1), x.size(0))
    return read_padded(x, lengths_of(case, B, T), batch_first=case.batch_first), None
