"""A run over rows as a plain, self-contained PyTorch script to copy."""

import textwrap
from importlib.resources import files

import torch

from packviz.compute.fill import Row
from packviz.compute.row_record import RowsTrace
from packviz.inputs.cell_kinds import CELL_KINDS
from packviz.show.snippet import listing
from packviz.text import ENVIRONMENT

_SCRIPT = ENVIRONMENT.from_string(files("packviz.show").joinpath("row_script.txt").read_text("utf-8"))


def row_snippet(run: RowsTrace) -> str:
    """Return a script that makes the same numbers with PyTorch alone, up to rounding.

    It draws its weights in the run's order. Its results are `packed`, `row` and, with one entry for each row,
    `position_ids`, `seq_idx`, `cu_seqlens`, `outputs`, `single` (each document alone), `difference` and `influences`.
    Batches of more than 2,000 numbers are left for the reader to fill in.
    """
    config, E = run.config, run.config.embedding_dim
    dtype: torch.dtype = getattr(torch, config.dtype)
    typed = "" if dtype == torch.float32 else f", dtype={dtype}"
    if run.values is None:
        embed = f"nn.Embedding({run.model.embed_tokens.num_embeddings}, {E}{typed})"
    else:
        embed = f"nn.Linear({run.values.size(-1)}, {E}{typed})"
    k = config.kernel_size
    convolution = f"nn.Conv1d({E}, {E}, {k}, groups={E}, padding={k - 1}{typed})"
    return _SCRIPT.render(
        c=config,
        C=run.rows.max_length,
        rows=map(_literal, run.rows.rows),
        sequences=listing(
            run.batch,
            torch.int64 if run.values is None else dtype,
            column=run.values is not None and run.batch.kind != "vectors",
        ),
        embed=embed,
        learned=None if run.model.embed_positions is None else run.model.embed_positions.num_embeddings,
        head=None if run.model.head is None else f"nn.Linear({E}, {run.model.head.out_features}{typed})",
        recurrent=config.layer in CELL_KINDS,
        layer=convolution if config.layer == "conv" else f"nn.Linear({E}, {3 * E}{typed})",
        dtype=typed,
    )


def _literal(row: Row) -> str:
    """Return the pieces of a row as a list, on lines of at most 100 characters."""
    return "\n     ".join(textwrap.wrap(str(list(row)), 100, break_long_words=False))
