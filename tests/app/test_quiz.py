"""The quiz in a browser: where Back, a reload and a restart lead, the keyboard, the first screen."""

import os
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from urllib.parse import parse_qsl, urlsplit

from playwright.sync_api import Browser, Locator, expect
from tabs import Scheme, Size
from test_accessibility import serious, wider_by
from test_quiz_page import LEVEL, ROUND, right, step_of, wrong
from visits import PHONE, PROJECTOR, Visit, follow, visit

from bench import servers
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
        box = visited.main.get_by_role("textbox")
        box.fill(typed)
        box.press("Enter")
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
        for name in ("Packing", "Quiz"):
            follow(page, name)
            page.wait_for_url(f"**/{name.lower()}*")
            visited.settle()
        newest = f"/quiz?level=3&round={number}"
        places = [newest, "/packing", newest, f"/quiz?level=3&round={ROUND}", f"/quiz?level=2&round={ROUND}"]
        stands_at(visited, address + newest)
        for place in places[1:]:
            page.go_back()
            stands_at(visited, address + place)
        for place in places[-2::-1]:
            page.go_forward()
            stands_at(visited, address + place)


def stands_at(visited: Visit, place: str) -> None:
    """Find the round on the screen that the address names, and no error."""
    visited.page.wait_for_url(place)
    visited.settle()
    expect(visited.page.get_by_test_id("stException")).to_have_count(0)
    if "/quiz" in place:
        level, number = visited.query["level"], visited.query["round"]
        expect(visited.main.get_by_role("spinbutton")).to_have_value(number)
        expect(prompt(visited)).to_have_text(plain(questions(int(level), int(number))[0]))
    assert visited.page.url == place


def test_a_reload_goes_on_at_the_same_place_with_the_same_points(browser: Browser, address: str) -> None:
    with opened(browser, address, START | {"said": "22-"}) as visited:  # said: in old links, and ignored
        answer(visited, ASKED[0], right(0))
        again(visited, 0, 2)
        expect(visited.main).to_contain_text("✓ Right:")
        assert visited.data("step") == str(step_of(0))
        press(visited, "Next")
        again(visited, 1, 2)
        answer(visited, ASKED[1], wrong(1))
        again(visited, 1, 2)
        expect(visited.main).to_contain_text("You have one more try.")
        answer(visited, ASKED[1], right(1))
        press(visited, "Next")
        again(visited, 2, 3)
        press(visited, "Show me")
        again(visited, 2, 3)
        for i in range(3, 10):
            press(visited, "Next")
            answer(visited, ASKED[i], right(i))
        press(visited, "The result")
        visited.page.reload()
        end = visited.page.locator(".st-key-quiz-result")
        expect(end).to_contain_text("17 of 20 points")
        expect(end.locator(".st-key-quiz-line-0")).not_to_contain_text("You said")
        press(visited, "Same round again")
        stands_in_address(visited, START)
        expect(visited.main).to_contain_text("Question 1 of 10, 0 points")


def again(visited: Visit, i: int, points: int) -> None:
    """Reload, and find question i on the screen, with so many points."""
    stands_in_address(visited, START)
    visited.page.reload()
    expect(prompt(visited)).to_have_text(plain(ASKED[i]))
    expect(visited.main).to_contain_text(f"Question {i + 1} of 10, {points} points")
    visited.settle()
    stands_in_address(visited, START)


def test_a_round_goes_on_after_a_restart_of_the_server(browser: Browser) -> None:
    with servers.packviz_process() as (address, process), opened(browser, address) as visited:
        answer(visited, ASKED[0], right(0))
        press(visited, "Next")
        press(visited, "Show me")
        press(visited, "Next")
        answer(visited, ASKED[2], wrong(2))
        expect(visited.main).to_contain_text("You have one more try.")
        if ASKED[2].prediction.form == "choice":
            choice = visited.main.locator(".st-key-question").get_by_role("radio", name=right(2).replace("`", ""))
            choice.check(force=True)
        else:
            visited.main.get_by_role("textbox").fill(right(2))
        os.kill(process, signal.SIGKILL)
        away = visited.page.get_by_role("alert").filter(has_text="The server cannot be reached.")
        away.wait_for(timeout=60_000)
        visited.page.wait_for_timeout(5000)  # in which Streamlit would cover the page
        expect(visited.page.get_by_role("dialog")).to_have_count(0)
        with servers.packviz(urlsplit(address).port):
            away.wait_for(state="detached", timeout=60_000)
            visited.main.get_by_role("button", name="Check").click()
            expect(visited.main).to_contain_text("✓ Right:", timeout=60_000)
            expect(visited.main).to_contain_text("Question 3 of 10, 3 points")
            press(visited, "Next")
            expect(prompt(visited)).to_have_text(plain(ASKED[3]))
            gone = ("ERR_CONNECTION", "ERR_EMPTY_RESPONSE", "timed out", "Streamlit still running", "/_stcore/health")
            assert [error for error in visited.errors if not any(each in error for each in gone)] == []
        visited.errors.clear()  # while no server was there, and now that there is none again


def test_the_keyboard_alone_answers_and_goes_on(browser: Browser, address: str) -> None:
    i = next(i for i, question in enumerate(ASKED) if question.prediction.form != "choice")
    with opened(browser, address) as visited:
        for _ in range(i):
            press(visited, "Show me")
            press(visited, "Next")
        box = visited.main.get_by_role("textbox")
        for _ in range(60):
            visited.page.keyboard.press("Tab")
            if box.evaluate("box => box === document.activeElement"):
                break
        visited.page.keyboard.type(right(i))
        visited.page.keyboard.press("Enter")
        visited.settle()
        expect(visited.main).to_contain_text("✓ Right:")
        expect(visited.main.get_by_role("button", name="Next")).to_be_enabled()
        visited.settle()  # the button hears its key once it stands
        visited.page.keyboard.press("Enter")
        expect(prompt(visited)).to_have_text(plain(ASKED[i + 1]))


def test_question_batch_and_answer_stand_on_the_first_screen(browser: Browser, address: str) -> None:
    with opened(browser, address) as visited:
        rows = visited.page.locator(".quiz-batch tr")
        shown = [rows.nth(b).locator("td").all_inner_texts() for b in range(rows.count())]
        assert shown == [sequence.split() for sequence in ASKED[0].text.splitlines()]
        assert rows.locator("th").all_inner_texts() == list("ABCDEF")[: len(shown)]
        for name in ("Check", "Show me"):
            expect(visited.main.get_by_role("button", name=name)).to_be_in_viewport(ratio=1)
        expect(visited.page.locator(".quiz-batch")).to_be_in_viewport(ratio=1)
        answer(visited, ASKED[0], right(0))
        assert visited.page.locator(".quiz-batch td").all_inner_texts() == [token for row in shown for token in row]
        expect(visited.page.locator(".quiz-batch")).to_be_in_viewport(ratio=1)
        expect(visited.player.locator("canvas")).to_be_in_viewport(ratio=0.95)
        expect(visited.main.get_by_role("button", name="Next")).to_be_in_viewport(ratio=1)
        assert visited.main.evaluate("main => main.scrollHeight - main.clientHeight") == 0


def test_nothing_serious_is_found_and_nothing_scrolls_sideways_from_the_first_question_to_the_result(
    browser: Browser, address: str
) -> None:
    with opened(browser, address, size=PHONE, scheme="dark") as visited:
        steps: list[Callable[[], object]] = [
            lambda: None,
            lambda: answer(visited, ASKED[0], wrong(0)),
            lambda: press(visited, "Show me"),
            lambda: press(visited, *["Next", "Show me"] * 9, "The result"),
        ]
        for go_on in steps:
            go_on()
            assert serious(visited, MAIN) == []
            assert wider_by(visited) <= 0
