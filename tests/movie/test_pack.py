"""The strip holds torch's packed rows in torch's order, and batch_sizes are torch's."""

import re

import pytest
from movie_cases import PACKED, Case, over
from movie_judge import close
from movie_screen import Look, grid_of

each_packed = over(PACKED)


def rows_in(cells: dict[str, Look], panel: str = "strip") -> list[Look]:
    """Return the tokens and pads on a strip, from its beginning to its end."""
    rows = [
        cell
        for cell in cells.values()
        if cell["shown"] and cell["p"] == panel and cell["role"] in ("token", "pad", "output")
    ]
    return sorted(rows, key=lambda cell: cell["x"])


def filmed_rows(case: Case) -> list[tuple[int, int]]:
    """Return the (b, t) of the packed rows that are shown, in packed order, as torch packed an index tensor."""
    return [(b, t) for b, t in case.judge.at if t < 128 and b in case.filmed]


@each_packed
def test_the_strip_holds_the_packed_rows_in_torchs_order(case: Case) -> None:
    strip = rows_in(case.show.end_of("pack"))
    assert [tuple(map(int, cell["id"].split(":")[1:])) for cell in strip] == filmed_rows(case)
    for cell, (b, t) in zip(strip, filmed_rows(case), strict=True):
        assert cell["seq"] == b
        assert cell["role"] == ("token" if case.judge.mask[b][t] else "pad")


@each_packed
def test_a_pad_is_in_the_strip_only_if_it_was_packed_by_mistake_and_then_it_glows(case: Case) -> None:
    pads = [cell for cell in rows_in(case.show.end_of("pack")) if cell["role"] == "pad"]
    assert {cell["tone"] for cell in pads} <= {"wrong"}
    assert len(pads) == sum(not case.judge.mask[b][t] for b, t in filmed_rows(case))


@each_packed
def test_the_rows_carry_the_values_that_torch_packed(case: Case) -> int:
    spoke = 0
    for cell, position in zip(rows_in(case.show.end_of("pack")), filmed_rows(case), strict=True):
        row = case.judge.packed.data[case.judge.row[position]]
        if cell.get("vec"):
            spoke += 1
            assert close(cell["vec"], row)
        elif len(row) == 1 and case.trace.padded.embedding is None and cell["role"] == "pad":
            spoke += 1
            assert float(cell["text"]) == pytest.approx(float(row), rel=1e-3)
    return spoke


@each_packed
def test_step_after_step_a_column_flies_into_the_strip(case: Case) -> None:
    arrived = 0
    for t, (step, cells) in enumerate(case.show.of("pack")):
        rows = rows_in(cells)
        shown = [position for position in filmed_rows(case) if position[1] == t]
        assert [tuple(map(int, cell["id"].split(":")[1:])) for cell in rows[arrived:]] == shown
        arrived = len(rows)
        assert step["stage"] == "pack"
    assert arrived == len(filmed_rows(case))


@each_packed
def test_the_counts_are_torchs_batch_sizes(case: Case) -> None:
    sizes = case.judge.batch_sizes[:128]
    for t, (_, cells) in enumerate(case.show.of("pack")):
        counts = [cell["text"] for name, cell in cells.items() if name.startswith("count:") and cell["shown"]]
        assert counts == [str(size) for size in sizes[: t + 1]]
    assert len(case.show.of("pack")) == len(sizes)


@each_packed
def test_a_count_stands_at_the_end_of_its_column_with_a_bar_of_its_size(case: Case) -> None:
    cells = case.show.end_of("pack")
    along = "y" if case.transposed else "x"
    for t, size in enumerate(case.judge.batch_sizes[:128]):
        count = cells[f"count:{t}"]
        assert count[along] == cells[f"axis:{t}"][along]
        assert count["v"] == pytest.approx(size / case.judge.batch_sizes[0], abs=1e-4)


@each_packed
def test_the_heading_counts_the_rows_up_to_n(case: Case) -> None:
    total, width = case.judge.packed.data.shape
    done = 0
    for t, (_, cells) in enumerate(case.show.of("pack")):
        done += case.judge.batch_sizes[t]
        text = cells["title:strip"]["text"]
        assert f"({total}, {width})" in text
        assert re.search(rf"\b{done} of {total} rows?\b", text)


@each_packed
def test_the_outline_holds_the_first_rows_of_the_column(case: Case) -> None:
    for t, (_, cells) in enumerate(case.show.of("pack")):
        focus = cells["focus:x"]
        at = [cells[f"axis:{t}"]] + [cells[f"label:{b}"] for b in case.judge.live(t) if b in case.filmed]
        low, high = ("x", "w") if case.transposed else ("y", "h")
        along = "y" if case.transposed else "x"
        wide = (
            case.show.first[f"token:{case.movie.tokens[0].b}:{case.movie.tokens[0].t}"]["w"] if case.transposed else 1
        )
        assert focus["shown"]
        assert focus[along] == at[0][along]
        for label in at[1:]:
            assert focus[low] <= label[low] + 1e-3
            assert label[low] + wide <= focus[low] + focus[high] + 0.02
        assert focus[high] == pytest.approx((len(at) - 1) * wide, abs=0.01)


@each_packed
def test_where_a_token_has_flown_its_ghost_stays(case: Case) -> int:
    spoke = 0
    before, cells = case.show.end_of("sort"), case.show.end_of("pack")
    for name, cell in cells.items():
        if name.startswith("ghost:"):
            spoke += 1
            token = before[name.replace("ghost", "token")]
            assert cell["shown"]
            assert [cell[key] for key in ("p", "x", "y", "text", "token")] == [
                token[key] for key in ("p", "x", "y", "text", "token")
            ]
    return spoke


@each_packed
def test_pads_stay_in_the_grid(case: Case) -> None:
    before, cells = case.show.end_of("sort"), case.show.end_of("pack")
    assert all(cells[name] == cell for name, cell in before.items() if name.startswith("pad:"))


@each_packed
def test_an_address_below_a_row_is_its_number_in_data(case: Case) -> int:
    spoke = 0
    cells = case.show.end_of("pack")
    addresses = {
        cell["x"]: cell["text"] for name, cell in cells.items() if name.startswith("address:") and cell["shown"]
    }
    if addresses:
        spoke += 1
        rows = [str(case.judge.row[position]) for position in filmed_rows(case)]
        assert [addresses[cell["x"]] for cell in rows_in(cells)] == rows
        assert len(addresses) == len(rows)
    return spoke


@each_packed
def test_a_bracket_spans_the_rows_of_its_time_step(case: Case) -> int:
    spoke = 0
    cells = case.show.end_of("pack")
    for name, bracket in cells.items():
        if name.startswith("bracket:"):
            spoke += 1
            t = int(name.split(":")[1])
            rows = [cell for cell, (_, step) in zip(rows_in(cells), filmed_rows(case), strict=True) if step == t]
            assert bracket["text"] == f"t={t}"
            assert bracket["x"] == rows[0]["x"]
            assert bracket["x"] + bracket["w"] == pytest.approx(rows[-1]["x"] + rows[-1]["w"], abs=0.01)
    return spoke


@each_packed
def test_there_is_a_gap_between_time_steps_and_none_within_one(case: Case) -> None:
    rows, at = rows_in(case.show.end_of("pack")), filmed_rows(case)
    for (cell, (_, t)), (following, (_, later)) in zip(
        zip(rows, at, strict=True), list(zip(rows, at, strict=True))[1:], strict=False
    ):
        gap = following["x"] - cell["x"] - cell["w"]
        assert gap > 0.2 if later > t else abs(gap) < 0.01


@each_packed
def test_only_the_current_time_step_is_now(case: Case) -> None:
    for t, (_, cells) in enumerate(case.show.of("pack")):
        now = {name for name, cell in cells.items() if cell["tone"] == "now"}
        assert now <= {f"axis:{t}", f"count:{t}", f"bracket:{t}"}
        assert {f"axis:{t}", f"count:{t}"} <= now


@each_packed
def test_the_grid_is_left_as_it_was_sorted(case: Case) -> None:
    cells = case.show.end_of("pack")
    grid = [
        cell
        for name, cell in cells.items()
        if cell["shown"] and name.startswith(("ghost:", "pad:", "token:")) and cell["p"] == "x"
    ]
    placed = grid_of(grid, transposed=case.transposed)
    left_over = min(case.judge.T, 128)
    assert len(placed) == len(case.filmed) * left_over


@each_packed
def test_what_stays_in_the_grid_shows_the_vector_of_the_token_that_flew(case: Case) -> None:
    cells = case.show.end_of("pack")
    for name, cell in cells.items():
        if name.startswith("ghost:"):
            token = cells[name.replace("ghost", "token")]
            assert (cell.get("vec"), cell["text"]) == (token.get("vec"), token["text"])
            assert cell["scale"] == token["scale"] or cell.get("vec") is None
