"""Why pack: the final state of the shortest sequence, padded and packed, beside torch's own runs."""

from itertools import product

import pytest
import torch
from facts_cases import alone, made, padded_run, refused
from torch.nn.utils.rnn import pack_sequence

from packviz.compute.trace import trace_module
from packviz.facts import FinalState, final_state
from packviz.text import two_digits

TEXT = "I love cats\nshe sleeps\nwe sing old songs"


def found(text: str = TEXT, **settings: object) -> FinalState:
    record = final_state(made(text, **settings))
    assert isinstance(record, FinalState)
    return record


@pytest.mark.parametrize(("cell", "both", "layers"), [*product(("rnn", "gru", "lstm"), (False, True), (1, 2))])
def test_the_states_are_those_of_torch_for_b_in_the_batch_and_alone(cell: str, both: bool, layers: int) -> None:
    t = made(TEXT, cell=cell, bidirectional=both, num_layers=layers, batch_first=False)
    record, top = final_state(t), -1 - both  # the top layer's forward half
    assert isinstance(record, FinalState)
    assert record.b == 1
    torch.testing.assert_close(record.alone, alone(t, 1)[1][0][top].squeeze(0))
    torch.testing.assert_close(record.padded, padded_run(t)[1][0][top, 1])
    packed = t.module(pack_sequence([t.padded.grid[b][t.padded.mask[b]] for b in range(3)], enforce_sorted=False))[1]
    torch.testing.assert_close(record.packed, (packed[0] if cell == "lstm" else packed)[top, 1].detach())
    assert record.lines[0].startswith(f"**{'Final forward state' if both else '*Final state*'} alone:** `[")


def test_the_lines_hold_the_rounded_states_and_the_verdicts() -> None:
    record = found()
    first, padded, packed = record.lines
    alone, left, right = (
        f"`[{', '.join(f'{number:.2f}' for number in state.tolist())}]`"
        for state in (record.alone, record.padded, record.packed)
    )
    off = float((record.padded - record.alone).abs().max())
    assert off > 0.1
    assert first == f"***Final state* alone:** {alone}"
    assert padded == f":red[**✗ Padded, an *RNN* reads pads:** {left} off by {off:.2f}]"
    assert packed == f":green[**✓ Packing skips them:** {right} equal]"


@pytest.mark.parametrize("seed", [23, 37])  # of which a state has such a number
def test_a_number_that_rounds_to_zero_has_no_sign(seed: int) -> None:
    assert [line for line in found(cell="rnn", seed=seed).lines if "-0.00" in line] == []


def test_a_wide_state_is_cut() -> None:
    _, padded, _ = found("1 2\n3", hidden_size=6).lines
    assert padded.split("`")[1].count(",") == 4
    assert ", …]`" in padded


def test_padded_on_the_left_the_packed_pads_spoil_both_sides() -> None:
    record = found(padding_side="left")
    _, padded, packed = record.lines
    off = float((record.packed - record.alone).abs().max())
    assert padded.startswith(":red[**✗ Padded, an *RNN* reads pads:**")
    assert packed.startswith(":red[**✗ Packed, with its pads:**")
    assert packed.endswith(f" off by {two_digits(off)}]")


def test_where_pads_change_nothing_the_line_says_so() -> None:
    t = made("1 2\n3", cell="rnn")
    with torch.no_grad():
        for weight in t.module.parameters():
            weight.zero_()
    record = final_state(trace_module(t.module, t.padded.values, t.padded.lengths))
    assert isinstance(record, FinalState)
    assert torch.equal(record.padded, record.alone)
    zeros = "`[0.00, 0.00, 0.00, 0.00]` equal]"
    assert record.lines[1:] == (
        f":green[**✓ Padded, which changes nothing:** {zeros}",
        f":green[**✓ Packing skips them:** {zeros}",
    )


@pytest.mark.parametrize(
    ("text", "said"), [("1 2 3", "One sequence needs no padding."), ("1 2\n3 4", "All sequences have the same length,")]
)
def test_without_a_pad_one_line_says_why(text: str, said: str) -> None:
    record = final_state(made(text))
    assert isinstance(record, tuple)
    assert [line.split("**")[1] for line in record] == [said]


def test_an_order_that_torch_refuses_is_explained() -> None:
    record = final_state(refused())
    assert isinstance(record, tuple)
    assert "refuses to pack this order" in record[0]
