"""Fill the rows yourself: the replies agree with the lengths and with best fit, by pointer, keyboard and finger."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict

import pytest
from playwright.sync_api import Browser, Locator, Page, expect
from tabs import violations

import packviz as pv
from packviz import PackvizError
from packviz.show.movie import assets
from packviz.show.movie.page import exercises
from packviz.teach.filling import MAX_CAPACITY, MAX_DOCUMENTS, filling

MOUNT = """async ([styles, script, data]) => {
    const file = new Blob([script, "export const { exercise } = exercises;"], { type: "text/javascript" });
    const { exercise } = await import(URL.createObjectURL(file));
    const root = document.querySelector("main").attachShadow({ mode: "open" }), sheet = new CSSStyleSheet();
    sheet.replaceSync(styles);
    root.adoptedStyleSheets.push(sheet);
    window.done = [];
    exercise({ data, parentElement: root, setTriggerValue: (...told) => window.done.push(told) });
}"""
PAGE = (
    "<!doctype html><html lang='en'><title>Rows</title><meta name='viewport' content='width=device-width'><main></main>"
)


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    page = browser.new_page(has_touch=True, reduced_motion="reduce")
    yield page
    page.close()


def mounted(page: Page, lengths: Sequence[int], capacity: int) -> Locator:
    """Put the exercise on a page of its own and return it."""
    made = filling(lengths, capacity)
    assert made is not None
    page.set_content(PAGE)
    page.evaluate(MOUNT, [assets()[0], exercises(), asdict(made)])
    return page.get_by_test_id("packviz-exercise")


def test_a_document_fits_exactly_where_its_tokens_do() -> None:
    lengths, capacity = [5, 2, 3, 1], 4
    made = filling(lengths, capacity)
    assert made is not None
    for length, document in zip(lengths, made.documents, strict=True):
        assert document.length == min(length, capacity)
        assert [f"{document.letter} fits" in said for said in document.said] == [
            room >= document.length for room in range(capacity + 1)
        ]
    assert "1 does not fit into any row" in made.documents[0].name
    assert "only 2 free cells" in made.documents[2].said[2]


def test_the_number_of_rows_is_compared_with_best_fit() -> None:
    made = filling([4, 3, 3, 2, 2, 2], 8)
    assert made is not None
    assert made.rows == len(pv.fill_rows([4, 3, 3, 2, 2, 2], 8).rows)
    for used, done in enumerate(made.done, 1):
        assert f"in {used} row" in done
        assert ("needs just as many" in done) == (used == made.rows)


@pytest.mark.parametrize(("lengths", "capacity"), [([1] * (MAX_DOCUMENTS + 1), 4), ([1], MAX_CAPACITY + 1)])
def test_what_is_too_large_to_fill_by_hand_has_no_exercise(lengths: list[int], capacity: int) -> None:
    assert filling(lengths, capacity) is None


def test_lengths_below_1_are_refused() -> None:
    with pytest.raises(PackvizError, match="lengths"):
        filling([3, 0], 4)


def test_the_mouse_drags_documents_into_rows(page: Page) -> None:
    root = mounted(page, [3, 2, 2], 4)
    told, rows = root.get_by_role("status"), root.get_by_role("group", name="Rows").get_by_role("button")
    documents = root.get_by_role("group", name="Documents").get_by_role("button")
    expect(rows).to_have_count(1)
    documents.nth(0).drag_to(rows.nth(0))
    expect(told).to_have_text("A fits. The row has 1 free cell left.")
    documents.nth(1).drag_to(rows.nth(0))
    expect(told).to_have_text("B has 2 tokens, but the row has only 1 free cell.")
    expect(documents.nth(1)).to_have_attribute("data-wrong", "")
    documents.nth(1).drag_to(told)
    expect(root).to_have_attribute("data-taken", "1")
    documents.nth(1).drag_to(rows.nth(1))
    documents.nth(2).drag_to(rows.nth(1))
    expect(told).to_contain_text("All documents are in 2 rows. Best fit, longest first, needs just as many.")
    expect(rows).to_have_count(2)
    expect(rows.nth(1)).to_have_accessible_name("Row 2: B, C, 0 of 4 free")
    assert page.evaluate("window.done") == [["filled", True]]


def test_keys_choose_a_document_and_then_its_row(page: Page) -> None:
    root = mounted(page, [3, 2], 4)
    documents = root.get_by_role("group", name="Documents").get_by_role("button")
    rows, press = root.get_by_role("group", name="Rows").get_by_role("button"), page.keyboard.press
    press("Tab")
    press("Enter")
    expect(documents.nth(0)).to_have_attribute("aria-pressed", "true")
    press("Escape")
    expect(documents.nth(0)).to_be_focused()
    for key in ("Enter", "Enter"):
        press(key)
    expect(rows.nth(0)).to_have_accessible_name("Row 1: A, 1 of 4 free")
    expect(documents.nth(1)).to_be_focused()
    for key in ("Enter", "Enter"):
        press(key)
    expect(root.get_by_role("status")).to_contain_text("only 1 free cell")
    for key in ("ArrowDown", "Enter"):
        press(key)
    expect(root.get_by_role("status")).to_contain_text("in 2 rows")
    expect(root.get_by_role("button", name="Start over")).to_be_focused()
    press("Backspace")
    expect(root).to_have_attribute("data-taken", "1")


def test_a_finger_taps_a_document_and_then_its_row(page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    root = mounted(page, [20, 7, 6, 5], MAX_CAPACITY)
    rows = root.get_by_role("group", name="Rows").get_by_role("button")
    rows.nth(0).tap()
    expect(root.get_by_role("status")).to_have_text("Choose a document first, and then a row for it.")
    for document, row in enumerate((0, 1, 1, 1)):
        root.get_by_role("group", name="Documents").get_by_role("button").nth(document).tap()
        rows.nth(row).tap()
    expect(root.get_by_role("status")).to_contain_text("in 2 rows")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert violations(page) == []
