import copy
import dataclasses
import pickle
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest
import torch
from random_runs import random_run
from torch.nn.utils.rnn import pack_padded_sequence, pad_sequence
from trace_cases import random_case

from packviz.compute.record import Refused, Trace
from packviz.compute.trace import trace, trace_module
from packviz.errors import PackvizError
from packviz.inputs.batch import Batch
from packviz.inputs.config import Config

UNSORTED = Batch.parse("1 2 3\n4 5\n6 7 8 9")
WORDS = Batch.parse("on your mark\nget set\ngo")


def numbers(*lengths: int) -> Batch:
    generator = torch.Generator().manual_seed(sum(lengths))
    return Batch.from_tensors([torch.randn(length, generator=generator) for length in lengths])


def refused(**settings: Any) -> Trace:
    return trace(UNSORTED, Config(enforce_sorted=True, **settings))


# Embeddings


@pytest.mark.parametrize(
    ("batch", "config", "says"),
    [
        (Batch.parse("1 2.5\n3"), Config(embedding_dim=2), r"2\.5 in sequence A, step 2"),
        (Batch.from_tensors([torch.randn(3, 2)]), Config(embedding_dim=2), "embedding_dim"),
        (Batch.parse("1 2\n9999999"), Config(embedding_dim=2), "10,000,000"),
        (WORDS, Config(embedding_dim=10**9), "10,000,000"),
        (UNSORTED, Config(hidden_size=10**8), "hidden_size"),
        (UNSORTED, Config(total_length=10**9), "1,000,000,000 numbers"),
        ("1 2 3", None, "batch: "),
        (UNSORTED, {"cell": "gru"}, "config: "),
    ],
)
def test_what_makes_no_sense_or_would_fill_the_memory_is_refused(batch: Any, config: Any, says: str) -> None:
    with pytest.raises(PackvizError, match=says):
        trace(batch, config)


@pytest.mark.parametrize("total_length", [1, 3])
def test_a_total_length_that_is_too_small_is_refused_with_torchs_message(total_length: int) -> None:
    with pytest.raises(PackvizError, match="total_length") as refusal:
        trace(UNSORTED, Config(total_length=total_length))
    assert "max sequence length being 4" in str(refusal.value.torch_says)


# Settings


def test_padding_on_the_left_packs_pads_and_says_so() -> None:
    t = trace(UNSORTED, Config(padding_side="left"))
    assert t.packed.data.squeeze(-1).tolist() == [6, 0, 0, 7, 1, 0, 8, 2, 9]
    assert t.packed_is_pad.tolist() == [False, True, True, False, False, True, False, False, False]
    assert t.notes == ("3 of the 9 packed rows are pads, and as many tokens were dropped",)
    assert t.exact
    right = trace(UNSORTED)
    assert not right.packed_is_pad.any()
    assert right.notes == ()


# A refusal


@pytest.mark.parametrize("initial_state", ["zeros", "carried"])
def test_torchs_refusal_of_unsorted_lengths_is_recorded_as_torch_says_it(initial_state: Any) -> None:
    with pytest.raises(RuntimeError) as torchs:
        pack_padded_sequence(pad_sequence(list(UNSORTED.sequences)), UNSORTED.lengths)
    t = refused(initial_state=initial_state)
    assert isinstance(t, Refused)
    assert t.error == str(torchs.value)
    assert t.padded.tokens.shape == (3, 4)
    assert trace(UNSORTED).error is None


@pytest.mark.parametrize(
    "name",
    [
        *("sorted", "packed", "packed_sequence", "packed_is_pad", "layers", "output"),
        *("h_0", "c_0", "h_n", "c_n", "unpacked", "proof", "exact"),
    ],
)
def test_what_torch_refused_cannot_be_read(name: str) -> None:
    with pytest.raises(PackvizError, match="enforce_sorted=False") as refusal:
        getattr(refused(), name)
    assert refusal.value.torch_says == refused().error


# What a trace leaves alone, and what leaves it alone


@pytest.mark.parametrize("initial_state", ["zeros", "random", "learned", "carried"])
def test_torchs_random_numbers_go_on_as_if_nothing_had_happened(initial_state: Any) -> None:
    torch.manual_seed(5)
    before = torch.get_rng_state()
    trace(WORDS, Config(initial_state=initial_state, cell="lstm"))
    assert torch.equal(torch.get_rng_state(), before)


def test_neither_surrounding_switches_nor_defaults_change_the_numbers() -> None:
    plain = trace(WORDS, Config(cell="lstm")).output
    with torch.inference_mode(), torch.autocast("cpu"):
        assert torch.equal(trace(WORDS, Config(cell="lstm")).output, plain)
    torch.set_default_dtype(torch.float64)
    try:
        with torch.device("meta"):
            surrounded = trace(WORDS, Config(cell="lstm"))
    finally:
        torch.set_default_dtype(torch.float32)
    assert torch.equal(surrounded.output, plain)
    assert surrounded.exact


def test_a_trace_can_be_stored_and_copied() -> None:
    t = trace(WORDS, Config(cell="lstm", bidirectional=True))
    for again in (pickle.loads(pickle.dumps(t)), copy.deepcopy(t)):
        assert torch.equal(again.output, t.output)
        assert again.proof == t.proof
        assert list(again.layers[0][1].gates) == ["i", "f", "g", "o"]


def test_a_trace_is_frozen_and_its_proof_cannot_be_written() -> None:
    t = trace(UNSORTED)
    records: list[tuple[object, str]] = [
        *((t, "layers"), (t.packed, "data"), (t.sorted, "lengths")),
        *((t.layers[0][0], "rows"), (t.padded, "mask")),
    ]
    for record, name in records:
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(record, name, None)
    t.proof["output"] = 1.0
    assert t.exact


def test_many_threads_trace_as_one_alone_and_leave_nothing_behind() -> None:
    runs, shared = [random_run(seed) for seed in range(18)], [random_case(seed) for seed in range(6)]
    work = [
        *(partial(trace, run.batch, run.config) for run in runs),
        *(partial(trace_module, case.module, case.packed, hx=case.hx) for case in shared * 3),  # of one module, too
    ]
    alone = [each().output for each in work]
    onednn, random_state = torch.backends.mkldnn.enabled, torch.get_rng_state()
    with ThreadPoolExecutor(6) as pool:
        results = list(pool.map(lambda each: each(), work))
    assert all(result.exact for result in results)
    assert all(torch.equal(result.output, output) for result, output in zip(results, alone, strict=True))
    assert torch.backends.mkldnn.enabled == onednn
    assert torch.equal(torch.get_rng_state(), random_state)
