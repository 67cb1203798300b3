"""Random runs over rows, each known by its seed."""

import random
from typing import Any, get_args

import torch

from packviz import Batch, RowConfig, RowsTrace, trace_rows
from packviz.inputs.row_config import STRATEGIES, RowLayer

__all__ = ["LAYERS", "cross", "random_rows", "typed"]

LAYERS = get_args(RowLayer)


def typed(draw: random.Random) -> Batch:
    lengths = [draw.randint(1, draw.choice((1, 4, 8))) for _ in range(draw.randint(1, 5))]
    kind = draw.choice(("words", "ids", "numbers", "vectors"))
    if kind == "words":
        return Batch.parse("\n".join(" ".join(draw.choice("abcdefg") for _ in range(n)) for n in lengths), kind="words")
    if kind == "ids":
        return Batch.from_tensors([torch.tensor([draw.randint(0, 9) for _ in range(n)]) for n in lengths])
    if kind == "numbers":
        return Batch.from_tensors([torch.tensor([draw.uniform(-2, 2) for _ in range(n)]) for n in lengths])
    F = draw.choice((1, 3))
    return Batch.from_tensors([torch.tensor([[draw.gauss(0, 1) for _ in range(F)] for _ in range(n)]) for n in lengths])


def random_rows(seed: int, **settings: Any) -> RowsTrace:
    draw = random.Random(seed)
    batch = typed(draw)
    heads = draw.choice((1, 2, 4))
    chosen = {
        "max_length": draw.choice((None, 1, 3, 8, 20)),
        "strategy": draw.choice(STRATEGIES),
        "layer": draw.choice(LAYERS),
        "num_layers": draw.choice((1, 1, 2, 3)),
        "num_heads": heads,
        "embedding_dim": heads * draw.choice((2, 4)),
        "kernel_size": draw.choice((1, 2, 4, 9)),
        "positions": draw.choice(("learned", "rope", "none")),
        "reset_positions": draw.random() < 0.5,
        "isolate": draw.random() < 0.5,
        "causal": draw.random() < 0.7,
        "shift_labels": draw.choice(("document", "row")),
        "dtype": draw.choice(("float32", "float64")),
        "seed": draw.randrange(1000),
    }
    return trace_rows(batch, RowConfig(**{**chosen, **settings}))


def cross(r: RowsTrace) -> torch.Tensor:
    """Return (R, C, C): True where query and key belong to two documents of a row."""
    query, key = r.document_ids.unsqueeze(2), r.document_ids.unsqueeze(1)
    return (query != key) & (query >= 0) & (key >= 0)
