"""The lecture that test_lecture.py plays: its items, its screens, what each of them must show and must not know yet."""

import json
import os
import re
import struct
import zlib
from base64 import b64encode
from pathlib import Path
from typing import Any

from heard import Ear
from phone_pages import Phone, Room
from playwright.sync_api import Page, expect
from tabs import until, violations

__all__ = ["ANSWERS", "EVERY", "ITEMS", "LAST", "NOTE", "WONDER", "Lecture"]

BATCH = {"sequences": "3 1 4\n1 5\n9 2 6 5"}
_PIXELS = zlib.compress(b"".join(b"\0" + bytes([46, 94, 230] * 160) for _ in range(80)))
_BLUE = b"\x89PNG\r\n\x1a\n" + b"".join(
    struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
    for name, data in ((b"IHDR", struct.pack(">IIBBBBB", 160, 80, 8, 2, 0, 0, 0)), (b"IDAT", _PIXELS), (b"IEND", b""))
)
PICTURE = f"![a blue field](data:image/png;base64,{b64encode(_BLUE).decode()})"
ITEMS: list[dict[str, Any]] = [
    {"slide": f"# Aardvark\n\n`h_n` is $h_T$.\n\n```python\noutput, h_n = lstm(packed)\n```\n\n{PICTURE}"},
    {
        "prompt": f"**Badger**: which one?\n\n{PICTURE}",
        "options": ["the first", "the second", "the third"],
        "answer": 1,
        "reasons": ["canary of one", "", ""],
        "why": "canary of two",
    },
    {"step": {"stage": "pack", "number": 2, **BATCH}},
    {"kind": "batch_sizes", **BATCH},
    {"kind": "packed_row", "tap": True, **BATCH},
    {"kind": "alive", **BATCH},
    {"prompt": "Cheetah: how was it?", "options": ["good", "bad"]},
    {"prompt": "Dingo: how many?", "kind": "number", "answer": 6, "why": "canary of six"},
    {"prompt": "Elephant: one word?", "kind": "text", "shown": "words"},
    {"level": 1, "round": 1, "question": 0},
    {"step": {"kind": "rows", "stage": "two", "number": 2, **BATCH}},
    {"kind": "cu_seqlens", **BATCH},
    {"kind": "final_step", "tap": True, **BATCH},
    {"slide": "# Flamingo\n\nThe end."},
]
LAST = len(ITEMS) - 1
MARKS = {0: "Aardvark", 1: "Badger", 6: "Cheetah", 7: "Dingo", 8: "Elephant", LAST: "Flamingo"}
TALKED, LISTED = 3, 8  # the question with two votes, and that whose texts are hidden until they are shown
WORDS = ("axolotl", "okapi", "narwhal", "ocelot")  # of the phones; none is an animal of classroom/names.py
ANSWERS = {1: ("canary of one", "canary of two"), 3: ("These are the lengths",), 7: ("canary of six",), LISTED: WORDS}
NOTE = "riddle"  # in every note
WONDER = "Why quagga?"
TOLD = {
    "lobby": "Read the question",
    "vote": "Vote",
    "closed": "The vote is closed",
    "talk": "Explain your answer",
}
TITLES = {"slide": "On the screen", "step": "Watch", "closed": "The vote is closed", "talk": "Talk about it"}
OF_AN_ANSWER = ('"answer":', '"solution":', '"bars":', '"reasons":', '"right":', '"why":', '"hint":', '"note":')
EVERY = ("minor", "moderate", "serious", "critical")
OVERLAPS = """bars => bars.filter((bar) => {
    const box = (part) => bar.querySelector(part).getBoundingClientRect(), one = box("i"), other = box("span");
    return one.right > other.left + 1 && other.bottom > one.top + 1 && one.bottom > other.top + 1;
}).map((bar) => bar.textContent)"""  # bars that end within their labels
WIDTHS = "images => Promise.all(images.map(async (image) => (await image.decode(), image.naturalWidth)))"
MOVIE = '[data-testid="packviz-player"]'
STEPS = "(movies, staged) => movies.map(({dataset}) => [dataset.step, staged ? dataset.stage : null])"


class Lecture:
    """The room and its screens."""

    def __init__(self, room: Room, teacher: Page, projector: Page, phones: list[Phone]) -> None:
        self.room, self.teacher, self.projector, self.phones = room, teacher, projector, phones
        self.ears = {"projector": Ear(projector), **{f"phone {i}": Ear(each.page) for i, each in enumerate(phones)}}
        self.seen, self.tokens = room.seen, list[str]()  # of the phones
        self.found: set[str] = set()  # of what was secret first
        self.wondered = False  # whether the question from a phone has been shown
        self._furthest = -1
        self._looked: set[tuple[object, ...]] = set()

    @property
    def screens(self) -> dict[str, Page]:
        phones = {f"phone {i}": each.page for i, each in enumerate(self.phones)}
        return {"teacher": self.teacher, "projector": self.projector, **phones}

    @property
    def at(self) -> tuple[Any, ...]:
        return self.seen["item"], self.seen["phase"], self.seen["round"]

    def go(self, way: str = "PageDown") -> None:
        """Turn the page with the remote; leave a movie, in which its keys are steps, with the teacher's button."""
        before = self.seen["place"]
        if self.seen["phase"] == "reveal" and self.seen["movie"]:
            label = "Next" if way == "PageDown" else "Back"
            self.teacher.get_by_role("button", name=re.compile(f"^(undo)?{label}$")).click()
        else:
            self.teacher.keyboard.press(way)
        until(self.teacher, lambda: self.room.seen["place"] != before)
        self._furthest = max(self._furthest, self.seen["item"] if self.seen["item"] is not None else -1)
        self.seen = self.room.seen

    def vote(self) -> None:
        """Let all phones answer: right, but in the first vote on TALKED, so that all other questions have one vote."""
        for i, each in enumerate(self.phones):
            right, form = self.seen["answer"], self.seen["question"]["form"]
            if form == "text":
                each.answers(f"an {WORDS[i]}")
            elif form in ("choice", "cell"):
                given = json.dumps(i % 2 if right is None else right).replace(" ", "")
                each.page.locator(f"[data-answer='{given}']").click()
                each.is_told("Your answer is stored")
            else:
                each.answers("4 4" if i and self.at == (TALKED, "vote", 1) else self.seen["solution"])
        sure = self.phones[0].page.get_by_role("button", name="Sure")
        if self.seen["answer"] is None:
            expect(sure).to_be_hidden()  # nobody can be right there
        else:
            sure.click()
            expect(sure).to_have_attribute("aria-pressed", "true")

    def check(self) -> None:
        """Check that every screen shows what is on, that no secret has come, and that all of it is accessible."""
        for name, page in self.screens.items():
            self._shows(page, "phone" if "phone" in name else name)
        expect(self.teacher.locator(".st-key-class-presenter")).to_contain_text(f"{NOTE} {self.seen['item']}.")
        self._take_pictures()
        for name, ear in self.ears.items():
            self._search(name, ear.heard())
        for name, look in self._looks().items():
            if look not in self._looked:
                self._looked.add(look)
                found = violations(self.screens[name], impacts=EVERY)
                assert found == [], f"{look}: {found}"

    def _looks(self) -> dict[str, tuple[object, ...]]:
        """Return what is of a kind of its own on three screens; phones are taken in turns, a light and a dark one."""
        kind, phase, question = self.seen["kind"], self.seen["phase"], self.seen["question"] or {}
        shown = (phase == "reveal" and bool(self.seen["movie"]), phase != "lobby" and question.get("form") == "text")
        form = question.get("form") if phase in ("vote", "reveal") else ""
        here = (kind, phase, self.seen["round"])
        return {
            "teacher": ("teacher", *here, *shown),
            "projector": ("projector", *here, *shown),
            f"phone {len(self._looked) % 2}": ("phone", *here, form),
        }

    def _shows(self, page: Page, which: str) -> None:
        """Check that a screen shows the item in its phase."""
        kind, phase, question = self.seen["kind"], self.seen["phase"], self.seen["question"]
        if (mark := MARKS.get(self.seen["item"])) is not None:
            place = page.locator(".slide, .st-key-class-slide, .st-key-class-prompt")
            expect(place.get_by_text(mark)).to_be_visible()
            if PICTURE in str(ITEMS[self.seen["item"]]):
                until(page, lambda: place.locator("img").evaluate_all(WIDTHS) == [160])
        if kind == "step" or (phase == "reveal" and self.seen["movie"]):
            movies = page.locator(".pv" if which == "phone" else MOVIE)
            stage = ITEMS[self.seen["item"]]["step"]["stage"] if kind == "step" else None
            shown = [[str(self.seen["step"]), stage]]  # the one before goes when the page has been drawn
            until(page, lambda: movies.evaluate_all(STEPS, stage is not None) == shown)
        if which == "phone":
            title = TITLES.get(phase if kind == "question" else kind, f"Question {(question or {}).get('number')}")
            if phase == "reveal" and kind == "question":
                expect(page.locator(".bars, .texts")).to_be_visible()
            else:
                expect(page.locator("h1").first).to_contain_text(title)
        elif kind == "question":
            if phase == "reveal":
                bars = page.locator(":is(.st-key-class-stage, .st-key-projector) :is(.class-bars, .class-texts)")
                expect(bars).to_be_visible()
                assert bars.locator(".bar").evaluate_all(OVERLAPS) == []
            else:
                expect(page.locator(".class-told")).to_contain_text(TOLD[phase])
                expect(page.locator(".class-told")).to_be_visible()
                if question.get("rows"):
                    expect(page.locator(".st-key-class-batch table")).to_be_visible()

    def _search(self, name: str, heard: list[str]) -> None:
        """Check that nothing of what a screen has received is secret, and remember what is no longer."""
        item, phase, _ = self.at
        is_open = phase != "reveal" and self.seen["kind"] == "question"
        hidden = [NOTE, self.room.host, *(each for i, each in enumerate(self.tokens) if name != f"phone {i}")]
        hidden += [text for later, text in MARKS.items() if later > max(item, self._furthest)]
        for asked, texts in ANSWERS.items():
            if asked > max(item, self._furthest) or (asked == item and is_open):
                hidden += texts if asked != LISTED else [word for i, word in enumerate(WORDS) if name != f"phone {i}"]
        hidden += [] if self.wondered else [WONDER]
        for text in heard:
            assert [each for each in hidden if each in text] == [], (name, self.at)
            self.found |= {each for texts in ANSWERS.values() for each in texts if each in text}
            if '"phase":"' in text and '"phase":"reveal"' not in text:
                assert [each for each in OF_AN_ANSWER if each in text] == [], (name, self.at)

    def _take_pictures(self) -> None:
        if (folder := os.environ.get("PACKVIZ_PICTURES")) is None:
            return
        for name, page in self.screens.items():
            page.wait_for_timeout(150)
            number = len(list(Path(folder).glob(f"*-{name}.png")))
            page.screenshot(path=Path(folder) / f"{number:02} {'-'.join(map(str, self.at))}-{name}.png")
