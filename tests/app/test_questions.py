"""The way from a question to the overview and back, in a browser."""

from playwright.sync_api import Browser, expect
from visits import follow, visit

from packviz.teach.questions import ENTRIES

FILMED = next(entry for entry in ENTRIES if entry.film and entry.film.stage == "run" and entry.config.bidirectional)


def test_an_entry_opens_in_the_overview_with_its_batch_settings_and_step_and_ones_own_batch_can_be_had_back(
    browser: Browser, address: str
) -> None:
    with visit(browser, address, {"cell": "lstm", "hidden_size": 7}) as visited:
        visited.type("9 8 7\n6")
        follow(visited.page, "Questions")
        visited.page.get_by_label("An error message").fill(FILMED.question)
        visited.page.get_by_label("An error message").press("Enter")
        visited.main.locator(f".st-key-row-{FILMED.key}").get_by_role("button").click()
        expect(visited.page.get_by_role("heading", level=1)).to_have_text(FILMED.question.replace("`", ""))
        visited.player.wait_for()
        visited.settle()
        assert visited.data("stage") == "run"
        assert "step" not in visited.query
        visited.main.get_by_text("Watch this batch in the overview").click()
        visited.page.wait_for_url(lambda address: "/questions" not in address)
        visited.player.wait_for()
        visited.settle()
        assert visited.text.input_value() == FILMED.batch
        assert "cell" not in visited.query
        assert visited.query["bidirectional"].lower() == "true"
        assert visited.data("stage") == "run"
        visited.page.get_by_role("button", name="My own text again").click()
        visited.settle()
        expect(visited.text).to_have_value("9 8 7\n6")
        visited.sidebar.get_by_text("Back to the question").click()
        visited.main.locator(".st-key-verdict").wait_for()
        assert visited.query["entry"] == FILMED.key
        follow(visited.page, "Packing")
        visited.player.wait_for()
        expect(visited.text).to_have_value("9 8 7\n6")
