"""A whole lesson in real browsers: a teacher with a remote, a projector and four phones, forward and back.

The server is killed in it, and a phone loses its network. Everything that a phone or the projector receives is searched
for what it must not know yet, and axe looks at each screen in each phase. PACKVIZ_PICTURES names a folder for a picture
of each screen with each item.
"""

from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from lecture import ANSWERS, EVERY, ITEMS, LAST, NOTE, WONDER, Lecture
from phone_pages import Room, phone
from playwright.sync_api import Browser, expect
from tabs import Scheme, Size, tab, until, violations

from bench import servers

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

PROJECTOR: Size = (1280, 720)
PHONES: tuple[tuple[Size, Scheme], ...] = (
    ((390, 844), "light"),
    ((390, 844), "dark"),
    ((320, 640), "light"),
    ((844, 390), "light"),
)


def windows(room: Room, browser: Browser, screens: ExitStack) -> Lecture:
    """Open all screens of a room."""
    teacher, projector = (screens.enter_context(tab(browser, PROJECTOR, locale="en-US")).page for _ in range(2))
    phones = [screens.enter_context(phone(browser, room, size, scheme=scheme, path="join")) for size, scheme in PHONES]
    lecture = Lecture(room, teacher, projector, phones)
    teacher.goto(f"{room.address}/class?room={room.code}&presenter=true#host={room.host}")
    projector.goto(f"{room.address}/class?room={room.code}&view=projector")
    for each in phones:
        each.page.goto(f"{room.address}/join/{room.code}")
        each.sees("You are in")
        lecture.tokens.append(str(each.page.evaluate(f"JSON.parse(localStorage['packviz class {room.code}']).token")))
    expect(projector.locator(".class-code")).to_have_text(room.code)
    expect(projector.locator(".class-count")).to_have_text(f"{len(phones)} joined")
    for page in (teacher, projector, phones[0].page, phones[1].page):
        assert violations(page, impacts=EVERY) == []
    return lecture


def play(lecture: Lecture, to: int) -> None:
    """Go on to an item, with a vote whenever one is open."""
    while lecture.at[0] is None or lecture.at[0] < to:
        lecture.go()
        if lecture.seen["phase"] == "vote":
            lecture.vote()
        lecture.check()


def within_a_movie(lecture: Lecture) -> None:
    """Go one step on in the movie: the remote does it, and everybody follows."""
    step = lecture.seen["step"] + 1
    lecture.teacher.keyboard.press("PageDown")
    until(lecture.teacher, lambda: lecture.room.seen["step"] == step)
    lecture.seen = lecture.room.seen
    lecture.check()


def the_teacher_hears_of_a_question(lecture: Lecture) -> None:
    """Send a question and a word about the pace: the teacher alone sees them, and shows the question."""
    held = lecture.phones[2].page
    held.get_by_text("Tell your teacher").click()
    held.get_by_role("button", name="I am lost").click()
    held.get_by_label("A question, which only your teacher sees").fill(WONDER)
    held.locator("#wonder button").click()
    private = lecture.teacher.locator(".st-key-class-presenter")
    expect(private).to_contain_text(WONDER)
    expect(private).to_contain_text("of 4: 1 lost.")
    lecture.check()
    private.get_by_role("button", name="Put it on the projector").click()
    expect(lecture.projector.locator(".class-wonder")).to_have_text(WONDER)
    private.get_by_role("button", name="Take it off the projector").click()
    expect(lecture.projector.locator(".class-wonder")).to_have_count(0)
    lecture.wondered = True
    held.get_by_text("Tell your teacher").click()  # fold it


def test_a_whole_lesson_is_played_through_a_kill_and_a_lost_network(browser: Browser, tmp_path: Path) -> None:
    port = servers.free_port()
    here: dict[str, Any] = {"PACKVIZ_DATA": str(tmp_path), "REDIS_URL": ""}
    with ExitStack() as screens:
        with servers.packviz(port, **here) as (address, process):
            room = Room.with_plan(address, *({**item, "note": f"{NOTE} {i}."} for i, item in enumerate(ITEMS)))
            lecture = windows(room, browser, screens)
            play(lecture, 2)
            within_a_movie(lecture)
            lecture.go()
            lecture.check()
            lecture.go()
            lecture.vote()
            process.kill()
            process.wait()
            lecture.phones[1].page.locator("#answer").fill("3 3 2 1")
            lecture.phones[1].press("Send")
            lecture.phones[1].is_told("Not sent yet: 3 3 2 1.")
        screens.enter_context(servers.packviz(port, **here))
        lecture.phones[1].is_told("Your answer is stored: 3 3 2 1.", timeout=60_000)
        assert room.votes == {"3 3 2 1": 2, "4 4": 2}
        for page in (lecture.teacher, lecture.projector):
            expect(page.get_by_text("4 of 4 voted")).to_be_visible(timeout=60_000)
        lecture.check()
        the_rest(lecture)
        back_to_the_beginning(lecture)


def the_rest(lecture: Lecture) -> None:
    """Play the lesson to its end; a phone is offline during a vote."""
    play(lecture, 4)
    the_teacher_hears_of_a_question(lecture)
    lecture.go()
    away = lecture.phones[3]
    away.page.locator("[data-answer]").first.wait_for()
    away.page.context.set_offline(True)
    away.page.locator("[data-answer]").first.click()
    away.is_told("Not sent yet")
    away.page.context.set_offline(False)
    away.is_told("Your answer is stored")
    lecture.vote()
    lecture.check()
    play(lecture, LAST)
    expect(lecture.teacher.get_by_text("This is the end of the list.")).to_be_visible()
    assert lecture.found == {each for texts in ANSWERS.values() for each in texts}  # the ears have heard what came


def back_to_the_beginning(lecture: Lecture) -> None:
    """Go back through everything: what was revealed has its bars and its movie, on each screen."""
    for item in range(LAST - 1, -1, -1):
        lecture.go("PageUp")
        assert lecture.at[:2] == (item, "lobby" if "slide" in ITEMS[item] else "reveal")
        lecture.check()
    lecture.teacher.get_by_role("button", name=f"Plan: {len(ITEMS)}").click()
    expect(lecture.teacher.get_by_role("button", name="▸ 1. Slide: Aardvark", exact=True)).to_be_visible()
    lecture.teacher.get_by_role("button", name=f"✓ {LAST + 1}. Slide: Flamingo", exact=True).click()
    until(lecture.teacher, lambda: lecture.room.seen["item"] == LAST)
    lecture.seen = lecture.room.seen
    lecture.check()
