"""Padded beside packed: torch, called directly, is the judge of both sides."""

import re
from dataclasses import replace
from itertools import product
from typing import Any

import pytest
import torch
from facts_cases import alone, bound, made, packed_run, padded_run
from torch import nn
from torch.nn.utils.rnn import pad_packed_sequence

from packviz import Trace, facts, trace, trace_module
from packviz.compute.determinism import exact_arithmetic
from packviz.compute.verify import differing
from packviz.facts import Comparison, batch_dependence, compare, drift, switches
from packviz.facts.padded_run import layer_states
from packviz.rules.finding import Finding
from packviz.text import two_digits

THREE = "1 2 3 4\n4 5\n6"
WAYS = ("forward", "backward")
STUDIES = (compare, drift, switches, batch_dependence, facts.gradient_distances, facts.losses_of)


def right_padded(trace: Trace) -> bool:
    return not bool(trace.packed_is_pad.any())


def finding(done: Comparison, key: str) -> Finding:
    return {each.key: each for each in done.findings}[key]


def same(done: Comparison, key: str) -> bool:
    return finding(done, key).severity == "note"


def number_in(finding: Finding) -> float:
    """Return the largest difference that a sentence names, with two digits."""
    said = re.search(r"(?:up to|largest difference) (\d[\d.e-]*)(?<![.])", finding.found)
    assert said, finding
    return float(said[1])


def test_both_sides_are_torchs_own_runs_and_as_wide_as_the_grid(seen: Trace) -> None:
    done, (ours, states), (theirs, _) = compare(seen), padded_run(seen), packed_run(seen)
    assert torch.equal(done.padded, ours)
    assert done.packed.shape == done.padded.shape
    torch.testing.assert_close(done.packed, theirs, atol=bound(seen, theirs), rtol=0)
    with exact_arithmetic():
        layers = layer_states(seen)
    assert torch.equal(torch.cat(layers[-1], 2), ours)  # what torch passes on from layer to layer
    ends = [half[:, 0 if d else -1] for layer in layers for d, half in enumerate(layer)]
    assert torch.equal(torch.stack(ends), states[0])


def test_what_is_wanted_is_the_state_after_the_own_tokens(seen: Trace) -> None:
    done, D, ours = compare(seen), len(seen.layers[0]), padded_run(seen)[1][0]
    column, valid, *final = done.readings
    output = seen.packed_sequence._replace(data=seen.output)
    out, _ = pad_packed_sequence(output, True, seen.padding_value, seen.total_length)
    assert torch.equal(column.packed.values, out[:, -1])
    assert torch.equal(column.padded.values, done.padded[:, -1])
    rows, ends = range(len(done.padded)), seen.padded.lengths - 1
    assert torch.equal(valid.padded.values, done.padded[rows, ends])
    assert torch.equal(valid.packed.values, done.packed[rows, ends])
    for d, reading in enumerate(final):
        assert torch.equal(reading.padded.values, ours[d - D])
        assert torch.equal(reading.packed.values, seen.h_n[d - D])
        assert reading.packed.right or not right_padded(seen)
    own = torch.stack([alone(seen, b)[1][0][-D:] for b in rows])  # (B, D, H)
    for reading, state in zip(done.readings, (own.flatten(1), own.flatten(1), *own.unbind(1)), strict=True):
        for side in (reading.padded, reading.packed):
            torch.testing.assert_close(side.wanted, state, atol=bound(seen, state), rtol=0)


def test_a_verdict_names_exactly_the_sequences_that_differ(seen: Trace) -> None:
    done, D = compare(seen), len(seen.layers[0])
    one, other = (grid.chunk(D, 2)[0][done.valid] for grid in (done.padded, done.packed))
    most = float((one - other).abs().max())
    assert number_in(finding(done, "forward")) == pytest.approx(most, rel=0.06, abs=1e-12)
    assert same(done, "forward") == (most <= bound(seen, one))
    assert same(done, "forward") or (D == 2 and len(seen.layers) > 1)  # where it reads a backward half below
    states = zip(("h_n", "c_n"), padded_run(seen)[1], packed_run(seen)[1], strict=False)
    for (name, padded, packed), (d, way) in product(states, list(enumerate(WAYS[:D]))):
        ours, theirs = padded[d::D], packed[d::D]
        apart = (ours - theirs).abs().amax((0, 2)).tolist()  # (B,)
        off = [b for b, number in enumerate(apart) if number > bound(seen, ours[:, b], theirs[:, b])]
        found = finding(done, f"{name}_{way}")
        assert list(found.sequences) == off
        assert same(done, found.key) == (not off)
        assert number_in(found) == pytest.approx(max(apart), rel=0.06, abs=bound(seen, ours, theirs))


def test_a_reading_is_right_where_no_sequence_is_off(seen: Trace) -> None:
    spoke = 0
    done, width = compare(seen), seen.unpacked.output.size(1 if seen.module.batch_first else 0)
    for reading in done.readings:
        bounds = bound(seen, reading.padded.values, reading.packed.values, reading.packed.wanted)
        for side in (reading.padded, reading.packed):
            off = float((side.values - side.wanted).abs().max())
            if rows := list(side.wrong):
                most = float((side.values[rows].double() - side.wanted[rows].double()).abs().max())
                assert f"by up to {two_digits(most)}" in side.sentence
            if off <= bounds / 100 or off > bounds:
                spoke += 1
                assert side.right == (off <= bounds)
        for b, length in enumerate(seen.padded.lengths.tolist()):
            for d, why in enumerate(reading.packed.reasons[b]):
                filler = reading.key == "last_column" and length < width
                assert (why == "these numbers only fill the grid") == filler
                if reading.key == "last_valid" and d == 1 and right_padded(seen) and length > 1:
                    assert why == "the backward half has read only one token"
    assert spoke


BACKWARD = {"backward", "h_n_backward"}
BOTH: dict[str, Any] = {"bidirectional": True}
DIFFERS: list[tuple[str, dict[str, Any], set[str]]] = [  # what is not the same padded and packed, but for c_n
    (THREE, {}, {"h_n_forward"}),
    (THREE, BOTH, {"h_n_forward", *BACKWARD}),
    (THREE, BOTH | {"bias": False}, {"h_n_forward"}),  # zeros as pads leave a state of zeros as it is
    (THREE, BOTH | {"bias": False, "padding_value": -1.0}, {"h_n_forward", *BACKWARD}),
    (THREE, BOTH | {"num_layers": 2}, {"forward", "h_n_forward", *BACKWARD}),  # layer 1 reads the backward half below
    (THREE, {"padding_side": "left"}, {"packed_pads", "h_n_forward"}),
    ("1 2\n3 4", BOTH, set()),
]


@pytest.mark.parametrize(("text", "settings", "differs"), DIFFERS)
@pytest.mark.parametrize("cell", ["rnn", "gru", "lstm"])
def test_what_padding_changes(text: str, settings: dict[str, Any], differs: set[str], cell: str) -> None:
    trace = made(text, cell=cell, **settings)
    done = compare(trace)
    found = {each.key for each in done.findings if each.severity != "note"}
    assert {key for key in found if not key.startswith("c_n")} - {"pads"} == differs
    assert ("pads" in done.sentences) == (text == THREE)
    apart = (padded_run(trace)[0] - packed_run(trace)[0])[done.valid].abs()  # (N, D*H)
    for half, off in zip(WAYS, torch.split(apart, trace.module.hidden_size, 1), strict=False):
        assert (float(off.max()) > 1e-5) == (half in differs)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16])
def test_each_dtype_is_judged_by_its_own_rounding(dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    done = compare(trace_module(nn.GRU(2, 4, dtype=dtype), torch.randn(9, 3, 2, dtype=dtype), [9, 1, 5]))
    named = {torch.float64: 1e-12, torch.float32: 1e-5}
    assert done.tolerance == named.get(dtype, 2 * torch.finfo(dtype).eps)
    assert same(done, "forward")
    assert not same(done, "h_n_forward")


@pytest.mark.parametrize("weight_ih", [1.0, 1e20])
def test_endless_numbers_are_never_called_equal(weight_ih: float) -> None:
    module = nn.RNN(1, 2, nonlinearity="relu")
    with torch.no_grad():
        for weight in module.parameters():
            weight.fill_(weight_ih)
        module.get_parameter("weight_hh_l0").fill_(1e20)
    trace = trace_module(module, torch.ones(6, 2, 1), [6, 1])
    done = compare(trace)
    assert not same(done, "h_n_forward")
    assert same(done, "forward")
    assert not any("nan" in sentence or "inf " in sentence for sentence in done.sentences.values())
    if weight_ih > 1:
        assert drift(trace, 5).sentence == "Within 5 pads the state of A and B is no longer finite."


def test_a_module_of_ones_own_is_left_as_it_is() -> None:
    module = nn.LSTM(2, 3, num_layers=2, dropout=0.5, bidirectional=True).train()
    calls: list[int] = []
    module.register_forward_hook(lambda *_: calls.append(1))
    before = {name: weight.detach().clone() for name, weight in module.named_parameters()}
    trace = trace_module(module, torch.randn(4, 3, 2), [4, 1, 2])
    state = torch.get_rng_state()
    for study in STUDIES:
        study(trace)
    assert torch.equal(torch.get_rng_state(), state)
    assert module.training
    assert not calls
    assert all(weight.grad is None for weight in module.parameters())
    assert all(torch.equal(weight, before[name]) for name, weight in module.named_parameters())
    assert not torch.is_inference_mode_enabled()
    assert torch.is_grad_enabled()


def test_each_switch_is_the_comparison_of_a_new_trace(seen: Trace) -> None:
    done, now = switches(seen), compare(seen).verdicts
    assert bool(done) == (seen.config is not None)
    for one in done:
        assert seen.batch is not None
        assert seen.config is not None
        assert getattr(seen.config, one.setting) == one.before != one.after
        setting: dict[str, Any] = {one.setting: one.after}
        again = compare(trace(seen.batch, replace(seen.config, **setting)))
        assert all(again.sentences.get(key, told) == told for key, told in one.changed.items())
        for key, verdict in again.verdicts.items():
            assert (key in one.changed) == (verdict != now.get(key, verdict if all(verdict) else ())), key


def test_alone_and_in_the_batch_the_four_states_are_torchs_own(seen: Trace) -> None:
    D, in_batch = len(seen.layers[0]), (padded_run(seen)[1][0], packed_run(seen)[1][0])
    for b in range(min(3, len(seen.padded.lengths))):
        done, own = batch_dependence(seen, b), alone(seen, b)[1][0][-D:].flatten()
        for pair, batch in zip((done.padded, done.packed), in_batch, strict=True):
            h_n = batch[-D:, b].flatten()
            torch.testing.assert_close(pair[0], own, atol=bound(seen, own), rtol=0)
            torch.testing.assert_close(pair[1], h_n, atol=bound(seen, h_n), rtol=0)
        if right_padded(seen):
            assert not differing(done.packed[0][None], done.packed[1][None])
            assert done.outputs[1] <= bound(seen, seen.output)
