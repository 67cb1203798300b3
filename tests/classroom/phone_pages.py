"""A room on a real server, its teacher by plain requests, and phones in a real browser."""

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.request import Request, urlopen

from playwright.sync_api import Browser, Locator, Page
from tabs import Scheme, Size, tab

__all__ = ["OWN", "PHONE", "SIZES", "TAP", "WHO", "Phone", "Room", "all_see"]

PHONE: Size = (390, 844)
OWN = {
    "prompt": "What does `pack_padded_sequence` leave out?",
    "options": ["the longest sequence", "the padding", "nothing at all"],
    "answer": 1,
    "reasons": ["The longest sequence sets how many time steps there are.", "", "Padding is not packed."],
}
SIZES = {"kind": "batch_sizes", "sequences": "3 1 4\n1 5\n9 2 6 5", "settings": {"cell": "gru"}}  # 3 3 2 1
TAP = {"kind": "packed_row", "sequences": "3 1 4\n1 5\n9 2 6 5", "tap": True}
WHO = {"kind": "alive", "sequences": "3 1 4\n1 5\n9 2 6 5"}  # A C at t = 2


class Room:
    """One room, driven by its teacher."""

    def __init__(self, address: str, *questions: object) -> None:
        self.address = address
        self._open({"questions": list(questions)})

    @classmethod
    def with_plan(cls, address: str, *items: object) -> "Room":
        """Open a room with a plan."""
        room = cls.__new__(cls)
        room.address = address
        room._open({"items": list(items)})
        return room

    def _open(self, body: object) -> None:
        made = self._send("", body)
        self.code, self.host = made["code"], made["host"]

    def act(self, *actions: str, **details: object) -> None:
        for action in actions:
            self._send(f"/{self.code}/host", {"host": self.host, "action": action, **details})

    def vote(self, token: str, answer: object, number: int = 1, **more: object) -> None:
        self._send(f"/{self.code}/vote", {"token": token, "round": number, "answer": answer, **more})

    def join(self) -> str:
        """Join as a phone without a browser; return its token."""
        return str(self._send(f"/{self.code}/join", {})["token"])

    @property
    def seen(self) -> dict[str, Any]:
        """Return what the teacher sees."""
        return self.seen_by(self.host)

    def seen_by(self, token: str) -> dict[str, Any]:
        """Return what a phone sees."""
        return self._send(f"/{self.code}?token={token}")

    @property
    def votes(self) -> dict[str, int]:
        """Return how often each answer was given in the current round, from the teacher's bars."""
        seen = self.seen
        when = "before" if seen["round"] == 1 else "after"
        return {each["answer"]: each[when] for each in seen["bars"] if each[when]}

    def _send(self, path: str, body: object = None) -> dict[str, Any]:
        data = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json"}
        with urlopen(Request(f"{self.address}/api/rooms{path}", data, headers), timeout=30) as answer:
            got: dict[str, Any] = json.load(answer)
        return got


class Phone:
    """One phone: a page in its own browser context, with its own storage."""

    def __init__(self, page: Page) -> None:
        self.page = page

    @property
    def title(self) -> Locator:
        return self.page.locator("h1")

    @property
    def told(self) -> Locator:
        """Return the line that says what happened to the answer."""
        return self.page.locator(".told")

    def sees(self, title: str, timeout: float = 20_000) -> None:
        """Wait until the page has this title."""
        self.title.filter(has_text=title).wait_for(timeout=timeout)

    def is_told(self, sentence: str, timeout: float = 20_000) -> None:
        self.told.filter(has_text=sentence).wait_for(timeout=timeout)

    @property
    def name(self) -> str:
        return str(self.page.locator("#name").text_content())

    def answers(self, text: str) -> None:
        """Type an answer and send it; wait until it is stored."""
        self.page.locator("#answer").fill(text)
        self.press("Send")
        self.is_told("Your answer is stored")

    def gives_any_answer(self) -> None:
        """Choose the first answer, or else type a number; wait until it is stored."""
        choices = self.page.locator("[data-answer], .picks button")
        if choices.count():
            choices.first.click()
        if self.page.locator("#answer").count():
            self.page.locator("#answer").fill(self.page.locator("#answer").input_value() or "7")
            self.press("Send")
        self.is_told("Your answer is stored")

    def says(self, sentence: str) -> None:
        """Wait until the page says this about whom it follows."""
        self.page.locator(".follow p").filter(has_text=sentence).wait_for()

    def at_step(self, step: int) -> None:
        """Wait until the movie is at a step."""
        self.page.locator(f".pv[data-step='{step}']").wait_for()

    def press(self, name: str) -> None:
        self.page.get_by_role("button", name=name, exact=True).click()

    @property
    def width(self) -> int:
        """Return by how many pixels the page is wider than its window."""
        return int(self.page.evaluate("document.documentElement.scrollWidth - innerWidth"))


def all_see(phones: Iterable[Phone], title: str) -> None:
    """Wait until the page of each phone has this title."""
    for each in phones:
        each.sees(title)


@contextmanager
def phone(
    browser: Browser, room: Room, size: Size = PHONE, *, scheme: Scheme = "light", path: str | None = None
) -> Iterator[Phone]:
    """Open the page of a room on a phone, and check at the end that nothing has gone wrong."""
    with tab(browser, size, scheme=scheme, has_touch=True) as taken:
        held = Phone(taken.page)
        taken.page.goto(f"{room.address}/{path or f'join/{room.code}'}")
        yield held
        assert [each for each in taken.errors if "Failed to load resource" not in each] == []  # a server that is away
        assert taken.dialogs == []
