"""Pack it yourself, in the lesson on packing: with the mouse, with the keyboard and on a phone."""

import json
from typing import Any

from playwright.sync_api import Locator, expect
from streamlit.testing.v1 import AppTest
from tabs import box_of, violations
from visits import PHONE, Open, Visit, ticked, wider_by

import packviz
from packviz.teach.exercise import exercise
from pages import opened, press, texts

BATCH = "1 2 3\n4 5\n6 7 8 9"


def cells_in_order() -> list[int]:
    """Return the places of the cells in the order in which torch packs them."""
    made = exercise(packviz.trace(packviz.Batch.parse(BATCH)))
    assert made is not None
    return [row.cell for row in made.rows]


def exercise_of(visited: Visit) -> tuple[Locator, Locator, Locator]:
    """Return the exercise, its cells and the line that says what is right or wrong."""
    root = visited.page.get_by_test_id("packviz-exercise")
    root.wait_for()
    return root, root.locator("table button"), root.get_by_role("status")


def test_the_mouse_drags_and_clicks_the_cells_and_the_lesson_is_ticked_off(visit: Open) -> None:
    visited = visit(path="packing")
    root, cells, told = exercise_of(visited)
    first, *others = cells_in_order()
    cells.nth(first).drag_to(root.get_by_role("list", name="data", exact=True))
    expect(root).to_have_attribute("data-taken", "1")
    cells.nth(others[0]).drag_to(root.get_by_text("Start over"))
    expect(root).to_have_attribute("data-taken", "1")
    cells.nth(first + 2).click()
    expect(told).to_contain_text("8 is C at t = 2; the next row is A at t = 0")
    expect(cells.nth(first + 2)).to_have_attribute("data-wrong", "")
    for cell in others:
        cells.nth(cell).click()
    for size in (3, 3, 2, 1):
        root.get_by_role("button", name=str(size), exact=True).last.click()
    expect(told).to_have_text("You packed it: 9 rows, batch_sizes = [3, 3, 2, 1].")
    visited.settle()
    expect(told).to_have_text("You packed it: 9 rows, batch_sizes = [3, 3, 2, 1].")
    visited.go_to("Running")
    assert ticked(visited, "Packing")
    visited.page.go_back()
    expect(told).to_have_text("You packed it: 9 rows, batch_sizes = [3, 3, 2, 1].")
    expect(root.get_by_role("list", name="data", exact=True)).to_contain_text("8")


def test_keys_alone_pack_the_batch_and_another_batch_is_another_exercise(visit: Open) -> None:
    visited = visit(path="packing", motion=False)
    root, cells, told = exercise_of(visited)
    press = visited.page.keyboard.press
    cells.first.focus()
    press("Enter")
    press("ArrowUp")
    press("ArrowLeft")
    expect(cells.first).to_be_focused()
    for key in ("ArrowDown", "Space", "ArrowDown", "End", "Enter"):
        press(key)
    expect(told).to_contain_text("This cell is padding: B has 2 tokens, so it has ended at t = 3.")
    press("Backspace")
    expect(root).to_have_attribute("data-taken", "1")
    expect(told).to_contain_text("back in the grid")
    expect(cells.nth(11)).to_be_focused()
    place = 11
    for cell in cells_in_order()[1:]:
        down, right = cell // 4 - place // 4, cell % 4 - place % 4
        for _ in range(abs(down)):
            press("ArrowDown" if down > 0 else "ArrowUp")
        for _ in range(abs(right)):
            press("ArrowRight" if right > 0 else "ArrowLeft")
        press("Enter")
        place = cell
    expect(root.get_by_role("toolbar").get_by_role("button").first).to_be_focused()
    press("3")
    press("2")
    expect(told).to_have_text(
        "2 is the length of B. batch_sizes[1] counts the rows at t = 1: one for each sequence that still has a token."
    )
    for key in ("ArrowRight", "Enter", "2", "1"):
        press(key)
    expect(told).to_contain_text("You packed it")
    expect(root.get_by_role("button", name="Start over")).to_be_focused()
    assert visited.data("step") == "1"
    visited.unfold("Where is a token?")
    visited.press("ArrowRight")
    expect(root).to_have_attribute("data-taken", "13")  # what else is done on the page leaves it alone
    visited.type("1 2\n3")
    expect(root).to_have_attribute("data-taken", "0")
    expect(cells).to_have_count(4)


def test_on_a_phone_a_finger_packs_the_batch(visit: Open) -> None:
    visited = visit(path="packing", size=PHONE, scheme="dark", has_touch=True, is_mobile=True)
    visited.unfold("Pack it yourself")
    root, cells, told = exercise_of(visited)
    for cell in cells_in_order():
        cells.nth(cell).tap()
    cells.first.tap(force=True)  # it is taken already
    expect(root).to_have_attribute("data-taken", "9")
    expect(root).to_have_attribute("data-theme", "dark")
    root.get_by_role("button", name="1", exact=True).tap()
    expect(told).to_contain_text("1 is too few: C, A and B have a token at t = 0.")
    for button in root.locator("button").all():
        box = box_of(button)
        assert min(box["width"], box["height"]) >= 38
    assert wider_by(visited) <= 0
    assert violations(visited.page) == []
    root.get_by_role("button", name="Put back").tap()
    expect(root).to_have_attribute("data-taken", "8")


def test_a_batch_that_is_too_large_links_to_a_smaller_one() -> None:
    app = opened("packing", {"example": "vowels"})
    assert "at most 30 tokens in at most 9 sequences" in texts(app)
    press(app, "Pack three sequences")
    assert "at most 30 tokens" not in texts(app)
    assert app.text_area(key="sequences").value == BATCH


def test_rows_filled_by_hand_are_compared_with_best_fit(visit: Open) -> None:
    visited = visit({"max_length": 6}, path="filling_rows")
    root = visited.page.get_by_test_id("packviz-exercise")
    documents = root.get_by_role("group", name="Documents").get_by_role("button")
    rows = root.get_by_role("group", name="Rows").get_by_role("button")
    documents.nth(2).drag_to(rows.nth(0))
    for document, row in ((1, 0), (0, 1)):
        documents.nth(document).click()
        rows.nth(row).click()
    expect(root.get_by_role("status")).to_contain_text("in 2 rows. Best fit, longest first, needs just as many.")
    visited.settle()
    visited.go_to("Two packings")
    assert ticked(visited, "Filling rows")


def test_rows_too_many_to_fill_by_hand_offer_a_smaller_batch() -> None:
    app = opened("filling_rows", {"example": "zen"})
    assert filled_by_hand(app) == []
    press(app, "Fill rows of 8 with six documents")
    (asked,) = filled_by_hand(app)
    assert asked["rows"] == len(packviz.fill_rows([4, 3, 3, 2, 2, 2], 8).rows) == 3  # two would do


def filled_by_hand(app: AppTest) -> list[Any]:
    """Return what the exercises of filling rows on a page are given."""
    given = (json.loads(each.proto.bytes) for each in app.get("bidi_component") if each.proto.bytes)
    return [each for each in given if "capacity" in each]


def test_the_chart_of_fill_takes_pasted_lengths() -> None:
    app = opened("filling_rows")
    charts = len(app.get("plotly_chart"))
    app.selectbox(key="fills_of").set_value("typed").run()
    assert len(app.get("plotly_chart")) == charts == 1
    app.text_area(key="fills_typed").set_value("3 4 many").run()
    assert "many" in texts(app)
    assert not app.get("plotly_chart")
    app.text_area(key="fills_typed").set_value("1 " * 2_001).run()
    assert "from 1 to 2000, but got 2001" in texts(app)
