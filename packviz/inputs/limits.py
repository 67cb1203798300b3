"""Limits of a run in the app, where many visitors share one process; the library itself has none.

Every way to a run in the app checks these where the computation starts: `limited_batch` reads the text, and
`check_limits` compares the batch and the settings before anything is computed. So a value that comes by a link, over
the socket, in a class question or in a saved plan is refused like one that was typed into a field.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass

from packviz.errors import PackvizError
from packviz.inputs.batch import Batch, ReadAs
from packviz.inputs.config import Config
from packviz.validate import integer

__all__ = ["LIMITS", "Limits", "check_limits", "check_settings", "limited_batch"]

_FIX = "choose a smaller one, or use packviz in Python, which has no such limit"


@dataclass(frozen=True)
class Limits:
    """The largest batch and the largest settings that a shared process computes.

    characters      of the text
    sequences       B
    steps           T, of each sequence
    features        F, of each step, in a batch of vectors
    hidden_size, num_layers, embedding_dim, padding_idx, total_length
                    the settings of these names
    table           numbers in the embedding: (largest id + 1) * embedding_dim
    """

    characters: int = 100_000
    sequences: int = 64
    steps: int = 64
    features: int = 64
    hidden_size: int = 64
    num_layers: int = 4
    embedding_dim: int = 32
    padding_idx: int = 4096
    total_length: int = 256
    table: int = 2_000_000


LIMITS = Limits()
_OF_SETTINGS = ("hidden_size", "num_layers", "embedding_dim", "padding_idx", "total_length")


def limited_batch(text: str, kind: ReadAs = "auto", limits: Limits = LIMITS) -> Batch:
    """Read a batch from a text, as `Batch.parse` does; raises PackvizError if it exceeds the limits."""
    if not isinstance(text, str):
        return Batch.parse(text, kind=kind)  # it refuses this
    _at_most("characters", len(text), limits.characters)
    batch = Batch.parse(text, kind=kind, max_sequences=limits.sequences, max_steps=limits.steps)
    _check_batch(batch, limits)
    return batch


def check_limits(batch: Batch, config: Config, limits: Limits = LIMITS) -> None:
    """Check a batch and its settings against the limits, before the run; raises PackvizError if one is exceeded."""
    _check_batch(batch, limits)
    check_settings(asdict(config), limits)
    if batch.kind == "vectors" or (E := config.embedding_for(batch.kind)) is None:
        return
    largest = max(float(sequence.max()) for sequence in batch.sequences)
    if (largest + 1) * E > limits.table:
        expected, got = (
            f"an embedding of at most {limits.table:,} numbers",
            f"ids up to {largest:,.0f}, {E} numbers each",
        )
        fix = "use smaller ids or a smaller embedding_dim, or use packviz in Python, which allows more"
        raise PackvizError("embedding_dim", expected=expected, got=got, fix=fix)


def check_settings(settings: Mapping[str, object], limits: Limits = LIMITS) -> None:
    """Check settings, by their names in a Config; raises PackvizError for one that is no integer or too large.

    Use it alone where there is no batch yet, or where a Config is not made.
    """
    for name in _OF_SETTINGS:
        if settings.get(name) is not None:
            integer(name, settings[name], 0, getattr(limits, name), fix=_FIX)


def _check_batch(batch: Batch, limits: Limits) -> None:
    _at_most("sequences", len(batch.sequences), limits.sequences)
    _at_most("steps in each sequence", max(map(len, batch.sequences)), limits.steps)
    if batch.kind == "vectors":
        _at_most("features in each step", batch.sequences[0].shape[1], limits.features)


def _at_most(what: str, count: int, most: int) -> None:
    if count > most:
        fix = "give fewer, or use packviz.Batch.parse in Python, which has no such limit"
        raise PackvizError("text", expected=f"at most {most:,} {what}", got=f"{count:,}", fix=fix)
