"""A movie of all stages with all their whys: what one stage brings on, the next ones never see."""

import json

from movie_cases import PACKED, Case, over
from movie_screen import Show
from test_movie import twice_changed

import packviz as pv

MINE = ("padded:", "jagged:", "title:padded", "title:jagged", "title:lengths", "address:padded", "address:jagged",
        "bracket:padded", "bracket:jagged")  # fmt: skip
SOME = [case for case in PACKED if len(case.judge.at) < 60]
each = over(SOME)


def whole(case: Case) -> Show:
    return Show(pv.movie(case.trace, layer=case.layer, direction=case.direction, deep=True))


@each
def test_every_change_of_the_whole_movie_really_changes_something_and_once(case: Case) -> None:
    show = whole(case)
    assert list(show.idle_changes()) == []
    assert twice_changed(show) == []
    assert len(set(show.ids)) == len(show.ids)
    json.dumps(show.data, allow_nan=False)


@each
def test_what_packing_brought_on_is_gone_with_the_first_step_after_it(case: Case) -> None:
    show, came = whole(case), False
    for step, cells in zip(show.steps, show.after, strict=True):
        there = [name for name, cell in cells.items() if cell["shown"] and name.startswith(MINE)]
        came |= bool(there)
        assert not there or step["stage"] == "pack"
    assert came


@each
def test_packed_rows_counts_and_lengths_enter_the_run_as_in_the_ordinary_movie(case: Case) -> int:
    spoke = 0
    show = whole(case)
    (_, plain), (_, deep) = case.show.of("run")[0], show.of("run")[0]
    kept = ("token:", "stray:", "ghost:", "count:", "length:", "address:", "bracket:", "title:strip", "title:counts")
    for name, cell in plain.items():
        if name.startswith(kept):
            spoke += 1
            assert deep[name] | {"f": None} == cell | {"f": None}, name  # families are numbered anew
    return spoke
