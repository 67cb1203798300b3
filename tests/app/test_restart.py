"""One server, started, killed and restarted: warm with any page as the first, and nothing is lost after kill -9."""

import os
import re
import time
from pathlib import Path
from typing import Any

import pytest
from phone_pages import SIZES, Phone, Room, all_see, phone
from playwright.sync_api import Browser, Locator, expect
from quiz_round import ASKED, START, answer, click, plain, prompt, right, wrong
from tabs import box_of, tab, until
from visits import PROJECTOR, Visit, visit

from bench import servers

BACK = 2.0  # seconds after the server's return in which all phones are back, on a machine that is not overloaded
AWAY = ("ERR_CONNECTION", "ERR_EMPTY_RESPONSE", "timed out", "Streamlit still running", "/_stcore/health")


def any_page_is_the_first(browser: Browser, address: str) -> None:
    with visit(browser, address, "cell=lstm&step=4", path="overview") as seen:
        assert seen.data("step") == "4"
        box = box_of(seen.player)
        assert box["width"] > 0.6 * PROJECTOR[0]  # app.py has run: the page is wide
        expect(seen.page.get_by_test_id("stSidebarNav")).to_have_count(0)
        seen.errors[:] = [error for error in seen.errors if "404" not in error]  # it asks where its server is


def third_question_answered_wrong(quiz: Visit) -> None:
    answer(quiz, ASKED[0], right(0))
    click(quiz, "Next", "Show me", "Next")
    answer(quiz, ASKED[2], wrong(2))
    expect(quiz.main).to_contain_text("You have one more try.")
    quiz.main.get_by_role("textbox").fill(right(2))


def votes_are_kept_and_sent(room: Room, teacher: Locator, one: Phone, two: Phone, three: Phone) -> None:
    """Check that everybody is back. teacher: the count of votes that the new server shows."""
    begun, back = time.monotonic(), BACK * max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))
    two.is_told("Your answer is stored: 3 2 4.", timeout=back * 1000)
    for each in (one, two, three):
        each.page.locator("#line").wait_for(state="hidden", timeout=back * 1000)
    assert time.monotonic() - begun < back
    teacher.wait_for(timeout=2 * back * 1000)  # a second alone; Streamlit draws while six pages ask for their own
    assert room.votes == {"3 3 2 1": 1, "3 2 4": 2}
    expect(three.page.locator("#answer")).to_have_value("9 9")
    three.is_told("Your answer is stored: 3 2 4.")
    teacher.page.get_by_role("button", name="Close the vote").click()
    all_see((one, two, three), "The vote is closed")


def the_round_goes_on(quiz: Visit, away: Locator) -> None:
    away.wait_for(state="detached", timeout=60_000)
    quiz.main.get_by_role("button", name="Check").click()
    expect(quiz.main).to_contain_text("✓ Right:", timeout=60_000)
    expect(quiz.main).to_contain_text("Question 3 of 10, 3 points")
    click(quiz, "Next")
    expect(prompt(quiz)).to_have_text(plain(ASKED[3]))
    nothing_else_went_wrong(quiz)


def nothing_else_went_wrong(seen: Visit) -> None:
    assert [error for error in seen.errors if not any(each in error for each in AWAY)] == []


@pytest.mark.timeout(300)  # the server starts twice
def test_after_a_restart_a_page_is_complete_and_editable(browser: Browser) -> None:
    with servers.packviz() as (address, process), visit(browser, address) as seen:
        process.kill()
        process.wait()
        seen.page.evaluate("window.answered = 0")
        with servers.packviz(int(address.rpartition(":")[2])):
            until(seen.page, lambda: seen.page.evaluate("window.answered > 0"))
            seen.settle()
            expect(seen.main.locator(".st-key-why")).to_contain_text("padded")
            seen.type("a b c\nd")
            expect(seen.player).to_have_attribute("aria-label", re.compile("2 sequences, 4 tokens"))
            for option in ("rnn", "zen"):
                seen.sidebar.get_by_role("radio", name=option, exact=True).first.click()
            expect(seen.player).to_have_attribute("aria-label", re.compile("RNN"))
            seen.settle()
            nothing_else_went_wrong(seen)
        seen.errors.clear()  # while no server was there


@pytest.mark.timeout(300)  # the server starts twice
def test_after_kill_9_a_quiz_and_a_class_go_on(browser: Browser, tmp_path: Path) -> None:
    here: dict[str, Any] = {"PACKVIZ_DATA": str(tmp_path), "REDIS_URL": ""}
    with servers.packviz(**here) as (address, process):
        any_page_is_the_first(browser, address)
        told = Path(f"/proc/{process.pid}/fd/1").read_text("utf-8")
        assert "packviz is ready: http://localhost:" in told
        assert "skipped" not in told
        room, port = Room(address, SIZES), int(address.rpartition(":")[2])
        with (
            visit(browser, address, START, path="quiz") as quiz,
            phone(browser, room) as one,
            phone(browser, room) as two,
            phone(browser, room) as three,
            tab(browser, PROJECTOR) as teacher,
        ):
            third_question_answered_wrong(quiz)
            all_see((one, two, three), "You are in")
            room.act("next", "open")
            teacher.page.goto(f"{address}/class?room={room.code}#host={room.host}")
            count = teacher.page.locator(".class-count")
            one.answers("3 3 2 1")
            three.answers("3 2 4")
            two.sees("Question 1")
            count.filter(has_text="2 of 3 voted").evaluate("told => { told.className = 'of the old server'; }")
            process.kill()
            two.page.locator("#answer").fill("3 2 4")
            two.press("Send")
            two.is_told("Not sent yet: 3 2 4.")
            three.page.locator("#answer").fill("9 9")
            for each in (one, two, three):
                each.page.locator("#line").filter(has_text="No connection.").wait_for()
            one.is_told("Your answer is stored: 3 3 2 1.")  # it is: the server said so
            away = quiz.page.get_by_role("alert").filter(has_text="The server cannot be reached.")
            away.wait_for(timeout=60_000)
            quiz.page.wait_for_timeout(5000)  # in which Streamlit would cover the page
            expect(quiz.page.get_by_role("dialog")).to_have_count(0)
            with servers.packviz(port, **here):
                votes_are_kept_and_sent(room, count, one, two, three)
                the_round_goes_on(quiz, away)
            quiz.errors.clear()  # while no server was there, and now that there is none again
