"""Padded beside packed: torch, called directly, is the judge of both sides."""

import random
from itertools import product

import pytest
import torch
from compare_cases import alone, bound, packed_run, padded_run
from study_cases import SEEDS, made, refused, studied
from torch import nn
from torch.nn.utils.rnn import pad_packed_sequence

import packviz as pv
from packviz import Batch, Config, PackvizError
from packviz.compute.record import Trace
from packviz.facts import attention, batch_dependence, compare, drift, losses, norms, pooling, switches

each_seed = pytest.mark.parametrize("seed", SEEDS)
THREE = "1 2 3 4\n4 5\n6"


def right_padded(trace: Trace) -> bool:
    return not bool(trace.packed_is_pad.any())


def told(trace: Trace, key: str) -> str:
    finding = compare(trace).finding(key)
    assert finding is not None
    return finding.told


@each_seed
def test_the_padded_side_is_torchs_own_run_of_the_padded_grid(seed: int) -> None:
    trace = studied(seed)
    done, (output, (h_n, *c_n)) = compare(trace), padded_run(trace)
    assert torch.equal(done.padded, output)
    assert torch.equal(done.h_n_padded, h_n)
    assert [done.c_n_padded is not None] == [trace.c_0 is not None]
    assert all(torch.equal(done.c_n_padded, c) for c in c_n)


@each_seed
def test_the_packed_side_is_torchs_own_packed_run_as_wide_as_the_grid(seed: int) -> None:
    trace = studied(seed)
    done, (output, (h_n, *c_n)) = compare(trace), packed_run(trace)
    assert done.packed.shape == done.padded.shape
    torch.testing.assert_close(done.packed, output, atol=bound(trace, output), rtol=0)
    torch.testing.assert_close(done.h_n_packed, h_n, atol=bound(trace, h_n), rtol=0)
    for c in c_n:
        torch.testing.assert_close(done.c_n_packed, c, atol=bound(trace, c), rtol=0)
    assert torch.equal(done.difference, done.padded - done.packed)


@each_seed
def test_the_states_of_every_layer_are_those_that_torch_passes_on(seed: int) -> None:
    trace = studied(seed)
    done, (output, (h_n, *_)) = compare(trace), padded_run(trace)
    assert torch.equal(torch.cat(done.states[-1], 2), output)
    ends = [layer[d][:, 0 if d else -1] for layer in done.states for d in range(done.directions)]
    assert torch.equal(torch.stack(ends), h_n)


@each_seed
def test_a_forward_half_that_reads_no_backward_half_is_equal_wherever_both_computed(seed: int) -> None:
    trace = studied(seed)
    done = compare(trace)
    forward = done.finding("forward")
    padded, packed = done.half(0)
    off = float((padded - packed)[done.valid].abs().max())
    assert forward.largest == pytest.approx(off, abs=1e-12)
    assert forward.same == (off <= bound(trace, padded[done.valid]))
    if done.directions == 1 or len(done.states) == 1:
        assert forward.same


@each_seed
def test_what_is_wanted_is_the_state_after_the_sequences_own_tokens(seed: int) -> None:
    trace = studied(seed)
    done, D = compare(trace), 2 if trace.module.bidirectional else 1
    for b in range(len(trace.padded.lengths)):
        _, (h_n, *_) = alone(trace, b)
        wanted = torch.cat(h_n[-D:].unbind(0))
        for reading in done.readings[:2]:
            torch.testing.assert_close(reading.wanted[b], wanted, atol=bound(trace, wanted), rtol=0)
        for d, reading in enumerate(done.readings[2:]):
            torch.testing.assert_close(reading.wanted[b], h_n[d - D], atol=bound(trace, wanted), rtol=0)


@each_seed
def test_the_readings_are_read_from_both_sides(seed: int) -> None:
    trace = studied(seed)
    done, D = compare(trace), 2 if trace.module.bidirectional else 1
    column, valid, *final = done.readings
    output = trace.packed_sequence._replace(data=trace.output)
    out, _ = pad_packed_sequence(output, True, trace.padding_value, trace.total_length)
    assert torch.equal(column.packed, out[:, -1])
    for b, length in enumerate(trace.padded.lengths.tolist()):
        assert torch.equal(column.padded[b], done.padded[b, -1])
        assert torch.equal(valid.padded[b], done.padded[b, length - 1])
        assert torch.equal(valid.packed[b], done.packed[b, length - 1])
    for d, reading in enumerate(final):
        assert torch.equal(reading.padded, done.h_n_padded[d - D])
        assert torch.equal(reading.packed, done.h_n_packed[d - D])
        assert reading.wrong_packed == () or not right_padded(trace)
        apart = (reading.padded - reading.packed).double().abs().amax(1, keepdim=True)
        torch.testing.assert_close(reading.apart, apart, atol=1e-6, rtol=1e-6)


@each_seed
def test_a_verdict_names_exactly_the_sequences_that_differ_by_more_than_rounding(seed: int) -> None:
    trace = studied(seed)
    done, D = compare(trace), 2 if trace.module.bidirectional else 1
    states = zip(("h_n", "c_n"), padded_run(trace)[1], packed_run(trace)[1], strict=False)
    for (name, padded, packed), (d, way) in product(states, list(enumerate(("forward", "backward")[:D]))):
        ours, theirs = padded[d::D], packed[d::D]
        apart = (ours - theirs).abs().amax((0, 2)).tolist()  # (B,)
        off = [b for b, number in enumerate(apart) if number > bound(trace, ours[:, b], theirs[:, b])]
        finding = done.finding(f"{name}_{way}")
        assert list(finding.sequences) == off
        assert finding.same == (not off)
        assert finding.largest == pytest.approx(max(apart), abs=bound(trace, ours, theirs))


@pytest.mark.parametrize("cell", ["rnn", "gru", "lstm"])
def test_one_direction_is_equal_at_valid_positions_and_h_n_is_not(cell: str) -> None:
    trace = made(THREE, cell=cell)
    assert told(trace, "forward").startswith("Output: equal at every valid position (largest difference ")
    off = float((padded_run(trace)[1][0] - packed_run(trace)[1][0]).abs().max())
    assert told(trace, "h_n_forward") == (
        f"h_n differs for B and C, by up to {off:.2g}: padded, it is the state after the pads."
    )


@pytest.mark.parametrize(("cell", "seed"), [*product(("rnn", "gru", "lstm"), range(3))])
def test_the_backward_half_is_wrong_even_at_valid_positions_with_a_bias(cell: str, seed: int) -> None:
    trace = made(THREE, cell=cell, bidirectional=True, seed=seed)
    done = compare(trace)
    assert done.finding("forward").same
    assert not done.finding("backward").same
    off = float((padded_run(trace)[0] - packed_run(trace)[0])[done.valid].abs().max())
    assert done.finding("backward").told == (
        f"Backward half: differs at valid positions of B and C, by up to {off:.2g}: it starts in the padding."
    )


@pytest.mark.parametrize("cell", ["rnn", "gru", "lstm"])
def test_without_a_bias_and_with_zeros_as_pads_the_backward_half_is_equal(cell: str) -> None:
    trace = made(THREE, cell=cell, bidirectional=True, bias=False)
    done = compare(trace)
    assert done.finding("backward").same
    assert done.finding("backward").told.endswith(": its state stays 0 in the padding.")
    assert done.finding("h_n_backward").same
    assert not done.finding("h_n_forward").same
    assert torch.equal(padded_run(trace)[0][..., 4:][done.valid], packed_run(trace)[0][..., 4:][done.valid])


def test_without_a_bias_pads_that_are_not_zeros_spoil_the_backward_half() -> None:
    assert not compare(made(THREE, bidirectional=True, bias=False, padding_value=-1.0)).finding("backward").same


def test_a_second_layer_carries_the_backward_halfs_fault_into_the_forward_half() -> None:
    done = compare(made(THREE, bidirectional=True, num_layers=2))
    assert not done.finding("forward").same
    assert done.finding("forward").told.endswith(": it reads the backward half of the layer below.")
    assert not compare(made(THREE, bidirectional=True, num_layers=2, bias=False)).finding("backward").same


def test_the_naive_last_column_is_filler_packed_and_a_state_after_pads_padded() -> None:
    done = compare(made(THREE, padding_value=-1.0))
    column, valid, final = done.readings
    assert column.packed[1:].eq(-1.0).all()
    assert (column.wrong_padded, column.wrong_packed) == ((1, 2), (1, 2))
    assert (valid.wrong_padded, valid.wrong_packed) == ((), ())
    assert (final.wrong_padded, final.wrong_packed) == ((1, 2), ())
    assert valid.told.endswith("padded right for every sequence; packed right for every sequence.")


def test_of_two_directions_the_last_valid_step_has_only_the_forward_half() -> None:
    valid = compare(made(THREE, bidirectional=True)).readings[1]
    assert (valid.off_packed[:, 0] == 0).all()
    assert (valid.off_packed[:2, 1] > 0.01).all()
    assert valid.off_packed[2, 1] == 0  # one token: the backward half has read it, too
    assert valid.wrong_packed == (0, 1)


def test_padding_on_the_left_is_packed_and_said() -> None:
    trace = made(THREE, padding_side="left")
    done = compare(trace)
    assert done.finding("packed_pads").told == (
        "Padding was packed: 3 of the 7 packed rows are pads, and as many tokens of B and C were dropped."
    )
    assert done.finding("forward").told.startswith("Output: equal at every packed position")
    assert done.readings[-1].wrong_packed == (1, 2)
    assert not any("valid position" in verdict for verdict in done.verdicts)


def test_without_padding_nothing_differs() -> None:
    done = compare(made("1 2\n3 4", cell="lstm", bidirectional=True))
    assert all(finding.same for finding in done.findings)
    assert (done.finding("pads"), done.at_pads) == (None, 0.0)
    assert "there is no padding in this batch" in done.verdicts[0]


@pytest.mark.parametrize(("dtype", "named"), [(torch.float32, 1e-5), (torch.float64, 1e-12)])
def test_the_tolerance_is_named_and_follows_the_dtype(dtype: torch.dtype, named: float) -> None:
    trace = pv.trace(Batch.from_tensors([torch.ones(3, dtype=dtype), torch.ones(1, dtype=dtype)]))
    assert compare(trace).tolerance == named


def test_numbers_that_grow_without_end_are_told_without_an_error() -> None:
    module = nn.RNN(1, 2, nonlinearity="relu")
    with torch.no_grad():
        for weight in module.parameters():
            weight.fill_(1.0)
        module.weight_hh_l0.fill_(1e20)
    done = compare(pv.trace_module(module, torch.ones(6, 2, 1), [6, 1]))
    assert not done.finding("h_n_forward").same
    assert done.finding("forward").same


def test_nothing_is_called_equal_where_there_is_no_finite_number() -> None:
    module = nn.RNN(1, 2, nonlinearity="relu")
    with torch.no_grad():
        for weight in module.parameters():
            weight.fill_(1e20)
    trace = pv.trace_module(module, torch.ones(6, 2, 1), [6, 1])
    done = losses(trace)
    assert "are not all finite" in done.verdicts[0]
    assert not any("is the packed one" in verdict for verdict in done.verdicts)
    assert drift(trace, 5).told == "Within 5 pads the state of A and B grows beyond every finite number."
    assert not any("nan" in verdict or "inf " in verdict for verdict in compare(trace).verdicts)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_is_judged_by_its_own_rounding(dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    x = torch.randn(9, 3, 2, dtype=dtype)
    done = compare(pv.trace_module(nn.GRU(2, 4, dtype=dtype), x, [9, 1, 5]))
    assert done.tolerance == 2 * torch.finfo(dtype).eps
    assert done.finding("forward").same
    assert not done.finding("h_n_forward").same


def test_a_module_of_ones_own_is_left_as_it_is() -> None:
    module = nn.LSTM(2, 3, num_layers=2, dropout=0.5, bidirectional=True).train()
    calls: list[int] = []
    module.register_forward_hook(lambda *_: calls.append(1))
    before = {name: weight.detach().clone() for name, weight in module.named_parameters()}
    trace = pv.trace_module(module, torch.randn(4, 3, 2), [4, 1, 2])
    state = torch.get_rng_state()
    for study in (compare, drift, switches, batch_dependence, losses, norms, attention, pooling):
        study(trace)
    assert torch.equal(torch.get_rng_state(), state)
    assert module.training
    assert not calls
    assert all(weight.grad is None for weight in module.parameters())
    assert all(torch.equal(weight, before[name]) for name, weight in module.named_parameters())
    assert not torch.is_inference_mode_enabled()
    assert torch.is_grad_enabled()


@pytest.mark.parametrize("study", [compare, drift, switches, batch_dependence, losses, norms, attention, pooling])
def test_where_torch_refuses_the_lengths_there_is_nothing_to_compare(study: object) -> None:
    with pytest.raises(PackvizError, match="enforce_sorted"):
        study(refused())


def test_total_length_and_layout_change_no_verdict_but_that_on_the_last_column() -> None:
    draw = random.Random(3)
    for _ in range(5):
        settings = {"cell": draw.choice(("rnn", "gru", "lstm")), "bidirectional": draw.random() < 0.5}
        plain = compare(made(THREE, **settings))
        wide = compare(pv.trace(Batch.parse(THREE), Config(**settings, total_length=9, batch_first=False)))
        verdicts = ({f.key: f.verdict for f in done.findings if f.key != "last_column"} for done in (wide, plain))
        assert next(verdicts) == next(verdicts)
        assert wide.padded.shape == plain.padded.shape


def test_a_wider_total_length_leaves_filler_in_the_last_column_of_all() -> None:
    settings = {"total_length": 6, "padding_value": -1.0}
    wide, tight = made(THREE, **settings), made(THREE)
    column = compare(wide).readings[0]
    assert torch.equal(column.packed, wide.unpacked.output[:, -1])
    assert column.packed.eq(-1.0).all()
    assert (column.wrong_packed, compare(tight).readings[0].wrong_packed) == ((0, 1, 2), (1, 2))
    assert "packed wrong for A, B and C (filler stands there), by up to " in column.told


@each_seed
def test_a_reading_is_right_where_no_sequence_is_off(seed: int) -> None:
    spoke = 0
    trace = studied(seed)
    done = compare(trace)
    for reading in done.readings:
        bounds = bound(trace, reading.padded, reading.packed, reading.wanted)
        for right, off in ((reading.right_padded, reading.off_padded), (reading.right_packed, reading.off_packed)):
            if float(off.max()) <= bounds / 100 or float(off.max()) > bounds:
                spoke += 1
                assert right == (float(off.max()) <= bounds)
    for reading in done.readings[:2]:
        finding = done.finding(reading.key)
        assert (finding.right_padded, finding.right_packed) == (reading.right_padded, reading.right_packed)
    assert done.finding("forward").right_padded is None
    assert done.finding("forward").right_packed is None
    assert spoke


@each_seed
def test_a_reason_follows_from_what_torch_has_read_there(seed: int) -> None:
    trace = studied(seed)
    width = trace.unpacked.output.size(1 if trace.module.batch_first else 0)
    for reading in compare(trace).readings:
        for b, length in enumerate(trace.padded.lengths.tolist()):
            for way, why in zip(reading.halves, reading.reasons_packed[b], strict=True):
                filler = reading.key == "last_column" and length < width
                assert (why == "filler stands there") == filler
                if reading.key == "last_valid" and way == "backward" and right_padded(trace) and length > 1:
                    assert why == "its backward half has read one token only"


def test_each_wrong_reading_has_its_reason() -> None:
    column, valid, forward, backward = compare(made(THREE, bidirectional=True)).readings
    only = "its backward half has read one token only"
    assert valid.reasons_packed[:2] == valid.reasons_packed[1:2] * 2
    assert f"packed wrong for A and B ({only}), by up to " in valid.told
    assert valid.told.endswith(", right for C, which has length 1.")
    assert f"A ({only}), B and C (filler stands there), by up to " in column.told
    assert "padded wrong for B and C (padding has moved it), by up to " in forward.told
    assert "padded wrong for B and C (it starts in the padding), by up to " in backward.told
    deep = compare(made(THREE, bidirectional=True, num_layers=2)).readings[1].told
    assert "its forward half reads a layer below that starts in the padding, and its backward half" in deep
    ones = compare(made("3\n4", bidirectional=True)).readings[1].told
    assert ones.endswith("packed right for every sequence, for each has length 1.")


def test_one_packed_pad_is_one() -> None:
    assert told(made("1 2\n3", padding_side="left"), "packed_pads") == (
        "Padding was packed: 1 of the 3 packed rows is a pad, and one token of B was dropped."
    )
