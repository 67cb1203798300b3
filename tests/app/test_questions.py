"""The page of questions in a browser: its movies, and the way to the overview and back."""

from playwright.sync_api import Browser, expect
from visits import Visit, follow, visit

from packviz.teach.questions import ENTRIES, answer

FILMED = next(entry for entry in ENTRIES if entry.film and entry.film.stage == "pack" and answer(entry).chart is None)


def test_a_link_opens_an_entry_with_its_movie_at_the_step(browser: Browser, address: str) -> None:
    with visit(browser, address, {"entry": FILMED.key}, path="questions") as visited:
        expect(visited.page.get_by_role("heading", level=1)).to_have_text(FILMED.question)
        visited.player.wait_for()
        visited.settle()
        assert visited.data("stage") == "pack"
        assert int(visited.data("step")) >= 1
        assert "step" not in visited.query


def test_an_entry_opens_in_the_overview_with_its_batch_and_settings(browser: Browser, address: str) -> None:
    entry = next(each for each in ENTRIES if each.config.bidirectional and not each.slow)
    with visit(browser, address, {"entry": entry.key}, path="questions") as visited:
        explore(visited)
        assert visited.text.input_value() == entry.batch
        assert visited.query.get("bidirectional", "").lower() == "true"


def test_the_overview_opens_at_the_step_and_ones_own_batch_can_be_had_back(browser: Browser, address: str) -> None:
    with visit(browser, address, {"cell": "lstm", "hidden_size": 7}) as visited:
        visited.type("9 8 7\n6")
        follow(visited.page, "Questions")
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
        follow(visited.page, "Packing")
        visited.player.wait_for()
        expect(visited.text).to_have_value("9 8 7\n6")


def explore(visited: Visit) -> None:
    """Open the overview from an entry."""
    visited.main.get_by_text("Watch this batch in the overview").click()
    visited.page.wait_for_url(lambda address: "/questions" not in address)
    visited.player.wait_for()
    visited.settle()
