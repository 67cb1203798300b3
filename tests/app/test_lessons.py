"""The five lessons: a question, a prediction, the movie of one stage, and what belongs to it."""

import re

import pytest
from playwright.sync_api import Browser, Locator, expect
from visits import LAPTOP, PHONE, PROJECTOR, Visit, visit

import packviz

STAGES = {"padding": "pad", "sorting": "sort", "packing": "pack", "running": "run", "unpacking": "unpack"}
RIGHT = {
    "padding": "3 4 1",
    "sorting": "2",
    "packing": "3 3 2 1",
    "running": "A C",
}  # of the first question, on 1 2 3 / 4 5 / 6 7 8 9

FIND = """(root, told) => {
  const canvas = root.querySelector("canvas"), tip = root.querySelector(".pv-tip");
  const { left, top, width, height } = canvas.getBoundingClientRect();
  for (let y = 4; y < height; y += 6) for (let x = 4; x < width; x += 6) {
    canvas.dispatchEvent(new PointerEvent("pointermove", { clientX: left + x, clientY: top + y, bubbles: true }));
    if (!tip.hidden && tip.textContent.includes(told)) return { x, y };
  }
}"""  # where a cell stands that says this when it is pointed at

each_lesson = pytest.mark.parametrize("lesson", STAGES)


def prediction(visited: Visit) -> Locator:
    return visited.page.locator(".st-key-prediction")


def answer(visited: Visit, typed: str) -> None:
    """Answer the question, and wait for what it brings."""
    box = prediction(visited).get_by_role("textbox")
    box.fill(typed)
    box.press("Enter")
    visited.settle()


def go_to(visited: Visit, lesson: str) -> None:
    visited.page.get_by_role("link", name=lesson.title(), exact=True).click()
    visited.page.wait_for_url(re.compile(f"/{lesson}"))
    visited.player.wait_for()
    visited.settle()


@each_lesson
@pytest.mark.parametrize("size", [PROJECTOR, LAPTOP], ids=["projector", "laptop"])
def test_the_movie_is_on_the_first_screen(browser: Browser, address: str, lesson: str, size: tuple[int, int]) -> None:
    with visit(browser, address, path=lesson, size=size) as visited:
        box, picture = visited.player.bounding_box(), visited.player.locator("canvas").bounding_box()
        assert box is not None
        assert picture is not None
        assert box["y"] >= 0
        assert box["y"] + box["height"] <= size[1]
        assert picture["height"] >= 300
        assert visited.data("stage") == STAGES[lesson]
        expect(prediction(visited)).to_contain_text("Predict.")
        visited.press("End", "Home")
        assert visited.errors == []
        assert visited.hosts <= {"localhost", "127.0.0.1", None}  # None: what the page itself holds


@each_lesson
def test_a_phone_shows_a_lesson_without_scrolling_sideways(browser: Browser, address: str, lesson: str) -> None:
    with visit(browser, address, path=lesson, size=PHONE, color_scheme="dark") as visited:
        visited.main.get_by_text("The numbers").wait_for()
        assert visited.page.evaluate("document.documentElement.scrollWidth") <= PHONE[0]
        assert visited.main.evaluate("main => main.scrollWidth") <= PHONE[0]
        assert visited.errors == []


@each_lesson
def test_whatever_stands_below_the_movie_comes_without_an_error(browser: Browser, address: str, lesson: str) -> None:
    for query in ({"cell": "lstm", "bidirectional": True, "num_layers": 2}, {"example": "words", "cell": "rnn"}):
        with visit(browser, address, query, path=lesson) as visited:
            visited.main.get_by_text("The numbers").wait_for()
            expect(visited.page.get_by_test_id("stException")).to_have_count(0)
            assert visited.errors == []


@each_lesson
def test_what_torch_refuses_to_pack_leaves_every_lesson_standing(browser: Browser, address: str, lesson: str) -> None:
    with visit(browser, address, {"enforce_sorted": True}, path=lesson) as visited:
        visited.settle()
        expect(visited.page.get_by_test_id("stException")).to_have_count(0)
        if lesson != "padding":
            visited.press("End")
            expect(visited.player).to_contain_text("must be sorted in decreasing order")


def test_the_batch_and_the_settings_go_along(browser: Browser, address: str) -> None:
    with visit(browser, address, {"cell": "lstm", "padding_value": 42}) as visited:
        visited.type("7 8\n9")
        visited.press("ArrowRight")
        for lesson in STAGES:
            go_to(visited, lesson)
            assert visited.query == {"cell": "lstm", "padding_value": "42.0", "example": "own", "sequences": "7 8\n9"}
            assert visited.data("step") == "1"
            expect(visited.text).to_have_value("7 8\n9")
            expect(visited.sidebar.get_by_text("2 sequences, 3 tokens")).to_be_visible()


def test_a_link_opens_a_lesson_on_its_step(browser: Browser, address: str) -> None:
    with visit(browser, address, {"step": 3, "cell": "rnn"}, path="packing") as visited:
        assert visited.data("step") == "3"
        go_to(visited, "running")
        assert visited.data("step") == "1"
        assert "step" not in visited.query


@pytest.mark.parametrize("lesson", RIGHT)
def test_a_right_answer_is_confirmed_and_shown(browser: Browser, address: str, lesson: str) -> None:
    with visit(browser, address, path=lesson) as visited:
        answer(visited, RIGHT[lesson])
        expect(prediction(visited)).to_contain_text("✓ Right.")
        assert int(visited.data("step")) > 1


@pytest.mark.parametrize(
    ("typed", "reason"),
    [("3 2 4", "These are the lengths"), ("4 3 2", "These are the sorted lengths"), ("1 2 3 3", "last time step")],
)
def test_a_mistake_gets_its_own_reason(browser: Browser, address: str, typed: str, reason: str) -> None:
    with visit(browser, address, path="packing") as visited:
        answer(visited, typed)
        expect(prediction(visited)).to_contain_text("✗ Not quite.")
        expect(prediction(visited)).to_contain_text(reason)
        expect(prediction(visited).get_by_role("textbox")).to_have_value(typed)
        assert int(visited.data("step")) > 1


def test_reading_the_packed_order_sequence_by_sequence_gets_its_own_reason(browser: Browser, address: str) -> None:
    with visit(browser, address, path="packing") as visited:
        prediction(visited).get_by_role("button", name="Another").click()
        visited.settle()
        expect(prediction(visited)).to_contain_text("does the token of sequence C at time step 1 stand?")
        answer(visited, "6")  # 3 tokens of A, 2 of B, one of C
        expect(prediction(visited)).to_contain_text("✗ Not quite.")
        expect(prediction(visited)).to_contain_text("sequence by sequence")
        assert visited.data("stage") == "pack"


def test_an_answer_that_cannot_be_read_stays_and_is_explained(browser: Browser, address: str) -> None:
    with visit(browser, address, path="packing") as visited:
        answer(visited, "three, three <b>two</b>")
        expect(prediction(visited)).to_contain_text("Expected")
        expect(prediction(visited).get_by_role("textbox")).to_have_value("three, three <b>two</b>")
        assert visited.data("step") == "1"


def test_another_batch_is_another_question(browser: Browser, address: str) -> None:
    with visit(browser, address, path="packing") as visited:
        answer(visited, "3 3 2 1")
        visited.type("1 2 3\n4 5\n6")
        expect(prediction(visited)).not_to_contain_text("Right")
        expect(prediction(visited).get_by_role("textbox")).to_have_value("")
        answer(visited, "3 2 1")
        expect(prediction(visited)).to_contain_text("✓ Right.")


def test_a_thing_to_try_changes_the_batch_and_the_link(browser: Browser, address: str) -> None:
    with visit(browser, address, path="padding") as visited:
        visited.main.get_by_role("button", name="padding_value 42").click()
        visited.settle()
        assert visited.query["padding_value"] == "42.0"
        visited.press("End")
        visited.main.get_by_role("button", name="on the left").click()
        visited.settle()
        assert visited.query["padding_side"] == "left"


def test_a_choice_is_judged_too(browser: Browser, address: str) -> None:
    with visit(browser, address, path="unpacking") as visited:
        for option, verdict in (("its state after", "✗ Not quite."), ("filler", "✓ Right.")):
            prediction(visited).get_by_role("combobox").click()
            visited.page.get_by_role("option").filter(has_text=option).first.click()
            prediction(visited).get_by_role("button", name="Check").click()
            visited.settle()
            expect(prediction(visited)).to_contain_text(verdict)
        assert visited.player.get_by_test_id("packviz-caption").inner_text().startswith("padding_value")


def test_an_empty_answer_is_no_answer(browser: Browser, address: str) -> None:
    with visit(browser, address, path="packing") as visited:
        answer(visited, "3 2 4")
        visited.press("Home")
        answer(visited, " ")
        expect(prediction(visited)).to_contain_text("Say it first.")
        assert visited.data("step") == "1"


@each_lesson
def test_the_first_step_does_not_give_the_answer_away(browser: Browser, address: str, lesson: str) -> None:
    with visit(browser, address, path=lesson) as visited:
        shapes = visited.player.locator(".pv-shape").filter(visible=True).all_inner_texts()
        assert not {"(3, 4, 1)", "(3, 4, 4)"} & {shape.strip() for shape in shapes}
        assert visited.data("step") == "1"


def test_the_keyboard_reaches_the_prediction_and_answers_it(browser: Browser, address: str) -> None:
    with visit(browser, address, path="packing") as visited:
        box = prediction(visited).get_by_role("textbox")
        for _ in range(60):
            visited.page.keyboard.press("Tab")
            if box.evaluate("box => box === document.activeElement"):
                break
        visited.page.keyboard.type("3 3 2 1")
        visited.page.keyboard.press("Enter")
        visited.settle()
        expect(prediction(visited)).to_contain_text("✓ Right.")


def test_ones_own_text_comes_back_after_a_thing_to_try(browser: Browser, address: str) -> None:
    with visit(browser, address, path="packing") as visited:
        visited.type("7 7 7 7\n8")
        for name in ("one long sequence", "all equal"):
            visited.main.get_by_role("button", name=name).click()
            visited.settle()
            expect(visited.text).not_to_have_value("7 7 7 7\n8")
        visited.main.get_by_role("button", name="my own text again").click()
        visited.settle()
        expect(visited.text).to_have_value("7 7 7 7\n8")
        assert visited.query["sequences"] == "7 7 7 7\n8"


def test_an_address_can_be_typed_both_ways_and_lights_up(browser: Browser, address: str) -> None:
    with visit(browser, address, path="packing") as visited:
        visited.main.get_by_role("spinbutton", name="time step t").fill("2")
        visited.main.get_by_role("spinbutton", name="time step t").press("Enter")
        visited.settle()
        expect(visited.main).to_contain_text("data[offset[2] + 1] = data[6 + 1] = data[7]: sequence A at time step 2.")
        visited.press("End", "ArrowLeft", "ArrowLeft", "ArrowLeft")
        visited.main.get_by_role("button", name="Show it in the movie").first.click()
        visited.settle()
        expect(visited.player.locator(".pv-tip")).to_contain_text("sequence A, time step 2")
        expect(visited.player).to_be_in_viewport()
        n = visited.main.get_by_label("packed row n")
        n.fill("7")
        n.press("Enter")
        visited.settle()
        expect(visited.main).to_contain_text("data[offset[2] + 1] = data[6 + 1] = data[7]")
        n.fill("9")
        n.press("Enter")
        visited.settle()
        expect(visited.main).to_contain_text("a packed row from 0 to 8")
        expect(n).to_have_value("9")


def test_the_sum_behind_a_number_is_written_out(browser: Browser, address: str) -> None:
    with visit(browser, address, path="running") as visited:
        expect(visited.main).to_contain_text("h' = (1 - z) · n + z · h")
        visited.press("ArrowRight", "ArrowRight")  # t = 1
        canvas = visited.player.locator("canvas")
        spot = visited.player.evaluate(FIND, "r of C, unit 1")
        canvas.click(position=spot)
        visited.settle()
        trace = packviz.trace(packviz.Batch.parse("1 2 3\n4 5\n6 7 8 9"))
        n = trace.packed.offsets[1] + trace.sorted.rank[2]
        reset = float(trace.layers[0][0].gates["r"][n, 1])
        expect(visited.main).to_contain_text(f"= {reset:.4f}")
        expect(visited.main.get_by_role("spinbutton", name="hidden unit")).to_have_value("1")
        unit = visited.main.get_by_role("spinbutton", name="hidden unit")
        unit.fill("3")
        unit.press("Enter")
        visited.settle()
        expect(visited.page.get_by_test_id("stException")).to_have_count(0)
        expect(visited.main.get_by_role("figure", name="Heat map of 4 hidden units")).to_be_visible()


def test_every_way_to_read_the_output_is_judged_for_this_configuration(browser: Browser, address: str) -> None:
    with visit(browser, address, path="unpacking") as visited:
        expect(visited.main.get_by_text("wrong here").first).to_be_visible()
        expect(visited.main.get_by_text("right here").first).to_be_visible()
