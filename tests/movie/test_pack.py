"""The strip holds torch's packed rows in torch's order, and batch_sizes are torch's."""

import re
from itertools import pairwise

import pytest
from movie_cases import PACKED, Case, over
from movie_judge import close
from movie_screen import Look, standing

each_packed = over(PACKED)


def rows_in(cells: dict[str, Look], panel: str = "strip") -> list[Look]:
    """Return the tokens and pads on a strip, from its beginning to its end."""
    rows = (c for c in cells.values() if c["shown"] and c["p"] == panel and c["role"] in ("token", "pad", "output"))
    return sorted(rows, key=lambda cell: cell["x"])


def filmed_rows(case: Case) -> list[tuple[int, int]]:
    """Return the (b, t) of the packed rows that are shown, in packed order, as torch packed an index tensor."""
    return [(b, t) for b, t in case.judge.at if t < 60 and b in case.filmed]


def names(rows: list[Look]) -> list[tuple[int, ...]]:
    return [tuple(map(int, cell["id"].split(":")[1:])) for cell in rows]


@each_packed
def test_the_strip_holds_the_packed_rows_in_torchs_order_with_gaps_between_time_steps(case: Case) -> None:
    """A pad is among them only if it was packed by mistake, and then it glows."""
    strip, at = rows_in(case.show.end_of("pack")), filmed_rows(case)
    assert names(strip) == at
    for cell, (b, t) in zip(strip, at, strict=True):
        assert cell["seq"] == b
        assert cell["role"] == ("token" if case.judge.mask[b][t] else "pad")
        assert cell["role"] == "token" or cell["tone"] == "wrong"
    for (cell, (_, t)), (following, (_, later)) in pairwise(zip(strip, at, strict=True)):
        gap = following["x"] - cell["x"] - cell["w"]
        assert gap > 0.2 if later > t else abs(gap) < 0.01


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
def test_step_after_step_a_column_flies_into_the_strip_and_is_counted(case: Case) -> None:
    sizes, rows = case.judge.batch_sizes[:60], filmed_rows(case)
    total, width = case.judge.packed.data.shape
    steps = case.show.of("pack")
    assert len(steps) == len(sizes)
    for t, (_, cells) in enumerate(steps):
        assert names(rows_in(cells)) == [position for position in rows if position[1] <= t]
        assert [cell["text"] for cell in standing(cells, "count")] == [str(size) for size in sizes[: t + 1]]
        text = cells["title:strip"]["text"]
        assert f"({total}, {width})" in text
        assert re.search(rf"\b{sum(sizes[: t + 1])} of {total} rows?\b", text)
