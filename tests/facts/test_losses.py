"""Losses and gradients, batch norm, attention and pooling over pads: found again with torch's autograd and modules."""

import copy
from itertools import product
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from facts_cases import batch_first, bound, hx_of, made, packed_run, padded_run
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence

from packviz import Trace
from packviz.facts import attention, losses, norms, pooling
from packviz.facts.losses_and_gradients import draw_task

CELLS = ("rnn", "gru", "lstm")
THREE = "1 2 3 4\n4 5\n6"


def autograd(trace: Trace, kind: str) -> dict[str, Tensor]:
    """Return .grad of every parameter of deep copies after backward()."""
    module, task, lengths = copy.deepcopy(trace.module), draw_task(trace, 0), trace.padded.lengths
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


def test_the_losses_are_means_of_the_cells_losses(seen: Trace) -> None:
    done, task = losses(seen, 5), draw_task(seen, 5)
    packed_cells = torch.arange(seen.padded.mask.size(1)) < seen.padded.lengths[:, None]
    sides = (("padded", padded_run(seen)[0], seen.padded.mask), ("packed", packed_run(seen)[0], packed_cells))
    for side, output, mask in sides:
        logits = task.head(output).detach().mT  # (B, classes, T)
        cells = F.cross_entropy(logits, task.target, reduction="none")  # (B, T)
        means = {
            "unmasked": cells.mean(),
            "masked": cells[mask].mean(),
            "ignore_index": F.cross_entropy(logits, task.target.masked_fill(~mask, -100)),
            "sequence_mean": sum(row[own].mean() for row, own in zip(cells, mask, strict=True)) / len(mask),
            "naive": cells[mask].sum() / cells.numel(),
        }
        expected = {key: float(mean) for key, mean in means.items()}
        if side == "packed":
            expected["packed_targets"] = expected["ignore_index"]
        assert done.losses[side] == pytest.approx(expected, rel=1e-4, abs=1e-5)
    assert done.agree
    assert done.losses["packed"]["packed_targets"] == pytest.approx(done.losses["packed"]["ignore_index"], rel=1e-5)
    assert done.verdicts[0].startswith("Packed targets, ignore_index and the masked token mean give the same loss")


def test_the_gradients_distances_are_those_of_torchs_autograd(seen: Trace) -> None:
    unmasked, masked, packed = (autograd(seen, kind) for kind in ("unmasked", "masked", "packed"))
    done = losses(seen)
    assert [row.name for row in done.gradients] == list(packed)
    for row in done.gradients:
        wanted, within = packed[row.name], 3 * bound(seen, packed[row.name], unmasked[row.name])
        theirs = (unmasked[row.name] - wanted, masked[row.name] - wanted, wanted)
        largest = [float(numbers.abs().max()) for numbers in theirs]
        assert [row.unmasked, row.masked, row.size] == pytest.approx(largest, abs=within)


@pytest.mark.parametrize(("cell", "seed"), [*product(CELLS, range(3))])
def test_masked_gradients_are_those_of_packing_going_forward(cell: str, seed: int) -> None:
    one, both, without = (
        losses(made(THREE, cell=cell, seed=seed, **settings))
        for settings in ({"num_layers": 2}, {"bidirectional": True}, {"bidirectional": True, "bias": False})
    )
    assert all(row.masked < 1e-6 and row.same_masked for row in (*one.gradients, *without.gradients))
    assert not any(row.same_unmasked for row in one.gradients if row.name == "head.bias")
    assert not all(row.same_masked for row in both.gradients)
    assert any("gradients differ from packed" in verdict for verdict in both.verdicts)


WORDS = "on your mark\nget set\ngo"


@pytest.mark.parametrize(("cell", "bidirectional"), [*product(CELLS, (False, True))])
def test_the_pads_row_gets_no_gradient_packed_and_with_padding_idx_none_at_all(cell: str, bidirectional: bool) -> None:
    unmasked, masked, packed = losses(made(WORDS, cell=cell, bidirectional=bidirectional)).pad_norms
    assert packed == 0.0
    assert unmasked > 1e-4
    assert (masked == 0.0) is not bidirectional
    frozen = losses(made(WORDS, cell=cell, bidirectional=bidirectional, padding_idx=0))
    assert frozen.pad_norms == (0.0, 0.0, 0.0)
    assert frozen.verdicts[-1] == "padding_idx=0: torch gives this row no gradient."


def test_what_trains_the_pads_row_packed_is_said() -> None:
    token, left = losses(made("0 2 3\n1 0", embedding_dim=3)), losses(made(WORDS, padding_side="left"))
    assert token.verdicts[-1] == "A real token also has the id 0 and trains this row."
    assert token.pad_norms[2] > 0.0
    assert left.pad_norms[2] > 0.0
    assert "2 packed rows are pads: the packed run, too, trains on padding." in left.verdicts


def test_the_statistics_are_those_that_torchs_batch_norm_takes(seen: Trace) -> None:
    grid = seen.padded.grid
    data = pack_padded_sequence(grid, seen.padded.lengths, True, enforce_sorted=False).data
    done = norms(seen)
    sides = ((grid.flatten(0, 1), done.mean_padded, done.var_padded), (data, done.mean_packed, done.var_packed))
    for rows, mean, var in (side for side in sides if len(side[0]) > 1):  # torch's batch norm refuses one row
        layer = nn.BatchNorm1d(rows.size(1), momentum=1.0, dtype=rows.dtype)
        layer(rows)
        torch.testing.assert_close(mean, layer.running_mean, atol=bound(seen, rows), rtol=1e-4)
        unbiased = var * len(rows) / (len(rows) - 1)
        torch.testing.assert_close(unbiased, layer.running_var, atol=bound(seen, rows, rows**2), rtol=1e-4)


def test_the_weights_are_a_softmax_of_dot_products_sequence_by_sequence(seen: Trace) -> None:
    done, lengths = attention(seen), seen.padded.lengths.tolist()
    output, query = packed_run(seen)[0], seen.unpacked.last_valid
    for b, length in enumerate(lengths):
        keys = torch.cat([output[b, :length], torch.zeros_like(output[b, length:])])
        within: Any = {"atol": 1e-3 if seen.h_0.dtype == torch.float32 else 1e-9, "rtol": 1e-3}
        torch.testing.assert_close(done.unmasked[b], (keys @ query[b]).softmax(0), **within)
        torch.testing.assert_close(done.masked[b, :length], (keys[:length] @ query[b]).softmax(0), **within)
        pads = ~seen.padded.mask[b]
        assert done.leaks[b] == pytest.approx(float(done.unmasked[b, pads].sum()), abs=1e-6)
        assert done.leaks_masked[b] == pytest.approx(float(done.masked[b, pads].sum()), abs=1e-6)
        assert (done.leaks_masked[b] > 0) == bool(seen.packed_is_pad[seen.packed.sequence == b].any())


def test_pooling_over_valid_steps_is_pooling_of_each_sequence_alone(seen: Trace) -> None:
    done, output = pooling(seen), packed_run(seen)[0]
    for b, length in enumerate(seen.padded.lengths.tolist()):
        own, filler = output[b, :length], torch.zeros_like(output[b, length:])
        filled = torch.cat([own, filler])
        ours = torch.stack([done.mean_valid[b], done.max_valid[b], done.mean[b], done.max[b]])
        theirs = torch.stack([own.mean(0), own.amax(0), filled.mean(0), filled.amax(0)])
        torch.testing.assert_close(ours, theirs, atol=bound(seen, own), rtol=0)


def test_packed_pads_get_through_the_length_mask_and_into_statistics_and_pools() -> None:
    left, right = (made(THREE, padding_side=side) for side in ("left", "right"))
    done = attention(left)
    assert done.leaks_masked[1:].tolist() == pytest.approx([1.0, 1.0])  # B and C: nothing but pads was packed
    assert "of which 3 are pads" in norms(left).sentence
    assert "3 pads were packed and are pooled" in pooling(left).sentence
    assert "pad" not in norms(right).sentence + pooling(right).sentence
