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
