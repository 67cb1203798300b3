"""trace_rows(): a batch put into rows, and one layer after another run over them, beside each document alone."""

from dataclasses import replace
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from packviz.compute.determinism import exact_arithmetic
from packviz.compute.draw import MAX_EMBEDDING_WEIGHTS, MAX_WEIGHTS
from packviz.compute.fill import Rows, fill_rows
from packviz.compute.row_layers import AttentionLayer, RowLayerOutput
from packviz.compute.row_model import Attention, RowModel, document_mask
from packviz.compute.row_record import RowsRun, RowsTrace
from packviz.errors import PackvizError
from packviz.inputs.batch import Batch
from packviz.inputs.documents import NO_LABEL, position_ids_of, seq_idx_of
from packviz.inputs.row_config import RowConfig
from packviz.rules.preconditions import check_kind

__all__ = ["RowsRun", "RowsTrace", "ids_of", "rerun", "trace_rows"]

MAX_PAIRS = 500_000_000  # of a query and a key, in all rows: 2 GB in float32


def trace_rows(batch: Batch, config: RowConfig | None = None) -> RowsTrace:
    """Put a batch into rows, run the model over each row, and record every layer.

    Words and integers of at least 0 are ids. Other numbers, and vectors, enter through a linear layer instead of an
    embedding, and have no labels: -100 everywhere, losses of 0, and means that are NaN, as in torch.
    Raises PackvizError for settings that do not fit the batch. torch's random state is left unchanged.
    """
    config = RowConfig() if config is None else config
    check_kind("batch", batch, Batch, 'read one with Batch.parse("1 2 3\\n4 5") or Batch.from_tensors')
    check_kind("config", config, RowConfig, 'make one with RowConfig(layer="attention")')
    rows = fill_rows(batch.lengths, config.max_length, config.strategy)
    tokens, V = _tokens(batch, config)
    _check_sizes(rows, config, V)
    with exact_arithmetic():
        model = RowModel(config, rows.max_length, V=V, features=tokens[0].size(-1) if V is None else 1)
        inputs = _in_rows(rows, tokens)  # (R, C), or (R, C, F)
        document_ids = torch.stack([seq_idx_of(lengths, rows.max_length) for lengths in rows.lengths])
        position_ids = _positions(rows, reset=config.reset_positions)
        x = model.located(model.embed(inputs), position_ids)  # (R, C, E)
        outputs = _outputs(rows, model, inputs, position_ids, document_ids)
        mask = document_mask(config, document_ids) if config.layer == "attention" else None
        return RowsTrace(
            batch=batch,
            config=config,
            rows=rows,
            inputs=inputs,
            position_ids=position_ids,
            document_ids=document_ids,
            labels=_labels(inputs, document_ids, config) if V else torch.full_like(document_ids, NO_LABEL),
            mask=mask,
            layers=_recorded(model, x, position_ids, mask, outputs),
            model=model,
            logits=None if model.head is None else model.head(outputs[-1]),
        )


def rerun(run: RowsRun, row: int, **settings: Any) -> RowsRun:
    """Return a run over one row of a run, with the same seed, with other settings of the model.

    It holds the outputs of the layers alone, without what attention recorded, and so takes less time than trace_rows.
    Raises IndexError for a row that the run does not have.
    """
    config, rows = replace(run.config, **settings), Rows((run.rows.rows[row],), (), run.rows.max_length)
    inputs, document_ids = run.inputs[row].unsqueeze(0), run.document_ids[row].unsqueeze(0)
    V = None if run.model.head is None else run.model.head.out_features
    with exact_arithmetic():
        model = RowModel(config, rows.max_length, V=V, features=inputs.size(-1) if V is None else 1)
        position_ids = _positions(rows, reset=config.reset_positions)
        outputs = _outputs(rows, model, inputs, position_ids, document_ids)
    return RowsRun(
        config=config,
        rows=rows,
        inputs=inputs,
        position_ids=position_ids,
        document_ids=document_ids,
        layers=tuple(map(RowLayerOutput, outputs)),
        model=model,
    )


def _positions(rows: Rows, *, reset: bool) -> Tensor:
    """Return (R, C) int64: the positions, which start again in each document or run on; 0 at pads."""
    return torch.stack([position_ids_of(row if reset else [sum(row)], rows.max_length) for row in rows.lengths])


def _outputs(rows: Rows, model: RowModel, inputs: Tensor, position_ids: Tensor, document_ids: Tensor) -> list[Tensor]:
    """Return the output of each layer, (R, C, E), 0 at pads: the model runs over each row without its pads."""
    found = []
    for row, lengths in enumerate(rows.lengths):
        at, n = slice(row, row + 1), sum(lengths)
        outputs = model.outputs(model.embed(inputs[at, :n]), position_ids[at, :n], document_ids[at, :n])
        found.append([F.pad(output, (0, 0, 0, rows.max_length - n)) for output in outputs])
    return [torch.cat(layer) for layer in zip(*found, strict=True)]


def ids_of(batch: Batch) -> int | None:
    """Return V, the number of ids: of the words, or up to the largest integer; None if the tokens are not ids."""
    if batch.kind == "words":
        return len(batch.vocabulary)
    flat = torch.cat([sequence.cpu() for sequence in batch.sequences])
    ids = batch.kind == "numbers" and bool(((flat >= 0) & (flat == flat.round())).all())
    return int(flat.max()) + 1 if ids else None


def _tokens(batch: Batch, config: RowConfig) -> tuple[list[Tensor], int | None]:
    """Return the sequences as ids (length,) int64, with V; or as values (length, F), with None."""
    sequences = [sequence.cpu() for sequence in batch.sequences]
    if (V := ids_of(batch)) is not None:
        return [sequence.to(torch.int64) for sequence in sequences], V
    dtype: torch.dtype = getattr(torch, config.dtype)
    return [(sequence if sequence.dim() == 2 else sequence.unsqueeze(1)).to(dtype) for sequence in sequences], None


def _check_sizes(rows: Rows, config: RowConfig, V: int | None) -> None:
    E, C = config.embedding_dim, rows.max_length
    if len(rows.rows) * C * C > MAX_PAIRS:
        expected = f"rows of at most {MAX_PAIRS:,} pairs of tokens in all"
        got = f"{len(rows.rows):,} rows of {C:,} cells"
        raise PackvizError("max_length", expected=expected, got=got, fix="choose a smaller max_length")
    if max(V or 0, C) * E > MAX_EMBEDDING_WEIGHTS:
        expected = f"embeddings of at most {MAX_EMBEDDING_WEIGHTS:,} numbers"
        got = f"{max(V or 0, C):,} ids or positions of {E:,} numbers each"
        fix = "use smaller ids, or a smaller embedding_dim"
        raise PackvizError("embedding_dim", expected=expected, got=got, fix=fix)
    if (weights := 8 * E * E * config.num_layers + E * config.kernel_size) > MAX_WEIGHTS:
        expected, got = f"a model of at most {MAX_WEIGHTS:,} weights", f"up to {weights:,}"
        raise PackvizError("embedding_dim", expected=expected, got=got, fix="choose a smaller embedding_dim")


def _in_rows(rows: Rows, tokens: list[Tensor]) -> Tensor:
    """Return the tokens in rows, (R, C) or (R, C, F), 0 at pads."""
    filled = [torch.cat([tokens[b][start:stop] for b, start, stop in row]) for row in rows.rows]
    padded = pad_sequence(filled, batch_first=True)
    return F.pad(padded, (*(0, 0) * (padded.dim() - 2), 0, rows.max_length - padded.size(1)))


def _labels(input_ids: Tensor, document_ids: Tensor, config: RowConfig) -> Tensor:
    """Return (R, C): the next token, of the same document or of the row; -100 if there is none."""
    document, following = document_ids[:, :-1], document_ids[:, 1:]
    has_next = (document == following) & (following >= 0) if config.shift_labels == "document" else following >= 0
    return F.pad(input_ids[:, 1:].masked_fill(~has_next, NO_LABEL), (0, 1), value=NO_LABEL)


def _recorded(
    model: RowModel, x: Tensor, position_ids: Tensor, mask: Tensor | None, outputs: list[Tensor]
) -> tuple[AttentionLayer | RowLayerOutput, ...]:
    """Return the record of each layer, from what enters the first one, x (R, C, E), and the outputs of all."""
    found = list[AttentionLayer | RowLayerOutput]()
    for number, output in enumerate(outputs):
        layer = model.layers[number] if mask is not None else None
        if mask is None or not isinstance(layer, Attention):
            found.append(RowLayerOutput(output))
            continue
        query, key, value = layer.heads(x, position_ids)
        scores = query @ key.transpose(2, 3) / query.size(-1) ** 0.5  # (R, heads, C, C)
        allowed = mask.unsqueeze(1)
        weights = scores.masked_fill(~allowed, -torch.inf).softmax(-1).masked_fill(~allowed, 0.0)
        found.append(AttentionLayer(output, query, key, value, scores, weights))
        x = output
    return tuple(found)
