"""The strip holds torch's packed rows; batch_sizes, both margins of a batch are torch's."""

import re
from collections import Counter
from itertools import pairwise

import pytest
from movie_cases import PACKED, Case, over
from movie_screen import Look, close, detail, listed, standing

each_packed = over(PACKED)


def rows_in(cells: dict[str, Look], panel: str = "strip") -> list[Look]:
    """Return the tokens and pads on a strip, from its beginning to its end."""
    rows = (c for c in cells.values() if c["shown"] and c["p"] == panel and c["role"] in ("token", "pad", "output"))
    return sorted(rows, key=lambda cell: cell["x"])


def filmed_rows(case: Case) -> list[tuple[int, int]]:
    """Return the (b, t) of the packed rows that are shown, in packed order, as torch packed an index tensor."""
    return [(b, t) for b, t in case.at if t < 60 and b in case.filmed]


def names(rows: list[Look]) -> list[tuple[int, ...]]:
    return [tuple(map(int, cell["id"].split(":")[1:])) for cell in rows]


def groups_of(rows: list[Look]) -> list[int]:
    """Return how many rows stand together, group after group."""
    sizes = [1]
    for cell, following in pairwise(rows):
        gap = following["x"] - cell["x"] - cell["w"]
        assert gap > 0.2 or abs(gap) < 0.01
        sizes = [*sizes, 1] if gap > 0.2 else [*sizes[:-1], sizes[-1] + 1]
    return sizes


@each_packed
def test_the_strip_holds_what_torch_packed(case: Case) -> int:
    """A pad is among them only if it was packed by mistake, and then it glows."""
    strip, at, spoke = rows_in(case.show.end_of("pack")), filmed_rows(case), 0
    assert groups_of(strip) == [*Counter(t for _, t in at).values()]
    for cell, (b, t) in zip(strip, at, strict=True):
        row = case.packed.data[case.row[b, t]]
        assert (cell["seq"], cell["role"]) == (b, "token" if case.mask[b][t] else "pad")
        assert cell["role"] == "token" or cell["tone"] == "wrong"
        if cell.get("vec"):
            spoke += 1
            assert close(cell["vec"], row)
        elif len(row) == 1 and case.trace.padded.embedding is None and cell["role"] == "pad":
            spoke += 1
            assert float(cell["text"]) == pytest.approx(float(row), rel=1e-3)
    return spoke


@each_packed
def test_step_after_step_a_column_flies_into_the_strip_and_is_counted(case: Case) -> None:
    sizes, rows = case.batch_sizes[:60], filmed_rows(case)
    total, width = case.packed.data.shape
    steps = case.show.of("pack")
    assert len(steps) == len(sizes)
    for t, (_, cells) in enumerate(steps):
        assert names(rows_in(cells)) == [position for position in rows if position[1] <= t]
        assert [cell["text"] for cell in standing(cells, "count")] == [str(size) for size in sizes[: t + 1]]
        text = cells["title:strip"]["text"]
        assert f"({total}, {width})" in text
        assert re.search(rf"\b{sum(sizes[: t + 1])} of {total} rows?\b", text)


@each_packed
def test_before_the_first_row_is_packed_the_grid_has_the_whole_picture(case: Case) -> None:
    start, then = (step for step, _ in case.deep.of("pack")[:2])
    assert all(list(view.at) == ["x"] for each in case.deep.scenes[start["scene"]].values() for view in each)
    assert "scene" not in then


@each_packed
def test_both_margins_and_how_each_is_made_from_the_other_are_torchs(case: Case) -> None:
    step = case.deep.of("pack")[-1][0]
    things = "packed cells" if case.strays else "tokens"  # a pad is no token
    assert (
        f"the {things} in each {'column' if case.transposed else 'row'}, and you get the **lengths**" in step["caption"]
    )
    assert listed(detail(step, "batch_sizes[t] = (lengths > t).sum()")[0], case.batch_sizes)
    assert listed(detail(step, "lengths[b] = (batch_sizes > rank[b]).sum()")[0], case.lengths)
    back = case.packed.unsorted_indices
    rank, _ = detail(step, "rank = ")
    assert listed(rank.split("\n# ")[1], list(range(case.B)) if back is None else back.tolist())
    assert rank.startswith(f"arange({case.B})" if back is None else "unsorted_indices")
