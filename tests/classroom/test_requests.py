"""The requests of phones, the teacher and other programs: what is answered and refused in each phase."""

import asyncio
import csv
import gzip
import json
import random
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest
from seeds import many

from bench.phones import Connection, Phone, Room
from classroom import events, questions
from classroom.room import MAX_CHANNELS
from classroom.state import Event, RefusedError, State

OWN = {
    "prompt": "Which?",
    "options": ["this", "that"],
    "answer": 1,
    "reasons": ["canary reason", ""],
    "why": "canary why",
}
SIZES = {"kind": "batch_sizes", "sequences": "1 2\n3", "settings": {"cell": "gru"}}
LONGER = {"kind": "batch_sizes", "sequences": "1 2 3 4 5 6 7\n8 9 10\n11 12 13 14\n1 2", "settings": {"cell": "lstm"}}
Phones = list[Phone]


@asynccontextmanager
async def lesson(address: str, *questions: object, phones: int = 3) -> AsyncIterator[tuple[Room, Phones]]:
    """Open a room over HTTP, and yield it with phones that have joined it."""
    room = Room(address)
    await room.open(*questions)
    joined = [Phone(address, room.code) for _ in range(phones)]
    try:
        for phone in joined:
            await phone.join()
        yield room, joined
    finally:
        for phone in joined:
            phone.close()
        room.close()
        await asyncio.sleep(0.05)  # until the connections are gone


async def do(room: Room, *actions: str, **details: object) -> None:
    for action in actions:
        assert (await room.act(action, **details)).status == 200, action


async def place(phone: Phone) -> str:
    await phone.look()
    return f"{phone.seen['phase']} {phone.seen['round']}"


async def test_a_code_can_be_spoken_and_a_known_token_is_the_same_phone(address: str) -> None:
    async with lesson(address) as (room, phones):
        assert (len(room.code), len(room.host) >= 20) == (6, True)
        assert not set(room.code) & set("01258BILOSUVZAE")
        phone = phones[0]
        before = phone.token, phone.name
        await phone.join()
        assert (phone.token, phone.name) == before
        path = f"/api/rooms/{room.code.lower()}/join"
        told = await room.line.ask("POST", path, {"token": phone.token, "name": " Ada  L. ", "following": False})
        assert told.data == {"token": phone.token, "name": "Ada L."}
        await phone.look()
        assert (phone.seen["name"], phone.seen["following"], phone.seen["joined"]) == ("Ada L.", False, 3)
        taken = await room.line.ask("POST", path, {"token": phones[1].token, "name": "Ada L."})
        assert taken.status == 409
        unknown = await room.line.ask("POST", path, {"token": "nobody's"})
        assert unknown.data["token"] not in {"nobody's", *(each.token for each in phones)}


@pytest.mark.parametrize(
    ("spec", "right", "wrong"),
    [
        (OWN, [1, "that"], [0, "this"]),
        (SIZES, [[2, 1], "2, 1", "tensor([2, 1])"], [[1, 2], "1 1"]),
        ({"kind": "pad_count", "sequences": "1 2\n3"}, [1, "1", [1]], [3, "4"]),
        ({"kind": "alive", "sequences": "1 2\n3", "number": 0}, [], []),
        ({"kind": "packed_row", "sequences": "1 2\n3 4 5", "tap": True}, [], [[0, 0]]),
        ({"level": 2, "round": 77, "question": 4}, [], []),
    ],
    ids=["own", "numbers", "number", "letters", "cell", "quiz"],
)
async def test_an_answer_may_be_written_as_its_question_allows(
    address: str, spec: object, right: list[object], wrong: list[object]
) -> None:
    async with lesson(address, spec, phones=1) as (room, phones):
        await room.act("open")
        known = (await room.seen())["answer"]
        for good, answers in ((True, [known, *right]), (False, wrong)):
            for answer in answers:
                assert (await phones[0].vote(1, answer)).status == 200, answer
                seen = await room.seen()
                counted = [bar for bar in seen["bars"] if bar["before"]]
                assert [bar["right"] for bar in counted] == [good], answer


@pytest.mark.parametrize("sent", ["tensor([2, 1])", "2,1", [2, 1], " batch_sizes = 2  1 "])
async def test_a_phone_gets_its_answer_as_the_server_read_it(address: str, sent: object) -> None:
    async with lesson(address, SIZES, phones=2) as (room, phones):
        await do(room, "open")
        assert (await phones[0].vote(1, sent)).status == 200
        for phone, mine, read in zip(phones, (sent, None), ("2 1", None), strict=True):
            await phone.look()
            assert (phone.seen["mine"], phone.seen["read"]) == (mine, read)


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("", {"questions": 3}, 400),
        ("", {"questions": [{}]}, 400),
        ("", {"questions": [{"prompt": "?", "options": ["a"], "answer": 0}]}, 400),
        ("", {"questions": [{"prompt": "?", "options": ["a", "b"], "answer": 2}]}, 400),
        ("", {"questions": [{"prompt": "?", "options": ["a", "a"], "answer": 0}]}, 400),
        ("", {"questions": [{"prompt": "?", "options": list("abcdefg"), "answer": 0}]}, 400),
        ("", {"questions": [{"kind": "nonsense"}]}, 400),
        ("", {"questions": [{"kind": "pad_count", "sequences": "1\n\n[", "settings": {"cell": "transformer"}}]}, 400),
        ("", {"questions": [{"kind": "pad_count", "settings": {"hidden_size": 10**9}}]}, 400),
        ("", {"questions": [{"kind": "joins_backward", "settings": {}}]}, 400),
        ("", {"questions": [{"kind": "pad_count", "mine": 1}]}, 400),
        ("", {"questions": [{"level": 9, "round": 1}]}, 400),
        ("", {"questions": ["x" * 17_000]}, 413),
        ("", [], 400),
        ("/CODE/join", {"token": 3}, 400),
        ("/CODE/join", {"name": ""}, 400),
        ("/QQQQQQ/join", {}, 404),
        ("/CODE/vote", {"token": "TOKEN", "round": 1}, 400),
        ("/CODE/vote", {"token": "TOKEN", "round": "1", "answer": 1}, 400),
        ("/CODE/vote", {"token": "TOKEN", "round": 2, "answer": 1}, 409),
        ("/CODE/vote", {"token": "TOKEN", "round": 1, "answer": 1, "question": 2}, 409),
        ("/CODE/vote", {"token": "TOKEN", "round": 1, "answer": 7}, 400),
        ("/CODE/vote", {"token": "TOKEN", "round": 1, "answer": None}, 400),
        ("/CODE/vote", {"token": "TOKEN", "round": 1, "answer": True}, 400),
        ("/CODE/vote", {"token": "wrong", "round": 1, "answer": 1}, 403),
        ("/CODE/host", {"host": "wrong", "action": "close"}, 403),
        ("/CODE/host", {"action": "reveal"}, 403),
        ("/CODE/host", {"host": "TOKEN", "action": "reveal"}, 403),
        ("/CODE/host", {"host": "HOST", "action": "dance"}, 400),
        ("/CODE/host", {"host": "HOST", "action": "reopen"}, 409),
        ("/CODE/host", {"host": "HOST", "action": "step", "step": 1}, 409),
        ("/CODE/host", {"host": "HOST", "action": "ask", "question": 0}, 409),
        ("/CODE", {}, 405),
        ("/CODE/nothing", {}, 404),
    ],
)
async def test_an_invalid_request_is_refused(address: str, path: str, body: object, status: int) -> None:
    async with lesson(address, OWN, phones=1) as (room, phones):
        await room.act("open")
        text = json.dumps(body).replace('"TOKEN"', f'"{phones[0].token}"').replace('"HOST"', f'"{room.host}"')
        answer = await room.line.ask("POST", f"/api/rooms{path.replace('CODE', room.code)}", raw=text.encode())
        assert (answer.status, list(answer.data)) == (status, ["error"])
        assert answer.data["error"].endswith(".")
        assert (await room.seen())["voted"] == 0


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Content_Type": "text/plain"}, 415),
        ({"Content_Type": "application/x-www-form-urlencoded"}, 415),
        ({"Content_Type": "", "Origin": "OWN"}, 415),
        ({"Origin": "http://elsewhere.example"}, 403),
        ({"Origin": "http://127.0.0.1:1"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://["}, 403),
        ({"Sec_Fetch_Site": "cross-site"}, 403),
        ({"Sec_Fetch_Site": "same-site", "Origin": "OWN"}, 403),
        ({"Origin": "OWN"}, 200),
        ({"Sec_Fetch_Site": "same-origin", "Origin": "OWN", "Content_Type": "application/json; charset=utf-8"}, 200),
    ],
)
async def test_only_json_from_a_page_of_this_server_is_accepted(
    address: str, headers: dict[str, str], status: int
) -> None:
    async with lesson(address, OWN, phones=1) as (room, phones):
        named = {name: address if value == "OWN" else value for name, value in headers.items()}
        own = f"/api/rooms/{room.code}"
        for path, body in (
            ("/api/rooms", {}),
            (f"{own}/join", {}),
            (f"{own}/host", {"host": room.host, "action": "next"}),
            (f"{own}/host", {"host": room.host, "action": "open"}),
            (f"{own}/vote", {"token": phones[0].token, "round": 1, "answer": 1}),
        ):
            answer = await room.line.ask("POST", path, body, raw=None, **named)
            assert (answer.status, "error" in answer.data) == (status, status != 200)


SENT: dict[str, Callable[[State, str, int], Sequence[Event]]] = {  # by what a phone sends, a little different each time
    "name": lambda state, token, i: events.join(state, token, f"name {i}")[0],
    "following": lambda state, token, i: events.join(state, token, following=bool(i % 2))[0],
    "pace": lambda state, token, i: events.pace(state, token, ("slow", None)[i % 2]),
    "wonder": lambda state, token, i: events.wonder(state, token, f"Why {i}?"),
    "vote": lambda state, token, i: events.vote(state, token, 1, 1, i % 2, questions.question(OWN), None),
}


def room_with_a_phone() -> tuple[State, str]:
    """Return a room in which a vote is open, and the token of the phone that has joined it."""
    state = State("CODE")
    state.apply(events.opened([OWN], plan=False)[0])
    joined, token = events.join(state, None)
    for event in (*joined, *events.act(state, "open", question=OWN, index=0)):
        state.apply(event)
    return state, token


@pytest.mark.parametrize("sent", SENT)
def test_one_phone_cannot_fill_a_room(sent: str) -> None:
    (state, token), refused = room_with_a_phone(), set[int]()
    for i in range(1000):
        try:
            for event in SENT[sent](state, token, i):
                state.apply(event)
        except RefusedError as refusal:
            refused.add(refusal.status)
    assert refused == {429}
    assert state.revision <= 600


@pytest.mark.parametrize("sent", sorted({*SENT} - {"wonder"}))
def test_what_changes_nothing_adds_nothing_even_to_a_full_room(sent: str, monkeypatch: pytest.MonkeyPatch) -> None:
    state, token = room_with_a_phone()
    for event in SENT[sent](state, token, 0):
        state.apply(event)
    monkeypatch.setattr(events, "MAX_EVENTS", state.revision)
    assert SENT[sent](state, token, 0) == []
    with pytest.raises(RefusedError, match="This room is full"):
        SENT[sent](state, token, 1)


async def test_the_health_check_writes_to_the_store(address: str) -> None:
    line = Connection(address)
    assert (await line.ask("GET", "/api/health")).data == {"writes": True}
    line.close()


async def test_a_second_vote_that_was_taken_back_does_not_count(address: str) -> None:
    async with lesson(address, OWN) as (room, phones):
        await do(room, "open")
        for phone in phones:
            await phone.vote(1, 1)
        await do(room, "close", "talk", "reopen")
        for phone in phones:
            await phone.vote(2, 0)
        await do(room, "back", "back", "reveal")
        await phones[0].look()
        seen = phones[0].seen
        assert (seen["round"], seen["rounds"]) == (1, 1)
        assert [(bar["before"], bar["after"]) for bar in seen["bars"]] == [(0, 0), (3, 0)]
        told = await room.line.ask("GET", f"/api/rooms/{room.code}/answers.csv?host={room.host}")
        assert {row["round"] for row in csv.DictReader(told.body.decode().splitlines())} == {"1"}


async def test_the_same_action_from_two_windows_of_the_teacher_counts_once(address: str) -> None:
    async with lesson(address, OWN, SIZES) as (room, _):
        other = Room(room.address)
        other.code, other.host = room.code, room.host
        for action in ("next", "open", "close", "talk", "reopen", "close", "reveal", "next"):
            seen = await room.seen()  # what both windows show when their buttons are pressed
            answers = await asyncio.gather(*(each.act(action, at=seen["place"]) for each in (room, other)))
            assert {(answer.status, answer.data["revision"]) for answer in answers} == {(200, seen["revision"] + 1)}
        seen = await room.seen()
        assert (seen["phase"], seen["index"], len(seen["asked"])) == ("lobby", 1, 2)
        other.line.close()


async def test_the_push_channel_tells_at_once_what_a_phone_has_missed(address: str) -> None:
    async with lesson(address, OWN) as (room, phones):
        phone = phones[0]
        await phone.look()
        since = phone.seen["revision"]
        path = f"{phone.path}/events?token={phone.token}"
        await room.act("open")  # asked and opened, while the phone slept
        told = phone.channel.listen(f"{path}&since={since}")
        assert await asyncio.wait_for(anext(told), 1) == since + 2
        waiting = asyncio.ensure_future(anext(told))
        await asyncio.sleep(0.1)
        assert not waiting.done()
        await room.act("close")
        assert await asyncio.wait_for(waiting, 1) == since + 3
        await told.aclose()
        for number in range(3):  # again and again
            again = phone.channel.listen(f"{path}&since={number}")
            assert await asyncio.wait_for(anext(again), 1) == since + 3
            await again.aclose()


async def test_one_channel_too_many_ends_the_phones_oldest(address: str) -> None:
    async with lesson(address, OWN) as (room, phones):
        await phones[0].look()
        lines = [Connection(room.address) for _ in range(MAX_CHANNELS + 2)]
        told = [line.listen(f"{phones[0].path}/events?token={phones[0].token}&since=0") for line in lines]
        for each in told:
            assert await asyncio.wait_for(anext(each), 2) == phones[0].seen["revision"]
        for ended in told[:2]:
            assert await asyncio.wait_for(anext(ended, None), 2) is None
        other = phones[1].channel.listen(f"{phones[1].path}/events?token={phones[1].token}&since=0")
        assert await asyncio.wait_for(anext(other), 2) == phones[0].seen["revision"]  # of another phone
        await room.act("next")
        for each in (*told[2:], other):
            assert await asyncio.wait_for(anext(each), 2) == phones[0].seen["revision"] + 1
            await each.aclose()


async def test_phones_follow_the_steps_of_the_movie(
    address: str,
) -> None:
    async with lesson(address, LONGER) as (room, phones):
        phone = phones[0]
        await do(room, "open", "close", "reveal")
        await phone.look()
        film = await phone.line.ask("GET", f"/{phone.seen['movie']['path']}&token={phone.token}")
        movie = json.loads(gzip.decompress(film.body))
        assert len(movie["steps"]) == phone.seen["movie"]["steps"]
        stages = [step["stage"] for step in movie["steps"][: phone.seen["step"]] if "stage" in step]
        assert stages[-1] == "pack"
        following = asyncio.create_task(phone.follow())
        await asyncio.sleep(0.2)
        await room.act("step", step=2)
        async with asyncio.timeout(2):
            while phone.seen["step"] != 2:
                await asyncio.sleep(0.01)
        following.cancel()
        await room.act("step", step=10_000)
        assert (await room.seen())["step"] == len(movie["steps"])
        assert [(await room.act("step", step=step)).status for step in (0, "3", None, True)] == [400] * 4
        before = await room.seen()
        await do(room, "twin")
        after = await room.seen()
        assert after["question"]["kind"] == before["question"]["kind"]
        assert after["question"]["settings"] == before["question"]["settings"]
        assert after["answer"] != before["answer"]
        assert (after["phase"], after["voted"], after["index"]) == ("lobby", 0, None)


async def test_answers_can_be_downloaded_and_the_room_deleted(address: str) -> None:
    async with lesson(address, OWN) as (room, phones):
        await phones[0].line.ask("POST", f"{phones[0].path}/join", {"token": phones[0].token, "name": "=1+1"})
        await room.act("open")
        await phones[0].vote(1, 0)
        await phones[1].vote(1, 1)
        path = f"/api/rooms/{room.code}/answers.csv"
        assert (await room.line.ask("GET", f"{path}?host=wrong")).status == 403
        told = await room.line.ask("GET", f"{path}?host={room.host}")
        rows = list(csv.DictReader(told.body.decode().splitlines()))
        head = ["name", "question", "round", "answer", "right", "seconds"]
        assert list(rows[0]) == [*head, "number", "batch", "settings", "right answer", "time", "confidence"]
        assert [(row["number"], row["right answer"], row["confidence"]) for row in rows] == [("1", "that", "")] * 2
        assert [list(row.values())[:5] for row in rows] == [
            ["'=1+1", "Which?", "1", "this", "no"],  # a spreadsheet must not compute it
            [phones[1].name, "Which?", "1", "that", "yes"],
        ]
        assert all(0 <= float(row["seconds"]) < 60 for row in rows)
        await do(room, "delete")
        for phone in phones:
            assert (await phone.line.ask("GET", f"{phone.path}?token={phone.token}")).status == 404
        assert (await room.act("open")).status == 404


async def test_nothing_sent_to_a_phone_before_the_reveal_gives_the_answer_away(address: str) -> None:
    """Every byte: snapshots, push channel, page, errors. After the reveal they do contain these words."""
    async with lesson(address) as (room, phones):
        words = (b'"answer"', b'"solution"', b'"bars"', b'"reasons"', b'"hint"', b'"movie"', b'"right"', b"canary")
        sizes = b"`batch_sizes[t]` is the number"  # how the reason of the prediction begins
        spy = phones[0]
        following = asyncio.create_task(spy.follow())
        for question in (OWN, LONGER):
            before = len((await room.seen())["asked"])
            for action in ("ask", "open", "close", "talk", "reopen", "close"):
                assert (await room.act(action, question=question)).status == 200
                number = 2 if action == "reopen" else 1
                for phone in phones:
                    await phone.vote(number, 0)
                for path in ("", "/movie", f"/movie?shown={before + 1}", "/answers.csv", "/events", "/host"):
                    mark = "&" if "?" in path else "?"
                    if path != "/events":
                        await spy.line.ask("GET", f"{spy.path}{path}{mark}token={spy.token}&host={spy.token}")
                pages = [(await room.line.ask("GET", f"/join/{code}")).body for code in (room.code, "QQQQQQ")]
                assert pages[0] == pages[1]  # the page says nothing of any room
                await spy.line.ask("POST", f"{spy.path}/host", {"host": spy.token, "action": "reveal"})
                await asyncio.sleep(0.1)
            got = spy.line.heard + spy.channel.heard
            assert len(got) > 2000
            assert [word for word in (*words, sizes) if word in got] == []
            await room.act("reveal")
            await spy.look()
            expected = sizes if question is LONGER else b"canary"
            assert expected in spy.line.heard
            await asyncio.sleep(0.1)
            spy.line.heard.clear()
            spy.channel.heard.clear()
        following.cancel()


async def test_hostile_requests_cause_no_server_error_and_learn_nothing(address: str) -> None:
    """Random paths, methods, bodies and tokens that nobody should send, many at a time."""
    async with lesson(address, OWN) as (room, phones):
        answers: Counter[int] = Counter()

        async def attack(draw: random.Random, code: str, token: str, times: int) -> bytearray:
            line = Connection(room.address)
            for _ in range(times):
                method, path, raw = _hostile(draw, code, token)
                try:
                    answers[(await line.ask(method, path, raw=raw)).status] += 1
                except ConnectionError:
                    answers[0] += 1  # the server has hung up, as it may if it is not HTTP
            line.close()
            return line.heard

        await room.act("open")
        times = many(10_000) // 20
        draws = [random.Random(f"hostile {number}") for number in range(20)]
        tokens = [phone.token for phone in phones]
        heard = await asyncio.gather(*(attack(draw, room.code, draw.choice(tokens), times) for draw in draws))
        assert sum(answers.values()) == 20 * times
        assert [status for status in answers if status >= 500] == []
        assert answers[200] > times / 10
        assert answers[400] > times
        words = (b"canary", b'"solution":', b'"bars":', b"Traceback")
        assert [word for word in words if word in b"".join(heard)] == []
        seen = await room.seen()  # and the class goes on
        assert (seen["phase"], seen["round"]) == ("vote", 1)
        assert (await phones[0].vote(1, 1)).status in (200, 429)


def _hostile(draw: random.Random, code: str, token: str) -> tuple[str, str, bytes]:
    """Return a request that no page sends."""
    odd: list[Any] = [
        None, True, False, 0, -1, 2, 10**30, 1.5, 1e308, "", "1", "this", "x" * 3000, "\ud800", "\x00", "é" * 50, [],
        {}, [[]], {"a": 1}, [0, 0], [1, "x"], ["1", True], [None] * 100, token, code, "reveal", "ask", "delete",
        {"kind": "alive"}, {"kind": "batch_sizes", "sequences": "1 " * 400}, {"level": 1, "round": -5},
        {"prompt": "?", "options": ["a", "b"], "answer": 0}, {"kind": "alive", "settings": {"padding_value": 1e400}},
    ]  # fmt: skip
    names = ("token", "round", "answer", "host", "action", "question", "questions", "name", "following", "step")
    body = {name: draw.choice(odd) for name in draw.sample(names, draw.randint(0, 5))}
    if draw.random() < 0.5:
        body |= {"token": token, "round": 1}
    raw = json.dumps(body).encode()
    broken = [
        b"",
        b"[" * 9000,
        b'{"answer": NaN}',
        b"\xff\xfe",
        raw[:-1],
        b'{"answer": 1%b}' % (b"0" * 5000),
        b"x" * 17_000,
    ]
    raw = draw.choice([raw] * 8 + broken)
    place = draw.choice([code] * 6 + [code.lower(), "AAAAAA", "..", "%2e%2e", "%00", "x" * 500, "é".encode().hex()])
    tails = ["", "/join", "/vote", "/vote", "/host", "/movie", "/answers.csv", "/nothing", "/join/x", f"?token={token}"]
    tail = draw.choice(tails)
    query = draw.choice(["", "?token=%ff", "?since=-1", f"?token={token}&shown=1", "?token[]=1", "?" + "a" * 2000])
    path = f"/api/rooms/{place}{tail}{query if '?' not in tail else ''}"
    path = draw.choice([path] * 12 + ["/api/rooms", "/api/rooms/", "/api//rooms", f"/join/{place}", "/api/"])
    return draw.choice(["POST"] * 6 + ["GET"] * 5 + ["PUT", "DELETE", "PATCH", "OPTIONS", "HEAD"]), path, raw


async def test_the_teacher_can_go_back_as_long_as_nothing_has_been_shown(address: str) -> None:
    async with lesson(address, OWN) as (room, phones):
        assert (await room.act("back")).status == 409
        way = ["lobby 1", "vote 1", "closed 1", "talk 1", "vote 2", "closed 2"]
        for action, there in zip(("next", "open", "close", "talk", "reopen", "close"), way, strict=True):
            await do(room, action)
            assert await place(phones[0]) == there
            vote = await phones[0].vote(int(there[-1]), 1)
            assert vote.status == (200 if "vote" in there else 409)
        for there in reversed(way[:-1]):
            await do(room, "back")
            assert await place(phones[0]) == there
            assert phones[0].seen["mine"] == 1  # no vote is lost
        assert (await room.act("back")).status == 409
        await do(room, "open", "close", "back")
        await phones[0].vote(1, 0)  # the vote is open again
        await do(room, "close", "reveal")
        assert (await room.act("back")).status == 409
        assert b"This question has no movie." in (await room.act("step", step=2)).body
        await phones[0].look()
        assert [row["before"] for row in phones[0].seen["bars"]] == [1, 0]


async def test_the_movie_of_an_answer_that_was_never_shown_stays_secret(address: str) -> None:
    async with lesson(address, SIZES, SIZES) as (room, phones):
        await do(room, "next", "open", "close", "next", "open", "close", "reveal")
        tokens = ((phones[0].token, 1), (phones[0].token, 2), (room.host, 1))
        asked = [f"{phones[0].path}/movie?shown={number}&token={token}" for token, number in tokens]
        assert [(await room.line.ask("GET", path)).status for path in asked] == [409, 200, 200]


async def test_one_vote_counts_for_each_phone_and_round_and_it_is_the_last(address: str) -> None:
    async with lesson(address, OWN) as (room, phones):
        one, two, _ = phones
        await do(room, "ask", "open", question=0)
        for answer in (0, 1, 1, 0):
            await one.vote(1, answer)
        last = await two.vote(1, 1)
        await one.look()
        assert one.seen["revision"] == last.data["revision"]
        names = ("phase", "round", "mine", "voted", "joined", "following")
        assert [one.seen[name] for name in names] == ["vote", 1, 0, 2, 3, True]
        assert one.seen["question"]["prompt"] == "Which?"
        assert (await room.seen())["answer"] == 1
        await do(room, "talk")  # which closes the vote
        assert (await one.vote(1, 1)).status == 409
        await do(room, "reopen")
        assert await place(one) == "vote 2"
        assert one.seen["mine"] is None
        assert (await one.vote(1, 1)).status == 409  # the first round is over
        await one.vote(2, 1)
        await do(room, "reveal")  # which closes it, too
        assert (await one.vote(2, 0)).status == 409
        await one.look()
        assert [(row["before"], row["after"]) for row in one.seen["bars"]] == [(1, 0), (1, 1)]
