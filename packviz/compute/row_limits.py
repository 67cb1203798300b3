"""Limits of a run over rows in the app; the library itself has none."""

from dataclasses import asdict

from packviz.compute.fill import Rows, fill_rows
from packviz.compute.rows import ids_of
from packviz.errors import PackvizError
from packviz.inputs.batch import Batch
from packviz.inputs.limits import LIMITS, Limits, check_batch, check_row_settings, check_table
from packviz.inputs.row_config import RowConfig

__all__ = ["check_row_limits", "check_row_sizes"]


def check_row_limits(batch: Batch, config: RowConfig, limits: Limits = LIMITS) -> None:
    """Check a batch, its settings and its rows before the run; raises PackvizError if a limit is exceeded."""
    check_batch(batch, limits)
    check_row_sizes(batch, config, limits)


def check_row_sizes(batch: Batch, config: RowConfig, limits: Limits = LIMITS) -> None:
    """Check the settings and the rows alone: a batch of our own may have more sequences than a typed one."""
    check_row_settings(asdict(config), limits)
    check_table(batch, config.embedding_dim, limits)
    rows = fill_rows(batch.lengths, config.max_length, config.strategy)
    if limits.max_length < rows.max_length:
        expected, got = f"at most {limits.max_length} cells in a row", f"one row for all {rows.max_length:,} tokens"
        raise PackvizError("max_length", expected=expected, got=got, fix="set max_length to have several rows")
    if limits.rows < len(rows.rows):
        expected, got = f"at most {limits.rows} rows", f"{len(rows.rows):,} of {rows.max_length} cells"
        raise PackvizError("max_length", expected=expected, got=got, fix="choose a larger max_length, or type less")
    _check_scores(batch, rows, limits)


def _check_scores(batch: Batch, rows: Rows, limits: Limits) -> None:
    """Check the size of the logits, (R, C, V): each cell has a score for every id."""
    R, C, V = len(rows.rows), rows.max_length, ids_of(batch) or 0
    if limits.scores < R * C * V:
        expected = f"rows * cells * ids of at most {limits.scores:,} in the app, a score for each id in every cell"
        got, fix = f"{R} * {C} * {V:,}", "use smaller ids, or type less"
        raise PackvizError("text", expected=expected, got=got, fix=fix)
