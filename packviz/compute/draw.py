"""What is drawn from the seed of a Config: embedding, module and initial state."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from packviz.compute.weights import drawn, generator_of
from packviz.errors import PackvizError
from packviz.inputs.batch import Batch
from packviz.inputs.cell_kinds import CELL_KINDS
from packviz.inputs.config import Config
from packviz.inputs.module import state_shapes, states_of, weight_dtype, zero_state
from packviz.text import Brief

MAX_WEIGHTS = 100_000_000  # 400 MB in float32
MAX_EMBEDDING_WEIGHTS = 10_000_000


@dataclass(frozen=True, eq=False, repr=False)
class Drawn(Brief):
    """What is drawn from the seed: embedding (or None), module, h_0 (L*D, B, H) and c_0 (LSTM, else None).

    If the initial state is carried over, h_0 and c_0 are the zeros that the previous batch starts from.
    """

    embedding: nn.Embedding | None
    module: nn.RNNBase
    h_0: Tensor
    c_0: Tensor | None


def draw(batch: Batch, config: Config) -> Drawn:
    """Draw module, embedding and initial state, in this order, so that a plain script gets the same numbers.

    The embedding comes after the module, whose weights a new word then leaves as they are.

    The weights are float64 if the batch is, else float32; the module is in eval mode. Raises PackvizError if the
    embedding or the module would be too large, ids are invalid, or an embedding makes no sense.
    """
    dtype = torch.float64 if batch.sequences[0].dtype == torch.float64 else torch.float32
    E = config.embedding_for(batch.kind)
    table = None if E is None else _table_shape(batch, config, E)
    F = E if E is not None else batch.sequences[0].size(1) if batch.kind == "vectors" else 1
    kind, H, D = CELL_KINDS[config.cell], config.hidden_size, 2 if config.bidirectional else 1
    if (weights := kind.weights(F, H, config.num_layers, D)) > MAX_WEIGHTS:
        expected = f"a module of at most {MAX_WEIGHTS:,} weights"
        got = f"{_rounded(H)}, which makes {_rounded(weights)}"
        raise PackvizError("hidden_size", expected=expected, got=got, fix="choose a smaller hidden_size")
    settings = {name: getattr(config, name) for name in ("bias", "batch_first", "bidirectional", "nonlinearity")}
    generator, embedding = generator_of(config.seed), None
    sizes = (F, config.hidden_size, config.num_layers)
    module = drawn(kind.build, *sizes, **settings, dtype=dtype, generator=generator).eval()
    if table is not None:
        embedding = drawn(nn.Embedding, *table, config.padding_idx, dtype=dtype, generator=generator)
    return Drawn(embedding, module, *_initial_state(module, config, len(batch.sequences), generator))


def _initial_state(
    module: nn.RNNBase, config: Config, B: int, generator: torch.Generator
) -> tuple[Tensor, Tensor | None]:
    dtype = weight_dtype(module)
    if config.initial_state in ("zeros", "carried"):
        return zero_state(module, B, dtype)
    rows = B if config.initial_state == "random" else 1
    shapes = state_shapes(module, rows)
    states = [torch.randn(shape, dtype=dtype, device="cpu", generator=generator) for shape in shapes]
    if config.initial_state == "learned":  # one state for every sequence
        states = [(state * 0.1).expand(-1, B, -1).contiguous() for state in states]
    return states_of(states)


def _table_shape(batch: Batch, config: Config, E: int) -> tuple[int, int]:
    """Return (V, E); V is one more than the highest id."""
    highest = len(batch.vocabulary) - 1
    if batch.kind == "numbers":
        for b, sequence in enumerate(batch.sequences):
            for t, value in enumerate(sequence.tolist(), 1):
                if value < 0 or value != int(value):
                    expected = "integers of at least 0, because an embedding looks up rows of a table"
                    got = f"{value:g} in sequence {batch.label(b)}, step {t}"
                    fix = "leave embedding_dim out and let the numbers enter the cell as they are"
                    raise PackvizError("embedding_dim", expected=expected, got=got, fix=fix)
        highest = max(int(sequence.max()) for sequence in batch.sequences)
    V = max(highest, config.pad_id) + 1
    if V * E > MAX_EMBEDDING_WEIGHTS:
        expected = f"an embedding of at most {MAX_EMBEDDING_WEIGHTS:,} numbers"
        got = f"ids up to {_rounded(V - 1)} and {_rounded(E)} numbers each, {_rounded(V * E)} in all"
        fix = "use smaller ids, or a smaller embedding_dim"
        raise PackvizError("embedding_dim", expected=expected, got=got, fix=fix)
    return V, E


def _rounded(number: int) -> str:
    return f"{number:,}" if number < 10**15 else f"about 10^{int(math.log10(number))}"
