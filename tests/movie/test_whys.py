"""A movie with all its whys: the ordinary one is in it, step by step, and what one stage explains is gone in the next.

What the steps between them say is held stage by stage: test_pad_whys.py, test_sort_whys.py and so on.
"""

from movie_cases import CASES, Case, over
from movie_screen import visible
from test_layout import in_numbers

PACKED_BY = ("token:", "stray:", "ghost:", "count:", "length:", "address:", "bracket:", "title:strip", "title:counts")


@over(CASES)
def test_every_step_of_the_ordinary_movie_is_there_and_looks_the_same(case: Case) -> None:
    """But for the sort, where threads and letters stand beside it, and a run whose gates stand there as numbers."""
    stages = set(case.movie.scenes) - {"sort"} - ({"run"} if in_numbers(case.deep) else set())
    for stage in case.movie.scenes:
        told = {step["caption"]: (step, cells) for step, cells in case.deep.of(stage)}
        flight = "**pad_packed_sequence** puts"  # which a lesson tells column by column: see test_unpack.py
        ordinary = [each for each in case.show.of(stage) if not each[0]["caption"].startswith(flight)]
        assert [caption for caption in told if caption in {step["caption"] for step, _ in ordinary}] == [
            step["caption"] for step, _ in ordinary
        ]
        for step, cells in ordinary:
            there, others = told[step["caption"]]
            assert all(there.get(key) == value for key, value in step.items() if key not in ("beats", "detail"))
            assert stage == "run" or there.get("detail") == step.get("detail")
            if stage in stages:
                assert case.deep.seen(stage, others) == case.show.seen(stage, cells), step["caption"]


@over(CASES)
def test_what_padding_and_sorting_explain_is_gone_in_the_end(case: Case) -> None:
    for stage in ("pad", "sort"):
        assert visible(case.deep.end_of(stage)) == visible(case.show.end_of(stage))


@over([case for case in CASES if not case.trace.error])
def test_what_packing_explains_is_gone_when_the_run_begins_and_what_was_packed_stays(case: Case) -> None:
    (_, plain), (_, deep) = case.show.of("run")[0], case.deep.of("run")[0]
    assert rows(visible(deep)) == rows(visible(plain)) != {}
    assert "title:lengths" not in visible(deep)
    assert not {"padded", "jagged"} & {cell["p"] for cell in visible(deep).values()}


def rows(cells: dict[str, dict[str, object]]) -> dict[str, dict[str, object]]:
    """Return what packing has made: its rows and the two margins."""
    return {name: cell for name, cell in cells.items() if name.startswith(PACKED_BY)}
