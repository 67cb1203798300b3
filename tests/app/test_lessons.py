"""The five lessons: a question, a prediction, the movie of one stage, things to try, and further parts."""

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Locator, expect
from streamlit.testing.v1 import AppTest
from tabs import Size, box_of, enter, reach, until
from visits import LAPTOP, PHONE, PROJECTOR, Open, Visit, ticked, two_screens

import packviz
from packviz.show.movie import TERMS
from pages import LESSONS, STAGES, movies, opened, press, texts
from ui.parts.player import Screen

SMALL, SIDE = (360, 740), (844, 390)  # the window of a small phone, and of one on its side


def questions(app: AppTest) -> list[dict[str, Any]]:
    """Return what the player of a page asks."""
    given, *_ = movies(app)
    asked: list[dict[str, Any]] = json.loads(given)["movie"].get("questions", [])
    return asked


@pytest.mark.parametrize("lesson", STAGES)
def test_a_lesson_has_its_questions_and_another_batch_has_others(lesson: str) -> None:
    app = opened(lesson)
    first = questions(app)
    assert len(first) > 1
    app.text_area(key="sequences").set_value("1 2 3 4\n5 6\n7").run()
    assert questions(app) != first


def test_pages_without_a_lesson_ask_nothing() -> None:
    assert [questions(opened(page)) for page in ("", "compare")] == [[], []]


def test_something_to_try_changes_the_batch_and_the_link() -> None:
    app = opened("padding")
    press(app, "fill with 42 (padding_value)")
    assert float(app.query_params["padding_value"]) == 42
    press(app, "pads on the left (padding_side)")
    assert app.query_params["padding_side"] == "left"


@pytest.mark.parametrize(
    ("label", "word"),
    [("pads on the left (padding_side)", "on the left"), ("time steps first (batch_first off)", "batch_first=False")],
)
def test_something_to_try_in_padding_opens_the_step_that_shows_it(label: str, word: str) -> None:
    app = opened("padding")
    press(app, label)
    steps = json.loads(movies(app)[0])["movie"]["steps"]
    first = next(number for number, step in enumerate(steps, 1) if word in step["caption"])
    assert app.session_state["visit"][Screen].ask.step == first


def test_something_to_try_elsewhere_opens_the_first_step_that_differs() -> None:
    app = opened("running")
    press(app, "read backward (bidirectional)")
    assert app.session_state["visit"][Screen].ask.step == 0


@pytest.mark.parametrize(
    ("query", "supposed"),
    [
        ({"example": "unsorted"}, ["Suppose that every input"]),
        ({"sequences": "go on\nstop"}, ["Now suppose that `padding_idx` were set"]),
        ({"sequences": "go on\nstop", "padding_idx": 0}, []),
    ],
    ids=["numbers", "a random pad", "padding_idx"],
)
def test_zeros_are_supposed_only_where_the_pads_are_none(query: dict[str, object], supposed: list[str]) -> None:
    app = opened("padding", query)
    lines = [each.value for each in app.markdown]
    told = [line for line in lines if "uppose" in line]
    assert len(told) == len(supposed)
    assert all(line.startswith(begin) for line, begin in zip(told, supposed, strict=True))
    random = [number for number, line in enumerate(lines) if "is random" in line]
    assert len(random) == (supposed == ["Now suppose that `padding_idx` were set"])
    assert all("uppose" in lines[number + 1] for number in random)  # what is comes before what might be


def look(app: AppTest, label: str) -> str:
    """Return the kind of a button: "primary" if it is chosen."""
    return next(each.proto.type for each in app.button if each.label.startswith(label))


def test_a_chosen_thing_to_try_is_taken_back_by_another_press() -> None:
    app = opened("running")
    press(app, "read backward (bidirectional)")
    assert (app.query_params["bidirectional"], look(app, "read backward (bidirectional)")) == ("true", "primary")
    press(app, "read backward (bidirectional)")
    assert "bidirectional" not in app.query_params
    assert look(app, "read backward (bidirectional)") == "secondary"


def test_a_batch_to_try_is_taken_back_to_the_one_before() -> None:
    app = opened("packing")
    text = app.text_area(key="sequences").value
    press(app, "equal lengths", "equal lengths")
    assert app.text_area(key="sequences").value == text
    app.text_area(key="sequences").set_value("7 7 7 7\n8").run()
    app.run()
    press(app, "equal lengths")
    assert look(app, "equal lengths") == "primary"
    press(app, "equal lengths")
    assert app.text_area(key="sequences").value == "7 7 7 7\n8"
    assert "Back to my own text" not in [each.label for each in app.button]


def test_no_part_of_a_list_in_brackets_is_tried() -> None:
    app = opened("packing")
    app.text_area(key="sequences").set_value("[1, 2],\n[3, 4, 5]").run()
    app.run()
    press(app, "equal lengths")
    assert app.text_area(key="sequences").value == "1 2 3\n4 5 6\n7 8 9"
    press(app, "equal lengths")
    assert app.text_area(key="sequences").value == "[1, 2],\n[3, 4, 5]"


@pytest.mark.parametrize(("lesson", "label", "shown"), [
    ("packing", "one long sequence", "7 7 8 1 7 7 8 1\n8\n9 9"),
    ("packing", "equal lengths", "7\n8\n9"),
    ("two_packings", "equal lengths", "7\n8\n9"),
    ("borders", "documents of one token", "7 7 8 1\n8\n9"),
    ("sorting", "17 sequences of equal length", "\n".join("789" * 6)[:-2]),
])  # fmt: skip
def test_something_to_try_is_made_of_the_visitors_own_sequences(lesson: str, label: str, shown: str) -> None:
    app = opened(lesson)
    app.text_area(key="sequences").set_value("7  7 8 1\n8\n9 9").run()
    app.run()
    assert "replaces your sequences" not in texts(app)
    press(app, label)
    assert app.text_area(key="sequences").value == shown
    assert f"Press “{label}” again to get your sequences back." in texts(app)
    press(app, label)
    assert app.text_area(key="sequences").value == "7  7 8 1\n8\n9 9"


@pytest.mark.parametrize(("lesson", "label"), [
    ("what_leaks", "game episodes"),
])  # fmt: skip
def test_it_is_said_before_that_something_to_try_replaces_the_sequences(lesson: str, label: str) -> None:
    app = opened(lesson)
    assert f"“{label}” replaces your sequences. Press it again to get them back." in texts(app)
    text = app.text_area(key="sequences").value
    press(app, label)
    assert app.text_area(key="sequences").value != text
    press(app, label)
    assert app.text_area(key="sequences").value == text


def test_equal_lengths_are_not_offered_to_those_who_have_them() -> None:
    app = opened("two_packings")
    app.text_area(key="sequences").set_value("7 8\n1 2").run()
    app.run()
    assert "equal lengths" not in [each.label for each in app.button]


def test_changed_settings_are_listed_and_can_be_reset() -> None:
    app = opened("packing")
    assert not [each.key for each in app.button if (each.key or "").startswith("undo")]
    app = opened("packing", {"hidden_size": 6, "cell": "lstm", "padding_side": "left"})
    labels = {each.label for each in app.button if (each.key or "").startswith("undo ")}
    assert labels == {"hidden_size = 6 ✕", "cell = lstm ✕", "padding_side = left ✕", "Reset all"}
    app.button(key="undo hidden_size").click().run()
    assert "hidden_size" not in app.query_params
    assert app.query_params["cell"] == "lstm"
    app.button(key="undo all").click().run()
    assert not {"cell", "padding_side"} & set(app.query_params)
    assert not [each.key for each in app.button if (each.key or "").startswith("undo")]


def test_the_visitors_own_text_comes_back_after_something_to_try() -> None:
    app = opened("packing")
    app.text_area(key="sequences").set_value("7 7 7 7\n8").run()
    app.run()  # AppTest knows only what ran last: two fragments
    for name in ("one long sequence", "equal lengths"):
        press(app, name)
        assert app.text_area(key="sequences").value != "7 7 7 7\n8"
    press(app, "Back to my own text")
    assert app.text_area(key="sequences").value == "7 7 7 7\n8"
    assert "Back to my own text" not in [each.label for each in app.button]
    app.button_group(key="example").set_value("zen").run()
    assert str(app.text_area(key="sequences").value).startswith("Beautiful is better than ugly.")
    app.button_group(key="example").set_value("hundred").run()
    assert not [each for each in app.text_area if each.key == "sequences"]
    app.run()
    assert "100 sequences, 818 tokens, 49% padding" in texts(app)
    app.button_group(key="example").set_value("own").run()
    assert app.text_area(key="sequences").value == "7 7 7 7\n8"


def test_the_address_has_the_text_that_replaces_an_example_of_tensors() -> None:
    app = press(opened("packing", {"example": "hundred"}), "one long sequence")
    text = app.text_area(key="sequences").value
    assert text
    assert text in app.query_params["sequences"]
    assert "own" in app.query_params["example"]
    app.button_group(key="example").set_value("hundred").run()
    assert "sequences" not in app.query_params
    app.button_group(key="example").set_value("own").run()
    assert app.text_area(key="sequences").value == text
    assert text in app.query_params["sequences"]


def test_lengths_can_be_typed_and_invalid_ones_are_named() -> None:
    app = opened("cost")
    (data,) = [each for each in app.selectbox if each.label == "Lengths of a data set"]
    data.set_value("typed").run()
    next(each for each in app.text_area if each.label == "Lengths").set_value("3 4 many").run()
    (problem,) = [each.value for each in app.text if "⚠" in each.value]
    assert "many" in problem
    next(each for each in app.text_area if each.label == "Lengths").set_value("1 2 3 100").run()
    assert "There are 4 lengths." in texts(app)


FIND = """(root, told) => {
  const canvas = root.querySelector("canvas"), tip = root.querySelector(".pv-tip");
  const { left, top, width, height } = canvas.getBoundingClientRect();
  for (let y = 4; y < height; y += 6) for (let x = 4; x < width; x += 6) {
    canvas.dispatchEvent(new PointerEvent("pointermove", { clientX: left + x, clientY: top + y, bubbles: true }));
    if (!tip.hidden && tip.textContent.includes(told)) return { x, y };
  }
}"""  # where the cell is whose tooltip says this


def prediction(visited: Visit) -> Locator:
    return visited.page.get_by_test_id("packviz-prediction")


@pytest.mark.parametrize("lesson", LESSONS)
def test_a_lesson_fits_two_screens_and_does_not_give_the_answer_away(visit: Open, lesson: str) -> None:
    visited = visit(path=lesson)
    assert 20 < len(visited.words) <= 110, " ".join(visited.words)
    shapes = visited.player.locator(".pv-shape").filter(visible=True).all_inner_texts()
    assert not {"(3, 4, 1)", "(3, 4, 4)"} & {shape.strip() for shape in shapes}
    assert (visited.data("stage"), visited.data("step")) == (LESSONS[lesson], "1")
    expect(visited.player).to_be_in_viewport(ratio=1)
    assert box_of(visited.player.locator("canvas"))["height"] >= 300
    if lesson in STAGES:
        expect(prediction(visited)).to_contain_text("Predict.")
    visited.page.set_viewport_size({"width": LAPTOP[0], "height": LAPTOP[1]})
    assert two_screens(visited, sections=1)
    visited.press("End", "Home")


@pytest.mark.parametrize(("size", "least"), [(PHONE, 200), (SMALL, 160)])
@pytest.mark.parametrize("lesson", LESSONS)
def test_picture_caption_and_buttons_are_on_a_phones_first_screen(
    visit: Open, lesson: str, size: Size, least: int
) -> None:
    visited = visit(None, path=lesson, size=size, has_touch=True, is_mobile=True)
    for part in (".pv-stage", ".pv-caption", ".pv-transport"):
        expect(visited.player.locator(part)).to_be_in_viewport(ratio=1)
    assert box_of(visited.player.locator(".pv-stage"))["height"] >= least
    buttons = visited.player.locator(".pv-transport > button, .pv-menued > button").filter(visible=True)
    assert len({round(box_of(button)["y"]) for button in buttons.all()}) == 1


@pytest.mark.parametrize("lesson", LESSONS)
def test_each_caption_is_whole_on_a_phone_with_the_buttons_below(visit: Open, lesson: str) -> None:
    visited = visit(None, path=lesson, size=PHONE, has_touch=True, is_mobile=True, motion=False)
    caption, buttons = (visited.player.locator(part) for part in (".pv-caption", ".pv-transport"))
    for _ in range(int(visited.data("steps"))):
        assert caption.evaluate("node => node.scrollHeight <= node.clientHeight"), visited.data("step")
        expect(buttons).to_be_in_viewport(ratio=1)
        visited.press("ArrowRight")
    assert box_of(visited.player.locator(".pv-stage"))["height"] >= 200


def test_a_verdict_on_a_phone_takes_its_lines_from_the_picture(visit: Open) -> None:
    visited = visit(None, path="unpacking", size=PHONE, has_touch=True, is_mobile=True, motion=False)
    choices = prediction(visited).get_by_role("group", name="Answers").get_by_role("button")
    another = prediction(visited).get_by_role("button", name="Another")
    assert box_of(another)["y"] < box_of(choices.first)["y"]  # beside the question: it is alone in no line
    choices.nth(1).tap()
    expect(prediction(visited).get_by_role("status")).to_contain_text("✗ Not quite.")
    expect(visited.player.locator(".pv-transport")).to_be_in_viewport(ratio=1)
    assert box_of(visited.player.locator(".pv-stage"))["height"] >= 200


@pytest.mark.parametrize(("lesson", "steps"), [("sorting", 4), ("what_leaks", 2)])
def test_a_picture_with_room_below_it_does_not_scroll(visit: Open, lesson: str, steps: int) -> None:
    visited = visit(None, path=lesson, size=PHONE, has_touch=True, is_mobile=True, motion=False)
    for _ in range(steps):
        expect(visited.player.locator(".pv-stage")).not_to_have_attribute("data-wide", "")
        visited.press("ArrowRight")


@pytest.mark.parametrize("size", [(1280, 520), (844, 390)])
def test_the_controls_are_in_a_low_window_at_every_step(visit: Open, size: Size) -> None:
    visited = visit(None, path="packing", size=size, motion=False)
    for _ in range(int(visited.data("steps"))):
        expect(visited.player.locator(".pv-transport")).to_be_in_viewport(ratio=1)
        assert box_of(visited.player.locator(".pv-stage"))["height"] >= 150
        visited.press("ArrowRight")


@pytest.mark.parametrize(("size", "least"), [((844, 390), 190), ((740, 360), 140)])
def test_on_a_phone_on_its_side_the_picture_its_caption_and_the_controls_are_seen_at_once(
    visit: Open, size: Size, least: float
) -> None:
    visited = visit(None, path="running", size=size, motion=False, has_touch=True, is_mobile=True)
    visited.press("ArrowRight", "ArrowRight")
    visited.player.evaluate("node => node.scrollIntoView()")
    stage, say, transport = (visited.player.locator(part) for part in (".pv-stage", ".pv-say", ".pv-transport"))
    for part in (stage, say, transport):
        expect(part).to_be_in_viewport(ratio=1)
    assert box_of(say)["y"] + box_of(say)["height"] <= box_of(transport)["y"] + 1  # which would cover it
    assert box_of(stage)["height"] >= least


@pytest.mark.parametrize("cell", ["gru", "lstm"])
def test_on_a_phone_on_its_side_the_picture_has_the_width_of_the_code_and_room_beside_a_question(
    visit: Open, cell: str
) -> None:
    visited = visit({"cell": cell}, path="running", size=SIDE, motion=False, has_touch=True, is_mobile=True)
    stage, code = (visited.player.locator(part) for part in (".pv-stage", ".pv-code"))
    for _ in range(int(visited.data("steps"))):
        assert box_of(stage)["height"] >= 190  # both lines of the caption are free
        assert box_of(stage)["width"] > 780
        expect(stage).not_to_have_attribute("data-wide", "")  # it does not scroll sideways
        assert box_of(code)["y"] > box_of(stage)["y"] + box_of(stage)["height"]
        visited.press("ArrowRight")


@pytest.mark.parametrize("lesson", LESSONS)
def test_on_a_phone_on_its_side_no_word_is_under_the_share_button(visit: Open, lesson: str) -> None:
    visited = visit(path=lesson, size=SIDE, motion=False, has_touch=True, is_mobile=True)
    share = box_of(visited.main.get_by_role("button", name="Share"))
    assert box_of(visited.main.locator(".st-key-answer p").first)["y"] >= share["y"] + share["height"]


def test_changed_settings_take_one_row(visit: Open) -> None:
    visited = visit({"num_layers": 2, "bidirectional": "true", "example": "sentences"}, path="running", motion=False)
    expect(visited.sidebar).to_be_in_viewport()
    visited.settle()
    chips = visited.main.locator(".st-key-changed button")
    assert len({round(box_of(chip)["y"]) for chip in chips.all()}) == 1 < chips.count()
    visited.press("ArrowRight")
    assert box_of(visited.player.locator(".pv-stage"))["height"] >= 300


@pytest.mark.parametrize("page", ["attention", "what_leaks", "losses"])
def test_a_skipped_question_stays_at_a_desk_and_the_picture_keeps_its_place(visit: Open, page: str) -> None:
    visited = visit(path=page, size=(1280, 720), motion=False)
    prompt, stage = prediction(visited).locator(".pv-prompt"), visited.player.locator(".pv-stage")
    places = set()
    for _ in range(3):
        expect(prompt).to_be_visible()
        places.add((box_of(stage)["y"], box_of(stage)["height"]))
        visited.press("ArrowRight")
    assert len(places) == 1


@pytest.mark.parametrize(("path", "group"), [
    ("packing", "Learn"), ("losses", "Transformers"), ("doctor", "Help"), ("quiz", None), ("", None),
])  # fmt: skip
def test_the_menu_marks_the_group_of_the_page(visit: Open, path: str, group: str | None) -> None:
    sections = visit(path=path, size=LAPTOP).page.get_by_test_id("stTopNavSection")
    marked = (
        "all => all.filter(each => getComputedStyle(each).webkitTextStrokeWidth !== '0px').map(each => each.innerText)"
    )
    assert sections.evaluate_all(marked) == ([group] if group else [])


def test_the_menu_numbers_the_lessons_of_a_group(visit: Open) -> None:
    page = visit(path="packing").page
    page.get_by_test_id("stTopNavSection").filter(has_text="Learn").click()
    lessons = ["1 Padding", "2 Sorting", "3 Packing", "4 Running", "5 Unpacking"]
    expect(page.get_by_role("menuitem")).to_have_text(lessons)


@pytest.mark.parametrize("size", [PROJECTOR, (800, 900)], ids=["projector", "tablet"])
def test_the_menu_keeps_its_place_on_all_pages(visit: Open, size: Size) -> None:
    places = set()
    for path in ("", "packing", "what_leaks", "quiz"):  # the last one has no settings
        menu = visit(path=path, size=size).page.locator("[data-testid=stTopNavSection], [data-testid=stTopNavLink]")
        places.add(tuple((box["x"], box["width"]) for box in map(box_of, menu.all())))
    assert len(places) == 1
    assert len(places.pop()) == 6


def test_on_a_phone_the_menu_and_the_sequences_are_on_the_first_screen_of_the_drawer(visit: Open) -> None:
    visited = visit(None, path="padding", size=PHONE, has_touch=True, is_mobile=True)
    drawer = visited.page.get_by_test_id("stSidebar")
    visited.page.get_by_test_id("stExpandSidebarButton").click()
    expect(drawer).to_have_attribute("data-collapsed", "false")
    links = drawer.get_by_test_id("stSidebarNavLink")
    for shown in (links.first, links.last, links.get_by_text("Quiz"), drawer.get_by_role("textbox").first):
        expect(shown).to_be_in_viewport(ratio=1)
    assert min(box_of(link)["height"] for link in links.all()) >= 44
    assert box_of(links.get_by_text("Quiz"))["y"] == box_of(links.get_by_text("Overview"))["y"]  # in no group, either


TARGETS = """(player) => [...player.querySelectorAll("button, select")].flatMap((each) => {
    const { left, top, width, height } = each.getBoundingClientRect(), [x, y] = [left + width / 2, top + height / 2];
    const taken = (y) => player.getRootNode().elementFromPoint(x, y)?.closest("button, select") === each;
    if (!width || !taken(y)) return [];
    const reach = (way) => { let far = 0; while (far < 60 && taken(y + way * far)) far += 0.5; return far; };
    const high = reach(1) + reach(-1);
    return high < 43.5 ? [`${each.getAttribute("aria-label") ?? each.textContent}: ${high}`] : [];
})"""  # the buttons on which a finger has fewer than 44 pixels of the height


@pytest.mark.parametrize("page", ["", "padding", "attention", "losses", "unpacking"])
def test_on_a_phone_each_button_of_the_player_is_44_pixels_high(visit: Open, page: str) -> None:
    visited = visit(None, path=page, size=PHONE, has_touch=True, is_mobile=True, motion=False)
    assert visited.player.evaluate(TARGETS) == []
    visited.press("ArrowRight")
    assert visited.player.evaluate(TARGETS) == []


def test_a_menu_left_open_on_a_phone_is_closed_on_the_next_load(visit: Open) -> None:
    visited = visit(None, path="padding", size=PHONE, has_touch=True, is_mobile=True)
    menu = visited.page.get_by_test_id("stSidebar")
    for address in (visited.page.url, visited.page.url.replace("padding", "packing")):
        visited.page.get_by_test_id("stExpandSidebarButton").click()
        expect(menu).to_have_attribute("data-collapsed", "false")
        visited.page.goto(address)
        visited.player.wait_for()
        visited.settle()
        expect(menu).to_have_attribute("data-collapsed", "true")


def test_the_keys_step_the_movie_after_every_click(visit: Open) -> None:
    visited = visit(path="padding", motion=False)
    page, keys = visited.page, (("ArrowRight", 1), ("PageDown", 2), ("PageUp", 1), ("ArrowLeft", 0))
    clicks: dict[str, Callable[[], object]] = {
        "a page": lambda: visited.go_to("Packing"),
        "an empty spot": lambda: visited.main.get_by_role("heading", level=1).click(),
        "an example": lambda: visited.sidebar.get_by_role("radio", name="words").last.click(),
        "a setting": lambda: visited.sidebar.get_by_role("radio", name="lstm").click(),
        "a switch": lambda: visited.sidebar.get_by_text("bidirectional").click(),
        "Check": lambda: prediction(visited).get_by_role("button", name="Check").click(),
        "a thing to try": lambda: visited.main.get_by_role("button", name="equal lengths").click(),
    }
    for name, click in clicks.items():
        click()
        visited.settle()
        start = int(visited.data("step"))
        for key, further in keys:
            page.keyboard.press(key)
            assert int(visited.data("step")) == start + further, (name, key)
    prediction(visited).get_by_role("textbox").click()
    page.keyboard.press("ArrowRight")
    visited.text.click()
    page.keyboard.press("PageDown")
    assert int(visited.data("step")) == start


def test_an_answer_by_keyboard_puts_a_tick_in_the_menu(visit: Open) -> None:
    visited = visit(path="packing")
    asked = prediction(visited)
    box, said = asked.get_by_role("textbox"), asked.get_by_role("status")
    reach(box)
    visited.page.keyboard.type("3 2 4")
    visited.page.keyboard.press("Enter")
    expect(said).to_contain_text("✗ Not quite. These are the lengths")
    visited.settle()
    assert not ticked(visited, "Packing")
    box.fill("3;3;2;1")
    visited.page.keyboard.press("Enter")
    visited.settle()
    expect(said).to_contain_text("✓ Right.")
    expect(visited.player).not_to_have_attribute("data-step", "1")
    visited.page.keyboard.press("ArrowRight")
    visited.settle()
    expect(said).to_contain_text("✓ Right.")
    visited.go_to("Running")
    assert ticked(visited, "Packing")
    visited.go_to("Packing")
    visited.page.reload()  # the browser takes the tick as the page's icon, which must not come from another host
    visited.settle()
    assert ticked(visited, "Packing")


def test_a_term_is_explained_on_hover_and_on_focus(visit: Open) -> None:
    visited = visit(path="packing")
    term, meaning = visited.main.locator("code[data-term]").first, visited.page.get_by_role("tooltip")
    term.hover()
    expect(meaning).to_have_text(TERMS["batch_sizes"])
    visited.page.mouse.move(0, 400)
    expect(meaning).to_be_hidden()
    term.focus()
    expect(meaning).to_be_visible()
    assert term.get_attribute("aria-describedby") == meaning.get_attribute("id")
    visited.press("Escape")
    expect(meaning).to_be_hidden()
    visited.unfold("Where is a token?")
    visited.enter(visited.main.get_by_role("spinbutton", name="time step t"), "2")
    expect(visited.main).to_contain_text("data[offset[2] + 1] = data[6 + 1] = data[7]: sequence A at time step 2.")
    visited.press("End", "ArrowLeft", "ArrowLeft", "ArrowLeft")
    visited.click(visited.main.get_by_role("button", name="Show it in the movie").first)
    expect(visited.player.locator(".pv-tip")).to_contain_text("sequence A, time step 2")
    expect(visited.player).to_be_in_viewport()
    n = visited.main.get_by_label("packed row n")
    visited.enter(n, "7")
    expect(visited.main).to_contain_text("data[offset[2] + 1] = data[6 + 1] = data[7]")
    visited.enter(n, "9")
    expect(visited.main).to_contain_text("a packed row from 0 to 8")
    expect(n).to_have_value("9")


def test_the_sum_behind_a_number_is_written_out(visit: Open) -> None:
    visited = visit(path="running")
    expect(visited.main).to_contain_text("h' = (1 - z) · n + z · h")
    visited.press("ArrowRight", "ArrowRight")  # t = 1
    canvas = visited.player.locator("canvas")
    told = "r of C, unit 1"

    def pointed_at() -> bool:
        canvas.hover(position=visited.player.evaluate(FIND, told))
        return told in visited.player.locator(".pv-tip").inner_text()

    until(visited.page, pointed_at)  # the picture may have become lower since it was found
    visited.page.mouse.down()
    visited.page.mouse.up()
    visited.settle()
    trace = packviz.trace(packviz.Batch.parse("1 2 3\n4 5\n6 7 8 9"))
    n = trace.packed.offsets[1] + trace.sorted.rank[2]
    reset = float(trace.layers[0][0].gates["r"][n, 1])
    expect(visited.main).to_contain_text(f"= {reset:.4f}")
    expect(visited.main.get_by_role("spinbutton", name="hidden unit")).to_have_value("1")
    unit = visited.main.get_by_role("spinbutton", name="hidden unit")
    visited.enter(unit, "3")
    visited.unfold("The whole run")
    expect(visited.main.get_by_role("figure", name="Heat map of 4 hidden units")).to_be_visible()


def test_what_a_visitor_knows_survives_a_reload(visit: Open) -> None:
    seen = visit({"example": "unsorted"}, path="padding")
    prediction(seen).get_by_role("textbox").fill("3")
    seen.page.keyboard.press("Enter")
    seen.settle()
    until(seen.page, lambda: any(each.get("value") == "pad" for each in seen.page.context.cookies()))
    seen.page.goto(seen.page.url.replace("/padding", "/unpacking"))
    seen.settle()
    expect(seen.main).to_contain_text("1 of 5 predictions answered")


def test_tab_does_not_go_into_the_closed_sidebar(visit: Open) -> None:
    page = visit(path="sorting").page
    inside = "document.activeElement.closest('[data-testid=stSidebar]') !== null"
    for _ in range(16):
        page.keyboard.press("Tab")
        assert page.evaluate(inside) is False


@pytest.mark.parametrize("page", ["losses", "what_leaks"])
def test_on_a_phone_every_caption_of_a_long_lesson_is_whole(visit: Open, page: str) -> None:
    seen = visit(None, path=page, size=PHONE, has_touch=True, is_mobile=True)
    for _ in range(int(seen.data("steps"))):
        assert seen.player.locator(".pv-caption").evaluate("node => node.scrollHeight - node.clientHeight") <= 0
        seen.press("ArrowRight")


BELOW = """() => {
    const [{ caption, controls }] = window[Symbol.for("packviz")].players, said = document.createRange();
    said.selectNodeContents(caption.root.querySelector(".pv-caption"));
    return said.getBoundingClientRect().bottom - controls.root.getBoundingClientRect().top;
}"""  # by how many pixels the caption goes on behind the controls


def test_on_a_phone_on_its_side_the_controls_cover_no_caption(visit: Open) -> None:
    seen = visit(None, path="", size=SIDE, has_touch=True, is_mobile=True, motion=False)
    for step in range(2, int(seen.data("steps"))):
        seen.press("ArrowRight")
        assert seen.page.evaluate(BELOW) <= 2, step


@pytest.mark.parametrize("page", ["", "unpacking", "attention"])
def test_on_a_phone_there_is_room_for_the_longest_caption_and_no_more(visit: Open, page: str) -> None:
    seen = visit(None, path=page, size=PHONE, has_touch=True, is_mobile=True, motion=False)
    caption = seen.player.locator(".pv-caption")
    words = """node => {
        const said = document.createRange();
        said.selectNodeContents(node);
        return said.getBoundingClientRect().bottom - node.getBoundingClientRect().top;
    }"""
    needed, given = list[float](), set[float]()
    for _ in range(2, int(seen.data("steps"))):
        seen.press("ArrowRight")
        needed.append(float(caption.evaluate(words)))
        given.add(box_of(caption)["height"])
    assert len(given) == 1
    assert abs(max(needed) - max(given)) < 8  # less than half a line


def test_on_a_phone_a_long_line_of_code_scrolls_and_a_shadow_says_so(visit: Open) -> None:
    code = visit(path="do_i_need_it", size=PHONE, has_touch=True, is_mobile=True).main.locator(".stCode").first
    assert code.evaluate("node => node.scrollWidth > node.clientWidth")
    assert (
        code.evaluate("node => getComputedStyle(node).backgroundAttachment") == "local, local, scroll, scroll, scroll"
    )


HEIGHT = """() => {
    const [{ picture }] = window[Symbol.for("packviz")].players;
    return [picture.standing.room <= picture.width, picture.height];
}"""  # whether all of the picture is in sight, and how high it is
SCROLL = {"attention": range(1, 12), "what_leaks": (3, 5, 6)}


@pytest.mark.parametrize("size", [PHONE, SMALL], ids=["phone", "small"])
@pytest.mark.parametrize("page", LESSONS)
def test_on_a_phone_all_of_a_lesson_is_on_the_first_screen(visit: Open, page: str, size: tuple[int, int]) -> None:
    seen = visit(None, path=page, size=size, has_touch=True, is_mobile=True, motion=False)
    steps, heights, scrolls = int(seen.data("steps")), dict[int, int](), list[int]()
    for step in [*range(1, steps + 1), steps - 1]:
        whole, height = seen.page.evaluate(HEIGHT)
        scrolls += [] if whole else [step]
        assert heights.setdefault(step, height) == height, "after the step back it is as high as before"
        expect(seen.player.locator(".pv-transport")).to_be_in_viewport(ratio=1)
        seen.press("ArrowRight" if step < steps else "ArrowLeft")
    small = size != PHONE  # where the cells of these steps would be too small to read
    assert {*scrolls} <= {*SCROLL.get(page, ())} if small else not scrolls


def test_on_a_phone_the_picture_of_an_answer_is_not_small(visit: Open) -> None:
    seen = visit(path="what_leaks", size=PHONE, has_touch=True, is_mobile=True, motion=False)
    enter(seen.player.get_by_role("textbox"), "9")
    seen.player.get_by_role("button", name="Show me").click()
    until(seen.page, lambda: seen.page.evaluate(HEIGHT)[1] > PHONE[1] / 2)
    expect(seen.player.get_by_text("The answer: 1.")).to_be_in_viewport(ratio=1)
    expect(seen.player.locator(".pv-transport")).to_be_in_viewport(ratio=1)


@pytest.mark.parametrize(
    ("page", "query", "size"),
    [
        ("", None, PHONE),
        ("compare", None, PHONE),
        ("compare", None, SMALL),
        ("running", {"cell": "lstm"}, PHONE),
        ("running", {"cell": "rnn"}, PHONE),
        ("unpacking", {"bidirectional": "true"}, PHONE),
        ("unpacking", {"bidirectional": "true"}, (384, 844)),
    ],
)
def test_on_a_phone_no_step_has_to_be_scrolled_sideways(
    visit: Open, page: str, query: dict[str, object] | None, size: Size
) -> None:
    seen = visit(query, path=page, size=size, has_touch=True, is_mobile=True, motion=False)
    for step in range(1, int(seen.data("steps")) + 1):
        assert seen.page.evaluate(HEIGHT)[0], step
        expect(seen.player.locator(".pv-transport")).to_be_in_viewport(ratio=1)
        seen.press("ArrowRight")


@pytest.mark.parametrize("size", [PHONE, SMALL, (360, 640)])
def test_on_a_phone_the_ways_on_leave_the_buttons_of_the_overview_in_sight(visit: Open, size: Size) -> None:
    seen = visit(None, path="", size=size, has_touch=True, is_mobile=True, motion=False)
    seen.press("End")
    for way in ("Lesson 1: padding", "Compare with", "Do I need packing?"):  # as at a desk
        expect(seen.player.get_by_role("button", name=way)).to_be_in_viewport(ratio=1)
    expect(seen.player.locator(".pv-transport")).to_be_in_viewport(ratio=1)


@pytest.mark.parametrize("size", [PHONE, SMALL], ids=["phone", "small"])
def test_on_a_phone_three_changed_settings_are_all_seen_in_two_lines(visit: Open, size: Size) -> None:
    query = {"num_layers": 2, "bidirectional": "true", "cell": "lstm"}
    seen = visit(query, path="running", size=size, has_touch=True, is_mobile=True, motion=False)
    for each in (*query, "Reset all"):
        expect(seen.main.locator(".st-key-changed").get_by_role("button", name=each)).to_be_in_viewport(ratio=1)
    assert box_of(seen.main.locator(".st-key-changed"))["height"] < 90


def test_on_a_phone_two_layers_with_two_directions_are_in_one_line(visit: Open) -> None:
    query = {"num_layers": 2, "bidirectional": "true"}
    seen = visit(query, path="running", size=SMALL, has_touch=True, is_mobile=True, motion=False)
    first, second = map(box_of, seen.player.locator(".pv-layer").all())
    assert first["y"] == second["y"]
    assert first["width"] == second["width"]


def test_in_full_screen_three_lines_about_an_answer_are_whole(visit: Open) -> None:
    seen = visit(path="losses", size=PROJECTOR, motion=False)
    seen.press("f")
    prediction(seen).get_by_role("button", name="over rows").click()
    expect(prediction(seen)).to_contain_text("Try once more.")
    assert prediction(seen).evaluate("node => node.scrollHeight <= node.clientHeight")


@pytest.mark.parametrize(("size", "most"), [(PROJECTOR, 2.5), (PHONE, 3.5)])
def test_in_full_screen_the_ways_on_leave_the_caption_its_lines(visit: Open, size: Size, most: float) -> None:
    seen = visit(None, path="", size=size, motion=False)
    seen.press("End", "f")
    expect(seen.player).to_have_attribute("data-full", "")
    expect(seen.player.locator(".pv-onward").filter(visible=True).nth(1)).to_be_in_viewport(ratio=1)
    expect(seen.player.locator(".pv-onward").filter(visible=True).last).to_be_in_viewport(ratio=1)
    lines = "node => node.getBoundingClientRect().height / parseFloat(getComputedStyle(node).lineHeight)"
    assert seen.player.locator(".pv-caption").evaluate(lines) < most


def test_no_line_of_a_caption_begins_with_the_comma_after_a_letter(visit: Open) -> None:
    seen = visit(path="compare", motion=False)  # whose sixth caption has "B's state"
    seen.press(*["ArrowRight"] * 5)
    gaps = seen.player.locator(".pv-caption").evaluate("""caption => {
        const widths = Array.from({ length: 80 }, (_, i) => 160 + 5 * i);
        return widths.flatMap((width) => {
            caption.style.flex = `0 0 ${width}px`;
            return [...caption.querySelectorAll(".pv-chip")].map((chip) => {
                const after = document.createRange();
                const text = chip.nextSibling;
                if (!text || !/^[,.']/.test(text.data)) return null;
                after.setStart(text, 0);
                after.setEnd(text, 1);
                return chip.getBoundingClientRect().right - after.getBoundingClientRect().left;
            });
        });
    }""")
    gaps = [gap for gap in gaps if gap is not None]
    assert gaps
    assert max(gaps) < 1


def test_another_example_begins_anew_but_an_edit_at_the_end_stays(visit: Open) -> None:
    seen = visit(path="packing", motion=False)
    seen.press("End")
    seen.text.press("Control+End")
    seen.page.keyboard.type(" now")
    until(seen.page, lambda: seen.query.get("example") == "own")
    seen.settle()
    assert seen.data("step") == seen.data("steps") != "1"
    for example in ("words", "zen", "own", "sentences"):
        seen.player.evaluate("node => node.focus()")
        seen.page.keyboard.press("End")
        assert seen.data("step") != "1"
        seen.click(seen.sidebar.get_by_role("radio", name=example).first)
        expect(seen.player).to_have_attribute("data-step", "1")
        assert "step" not in seen.query


def test_on_a_phone_the_heading_is_in_sight_above_what_was_chosen_to_try(visit: Open) -> None:
    seen = visit(path="running", size=PHONE, motion=False)
    seen.click(seen.main.get_by_role("button", name="an LSTM instead"))
    expect(seen.player).to_have_attribute("aria-label", re.compile("LSTM"))
    expect(seen.player.locator(".pv-transport")).to_be_in_viewport(ratio=1)
    expect(seen.main.get_by_role("heading", level=1)).to_be_in_viewport(ratio=1)


def test_after_a_click_on_full_screen_space_plays(visit: Open) -> None:
    seen = visit(path="packing", motion=False)
    seen.player.get_by_role("button", name="Full screen").click()
    expect(seen.player).to_have_attribute("data-full", "")
    seen.page.keyboard.press("Space")
    expect(seen.player.get_by_role("button", name="Pause")).to_be_visible()
    expect(seen.player).to_have_attribute("data-full", "")


def test_letting_a_rule_fail_leads_to_the_step_where_it_fails(visit: Open) -> None:
    visited = visit(None, path="borders", motion=False)
    caption = visited.page.get_by_test_id("packviz-caption")
    for name, said in {
        "pads at the end": "counts pads as 3 documents.",
        "documents of one token": "finds 2 documents, not 3, and misses B.",
        "positions run on": "finds 1 document, not 3.",
    }.items():
        button = visited.main.get_by_role("button", name=name)
        visited.click(button)
        expect(caption).to_contain_text(f"Here this rule fails: it {said}")
        visited.click(button)  # takes it back


def test_something_to_try_does_not_show_the_answer_to_an_open_question(visit: Open) -> None:
    visited = visit(path="packing", motion=False)
    button = visited.main.get_by_role("button", name="one long sequence")
    for step in ("1", "4"):
        visited.press("Home", *["ArrowRight"] * (int(step) - 1))
        visited.click(button)
        expect(prediction(visited)).to_contain_text("What is batch_sizes?")
        assert visited.data("step") == "1"
    steps = visited.data("steps")
    visited.click(button)
    until(
        visited.page, lambda: visited.data("steps") != steps
    )  # on a busy machine the movie comes later than the answer
    asked = prediction(visited)
    enter(asked.get_by_role("textbox"), "3 3 2 1 1 1 1 1")
    expect(asked.get_by_role("status")).to_contain_text("✓ Right.")
    visited.press("Home")
    visited.click(button)  # to the batch before, whose question is open
    assert visited.data("step") == "1"
    visited.click(button)  # and to the one whose question is answered
    assert int(visited.data("step")) > 1


@pytest.mark.parametrize("size", [LAPTOP, PHONE])
def test_after_something_to_try_the_way_back_is_beside_the_movie(visit: Open, size: tuple[int, int]) -> None:
    visited = visit({"sequences": "7 7 7 7\n8", "example": "own"}, path="packing", size=size)
    visited.click(visited.main.get_by_role("button", name="equal lengths"))
    assert visited.query["sequences"] != "7 7 7 7\n8"
    back = visited.main.get_by_role("button", name="Back to my own text")
    for part in (back, visited.player.locator(".pv-stage"), visited.player.locator(".pv-transport")):
        expect(part).to_be_in_viewport(ratio=1)
    visited.click(back)
    assert visited.query["sequences"] == "7 7 7 7\n8"
    expect(back).to_be_hidden()


def test_the_layouts_of_the_batch_have_the_bytes_of_torchs_tensors() -> None:
    app = opened("packing")
    app.session_state["fold A PackedSequence in Python"] = True
    table = app.run().table[-1].value
    trace = packviz.trace(packviz.Batch.example("unsorted"))
    assert list(table["layout"]) == ["padded", "packed", "jagged"]
    assert list(table["bytes"][:2]) == [trace.padded.values.nbytes, trace.packed_sequence.data.nbytes]
    assert list(table["rows"]) == [trace.padded.mask.numel(), *2 * [int(trace.padded.lengths.sum())]]
