"""Random batches of every kind with random settings, each known by its seed, and what torch makes of them."""

import json
import random
from dataclasses import dataclass
from types import NoneType
from typing import Any, Literal, get_args, get_origin

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence
from trace_cases import torch_run

from packviz.inputs.batch import Batch
from packviz.inputs.cell_kinds import Cell
from packviz.inputs.config import Config

__all__ = ["Run", "random_run", "random_settings", "torchs", "values"]

KINDS = ("words", "ids", "decimals", "vectors", "float64", "float64 vectors", "int64")
WORDS = ("on", "your", "mark", "Ωmega", "世界", "שלום", "naïve", "🙂")


@dataclass(frozen=True)
class Run:
    """A batch of one of the KINDS, its settings, and the text of each token in a table, "" for a vector."""

    kind: str
    batch: Batch
    config: Config
    texts: list[list[str]]

    @property
    def lengths(self) -> list[int]:
        return [len(row) for row in self.texts]

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
    texts = [
        ["" if "vectors" in kind else token if kind == "words" else f"{token:.6g}" for token in row] for row in rows
    ]
    if kind.startswith(("float64", "int64")):
        batch = Batch.from_tensors([torch.tensor(row, dtype=getattr(torch, kind.split()[0])) for row in rows])
    elif kind == "vectors":
        batch = Batch.parse(json.dumps(rows))
    else:
        batch = Batch.parse("\n".join(map(" ".join, texts)), kind="words" if kind == "words" else "numbers")
    return Run(kind, batch, Config(**settings), texts)


def random_settings(draw: random.Random, seed: int) -> dict[str, Any]:
    return {
        "cell": draw.choice(get_args(Cell)),
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


def values(hint: Any) -> tuple[object, ...]:
    """Return values of a setting of this type, each of which must have an effect of its own."""
    kinds = get_args(hint)
    if get_origin(hint) is Literal:
        return kinds
    if NoneType in kinds:
        return (None, 8)
    known: dict[Any, tuple[object, ...]] = {bool: (False, True), int: (1, 2), float: (0.0, -1.0)}
    return known[hint]


def random_token(draw: random.Random, kind: str, F: int) -> Any:
    if kind == "words":
        return draw.choice(WORDS)
    if kind == "ids":
        return draw.randint(0, 9)
    if kind == "int64":
        return draw.randint(-(2**40), 2**40)
    number = draw.uniform(-9, 9) * 10 ** draw.randint(-9, 3)
    return [draw.gauss(0, 1) for _ in range(F)] if "vectors" in kind else float(f"{number:.6g}")


def torchs(run: Run) -> dict[str, Tensor]:
    """Do what trace() promises to do, as a reader of PyTorch's documentation would write it down."""
    config, sequences = run.config, list(run.batch.sequences)
    float64 = sequences[0].dtype == torch.float64 and not run.embedded
    dtype = torch.float64 if float64 else torch.float32
    torch.manual_seed(config.seed)
    rows = [row if row.dim() == 2 else row.unsqueeze(-1) for row in sequences]
    F = (config.embedding_dim or 4) if run.embedded else rows[0].size(1)
    cell = getattr(nn, config.cell.upper())
    names = ("bias", "batch_first", "bidirectional", *(["nonlinearity"] if config.cell == "rnn" else []))
    settings = {name: getattr(config, name) for name in names}
    module = cell(F, config.hidden_size, config.num_layers, dtype=dtype, **settings)
    if run.embedded:
        pad = config.padding_idx or 0
        highest = max(pad, *(int(ids.max()) for ids in sequences))
        embedding = nn.Embedding(highest + 1, F, padding_idx=config.padding_idx)
        ids = pad_sequence([ids.long() for ids in sequences], config.batch_first, pad, config.padding_side)
        x = embedding(ids).detach()
    else:
        x = pad_sequence([row.to(dtype) for row in rows], config.batch_first, config.padding_value, config.padding_side)
    hx = initial_state(config, len(sequences), dtype)
    lengths = torch.tensor([len(sequence) for sequence in sequences])
    packed = pack_padded_sequence(x, lengths, config.batch_first, config.enforce_sorted)
    if config.initial_state == "carried":
        hx = torch_run(module, packed, None)[1]
    output, (h_n, *_) = torch_run(module, packed, hx if config.cell == "lstm" else hx[0])
    unpacked, _ = pad_packed_sequence(output, config.batch_first, config.padding_value, config.total_length)
    return {"x": x, "data": packed.data, "h_0": hx[0], "output": output.data, "h_n": h_n, "unpacked": unpacked}


def initial_state(config: Config, B: int, dtype: torch.dtype) -> tuple[Tensor, ...]:
    """Return h_0, and for an LSTM c_0, (L*D, B, H) each, as torch draws them after the module's weights."""
    slots, H = config.num_layers * (2 if config.bidirectional else 1), config.hidden_size
    count = 2 if config.cell == "lstm" else 1
    if config.initial_state in ("zeros", "carried"):
        return (torch.zeros(slots, B, H, dtype=dtype),) * count
    if config.initial_state == "random":
        return tuple(torch.randn(slots, B, H, dtype=dtype) for _ in range(count))
    learned = [torch.randn(slots, 1, H, dtype=dtype) * 0.1 for _ in range(count)]
    return tuple(state.expand(slots, B, H).contiguous() for state in learned)
