"""Every page is run, with all that stands below its movie: no exception, and what it is for is there."""

import pytest

import packviz
from packviz.inputs.batch import Batch
from packviz.inputs.config import Config
from pages import STAGES, movies, opened, texts

KEYS = {
    "start": {"sequences", "example", "cell", "hidden_size", "bidirectional", "enforce_sorted", "padding_value"},
    "overview": {"sequences", "example", "cell"},
    "compare": {"sequences", "example", "cell"},
    "cost": {"sequences", "start measure", "start sweep"},
    "training": {"cell", "start train"},
    "questions": {"search", "group"},
    "doctor": {"given", "x", "lengths"},
    "quiz": {"quiz level", "quiz number"},
} | {stage: {"sequences", "example", "cell"} for stage in STAGES}
PLAYERS = ("start", "overview", "compare", *STAGES)
QUERIES = {
    "words, lstm, both ways, two layers": {
        "example": "words",
        "cell": "lstm",
        "bidirectional": "true",
        "num_layers": 2,
    },
    "rnn, refused by torch": {"cell": "rnn", "enforce_sorted": "true"},
}

each_page = pytest.mark.parametrize("page", KEYS)


@pytest.mark.check
@each_page
def test_a_page_opens_with_what_it_is_for(page: str) -> None:
    app = opened(page)
    assert len(app.title) == 1
    assert texts(app)
    assert len(app.dataframe) >= (page in STAGES)  # the records
    shown = {getattr(each, "key", None) for each in [*app.main, *app.sidebar]}
    assert shown >= KEYS[page], sorted(map(str, shown))
    assert [each.proto.popover.label for each in app.get("popover")] == ["Share"]
    assert "share hide" not in shown  # nothing of the panel before it is opened
    assert len(movies(app)) == (page in PLAYERS)
    assert "⚠" not in texts(app)


@pytest.mark.parametrize("page", [*PLAYERS, "cost", "training"])
@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES)
def test_other_settings_raise_no_exception_anywhere(page: str, query: dict[str, object]) -> None:
    app = opened(page, query)
    assert texts(app).count("\n") > 2
    assert "Ignored from the link" not in texts(app)
    if "enforce_sorted" in query and page in ("packing", "running", "unpacking"):
        error = packviz.trace(Batch.parse("1 2 3\n4 5\n6 7 8 9"), Config(enforce_sorted=True)).error
        assert [each.value for each in app.code] == [f"RuntimeError: {error}"]
        app.button(key="try enforce_sorted off").click().run()
        assert "RuntimeError" not in texts(app)


@pytest.mark.parametrize("page", ["start", "compare", "running"])
def test_settings_and_all_below_come_after_the_first_picture_and_change_nothing_in_it(page: str) -> None:
    early, late = opened(page, painted=False), opened(page)
    assert not early.exception
    assert len(early.toggle) == len(early.number_input) == len(early.subheader) == 0
    assert [each.label for each in early.text_area] == [each.label for each in late.text_area]
    assert {each.key for each in late.toggle} >= {"bidirectional", "enforce_sorted", "batch_first"}
    assert movies(early) == movies(late)


@pytest.mark.parametrize("asked", [{"seed": 3}, {"bidirectional": True}, {"layer": 0, "num_layers": 2}])
def test_the_first_picture_follows_a_link_that_names_a_setting(asked: dict[str, object]) -> None:
    first = opened("start", asked, painted=False)
    assert len(first.toggle) > 0
    assert movies(first) == movies(opened("start", asked)) != movies(opened("start"))


def test_settings_that_a_link_locks_are_there_at_once() -> None:
    first = opened("start", {"lock": "cell"}, painted=False)
    assert "Fixed by the link: cell." in texts(first)
    assert len(first.toggle) > 0
