"""What a pointer reads: the letter, the time step and the address of a token, by arithmetic that comes out right."""

import re

import pytest
import torch
from movie_cases import CASES, PACKED, Case, over

import packviz as pv
from packviz import Batch, Config
from packviz.show.movie.columns import grouped, in_order


@over(CASES)
def test_a_tip_names_the_sequence_and_the_time_step(case: Case) -> None:
    for token in case.movie.tokens:
        assert f"sequence {case.letter(token.b)}, time step {token.t}" in token.tip
        assert case.judge.mask[token.b][token.t]


@over(CASES)
def test_every_token_that_is_shown_has_its_tip_once(case: Case) -> None:
    tokens = [(token.b, token.t) for token in case.movie.tokens]
    assert len(set(tokens)) == len(tokens)
    assert set(tokens) == {(b, t) for b in case.filmed for t in range(min(128, case.judge.T)) if case.judge.mask[b][t]}


@over(PACKED)
def test_the_address_is_the_row_at_which_torch_holds_the_token(case: Case) -> None:
    for token in case.movie.tokens:
        if (token.b, token.t) not in case.judge.row:
            assert token.n is None
            assert "data[" not in token.tip
            continue
        n = case.judge.row[token.b, token.t]
        found = re.search(
            r"packed row (\d+): data\[offset\[(\d+)\] \+ position\] = data\[(.+)\] = data\[(\d+)\]$", token.tip
        )
        assert found, token.tip
        offset, position = map(int, found[3].split(" + "))
        assert int(found[1]) == token.n == n == offset + position == int(found[4])
        assert int(found[2]) == token.t
        assert offset == sum(case.judge.batch_sizes[: token.t])
        assert torch.equal(case.judge.packed.data[n].nan_to_num(), case.judge.x[token.b, token.t].nan_to_num())


@over([case for case in CASES if case.name in ("words", "forum")])
def test_a_tip_quotes_what_was_typed(case: Case) -> None:
    for token in case.movie.tokens:
        text = case.trace.batch.texts[token.b][token.t]
        identity = f" (id {int(case.trace.batch.sequences[token.b][token.t])})" if case.name == "words" else ""
        assert token.tip.startswith(f"“{text}{identity}”, sequence {case.letter(token.b)}")


def test_where_torch_refused_no_token_has_an_address() -> None:
    movie = pv.movie(pv.trace(Batch.parse("1\n2 3"), Config(enforce_sorted=True)))
    assert {token.n for token in movie.tokens} == {None}
    assert not any("data" in token.tip for token in movie.tokens)


def test_a_token_that_left_padding_keeps_from_being_packed_has_no_address() -> None:
    movie = pv.movie(pv.trace(Batch.parse("1 2 3\n4"), Config(padding_side="left")))
    assert [token.n for token in movie.tokens if token.b == 1] == [None]


@over(CASES)
def test_a_sequence_has_a_letter_and_a_hue_of_its_own(case: Case) -> None:
    sequences = case.movie.sequences
    assert len(sequences) == case.judge.B
    assert len({sequence.label for sequence in sequences}) == len(sequences)
    assert len({(sequence.hue, sequence.lap) for sequence in sequences}) == len(sequences)
    assert {sequence.hue for sequence in sequences} == set(range(min(10, len(sequences))))


@pytest.mark.parametrize(
    ("text", "title"),
    [("1 2\n3", "2 sequences, 3 tokens, GRU"), ("7", "1 sequence, 1 token, GRU")],
)
def test_the_title_counts_sequences_and_tokens(text: str, title: str) -> None:
    assert pv.movie(pv.trace(Batch.parse(text))).title == title


@over(PACKED)
def test_the_scale_ends_at_the_largest_number(case: Case) -> None:
    hidden = [half[half.isfinite()].abs() for layer in case.judge.hidden for half in layer]
    largest = max([1.0, *(float(half.max()) for half in hidden if len(half))])
    ends = case.movie.scales
    assert ends["state"] >= largest - 1e-5
    assert case.judge.module.mode == "LSTM" or ends["state"] == pytest.approx(largest, rel=1e-5)
    finite = case.judge.x[case.judge.x.isfinite()].abs()
    assert ends["input"] >= float(finite.max())


def test_columns_hold_the_records_that_they_were_made_of() -> None:
    one, two, other = {"x": 1, "vec": (1, 2)}, {"x": 1, "vec": (3, 4)}, {"x": 2, "tone": ""}
    assert in_order([one, two, other, one]) == [
        {"x": 1, "vec": [(1, 2), (3, 4)], "n": 2},
        {"x": 2, "tone": "", "n": 1},
        {"x": 1, "vec": [(1, 2)], "n": 1},
    ]
    assert grouped([{"c": 4, "x": 1}, {"c": 1, "tone": "now"}, {"c": 2, "x": 3}]) == [
        {"c": [4, 2], "x": [1, 3]},
        {"c": [1], "tone": "now"},
    ]


@over(CASES)
def test_no_beat_changes_a_cell_twice(case: Case) -> None:
    for beat in (beat for step in case.movie.steps for beat in step.beats):
        assert len({change.id for change in beat}) == len(beat)


@over(CASES)
def test_what_is_drawn_around_cells_is_painted_after_all_of_them(case: Case) -> None:
    around = [cell.role in ("ring", "mark") for cell in case.movie.cells]
    assert around == sorted(around)
