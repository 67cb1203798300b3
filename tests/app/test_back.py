"""Back and Forward restore a complete state: the batch, the settings and the step."""

from urllib.parse import urlsplit

from playwright.sync_api import expect
from tabs import enter, until
from visits import Open, Visit

from packviz.teach.questions import ENTRIES
from ui.server.head import title_and_description

TEXT = "on your mark\nget set\ngo"
VALUES = "fields => fields.map((field) => field.value)"
FILMED = next(entry for entry in ENTRIES if entry.film and entry.film.stage == "run" and entry.config.bidirectional)


def go(visited: Visit, name: str) -> None:
    visited.go_to(name)
    expect(visited.page).to_have_title(title_and_description(f"/{name.lower()}", {})[0])


def stands_at(visited: Visit, place: str, step: str, text: str = TEXT) -> None:
    """Check the address, and that the screen and the title of the tab agree with it."""
    visited.page.wait_for_url(place)
    expect(visited.page).to_have_title(title_and_description(urlsplit(place).path, {})[0])
    until(visited.page, lambda: visited.text.evaluate_all(VALUES) == [text])  # while pages change there may be two
    expect(visited.sidebar.get_by_role("radio", name="lstm", exact=True)).to_be_checked()
    expect(visited.player).to_have_attribute("data-step", step)
    visited.settle()
    assert visited.page.url == place


def test_back_and_forward_restore_batch_settings_and_step(visit: Open) -> None:
    visited = visit()
    page = visited.page
    visited.type(TEXT)
    visited.click(visited.sidebar.get_by_text("lstm", exact=True))
    visited.press("ArrowRight", "ArrowRight")
    places = [(page.url, "3", TEXT)]
    go(visited, "Packing")
    visited.type("1 2\n3")
    visited.press("ArrowRight")
    places.append((page.url, "2", "1 2\n3"))
    go(visited, "Running")
    places.append((page.url, "1", "1 2\n3"))
    assert all("cell=lstm" in place for place, _, _ in places)
    assert "sequences=on+your+mark" in places[0][0]
    for go_on, i in ((page.go_back, 1), (page.go_back, 0), (page.go_forward, 1)):
        go_on()
        stands_at(visited, *places[i])


def test_defaults_implied_by_a_link_are_in_the_address(visit: Open) -> None:
    visited = visit({"sequences": "1 2\n3", "step": 4}, path="packing")
    own = visited.sidebar.get_by_role("radio", name="own", exact=True)
    expect(own).to_be_checked()
    first = visited.page.url
    go(visited, "Sorting")
    go(visited, "Packing")
    expect(visited.player).to_have_attribute("data-step", "1")
    assert "step" not in visited.query
    for _ in range(2):
        visited.page.go_back()
        visited.settle()
    visited.page.wait_for_url(first)
    expect(visited.player).to_have_attribute("data-step", "4")
    expect(own).to_be_checked()
    assert visited.query["example"] == "own"


def test_back_from_a_question_returns_to_the_previous_page(visit: Open) -> None:
    visited = visit({"sequences": TEXT, "example": "own", "cell": "lstm"}, path="packing")
    page, packing = visited.page, visited.page.url
    go(visited, "Questions")
    enter(page.get_by_label("An error message"), "padding_idx")
    page.wait_for_url("**/questions?search=padding_idx")
    visited.settle()
    visited.main.locator(".st-key-entries").get_by_role("button").first.click()
    page.wait_for_url("**entry=*")
    visited.main.locator(".st-key-verdict").wait_for()
    visited.settle()
    page.go_back()
    page.wait_for_url("**/questions?search=padding_idx")
    visited.main.locator(".st-key-entries").wait_for()
    expect(page.get_by_label("An error message")).to_have_value("padding_idx")
    visited.settle()
    page.go_back()
    stands_at(visited, packing, "1")
    page.go_forward()
    expect(page.get_by_label("An error message")).to_have_value("padding_idx")


def test_after_an_entry_in_the_overview_the_own_batch_comes_back(visit: Open) -> None:
    visited = visit({"cell": "lstm", "hidden_size": 7})
    visited.type("9 8 7\n6")
    visited.go_to("Questions")
    enter(visited.page.get_by_label("An error message"), FILMED.question)
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
    expect(visited.text).to_have_value(FILMED.batch)
    assert "cell" not in visited.query
    assert visited.query["bidirectional"].lower() == "true"
    assert visited.data("stage") == "run"
    visited.click(visited.page.get_by_role("button", name="Back to my own text"))
    expect(visited.text).to_have_value("9 8 7\n6")
    visited.sidebar.get_by_text("Back to the question").click()
    visited.main.locator(".st-key-verdict").wait_for()
    assert visited.query["entry"] == FILMED.key
    visited.go_to("Packing")
    visited.player.wait_for()
    expect(visited.text).to_have_value("9 8 7\n6")
