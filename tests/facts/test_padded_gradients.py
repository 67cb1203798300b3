"""The distances of padded gradients from packed ones: found again with torch's autograd."""

import copy
from itertools import product

import pytest
import torch
import torch.nn.functional as F
from facts_cases import batch_first, bound, hx_of, made
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence

from packviz import Trace
from packviz.facts import draw_head, gradient_distances

CELLS = ("rnn", "gru", "lstm")
THREE = "1 2 3 4\n4 5\n6"


def autograd(trace: Trace, kind: str) -> dict[str, Tensor]:
    """Return .grad of every parameter of deep copies after backward()."""
    module, task, lengths = copy.deepcopy(trace.module), draw_head(trace, 0), trace.padded.lengths
    parts: dict[str, nn.Module] = {"": module, "head.": task.head}
    values = trace.padded.grid
    if trace.padded.embedding is not None and trace.config is not None:
        V, E = trace.padded.embedding.shape
        parts["embedding."] = nn.Embedding(V, E, trace.config.padding_idx, _weight=trace.padded.embedding.clone())
        values = parts["embedding."](trace.padded.tokens)
    with torch.backends.mkldnn.flags(enabled=False, allow_tf32=None):
        if kind == "packed":
            packed = pack_padded_sequence(values, lengths, True, enforce_sorted=False)
            logits = task.head(module(packed, hx_of(trace))[0].data)
            target = pack_padded_sequence(task.target, lengths, True, enforce_sorted=False).data
            loss = F.cross_entropy(logits, target)
        else:
            output = module(values if module.batch_first else values.transpose(0, 1), hx_of(trace))[0]
            logits = task.head(batch_first(trace, output)).flatten(0, 1)
            ignored = task.target if kind == "unmasked" else task.target.masked_fill(~trace.padded.mask, -100)
            loss = F.cross_entropy(logits, ignored.flatten())
    named = {f"{head}{name}": weight for head, part in parts.items() for name, weight in part.named_parameters()}
    return dict(zip(named, torch.autograd.grad(loss, list(named.values())), strict=True))


def test_the_gradients_distances_are_those_of_torchs_autograd(seen: Trace) -> None:
    unmasked, masked, packed = (autograd(seen, kind) for kind in ("unmasked", "masked", "packed"))
    done = gradient_distances(seen)
    assert [row.name for row in done] == list(packed)
    for row in done:
        wanted, within = packed[row.name], 3 * bound(seen, packed[row.name], unmasked[row.name])
        theirs = (unmasked[row.name] - wanted, masked[row.name] - wanted, wanted)
        largest = [float(numbers.abs().max()) for numbers in theirs]
        assert [row.unmasked, row.masked, row.size] == pytest.approx(largest, abs=within)


@pytest.mark.parametrize(("cell", "seed"), [*product(CELLS, range(3))])
def test_masked_gradients_are_those_of_packing_going_forward(cell: str, seed: int) -> None:
    one, both, without = (
        gradient_distances(made(THREE, cell=cell, seed=seed, **settings))
        for settings in ({"num_layers": 2}, {"bidirectional": True}, {"bidirectional": True, "bias": False})
    )
    assert all(row.masked < 1e-6 and row.same_masked for row in (*one, *without))
    assert not any(row.same_unmasked for row in one if row.name == "head.bias")
    assert not all(row.same_masked for row in both)
