import copy
import dataclasses
import pickle
import threading
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn.utils.rnn import pack_padded_sequence, pad_sequence

from packviz.compute.record import Trace
from packviz.compute.trace import trace
from packviz.errors import PackvizError
from packviz.inputs.batch import Batch
from packviz.inputs.config import Config

UNSORTED = Batch.parse("1 2 3\n4 5\n6 7 8 9")
WORDS = Batch.parse("on your mark\nget set\ngo")
TORCH_REFUSES = "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True."


def numbers(*lengths: int) -> Batch:
    generator = torch.Generator().manual_seed(sum(lengths))
    return Batch.from_tensors([torch.randn(length, generator=generator) for length in lengths])


def test_the_first_example_is_packed_as_it_stands_in_the_books() -> None:
    t = trace(UNSORTED)
    assert t.padded.tokens.tolist() == [[1, 2, 3, 0], [4, 5, 0, 0], [6, 7, 8, 9]]
    assert t.padded.lengths.tolist() == [3, 2, 4]
    assert t.sorted.lengths.tolist() == [4, 3, 2]
    assert t.packed.data.squeeze(-1).tolist() == [6, 1, 4, 7, 2, 5, 8, 3, 9]
    assert t.packed.batch_sizes.tolist() == [3, 3, 2, 1]
    assert t.exact
    assert t.error is None


def test_every_tensor_has_its_shape() -> None:
    t = trace(UNSORTED, Config(cell="lstm", hidden_size=5, num_layers=3, bidirectional=True, total_length=6))
    B, T, N, F, H, L, D = 3, 4, 9, 1, 5, 3, 2
    assert t.padded.tokens.shape == t.padded.mask.shape == (B, T)
    assert t.padded.values.shape == (B, T, F)
    assert t.packed.data.shape == (N, F)
    assert t.packed.sequence.shape == t.packed.timestep.shape == t.packed_is_pad.shape == (N,)
    assert t.output.shape == (N, D * H)
    assert t.h_0.shape == t.c_0.shape == t.h_n.shape == t.c_n.shape == (L * D, B, H)
    assert t.unpacked.output.shape == (B, 6, D * H)
    assert t.unpacked.last_valid.shape == (B, D * H)
    assert [len(layer) for layer in t.layers] == [D] * L
    for layer in t.layers:
        for direction in layer:
            assert direction.h.shape == direction.c.shape == (N, H)
            assert {gate.shape for gate in direction.gates.values()} == {(N, H)}
            assert direction.h_0.shape == direction.c_0.shape == direction.h_n.shape == direction.c_n.shape == (B, H)


@pytest.mark.parametrize(("cell", "gates"), [("rnn", ""), ("gru", "rzn"), ("lstm", "ifgo")])
def test_each_cell_records_its_gates(cell: str, gates: str) -> None:
    assert list(trace(UNSORTED, Config(cell=cell)).layers[0][0].gates) == list(gates)


def test_layers_and_directions_stand_in_torchs_order() -> None:
    t = trace(UNSORTED, Config(num_layers=2, bidirectional=True, initial_state="random"))
    for number, direction in enumerate(direction for layer in t.layers for direction in layer):
        assert torch.equal(direction.h_n, t.h_n[number])
        assert torch.equal(direction.h_0, t.h_0[number])
        assert direction.backward == bool(number % 2)


def test_the_output_is_the_top_layer_with_its_directions_side_by_side() -> None:
    t = trace(UNSORTED, Config(num_layers=2, bidirectional=True))
    assert torch.equal(t.output, torch.cat([direction.h for direction in t.layers[-1]], 1))


@pytest.mark.parametrize(
    "lengths", [(1,), (7,), (1, 1), (3, 3, 3), (2,) * 17, (4,) * 40, (5, 5, 2, 5, 2, 1, 1), tuple(range(1, 20))]
)
@pytest.mark.parametrize("cell", ["rnn", "gru", "lstm"])
def test_ties_equal_lengths_and_single_steps_are_exact(lengths: tuple[int, ...], cell: str) -> None:
    t = trace(numbers(*lengths), Config(cell=cell, bidirectional=True, num_layers=2, initial_state="random"))
    assert t.exact, t.proof


def test_words_are_embedded() -> None:
    t = trace(WORDS, Config(embedding_dim=3, padding_idx=0))
    assert t.padded.tokens.tolist() == [[1, 2, 3], [4, 5, 0], [6, 0, 0]]
    assert t.padded.embedding.shape == (7, 3)
    assert torch.equal(t.padded.values, t.padded.embedding[t.padded.tokens])
    assert (t.padded.embedding[0] == 0).all()


def test_padding_idx_pads_the_ids_even_where_no_word_has_it() -> None:
    t = trace(WORDS, Config(padding_idx=9, padding_value=-1.0))
    assert t.padded.tokens[2].tolist() == [6, 9, 9]
    assert t.padded.embedding.shape == (10, 4)
    assert (t.unpacked.output[2, 1:] == -1).all()


def test_whole_numbers_can_be_embedded() -> None:
    t = trace(UNSORTED, Config(embedding_dim=2))
    assert t.padded.embedding.shape == (10, 2)
    assert t.padded.tokens.dtype == torch.int64
    assert t.packed.data.shape == (9, 2)


@pytest.mark.parametrize("text", ["1 2.5\n3", "1 -2\n3"])
def test_only_whole_numbers_of_at_least_zero_can_be_embedded(text: str) -> None:
    with pytest.raises(PackvizError, match=r"(2\.5|-2) in sequence A, step 2"):
        trace(Batch.parse(text), Config(embedding_dim=2))


@pytest.mark.parametrize(
    ("batch", "config"),
    [
        (Batch.parse("1 2\n9999999"), Config(embedding_dim=2)),
        (Batch.parse("1e30 2\n3"), Config(embedding_dim=2)),
        (WORDS, Config(embedding_dim=10**9)),
        (WORDS, Config(padding_idx=2**62)),
    ],
)
def test_an_embedding_that_would_fill_the_memory_is_refused(batch: Batch, config: Config) -> None:
    with pytest.raises(PackvizError, match="10,000,000"):
        trace(batch, config)


def test_vectors_are_not_embedded() -> None:
    with pytest.raises(PackvizError, match="embedding_dim"):
        trace(Batch.from_tensors([torch.randn(3, 2)]), Config(embedding_dim=2))


def test_a_module_that_would_fill_the_memory_is_refused() -> None:
    with pytest.raises(PackvizError, match="hidden_size"):
        trace(UNSORTED, Config(hidden_size=10**8))


@pytest.mark.parametrize(
    ("dtype", "of_the_run"), [("float64", "float64"), ("float32", "float32"), ("int64", "float32")]
)
def test_the_weights_have_the_dtype_of_the_batch(dtype: str, of_the_run: str) -> None:
    sequences = [torch.arange(length).to(getattr(torch, dtype)) for length in (2, 3)]
    t = trace(Batch.from_tensors(sequences), Config(cell="lstm"))
    assert t.packed.data.dtype == t.output.dtype == t.c_n.dtype == getattr(torch, of_the_run)
    assert t.exact


def test_values_lie_as_batch_first_says() -> None:
    by_batch, by_time = trace(UNSORTED, Config(batch_first=True)), trace(UNSORTED, Config(batch_first=False))
    assert by_batch.padded.values.shape == (3, 4, 1)
    assert by_time.padded.values.shape == (4, 3, 1)
    assert torch.equal(by_batch.output, by_time.output)
    assert torch.equal(by_batch.unpacked.output, by_time.unpacked.output.transpose(0, 1))


def test_torchs_refusal_of_unsorted_lengths_is_recorded_as_torch_says_it() -> None:
    t = trace(UNSORTED, Config(enforce_sorted=True))
    with pytest.raises(RuntimeError) as torchs:
        pack_padded_sequence(pad_sequence(list(UNSORTED.sequences)), UNSORTED.lengths)
    assert t.error == str(torchs.value)
    assert t.padded.tokens.shape == (3, 4)


@pytest.mark.parametrize(
    "name",
    [
        *("sorted", "packed", "packed_sequence", "packed_is_pad", "layers", "output"),
        *("h_0", "c_0", "h_n", "c_n", "unpacked", "proof", "exact"),
    ],
)
def test_what_torch_refused_cannot_be_read(name: str) -> None:
    t = trace(UNSORTED, Config(enforce_sorted=True))
    with pytest.raises(PackvizError, match="enforce_sorted=False") as refusal:
        getattr(t, name)
    assert refusal.value.torch_says.startswith(TORCH_REFUSES)


def test_sorted_lengths_may_be_enforced() -> None:
    t = trace(Batch.parse("1 2 3\n4 5\n6"), Config(enforce_sorted=True))
    assert t.sorted.sorted_indices is None
    assert t.exact


def test_padding_on_the_left_packs_pads_and_says_so() -> None:
    t = trace(UNSORTED, Config(padding_side="left"))
    assert t.packed.data.squeeze(-1).tolist() == [6, 0, 0, 7, 1, 0, 8, 2, 9]
    assert t.packed_is_pad.tolist() == [False, True, True, False, False, True, False, False, False]
    assert t.notes == ("3 of the 9 packed rows are pads, and as many tokens were dropped",)
    assert t.exact


def test_padding_on_the_right_packs_no_pad() -> None:
    t = trace(UNSORTED)
    assert not t.packed_is_pad.any()
    assert t.notes == ()


@pytest.mark.parametrize("total_length", [1, 3])
def test_a_total_length_that_is_too_small_is_refused_with_torchs_message(total_length: int) -> None:
    with pytest.raises(PackvizError, match="total_length") as refusal:
        trace(UNSORTED, Config(total_length=total_length))
    assert "max sequence length being 4" in refusal.value.torch_says


def test_last_valid_is_neither_the_last_column_nor_always_the_last_step() -> None:
    t = trace(UNSORTED, Config(bidirectional=True, hidden_size=2))
    grid = t.unpacked.output
    for b, length in enumerate(UNSORTED.lengths.tolist()):
        assert torch.equal(t.unpacked.last_valid[b, :2], grid[b, length - 1, :2])
        assert torch.equal(t.unpacked.last_valid[b, 2:], grid[b, 0, 2:])


def test_the_same_seed_gives_the_same_trace_and_another_seed_another() -> None:
    first, again, other = trace(UNSORTED), trace(UNSORTED), trace(UNSORTED, Config(seed=1))
    assert torch.equal(first.output, again.output)
    assert not torch.equal(first.output, other.output)


@pytest.mark.parametrize("initial_state", ["zeros", "random", "learned", "carried"])
def test_torchs_random_numbers_go_on_as_if_nothing_had_happened(initial_state: str) -> None:
    torch.manual_seed(5)
    before = torch.get_rng_state()
    trace(WORDS, Config(initial_state=initial_state, cell="lstm"))
    assert torch.equal(torch.get_rng_state(), before)


def test_a_learned_initial_state_is_the_same_for_every_sequence() -> None:
    h_0 = trace(UNSORTED, Config(initial_state="learned")).h_0
    assert torch.equal(h_0, h_0[:, :1].expand_as(h_0))
    assert h_0.any()


@pytest.mark.parametrize("cell", ["rnn", "gru", "lstm"])
def test_a_carried_state_is_the_one_that_the_batch_before_ended_with(cell: Any) -> None:
    config = Config(cell=cell, num_layers=2, bidirectional=True, initial_state="carried")
    before, after = trace(UNSORTED, replace(config, initial_state="zeros")), trace(UNSORTED, config)
    assert torch.equal(after.h_0, before.h_n)
    assert (after.c_0 is None and before.c_n is None) or torch.equal(after.c_0, before.c_n)
    assert not torch.equal(after.h_n, before.h_n)
    assert after.exact


def test_lengths_that_torch_refuses_are_recorded_where_a_state_would_be_carried_over() -> None:
    refused = [trace(UNSORTED, Config(enforce_sorted=True, initial_state=name)) for name in ("zeros", "carried")]
    assert refused[1].error is not None
    assert refused[1].error == refused[0].error
    assert refused[1].run is None


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


def test_nothing_carries_a_gradient() -> None:
    t = trace(WORDS, Config(initial_state="learned"))
    assert not any(tensor.requires_grad for tensor in tensors_of(t))


def test_the_batch_is_left_as_it_was() -> None:
    batch = numbers(3, 1, 2)
    copies = [sequence.clone() for sequence in batch.sequences]
    t = trace(batch, Config(cell="lstm", num_layers=2))
    assert all(torch.equal(*pair) for pair in zip(batch.sequences, copies, strict=True))
    assert all(sequence._version == 0 for sequence in batch.sequences)
    t.padded.values.zero_()
    assert all(torch.equal(*pair) for pair in zip(batch.sequences, copies, strict=True))


@pytest.mark.parametrize("total_length", [10**9, 2**62])
def test_an_unpacked_output_that_would_fill_the_memory_is_refused(total_length: int) -> None:
    with pytest.raises(PackvizError, match="1,000,000,000 numbers"):
        trace(UNSORTED, Config(total_length=total_length))


@pytest.mark.parametrize(("arguments", "parameter"), [(("1 2 3",), "batch"), ((UNSORTED, {"cell": "gru"}), "config")])
def test_what_is_no_batch_and_no_config_is_refused(arguments: tuple[object, ...], parameter: str) -> None:
    with pytest.raises(PackvizError) as refusal:
        trace(*arguments)
    assert refusal.value.parameter == parameter


def test_a_trace_can_be_stored_and_copied() -> None:
    t = trace(WORDS, Config(cell="lstm", bidirectional=True))
    for again in (pickle.loads(pickle.dumps(t)), copy.deepcopy(t)):
        assert torch.equal(again.output, t.output)
        assert again.proof == t.proof
        assert list(again.layers[0][1].gates) == ["i", "f", "g", "o"]


def test_a_trace_is_frozen_and_its_proof_cannot_be_written() -> None:
    t = trace(UNSORTED)
    for record, name in (
        (t, "run"),
        (t.packed, "data"),
        (t.sorted, "lengths"),
        (t.layers[0][0], "h"),
        (t.padded, "mask"),
    ):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(record, name, None)
    t.proof["output"] = 1.0
    assert t.exact


def test_what_is_recorded_grows_with_the_tokens() -> None:
    one, ten = (recorded_bytes(trace(numbers(*[9, 4, 7, 2] * times), Config(cell="lstm"))) for times in (10, 100))
    assert ten / one == pytest.approx(10, rel=0.05)


def tensors_of(record: object) -> list[Tensor]:
    if isinstance(record, Tensor):
        return [record]
    if isinstance(record, tuple):
        return [tensor for part in record for tensor in tensors_of(part)]
    if isinstance(record, torch.nn.Module | Batch | Config) or not dataclasses.is_dataclass(record):
        return []
    return [tensor for field in dataclasses.fields(record) for tensor in tensors_of(getattr(record, field.name))]


def recorded_bytes(t: Trace) -> int:
    storages = {tensor.untyped_storage().data_ptr(): tensor.untyped_storage().nbytes() for tensor in tensors_of(t)}
    return sum(storages.values())


def test_many_threads_trace_as_one_alone_and_leave_no_trace() -> None:
    work = [
        (numbers(*[4 + number % 3] * (1 + number)), Config(cell=cell, seed=number, initial_state="random"))
        for number in range(6)
        for cell in ("rnn", "gru", "lstm")
    ]
    alone = [trace(*pair).output for pair in work]
    results: dict[int, Trace] = {}
    onednn, random_state = torch.backends.mkldnn.enabled, torch.get_rng_state()

    def run(first: int) -> None:
        for number in range(first, len(work), 6):
            results[number] = trace(*work[number])

    threads = [threading.Thread(target=run, args=(first,)) for first in range(6)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert all(results[number].exact for number in range(len(work)))
    assert all(torch.equal(results[number].output, output) for number, output in enumerate(alone))
    assert torch.backends.mkldnn.enabled == onednn
    assert torch.equal(torch.get_rng_state(), random_state)
