"""The phases of a room: what may follow what, what counts, and what a phone sees of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from classroom.refusal import RefusedError
from classroom.rooms import Rooms
from classroom.store import SqliteStore

OWN = {"prompt": "Which?", "options": ["this", "that"], "answer": 1}
SIZES = {"kind": "batch_sizes", "sequences": "1 2\n3", "settings": {"cell": "gru"}}
SECRET = ("answer", "solution", "why", "reasons", "bars", "movie", "right", "reason", "hint")


class Class:
    """A room with a teacher and some phones, driven as the routes drive it."""

    def __init__(self, rooms: Rooms, code: str, host: str, tokens: list[str]) -> None:
        self.rooms, self.code, self.host, self.tokens = rooms, code, host, tokens

    async def act(self, *actions: str, **details: Any) -> None:
        for action in actions:
            await self.rooms.act(self.code, self.host, action, details)

    async def vote(self, phone: int, answer: object, number: int = 1) -> int:
        return await self.rooms.vote(self.code, self.tokens[phone], number, answer)

    async def seen(self, phone: int | None = None) -> dict[str, Any]:
        return await self.rooms.snapshot(self.code, self.host if phone is None else self.tokens[phone])

    async def refused(self, work: Coroutine[Any, Any, Any]) -> int:
        with pytest.raises(RefusedError) as refusal:
            await work
        assert refusal.value.sentence.endswith(".")
        return refusal.value.status


def taught(lesson: Callable[[Class], Coroutine[Any, Any, None]], folder: Path, *specs: object, phones: int = 3) -> None:
    """Open a room with questions and phones, and give a lesson in it."""

    async def whole() -> None:
        rooms = Rooms(SqliteStore(folder))
        async with rooms.serving():
            code, host = await rooms.create(list(specs))
            tokens = [(await rooms.join(code, None, None, None))[0] for _ in range(phones)]
            await lesson(Class(rooms, code, host, tokens))

    asyncio.run(whole())


def test_a_lesson_goes_through_all_phases(tmp_path: Path) -> None:
    async def lesson(room: Class) -> None:
        phases = []
        for action in ("ask", "open", "close", "talk", "reopen", "close", "reveal", "twin", "open"):
            await room.act(action, question=0)
            seen = await room.seen(0)
            phases.append((seen["phase"], seen["round"]))
        told = ["lobby 1", "vote 1", "closed 1", "talk 1", "vote 2", "closed 2", "reveal 2", "lobby 1", "vote 1"]
        assert [f"{phase} {number}" for phase, number in phases] == told

    taught(lesson, tmp_path, SIZES)


def test_talk_and_reveal_close_an_open_vote(tmp_path: Path) -> None:
    async def lesson(room: Class) -> None:
        for last, actions in (("talk", ("open",)), ("reveal", ("reopen",))):
            await room.act(*actions)
            number = (await room.seen())["round"]
            await room.vote(0, 1, number)
            await room.act(last)
            assert ((await room.seen(0))["phase"], (await room.seen(0))["mine"]) == (last, 1)
            assert await room.refused(room.vote(1, 1, number)) == 409

    taught(lesson, tmp_path, OWN)


def test_the_teacher_goes_back_as_long_as_nothing_has_been_shown(tmp_path: Path) -> None:
    async def lesson(room: Class) -> None:
        assert await room.refused(room.act("back")) == 409
        way = ["lobby 1", "vote 1", "closed 1", "talk 1", "vote 2", "closed 2"]
        for action in ("next", "open", "close", "talk", "reopen", "close"):
            await room.act(action)
            if action in ("open", "reopen"):
                await room.vote(0, 1, 1 if action == "open" else 2)
        for place in reversed(way[:-1]):
            await room.act("back")
            seen = await room.seen(0)
            assert f"{seen['phase']} {seen['round']}" == place
            assert seen["mine"] == 1  # no vote is lost
        assert await room.refused(room.act("back")) == 409
        await room.act("open", "close", "back")
        await room.vote(0, 0)  # the vote is open again
        await room.act("close", "reveal")
        assert await room.refused(room.act("back")) == 409
        assert [row["before"] for row in (await room.seen(0))["bars"]] == [1, 0]

    taught(lesson, tmp_path, OWN)


def test_the_movie_of_an_answer_that_was_never_shown_stays_closed(tmp_path: Path) -> None:
    async def lesson(room: Class) -> None:
        await room.act("next", "open", "close", "next", "open", "close", "reveal")
        assert await room.refused(room.rooms.film(room.code, room.tokens[0], 1)) == 409
        assert (await room.rooms.film(room.code, room.tokens[0], 2)).steps
        assert (await room.rooms.film(room.code, room.host, 1)).steps

    taught(lesson, tmp_path, SIZES, SIZES)


def test_one_address_opens_many_rooms_but_not_any_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PACKVIZ_ROOMS", "3")

    async def lesson(room: Class) -> None:
        for _ in range(3):
            await room.rooms.create([], "192.0.2.1")
        assert await room.refused(room.rooms.create([], "192.0.2.1")) == 429
        await room.rooms.create([], "192.0.2.2")

    taught(lesson, tmp_path)


def test_a_page_is_told_in_a_sentence_that_nothing_can_be_stored(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    rooms = Rooms(SqliteStore(tmp_path / "file"))
    with pytest.raises(RefusedError, match=r"^The server cannot write its data\.") as refusal:
        rooms.call(rooms.create([]))
    assert refusal.value.status == 507


def test_a_vote_counts_once_for_each_phone_and_round_and_the_last_one_stands(tmp_path: Path) -> None:
    async def lesson(room: Class) -> None:
        await room.act("open")
        for answer in (0, 1, 1, 0):
            await room.vote(0, answer)
        await room.vote(1, 1)
        assert ((await room.seen(0))["mine"], (await room.seen(0))["voted"]) == (0, 2)
        await room.act("close")
        assert await room.refused(room.vote(0, 1)) == 409
        await room.act("reopen")
        assert (await room.seen(0))["mine"] is None
        assert await room.refused(room.vote(0, 1, 1)) == 409  # the first round is over
        await room.vote(0, 1, 2)
        await room.act("close", "reveal")
        rows = (await room.seen(0))["bars"]
        assert [(row["before"], row["after"]) for row in rows] == [(1, 0), (1, 1)]

    taught(lesson, tmp_path, OWN)


def test_a_phone_sees_nothing_of_the_answer_before_the_reveal_and_the_teacher_does(tmp_path: Path) -> None:
    async def lesson(room: Class) -> None:
        for action in ("ask", "open", "close", "talk", "reopen", "close"):
            await room.act(action, question=0)
            if action in ("open", "reopen"):
                await room.vote(0, [2, 1], 1 if action == "open" else 2)
            seen = await room.seen(0)
            assert [name for name in SECRET if name in seen] == []
            assert (await room.seen())["answer"] == [2, 1]
            assert await room.refused(room.rooms.film(room.code, room.tokens[0], 1)) == 409
        await room.act("reveal")
        seen = await room.seen(0)
        assert (seen["answer"], seen["right"]) == ([2, 1], True)
        film = await room.rooms.film(room.code, room.tokens[0], 1)
        assert (film.step, film.steps) == (seen["step"], seen["movie"]["steps"])

    taught(lesson, tmp_path, SIZES)
