"""The page for phones, in a browser on the real server: what a class sees, types and taps."""

import re
from typing import Any

import pytest
from phone_pages import OWN, PHONE, SIZES, TAP, WHO, Room, all_see, phone
from playwright.sync_api import Browser, expect
from tabs import Scheme, Size, reach, until, violations

SMALL, LANDSCAPE = (320, 568), (844, 390)
MOST = 60_000  # bytes of the page, the player and its movie on the wire


@pytest.mark.check
def test_three_phones_go_through_a_whole_round(browser: Browser, address: str) -> None:
    room = Room(address, SIZES)
    with phone(browser, room) as one, phone(browser, room) as two, phone(browser, room, path="join") as three:
        three.page.get_by_label("Code of the room").fill(f" {room.code[:3].lower()}-{room.code[3:].lower()}")
        three.press("Join")
        class_ = (one, two, three)
        all_see(class_, "You are in")
        assert len({each.name for each in class_}) == 3

        room.act("next")
        for each in class_:
            each.sees("Question 1")
            assert each.page.locator("tbody tr").all_inner_texts() == ["A\t3\t1\t4", "B\t1\t5", "C\t9\t2\t6\t5"]
        expect(one.page.locator("#answer")).to_have_count(0)  # the vote is not open yet
        room.act("open")
        one.answers("3 3 2 1")
        two.answers("3, 2, 4")
        three.answers("3 2 4")
        assert room.votes == {"3 3 2 1": 1, "3 2 4": 2}

        room.act("close")
        two.sees("The vote is closed")
        two.is_told("Your answer: 3 2 4")
        expect(two.page.locator(".bars, .verdict, .pv")).to_have_count(0)
        room.act("talk")
        two.sees("Talk about it")
        expect(two.page.get_by_text("Explain your answer to your neighbor")).to_be_visible()
        two.is_told("Your answer: 3 2 4")

        room.act("reopen")
        two.sees("second vote")
        expect(two.page.get_by_text("Your first answer: 3 2 4")).to_be_visible()
        two.is_told("Send it again to keep it, or change it.")
        two.answers("3 3 2 1")
        one.sees("second vote")
        one.press("Send")  # the first answer again
        one.is_told("Your answer is stored: 3 3 2 1.")
        assert room.votes == {"3 3 2 1": 2}

        room.act("close", "reveal")
        all_see((one, two), "You are right")
        three.sees("The answer")  # it has not voted again
        expect(three.page.get_by_text("The right answer: 3 3 2 1")).to_be_visible()
        bars = two.page.locator(".bars li").all_inner_texts()
        assert [" ".join(each.split())[:47] for each in bars] == [
            "3 3 2 1 ✓ right · your answer before 1 after 2",
            "3 2 4 before 2 after 0 These are the lengths, o",
        ]
        step = str(room.seen["step"])
        two.page.locator(f".pv[data-step='{step}']").wait_for()

        room.act("twin")
        for each in class_:
            each.sees("Question 2")
            expect(each.page.locator(".pv")).to_have_count(0)


def test_an_unreadable_answer_stays_in_the_field(browser: Browser, address: str) -> None:
    room = Room(address, SIZES, OWN)
    with phone(browser, room) as held:
        room.act("next", "open")
        held.answers("3 2 4")
        field = held.page.locator("#answer")
        field.fill("three of them")
        held.press("Send")
        held.is_told("as whole numbers")
        expect(field).to_have_value("three of them")
        assert room.votes == {"3 2 4": 1}
        held.page.reload()
        held.is_told("Your answer is stored: 3 2 4.")
        expect(field).to_have_value("three of them")
        room.act("close", "reveal")
        held.sees("Not right this time")
        expect(held.page.get_by_text("These are the lengths, one number for each sequence.")).to_have_count(1)
        expect(held.page.locator(".bars li").first).to_contain_text("3 3 2 1 ✓ right")
        room.act("next", "open")
        held.press("nothing at all")
        held.is_told("stored")
        room.act("close", "reveal")
        held.page.get_by_text("Padding is not packed.").wait_for()
        expect(held.page.locator(".pv, .movie")).to_have_count(0)  # nobody computes a question of the teacher's own


def test_a_poll_that_nobody_has_answered_says_so(browser: Browser, address: str) -> None:
    room = Room(address, {"prompt": "How many?", "kind": "number"})
    with phone(browser, room) as held:
        room.act("next", "open", "close", "reveal")
        expect(held.page.get_by_text("Nobody has answered.")).to_be_visible()
        expect(held.page.locator(".bars")).to_have_count(0)


def test_what_was_typed_is_read_by_the_server_alone(browser: Browser, address: str) -> None:
    room = Room(address, SIZES)
    with phone(browser, room) as held:
        room.act("next", "open")
        held.answers("tensor([3, 3,2 , 1])")
        assert room.votes == {"3 3 2 1": 1}
        held.page.reload()
        held.is_told("Your answer is stored: 3 3 2 1.")
        room.act("close")
        held.sees("The vote is closed")
        room.act("talk", "reopen")
        held.sees("second vote")
        expect(held.page.get_by_text("Your first answer: 3 3 2 1")).to_be_visible()
        room.act("close", "reveal")
        expect(held.page.locator(".bars li").first).to_contain_text("3 3 2 1 ✓ right")


def test_every_kind_of_answer_can_be_given_by_touch(browser: Browser, address: str) -> None:
    script = "<script>alert(2)</script>"  # is text, and never HTML
    own = {"prompt": "<img src=x onerror=alert(1)>`<b>`", "options": ["nothing at all", script], "answer": 0}
    room = Room(address, own, SIZES, TAP, WHO, {**TAP, "tap": False})
    with phone(browser, room) as held:
        room.act("next", "open")
        for _ in range(3):  # two quick taps are one vote, the last
            held.press("nothing at all")
            held.press(script)
        held.is_told(f"Your answer is stored: {script}.")
        held.page.wait_for_timeout(300)
        expect(held.page.locator("main img, main script")).to_have_count(0)
        expect(held.page.locator("[aria-pressed=true]")).to_have_text([script])
        assert room.votes == {script: 1}
        assert (room.seen["voted"], room.seen["joined"]) == (1, 1)

        room.act("close", "next", "open")
        held.page.locator("#answer").type("3")
        for size in "321":
            held.press("Space")
            held.page.keyboard.type(size)
        held.press("Send")
        held.is_told("Your answer is stored: 3 3 2 1.")
        assert room.votes == {"3 3 2 1": 1}

        room.act("close", "next", "open")
        held.press("A, t = 0: 3")
        held.is_told("Your answer is stored: A, t = 0.")
        held.press("C, t = 1: 2")
        held.is_told("Your answer is stored: C, t = 1.")
        assert room.votes == {"C, t = 1": 1}

        room.act("close", "next", "open")
        held.sees("Question 4")
        for letter in "CBAB":
            held.press(letter)
        expect(held.page.locator("#answer")).to_have_value("A C")
        held.press("Send")
        held.is_told("Your answer is stored: A C.")
        assert room.votes == {"A C": 1}
        held.page.locator("#answer").fill("AC")
        held.press("B")
        held.press("Send")
        held.is_told("Your answer is stored: A B C.")

        room.act("close", "next", "open")
        held.sees("Question 5")
        held.answers("3")
        assert room.votes == {"3": 1}


def test_a_reloaded_phone_is_the_same_one_and_may_change_its_name(browser: Browser, address: str) -> None:
    room = Room(address)
    with phone(browser, room) as held, phone(browser, room) as other:
        all_see((held, other), "You are in")
        first = held.name
        held.page.reload()
        held.sees("You are in")
        assert held.name == first
        held.page.locator("#change").click()
        held.page.get_by_role("textbox", name="Your name").fill(other.name)
        held.press("Change")
        held.page.get_by_text("Somebody in this room already has this name.").wait_for()
        held.page.get_by_role("textbox", name="Your name").fill("<b>Ada</b>")
        held.press("Change")
        held.page.locator("#rename").wait_for(state="hidden")
        assert held.name == "<b>Ada</b>"
        assert room.seen["joined"] == 2


def test_a_phone_follows_the_movie_or_looks_around_and_says_which(browser: Browser, address: str) -> None:
    room = Room(address, SIZES)
    with phone(browser, room) as held:
        held.sees("You are in")
        room.act("next", "open", "close", "reveal")
        shown = room.seen["step"]
        held.says(f"Following your teacher: step {shown}.")
        player = held.page.locator(".pv")
        held.at_step(shown)
        room.act("step", step=2)
        held.at_step(2)
        player.get_by_role("button", name="Step forward").click()
        held.says("Looking around on your own. Your teacher is at step 2.")
        room.act("step", step=5)
        held.says("Your teacher is at step 5.")
        held.at_step(3)
        until(held.page, lambda: room.seen["following_count"] == 0)
        held.page.reload()
        held.says("Looking around on your own.")
        held.press("Follow")
        held.says("Following your teacher: step 5.")
        held.at_step(5)
        held.press("Look around")
        held.says("Looking around on your own.")
        room.act("twin", "open", "close", "reveal")  # another question, another movie
        held.says("Following your teacher")
        held.at_step(room.seen["step"])
        until(held.page, lambda: room.seen["following_count"] == 1)


def test_a_wrong_code_stays_and_the_keyboard_is_enough(browser: Browser, address: str) -> None:
    room = Room(address, OWN, SIZES, TAP)
    with phone(browser, room, path="join") as held:
        keys, live, code = held.page.keyboard, held.page.locator("#live[role=status]"), held.page.locator("#room")
        for wrong, told in (("K7Q", "You typed 3 characters."), ("CCCCC3", "There is no room with the code CCCCC3.")):
            code.fill(wrong)
            held.press("Join")
            held.page.get_by_text(told).wait_for()
            expect(code).to_have_value(wrong)
        held.page.goto(f"{address}/join/CCCCC4")
        held.page.get_by_text("There is no room with the code CCCCC4.").wait_for()
        expect(code).to_have_value("CCCCC4")

        reach(code)
        keys.press("Control+A")
        keys.type(room.code)
        keys.press("Enter")
        held.sees("You are in")
        room.act("next", "open")
        live.filter(has_text="Question 1").wait_for(state="attached")
        reach(held.page.get_by_role("button", name="the padding"))
        keys.press("Enter")
        live.filter(has_text="Your answer is stored: the padding.").wait_for(state="attached")
        room.act("close")
        live.filter(has_text="The vote is closed").wait_for(state="attached")
        held.sees("The vote is closed")
        expect(held.title).to_be_focused()  # what had the focus is gone
        room.act("reveal")
        live.filter(has_text="You are right").wait_for(state="attached")
        room.act("next", "open")
        held.page.locator("#answer").wait_for()
        reach(held.page.locator("#answer"))
        keys.type("3 3 2 1")
        keys.press("Enter")
        held.is_told("Your answer is stored: 3 3 2 1.")
        room.act("close", "next", "open")
        held.sees("Question 3")
        reach(held.page.get_by_role("button", name="C, t = 1: 2"))
        keys.press("Space")
        held.is_told("Your answer is stored: C, t = 1.")
        room.act("close", "reveal")
        held.at_step(room.seen["step"])
        reach(held.page.get_by_role("button", name="Look around"))
        keys.press("Enter")
        held.says("Looking around on your own.")


@pytest.mark.parametrize(
    ("size", "scheme", "question"),
    [(SMALL, "light", WHO), (PHONE, "dark", OWN), (LANDSCAPE, "light", TAP)],
    ids=["small", "phone-dark", "landscape"],
)
def test_axe_finds_nothing_and_nothing_scrolls_sideways_in_any_phase(
    browser: Browser, address: str, size: Size, scheme: Scheme, question: dict[str, object]
) -> None:
    room = Room(address, question)
    with phone(browser, room, size, scheme=scheme, path="join") as held:

        def check(phase: str) -> None:
            assert violations(held.page, impacts=("minor", "moderate", "serious", "critical")) == [], phase
            assert held.width <= 0, phase

        held.sees("Join your class")
        check("code")
        held.page.locator("#room").fill("K7Q")
        held.press("Join")
        check("wrong code")
        held.page.goto(f"{address}/join/{room.code}")
        held.sees("You are in")
        held.page.locator("#change").click()
        check("lobby")
        for action, title in (("next", "Question 1"), ("open", "Question 1")):
            room.act(action)
            held.sees(title)
            check(action)
        held.page.get_by_text("Answers so far").wait_for()
        held.gives_any_answer()
        check("answered")
        for action, title in (("close", "closed"), ("talk", "Talk"), ("reopen", "second vote"), ("close", "closed")):
            room.act(action)
            held.sees(title)
            check(action)
        room.act("reveal")
        held.page.locator(".verdict").wait_for()
        if question is not OWN:
            held.at_step(room.seen["step"])
            expect(held.page.locator(".pv")).to_have_attribute("data-theme", scheme)
        check("reveal")
        room.act("delete")
        held.sees("This room has been deleted")
        check("deleted")
        held.press("Join another room")
        held.sees("Join your class")


def test_the_page_is_small_on_the_wire(browser: Browser, address: str) -> None:
    room = Room(address, SIZES)
    with phone(browser, room, path="join") as held:
        wire = held.page.context.new_cdp_session(held.page)
        wire.send("Network.enable")
        wire.send("Network.setCacheDisabled", {"cacheDisabled": True})
        got, asking = list[int](), set[str]()  # asking: how often for the state depends on how fast it changes
        of_state = re.compile(rf"/api/rooms/{room.code}(?:/events)?\?")

        def sent(event: dict[str, Any]) -> None:
            asking.update([event["requestId"]] if of_state.search(event["request"]["url"]) else [])

        def loaded(event: dict[str, Any]) -> None:
            got.extend([] if event["requestId"] in asking else [event["encodedDataLength"]])

        wire.on("Network.requestWillBeSent", sent)
        wire.on("Network.loadingFinished", loaded)
        held.page.goto(f"{address}/join/{room.code}")
        held.sees("You are in")
        page = sum(got)
        assert 5_000 < page <= 20_000
        room.act("next")
        held.sees("Question 1")
        held.page.wait_for_timeout(500)
        asked: list[str] = []
        held.page.on("request", lambda request: asked.append(request.url))
        room.act("open")
        held.page.locator("#answer").wait_for()
        held.page.wait_for_timeout(500)
        assert len([url for url in asked if "player" not in url]) == 1
        room.act("close", "reveal")
        held.at_step(room.seen["step"])
        held.page.wait_for_timeout(300)
        assert page + 20_000 < sum(got) <= MOST  # the player has come, and its movie
