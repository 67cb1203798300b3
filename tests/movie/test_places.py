"""Places within a panel: a grid that can be mirrored, a strip that goes on in a new line."""

from packviz.show.movie.places import Grid, Strip


def test_a_grid_is_mirrored_where_time_goes_down() -> None:
    across, down = Grid("x", 3, 4), Grid("x", 3, 4, transposed=True)
    for p in range(3):
        for t in range(4):
            assert (across.cell(p, t).x, across.cell(p, t).y) == (down.cell(p, t).y, down.cell(p, t).x) == (t, p)
    assert across.size == down.size[::-1] == (4, 3)


def test_a_strip_goes_on_in_a_new_line_at_a_time_step() -> None:
    strip = Strip("strip", [3, 2, 1], gap=0.5)
    assert strip.breaks(100) == (0,)
    assert strip.breaks(4) == (0, 3.5)
    assert strip.length == 3 + 0.5 + 2 + 0.5 + 1


def test_a_time_step_that_is_longer_than_a_line_is_broken_too() -> None:
    assert Strip("strip", [5, 1], gap=0.5).breaks(2) == (0, 2, 4, 5.5)
