"""axe-core on every page: no serious or critical violations in our own parts; and the requested colours."""

import pytest
from playwright.sync_api import FloatRect, expect
from tabs import Scheme, Size, until, violations
from visits import LAPTOP, PHONE, PROJECTOR, Open, two_screens, wider_by

from packviz.teach.pages import PAGES
from pages import LESSONS

LAST = {
    **dict.fromkeys(("", *LESSONS), ".st-key-onward a"),
    "compare": "text=Loss and gradients",
    "cost": "text=fewer of its cells are padding, whatever the model",
    "training": "text=CC BY",
    "do_i_need_it": "text=Both programs ran just now",
    "questions": ".st-key-entries button",
    "questions?entry=order-dropped": "text=Asked or claimed in",
    "doctor": "text=x, as torch reads it",
    "quiz": "text=1 of 10",
    "class": "text=Open a plan",
}  # what comes last on each page
HEADED = ("cost", "training", "class")  # where also the order of the headings is checked, which is moderate
PHONES: list[tuple[str, Size, Scheme]] = [(page, PHONE, "light" if i % 2 else "dark") for i, page in enumerate(LAST, 1)]
MOBILE = "Mozilla/5.0 (Linux; Android 14) Mobile Safari/537.36"
OTHERS: list[tuple[str, Size, Scheme]] = [("compare", LAPTOP, "dark")]


def test_every_page_is_looked_at() -> None:
    assert {page.address for page in PAGES} == {page.partition("?")[0] or "overview" for page in LAST}


@pytest.mark.parametrize(
    ("page", "size", "scheme"), [pytest.param(*PHONES[0], marks=pytest.mark.check), *PHONES[1:], *OTHERS]
)
def test_nothing_serious_is_found_and_nothing_is_too_wide(visit: Open, page: str, size: Size, scheme: Scheme) -> None:
    visited = visit(None if page in LESSONS else "", path=page, size=size, scheme=scheme)
    visited.main.locator(LAST[page]).first.wait_for()
    assert page not in LESSONS or two_screens(visited, sections=0)
    for folded in visited.main.locator("details").all():
        if folded.get_attribute("open") is None:
            folded.locator("summary").first.click()
    visited.settle()
    assert wider_by(visited) <= 0
    themes = visited.player.evaluate_all("all => all.map(each => each.dataset.theme)")  # the losses have two movies
    assert set(themes) <= {scheme}
    impacts = ("moderate", "serious", "critical") if page in HEADED else ("serious", "critical")
    assert violations(visited.page, impacts=impacts) == []


def test_the_keyboard_reaches_nothing_that_is_out_of_sight(visit: Open) -> None:
    page = visit(path="sorting", size=PROJECTOR).page
    reached = set[str]()
    for _ in range(25):
        page.keyboard.press("Tab")
        name, right, left = page.evaluate("""() => {
            let at = document.activeElement;
            while (at.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
            const { right, left } = at.getBoundingClientRect();
            return [at.ariaLabel ?? at.textContent, right, left];
        }""")
        assert right > 0, name
        assert left < PROJECTOR[0], name
        reached.add(name)
    assert len(reached) > 15


@pytest.mark.parametrize(("size", "name"), [(PROJECTOR, "Sequences and settings"), (PHONE, "Menu and settings")])
def test_the_button_of_the_settings_is_called_what_it_shows(visit: Open, size: Size, name: str) -> None:
    page = visit(path="packing", size=size).page
    for _ in range(2):  # it is drawn anew when the settings have been closed
        page.get_by_role("button", name=name, exact=True).click()
        page.get_by_role("button", name="Close", exact=True).click()


def test_the_panels_of_a_question_stand_below_one_another_on_a_phone(visit: Open) -> None:
    visited = visit("entry=why-pack", path="questions", size=PHONE, user_agent=MOBILE)
    picture = visited.main.locator(".st-key-stacked")
    titles = [picture.locator("text", has_text=f"h_n, {side}") for side in ("padded", "packed")]
    boxes = list[FloatRect | None]()

    def drawn() -> bool:
        boxes[:] = [title.bounding_box() for title in titles]  # none while the picture is drawn again, for its width
        return None not in boxes

    until(visited.page, drawn)
    above, below = filter(None, boxes)
    assert above["x"] == pytest.approx(below["x"], abs=2)
    assert below["y"] > above["y"] + 100
    assert picture.evaluate("node => node.scrollWidth <= node.clientWidth")


def test_on_a_phone_what_is_measured_is_folded_below_its_first_part(visit: Open) -> None:
    main = visit(path="cost", size=PHONE, user_agent=MOBILE).main
    headline = main.get_by_text("Of 20 larger batches")
    expect(headline).to_be_visible()
    told = main.get_by_text("fewer of its cells are padding, whatever the model")
    expect(told).to_have_count(0)
    assert main.evaluate("node => node.scrollHeight") < 2 * PHONE[1]
    main.get_by_text("Less padding without packing").click()
    expect(told).to_be_visible()


def test_the_hint_of_a_lesson_leads_to_what_there_is_to_try(visit: Open) -> None:
    seen = visit(path="packing", size=PROJECTOR)
    tried = seen.main.locator(".st-key-try")
    expect(tried).not_to_be_in_viewport()
    seen.main.get_by_role("link", name="Below: things to try").click()
    expect(tried).to_be_in_viewport(ratio=1)
    expect(tried.get_by_role("button").first).to_be_focused()
    assert "#" not in seen.page.url
