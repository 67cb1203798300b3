"""The quiz in the browser: a link is a round, an answer gets its reason and its movie, the end counts the points."""

import os
import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import parse_qsl, urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Locator, expect
from visits import PHONE, PROJECTOR, Visit, visit

from bench import servers
from packviz.show.movie import movie
from packviz.teach.predictions import spelled
from packviz.teach.quiz import LAST_ROUND, Question, questions
from pages import opened as opened_without_browser
from pages import texts

MAIN = '[data-testid="stMain"]'
LEVEL, ROUND = 2, 1234
ASKED = questions(LEVEL, ROUND)
START = {"level": str(LEVEL), "round": str(ROUND)}  # what the link of a round says before the first answer


@contextmanager
def opened(
    browser: Browser, address: str, query: object = None, size: tuple[int, int] = PROJECTOR, **options: object
) -> Iterator[Visit]:
    asked = {"level": LEVEL, "round": ROUND} if query is None else query
    with visit(browser, address, asked, path="quiz", size=size, **options) as visited:  # type: ignore[arg-type]
        visited.page.locator(".st-key-prompt, .st-key-quiz-result").first.wait_for()
        visited.settle()
        yield visited
        expect(visited.page.get_by_test_id("stException")).to_have_count(0)
        assert visited.errors == []
        assert visited.hosts <= {"localhost", "127.0.0.1", None}


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


def press(visited: Visit, name: str) -> None:
    visited.main.get_by_role("button", name=name).first.click()
    visited.settle()


def right(question: Question) -> str:
    return question.prediction.solution


def wrong(question: Question, which: int = 0) -> str:
    return spelled(question.prediction.slips[which].answer)


def step_of(question: Question) -> int:
    film = movie(question.trace, question.stages, direction=question.direction, deep=True)
    moment = question.prediction.moment
    return film.step_at(moment.stage, moment.timestep, moment.name)


def prompts(visited: Visit) -> list[str]:
    """Return the prompts of a round, each question given up."""
    told = []
    for i in range(10):
        told.append(prompt(visited).inner_text())
        press(visited, "Show me")
        press(visited, "The result" if i == 9 else "Next")
    return told


def test_a_link_gives_everybody_the_same_ten_questions(browser: Browser, address: str) -> None:
    with opened(browser, address) as first:
        stands_in_address(first, START)
        link = first.page.url
        told = prompts(first)
    with opened(browser, address, link.partition("?")[2]) as second:
        stands_in_address(second, START)
        assert second.page.url == link
        assert prompts(second) == told
    assert told == [plain(question) for question in ASKED]


def test_a_right_answer_is_confirmed_and_shown_at_its_step(browser: Browser, address: str) -> None:
    with opened(browser, address) as visited:
        expect(visited.player).to_have_count(0)
        answer(visited, ASKED[0], right(ASKED[0]))
        expect(visited.main).to_contain_text("✓ Right:")
        assert visited.data("stage") == ASKED[0].stage
        assert visited.data("step") == str(step_of(ASKED[0]))
        stands_in_address(visited, START)
        visited.press("Home")
        stands_in_address(visited, START)
        expect(visited.main).to_contain_text("Question 1 of 10, 2 points")


def test_a_wrong_answer_gets_its_reason_and_no_solution_before_the_second(browser: Browser, address: str) -> None:
    with opened(browser, address) as visited:
        first, second = ASKED[0].prediction.slips[:2]
        answer(visited, ASKED[0], wrong(ASKED[0]))
        expect(visited.main).to_contain_text(first.reason.replace("`", ""))
        expect(visited.main).to_contain_text("You have one more try.")
        expect(visited.player).to_have_count(0)
        expect(visited.main.get_by_text("The answer:")).to_have_count(0)
        answer(visited, ASKED[0], wrong(ASKED[0], 1))
        expect(visited.main).to_contain_text(second.reason.replace("`", ""))
        expect(visited.main).to_contain_text(f"The answer: {right(ASKED[0])}")
        assert visited.data("step") == str(step_of(ASKED[0]))
        expect(visited.main.get_by_label("Question 1: not found, 0 points")).to_be_visible()


def test_a_whole_round_is_counted_and_can_be_looked_through(browser: Browser, address: str) -> None:
    with opened(browser, address) as visited:
        for i, question in enumerate(ASKED):
            expect(prompt(visited)).to_have_text(plain(question))
            if i in (2, 5, 7):
                answer(visited, question, wrong(question))
            if i == 5:
                answer(visited, question, wrong(question, 1))
            elif i == 8:
                press(visited, "Show me")
            else:
                answer(visited, question, right(question))
            press(visited, "Next" if i < 9 else "The result")
        end = visited.page.locator(".st-key-quiz-result")
        expect(end).to_contain_text("14 of 20 points")
        expect(end).to_contain_text("6 right on the first try, 2 on the second, 2 not found.")
        said = f"You said: {wrong(ASKED[2])}, then {right(ASKED[2])}. The answer: {right(ASKED[2])}".replace("`", "")
        expect(end.locator(".st-key-quiz-line-2")).to_contain_text(said.removesuffix("."))
        expect(end.locator(".st-key-quiz-line-8")).to_contain_text("You said: nothing.")
        end.locator(".st-key-quiz-line-5").get_by_role("button").click()
        visited.settle()
        expect(prompt(visited)).to_have_text(plain(ASKED[5]))
        assert visited.data("step") == str(step_of(ASKED[5]))
        press(visited, "The result")
        press(visited, "Same round again")
        expect(prompt(visited)).to_have_text(plain(ASKED[0]))
        expect(visited.main).to_contain_text("Question 1 of 10, 0 points")
        stands_in_address(visited, START)


def test_the_end_leads_on_to_another_round_and_to_the_next_level(browser: Browser, address: str) -> None:
    with opened(browser, address) as visited:
        prompts(visited)
        for name, level in (("Another round", 2), ("Level 3", 3)):
            before = visited.query["round"]
            press(visited, name)
            visited.page.wait_for_url(lambda url, before=before: f"round={before}" not in url)
            number = visited.query["round"]
            stands_in_address(visited, {"level": str(level), "round": number})
            assert number != str(ROUND)
            expect(prompt(visited)).to_have_text(plain(questions(level, int(number))[0]))
            if level == LEVEL:  # back to the round that is over: its result is still there
                visited.main.get_by_role("spinbutton").fill(str(ROUND))
                visited.main.get_by_role("spinbutton").press("Enter")
                visited.settle()


@pytest.mark.parametrize("query", ["round=0", "round=10000&level=7", "round=x", "round=1e999", "level=&round="])
def test_without_a_good_number_a_round_is_drawn(query: str) -> None:
    app = opened_without_browser("quiz", dict(parse_qsl(query)))
    number = int(app.number_input(key="quiz number").value)
    assert 1 <= number <= LAST_ROUND
    assert questions(1, number)[0].prediction.prompt in texts(app)


def test_a_round_that_is_drawn_is_named_in_the_link(browser: Browser, address: str) -> None:
    with opened(browser, address, "") as visited:
        visited.page.wait_for_url(re.compile(r"/quiz\?round=[1-9]\d*$"))
        expect(visited.main.get_by_role("spinbutton")).to_have_value(visited.query["round"])
        expect(prompt(visited)).to_have_text(plain(questions(1, int(visited.query["round"]))[0]))


def test_a_round_can_be_typed_drawn_and_not_emptied(browser: Browser, address: str) -> None:
    with opened(browser, address) as visited:
        box = visited.main.get_by_role("spinbutton")
        box.fill("77")
        box.press("Enter")
        visited.settle()
        stands_in_address(visited, {"level": "2", "round": "77"})
        expect(prompt(visited)).to_have_text(plain(questions(2, 77)[0]))
        box.fill("")
        box.press("Enter")
        visited.settle()
        expect(box).to_have_value("77")
        press(visited, "New round")
        expect(box).not_to_have_value("77", timeout=30_000)  # one in 9,999 rounds is this one again
        stands_in_address(visited, {"level": "2", "round": box.input_value()})


def test_what_cannot_be_read_is_explained_and_costs_nothing(browser: Browser, address: str) -> None:
    i = next(i for i, question in enumerate(ASKED) if question.prediction.form == "numbers")
    with opened(browser, address) as visited:
        for _ in range(i):
            press(visited, "Show me")
            press(visited, "Next")
        answer(visited, ASKED[i], "three <b>two</b>")
        expect(visited.main).to_contain_text("Expected integers")
        expect(visited.main.get_by_role("textbox")).to_have_value("three <b>two</b>")
        answer(visited, ASKED[i], right(ASKED[i]))
        expect(visited.main).to_contain_text(f"Question {i + 1} of 10, 2 points")


def test_a_round_waits_while_another_page_is_read(browser: Browser, address: str) -> None:
    with opened(browser, address) as visited:
        answer(visited, ASKED[0], right(ASKED[0]))
        press(visited, "Next")
        visited.page.get_by_role("link", name="Packing", exact=True).click()
        visited.player.wait_for()
        visited.settle()
        stands_in_address(visited, {})
        visited.page.get_by_role("link", name="Quiz", exact=True).click()
        expect(prompt(visited)).to_have_text(plain(ASKED[1]))
        expect(visited.main).to_contain_text("Question 2 of 10, 2 points")
        stands_in_address(visited, START)


def test_back_leads_to_where_one_was(browser: Browser, address: str) -> None:
    with opened(browser, address) as visited:
        page = visited.page
        visited.main.get_by_role("radio", name="3").check(force=True)
        visited.settle()
        press(visited, "New round")
        number = visited.query["round"]
        answer(visited, questions(3, int(number))[0], right(questions(3, int(number))[0]))
        for name in ("Packing", "Quiz"):
            page.get_by_role("link", name=name, exact=True).click()
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
    with opened(browser, address) as visited:
        answer(visited, ASKED[0], right(ASKED[0]))
        again(visited, 0, 2)
        expect(visited.main).to_contain_text("✓ Right:")
        assert visited.data("step") == str(step_of(ASKED[0]))
        press(visited, "Next")
        again(visited, 1, 2)
        answer(visited, ASKED[1], wrong(ASKED[1]))
        again(visited, 1, 2)
        expect(visited.main).to_contain_text("You have one more try.")
        answer(visited, ASKED[1], right(ASKED[1]))
        press(visited, "Next")
        again(visited, 2, 3)
        press(visited, "Show me")
        again(visited, 2, 3)
        for i in range(3, 10):
            press(visited, "Next")
            answer(visited, ASKED[i], right(ASKED[i]))
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


@pytest.mark.parametrize("said", ["22-", "x"])
def test_a_link_carries_nobodys_points(browser: Browser, address: str, said: str) -> None:
    with opened(browser, address, START | {"said": said}) as visited:
        expect(visited.main).to_contain_text("Question 1 of 10, 0 points")
        expect(prompt(visited)).to_have_text(plain(ASKED[0]))
        stands_in_address(visited, START)


def test_a_round_goes_on_after_a_restart_of_the_server(browser: Browser) -> None:
    with servers.packviz_process() as (address, process), opened(browser, address) as visited:
        answer(visited, ASKED[0], right(ASKED[0]))
        press(visited, "Next")
        press(visited, "Show me")
        press(visited, "Next")
        answer(visited, ASKED[2], wrong(ASKED[2]))
        expect(visited.main).to_contain_text("You have one more try.")
        if ASKED[2].prediction.form == "choice":
            choice = visited.main.locator(".st-key-question").get_by_role(
                "radio", name=right(ASKED[2]).replace("`", "")
            )
            choice.check(force=True)
        else:
            visited.main.get_by_role("textbox").fill(right(ASKED[2]))
        os.kill(process, signal.SIGKILL)
        with servers.packviz(urlsplit(address).port):
            visited.page.get_by_role("dialog").wait_for(state="hidden", timeout=60_000)
            visited.main.get_by_role("button", name="Check").click()
            expect(visited.main).to_contain_text("✓ Right:", timeout=60_000)
            expect(visited.main).to_contain_text("Question 3 of 10, 3 points")
            press(visited, "Next")
            expect(prompt(visited)).to_have_text(plain(ASKED[3]))
            visited.errors = [error for error in visited.errors if "ERR_CONNECTION_REFUSED" not in error]


def test_a_new_round_in_the_middle_of_one_asks_first(browser: Browser, address: str) -> None:
    with opened(browser, address) as visited:
        press(visited, "Show me")
        press(visited, "New round")
        stands_in_address(visited, START)
        visited.page.get_by_role("button", name="Yes, another round").click()
        visited.settle()
        visited.page.wait_for_url(lambda url: f"round={ROUND}" not in url)
        expect(visited.main).to_contain_text("Question 1 of 10, 0 points")


def test_what_was_typed_in_vain_stands_in_the_result(browser: Browser, address: str) -> None:
    i = next(i for i, question in enumerate(ASKED) if question.prediction.form == "numbers")
    with opened(browser, address) as visited:
        for k in range(10):
            if k == i:
                answer(visited, ASKED[i], "three <b>two</b>")
            press(visited, "Show me")
            press(visited, "The result" if k == 9 else "Next")
        line = visited.page.locator(f".st-key-quiz-line-{i}")
        expect(line).to_contain_text("You typed: 'three <b>two</b>'.")
        expect(line).not_to_contain_text("nothing")


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
        visited.page.keyboard.type(right(ASKED[i]))
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
        answer(visited, ASKED[0], right(ASKED[0]))
        assert visited.page.locator(".quiz-batch td").all_inner_texts() == [token for row in shown for token in row]
        expect(visited.page.locator(".quiz-batch")).to_be_in_viewport(ratio=1)
        expect(visited.player.locator("canvas")).to_be_in_viewport(ratio=0.95)
        expect(visited.main.get_by_role("button", name="Next")).to_be_in_viewport(ratio=1)
        assert visited.main.evaluate("main => main.scrollHeight - main.clientHeight") == 0


@pytest.mark.parametrize(("size", "scheme"), [(PROJECTOR, "light"), (PHONE, "dark")])
def test_nothing_serious_is_found_and_nothing_scrolls_sideways(
    browser: Browser, address: str, size: tuple[int, int], scheme: str
) -> None:
    with opened(browser, address, size=size, color_scheme=scheme) as visited:
        states = [lambda: None, lambda: answer(visited, ASKED[0], wrong(ASKED[0])), lambda: press(visited, "Show me")]
        for go_on in states:
            go_on()
            check(visited, size)
        if (size, scheme) == (PHONE, "dark"):
            press(visited, "Next")
            for i in range(1, 10):
                press(visited, "Show me")
                press(visited, "The result" if i == 9 else "Next")
            check(visited, size)


def check(visited: Visit, size: tuple[int, int]) -> None:
    found = Axe().run(visited.page, MAIN).response["violations"]
    assert [
        f"{each['id']}: {node['target']} {node.get('failureSummary', '')}"
        for each in found
        if each["impact"] in ("serious", "critical")
        for node in each["nodes"]
    ] == []
    assert visited.page.evaluate("document.documentElement.scrollWidth") <= size[0]
    assert visited.main.evaluate("main => main.scrollWidth") <= size[0]
