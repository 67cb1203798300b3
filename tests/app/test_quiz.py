"""The quiz in a browser: where Back and a reload lead, the keyboard, the first screen."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from urllib.parse import parse_qsl, urlsplit

from playwright.sync_api import Browser, Locator, expect
from tabs import Scheme, Size, enter, reach, until, violations
from test_accessibility import wider_by
from test_quiz_page import LEVEL, ROUND, right, step_of, wrong
from visits import PHONE, PROJECTOR, Visit, follow, visit

from packviz.teach.quiz import Question, questions

MAIN = '[data-testid="stMain"]'
ASKED = questions(LEVEL, ROUND)
START = {"level": str(LEVEL), "round": str(ROUND)}  # what the link of a round says before the first answer


@contextmanager
def opened(
    browser: Browser,
    address: str,
    query: Mapping[str, object] | str = f"level={LEVEL}&round={ROUND}",
    size: Size = PROJECTOR,
    scheme: Scheme = "light",
) -> Iterator[Visit]:
    with visit(browser, address, query, path="quiz", size=size, scheme=scheme) as visited:
        visited.page.locator(".st-key-prompt, .st-key-quiz-result").first.wait_for()
        visited.settle()
        yield visited
        expect(visited.page.get_by_test_id("stException")).to_have_count(0)


def stands_in_address(visited: Visit, query: dict[str, str]) -> None:
    """Wait until the address says this, and nothing else."""
    visited.page.wait_for_url(lambda url: dict(parse_qsl(urlsplit(url).query)) == query)


def prompt(visited: Visit) -> Locator:
    return visited.page.locator(".st-key-prompt")


def plain(question: Question) -> str:
    return question.prediction.prompt.replace("`", "")


def answer(visited: Visit, question: Question, typed: str) -> None:
    if question.prediction.form == "choice":
        visited.main.locator(".st-key-question").get_by_role("radio", name=typed.replace("`", "")).check(force=True)
        press(visited, "Check")
    else:
        enter(visited.main.get_by_role("textbox"), typed)
        visited.settle()


def press(visited: Visit, *names: str) -> None:
    for name in names:
        visited.main.get_by_role("button", name=name).first.click()
        visited.settle()


def test_back_leads_to_where_one_was(browser: Browser, address: str) -> None:
    with opened(browser, address) as visited:
        page = visited.page
        visited.main.get_by_role("radio", name="3").check(force=True)
        visited.settle()
        press(visited, "New round")
        number = visited.query["round"]
        answer(visited, questions(3, int(number))[0], questions(3, int(number))[0].prediction.solution)
        follow(page, "Packing")
        page.wait_for_url("**/packing*")
        visited.settle()
        places = [f"/quiz?level=3&round={number}", f"/quiz?level=3&round={ROUND}", f"/quiz?level=2&round={ROUND}"]
        for place in places:
            page.go_back()
            stands_at(visited, address + place)
        page.go_forward()
        stands_at(visited, address + places[1])


def stands_at(visited: Visit, place: str) -> None:
    """Find the round on the screen that the address names, and no error."""
    visited.page.wait_for_url(place)
    visited.settle()
    expect(visited.page.get_by_test_id("stException")).to_have_count(0)
    level, number = visited.query["level"], visited.query["round"]
    expect(visited.main.get_by_role("spinbutton")).to_have_value(number)
    expect(prompt(visited)).to_have_text(plain(questions(int(level), int(number))[0]))
    assert visited.page.url == place


def test_a_reload_goes_on_at_the_same_place_and_nothing_serious_is_found_from_the_first_question_to_the_result(
    browser: Browser, address: str
) -> None:
    with opened(browser, address, START | {"said": "22-"}, PHONE, "dark") as visited:  # said: in old links, and ignored
        sound(visited)
        answer(visited, ASKED[0], right(0))
        again(visited, 0, 2)
        expect(visited.main).to_contain_text("✓ Right:")
        assert visited.data("step") == str(step_of(0))
        press(visited, "Next")
        answer(visited, ASKED[1], wrong(1))
        sound(visited)
        again(visited, 1, 2)
        expect(visited.main).to_contain_text("You have one more try.")
        answer(visited, ASKED[1], right(1))
        press(visited, "Next", "Show me")
        sound(visited)
        again(visited, 2, 3)
        press(visited, *["Next", "Show me"] * 7, "The result")
        visited.page.reload()
        end = visited.page.locator(".st-key-quiz-result")
        expect(end).to_contain_text("3 of 20 points")
        expect(end.locator(".st-key-quiz-line-0")).not_to_contain_text("You said")
        visited.settle()
        sound(visited)
        press(visited, "Same round again")
        stands_in_address(visited, START)
        expect(visited.main).to_contain_text("Question 1 of 10, 0 points")


def sound(visited: Visit) -> None:
    assert violations(visited.page, MAIN) == []
    assert wider_by(visited) <= 0


def again(visited: Visit, i: int, points: int) -> None:
    """Reload, and find question i on the screen, with so many points."""
    stands_in_address(visited, START)
    visited.page.reload()
    expect(prompt(visited)).to_have_text(plain(ASKED[i]))
    expect(visited.main).to_contain_text(f"Question {i + 1} of 10, {points} points")
    visited.settle()
    stands_in_address(visited, START)


def test_question_batch_and_answer_stand_on_the_first_screen_and_the_keyboard_alone_answers_and_goes_on(
    browser: Browser, address: str
) -> None:
    with opened(browser, address) as visited:
        rows, batch = visited.page.locator(".quiz-batch tr"), visited.page.locator(".quiz-batch")
        shown = [rows.nth(b).locator("td").all_inner_texts() for b in range(rows.count())]
        assert shown == [sequence.split() for sequence in ASKED[0].text.splitlines()]
        assert rows.locator("th").all_inner_texts() == list("ABCDEF")[: len(shown)]
        for name in ("Check", "Show me"):
            expect(visited.main.get_by_role("button", name=name)).to_be_in_viewport(ratio=1)
        expect(batch).to_be_in_viewport(ratio=1)
        keys = visited.page.keyboard
        reach(visited.main.get_by_role("textbox"))
        keys.type(right(0))
        keys.press("Enter")
        visited.settle()
        expect(visited.main).to_contain_text("✓ Right:")
        assert batch.locator("td").all_inner_texts() == [token for row in shown for token in row]
        expect(batch).to_be_in_viewport(ratio=1)
        expect(visited.player.locator("canvas")).to_be_in_viewport(ratio=0.95)
        following = visited.main.get_by_role("button", name="Next")
        expect(following).to_be_in_viewport(ratio=1)
        until(visited.page, lambda: visited.main.evaluate("main => main.scrollHeight === main.clientHeight"))
        expect(following).to_be_enabled()
        visited.settle()  # the button hears its key once it stands
        keys.press("Enter")
        expect(prompt(visited)).to_have_text(plain(ASKED[1]))
