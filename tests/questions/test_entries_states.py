"""Entries 39 to 45, on hidden states and both directions: their verdicts, and torch as the judge of what they tell."""

from dataclasses import replace

import pytest
import torch
from entry_cases import asking, sequences_of
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_sequence, pad_packed_sequence

from packviz.questions.answer import answer
from packviz.questions.entries.states import ENTRIES
from packviz.questions.model import Entry, Verdict

BY_ROW = {entry.rows[0]: entry for entry in ENTRIES}
EXPECTED: dict[int, Verdict] = {
    39: "depends",  # zeros for short rows, the state after pads without packing; the longest has no pad
    40: "depends",  # output is the top layer; h_n is all layers
    41: "depends",  # the backward half differs, but where the length is 1
    42: "false",  # h_n is ordered l0 forward, l0 backward, l1 ...
    43: "depends",  # backward outputs differ with biases, and are equal without
    44: "depends",  # separate weights for each direction; with tied ones they swap
    45: "depends",  # padded leaks, packed does not
}
SEEDS = range(8)
changed = asking(BY_ROW)


def tokens(entry: Entry) -> list[Tensor]:
    """Return the sequences as (length, 1)."""
    return [sequence[:, None] for sequence in sequences_of(entry.batch)]


def cell(entry: Entry) -> nn.RNNBase:
    """Return torch's own module with the weights of the entry."""
    config = entry.config
    torch.manual_seed(config.seed)
    kind = {"rnn": nn.RNN, "gru": nn.GRU, "lstm": nn.LSTM}[config.cell]
    settings = {"num_layers": config.num_layers, "bidirectional": config.bidirectional, "bias": config.bias}
    return kind(1, config.hidden_size, batch_first=True, **settings)


def h_of(state: Tensor | tuple[Tensor, Tensor]) -> Tensor:
    return state[0] if isinstance(state, tuple) else state


def close(one: Tensor, other: Tensor) -> bool:
    return torch.allclose(one, other, atol=1e-6)


def test_there_is_one_entry_for_each_row() -> None:
    assert sorted(row for entry in ENTRIES for row in entry.rows) == list(EXPECTED)


@pytest.mark.parametrize("row", EXPECTED)
def test_each_verdict_is_the_one_of_the_checked_list(row: int) -> None:
    assert answer(BY_ROW[row]).outcome.verdict == EXPECTED[row]


@pytest.mark.parametrize("row", [39, 43, 45])
def test_where_all_lengths_are_equal_pads_can_spoil_nothing(row: int) -> None:
    assert changed(row, "1 -1 2\n2 1 -2\n3 0 1").outcome.verdict == "true"


@pytest.mark.parametrize("seed", SEEDS)
def test_h_n_is_the_state_of_each_sequence_alone_and_the_last_column_is_filler(seed: int) -> None:
    done = changed(39, seed=seed)
    gru = cell(done.entry)
    with torch.no_grad():
        alone = torch.cat([gru(one[None])[1][-1] for one in tokens(done.entry)])
    assert close(done.fixed.value, alone)
    lengths = [len(one) for one in tokens(done.entry)]
    for b, length in enumerate(lengths):
        assert bool((done.broken.value[b] == 0).all()) == (length < max(lengths))


def test_without_packing_the_last_column_has_read_the_pads() -> None:
    entry = BY_ROW[39]
    gru = cell(entry)
    with torch.no_grad():
        padded = [torch.cat([one, torch.zeros(3 - len(one), 1)]) for one in tokens(entry)]
        after_pads = torch.cat([gru(one[None])[1][-1] for one in padded])
    chart = answer(entry).outcome.chart
    assert chart is not None
    panel = chart.of[0][1]
    assert panel.title == "padded: out[:, -1]"
    assert close(torch.tensor(panel.values, dtype=torch.float32), after_pads)
    assert panel.wrong == {(b, j) for b in (0, 2) for j in range(3)}


def test_with_another_filler_it_is_the_filler_that_is_told() -> None:
    done = answer(replace(BY_ROW[39], broken=BY_ROW[39].broken.replace("(output, ", "(output, padding_value=7.0, ")))
    assert "[7.0]" in done.outcome.told


@pytest.mark.parametrize("layers", [1, 2, 3])
def test_only_the_top_layers_part_of_h_n_stands_in_output(layers: int) -> None:
    outcome = changed(40, num_layers=layers).outcome
    assert list(outcome.cases.values()) == [False] * (layers - 1) + [True]
    assert outcome.verdict == ("true" if layers == 1 else "depends")


def test_the_top_layer_of_h_n_is_output_at_the_last_token() -> None:
    entry = BY_ROW[40]
    done = answer(entry)
    output, h_n = cell(entry)(pack_sequence(tokens(entry), enforce_sorted=False))
    out, lens = pad_packed_sequence(output, batch_first=True)
    assert close(done.broken.value, h_n[1])
    assert close(done.broken.value, out[torch.arange(3), lens - 1])
    assert close(done.fixed.value, h_n[0])
    assert not close(h_n[0], h_n[1])
    assert str(tuple(output.data.shape)) in done.outcome.told
    assert str(tuple(h_n.shape)) in done.outcome.told


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", ["rnn", "gru", "lstm"])
def test_the_backward_half_at_the_last_token_has_read_that_token_alone(kind: str, seed: int) -> None:
    entry = BY_ROW[41]
    if kind != "lstm":
        entry = replace(entry, broken=entry.broken.replace("(h_n, c_n)", "h_n").replace("lstm", kind))
        entry = replace(entry, fixed=entry.fixed.replace("(h_n, c_n)", "h_n").replace("lstm", kind))
    done = answer(replace(entry, config=replace(entry.config, cell=kind, seed=seed)))
    module = cell(done.entry)
    with torch.no_grad():
        for b, one in enumerate(tokens(done.entry)):
            last, whole = h_of(module(one[None, -1:])[1]), h_of(module(one[None])[1])
            assert close(done.broken.value[b, 2:], last[1, 0])
            assert close(done.broken.value[b, :2], whole[0, 0])
            assert close(done.fixed.value[b], whole[:, 0].flatten())
    assert list(done.outcome.cases.values()) == [True, False, True]


def test_where_each_sequence_has_length_1_both_ways_to_read_agree() -> None:
    assert changed(41, "1\n-2\n3").outcome.verdict == "true"


def test_where_no_sequence_has_length_1_the_backward_half_differs_for_all() -> None:
    outcome = changed(41, "1 3\n-2 1 4").outcome
    assert outcome.cases == {"in the forward half": True, "in the backward half of A and B, longer than 1": False}
    assert "no sequence alone" in outcome.told


def test_with_one_layer_the_first_row_of_h_n_is_the_forward_one() -> None:
    assert changed(42, num_layers=1).outcome.verdict == "true"


@pytest.mark.parametrize("layers", [2, 3, 4])
def test_the_view_of_h_n_is_the_state_of_the_top_layers_forward_weights(layers: int) -> None:
    done = changed(42, num_layers=layers)
    assert done.outcome.verdict == "false"
    module = cell(done.entry)
    below = cell(replace(done.entry, config=replace(done.entry.config, num_layers=layers - 1)))
    top = nn.GRU(4, 2, batch_first=True)
    names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    top.load_state_dict({f"{name}_l0": getattr(module, f"{name}_l{layers - 1}") for name in names})
    own = {name: module.get_parameter(name) for name, _ in below.named_parameters()}
    below.load_state_dict(own)
    with torch.no_grad():
        forward = torch.cat([top(below(one[None])[0])[1][0] for one in tokens(done.entry)])
    assert close(done.fixed.value, forward)
    assert not close(done.broken.value, forward)
    assert "`out` has it at t = 0, index 1 of the 2" in done.outcome.told
    out, h_n = done.fixed["out"].detach(), done.fixed["h_n"].detach()
    assert close(out[:, 0, 2:], h_n[-1])


@pytest.mark.parametrize("kind", ["rnn", "gru", "lstm"])
def test_pads_reach_the_backward_half_and_every_half_above_it_but_not_without_biases(kind: str) -> None:
    entry = BY_ROW[43]
    gru = {"fixed": entry.fixed.replace("gru(", f"{kind}(").replace("h_n = ", "_ = "), "broken": entry.broken}
    gru["broken"] = gru["broken"].replace("gru(", f"{kind}(")
    done = answer(replace(entry, **gru, config=replace(entry.config, cell=kind)))
    assert list(done.outcome.cases.values()) == [True, False, False, True]


def test_the_numbers_told_of_both_halves_are_torchs() -> None:
    entry = BY_ROW[43]
    for layers, half in ((1, slice(2, 4)), (2, slice(0, 2))):
        module = cell(replace(entry, config=replace(entry.config, num_layers=layers)))
        with torch.no_grad():
            most = 0.0
            for one in tokens(entry):
                padded = torch.cat([one, torch.zeros(3 - len(one), 1)])
                apart = module(padded[None])[0][:, : len(one), half] - module(one[None])[0][:, :, half]
                most = max(most, float(apart.abs().max()))
        assert f"{most:.2g} off" in answer(entry).outcome.told


@pytest.mark.parametrize("seed", SEEDS)
def test_a_reversed_input_swaps_the_directions_where_they_have_the_same_weights(seed: int) -> None:
    done = changed(44, seed=seed)
    assert list(done.outcome.cases.values()) == [False, True]
    module = cell(done.entry)
    assert isinstance(module, nn.GRU)
    x = torch.stack(tokens(done.entry))
    with torch.no_grad():
        assert close(done.broken.value, module(x)[1][0] - module(x.flip(1))[1][1])
        for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"):
            module.get_parameter(f"{name}_l0_reverse").copy_(module.get_parameter(f"{name}_l0"))
        assert close(module(x)[1][0], module(x.flip(1))[1][1])


def test_were_the_weights_the_same_from_the_start_the_claim_would_hold() -> None:
    assert answer(replace(BY_ROW[44], broken=BY_ROW[44].fixed)).outcome.verdict == "true"


def test_the_batch_moves_a_padded_state_as_far_as_is_told() -> None:
    entry = BY_ROW[45]
    gru = cell(entry)
    with torch.no_grad():
        moved = [
            float((gru(torch.cat([one, torch.zeros(3 - len(one), 1)])[None])[1] - gru(one[None])[1]).abs().max())
            for one in tokens(entry)
        ]
    told = answer(entry).outcome.told
    assert moved.index(max(moved)) == 2
    assert f"gives C 2 pads, and they move its h_n by up to {max(moved):.2g}" in told


@pytest.mark.parametrize("settings", [{"cell": "lstm"}, {"num_layers": 2}, {"bidirectional": True}])
def test_a_packed_sequence_keeps_its_state_in_every_company(settings: dict[str, object]) -> None:
    entry = BY_ROW[45]
    done = answer(replace(entry, broken="x", fixed="sequences", config=replace(entry.config, **settings)))
    assert list(done.outcome.cases.values()) == [False, True]
