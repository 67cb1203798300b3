"""Take the pictures of the guide for the lecture hall from the running app: `python -m docs.take_pictures`."""

import json
import os
import tempfile
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

from playwright.sync_api import Browser, Page

from bench import servers
from bench.browser import chromium

FOLDER = Path(__file__).parent / "assets" / "class"
_LAPTOP, _PHONE = (1280, 720), (390, 700)
_NUMBERS = "3 1 4 1\n5 9\n2 6 5"
_ITEMS = [
    {"slide": "# Welcome"},
    {
        "kind": "batch_sizes",
        "sequences": _NUMBERS,
        "note": "Most students type the lengths: let them talk, then vote again.",
    },
    {"step": {"stage": "run", "number": 3, "sequences": _NUMBERS}},
]
_FIRST = [[4, 2, 3]] * 5 + [[3, 3, 2, 1]] * 4 + [[3, 3, 3, 3]] * 2
_SECOND = [[3, 3, 2, 1]] * 9 + [[4, 2, 3]] * 2


class _Room:
    """A room with a plan and students."""

    def __init__(self, address: str) -> None:
        self._rooms = f"{address}/api/rooms"
        opened = self._send("", {"items": _ITEMS})
        self.code, self.host = opened["code"], opened["host"]
        self._phones = [str(self._send(f"/{self.code}/join", {})["token"]) for _ in _FIRST]

    def act(self, *actions: str) -> None:
        for action in actions:
            self._send(f"/{self.code}/host", {"host": self.host, "action": action})

    def vote(self, number: int, answers: list[list[int]]) -> None:
        for i, (token, answer) in enumerate(zip(self._phones, answers, strict=True)):
            sure = "sure" if i % 3 else "guessing"
            vote = {"token": token, "round": number, "answer": answer, "confidence": sure}
            self._send(f"/{self.code}/vote", vote)

    def tell(self) -> None:
        for token in self._phones[:2]:
            self._send(f"/{self.code}/pace", {"token": token, "pace": "fast"})
        self._send(f"/{self.code}/wonder", {"token": self._phones[3], "text": "Why is the last number 1?"})

    def _send(self, path: str, body: object) -> dict[str, Any]:
        headers = {"Content-Type": "application/json"}
        with urlopen(Request(self._rooms + path, json.dumps(body).encode(), headers), timeout=30) as answer:
            got: dict[str, Any] = json.load(answer)
        return got


def take(folder: Path) -> None:
    """Take all pictures into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory() as data,
        servers.packviz(PACKVIZ_DATA=data) as (address, _),
        chromium() as browser,
    ):
        teacher = _page(browser, f"{address}/class", _LAPTOP)
        teacher.get_by_role("button", name="Open a room with it").first.wait_for()
        _shoot(teacher, folder / "open.png")
        room = _Room(address)
        projector = _page(browser, f"{address}/class?room={room.code}&view=projector", _LAPTOP)
        projector.locator(".class-code").wait_for()
        _shoot(projector, folder / "join.png")
        phone = _page(browser, f"{address}/join/{room.code}", _PHONE)
        room.act("next", "next", "next")
        room.vote(1, _FIRST)
        room.tell()
        phone.locator("#answer").fill("3 3 2 1")
        phone.get_by_role("button", name="Send", exact=True).first.click()
        phone.get_by_role("button", name="Sure").click()
        _shoot(phone, folder / "phone.png")
        teacher.goto(f"{address}/class?room={room.code}&presenter=true#host={room.host}")
        teacher.get_by_text("In the last five minutes").wait_for()
        _shoot(teacher, folder / "teacher.png")
        room.act("close", "talk", "reopen")
        room.vote(2, _SECOND)
        room.act("close", "reveal")
        projector.locator(".class-bars").wait_for()
        _shoot(projector, folder / "answer.png")


def _page(browser: Browser, address: str, size: tuple[int, int]) -> Page:
    page = browser.new_context(viewport={"width": size[0], "height": size[1]}, has_touch=size == _PHONE).new_page()
    page.set_default_timeout(120_000)
    page.goto(address)
    return page


def _shoot(page: Page, path: Path) -> None:
    page.wait_for_timeout(3000)  # until nothing moves
    page.screenshot(path=path)


if __name__ == "__main__":
    os.environ.pop("REDIS_URL", None)
    take(FOLDER)
