"""The record of a run over rows: rows, borders, every layer, each document alone, influence, losses."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import torch
import torch.nn.functional as F
from torch import Tensor

from packviz.compute import notebook
from packviz.compute.determinism import exact_arithmetic
from packviz.compute.fill import Rows
from packviz.compute.influence import influence
from packviz.compute.row_layers import RowLayerOutput
from packviz.compute.row_model import RowModel, split
from packviz.compute.row_proof import prove_rows
from packviz.inputs.batch import Batch
from packviz.inputs.documents import NO_LABEL, cu_seqlens_of
from packviz.inputs.row_config import RowConfig
from packviz.text import counted


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class RowsRun:
    """The outputs of a model for R rows of C cells. What is derived is computed when it is first asked for.

    config         the settings of the model
    rows           which tokens stand in which row
    inputs         what the model takes: ids (R, C) int64, or, if the tokens are no ids, numbers (R, C, F); 0 at pads
    position_ids   (R, C) int64, 0 at pads
    document_ids   (R, C) int64: the number of the piece in its row, -1 at pads
    layers         the output of each layer
    model          the nn.Module, called as model(inputs, position_ids, document_ids) with (1, N) each
    """

    config: RowConfig
    rows: Rows
    inputs: Tensor
    position_ids: Tensor
    document_ids: Tensor
    layers: tuple[RowLayerOutput, ...]
    model: RowModel

    def __repr__(self) -> str:
        R, C = self.document_ids.shape
        documents = counted(sum(map(len, self.rows.rows)), "document")
        return f"{type(self).__name__}({documents} in {counted(R, 'row')} of {C}, {self.config.layer})"

    @property
    def output(self) -> Tensor:
        """Return (R, C, E): the output of the last layer."""
        return self.layers[-1].output

    @cached_property
    def alone(self) -> tuple[tuple[Tensor, ...], ...]:
        """Return `alone[row][piece]`, (length, E): the output of the same model for that piece by itself, from 0."""
        return tuple(tuple(layers[-1] for layers in self.alone_in(row)) for row in range(len(self.inputs)))

    def alone_in(self, row: int) -> tuple[Tensor, ...]:
        """Return for each piece of a row the outputs of all layers for it by itself, (L, length, E)."""
        lengths, found = self.rows.lengths[row], list[Tensor]()
        with exact_arithmetic():
            for tokens in split(self.inputs[row, : sum(lengths)], lengths):
                positions = torch.arange(len(tokens), device="cpu").unsqueeze(0)
                x = self.model.embed(tokens.unsqueeze(0))
                found.append(torch.cat(self.model.outputs(x, positions, torch.zeros_like(positions))))
        return tuple(found)

    @cached_property
    def difference(self) -> tuple[tuple[Tensor, ...], ...]:
        """Return `difference[row][piece]`, (length,): the largest difference of each token's output from alone."""
        parts = [split(output[: sum(row)], row) for output, row in zip(self.output, self.rows.lengths, strict=True)]
        pairs = [zip(one, other, strict=True) for one, other in zip(parts, self.alone, strict=True)]
        return tuple(tuple((one - other).abs().amax(-1) for one, other in row) for row in pairs)

    @cached_property
    def influence(self) -> Tensor:
        """Return (R, C, C): how strongly output q (row) depends on input token k (column); 0.0 means not at all.

        It is the largest absolute number of the gradient of the sum of output q by the embedded token k.
        """
        return torch.stack([self.influence_in(row) for row in range(len(self.inputs))])

    def influence_in(self, row: int) -> Tensor:
        """Return (C, C): the influence in one row, a part of `influence`. Raises IndexError for other rows."""
        n = sum(self.rows.lengths[row])
        return F.pad(self.influence_on(row, range(n)), (0, 0, 0, self.rows.max_length - n))

    def influence_on(self, row: int, outputs: range) -> Tensor:
        """Return (outputs, C): the influence in one row on some outputs. Raises IndexError for other rows."""
        if (row, outputs) not in self._influence:
            self._influence[row, outputs] = self._influence_on(row, outputs)
        return self._influence[row, outputs]

    @cached_property
    def _influence(self) -> dict[tuple[int, range], Tensor]:
        """Return the influence by row and outputs: a movie and its questions ask for the same."""
        return {}

    def _influence_on(self, row: int, outputs: range) -> Tensor:
        causal = self.config.causal or self.config.layer != "attention"  # no output depends on a later token
        n = outputs.stop if causal else sum(self.rows.lengths[row])
        position_ids, document_ids = self.position_ids[row, :n], self.document_ids[row, :n]
        # NNPACK would take over convolutions of 16 rows and more: 11 times as long for 160 cells (kernel 16, E 16)
        with exact_arithmetic(), torch.backends.nnpack.flags(enabled=False):
            x = self.model.embed(self.inputs[row, :n].unsqueeze(0))
            found = influence(self.model.run, x, position_ids.unsqueeze(0), document_ids.unsqueeze(0), outputs)
        return F.pad(found, (0, self.rows.max_length - n))


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class RowsTrace(RowsRun):
    """One run over R rows of C cells. What is derived is computed when it is first asked for.

    batch, config  what trace_rows() was given
    rows           which tokens stand in which row
    input_ids      (R, C) int64, 0 at pads, and everywhere if the tokens are no ids
    values         (R, C, F): the tokens, if they are numbers or vectors; else None
    inputs         what the model takes: input_ids, or values
    position_ids   (R, C) int64, 0 at pads
    document_ids   (R, C) int64: the number of the piece in its row, -1 at pads
    labels         (R, C) int64: the id of the next token; -100 if there is none
    mask           (R, C, C) bool: True where the query (row) may read the key (column); None without attention
    layers         the record of each layer
    logits         (R, C, V): the scores of the next token; None without ids
    model          the nn.Module, called as model(inputs, position_ids, document_ids) with (1, N) each
    """

    batch: Batch
    labels: Tensor
    mask: Tensor | None
    logits: Tensor | None

    def _repr_html_(self) -> str | None:
        return notebook.shown(self)

    @property
    def input_ids(self) -> Tensor:
        """Return the inputs, (R, C) int64; 0 everywhere if the tokens are no ids."""
        return torch.zeros_like(self.document_ids) if self.logits is None else self.inputs

    @property
    def values(self) -> Tensor | None:
        """Return the inputs, (R, C, F), if the tokens are numbers or vectors; else None."""
        return self.inputs if self.logits is None else None

    @cached_property
    def cu_seqlens(self) -> tuple[Tensor, ...]:
        """Return for each row where its documents begin, and its number of tokens: (D + 1,) int32."""
        return tuple(map(cu_seqlens_of, self.rows.lengths))

    @property
    def max_seqlen(self) -> tuple[int, ...]:
        """Return for each row the length of its longest document."""
        return tuple(map(max, self.rows.lengths))

    @cached_property
    def losses(self) -> Tensor:
        """Return (R, C): the cross entropy of each token with its label; 0 without a label."""
        if self.logits is None:
            return torch.zeros_like(self.output[..., 0])
        return F.cross_entropy(self.logits.transpose(1, 2), self.labels, ignore_index=NO_LABEL, reduction="none")

    @cached_property
    def loss(self) -> dict[str, float]:
        """Return three means of the losses: over tokens, over documents and over rows (each one's mean first).

        A document, or row, without a label is left out (`unlabelled`). NaN if there is no label at all.
        """
        rows = list(zip(self.losses, self.labels != NO_LABEL, strict=True))
        documents = [
            part
            for (losses, labelled), lengths in zip(rows, self.rows.lengths, strict=True)
            for part in zip(
                split(losses[: sum(lengths)], lengths), split(labelled[: sum(lengths)], lengths), strict=True
            )
        ]
        tokens = [(self.losses, self.labels != NO_LABEL)]
        return {"tokens": _mean(tokens), "documents": _mean(documents), "rows": _mean(rows)}

    @cached_property
    def unlabelled(self) -> tuple[tuple[int, int], ...]:
        """Return (row, piece) of each document of which no token has a label: no mean of losses counts it."""
        places = ((row, piece) for row, lengths in enumerate(self.rows.lengths) for piece in range(len(lengths)))
        labelled = self.labels != NO_LABEL
        return tuple((row, d) for row, d in places if not labelled[row][self.document_ids[row] == d].any())

    @cached_property
    def proof(self) -> dict[str, float]:
        """Return, by name, the largest distance of the outputs from other implementations in torch that apply here.

        sdpa, flex, jagged   for attention: scaled_dot_product_attention with this mask, which the model runs, and
                             flex_attention, beside the recorded weights @ value; and a jagged tensor of the documents
                             if they are isolated and read later tokens, too
        rnn, gru, lstm       torch's own module, beside packviz's trace of it
        conv                 nn.Conv1d over the documents as one padded batch

        The outputs themselves are torch's, so that nothing else asks for this, and no picture waits for it: the first
        flex_attention of a process takes one to two seconds.
        """
        with exact_arithmetic():
            return prove_rows(self.model, self.inputs, self.document_ids, self.layers)


def _mean(groups: Iterable[tuple[Tensor, Tensor]]) -> float:
    """Return the mean of the groups' means; a group is losses and which of them have a label. NaN if none has."""
    means = [losses[labelled].mean() for losses, labelled in groups if labelled.any()]
    return float(torch.stack(means).mean()) if means else float("nan")
