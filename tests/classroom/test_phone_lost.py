"""A phone that goes offline, reloads or wakes up: nothing that was typed is lost, and it says so."""

from functools import partial

from phone_pages import OWN, SIZES, Phone, Room, all_see, phone
from playwright.sync_api import Browser, Route, expect
from tabs import until

BACK = 2.0  # seconds after the server's return, or that of the network
OFFLINE = 20  # attempts to send
PAUSE = 1_500  # ms, more than between two attempts of a phone


def asked(held: Phone, part: str) -> list[str]:
    """Return a list to which the addresses of all later requests that contain this text are added."""
    found: list[str] = []
    held.page.on("request", lambda request: found.append(request.url) if part in request.url else None)
    return found


def test_a_vote_given_offline_is_sent_later(browser: Browser, address: str) -> None:
    room = Room(address, OWN)
    with phone(browser, room, path="join") as held:
        held.page.clock.install()
        held.page.goto(f"{address}/join/{room.code}")
        held.sees("You are in")
        held.page.wait_for_timeout(300)
        channels = asked(held, "/events")
        held.page.clock.fast_forward(20_000)
        held.page.wait_for_timeout(300)
        assert channels == []
        held.page.clock.fast_forward(5_000)
        held.page.clock.fast_forward(1_000)
        until(held.page, lambda: channels)
        assert len(channels) == 1
        room.act("next", "open")
        held.press("nothing at all")
        held.is_told("Your answer is stored: nothing at all.")
        held.page.context.set_offline(True)
        held.page.set_viewport_size({"width": 320, "height": 400})
        held.press("the padding")
        held.is_told("Not sent yet: the padding.")
        seen = "told => told.getBoundingClientRect().bottom <= innerHeight"
        until(held.page, lambda: held.told.evaluate(seen))
        held.page.locator("#line").wait_for()
        for _ in range(OFFLINE):
            with held.page.expect_request("**/vote"):
                held.page.clock.fast_forward(PAUSE)
        assert "stored" not in held.told.inner_text()
        assert room.votes == {"nothing at all": 1}
        held.page.context.set_offline(False)
        held.is_told("Your answer is stored: the padding.", timeout=BACK * 1000)
        held.page.locator("#line").wait_for(state="hidden", timeout=BACK * 1000)
        assert room.votes == {"the padding": 1}


def test_a_phone_whose_request_for_news_is_never_answered_asks_again(browser: Browser, address: str) -> None:
    room = Room(address, OWN)
    with phone(browser, room, path="join") as held:
        held.page.clock.install()
        channels = asked(held, "/events")
        held.page.route(
            "**/events?*", lambda route: route.continue_() if channels[1:] else None
        )  # the first one is lost
        held.page.goto(f"{address}/join/{room.code}")
        until(held.page, lambda: channels)
        room.act("next", "open")
        held.page.clock.fast_forward(23_000)
        held.page.clock.fast_forward(1_000)
        held.sees("Question 1")
        assert len(channels) == 2
        held.page.unroute_all(behavior="ignoreErrors")


def test_an_unsent_vote_survives_a_reload_and_a_stored_one_causes_no_alarm(browser: Browser, address: str) -> None:
    room = Room(address, OWN)

    def swallow(route: Route) -> None:
        """Let the vote arrive, and lose its acknowledgement."""
        route.fetch()
        route.abort()

    with phone(browser, room) as held:
        room.act("next", "open")
        held.page.get_by_role("button", name="the padding").wait_for()
        held.page.route("**/vote", lambda route: route.abort())
        held.press("the padding")
        held.is_told("Not sent yet: the padding.")
        held.page.unroute_all(behavior="ignoreErrors")
        held.page.reload()
        held.is_told("Your answer is stored: the padding.")
        assert room.votes == {"the padding": 1}
        held.page.route("**/vote", swallow)
        held.press("nothing at all")
        held.is_told("Not sent yet: nothing at all.")
        assert room.votes == {"nothing at all": 1}
        room.act("close")
        held.sees("The vote is closed")
        held.is_told("Your answer: nothing at all")


def test_a_vote_after_the_close_does_not_count_and_the_phone_says_so(browser: Browser, address: str) -> None:
    room = Room(address, SIZES, OWN)
    with phone(browser, room) as slow, phone(browser, room) as away:
        all_see((slow, away), "You are in")
        room.act("next", "open")
        slow.sees("Question 1")
        away.answers("3 2 4")
        held_back: list[Route] = []
        slow.page.route("**/vote", lambda route: held_back.append(route))
        slow.page.locator("#answer").fill("3 3 2 1")
        slow.press("Send")
        slow.is_told("Not sent yet: 3 3 2 1.")  # the server is slow
        away.page.context.set_offline(True)
        away.page.locator("#answer").fill("3 3 2 1")
        away.press("Send")
        away.is_told("Not sent yet: 3 3 2 1.")
        room.act("close")
        held_back[0].continue_()
        away.page.context.set_offline(False)
        for each in (slow, away):
            each.is_told("Your answer did not reach the server before the vote closed.")
        assert room.votes == {"3 2 4": 1}
        room.act("next", "open")  # and it is not taken for an answer to the next question
        for each in (slow, away):
            each.sees("Question 2")
            each.page.get_by_text("Answers so far").wait_for()
            expect(each.told).to_have_text("")
        slow.page.wait_for_timeout(500)
        assert room.votes == {}


def test_a_phone_that_wakes_up_catches_up_and_an_unknown_one_joins_again(browser: Browser, address: str) -> None:
    room = Room(address, OWN)
    with phone(browser, room) as held:
        held.sees("You are in")
        held.page.wait_for_timeout(300)
        for event in ("document.dispatchEvent(new Event('visibilitychange'))", "dispatchEvent(new Event('online'))"):
            snapshots, channels = asked(held, f"{room.code}?token"), asked(held, "/events")
            held.page.evaluate(event)
            until(held.page, partial(all, (snapshots, channels)))
            held.page.wait_for_timeout(800)
            assert (len(snapshots), len(channels)) == (1, 1)
        room.act("next")
        held.sees("Question 1")
        stored = f"localStorage['packviz class {room.code}']"
        held.page.evaluate(f"{stored} = JSON.stringify({{ ...JSON.parse({stored}), token: 'unknown' }})")
        held.page.reload()
        held.sees("Question 1")
        assert room.seen["joined"] == 2


def test_a_movie_that_could_not_be_loaded_can_be_loaded_again(browser: Browser, address: str) -> None:
    room = Room(address, SIZES)
    with phone(browser, room) as held:
        held.sees("You are in")
        held.page.route("**/movie?*", lambda route: route.abort())
        room.act("next", "open", "close", "reveal")
        held.page.get_by_text("The movie could not be loaded.").wait_for()
        held.page.unroute_all(behavior="ignoreErrors")
        held.press("Try again")
        held.at_step(room.seen["step"])
