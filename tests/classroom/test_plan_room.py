"""A plan in a room: next and back through all kinds of items, and what nobody but the teacher may see of it."""

import asyncio
import base64
import csv
import gzip
import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from test_requests import LONGER, OWN, Phones, do

from bench.phones import Phone, Room
from classroom.rooms import Rooms
from classroom.slide import rendered
from classroom.specs import checked_item
from classroom.sqlite_store import SqliteStore
from classroom.state import RefusedError

PICTURE = base64.b64encode(b"\x89PNG" + bytes(3000)).decode()
SLIDE = f"# Packing\n\n`h_n` is $h_T$.\n\n```python\nlstm(x)\n```\n\n![a cat](data:image/png;base64,{PICTURE})"
STEP = {"stage": "pack", "number": 3, "sequences": "1 2 3\n4 5", "settings": {"cell": "gru"}}
POLL = {"prompt": "How was it?", "options": ["good", "bad"]}
NUMBER = {"prompt": "How many rows?", "kind": "number", "answer": 6, "note": "riddle note"}
TEXT = {"prompt": "In one word?", "kind": "text"}
ITEMS: list[dict[str, Any]] = [
    {"slide": SLIDE, "note": "riddle note"},
    {**OWN, "note": "riddle note"},
    {"step": STEP, "note": "riddle note"},
    {**LONGER, "note": "riddle note"},
    POLL,
    NUMBER,
    TEXT,
    {"slide": "The end"},
]

QUESTION: tuple[str, ...] = ("lobby 1", "vote 1", "closed 1", "talk 1", "vote 2", "closed 2", "reveal 2")


@asynccontextmanager
async def lecture(address: str, *items: object, phones: int = 2) -> AsyncIterator[tuple[Room, Phones]]:
    """Open a room with a plan, and yield it with phones that have joined it."""
    room = Room(address)
    told = (await room.line.ask("POST", "/api/rooms", {"items": list(items)})).data
    room.code, room.host = told["code"], told["host"]
    joined = [Phone(address, room.code) for _ in range(phones)]
    for phone in joined:
        await phone.join()
    try:
        yield room, joined
    finally:
        for phone in joined:
            phone.close()
        room.line.close()
        await asyncio.sleep(0.05)


async def look(phone: Phone) -> tuple[object, ...]:
    await phone.look()
    return tuple(phone.seen[name] for name in ("item", "kind", "phase", "round"))


async def test_next_leads_through_all_items_and_back_to_what_was_shown(address: str) -> None:
    async with lecture(address, *ITEMS) as (room, phones):
        one = phones[0]
        assert await look(one) == (None, None, "lobby", 1)
        way: list[tuple[object, ...]] = [(0, "slide", "lobby", 1)]
        for item in (1, 3):
            way += [(item, "question", phase[:-2], int(phase[-1])) for phase in QUESTION]
            way += [(2, "step", "reveal", 1)] if item == 1 else []
        for item in (4, 5, 6):  # nobody votes on these
            phases = QUESTION if item == 5 else ("lobby 1", "vote 1", "closed 1", "reveal 1")
            way += [(item, "question", phase[:-2], int(phase[-1])) for phase in phases]
        way += [(7, "slide", "lobby", 1)]
        for there in way:
            await do(room, "next")
            assert await look(one) == there
        assert (await room.act("next")).status == 409
        for item in (6, 5, 4, 3, 2, 1, 0):
            await do(room, "back")
            seen = await look(one)
            assert (seen[0], seen[2]) == (item, "lobby" if item == 0 else "reveal")
            assert ("bars" in one.seen) == (item not in (0, 2))
        assert (await room.act("back")).status == 409
        await do(room, "item", item=6)
        assert (await look(one))[:1] == (6,)
        await do(room, "back", "next", "next")
        assert await look(one) == way[-1]
        assert (await room.act("item", item=8)).status == 400


@pytest.mark.parametrize(
    ("right", "offered", "hint", "then"),
    [
        (5, ["reveal", "talk"], "show the answer", ("reveal", 1)),
        (4, ["reveal", "talk"], "show the answer", ("reveal", 1)),
        (3, ["talk", "reveal"], "Let them talk", ("talk", 1)),
        (1, ["reopen", "talk", "reveal"], "then ask for a second vote", ("vote", 2)),
    ],
)
async def test_next_does_what_the_teacher_is_advised_to_do(
    address: str, right: int, offered: list[str], hint: str, then: tuple[str, int]
) -> None:
    async with lecture(address, OWN, phones=5) as (room, phones):
        await do(room, "next", "next")
        for i, phone in enumerate(phones):
            await phone.vote(1, int(i < right))
        await do(room, "next")
        seen = await room.seen()
        assert seen["offered"] == offered
        assert hint in seen["hint"]["told"]
        await do(room, "next")
        assert (await look(phones[0]))[2:] == then
        if then[0] != "reveal":
            await do(room, "back")
            assert (await look(phones[0]))[2:] == ("closed", 1)


@pytest.mark.parametrize(("right", "hint"), [(0, "explain it"), (3, "explain it"), (4, "go on")])
async def test_after_the_second_vote_the_answer_is_advised(address: str, right: int, hint: str) -> None:
    async with lecture(address, OWN, phones=5) as (room, phones):
        await do(room, "next", "open", "close", "talk", "reopen")
        for i, phone in enumerate(phones):
            await phone.vote(2, int(i < right))
        await do(room, "close")
        seen = await room.seen()
        assert seen["offered"] == ["reveal"]
        assert seen["hint"]["told"].endswith(f"{hint}.")
        assert "show the" in seen["hint"]["told"]


async def test_a_slide_and_a_step_are_on_the_phones(address: str) -> None:
    async with lecture(address, *ITEMS) as (room, phones):
        one = phones[0]
        await do(room, "next")
        await one.look()
        assert one.seen["slide"].startswith("# Packing\n\n`h_n` is $h_T$.")
        assert PICTURE not in one.seen["slide"]
        for part in ("<h1>Packing</h1>", "<code>h_n</code>", "<math", 'class="language-python"', 'alt="a cat"'):
            assert part in one.seen["html"]
        path = f"api/rooms/{room.code}/picture?shown=1"
        assert path in one.seen["slide"]
        picture = await one.line.ask("GET", f"/{path}")
        assert (picture.headers["content-type"], picture.body) == ("image/png", base64.b64decode(PICTURE))
        await do(room, "item", item=2)
        await one.look()
        assert (one.seen["step"], one.seen["question"]) == (3, None)
        film = await one.line.ask("GET", f"/{one.seen['movie']['path']}&token={one.token}")
        movie = json.loads(gzip.decompress(film.body))
        assert len(movie["steps"]) == one.seen["movie"]["steps"] >= 3
        await do(room, "step", step=2)
        await one.look()
        assert one.seen["step"] == 2


async def test_a_question_of_the_moment_comes_after_the_item_on_the_screen(address: str) -> None:
    async with lecture(address, *ITEMS[:3]) as (room, phones):
        await do(room, "next")
        await room.act("ask", question=POLL)
        await do(room, "open", "close", "reveal", "next")
        assert (await look(phones[0]))[0] == 1
        await do(room, "back")
        await phones[0].look()
        assert phones[0].seen["question"]["prompt"] == "How was it?"
        await do(room, "back")
        assert (await look(phones[0]))[0] == 0
        await do(room, "next")
        assert (await look(phones[0]))[:2] == (None, "question")


async def test_a_slide_and_a_step_can_be_added_while_the_plan_runs(address: str) -> None:
    async with lecture(address, *ITEMS[:3]) as (room, phones):
        one = phones[0]
        await do(room, "next")
        await do(room, "item", item={"slide": SLIDE.replace("Packing", "Added"), "note": "riddle note"})
        assert await look(one) == (None, "slide", "lobby", 1)
        assert "<h1>Added</h1>" in one.seen["html"]
        picture = await one.line.ask("GET", f"/api/rooms/{room.code}/picture?shown={one.seen['shown']}")
        assert picture.body == base64.b64decode(PICTURE)
        await do(room, "item", item={"step": STEP})
        assert await look(one) == (None, "step", "reveal", 1)
        film = await one.line.ask("GET", f"/{one.seen['movie']['path']}&token={one.token}")
        assert (film.status, one.seen["step"]) == (200, 3)
        assert b"riddle" not in one.line.heard
        await do(room, "next")
        assert (await look(one))[:2] == (1, "question")
        way: list[tuple[object, object]] = [(None, "step"), (None, "slide"), (0, "slide")]
        for there in way:
            await do(room, "back")
            assert (await look(one))[:2] == there
        await do(room, "next", "next", "next")
        assert (await look(one))[:2] == (1, "question")
        for item, status in (({"slide": ""}, 400), ({"step": {"stage": "walk"}}, 400), (3, 400), ("one", 400)):
            assert (await room.act("item", item=item)).status == status
        await do(room, "open")
        assert (await room.act("item", item={"slide": "x"})).status == 409  # the vote is open


async def test_all_pictures_of_a_room_have_a_limit_on_every_way_into_it(tmp_path: Path) -> None:
    """Through the plan, and one after another through what is added: by the teacher's page, which sends no request."""
    rooms = Rooms(SqliteStore(tmp_path))
    large = f"![a](data:image/png;base64,{'A' * 360_000})"  # 270 kB
    with pytest.raises(RefusedError, match="have 810 kB, of at most 700 kB"):
        await rooms.create([{"slide": large}] * 3, plan=True)
    code, host = await rooms.create([{"slide": large}], plan=True)
    await rooms.act(code, host, "next", {})
    await rooms.act(code, host, "item", {"item": {"slide": large}})
    for action, given in (
        ("item", {"item": {"slide": large}}),
        ("ask", {"question": {"prompt": large, "kind": "text"}}),
    ):
        with pytest.raises(RefusedError, match="have 810 kB, of at most 700 kB"):
            await rooms.act(code, host, action, given)
    await rooms.act(code, host, "item", {"item": {"slide": "no picture"}})
    await rooms.store.close()


async def test_polls_numbers_and_texts_are_counted(address: str) -> None:
    async with lecture(address, POLL, NUMBER, TEXT, phones=3) as (room, phones):
        answers: list[list[object]] = [[0, 0, 1], [6, "6.0", 7], ["Fun", " fun ", "hard"]]
        found = []
        for given in answers:
            await do(room, "next", "next")
            for phone, answer in zip(phones, given, strict=True):
                assert (await phone.vote(1, answer)).status == 200
            await do(room, "close", "reveal")
            await phones[0].look()
            found.append([(bar["answer"], bar["before"], bar["right"]) for bar in phones[0].seen["bars"]])
            seen = phones[0].seen
            assert (seen["answer"], seen["right"]) == ((6, True) if given is answers[1] else (None, None))
        assert found == [
            [("good", 2, False), ("bad", 1, False)],
            [("6", 2, True), ("7", 1, False)],
            [("fun", 2, False), ("hard", 1, False)],
        ]
        told = await room.line.ask("GET", f"/api/rooms/{room.code}/answers.csv?host={room.host}")
        rows = list(csv.DictReader(told.body.decode().splitlines()))
        assert [row["right"] for row in rows] == ["", "", "", "yes", "yes", "no", "", "", ""]
        assert [row["number"] for row in rows] == ["1"] * 3 + ["2"] * 3 + ["3"] * 3


async def test_an_answer_that_is_refused_says_why_in_plain_words(address: str) -> None:
    number = "The answer must be a number, such as 6 or 0.5, not '6,0'."
    async with lecture(address, NUMBER, TEXT, phones=1) as (room, phones):
        for typed, told in (("6,0", number), (" ", "The answer is empty: type a text.")):
            await do(room, "next", "next")
            reply = await phones[0].vote(1, typed)
            assert (reply.status, reply.data["error"]) == (400, told)
            await do(room, "close", "reveal")


async def test_texts_are_collected_as_a_list_or_as_counted_words(address: str) -> None:
    texts = ["Fun and fast", "The fun", "the", *(f"word{i}" for i in range(8))]
    for shown, most in (("list", ("fun and fast", 1)), ("words", ("fun", 2))):
        async with lecture(address, {**TEXT, "shown": shown}, phones=len(texts)) as (room, phones):
            await do(room, "next", "next")
            for phone, text in zip(phones, texts, strict=True):
                await phone.vote(1, text)
            await phones[0].look()
            assert "bars" not in phones[0].seen
            await do(room, "next", "next")
            await phones[0].look()
            bars = phones[0].seen["bars"]
            assert len(bars) == len(texts)
            assert (bars[0]["answer"], bars[0]["before"]) == most
            counts = {bar["answer"]: bar["before"] for bar in bars}
            assert "and" not in counts
            assert counts["the"] == 1  # it is all of an answer, and no part of another one


async def test_the_options_of_a_poll_are_counted_whole(address: str) -> None:
    poll = {"prompt": "Which?", "options": ["pad them", "pack them"], "shown": "words"}
    async with lecture(address, poll, phones=3) as (room, phones):
        await do(room, "next", "next")
        for phone, option in zip(phones, (0, 1, 1), strict=True):
            await phone.vote(1, option)
        await do(room, "next", "next")
        await phones[0].look()
        assert [(bar["answer"], bar["before"]) for bar in phones[0].seen["bars"]] == [("pad them", 1), ("pack them", 2)]


async def test_a_prompt_is_markdown_with_a_picture(address: str) -> None:
    prompt = f"Which **one**?\n\n```python\nlstm(x)\n```\n\n![a cat](data:image/png;base64,{PICTURE})"
    async with lecture(address, {"slide": "first"}, {**OWN, "prompt": prompt}) as (room, phones):
        one = phones[0]
        path = f"api/rooms/{room.code}/picture?shown=2"
        await do(room, "next")
        assert (await one.line.ask("GET", f"/{path}")).status == 404
        await do(room, "next")
        await one.look()
        asked = one.seen["question"]
        for part in ("<strong>one</strong>", 'class="language-python"', f'src="{path}" alt="a cat"'):
            assert part in asked["html"]
        picture = await one.line.ask("GET", f"/{path}")
        assert (picture.headers["content-type"], picture.body) == ("image/png", base64.b64decode(PICTURE))
        assert PICTURE not in json.dumps(await room.seen())


async def test_no_picture_is_found_by_a_number_that_nothing_shown_has(address: str) -> None:
    prompt = f"Which?\n\n![a cat](data:image/png;base64,{PICTURE})"
    async with lecture(address, OWN, phones=1) as (room, phones):
        await do(room, "next", "open", "close", "reveal")
        asked = await phones[0].line.ask("GET", f"/api/rooms/{room.code}/picture?shown=1")
        assert asked.status == 404
        await do(room, "ask", question={**OWN, "prompt": prompt})
        for query, status in (("shown=2", 200), ("shown=0", 404), ("shown=3", 404), ("shown=x", 400)):
            asked = await phones[0].line.ask("GET", f"/api/rooms/{room.code}/picture?{query}")
            assert asked.status == status


async def test_confidence_is_counted_beside_the_answer(address: str) -> None:
    async with lecture(address, LONGER, phones=3) as (room, phones):
        await do(room, "next", "next")
        for phone, (answer, said) in zip(phones, [(1, "sure"), (1, "guessing"), (2, None)], strict=True):
            body = {"token": phone.token, "round": 1, "answer": answer, "confidence": said}
            assert (await phone.line.ask("POST", f"{phone.path}/vote", body)).status == 200
        body = {"token": phones[0].token, "round": 1, "answer": 1, "confidence": "perhaps"}
        assert (await phones[0].line.ask("POST", f"{phones[0].path}/vote", body)).status == 400
        bars = {bar["answer"]: bar for bar in (await room.seen())["bars"]}
        assert (bars["1"]["sure"], bars["1"]["guessing"]) == ([1], [1])
        assert "sure" not in bars["2"] or bars["2"]["sure"] == [0]
        told = await room.line.ask("GET", f"/api/rooms/{room.code}/answers.csv?host={room.host}")
        rows = list(csv.DictReader(told.body.decode().splitlines()))
        assert [row["confidence"] for row in rows] == ["sure", "guessing", ""]
        assert {(row["batch"][:9], row["settings"][:7], row["right answer"]) for row in rows} == {
            ("1 2 3 4 5", "nn.LSTM", "4 4 3 2 1 1 1")
        }
        assert rows[0]["time"].endswith("+00:00")


async def test_confidence_is_counted_for_each_word_of_an_answer(address: str) -> None:
    words = {"prompt": "Say?", "kind": "text", "shown": "words"}
    votes = [("fun and fast", "sure"), ("fun", "guessing"), ("fast fun", "sure"), ("slow", None)]
    async with lecture(address, words, phones=4) as (room, phones):
        await do(room, "next", "open")
        for phone, (answer, said) in zip(phones, votes, strict=True):
            body = {"token": phone.token, "round": 1, "answer": answer, "confidence": said}
            assert (await phone.line.ask("POST", f"{phone.path}/vote", body)).status == 200
        bars = (await room.seen())["bars"]
        counted = {bar["answer"]: (bar["before"], bar.get("sure"), bar.get("guessing")) for bar in bars}
        assert counted == {"fun": (3, [2], [1]), "fast": (2, [2], [0]), "slow": (1, None, None)}


async def test_students_tell_the_teacher_alone(address: str) -> None:
    async with lecture(address, OWN) as (room, phones):
        one, two = phones

        async def say(phone: Phone, what: str, value: object) -> int:
            name = "pace" if what == "pace" else "text"
            told = await phone.line.ask("POST", f"{phone.path}/{what}", {"token": phone.token, name: value})
            return told.status

        assert [await say(one, "pace", said) for said in ("lost", "fast", "dizzy", 3)] == [200, 200, 400, 400]
        assert await say(two, "pace", "lost") == 200
        assert (await room.seen())["paces"] == {"slow": 0, "fast": 1, "lost": 1}
        assert await say(one, "pace", None) == 200
        assert (await room.seen())["paces"] == {"slow": 0, "fast": 0, "lost": 1}
        assert await say(one, "wonder", "Why canary?") == 200
        assert [await say(one, "wonder", text) for text in ("", 3, "x" * 301)] == [400] * 3
        (wonder,) = (await room.seen())["wonders"]
        assert wonder["text"] == "Why canary?"
        await two.look()
        assert b"canary" not in two.line.heard
        assert two.seen["pace"] == "lost"
        await do(room, "show", wonder=wonder["id"])
        await two.look()
        assert two.seen["wonder"] == "Why canary?"
        await do(room, "show", wonder=None)
        await two.look()
        assert two.seen["wonder"] is None
        await do(room, "channels", pace=False, wonder=False)
        assert [await say(one, "pace", "lost"), await say(one, "wonder", "Why?")] == [409, 409]
        await one.look()
        assert one.seen["channels"] == ["confidence"]


async def test_nothing_private_of_a_plan_reaches_a_phone(address: str) -> None:
    """Every byte: notes, what comes next, answers before the reveal, other students' words."""
    async with lecture(address, *ITEMS) as (room, phones):
        spy = phones[0]
        following = asyncio.create_task(spy.follow())
        await spy.line.ask("POST", f"{spy.path}/wonder", {"token": phones[1].token, "text": "riddle wonder"})
        hidden = [b"riddle", b"The end", b"How was it", b"In one word", b"canary", b"lstm(x)", b'"upcoming"', b'"note"']
        shown = {
            (0, "lobby"): b"lstm(x)",
            (1, "reveal"): b"canary",
            (4, "lobby"): b"How was it",
            (6, "lobby"): b"In one word",
        }
        seen = await room.seen()
        while seen["item"] != 7:
            got = bytes(spy.line.heard + spy.channel.heard)
            assert [word for word in hidden if word in got] == []
            if seen["phase"] != "reveal":
                words = (b'"answer"', b'"solution"', b'"bars"', b'"reasons"', b'"right"', b'"hint"', b'"movie"')
                assert [word for word in words if word in got] == []
            await room.act("next")
            await asyncio.sleep(0.1)
            spy.line.heard.clear()
            spy.channel.heard.clear()
            seen = await room.seen()
            hidden = [word for word in hidden if word != shown.get((seen["item"], seen["phase"]))]
            later = [
                f"/{what}?shown={n}" for n in range(seen["shown"] + 1, len(ITEMS) + 1) for what in ("movie", "picture")
            ]
            for path in ("", *later, "/answers.csv"):
                mark = "&" if "?" in path else "?"
                await spy.line.ask("GET", f"{spy.path}{path}{mark}token={spy.token}&host={spy.token}")
        following.cancel()
        seen = await room.seen()
        assert [item.get("note") for item in seen["items"]].count("riddle note") == 5


@pytest.mark.parametrize(
    ("items", "status"),
    [
        (3, 400),
        ([{"slide": ""}], 400),
        ([{"slide": "x" * 8001}], 400),
        ([{"slide": 3}], 400),
        ([{"slide": "x", "colour": 1}], 400),
        ([{"step": {"stage": "walk"}}], 400),
        ([{"step": {"number": 0}}], 400),
        ([{"step": {"settings": {"total_length": 60_000_000}}}], 400),
        ([{"step": {"sequences": "1 " * 65}}], 400),
        ([{"kind": "alive", "note": "x" * 2001}], 400),
        ([{"prompt": "?", "kind": "number", "options": ["a", "b"]}], 400),
        ([{"prompt": "?", "kind": "number", "answer": "six"}], 400),
        ([{"prompt": "?", "kind": "tree"}], 400),
        ([{"prompt": "?", "kind": "text", "shown": "loudly"}], 400),
        ([{"prompt": "x" * 2001, "kind": "text"}], 400),
        ([{"prompt": f"![a](data:image/png;base64,{'A' * 400_004})", "kind": "text"}], 400),
        ([{"slide": f"![a](data:image/png;base64,{'A' * 400_004})"}], 400),
        ([{"slide": f"![a](data:image/png;base64,{PICTURE}) ![b](data:image/png;base64,{PICTURE})"}], 400),
        (["x" * 200_000], 413),
        ([{"slide": "x" * 7000}] * 20, 413),
        ([{"slide": f"![a](data:image/png;base64,{'A' * 300_000})"}] * 4, 413),
        ([{"slide": f"![a](data:image/png;base64,{'A' * 1_600_000})"}], 413),
        ([{"slide": f"![a](data:image/png;base64,{'A' * 300_000})"}] * 3, 200),
        ([[[]] * 900], 400),
        ([{"slide": f"![a](data:image/png;base64,{'A' * 399_996})"}, {"slide": "plain"}], 200),
    ],
)
async def test_an_invalid_plan_is_refused(address: str, items: object, status: int) -> None:
    room = Room(address)
    answer = await room.line.ask("POST", "/api/rooms", {"items": items})
    assert answer.status == status, answer.data
    assert (status == 200) != ("error" in answer.data)
    room.line.close()


@pytest.mark.parametrize(
    "item",
    [
        {"slide": "|a" * 50 + "|\n" + "|-" * 50 + "|\n" + "|\n" * 3800},
        {"slide": "|a" * 50 + "|\r" + "|-" * 50 + "|\r" + "|\r" * 3800},
        {"slide": "$x$ " * 2000},
        {"prompt": "|a" * 50 + "|\n" + "|-" * 50 + "|\n" + "|\n" * 800, "kind": "text"},
    ],
)
def test_a_text_whose_html_is_too_large_is_refused(item: dict[str, str]) -> None:
    with pytest.raises(RefusedError, match=r"too many cells|2\d\d kB of HTML, of at most 100 kB") as refused:
        checked_item(item)
    assert refused.value.status == 400


@pytest.mark.parametrize("command", ["style{position:fixed;inset:0}", "class{cover}", "id{packviz}"])
def test_math_has_no_style_class_or_id(command: str) -> None:
    html = rendered(f"$\\{command}{{x}}$", "own.png")
    assert "<mi>x</mi>" in html
    assert not re.search(r"<m\w+[^>]* (style|class|id)=", html)


def test_math_has_no_label_that_is_a_link() -> None:
    assert "<a" not in rendered("$$a$$ (x)", "own.png")


@pytest.mark.parametrize(
    "slide",
    [
        "![a](http://192.0.2.1/x.png)",
        "<img src=http://192.0.2.1/x.png onerror=alert(1)>",
        "[a](javascript:alert(1))",
        "$\\href{javascript:alert(1)}{x}$",
        "$\\text{<script>alert(1)</script>}$",
        "$\\frac{$",
        '![a](x.png "onerror=alert(1)")',
    ],
)
def test_a_slide_runs_nothing_and_loads_no_picture_from_elsewhere(slide: str) -> None:
    html = rendered(slide, "own.png")
    for part in ("<img", "<script", 'href="javascript'):
        assert part not in html
