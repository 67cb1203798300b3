"""The ragged rows, the filler, and the embedding: every token stands where pad_sequence puts it."""

import torch
from movie_cases import CASES, Case, over
from movie_judge import close
from movie_screen import Look, grid_of
from torch.nn.utils.rnn import pad_sequence

each_case = over(CASES)


def standing(cells: dict[str, Look], *families: str) -> list[Look]:
    """Return the cells of these families that are shown."""
    return [cell for name, cell in cells.items() if cell["shown"] and name.split(":")[0] in families]


def time_steps(case: Case) -> range:
    return range(min(case.judge.T, 128))


@each_case
def test_at_first_every_row_is_as_long_as_its_sequence(case: Case) -> None:
    first = case.show.after[0]
    placed = grid_of(standing(first, "token"), transposed=False)
    assert not standing(first, "pad", "axis")
    for row, b in enumerate(sorted(case.filmed)):
        columns = sorted(t for p, t in placed if p == row)
        assert len(columns) == sum(case.judge.mask[b][t] for t in time_steps(case))
        assert columns == list(range(len(columns)))
        assert {placed[row, t]["seq"] for t in columns} == {b}


@each_case
def test_tokens_stand_where_pad_sequence_puts_them_and_pads_everywhere_else(case: Case) -> None:
    cells = case.show.end_of("pad")
    placed = grid_of(standing(cells, "token", "pad"), transposed=case.transposed)
    rows = sorted(case.filmed)
    assert set(placed) == {(row, t) for row in range(len(rows)) for t in time_steps(case)}
    for (row, t), cell in placed.items():
        assert cell["seq"] == rows[row]
        assert cell["role"] == ("token" if case.judge.mask[rows[row]][t] else "pad")
        if cell["role"] == "token":
            token = case.movie.tokens[cell["token"]]
            assert (token.b, token.t) == (rows[row], t)


@each_case
def test_a_token_shows_what_was_typed(case: Case) -> int:
    spoke = 0
    if not case.trace.batch or case.trace.batch.kind == "vectors":
        return spoke
    texts = [text for b in sorted(case.filmed) for text in case.trace.batch.texts[b][: min(128, case.judge.T)]]
    if case.judge.T <= 128:
        spoke += 1
        assert [case.show.first[name]["text"] for name in case.show.ids if name.startswith("token:")] == texts
    return spoke


@each_case
def test_a_word_shows_its_id_too(case: Case) -> int:
    spoke = 0
    batch = case.trace.batch
    if not batch or batch.kind != "words":
        return spoke
    for name, cell in case.show.first.items():
        if name.startswith("token:"):
            spoke += 1
            assert batch.vocabulary[int(cell["sub"])] == cell["text"]
    return spoke


@each_case
def test_a_pad_shows_what_pad_sequence_filled_in(case: Case) -> int:
    spoke = 0
    if not case.trace.batch:
        return spoke
    sequences, config = list(case.trace.batch.sequences), case.trace.config
    embedded = case.trace.padded.embedding is not None
    grid = pad_sequence(
        sequences, True, (config.padding_idx or 0) if embedded else config.padding_value, config.padding_side
    )
    for name, cell in case.show.end_of("pad").items():
        if name.startswith("pad:"):
            spoke += 1
            _, b, t = name.split(":")
            assert float(cell["text"]) == float(grid[int(b), int(t)].flatten()[0])
    return spoke


@over([case for case in CASES if case.name == "own-filler"])
def test_a_pad_of_a_grid_of_ones_own_shows_what_stands_there(case: Case) -> None:
    pads = standing(case.show.end_of("pad"), "pad")
    assert pads
    assert {cell["text"] for cell in pads} == {"9"}


@each_case
def test_vectors_are_those_that_enter_the_cell(case: Case) -> None:
    if case.judge.x.shape[-1] == 1 or case.trace.padded.embedding is not None:
        return
    for token, name in enumerate(name for name in case.show.ids if name.startswith("token:")):
        b, t = case.movie.tokens[token].b, case.movie.tokens[token].t
        assert close(case.show.first[name]["vec"], case.judge.x[b, t])


@each_case
def test_every_cell_becomes_its_row_of_the_table_the_pads_too(case: Case) -> None:
    if case.trace.padded.embedding is None:
        return
    before, after = case.show.end_of("pad"), case.show.end_of("embed")
    assert not any(cell.get("vec") for cell in standing(before, "token", "pad"))
    for row in standing(after, "token", "pad"):
        _, b, t = row["id"].split(":")
        assert row["scale"] == "input"
        assert close(row["vec"], case.judge.x[int(b), int(t)])
        assert [row[key] for key in "xyp"] == [before[row["id"]][key] for key in "xyp"]


@each_case
def test_lengths_and_time_steps_stand_beside_the_grid(case: Case) -> None:
    cells = case.show.end_of("pad")
    assert {cell["seq"]: cell["text"] for cell in standing(cells, "length")} == {
        b: f"len {case.judge.lengths[b]}" for b in case.filmed
    }
    assert [cell["text"] for cell in standing(cells, "axis")] == [f"t={t}" for t in time_steps(case)]


@each_case
def test_letters_are_those_of_the_batch(case: Case) -> None:
    labels = standing(case.show.first, "label")
    assert {cell["seq"]: cell["text"] for cell in labels} == {b: case.letter(b) for b in case.filmed}
    assert [sequence.label for sequence in case.movie.sequences[:26]] == [
        case.letter(b) for b in range(min(26, case.judge.B))
    ]


@each_case
def test_letters_and_time_steps_are_in_line_with_their_rows_and_columns(case: Case) -> int:
    spoke = 0
    cells = case.show.end_of("pad")
    along, across = ("y", "x") if case.transposed else ("x", "y")
    for name, cell in cells.items():
        if name.startswith(("token:", "pad:")):
            spoke += 1
            _, b, t = name.split(":")
            assert cell[across] == cells[f"label:{b}"][across]
            assert cell[along] == cells[f"axis:{t}"][along]
            assert cells[f"label:{b}"][along] < cell[along] < cells[f"length:{b}"][along]
            assert cells[f"axis:{t}"][across] < cell[across]
    return spoke


def test_the_judge_agrees_with_pad_sequence() -> None:
    spoke = 0
    for case in CASES:
        if case.trace.batch and case.trace.batch.kind == "vectors":
            spoke += 1
            expected = pad_sequence(
                list(case.trace.batch.sequences), True, case.trace.config.padding_value, case.trace.config.padding_side
            )
            assert torch.equal(expected, case.judge.x)
    assert spoke
