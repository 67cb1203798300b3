"""How well rows are filled: the counts of the chart are those of the rows."""

import pytest

from packviz import PackvizError, charts, fill_rows
from packviz.inputs.row_config import STRATEGIES
from packviz.lab.cost import MAX_FILL_LENGTHS, fills_of

LENGTHS = [5, 2, 3, 1]


def test_cells_and_tokens_are_counted_in_the_rows() -> None:
    found = fills_of(LENGTHS, [4, 8])
    assert [(each.strategy, each.max_length) for each in found] == [(name, C) for name in STRATEGIES for C in (4, 8)]
    for each in found:
        rows = fill_rows(LENGTHS, each.max_length, each.strategy)
        held = sum(stop - start for row in rows.rows for _, start, stop in row)
        assert each.share == held / (len(rows.rows) * each.max_length)
        assert each.lost == (sum(LENGTHS) - held) / sum(LENGTHS)


def test_rows_are_from_shorter_than_the_longest_to_eight_times_as_long() -> None:
    assert sorted({each.max_length for each in fills_of(LENGTHS)}) == [4, 5, 7, 10, 14, 20, 28, 40]
    assert sorted({each.max_length for each in fills_of([1])}) == [1, 2, 3, 4, 6, 8]


def test_the_chart_has_a_line_of_both_shares_for_each_strategy() -> None:
    found = fills_of(LENGTHS, [4, 8])
    lines = charts.fills(found).data
    assert [each.name for each in lines] == [name for name in STRATEGIES for _ in range(2)]
    for filled, dropped in zip(lines[::2], lines[1::2], strict=True):
        mine = [each for each in found if each.strategy == filled.name]
        assert list(filled.y) == [100 * each.share for each in mine]
        assert list(dropped.y) == [100 * each.lost for each in mine]


def test_too_many_lengths_are_refused() -> None:
    with pytest.raises(PackvizError, match="2000"):
        fills_of([1] * (MAX_FILL_LENGTHS + 1))
