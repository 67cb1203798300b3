"""Random batches of every kind with random settings, each known by its seed, and what stands in each of their cells."""

import json
import random
from dataclasses import dataclass
from typing import Any

import torch

from packviz.inputs.batch import Batch
from packviz.inputs.config import Config

__all__ = ["Run", "random_run", "reached"]

KINDS = ("words", "ids", "decimals", "vectors", "float64", "float64 vectors", "int64")
WORDS = ("on", "your", "mark", "get", "set", "go")


@dataclass(frozen=True)
class Run:
    """Hold a batch, its settings, and what it was made from.

    rows   rows[b][t]: the word, the number, or the vector
    texts  texts[b][t]: its text in a table, "" for a vector
    """

    batch: Batch
    config: Config
    rows: list[list[Any]]
    texts: list[list[str]]

    @property
    def lengths(self) -> list[int]:
        return [len(row) for row in self.rows]

    @property
    def embedded(self) -> bool:
        return self.batch.kind == "words" or self.config.embedding_dim is not None


def random_run(seed: int) -> Run:
    draw = random.Random(seed)
    kind, most = KINDS[seed % len(KINDS)], draw.choice((1, 4, 7))
    lengths = [draw.randint(1, most) for _ in range(draw.choice((1, 2, 3, 5, 30)))]
    settings = random_settings(draw, seed)
    if settings["enforce_sorted"]:
        lengths.sort(reverse=True)
    if draw.random() < 0.4:
        settings["total_length"] = max(lengths) + draw.randint(0, 3)
    if kind == "ids" or (kind == "words" and draw.random() < 0.5):
        settings["embedding_dim"] = draw.choice((1, 3, 8))
    if kind in ("ids", "words"):
        settings["padding_idx"] = draw.choice((None, 0, 3, 40))
    F = draw.choice((1, 2, 5))
    rows = [[random_token(draw, kind, F) for _ in range(length)] for length in lengths]
    texts = [["" if "vectors" in kind else told(token) for token in row] for row in rows]
    return Run(batch_of(kind, rows, texts), Config(**settings), rows, texts)


def reached(runs: list[Run]) -> dict[str, set[Any]]:
    """Return the values that each setting has in some of the runs."""
    return {name: {getattr(run.config, name) for run in runs} for name in vars(Config())}


def random_settings(draw: random.Random, seed: int) -> dict[str, Any]:
    return {
        "cell": draw.choice(("rnn", "gru", "lstm")),
        "nonlinearity": draw.choice(("tanh", "relu")),
        "hidden_size": draw.choice((1, 3, 8, 17)),
        "num_layers": draw.randint(1, 4),
        "bidirectional": draw.random() < 0.5,
        "bias": draw.random() < 0.7,
        "batch_first": draw.random() < 0.5,
        "enforce_sorted": draw.random() < 0.3,
        "padding_value": draw.choice((0.0, -0.0, -1.0, 0.1)),
        "padding_side": draw.choice(("right", "right", "left")),
        "initial_state": draw.choice(("zeros", "random", "learned", "carried")),
        "seed": draw.choice((0, 1, seed, 2**63 - 1)),
    }


def random_token(draw: random.Random, kind: str, F: int) -> Any:
    if kind == "words":
        return draw.choice(WORDS)
    if kind == "ids":
        return draw.randint(0, 9)
    if kind == "int64":
        return draw.randint(-(2**40), 2**40)
    number = draw.uniform(-9, 9) * 10 ** draw.randint(-9, 3)
    return [draw.gauss(0, 1) for _ in range(F)] if "vectors" in kind else float(f"{number:.6g}")


def told(token: str | float) -> str:
    return token if isinstance(token, str) else f"{token:.6g}"


def batch_of(kind: str, rows: list[list[Any]], texts: list[list[str]]) -> Batch:
    if kind.startswith(("float64", "int64")):
        return Batch.from_tensors([torch.tensor(row, dtype=getattr(torch, kind.split()[0])) for row in rows])
    if kind == "vectors":
        return Batch.parse(json.dumps(rows))
    return Batch.parse("\n".join(map(" ".join, texts)), kind="words" if kind == "words" else "numbers")
