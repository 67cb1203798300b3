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
from packviz.inputs.parsing import STEPS
from packviz.validate import integer

__all__ = ["LIMITS", "Limits", "check_batch", "check_limits", "check_products", "check_row_settings", "check_settings"]
__all__ += ["check_table", "limited_batch"]

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
    products        B * T * H² * L * D, products of a state and a weight at every cell: the gradients of a padded and a
                    packed LSTM together take most of a second
    table           numbers in the embedding: (largest id + 1) * embedding_dim
    scores          numbers in the logits of a run over rows: R * C * V
    rows            R, in which a batch is put
    max_length      C, the cells of a row: the influence in 96 takes about 0.1 s of processor time in float64 with two
                    layers of E = 16, with an LSTM as with attention of 4 heads
    num_heads, kernel_size
                    settings of a run over rows, of these names
    row_num_layers, row_embedding_dim
                    its num_layers and embedding_dim
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
    products: int = 34_000_000
    table: int = 2_000_000
    scores: int = 4_000_000
    rows: int = 64
    max_length: int = 96
    num_heads: int = 4
    kernel_size: int = 16
    row_num_layers: int = 2
    row_embedding_dim: int = 16


LIMITS = Limits()
# By the name of a setting in a Config or in a RowConfig, the limit that is for it.
_OF_SETTINGS = {
    "hidden_size": "hidden_size",
    "num_layers": "num_layers",
    "total_length": "total_length",
    "embedding_dim": "embedding_dim",
    "padding_idx": "padding_idx",
}
_OF_ROWS = {
    "max_length": "max_length",
    "num_layers": "row_num_layers",
    "num_heads": "num_heads",
    "embedding_dim": "row_embedding_dim",
    "kernel_size": "kernel_size",
}


def limited_batch(text: str, kind: ReadAs = "auto", limits: Limits = LIMITS) -> Batch:
    """Read a batch from a text, as `Batch.parse` does; raises PackvizError if it exceeds the limits."""
    if not isinstance(text, str):
        return Batch.parse(text, kind=kind)  # it refuses this
    _at_most("characters", len(text), limits.characters)
    batch = Batch.parse(text, kind=kind, max_sequences=limits.sequences, max_steps=limits.steps)
    check_batch(batch, limits)
    return batch


def check_limits(batch: Batch, config: Config, limits: Limits = LIMITS) -> None:
    """Check a batch and its settings against the limits, before the run; raises PackvizError if one is exceeded."""
    check_batch(batch, limits)
    check_settings(asdict(config), limits)
    check_products(batch, config, limits)
    if (E := config.embedding_for(batch.kind)) is not None:
        check_table(batch, E, limits)


def check_row_settings(settings: Mapping[str, object], limits: Limits = LIMITS) -> None:
    """Check settings, by their names in a RowConfig; raises PackvizError for one too large or not an integer."""
    _check_integers(settings, _OF_ROWS, limits)


def check_settings(settings: Mapping[str, object], limits: Limits = LIMITS) -> None:
    """Check settings, by their names in a Config; raises PackvizError for one that is too large or not an integer.

    Use it alone if there is no batch yet, or if a Config is not made.
    """
    _check_integers(settings, _OF_SETTINGS, limits)


def _check_integers(settings: Mapping[str, object], names: Mapping[str, str], limits: Limits) -> None:
    """Check settings against the limits of these names."""
    for name, limit in names.items():
        if settings.get(name) is not None:
            integer(name, settings[name], 0, getattr(limits, limit), fix=_FIX)


def check_products(batch: Batch, config: Config, limits: Limits = LIMITS) -> None:
    """Check what a run and its gradients cost; raises PackvizError if that is too much."""
    B, T, H, L = len(batch.lengths), int(batch.lengths.max()), config.hidden_size, config.num_layers
    D = 2 if config.bidirectional else 1
    if limits.products < B * T * H**2 * L * D:
        most = f"of at most {limits.products:,} in the app"
        expected = f"sequences * steps * hidden_size² * num_layers * directions {most}"
        fix = "choose a smaller hidden_size or fewer layers, or type less"
        raise PackvizError("hidden_size", expected=expected, got=f"{B} * {T} * {H}² * {L} * {D}", fix=fix)


def check_table(batch: Batch, E: int, limits: Limits = LIMITS) -> None:
    """Check the size of the embedding; raises PackvizError if it is too large. E: numbers for each id."""
    if batch.kind == "vectors":
        return
    largest = max(float(sequence.max()) for sequence in batch.sequences)
    if (largest + 1) * E > limits.table:
        expected = f"an embedding of at most {limits.table:,} numbers"
        got = f"ids up to {largest:,.0f}, {E} numbers each"
        fix = "use smaller ids or a smaller embedding_dim, or use packviz in Python, which allows more"
        raise PackvizError("embedding_dim", expected=expected, got=got, fix=fix)


def check_batch(batch: Batch, limits: Limits = LIMITS) -> None:
    """Check the size of a batch; raises PackvizError if it is too large."""
    _at_most("sequences", len(batch.sequences), limits.sequences)
    _at_most(f"{STEPS[batch.kind]}s in each sequence", max(map(len, batch.sequences)), limits.steps)
    if batch.kind == "vectors":
        _at_most("features in each step", batch.sequences[0].shape[1], limits.features)


def _at_most(what: str, count: int, most: int) -> None:
    if count > most:
        fix = "remove some, or use packviz.Batch.parse in Python, which has no such limit"
        raise PackvizError("text", expected=f"at most {most:,} {what}", got=f"{count:,}", fix=fix)
