"""The traces that every study is held to: random ones by seed, and those made from text."""

import random
from functools import cache
from typing import Any

import torch
from seeds import seeds
from trace_cases import random_case, random_lengths

from packviz.compute.trace import Trace, trace, trace_module
from packviz.inputs.batch import Batch
from packviz.inputs.config import Config

__all__ = ["SEEDS", "made", "refused", "studied"]

SEEDS = seeds(20)
COUNTS = (1, 2, 3, 5, 17, 20, 40)


def made(text: str = "1 2 3\n4 5\n6 7 8 9", **settings: Any) -> Trace:
    return trace(Batch.parse(text), Config(**settings))


def refused() -> Trace:
    """Return a trace that ends after the padded grid: torch refuses its lengths."""
    return made("0\n2 3 0", enforce_sorted=True)


@cache
def studied(seed: int) -> Trace:
    """Return a trace that torch packed, the same for the same seed."""
    draw = random.Random(seed)
    torch.manual_seed(seed)
    if seed % 5 == 4:
        case = random_case(seed)
        if draw.random() < 0.3:
            return trace_module(case.module, case.packed, hx=case.hx)
        return trace_module(case.module, case.x, case.lengths, enforce_sorted=case.enforce_sorted, hx=case.hx)
    lengths = random_lengths(draw, draw.choice(COUNTS), draw.randint(1, 8))
    enforce_sorted = draw.random() < 0.3
    if enforce_sorted:
        lengths.sort(reverse=True)
    kind = ("words", "numbers", "embedded", "vectors")[seed % 5]
    embedded = {"padding_idx": draw.choice((None, 0, 2))} if kind in ("words", "embedded") else {}
    return trace(
        _batch(draw, kind, lengths),
        Config(
            cell=draw.choice(("rnn", "gru", "lstm")),
            hidden_size=draw.randint(1, 5),
            num_layers=draw.choice((1, 2)),
            bidirectional=draw.random() < 0.5,
            bias=draw.random() < 0.7,
            batch_first=draw.random() < 0.5,
            enforce_sorted=enforce_sorted,
            padding_value=draw.choice((0.0, 0.0, -1.0, 3.0)),
            padding_side=draw.choice(("right", "right", "left")),
            initial_state=draw.choice(("zeros", "random", "learned")),
            embedding_dim=draw.randint(1, 4) if embedded else None,
            seed=seed,
            **embedded,
        ),
    )


def _batch(draw: random.Random, kind: str, lengths: list[int]) -> Batch:
    if kind == "words":
        return Batch.parse("\n".join(" ".join(draw.choice("abcdef") for _ in range(n)) for n in lengths), kind="words")
    if kind == "embedded":
        return Batch.from_tensors([torch.randint(0, 5, (n,)) for n in lengths])
    dtype = draw.choice((torch.float32, torch.float64))
    shape = () if kind == "numbers" else (draw.randint(1, 3),)
    return Batch.from_tensors([torch.randint(-1, 4, (n, *shape)).to(dtype) for n in lengths])
