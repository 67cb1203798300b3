"""Why pack: the final state of the shortest sequence by itself, padded and packed, beside torch's own runs."""

from itertools import product

import pytest
import torch
from facts_cases import alone, made, padded_run, refused
from torch import Tensor
from torch.nn.utils.rnn import pack_sequence

from packviz.compute.trace import Trace, trace_module
from packviz.facts import FinalState, final_state

TEXT = "I love cats\nshe sleeps\nwe sing old songs"


def found(t: Trace) -> FinalState:
    record = final_state(t)
    assert isinstance(record, FinalState)
    return record


def packed_run(t: Trace) -> Tensor:
    cells = zip(t.padded.grid, t.padded.lengths.tolist(), strict=True)  # what is packed, pads on the left among it
    h_n = t.module(pack_sequence([grid[:length] for grid, length in cells], enforce_sorted=False))[1]
    state: Tensor = h_n[0] if isinstance(h_n, tuple) else h_n
    return state.detach()


@pytest.mark.parametrize("side", ["right", "left"])
@pytest.mark.parametrize(("cell", "both", "layers"), [*product(("rnn", "gru", "lstm"), (False, True), (1, 2))])
def test_the_states_of_the_shortest_sequence_are_those_of_torch(cell: str, both: bool, layers: int, side: str) -> None:
    t = made(TEXT, cell=cell, bidirectional=both, num_layers=layers, batch_first=False, padding_side=side)
    record, D = found(t), 1 + both
    own = torch.cat([alone(t, b)[1][0][-D:].reshape(D, 1, -1) for b in range(3)], 1)  # (D, B, H)
    padded = padded_run(t)[1][0][-D:]
    d, b = 0, 1  # the same, whatever the settings
    assert (record.direction, record.b) == ("forward" if both else "", b)
    for way, state in {record.alone: own, record.padded: padded, record.packed: packed_run(t)[-D:]}.items():
        torch.testing.assert_close(way.h, state[d, b])
        off = float((state[d, b] - own[d, b]).abs().max())
        assert way.off == pytest.approx(off if off > 1e-5 else 0.0, rel=1e-4)


@pytest.mark.parametrize(
    ("text", "settings", "padded", "packed"),
    [
        ("1 2 3 4\n5 6", {}, [False, False, True, True], [False, False]),
        ("1 2 3 4\n5 6", {"padding_side": "left"}, [True, True, False, False], [True, True]),
    ],
)
def test_a_packed_pad_is_read_too(
    text: str, settings: dict[str, object], padded: list[bool], packed: list[bool]
) -> None:
    record = found(made(text, **settings))
    assert record.b == 1
    assert [list(way.pads) for way in (record.alone, record.padded, record.packed)] == [[False] * 2, padded, packed]


def test_backwards_the_pads_on_the_right_are_read_first() -> None:
    t = made("1 2 3\n4", bidirectional=True)
    with torch.no_grad():
        for name, weight in t.module.named_parameters():
            if not name.endswith("_reverse"):
                weight.zero_()
    record = found(trace_module(t.module, t.padded.values, t.padded.lengths))
    assert (record.direction, record.padded.pads) == ("backward", (True, True, False))


@pytest.mark.parametrize("shortest", [0.0, 1e-3])
def test_another_sequence_is_shown_if_pads_hardly_change_the_shortest(shortest: float) -> None:
    record = found(made(f"1 1 1\n1 1\n{shortest}", cell="rnn", bias=False))
    assert record.b == 1
    assert record.padded.off > 0.005


def test_where_pads_change_nothing_all_states_are_equal() -> None:
    t = made("1 2\n3", cell="rnn")
    with torch.no_grad():
        for weight in t.module.parameters():
            weight.zero_()
    record = found(trace_module(t.module, t.padded.values, t.padded.lengths))
    assert torch.equal(record.padded.h, record.alone.h)
    assert (record.b, record.padded.off, record.packed.off) == (1, 0.0, 0.0)


@pytest.mark.parametrize(
    ("text", "said"), [("1 2 3", "One sequence needs no padding."), ("1 2\n3 4", "All sequences have the same length,")]
)
def test_without_a_pad_a_sentence_says_why(text: str, said: str) -> None:
    record = final_state(made(text))
    assert isinstance(record, str)
    assert record.split("**")[1] == said


def test_an_order_that_torch_refuses_is_explained() -> None:
    record = final_state(refused())
    assert isinstance(record, str)
    assert "refuses to pack this order" in record
