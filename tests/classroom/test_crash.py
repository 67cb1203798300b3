"""The real server is killed with phones connected: everybody is back where they were, with their votes."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from subprocess import Popen
from typing import Any

import pytest

from bench import servers
from bench.phones import Phone, Room

pytestmark = pytest.mark.slow

SIZES = {"kind": "batch_sizes", "sequences": "1 2 3\n4\n5 6", "settings": {"cell": "gru"}}
WAY = ("ask", "open", "close", "talk", "reopen", "reveal", "twin")  # to the phases in which it is killed, and the lobby
PHONES = 8  # in each room
BACK = 2.0  # seconds after the server's return in which everybody is back
ANSWERS = ([3, 2, 1], [1, 2, 3], [3, 1, 2], "3 3 1")


async def vote_on(phone: Phone, number: int, acknowledged: dict[str, Any], draw: random.Random) -> None:
    """Vote again and again until the server is gone; keep what it has acknowledged, and what may have arrived."""
    while True:
        answer = draw.choice(ANSWERS)
        told = acknowledged.setdefault(phone.token, {"answer": None, "maybe": None})
        told["maybe"] = answer
        try:
            if (await phone.vote(number, answer)).status != 200:
                return
        except (OSError, TimeoutError):
            return
        told["answer"] = answer


async def prepared(address: str, *actions: str) -> tuple[Room, list[Phone]]:
    """Open a room, let phones join, and go to one of its phases."""
    room = Room(address)
    await room.open(SIZES)
    phones = [Phone(address, room.code) for _ in range(PHONES)]
    for phone in phones:
        await phone.join()
    for action in actions:
        assert (await room.act(action, question=0)).status == 200
    return room, phones


async def back(phones: list[Phone], before: dict[str, Any], acknowledged: dict[str, Any], gone: float) -> None:
    """Wait until every phone, which does nothing but follow, has seen the room since the old server was gone."""
    while min(phone.at for phone in phones) < gone:
        await asyncio.sleep(0.01)
    for phone in phones:
        for name in ("phase", "round", "step"):
            assert phone.seen[name] == before[name]
        if before["phase"] == "vote":
            told = acknowledged[phone.token]
            assert told["answer"] is not None  # votes have been acknowledged
            assert phone.seen["mine"] in (told["answer"], told["maybe"])  # the last one may be stored, or not


@pytest.mark.timeout(200)  # the server starts twice
async def test_after_kill_9_in_every_phase_everybody_is_back_within_two_seconds(tmp_path: Path) -> None:
    """As many classes as there are phases are on when the server is killed, and everybody votes on and on who may."""
    port = servers.free_port()
    draw, acknowledged = random.Random("kill"), dict[str, Any]()

    @asynccontextmanager
    async def served() -> AsyncIterator[tuple[str, Popen[bytes]]]:
        server = servers.packviz(port, PACKVIZ_DATA=str(tmp_path), REDIS_URL="")
        try:
            yield await asyncio.to_thread(server.__enter__)
        finally:
            await asyncio.to_thread(server.__exit__, None, None, None)

    async with served() as (address, process):
        classes = [await prepared(address, *WAY[:i]) for i in range(len(WAY) + 1)]
        everybody = [phone for _, phones in classes for phone in phones]
        following = [asyncio.create_task(phone.follow()) for phone in everybody]
        before = [await room.seen() for room, _ in classes]
        assert len({(seen["phase"], seen["round"], len(seen["asked"])) for seen in before}) == len(classes)
        votes = [
            asyncio.create_task(vote_on(phone, seen["round"], acknowledged, draw))
            for (_, phones), seen in zip(classes, before, strict=True)
            for phone in phones
            if seen["phase"] == "vote"
        ]
        await asyncio.sleep(0.5)
        process.kill()
        await asyncio.gather(*votes)
    gone = asyncio.get_running_loop().time()  # phones may be answered before this test knows of the new server
    async with served():
        async with asyncio.timeout(BACK):
            for (_, phones), seen in zip(classes, before, strict=True):
                await back(phones, seen, acknowledged, gone)
        for (room, _), action in zip(classes, (*WAY, "open"), strict=True):
            assert (await room.act(action, question=0)).status == 200  # and the class goes on
    for task in following:
        task.cancel()
    for room, phones in classes:
        room.close()
        for phone in phones:
            phone.close()
    await asyncio.sleep(0.05)
