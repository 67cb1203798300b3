"""Padding: every token stands where pad_sequence puts it; the mask, the other side and the pad's row are torch's."""

import re
from typing import Any

import pytest
import torch
from movie_cases import CASES, Case, over
from movie_screen import close, grid_of, shape_of, standing, within
from torch.nn.utils.rnn import pack_padded_sequence, pad_sequence

import packviz as pv
from packviz import Batch, Config
from packviz.text import sequence_label

each_case = over(CASES)


@each_case
def test_at_first_every_row_is_as_long_as_its_sequence(case: Case) -> None:
    first = case.show.after[0]
    placed = grid_of(standing(first, "token"), transposed=False)
    assert not standing(first, "pad")
    assert len(standing(first, "axis")) == case.steps_filmed  # the columns that are to be filled
    for row, b in enumerate(case.rows):
        columns = sorted(t for p, t in placed if p == row)
        assert columns == list(range(sum(case.mask[b][t] for t in range(case.steps_filmed))))
        assert {placed[row, t]["seq"] for t in columns} == {b}


@each_case
def test_tokens_stand_where_pad_sequence_puts_them(case: Case) -> None:
    placed = case.grid(case.show.end_of("pad"))
    assert set(placed) == {(row, t) for row in range(len(case.rows)) for t in range(case.steps_filmed)}
    for (row, t), cell in placed.items():
        b = case.rows[row]
        assert (cell["seq"], cell["role"]) == (b, "token" if case.mask[b][t] else "pad")
        if cell["role"] == "token":
            assert case.movie.tokens[cell["token"]] == (b, t)


@each_case
def test_a_token_shows_what_was_typed_and_a_word_its_id_too(case: Case) -> int:
    batch, config, spoke = case.batch, case.config, 0
    if not batch or batch.kind == "vectors":
        return spoke
    left = config.padding_side == "left"
    for cell in standing(case.show.first, "token"):
        b, t = case.movie.tokens[cell["token"]]
        typed = batch.texts[b][t - (case.T - case.lengths[b] if left else 0)]
        assert cell["text"] == re.sub(r"^-(?=[.\d])", "−", typed)
        if batch.kind == "words":
            spoke += 1
            assert batch.vocabulary[int(cell["sub"])] == cell["text"]
    return spoke


@each_case
def test_a_pad_shows_what_stands_in_the_grid(case: Case) -> int:
    batch, config, grid, spoke = case.batch, case.config, case.x, 0
    if not batch and case.name != "own-filler":
        return spoke
    if batch:
        value = config.padding_value if case.trace.padded.embedding is None else config.padding_idx or 0
        grid = pad_sequence(list(batch.sequences), True, value, config.padding_side)
    for cell in standing(case.show.end_of("pad"), "pad"):
        spoke += 1
        _, b, t = cell["id"].split(":")
        assert float(cell["text"].replace("−", "-")) == pytest.approx(
            float(grid[int(b), int(t)].flatten()[0]), rel=1e-3
        )
    return spoke


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
        cells = standing(case.show.first, "token") if case.x.shape[-1] > 1 else []
    for cell in cells:
        spoke += 1
        _, b, t = cell["id"].split(":")
        assert cell["scale"] == "input"
        assert close(cell["vec"], case.x[int(b), int(t)])
    return spoke


@each_case
def test_letters_lengths_and_time_steps_are_in_line_with_the_grid(case: Case) -> None:
    cells = case.show.end_of("pad")
    letters = {b: sequence_label(b) for b in range(case.B)}
    assert [letter for letter, *_ in case.show.data["sequences"]] == [*letters.values()]
    assert {cell["seq"]: cell["text"] for cell in standing(case.show.first, "label")} == {
        b: letters[b] for b in case.filmed
    }
    lengths = {b: f"len {case.lengths[b]}" for b in case.filmed}
    assert {cell["seq"]: cell["text"] for cell in standing(cells, "length")} == lengths
    assert [cell["text"] for cell in standing(cells, "axis")] == [f"t={t}" for t in range(case.steps_filmed)]
    along, across = ("y", "x") if case.transposed else ("x", "y")
    for cell in standing(cells, "token", "pad"):
        _, b, t = cell["id"].split(":")
        assert cell[across] == cells[f"label:{b}"][across]
        assert cell[along] == cells[f"axis:{t}"][along]
        assert cells[f"label:{b}"][along] < cell[along] < cells[f"length:{b}"][along]
        assert cells[f"axis:{t}"][across] < cell[across]


def ran(case: Case, line: str) -> Any:
    """Run a line of a step as a reader would."""
    tokens = case.trace.padded.tokens
    grids = {"x": case.trace.padded.values, "ids": tokens.transpose(0, 1) if case.transposed else tokens}
    return eval(line.removeprefix("mask = "), case.given() | grids)


@each_case
def test_the_mask_is_true_where_torch_has_a_token_and_is_counted(case: Case) -> None:
    ((step, cells),) = case.deep.of("pad", "**mask**")
    mask = case.mask
    flags = grid_of(standing(cells, "flag"), transposed=case.transposed)
    assert len(flags) == len(case.filmed) * case.steps_filmed
    for (row, t), cell in flags.items():
        b = case.rows[row]
        assert (cell["text"], cell["seq"]) == (str(bool(mask[b][t])), b)
        token = None if cell["token"] is None else case.movie.tokens[cell["token"]]
        assert token == ((b, t) if mask[b][t] else None)
    (line,) = step["detail"]
    made = ran(case, line[0])
    assert torch.equal(made.T if case.transposed else made, mask)
    assert shape_of(line[1]) == tuple(made.shape)
    tokens, pads = int(mask.sum()), int((~mask).sum())
    assert [*map(int, re.findall(r"\d+", step["caption"]))] == ([tokens, pads] if pads else [])
    assert f"{tokens} token{'s' if tokens > 1 else ''}" in step["caption"] or not pads


@each_case
def test_padding_on_the_other_side_is_as_torch_pads(case: Case) -> None:
    """Tokens stand where pad_sequence puts them, what torch takes is outlined, and its losses are counted."""
    steps = case.deep.of("pad", "**padding_side=")
    padded = any(case.lengths[b] < case.T for b in case.filmed)
    assert len(steps) == (case.trace.batch is not None and padded and case.T <= 60)
    for step, cells in steps:
        side = "right" if case.config.padding_side == "left" else "left"
        assert f'padding_side="{side}"' in step["caption"]
        (line,) = step["detail"]
        assert tuple(ran(case, line[0]).shape) == shape_of(line[1])
        assert f'padding_side="{side}"' in line[0]
        numbers = [torch.arange(length) for length in case.lengths]
        mine, left, theirs = (pad_sequence(numbers, True, -1, s) for s in (case.config.padding_side, "left", side))
        placed = case.grid(cells)
        assert len(placed) == len(case.filmed) * case.T
        for (row, t), cell in placed.items():
            kind, b, own = cell["id"].split(":")
            assert int(b) == case.rows[row]
            assert (kind == "pad") == (int(theirs[int(b), t]) == -1)
            assert int(mine[int(b), int(own)]) == int(theirs[int(b), t])
        rank = torch.arange(case.B * case.T).view(case.B, case.T)
        packed = pack_padded_sequence(rank, torch.tensor(case.lengths), True, enforce_sorted=False)
        taken = set(packed.data.tolist())
        for row, b in enumerate(case.rows):
            mark = cells[f"mark:taken:{b}"]
            inside = [t for r, t in within(mark, placed) if r == row]
            assert inside == [t for t in range(case.T) if b * case.T + t in taken]
            tone = "good" if all(theirs[b][t] >= 0 for t in inside) else "wrong"
            assert (mark["shown"], mark["tone"]) == (True, tone)
        lost = sum(int(left.flatten()[n]) < 0 for n in taken)
        assert {*re.findall(r"(\d+) (?:pad|token)s?\b", step["caption"])} == {str(lost)}


@each_case
def test_the_turned_grid_is_torchs_transposition(case: Case) -> None:
    steps = case.deep.of("pad", " instead of (")
    assert len(steps) == ((case.B, case.T) != (1, 1))
    for step, cells in steps:
        placed = grid_of(standing(cells, "token", "pad"), transposed=not case.transposed)
        assert set(placed) == {(row, t) for row in range(len(case.filmed)) for t in range(case.steps_filmed)}
        for (row, t), cell in placed.items():
            assert cell["id"].split(":")[1:] == [str(case.rows[row]), str(t)]
        (line,) = step["detail"]
        turned = ran(case, line[0])
        there, here = (shape_of(text) for text in re.findall(r"\([\d, ]+\)", step["caption"]))
        assert tuple(turned.shape) == shape_of(line[1]) == there
        assert tuple(turned.transpose(0, 1).shape) == here
        assert f"batch_first={case.transposed}" in step["caption"]
        assert not [name for name, cell in cells.items() if cell["shown"] and name not in case.show.ids]


@each_case
def test_the_pads_are_outlined_and_their_row_is_the_tables(case: Case) -> int:
    table, config, steps = case.table, case.config, case.deep.of("embed")
    if table is None:
        return 0
    assert len(steps) == (1 if bool(case.mask.all()) else 2)
    for step, cells in steps[1:]:
        placed = case.grid(cells)
        marked = {where for mark in standing(cells, "mark") for where in within(mark, placed)}
        assert marked == {where for where, cell in placed.items() if cell["role"] == "pad"}
        at = config.padding_idx or 0
        (embedding, _), (weight, shape), (values, _) = step["detail"]
        exec(embedding, space := {"nn": torch.nn})
        made: Any = space["embedding"]
        assert (made.weight.shape, made.padding_idx) == (table.shape, config.padding_idx)
        assert weight == f"embedding.weight[{at}]"
        assert shape_of(shape) == tuple(table[at].shape)
        numbers = [float(value) for value in re.findall(r"-?\d[\d.e+-]*", values)]
        assert len(numbers) == min(4, len(table[at]))
        assert torch.allclose(torch.tensor(numbers), table[at][:4].float(), rtol=1e-3, atol=1e-4)
        assert ("With padding_idx" in step["caption"]) == (not table[at].any())
        assert ("Without padding_idx" in step["caption"]) == (config.padding_idx is None)
        same = (case.trace.padded.tokens == at)[:, : case.steps_filmed] & case.mask[:, : case.steps_filmed]
        like = [b for b in case.rows if bool(same[b].any())]
        told = re.search(r"(\{.+\}) ha(?:s a token|ve tokens) with the same id", step["caption"])
        assert (told[1] if told else "") == (case.said(like) if like and config.padding_idx is not None else "")
    return 1


@pytest.mark.parametrize("text", ["1 2 3 4\n5 6\n7", "on your mark\nget set"])
def test_the_heading_has_the_shape_that_torch_made_once_the_grid_is_turned(text: str) -> None:
    run = pv.trace(Batch.parse(text), Config(batch_first=False))
    movie = pv.movie(run, "pad")
    before, after = (
        movie.frame(step)["marks"]["title:x"]["text"]
        for step in (movie.step_at("pad", name="padded"), len(movie.steps))
    )
    assert "(" not in before  # beside it, the code has the shape of the turned grid
    assert shape_of(after)[:2] == tuple(run.padded.values.shape[:2])


def test_before_the_grid_is_turned_it_has_the_room_of_one_that_is_not() -> None:
    def room(movie: pv.Movie, step: int) -> list[float]:
        data = movie.to_dict()
        wide, *_ = data["scenes"][data["steps"][step].get("scene", "pad")]
        return [data["views"][view][:2] for view in wide]

    turned, plain = (
        pv.movie(pv.trace(Batch.parse("on your mark\nget set"), Config(batch_first=first)), "pad")
        for first in (False, True)
    )
    assert [room(turned, step) for step in (0, 1)] == [room(plain, step) for step in (0, 1)]
    assert room(turned, 2) != room(turned, 1)
