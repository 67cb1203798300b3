"""A plan on phones and the projector: slides, steps, polls, and what a phone says to the teacher alone."""

from phone_pages import OWN, Room, phone
from playwright.sync_api import Browser, expect
from tabs import tab, until, violations

SLIDE = "# Packing\n\n`h_n` is $h_T$, and\n\n```python\noutput, h_n = lstm(packed)\n```"
STEP = {"stage": "pack", "number": 3, "sequences": "1 2 3\n4 5", "settings": {"cell": "gru"}}
ITEMS = [{"slide": SLIDE, "note": "a riddle"}, {"step": STEP}, {"prompt": "In one word?", "kind": "text"}, OWN]


def test_a_plan_is_on_the_phone_and_on_the_projector(browser: Browser, address: str) -> None:
    room = Room.with_plan(address, *ITEMS)
    with phone(browser, room) as held, tab(browser, (1280, 720)) as there:
        screen = there.page
        screen.goto(f"{address}/class?room={room.code}&view=projector")
        room.act("next")
        for page in (held.page, screen):
            slide = page.locator(":is(.slide, .st-key-class-slide)")
            expect(slide.locator("h1")).to_have_text("Packing")
            large = slide.locator("p").first.evaluate("node => parseFloat(getComputedStyle(node).fontSize)")
            assert large >= (28 if page is screen else 16)  # pixels: it is read from the last row
            expect(slide.locator(".math math, .katex-html")).to_be_visible()
            expect(page.get_by_text("a riddle")).to_have_count(0)
        assert violations(held.page) == []
        room.act("next")
        held.at_step(3)
        expect(screen.locator('[data-testid="packviz-player"]')).to_have_attribute("data-step", "3")
        held.says("Following your teacher: step 3.")
        room.act("next", "next")
        held.answers("Fun")
        room.act("close", "reveal")
        expect(held.page.locator(".verdict")).to_have_text("Your answer: Fun")
        expect(screen.locator(".class-texts")).to_contain_text("fun")
        assert violations(held.page) == []
        room.act("back")
        held.at_step(3)


def test_a_phone_says_how_sure_it_is_of_its_answer(browser: Browser, address: str) -> None:
    room = Room(address, OWN)
    room.act("next", "open")
    with phone(browser, room) as held:
        sure = held.page.get_by_role("group", name="How sure are you?")
        expect(sure).to_be_hidden()
        held.press("the padding")
        held.is_told("Your answer is stored")
        sure.get_by_role("button", name="Guessing").click()
        expect(sure.get_by_role("button", name="Guessing")).to_have_attribute("aria-pressed", "true")
        until(held.page, lambda: room.seen["bars"][1].get("guessing") == [1])
        held.press("nothing at all")
        until(held.page, lambda: room.seen["bars"][2].get("guessing") == [1])
        assert violations(held.page) == []
        room.act("channels", confidence=False)
        expect(sure).to_be_hidden()
        room.act("close", "reveal")
        expect(held.page.locator(".bars")).to_contain_text("C. nothing at all")


def test_a_phone_says_to_the_teacher_alone_that_it_is_lost(browser: Browser, address: str) -> None:
    room = Room.with_plan(address, *ITEMS)
    with phone(browser, room) as held:
        held.page.get_by_text("Tell your teacher").click()
        held.press("I am lost")
        expect(held.page.get_by_role("button", name="I am lost")).to_have_attribute("aria-pressed", "true")
        assert room.seen["paces"] == {"slow": 0, "fast": 0, "lost": 1}
        held.page.get_by_label("A question, which only your teacher sees").fill("Why six rows?")
        held.page.locator("#wonder button").click()
        expect(held.page.get_by_text("Your teacher has your question.")).to_be_visible()
        assert [each["text"] for each in room.seen["wonders"]] == ["Why six rows?"]
        room.act("channels", pace=False, wonder=False)
        expect(held.page.locator("#teacher")).to_be_hidden()
