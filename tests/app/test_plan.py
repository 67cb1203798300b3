"""The lesson plan: what a file may contain, that it is restored as saved, and the page that plays it offline."""

import base64
import gzip
import json
import re
from types import SimpleNamespace
from typing import Any
from unittest import mock

import pytest
import streamlit as st
from msgspec.structs import replace
from streamlit.runtime import Runtime
from streamlit.runtime.media_file_manager import MediaFileManager
from streamlit.runtime.memory_media_file_storage import MemoryMediaFileStorage

from classroom import films
from classroom.questions import question
from classroom.specs import checked_item
from classroom.state import RefusedError
from packviz.errors import PackvizError
from packviz.teach.pages import LESSONS
from ui.parts.downloads import download
from ui.parts.plan import STARTER, Item, Plan, item_of, shown_of
from ui.parts.plan_file import as_file, as_html, from_file
from ui.state.kinds import APP_KINDS, BESIDE, ROWS
from ui.state.runs import Request, run
from ui.state.text import OWN, Source

PICTURE = base64.b64encode(b"\x89PNG" + bytes(300)).decode()
SLIDE = Item(slide=f"# Hello\n\n`h_n` ![a cat](data:image/png;base64,{PICTURE})", note="wave")
STEPS = (
    item_of("packing", Request(Source(OWN, "1 2 3\n4 5"), (("cell", "lstm"),), stages=("pack",)), 3, "Why three?"),
    item_of("compare", Request(Source(OWN, "1\n2 3"), stages=BESIDE), 2),
    item_of("overview", Request(), 4),
)
PLAN = (
    *STEPS,
    *STARTER,
    SLIDE,
    replace(STEPS[0], question={"prompt": "Which?", "options": ["this", "that"], "answer": 1}),
)


def plan(*items: object, **head: object) -> bytes:
    return json.dumps({"packviz": "lesson plan", "version": 1, "items": items} | head).encode()


def test_a_plan_comes_back_as_it_was_saved() -> None:
    for item, saved in zip(from_file(as_file(Plan(PLAN)).encode()).items, PLAN, strict=True):
        assert (item.request, item.step, item.note, item.slide) == (saved.request, saved.step, saved.note, saved.slide)
        assert (item.question is None) == (saved.question is None)
        assert item.question is None or question(item.question).prompt == question(saved.question or {}).prompt


def test_a_file_stays_until_it_is_fetched_while_others_use_the_app(monkeypatch: pytest.MonkeyPatch) -> None:
    files = MediaFileManager(MemoryMediaFileStorage("/media"))
    monkeypatch.setattr(Runtime, "instance", lambda: SimpleNamespace(media_file_mgr=files))
    drawn = mock.Mock()
    monkeypatch.setattr(st, "download_button", drawn)
    download("Save", "plan.json", lambda: "a plan")
    _, made, name, kind = drawn.call_args.args
    asked = files.add_deferred(made, kind, "here", name)
    addresses = [files.execute_deferred(asked) for _ in range(3)]
    for _ in range(9):
        files.remove_orphaned_files()  # as at the end of each run of any visitor
    kept = [files.read_file(address.rpartition("/")[2]) for address in addresses]
    assert [file and file.content for file in kept] == [b"a plan"] * 3


def test_every_question_of_the_first_plan_can_be_asked() -> None:
    kinds = [question(item.question or {}).kind for item in STARTER]
    assert len(set(kinds)) == len(STARTER) == 6


def test_a_plan_keeps_its_title_goal_and_minutes() -> None:
    saved = Plan(PLAN[:1], "On <b>packing</b>", "Know it.", 20)
    assert from_file(as_file(saved).encode()) == saved


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"", "a lesson plan of packviz"),
        (b"[" * 100_000, "a lesson plan of packviz"),
        (b"\xff\xfe", "a lesson plan of packviz"),
        (plan(version=2), "newer version of packviz"),
        (plan(*[{}] * 101), "Split the plan in two"),
        (plan({}), "item 1, item: expected a page, a question or a slide"),
        (plan({"slide": "x" * 8001}), "item 1: `slide` must be Markdown of 1 to 8000 characters"),
        (plan({"slide": f"![a](data:image/png;base64,{'A' * 400_004})"}), "at most 300 kB"),
        (plan({"question": {"prompt": "x" * 2001, "kind": "text"}}), "item 1"),
        (plan({"page": "packing", "sequences": "1 2", "colour": 1}), "`colour`"),
        (plan({"page": "packing", "example": "own", "sequences": "1 nan"}), "item 1"),
        (plan({"page": "packing", "example": "own", "sequences": "1 2", "step": 0}), "item 1, step"),
        (
            plan(
                {"page": "overview", "example": "own", "sequences": "1", "settings": {"total_length": 60_000_000}},
            ),
            "item 1, total_length",
        ),
        (plan({"page": "packing", "example": "own", "sequences": "1 " * 65}), "item 1, text"),
        (plan({"page": "packing", "example": "own", "sequences": 7}), "sequences"),
        (plan({"page": "packing", "example": "own", "sequences": "1", "stages": ["walk"]}), "stages"),
        (plan({"page": "packing", "example": "own", "sequences": "1", "settings": {"cell": "tree"}}), "item 1, cell"),
        (plan({"page": "packing", "example": "own", "sequences": "1", "settings": {"tree": 1}}), "item 1, settings"),
        *(
            (plan({"page": "packing", "example": "own", "sequences": "1", name: value}), f"item 1, {parameter}")
            for name, value, parameter in [
                ("direction", [1], "direction"),
                ("layer", {"a": 1}, "layer"),
                ("settings", {"seed": [1]}, "seed"),
                ("stages", [["pack"]], "stages"),
                ("read_as", ["auto"], "read_as"),
            ]
        ),
        (plan({"page": "packing", "example": "nowhere"}), "item 1"),
        (plan(7), "item 1: expected"),
        (plan({"question": {"kind": "walk"}}), "item 1"),
    ],
    ids=lambda given: None if isinstance(given, bytes) else given,
)
def test_an_invalid_plan_is_refused_with_the_place_and_the_reason(data: bytes, told: str) -> None:
    with pytest.raises((PackvizError, RefusedError), match=re.escape(told)):
        from_file(data)


@pytest.mark.parametrize(
    ("item", "times", "sentence"),
    [
        ({"slide": "x" * 7000}, 20, "The plan is too large: at most 128 kB without its pictures. Split it."),
        (7, 1, "item 1: expected `object`, got `int`."),
    ],
)
def test_a_plan_that_no_room_takes_is_refused_in_plain_words(item: object, times: int, sentence: str) -> None:
    with pytest.raises(RefusedError) as refusal:
        from_file(plan(*[item] * times))
    assert str(refusal.value) == sentence


def test_the_largest_plan_that_a_room_takes_is_opened_again() -> None:
    pictures = [Item(slide=f"{'é' * 7000} ![a](data:image/png;base64,{'A' * 230_000})")] * 4
    largest = Plan((*pictures, *[Item(slide="é" * 7500)] * 13))
    assert from_file(as_file(largest).encode()) == largest
    for more in (Item(slide="x" * 7500), pictures[0]):
        with pytest.raises(RefusedError, match="at most"):
            from_file(as_file(Plan((*largest.items, more))).encode())


def test_a_plan_is_checked_without_being_run(monkeypatch: pytest.MonkeyPatch) -> None:
    def runs(*_: object) -> None:
        raise AssertionError

    for name in ("classroom.questions._run", "classroom.questions.film_of_step", "ui.state.runs._record"):
        monkeypatch.setattr(name, runs)
    assert len(from_file(as_file(Plan(PLAN)).encode()).items) == len(PLAN)


def test_the_offline_page_has_the_movies_at_their_steps_and_no_notes() -> None:
    noted = replace(STEPS[0], note="a riddle")
    page = as_html("One & two", (noted, *PLAN[1:]))
    assert page.count("</title>") == 1
    assert "One &amp; two" in page
    assert "riddle" not in page
    assert "Why three?" not in page
    assert re.findall(r'class="pv-page" data-step="(\d+)"', page) == ["3", "2", "4", "3"]
    assert not re.findall(r'(?:src|href)="?https?:', page)
    assert f'<img src="data:image/png;base64,{PICTURE}" alt="a cat"' in page


def test_an_item_knows_the_run_it_shows() -> None:
    request = STEPS[0].request
    assert request is not None
    assert run(request).trace.packed.batch_sizes.tolist() == [2, 2, 1]
    assert Item(question={"kind": "alive"}).request is None


def test_a_room_shows_the_items_of_a_plan_with_their_notes() -> None:
    shown = shown_of((STEPS[0], SLIDE, replace(STARTER[0], note="say why"), Item(page="quiz", link="round=3")))
    assert [next(iter(item)) for item in shown] == ["step", "slide", "kind"]
    assert [item["note"] for item in shown] == ["Why three?", "wave", "say why · Quiz"]
    assert "say why" not in str(question(shown[2]).public)


@pytest.mark.parametrize("settings", [{}, {"layer": "gru"}, {"enforce_sorted": True}, {"embedding_dim": 4}], ids=str)
@pytest.mark.parametrize("page", [*LESSONS, "compare", "overview"])
def test_a_room_shows_the_movie_of_the_page(page: str, settings: dict[str, object]) -> None:
    """Also where the settings take a stage from the run: attention from a GRU, packing from refused lengths."""
    stages: Any = LESSONS[page].stages if page in LESSONS else BESIDE if page == "compare" else None
    kind = APP_KINDS[LESSONS[page].kind if page in LESSONS else "packing"]
    chosen = tuple((name, value) for name, value in settings.items() if name in kind.defaults)
    request = Request(Source(OWN, "1 2 3\n4 5 6 7"), chosen, stages=stages, kind=kind)
    shown = run(request)
    (spec,) = shown_of([item_of(page, shown.request, 1)])
    room = json.loads(gzip.decompress(films.film_of_step(spec["step"]).data))
    assert room["steps"] == json.loads(shown.movie.data)["steps"]


def test_a_room_shows_a_step_of_rows_with_what_is_watched_of_it() -> None:
    settings = (("max_length", 6), ("layer", "attention"), ("num_layers", 2))
    request = Request(Source(OWN, "1 2 3\n4 5"), settings, layer=0, stages=("two",), kind=ROWS, head=1)
    (spec,) = shown_of([item_of("two_packings", request, 2)])
    settled = {"max_length": 6, "num_layers": 2, "watched_layer": 0, "watched_head": 1}
    assert spec["step"] == {
        "kind": "rows", "stage": "two", "number": 2, "sequences": "1 2 3\n4 5", "settings": settled,
    }  # fmt: skip
    assert checked_item(spec) == spec
    film = films.film_of_step(spec["step"])
    assert film.step == 2
