"""The check of a run over rows: the same outputs by other implementations in torch."""

from collections.abc import Iterator, Sequence
from typing import cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_sequence, pad_sequence, unpad_sequence

from packviz.compute.row_layers import AttentionLayer, RowLayerOutput
from packviz.compute.row_model import RowModel, border_lengths, document_mask, joined_heads, split
from packviz.compute.trace import trace_module
from packviz.compute.verify import distance
from packviz.inputs.torch_answers import filtered


def prove_rows(
    model: RowModel,
    inputs: Tensor,
    document_ids: Tensor,
    layers: Sequence[RowLayerOutput],
) -> dict[str, float]:
    """Return, by the name of the implementation, its largest distance from the recorded outputs."""
    found: dict[str, float] = {}
    mask = document_mask(model.config, document_ids)
    for number, layer in enumerate(layers):
        if isinstance(layer, AttentionLayer):
            pairs = _of_attention(model, layer, mask, document_ids)
        else:
            pairs = _of_other(model, number, layers, inputs, document_ids)
        for name, ours, theirs in pairs:
            found[name] = max(found.get(name, 0.0), distance(ours, theirs))
    return found


def _of_attention(
    model: RowModel, layer: AttentionLayer, mask: Tensor, document_ids: Tensor
) -> Iterator[tuple[str, Tensor, Tensor]]:
    weighted = joined_heads(layer.weights @ layer.value)
    heads = layer.query, layer.key, layer.value
    yield "sdpa", weighted, joined_heads(F.scaled_dot_product_attention(*heads, mask.unsqueeze(1)))
    real = document_ids >= 0
    yield "flex", weighted[real], joined_heads(_flex(*heads, mask))[real]
    if model.config.isolate and not model.config.causal:
        lengths = [
            n for row, here in zip(document_ids, real, strict=True) for n in border_lengths(row[here], isolate=True)
        ]
        offsets = F.pad(torch.tensor(lengths, device="cpu").cumsum(0), (1, 0))
        output = _jagged(*heads, real, offsets)
        yield "jagged", weighted[real], output


def _jagged(query: Tensor, key: Tensor, value: Tensor, real: Tensor, offsets: Tensor) -> Tensor:
    """Return (N, E): attention inside each document, as jagged tensors; real (R, C) is False at pads."""
    with filtered("ignore"):  # it says that it is a prototype
        q, k, v = (
            torch.nested.nested_tensor_from_jagged(part.transpose(1, 2)[real], offsets).transpose(1, 2)
            for part in (query, key, value)
        )
        values: Tensor = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).values()
    return values.flatten(1)


def _flex(query: Tensor, key: Tensor, value: Tensor, mask: Tensor) -> Tensor:
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention  # takes a second

    def may_read(row: Tensor, _head: Tensor, q: Tensor, k: Tensor) -> Tensor:
        return mask[row, q, k]

    R, C, _ = mask.shape
    with filtered("ignore"):  # it advises to compile it
        blocks = create_block_mask(may_read, R, None, C, C, device="cpu")
        output = flex_attention(query, key, value, block_mask=blocks)
    assert isinstance(output, Tensor)
    return output


def _of_other(
    model: RowModel, number: int, recorded: Sequence[RowLayerOutput], inputs: Tensor, document_ids: Tensor
) -> Iterator[tuple[str, Tensor, Tensor]]:
    """Yield a convolution beside one over a padded batch of documents, or a recurrent module beside its trace."""
    name, layers = model.config.layer, model.layers
    for row, here in enumerate(document_ids >= 0):
        lengths = border_lengths(document_ids[row][here], isolate=model.config.isolate)
        x = recorded[number - 1].output[row][here] if number else model.embed(inputs[row : row + 1, here])[0]
        ours, documents = recorded[number].output[row][here], split(x, lengths)
        if isinstance(layers[0], nn.Conv1d):
            grid = pad_sequence(list(documents), batch_first=True).transpose(1, 2)
            padded = layers[number](grid)[..., : max(lengths)].transpose(1, 2)
            yield name, ours, torch.cat(unpad_sequence(padded, torch.tensor(lengths, device="cpu"), batch_first=True))
        elif number == 0:
            module = cast(nn.RNNBase, layers[0])
            t = trace_module(module, pack_sequence(list(documents), enforce_sorted=False))
            lasts = unpad_sequence(t.unpacked.output, t.unpacked.lengths, batch_first=True)
            yield name, recorded[-1].output[row][here], torch.cat(lasts)
