"""The memory and file descriptors that remain in use after many visitors, slow readers and half-open connections."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from websockets.exceptions import ConnectionClosed

from bench import servers
from bench.report import Measured
from bench.visitors import crowd, visitor

IDLE, SLOW, HALF_OPEN = 500, 10, 400
ASKED = 25  # large pictures that each slow reader asks for
LARGE = 64  # sequences, and steps of each
PAUSE = 2.0  # seconds between two of its requests
MEMORY = 1.3  # the target: at most this multiple of the memory before
WAIT = 150.0  # seconds until the last check
EVERY = 1.0  # seconds between two checks

Wave = Callable[[str], AbstractAsyncContextManager[object]]


class Held(NamedTuple):
    """The resources of a process: resident memory in MB, and open file descriptors."""

    memory: float
    descriptors: int


def held(process: int) -> Held:
    """Return the current resources of a process, from Linux's /proc."""
    status = Path(f"/proc/{process}/status").read_text("ascii")
    kilobytes = next(line.split()[1] for line in status.splitlines() if line.startswith("VmRSS"))
    return Held(int(kilobytes) / 1024, len(list(Path(f"/proc/{process}/fd").iterdir())))


def soak() -> list[Measured]:
    """Memory and descriptors still in use after three waves of visitors on one server; takes about ten minutes."""
    with servers.packviz() as (address, process):
        return asyncio.run(_waves(address, process.pid))


async def _waves(address: str, process: int) -> list[Measured]:
    for text in ("1 2 3\n4 5", "6 7\n8", _large(100)):
        async with visitor(address) as first:
            await first.look()
            await first.edit(text)
    waves: dict[str, Wave] = {
        f"{IDLE} visitors who look and leave": partial(crowd, number=IDLE),
        f"{SLOW} visitors who ask for {ASKED} pictures of {LARGE} × {LARGE} and never read": _slow,
        f"{HALF_OPEN} connections that send nothing and stay": _half_open,
    }
    return [line for what, wave in waves.items() for line in await _lines(what, wave, address, process)]


async def _lines(what: str, wave: Wave, address: str, process: int) -> list[Measured]:
    """Run a wave, let it leave (the half-open connections stay), and report what remains in use, and for how long."""
    before = held(process)
    async with AsyncExitStack() as here:
        watch = asyncio.create_task(_peak(process))
        await here.enter_async_context(wave(address))
        await asyncio.sleep(EVERY)
        watch.cancel()
        peak = await watch
        if wave is not _half_open:
            await here.aclose()
        after, closed = await _settled(before, process)
    memory = f"{before.memory:,.0f} MB before, {peak.memory:,.0f} at the peak, {after.memory:,.0f} after"
    files = f"{before.descriptors} before, {peak.descriptors} at the peak, {after.descriptors} after"
    return [
        Measured(f"{what}: memory, after ÷ before", after.memory / before.memory, memory, MEMORY),
        Measured(f"{what}: seconds until the descriptors are closed", closed, files, at_most=120),
    ]


async def _peak(process: int) -> Held:
    """Return the peak usage until this is cancelled."""
    most = held(process)
    try:
        while True:
            await asyncio.sleep(EVERY / 4)
            now = held(process)
            most = Held(max(most.memory, now.memory), max(most.descriptors, now.descriptors))
    except asyncio.CancelledError:
        return most


async def _settled(before: Held, process: int) -> tuple[Held, float]:
    """Wait until usage is back to its old level, or for WAIT seconds; return it, and when the descriptors closed."""
    start, closed = time.monotonic(), float("inf")
    while True:
        now, passed = held(process), time.monotonic() - start
        if now.descriptors <= before.descriptors + 5:  # a margin for other work
            closed = min(closed, passed)
        if passed > WAIT or (closed < passed and now.memory <= MEMORY * before.memory):
            return now, closed
        await asyncio.sleep(EVERY)


@asynccontextmanager
async def _slow(address: str) -> AsyncIterator[None]:
    """Send visitors who, after their first picture, request large ones and read no answer."""
    async with crowd(address, SLOW) as everybody:
        for i in range(ASKED):
            for number, each in enumerate(everybody):
                with suppress(ConnectionClosed):  # the server closed the connection
                    await each.type(_large(number + i % 2))
            await asyncio.sleep(PAUSE)
        yield


def _large(first: int) -> str:
    """Return the text of a batch of LARGE equal sequences that begin with a number."""
    row = " ".join(str(first + t) for t in range(LARGE))
    return "\n".join([row] * LARGE)


@asynccontextmanager
async def _half_open(address: str) -> AsyncIterator[None]:
    """Open connections, and send nothing."""
    parts = urlsplit(address)
    opened = [await asyncio.open_connection(parts.hostname, parts.port) for _ in range(HALF_OPEN)]
    try:
        yield
    finally:
        for _, writer in opened:
            writer.transport.abort()
