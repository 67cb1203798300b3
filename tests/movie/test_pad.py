"""The ragged rows, the filler, and the embedding: every token stands where pad_sequence puts it."""

import pytest
from movie_cases import CASES, Case, over
from movie_judge import close
from movie_screen import grid_of, standing
from torch.nn.utils.rnn import pad_sequence

each_case = over(CASES)


@each_case
def test_at_first_every_row_is_as_long_as_its_sequence(case: Case) -> None:
    first = case.show.after[0]
    placed = grid_of(standing(first, "token"), transposed=False)
    assert not standing(first, "pad", "axis")
    for row, b in enumerate(sorted(case.filmed)):
        columns = sorted(t for p, t in placed if p == row)
        assert columns == list(range(sum(case.judge.mask[b][t] for t in range(case.steps_filmed))))
        assert {placed[row, t]["seq"] for t in columns} == {b}


@each_case
def test_tokens_stand_where_pad_sequence_puts_them_and_pads_everywhere_else(case: Case) -> None:
    placed = grid_of(standing(case.show.end_of("pad"), "token", "pad"), transposed=case.transposed)
    rows = sorted(case.filmed)
    assert set(placed) == {(row, t) for row in range(len(rows)) for t in range(case.steps_filmed)}
    for (row, t), cell in placed.items():
        assert cell["seq"] == rows[row]
        assert cell["role"] == ("token" if case.judge.mask[rows[row]][t] else "pad")
        if cell["role"] == "token":
            assert case.movie.tokens[cell["token"]] == (rows[row], t)


@over([case for case in CASES if case.trace.batch and case.trace.batch.kind != "vectors"])
def test_a_token_shows_what_was_typed_and_a_word_its_id_too(case: Case) -> int:
    batch, config, spoke = case.trace.batch, case.trace.config, 0
    assert batch
    assert config
    left = config.padding_side == "left"
    for cell in standing(case.show.first, "token"):
        b, t = case.movie.tokens[cell["token"]]
        assert cell["text"] == batch.texts[b][t - (case.judge.T - case.judge.lengths[b] if left else 0)]
        if batch.kind == "words":
            spoke += 1
            assert batch.vocabulary[int(cell["sub"])] == cell["text"]
    return spoke


@over([case for case in CASES if case.trace.batch])
def test_a_pad_shows_what_pad_sequence_filled_in(case: Case) -> int:
    batch, config, spoke = case.trace.batch, case.trace.config, 0
    assert batch
    assert config
    value = config.padding_value if case.trace.padded.embedding is None else config.padding_idx or 0
    grid = pad_sequence(list(batch.sequences), True, value, config.padding_side)
    for cell in standing(case.show.end_of("pad"), "pad"):
        spoke += 1
        _, b, t = cell["id"].split(":")
        assert float(cell["text"]) == pytest.approx(float(grid[int(b), int(t)].flatten()[0]), rel=1e-3)
    return spoke


@over([case for case in CASES if case.name == "own-filler"])
def test_a_pad_of_a_grid_of_ones_own_shows_what_stands_there(case: Case) -> None:
    assert {cell["text"] for cell in standing(case.show.end_of("pad"), "pad")} == {"9"}


@each_case
def test_vectors_are_those_that_enter_the_cell(case: Case) -> int:
    """Ids become theirs, the pads' too, when they are embedded; vectors have them from the beginning."""
    spoke = 0
    if case.trace.padded.embedding is not None:
        before = case.show.end_of("pad")
        cells = standing(case.show.end_of("embed"), "token", "pad")
        assert not any(cell.get("vec") for cell in standing(before, "token", "pad"))
        assert all([cell[key] for key in "xyp"] == [before[cell["id"]][key] for key in "xyp"] for cell in cells)
    else:
        cells = standing(case.show.first, "token") if case.judge.x.shape[-1] > 1 else []
    for cell in cells:
        spoke += 1
        _, b, t = cell["id"].split(":")
        assert cell["scale"] == "input"
        assert close(cell["vec"], case.judge.x[int(b), int(t)])
    return spoke


@each_case
def test_letters_lengths_and_time_steps_stand_beside_the_grid_in_line_with_it(case: Case) -> None:
    cells = case.show.end_of("pad")
    assert {c["seq"]: c["text"] for c in standing(case.show.first, "label")} == {b: case.letter(b) for b in case.filmed}
    assert [letter for letter, *_ in case.show.data["sequences"][:26]] == [
        case.letter(b) for b in range(min(26, case.judge.B))
    ]
    assert {cell["seq"]: cell["text"] for cell in standing(cells, "length")} == {
        b: f"len {case.judge.lengths[b]}" for b in case.filmed
    }
    assert [cell["text"] for cell in standing(cells, "axis")] == [f"t={t}" for t in range(case.steps_filmed)]
    along, across = ("y", "x") if case.transposed else ("x", "y")
    for cell in standing(cells, "token", "pad"):
        _, b, t = cell["id"].split(":")
        assert cell[across] == cells[f"label:{b}"][across]
        assert cell[along] == cells[f"axis:{t}"][along]
        assert cells[f"label:{b}"][along] < cell[along] < cells[f"length:{b}"][along]
        assert cells[f"axis:{t}"][across] < cell[across]
