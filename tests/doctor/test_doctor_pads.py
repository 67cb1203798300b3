"""What a pad is and what is found: a case for each line of the list in pads.py."""

from collections.abc import Sequence
from typing import Any

import pytest
import torch
from doctor_cases import on_the_left, pack, repaired
from seeds import seeds
from torch import Tensor, nn
from torch.nn.functional import one_hot
from torch.nn.utils.rnn import PackedSequence, pad_packed_sequence, pad_sequence, unpack_sequence

import packviz as pv
from packviz.doctor import filler_of
from packviz.rules import pads
from packviz.rules.padded_grid import NOTHING
from packviz.rules.pads import PadCase

Rows = list[list[int]]


def lines(heading: str, cases: Sequence[PadCase[Any]]) -> str:
    assert all(case.on_one == case.question.startswith("a sequence") for case in cases)
    return "\n".join([heading, *(f"    {case.question:<79}{case.concludes}" for case in cases)])


def test_the_docstring_is_the_list() -> None:
    groups = [lines("what a pad is", pads.PADS), *(lines(group, cases) for group, cases in pads.CASES.items())]
    assert "\n".join(groups) in str(pads.__doc__)


@pytest.mark.parametrize("group", pads.CASES)
def test_what_a_case_concludes_is_the_key_of_a_finding(group: str) -> None:
    found = {case.concludes for case in pads.CASES[group]} - {NOTHING}
    assert pv.Findings().ignoring(found) == ()  # which refuses other words


PADS: dict[str, tuple[Rows, list[int], int]] = {  # x, lengths, and what is assumed to be a pad
    "two steps, one number": ([[1, 7, 7], [2, 3, 4]], [1, 3], 7),
    "one step": ([[1, 2, 7], [2, 3, 4]], [2, 3], 0),
    "two numbers": ([[1, 7, 8], [2, 3, 4]], [1, 3], 0),
    "no step": ([[1, 7, 7], [2, 7, 7]], [3, 3], 0),
}


@pytest.mark.parametrize("name", PADS)
def test_a_pad_is_the_only_number_after_the_lengths_or_0(name: str) -> None:
    x, lengths, pad = PADS[name]
    assert filler_of(torch.tensor(x), lengths, batch_first=True) == pad
    assert filler_of(torch.tensor(x).T, lengths, batch_first=False) == pad
    assert filler_of(torch.tensor(x)[..., None].expand(-1, -1, 3), lengths, batch_first=True) == pad


# x, lengths, and what is found in single numbers, in steps of several features, and in either with padding_value=0
FOUND: dict[str, tuple[Rows, list[int], str, str, str]] = {
    "all steps": ([[0, 0], [0, 0]], [1, 2], "", "", ""),
    "dimensions swapped": (
        [[1, 3, 4], [2, 0, 5], [0, 0, 6]],
        [2, 1, 3],
        "silent batch_first",
        "silent batch_first",
        "silent batch_first",
    ),
    "time reversed": ([[0, 0, 1], [4, 5, 6]], [1, 3], "silent left_padded", "silent left_padded", "silent left_padded"),
    "another order": (
        [[1, 0, 0], [4, 5, 6]],
        [3, 1],
        "silent lengths_order",
        "silent lengths_order",
        "silent lengths_order",
    ),
    "none at the ends": ([[1, 2, 3], [4, 5, 6]], [1, 3], "", "", "silent tokens_dropped"),
    "counted out": (
        [[1, 0, 2, 0], [3, 4, 5, 6]],
        [2, 4],
        "silent zero_counted_out",
        "silent zero_counted_out",
        "silent zero_counted_out",
    ),
    "left out": ([[1, 2, 0], [4, 5, 6]], [1, 3], "note tokens_dropped", "note tokens_dropped", "silent tokens_dropped"),
    "at an end": ([[1, 2, 0], [4, 5, 6]], [3, 3], "", "note pads_packed", "silent pads_packed"),
    "at an end and inside": ([[1, 2, 0], [4, 0, 6]], [3, 3], "", "note pads_packed", "silent pads_packed"),
    "at an end and after": (
        [[1, 2, 0], [4, 5, 0]],
        [3, 2],
        "note pads_packed",
        "note pads_packed",
        "silent pads_packed",
    ),
    "a whole sequence": ([[0, 0, 0], [4, 5, 6]], [3, 3], "", "note pads_packed", "silent pads_packed"),
    "a sequence of one step": ([[0, 0, 0], [4, 5, 6]], [1, 3], "", "", ""),
    "at a beginning": ([[0, 1, 2], [4, 5, 6]], [3, 3], "", "", "silent left_padded"),
    "at each beginning": ([[0, 1, 2], [0, 5, 6]], [3, 3], "", "", "silent left_padded"),
    "at a beginning and after": ([[0, 1, 0], [4, 5, 6]], [2, 3], "", "", ""),
    "after the lengths": ([[1, 2, 0], [4, 5, 6]], [2, 3], "", "", ""),
}


def keys(found: pv.Findings) -> str:
    return " ".join(f"{one.severity} {one.key}" for one in found)


@pytest.mark.parametrize(("lengths", "found"), [
    ([2, 3], "silent lengths_order error unsorted"),  # the lengths are those of B and A
    ([1, 2], "error unsorted note tokens_dropped"),
])  # fmt: skip
def test_the_cause_comes_first_and_notes_come_last(lengths: list[int], found: str) -> None:
    assert keys(pv.examine(torch.tensor([[1, 2, 3], [4, 5, 0]]), lengths, batch_first=True)) == found


def several(steps: Tensor) -> Tensor:
    """Return single numbers (B, T) as steps of three features, (B, T, 3)."""
    return steps.unsqueeze(-1).expand(-1, -1, 3)


@pytest.mark.parametrize("name", FOUND)
def test_what_is_found_beside_lengths(name: str) -> None:
    rows, lengths, single, assumed, given = FOUND[name]
    for x, found_in in ((torch.tensor(rows), single), (several(torch.tensor(rows)), assumed)):
        found = pv.examine(x, lengths, batch_first=True, enforce_sorted=False)
        assert keys(found) == found_in
        assert all("Pads are assumed to be 0: give padding_value if they are not." in one.found for one in found)
        told = pv.examine(x, lengths, batch_first=True, enforce_sorted=False, padding_value=0)
        assert keys(told) == given
        assert not any("assumed" in one.found for one in told)


@pytest.mark.parametrize("name", ["dimensions swapped", "time reversed"])
def test_pads_elsewhere_may_be_another_number(name: str) -> None:
    rows, lengths, assumed, *_ = FOUND[name]
    x = torch.tensor(rows)
    found = pv.examine(x.masked_fill(x == 0, -1), lengths, batch_first=True, enforce_sorted=False)
    assert (keys(found), "Pads are assumed to be -1: give" in found[0].found) == (assumed, True)


@pytest.mark.parametrize("name", ["at an end", "at an end and inside", "a whole sequence"])
def test_what_is_found_in_packed_data(name: str) -> None:
    rows, lengths, single, assumed, given = FOUND[name]
    for x, found in ((torch.tensor(rows), single), (several(torch.tensor(rows)), assumed)):
        packed = pack(x, lengths)
        assert (keys(pv.examine(packed)), keys(pv.examine(packed, padding_value=0))) == (found, given)


def test_packed_data_of_nothing_but_pads_are_not_judged() -> None:
    for value in (0.0, 7.0):
        assert pv.examine(pack(torch.full((2, 3, 2), value), [3, 2]), padding_value=value) == ()


RUN: dict[str, tuple[Rows, str, str]] = {  # x, what is found in steps of several features, and with padding_value=0
    "at an end": ([[1, 2, 0], [4, 5, 6]], "note unpacked", "note unpacked"),
    "at an end and inside": ([[1, 2, 0], [4, 0, 6]], "note unpacked", "note unpacked"),
    "a whole sequence": ([[0, 0, 0], [4, 5, 6]], "note unpacked", "note unpacked"),
    "at a beginning": ([[0, 2, 3], [4, 5, 6]], "", "silent left_padded"),
    "at each beginning": ([[0, 2, 3], [0, 5, 6]], "", "silent left_padded"),
    "all steps": ([[0, 0, 0], [0, 0, 0]], "", ""),
}


@pytest.mark.parametrize("name", RUN)
def test_what_is_found_in_a_grid_that_is_run(name: str) -> None:
    rows, assumed, given = RUN[name]
    steps = torch.tensor(rows, dtype=torch.float32)
    for x, expected in ((steps.unsqueeze(-1), ""), (several(steps), assumed)):
        module = nn.GRU(x.size(2), 3, batch_first=True)
        found = pv.examine(module, x)
        assert keys(found) == expected
        assert all("Pads are assumed to be 0: give" in one.found for one in found)
        assert keys(pv.examine(module, x, padding_value=0.0)) == given


LENGTHS, T, F = [5, 3, 2, 2], 5, 3
torch.manual_seed(0)
SEQUENCES = [torch.randn(length, F) for length in LENGTHS]
INSIDE = (torch.arange(T) < torch.tensor(LENGTHS)[:, None])[..., None]
VECTORS = {
    "scaled after padding": torch.tensor([-0.3, 1.7, 0.2]),
    "an embedding without padding_idx": nn.Embedding(1, F).weight[0].detach(),
    "-1": torch.full((F,), -1.0),
}
GRIDS = {kind: pad_sequence(SEQUENCES, batch_first=True).where(INSIDE, step) for kind, step in VECTORS.items()}
GRU = nn.GRU(F, 4, batch_first=True)


def watched(x: Tensor, lengths: list[int] | None = None) -> pv.Findings:
    """Return what is found in a call of GRU, which is given x, or x packed with lengths."""
    with pv.watch(GRU) as seen:
        GRU(x if lengths is None else pack(x, lengths))
    return seen.findings


@pytest.mark.parametrize("kind", GRIDS)
def test_a_step_that_alone_is_after_the_lengths_is_a_pad(kind: str) -> None:
    x = GRIDS[kind]
    assert pv.examine(x, LENGTHS, batch_first=True) == ()
    for given, lengths, key in ((x, [5, 3, 2, 3], "pads_packed"), (on_the_left(x, LENGTHS), LENGTHS, "left_padded")):
        (finding,) = pv.examine(given, lengths, batch_first=True, enforce_sorted=False)
        assert [one.key for one in watched(given, lengths)] == [key]
        assert (finding.key, finding.severity) == (key, "note" if key == "pads_packed" else "silent")
        assert f"Pads are assumed to be {'-1' if kind == '-1' else '['}" in finding.found
        after = repaired(finding, x=given, lengths=lengths, batch_first=True)
        torch.testing.assert_close(unpack_sequence(pack(after["x"], after["lengths"])), SEQUENCES, rtol=0, atol=0)


@pytest.mark.parametrize("kind", GRIDS)
def test_no_step_but_0_is_a_pad_where_nothing_is_after_the_lengths(kind: str) -> None:
    x = GRIDS[kind]
    for grid in (x, on_the_left(x, LENGTHS)):
        assert pv.examine(grid, [T] * 4, batch_first=True) == pv.examine(pack(grid, [T] * 4)) == ()
        assert pv.examine(GRU, grid) == watched(grid) == watched(grid, [T] * 4) == ()


def test_complex_steps_are_not_compared() -> None:
    x = GRIDS["-1"].to(torch.complex64)
    assert pv.examine(x, [T] * 4, batch_first=True) == pv.examine(pack(x, [T] * 4)) == ()


class Pyramid(nn.Module):
    """Two layers; the second gets the steps of the first in pairs, or more of them, and as many times fewer."""

    def __init__(self, joined: int) -> None:
        super().__init__()
        self.joined = joined
        self.lower = nn.LSTM(F, 4, batch_first=True, bidirectional=True)
        self.upper = nn.LSTM(8 * joined, 4, batch_first=True)

    def forward(self, x: PackedSequence) -> Tensor:
        grid, lengths = pad_packed_sequence(self.lower(x)[0], batch_first=True)
        grid = grid[:, : grid.size(1) // self.joined * self.joined]
        grid = grid.reshape(len(grid), -1, 8 * self.joined)
        final: Tensor = self.upper(pack(grid, lengths // self.joined))[1][0]
        return final


@pytest.mark.parametrize("joined", [2, 3, 4])
def test_a_pyramidal_encoder_has_a_note_only_if_it_leaves_out_steps(joined: int) -> None:
    model = Pyramid(joined)
    for seed in seeds(20):
        torch.manual_seed(seed)
        drawn = torch.randint(joined, 20, (6,))
        for lengths, found in ((drawn // joined * joined, {""}), (drawn, {"", "note tokens_dropped"})):
            x = pad_sequence([torch.randn(int(length), F) for length in lengths], batch_first=True)
            with pv.watch(model) as seen:
                model(pack(x, lengths))
            assert seen.seen == 2
            assert keys(seen.findings) in found, seed


def test_lengths_that_are_all_one_short_are_found_in_one_hot_data() -> None:
    texts = [torch.tensor(ids) for ids in ([1, 2, 3, 4, 5], [3, 1, 2], [5, 4])]
    x = pad_sequence([one_hot(ids, 8).float() for ids in texts], batch_first=True)
    assert pv.examine(x, [5, 3, 2], batch_first=True) == ()
    assert keys(pv.examine(x, [4, 2, 1], batch_first=True)) == "note tokens_dropped"
    assert keys(pv.examine(x, [4, 2, 1], batch_first=True, padding_value=0.0)) == "silent tokens_dropped"


def test_a_zero_among_the_tokens_that_are_left_out_hides_them_from_no_call() -> None:
    x, lengths = torch.tensor([[1.0, 2, 3, 4, 5], [5, 6, 0, 7, 0]]).unsqueeze(-1), [5, 2]
    gru = nn.GRU(1, 2, batch_first=True)
    with pv.watch(gru, padding_value=0.0) as seen:
        gru(pack(x, lengths))
    assert keys(seen.findings) == keys(pv.examine(x, lengths, batch_first=True, padding_value=0.0))
    assert keys(seen.findings) == "silent tokens_dropped"


def test_lengths_that_are_too_short_in_a_pyramid_are_a_finding() -> None:
    model, x = Pyramid(2), torch.randn(3, 8, F)
    with pv.watch(model.upper) as seen, torch.no_grad():
        grid, _ = pad_packed_sequence(model.lower(pack(x, [8, 6, 3]))[0], batch_first=True)
        model.upper(pack(grid.reshape(3, 4, 16), [3, 2, 1]))
    assert keys(seen.findings) == "note tokens_dropped"
