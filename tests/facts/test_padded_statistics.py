"""Batch norm, attention and pooling over pads, found again with torch's own modules."""

from typing import Any

import pytest
import torch
from facts_cases import bound, each_seed, made, packed_run, studied
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence

from packviz.facts import attention, norms, pooling

THREE = "1 2 3 4\n4 5\n6"


@each_seed
def test_the_statistics_are_those_that_torchs_batch_norm_takes(seed: int) -> None:
    trace = studied(seed)
    grid = trace.padded.grid
    data = pack_padded_sequence(grid, trace.padded.lengths, True, enforce_sorted=False).data
    done = norms(trace)
    for rows, mean, var in (
        (grid.flatten(0, 1), done.mean_padded, done.var_padded),
        (data, done.mean_packed, done.var_packed),
    ):
        if len(rows) < 2:
            continue  # torch's batch norm refuses one row
        layer = nn.BatchNorm1d(rows.size(1), momentum=1.0, dtype=rows.dtype)
        layer(rows)
        torch.testing.assert_close(mean, layer.running_mean, atol=bound(trace, rows), rtol=1e-4)
        unbiased = var * len(rows) / (len(rows) - 1)
        torch.testing.assert_close(unbiased, layer.running_var, atol=bound(trace, rows, rows**2), rtol=1e-4)


@each_seed
def test_the_weights_are_a_softmax_of_dot_products_sequence_by_sequence(seed: int) -> None:
    trace = studied(seed)
    done, lengths = attention(trace), trace.padded.lengths.tolist()
    output, query = packed_run(trace)[0], trace.unpacked.last_valid
    for b, length in enumerate(lengths):
        keys = torch.cat([output[b, :length], torch.zeros_like(output[b, length:])])
        within: Any = {"atol": 1e-3 if trace.h_0.dtype == torch.float32 else 1e-9, "rtol": 1e-3}
        torch.testing.assert_close(done.unmasked[b], (keys @ query[b]).softmax(0), **within)
        torch.testing.assert_close(done.masked[b, :length], (keys[:length] @ query[b]).softmax(0), **within)
        pads = ~trace.padded.mask[b]
        assert done.leaks[b] == pytest.approx(float(done.unmasked[b, pads].sum()), abs=1e-6)
        assert done.leaks_masked[b] == pytest.approx(float(done.masked[b, pads].sum()), abs=1e-6)
        assert (done.leaks_masked[b] > 0) == bool(trace.packed_is_pad[trace.packed.sequence == b].any())


@each_seed
def test_pooling_over_valid_steps_is_pooling_of_each_sequence_alone(seed: int) -> None:
    trace = studied(seed)
    done, output = pooling(trace), packed_run(trace)[0]
    for b, length in enumerate(trace.padded.lengths.tolist()):
        own, filled = output[b, :length], output[b].clone()
        filled[length:] = 0.0
        within: Any = {"atol": bound(trace, own), "rtol": 0}
        torch.testing.assert_close(done.mean_valid[b], own.mean(0), **within)
        torch.testing.assert_close(done.max_valid[b], own.amax(0), **within)
        torch.testing.assert_close(done.mean[b], filled.mean(0), **within)
        torch.testing.assert_close(done.max[b], filled.amax(0), **within)


def test_packed_pads_get_through_the_length_mask_and_into_statistics_and_pools() -> None:
    left, right = (made(THREE, padding_side=side) for side in ("left", "right"))
    done = attention(left)
    assert torch.equal(done.real, left.padded.mask)
    assert done.leaks_masked[1:].tolist() == pytest.approx([1.0, 1.0])  # B and C: nothing but pads was packed
    assert (norms(left).packed_pads, pooling(left).packed_pads) == (3, 3)
    assert (norms(right).packed_pads, pooling(right).packed_pads) == (0, 0)
