"""A class of 500 phones, a plan that runs in it, and an hour of class in fast motion, with the app as by `make run`."""

import asyncio
import random
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

from bench.phones import Phone, Room
from bench.report import Measured
from bench.servers import packviz
from bench.soak import held

PHONES = 500
# the measured phase changes: the teacher's action, and the phase that it starts
ROUNDS = (("ask", "lobby"), ("open", "vote"), ("close", "closed"), ("reopen", "vote"), ("close", "closed"))
SPREAD = 10.0  # seconds in which a class answers a question
LESSONS, LEARNERS = 20, 30  # questions of the hour, and phones in it
LESSON = ("open", "close", "talk", "reopen", "close", "reveal", "step", "twin", "open", "close", "reveal")
SIZES = {"kind": "batch_sizes", "sequences": "1 2 3\n4\n5 6", "settings": {"cell": "gru"}}
PLAN = (
    {"slide": "# Packing\n\n`h_n` is $h_T$:\n\n```python\noutput, h_n = lstm(packed)\n```"},
    SIZES,
    {"step": {"stage": "run", "number": 3, "sequences": "1 2 3\n4\n5 6"}},
    {"prompt": "How was it?", "options": ["good", "bad"]},
    {"slide": "# The end"},
)  # with a vote on each question
PAGE = "/join"


def classroom() -> Iterator[Measured]:
    """A class of 500 phones: joins, votes, phase changes, a plan, the page; memory over an hour of class."""
    with tempfile.TemporaryDirectory() as folder, packviz(PACKVIZ_DATA=folder, REDIS_URL="") as (address, process):
        yield from asyncio.run(_crowd(address))
        yield from asyncio.run(_plan(address))
        yield from asyncio.run(_hour(address, process.pid))


async def _crowd(address: str) -> list[Measured]:
    changes, votes = list[float](), list[float]()
    async with _class(address, PHONES, SIZES) as (room, phones, joins):
        page = (await room.line.ask("GET", PAGE, Accept_Encoding="gzip")).body
        await _shown(phones, lambda seen: seen["joined"] == PHONES)
        for action, phase in ROUNDS:
            begun = asyncio.get_running_loop().time()
            await room.act(action, question=0)
            await _shown(phones, partial(_is_in, phase))
            changes += [phone.changed - begun for phone in phones]
            if phase == "vote":
                votes += await _timed([_voting(phone, 2 if action == "reopen" else 1) for phone in phones], SPREAD)
                assert (await room.seen())["voted"] == PHONES
            await asyncio.sleep(1)
    told = f"{PHONES} phones"
    return [
        Measured("a phone joins, ms, p95", _p95(joins), f"{told} at once", at_most=2000),
        Measured("a vote is stored, ms, p95", _p95(votes), f"{told} within {SPREAD:.0f} s, twice", at_most=300),
        Measured("a phase change is seen, ms, p95", _p95(changes), f"{told}, {len(ROUNDS)} changes", at_most=700),
        Measured("the page for phones, kB on the wire", len(page) / 1000, "the page itself", at_most=60),
    ]


async def _plan(address: str) -> list[Measured]:
    """Go through a plan to its end; all phones vote, and fetch each movie."""
    changes, films, items = list[float](), list[float](), 0
    async with _class(address, PHONES, *PLAN, plan=True) as (room, phones, _):
        seen = await room.seen()
        while seen["after"]:
            begun = asyncio.get_running_loop().time()
            assert (await room.act("next")).status == 200
            seen = await room.seen()
            await _shown(phones, partial(_is_at, seen["place"]))
            changes += [phone.changed - begun for phone in phones]
            items += 1
            if seen["phase"] == "vote":
                options = seen["question"].get("options", ())
                await _timed([_voting(phone, seen["round"], options) for phone in phones], SPREAD)
            elif seen.get("movie") and seen["phase"] == "reveal":
                films += await _timed([phone.film for phone in phones])
            await asyncio.sleep(1)
    told = f"{PHONES} phones"
    return [
        Measured("a step of a plan is seen, ms, p95", _p95(changes), f"{told}, {items} steps", at_most=700),
        Measured("a movie of a plan has come, ms, p95", _p95(films), f"{told} at once, {len(films) // PHONES} movies"),
    ]


async def _hour(address: str, process: int) -> list[Measured]:
    """Teach the same lesson in one room after another; compare the memory after a quarter of them and at the end."""
    used = list[float]()
    for number in range(LESSONS):
        async with _class(address, LEARNERS, SIZES) as (room, phones, _):
            for action in LESSON:
                await room.act(action, step=2)
                if action in ("open", "reopen"):
                    await asyncio.gather(*(_voting(phone, 2 if action == "reopen" else 1)() for phone in phones))
        used.append(held(process).memory)
        if number == LESSONS // 4:
            first = used[-1]
    how = f"{LESSONS} lessons of {LEARNERS} phones, 2 questions and 3 rounds each"
    return [
        Measured("memory of the server, MB", used[-1], how),
        Measured("memory gained in the last three quarters, MB", used[-1] - first, how, at_most=10),
    ]


@asynccontextmanager
async def _class(
    address: str, number: int, *items: object, plan: bool = False
) -> AsyncIterator[tuple[Room, list[Phone], list[float]]]:
    """Open a room that this many phones join and follow; yield both, and how long each phone took to join."""
    room = Room(address)
    await room.open(*items, plan=plan)
    phones = [Phone(address, room.code) for _ in range(number)]
    joins = await _timed([phone.join for phone in phones])
    following = [asyncio.create_task(phone.follow()) for phone in phones]
    yield room, phones, joins
    for task in following:
        task.cancel()
    for phone in phones:
        phone.close()
    room.close()
    await asyncio.sleep(0.1)


def _voting(phone: Phone, number: int, options: Sequence[str] = ()) -> Callable[[], Awaitable[Any]]:
    """Return a function that votes in this round, for one of these options or else with sizes."""

    async def vote() -> None:
        answer = random.randrange(len(options)) if options else random.choice(([3, 2, 1], [1, 2, 3], "3 3 1"))
        assert (await phone.vote(number, answer)).status == 200

    return vote


async def _timed(tasks: Sequence[Callable[[], Awaitable[Any]]], within: float = 0.0) -> list[float]:
    """Run tasks, at once or each at a random time within this many seconds; return how long each took, in seconds."""
    loop = asyncio.get_running_loop()

    async def one(task: Callable[[], Awaitable[Any]]) -> float:
        await asyncio.sleep(random.uniform(0, within))
        begun = loop.time()
        await task()
        return loop.time() - begun

    return await asyncio.gather(*map(one, tasks))


async def _shown(phones: Sequence[Phone], condition: Callable[[dict[str, Any]], bool]) -> None:
    """Wait until a condition holds on all phones."""
    async with asyncio.timeout(30):
        while not all(phone.seen and condition(phone.seen) for phone in phones):
            await asyncio.sleep(0.005)


def _is_at(place: Sequence[object], seen: dict[str, Any]) -> bool:
    return [seen["shown"], seen["phase"], seen["round"]] == place


def _is_in(phase: str, seen: dict[str, Any]) -> bool:
    return seen["phase"] == phase and seen["question"] is not None


def _p95(seconds: Sequence[float]) -> float:
    """Return the 95th percentile in milliseconds."""
    return 1000 * sorted(seconds)[int(0.95 * len(seconds))]
