"""The output goes back to where pad_packed_sequence puts it, and the last valid step of each sequence is ringed."""

import pytest
import torch
from movie_cases import PACKED, Case, over
from movie_judge import close
from movie_screen import Look, grid_of

each_packed = over(PACKED)


def grid(case: Case, cells: dict[str, Look]) -> dict[tuple[int, int], Look]:
    shown = [cell for name, cell in cells.items() if cell["shown"] and name.startswith(("u:", "filler:"))]
    return grid_of(shown, transposed=case.transposed)


def halves(case: Case, row: torch.Tensor, shown: list[float | None]) -> torch.Tensor:
    """Return as many numbers of each direction as a cell shows."""
    return row.view(case.judge.D, -1)[:, : len(shown) // case.judge.D]


@each_packed
def test_every_cell_stands_where_pad_packed_sequence_puts_it(case: Case) -> None:
    placed, unpacked, rows = grid(case, case.show.after[-1]), case.judge.unpacked, sorted(case.filmed)
    columns = min(unpacked.shape[1], 128)
    assert set(placed) == {(row, t) for row in range(len(rows)) for t in range(columns)}
    for (row, t), cell in placed.items():
        b = rows[row]
        assert cell["seq"] == b
        assert cell["role"] == ("output" if t < case.judge.lengths[b] else "pad")
        if cell["role"] == "output":
            assert close(cell["vec"], halves(case, unpacked[b, t], cell["vec"]))


@each_packed
def test_what_is_filled_in_is_torchs_padding_value(case: Case) -> int:
    spoke = 0
    for (_, t), cell in grid(case, case.show.after[-1]).items():
        if cell["role"] == "pad":
            spoke += 1
            filler = case.judge.unpacked[cell["seq"], t]
            assert torch.equal(filler, torch.full_like(filler, float(cell["text"]))) or (
                filler.isnan().all() and cell["text"] == "nan"
            )
    return spoke


@each_packed
def test_the_rows_come_back_in_sorted_order_and_then_as_they_were_given(case: Case) -> int:
    spoke = 0
    order = case.judge.order[:128]
    for step, cells in case.show.of("unpack"):
        placed = grid(case, cells)
        if placed:
            spoke += 1
            seen = [placed[row, 0]["seq"] for row in range(len(order))]
            assert seen in (order, sorted(order))
            assert (seen == sorted(order)) or "unsorted" not in step["caption"]
    assert [placed[row, 0]["seq"] for row in range(len(order))] == sorted(order)
    return spoke


@each_packed
def test_letters_and_lengths_go_with_their_rows(case: Case) -> None:
    across = "x" if case.transposed else "y"
    for _, cells in case.show.of("unpack"):
        for cell in grid(case, cells).values():
            b = cell["seq"]
            assert cells[f"ulabel:{b}"]["shown"]
            assert cells[f"ulabel:{b}"][across] == cells[f"ulength:{b}"][across] == cell[across]
            assert cells[f"ulength:{b}"]["text"] == f"len {case.judge.lengths[b]}"


@each_packed
def test_the_packed_output_is_that_of_the_top_layer_with_its_directions_side_by_side(case: Case) -> int:
    spoke = 0
    cells = case.show.after[-1]
    for b, t in case.judge.at:
        cell = cells.get(f"out:{b}:{t}")
        if cell and cell["shown"]:
            spoke += 1
            row = case.judge.output.data[case.judge.row[b, t]]
            assert close(cell["vec"], halves(case, row, cell["vec"]))
    assert cells["title:out"]["text"].endswith(str(tuple(case.judge.output.data.shape)))
    return spoke


@each_packed
def test_a_copy_shows_the_token_of_its_packed_row(case: Case) -> int:
    spoke = 0
    for name, cell in case.show.after[-1].items():
        if name.startswith("u:"):
            spoke += 1
            _, b, t = map(int, name.replace("u:", "0:").split(":"))
            token = cell.get("token")
            assert (token is not None) == bool(case.judge.mask[b][t])
            assert token is None or case.movie.tokens[token] == (b, t)
    return spoke


@each_packed
def test_the_rings_stand_at_the_last_valid_steps(case: Case) -> None:
    cells = case.show.after[-1]
    for b in case.filmed:
        for d in range(case.judge.D):
            t = 0 if d else case.judge.lengths[b] - 1
            ring = cells[f"ring:u:{b}:{d}"]
            if t >= 128:
                assert not ring["shown"]
                continue
            cell = cells[f"u:{b}:{t}"]
            assert ring["shown"]
            assert (ring["p"], ring["x"], ring["w"]) == (cell["p"], cell["x"], cell["w"])
            assert ring["y"] == pytest.approx(cell["y"] + d / case.judge.D, abs=1e-3)
            assert ring["h"] == pytest.approx(1 / case.judge.D, abs=1e-3)


@each_packed
def test_the_last_valid_states_are_torchs_h_n_of_the_top_layer(case: Case) -> None:
    cells = case.show.after[-1]
    rows = sorted(case.filmed)
    assert sorted({cell["seq"] for name, cell in cells.items() if name.startswith("last:")}) == rows
    for row, b in enumerate(rows):
        for d in range(case.judge.D):
            cell = cells[f"last:{b}:{d}"]
            assert cell["shown"]
            assert cells[f"ring:last:{b}"]["shown"]
            assert close(cell["vec"], case.judge.h_n[d - case.judge.D, b])
            assert cell["y"] == row
            assert cell["x"] == pytest.approx(d * cell["w"], abs=2e-3)
            t = 0 if d else case.judge.lengths[b] - 1
            token = cell.get("token")
            assert token is None or case.movie.tokens[token] == (b, t)


@each_packed
def test_the_heading_carries_the_shape_of_the_unpacked_output(case: Case) -> None:
    shape = tuple(case.judge.unpacked.transpose(0, 1).shape if case.transposed else case.judge.unpacked.shape)
    assert str(shape) in case.show.after[-1]["title:u"]["text"]


@each_packed
def test_the_filler_comes_after_the_flight_and_in_one_step(case: Case) -> None:
    counts = [
        sum(cell["shown"] for name, cell in cells.items() if name.startswith("filler:"))
        for _, cells in case.show.of("unpack")
    ]
    assert counts == sorted(counts)
    assert len({count for count in counts if count}) <= 1
    assert counts[-1] == sum(
        min(128, case.judge.unpacked.shape[1]) - min(128, case.judge.lengths[b]) for b in case.filmed
    )
