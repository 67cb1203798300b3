"""The page of questions: what is pasted finds an answer, and what is shown was run."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect
from visits import LAPTOP, PHONE, PROJECTOR, Visit, visit

from packviz.questions import ENTRIES, GROUPS, answer

BADGES = {"true": "true", "false": "false", "depends": "depends", "cited": "cited, not run"}
FILMED = next(
    entry for entry in ENTRIES if entry.film and entry.film.stage == "pack" and answer(entry).outcome.chart is None
)


@pytest.fixture(scope="module")
def visited(browser: Browser, address: str) -> Iterator[Visit]:
    with visit(browser, address, path="questions") as visited:
        yield visited
        assert visited.errors == []
        assert visited.hosts <= {"localhost", None}


def search_for(visited: Visit, text: str) -> None:
    field = visited.page.get_by_label("An error message, or a question in words")
    field.fill(text)
    field.press("Enter")
    visited.settle()


def test_the_first_group_stands_there_with_the_verdicts_of_the_library(visited: Visit) -> None:
    entries = [entry for entry in ENTRIES if entry.group == GROUPS[0] and not entry.slow]
    for entry in entries:
        row = visited.main.locator(f".st-key-row-{entry.key}")
        expect(row.get_by_role("button")).to_have_text(entry.question)
        expect(row).to_contain_text(BADGES[answer(entry).outcome.verdict])


def test_a_pasted_traceback_opens_the_answer_with_both_programs_and_what_they_said(visited: Visit) -> None:
    (entry,) = [entry for entry in ENTRIES if entry.key == "no-size"]
    search_for(visited, f'Traceback (most recent call last): File "m.py", line 3 {entry.messages[0]}')
    visited.main.locator(".st-key-entries").get_by_role("button").first.click()
    visited.settle()
    expect(visited.page.get_by_role("heading", level=1)).to_have_text(entry.question)
    assert visited.query["entry"] == entry.key
    done = answer(entry)
    for shown in (done.broken.shown, done.fixed.shown, entry.broken, entry.fixed):
        expect(visited.main.locator("code").filter(has_text=shown.splitlines()[-1]).first).to_be_visible()
    visited.page.get_by_role("button", name="Back to the results").click()
    visited.settle()
    assert entry.messages[0] in visited.page.get_by_label("An error message, or a question in words").input_value()
    search_for(visited, "")


def test_what_is_not_found_is_said(visited: Visit) -> None:
    search_for(visited, "qwzx vbnq")
    expect(visited.main.get_by_text("Nothing here has these words")).to_be_visible()
    search_for(visited, "")


@pytest.mark.parametrize("size", [LAPTOP, PROJECTOR, PHONE], ids=str)
def test_a_link_opens_an_entry_with_its_movie_at_the_step(
    browser: Browser, address: str, size: tuple[int, int]
) -> None:
    with visit(browser, address, {"entry": FILMED.key}, path="questions", size=size) as visited:
        expect(visited.page.get_by_role("heading", level=1)).to_have_text(FILMED.question)
        visited.player.wait_for()
        visited.settle()
        assert visited.data("stage") == "pack"
        assert int(visited.data("step")) >= 1
        assert "step" not in visited.query
        wide = visited.page.evaluate("document.documentElement.scrollWidth > innerWidth")
        assert not wide
        assert visited.errors == []


def test_a_link_to_no_question_says_so_and_shows_the_list(browser: Browser, address: str) -> None:
    with visit(browser, address, {"entry": "<b>nothing</b>"}, path="questions") as visited:
        expect(visited.main.get_by_text("There is no question with the name")).to_be_visible()
        expect(visited.main.locator(".st-key-entries").get_by_role("button").first).to_be_visible()


def test_an_entry_opens_in_the_explorer_with_its_batch_and_settings(browser: Browser, address: str) -> None:
    entry = next(each for each in ENTRIES if each.config.bidirectional and not each.slow)
    with visit(browser, address, {"entry": entry.key}, path="questions") as visited:
        explore(visited)
        assert visited.text.input_value() == entry.batch
        assert visited.query.get("bidirectional", "").lower() == "true"
        assert visited.errors == []


def test_the_explorer_opens_at_the_step_and_ones_own_batch_can_be_had_back(browser: Browser, address: str) -> None:
    with visit(browser, address, {"cell": "lstm", "hidden_size": 7}) as visited:
        visited.type("9 8 7\n6")
        visited.page.get_by_role("link", name="Questions", exact=True).click()
        visited.main.locator(f".st-key-row-{FILMED.key}").get_by_role("button").click()
        visited.settle()
        explore(visited)
        assert visited.text.input_value() == FILMED.batch
        assert "cell" not in visited.query
        assert visited.data("stage") == "pack"
        visited.page.get_by_role("button", name="My own text again").click()
        visited.settle()
        assert visited.text.input_value() == "9 8 7\n6"
        visited.sidebar.get_by_text("Back to the question").click()
        visited.main.locator(".st-key-verdict").wait_for()
        assert visited.query["entry"] == FILMED.key


def explore(visited: Visit) -> None:
    """Open the explorer from an entry."""
    visited.main.get_by_text("Open this batch in the explorer").click()
    visited.sidebar.wait_for()
    visited.player.wait_for()
    visited.settle()


def test_what_was_typed_elsewhere_is_still_there_afterwards(browser: Browser, address: str) -> None:
    with visit(browser, address) as visited:
        visited.type("9 8 7\n6")
        visited.page.get_by_role("link", name="Questions", exact=True).click()
        visited.main.locator(".st-key-entries").wait_for()
        visited.settle()
        visited.page.get_by_role("link", name="Packing", exact=True).click()
        visited.player.wait_for()
        visited.settle()
        assert visited.text.input_value() == "9 8 7\n6"
