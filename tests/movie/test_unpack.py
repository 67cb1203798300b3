"""The output goes back to where pad_packed_sequence puts it, as wide as it says; the last valid steps are ringed."""

import re
from itertools import product

import pytest
import torch
from movie_cases import PACKED, Case, over
from movie_screen import Look, close, grid_of, standing, within
from torch.nn.utils.rnn import pad_packed_sequence

each_packed = over(PACKED)


def grid(case: Case, cells: dict[str, Look]) -> dict[tuple[int, int], Look]:
    return grid_of(standing(cells, "u", "filler"), transposed=case.transposed)


@each_packed
def test_every_cell_stands_where_pad_packed_sequence_puts_it(case: Case) -> None:
    cells, unpacked, rows = case.show.after[-1], case.unpacked, case.rows
    placed = grid(case, cells)
    assert set(placed) == {(row, t) for row in range(len(rows)) for t in range(min(unpacked.shape[1], 60))}
    for (row, t), cell in placed.items():
        b, truth = rows[row], unpacked[rows[row], t]
        assert (cell["seq"], cell["role"]) == (b, "output" if t < case.lengths[b] else "pad")
        if cell["role"] == "pad":
            same = torch.equal(truth, torch.full_like(truth, float(cell["text"].replace("−", "-"))))
            assert same or (truth.isnan().all() and cell["text"] == "nan")
            continue
        shown = len(cell["vec"]) // case.D  # numbers of each direction
        assert close(cell["vec"], truth.view(case.D, -1)[:, :shown])
        token = cell.get("token")
        assert (token is not None) == bool(case.mask[b][t])
        assert token is None or case.movie.tokens[token] == (b, t)
    shape = tuple(unpacked.transpose(0, 1).shape if case.transposed else unpacked.shape)
    assert str(shape) in cells["title:u"]["text"]


@each_packed
def test_rows_come_back_sorted_and_then_as_given(case: Case) -> None:
    order, across = case.filmed, "x" if case.transposed else "y"
    for step, cells in case.show.of("unpack"):
        placed = grid(case, cells)
        if not placed:
            continue
        seen = [placed[row, 0]["seq"] for row in range(len(order))]
        assert seen in (order, sorted(order))
        assert (seen == sorted(order)) or "unsorted" not in step["caption"]
        for cell in placed.values():
            label, length = (cells[f"{name}:{cell['seq']}"] for name in ("ulabel", "ulength"))
            assert label["shown"]
            assert label[across] == length[across] == cell[across]
            assert length["text"] == f"len {case.lengths[cell['seq']]}"
    assert seen == sorted(order)


@each_packed
def test_the_last_valid_steps_stand_beside_torchs_h_n(case: Case) -> None:
    cells = case.show.after[-1]
    read = (
        "h_n[-1]" if case.D == 1 else "h_n[-2], h_n[-1]"
    )  # without a call: before it is filled, its name ends at a "("
    named = "final states" if case.D == 2 else f"last {'packed row' if case.strays else 'valid step'}"
    assert cells["title:last"]["text"] == f"{named} = {read}"
    assert sorted({cell["seq"] for name, cell in cells.items() if name.startswith("last:")}) == case.rows
    for (row, b), d in product(enumerate(case.rows), range(case.D)):
        t, ring, last = 0 if d else case.lengths[b] - 1, cells[f"ring:u:{b}:{d}"], cells[f"last:{b}:{d}"]
        assert ring["shown"] == (t < 60)
        if ring["shown"]:
            cell = cells[f"u:{b}:{t}"]
            assert (ring["p"], ring["y"], ring["h"]) == (cell["p"], cell["y"], cell["h"])
            assert ring["x"] == pytest.approx(cell["x"] + d * cell["w"] / case.D, abs=2e-3)
            assert ring["w"] == pytest.approx(cell["w"] / case.D, abs=2e-3)
        assert last["shown"]
        assert cells[f"ring:last:{b}"]["shown"]
        assert close(last["vec"], case.trace.h_n[d - case.D, b])
        assert (last["x"], last["y"]) == pytest.approx((d * last["w"], row), abs=2e-3)
        assert last.get("token") is None or case.movie.tokens[last["token"]] == (b, t)


@each_packed
def test_in_depth_a_step_unpacks_each_column(case: Case) -> int:
    told = [(step["detail"][0][0], cells) for step, cells in case.deep.of("unpack", " of the grid. ")]
    order, lengths = case.order, torch.tensor(case.lengths)
    truth = case.unpacked[order][:, : len(told)]
    out = torch.zeros_like(truth.transpose(0, 1) if case.transposed else truth)
    for t, (line, cells) in enumerate(told):
        exec(line, {"out": out, "output": case.output})
        assert {int(cell["id"].split(":")[2]) for cell in standing(cells, "u")} == {*range(t + 1)}
        live = sum(case.lengths[b] > t for b in case.filmed)
        assert within(cells["focus:u"], grid(case, cells)) == [(row, t) for row in range(live)]
    real, made = torch.arange(len(told)) < lengths[order][:, None], out.transpose(0, 1) if case.transposed else out
    torch.testing.assert_close(made[real], truth[real], rtol=0, atol=0, equal_nan=True)
    return len(told)


@each_packed
def test_the_width_is_torchs_and_named_once(case: Case) -> None:
    steps = [step for step, cells in case.deep.of("unpack") if cells.get("mark:width", {}).get("shown")]
    axis, out = int(not case.transposed), case.unpacked.shape[1]
    assert len(steps) == (out != case.T or case.trace.total_length is not None)
    for step in steps:
        without = pad_packed_sequence(case.output, True)[0].shape[1]
        assert [list(line) for line in step["detail"]] == [
            [f"x.size({axis})", str(case.T)],
            ["lens.max()", str(without)],
            [f"out.size({axis})", str(out)],
        ]
        asked = re.search(r"With \*\*total_length=(\d+)\*\*, out has (\d+) time steps", step["caption"])
        offered = re.search(r"had T = (\d+) time steps, .* Without \*\*total_length=(\d+)\*\*", step["caption"])
        wide, total = map(int, (asked[2], asked[1]) if asked else offered.groups() if offered else ())
        assert pad_packed_sequence(case.output, True, total_length=total)[0].shape[1] == wide
        assert bool(offered) == (f"out has {without}, the longest length." in step["caption"] and not asked)
        assert ("Without it" in step["caption"]) == (case.trace.total_length not in (None, without))
