"""A movie of all stages with all their whys: what one stage brings on, the next ones never see."""

import json

from movie_cases import PACKED, Case, over
from movie_screen import Show, visible
from test_movie import twice_changed

import packviz as pv

MINE = ("padded:", "jagged:", "title:padded", "title:jagged", "title:lengths", "address:padded", "address:jagged",
        "bracket:padded", "bracket:jagged")  # fmt: skip
KEPT = ("token:", "stray:", "ghost:", "count:", "length:", "address:", "bracket:", "title:strip", "title:counts")


@over([case for case in PACKED if len(case.judge.at) < 60])
def test_what_packing_brings_on_is_gone_with_the_first_step_after_it_and_all_else_stays(case: Case) -> None:
    show = Show(pv.movie(case.trace, layer=case.layer, direction=case.direction, deep=True))
    assert list(show.idle_changes()) == []
    assert twice_changed(show) == []
    assert len(set(show.ids)) == len(show.ids)
    json.dumps(show.data, allow_nan=False)
    stages = [
        step["stage"] for step, cells in zip(show.steps, show.after, strict=True) if those_of(visible(cells), MINE)
    ]
    assert set(stages) == {"pack"}
    (_, plain), (_, deep) = case.show.of("run")[0], show.of("run")[0]
    assert those_of(visible(deep), KEPT) == those_of(visible(plain), KEPT) != {}


def those_of(cells: dict[str, dict], names: tuple[str, ...]) -> dict[str, dict]:
    """Return the cells whose names begin with one of these."""
    return {name: cell for name, cell in cells.items() if name.startswith(names)}
