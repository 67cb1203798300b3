"""A class at work: visitors who type batches of their own every few seconds, all in one server."""

import asyncio
import os
import random
import time
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median, quantiles

from bench import servers
from bench.report import Line, at_most
from bench.visitors import Visitor, visitor

__all__ = ["Edits", "editing"]

VISITORS, EVERY, SECONDS = 100, 5.0, 60.0
NONE = at_most(0)


@dataclass
class Edits:
    """What came of the edits of all visitors.

    seconds: until each picture had come. missing: edits without a picture. wrong: pictures of another batch.
    """

    seconds: list[float] = field(default_factory=list)
    missing: int = 0
    wrong: int = 0


def editing() -> list[Line]:
    """Let VISITORS type for SECONDS, each every EVERY seconds, and say what an edit takes."""
    with servers.packviz_process() as (address, process):
        return asyncio.run(_measured(address, process))


async def _measured(address: str, process: int) -> list[Line]:
    edits = Edits()
    async with AsyncExitStack() as here:
        everybody = [await here.enter_async_context(visitor(address)) for _ in range(VISITORS)]
        for each in everybody:
            await each.look()
        bytes_before, cpu_before = sum(each.received for each in everybody), _cpu(process)
        await asyncio.gather(*(_work(each, i, edits) for i, each in enumerate(everybody)))
        received = sum(each.received for each in everybody) - bytes_before
        cpu = _cpu(process) - cpu_before
    done = len(edits.seconds)
    how = f"{done} edits by {VISITORS} visitors, one every {EVERY:g} s each, for {SECONDS:g} s"
    return [
        Line("ms from an edit to its picture, median", 1000 * median(edits.seconds), None, how),
        Line("the same, 95th percentile", 1000 * quantiles(edits.seconds, n=20)[-1], None, how),
        Line("ms of the server's processor for an edit", 1000 * cpu / done, None, how),
        Line("kB sent for an edit", received / done / 1000, None, how),
        Line("edits without a picture", edits.missing, NONE, how),
        Line("pictures of another batch than was typed", edits.wrong, NONE, how),
    ]


async def _work(each: Visitor, number: int, edits: Edits) -> None:
    """Type a batch of one's own again and again; its numbers are nobody else's."""
    drawn = random.Random(number)
    end = time.monotonic() + SECONDS
    await asyncio.sleep(drawn.uniform(0, EVERY))
    while (start := time.monotonic()) < end:
        rows = [[drawn.randint(0, 99) for _ in range(drawn.randint(1, 6))] for _ in range(drawn.randint(2, 5))]
        try:
            edits.seconds.append(await each.edit("\n".join(" ".join(map(str, row)) for row in rows)))
            edits.wrong += each.lengths != [len(row) for row in rows]
        except TimeoutError:
            edits.missing += 1
        await asyncio.sleep(max(0.0, start + EVERY - time.monotonic()))


def _cpu(process: int) -> float:
    """Return the seconds of processor time that a process has used, as Linux tells it."""
    fields = Path(f"/proc/{process}/stat").read_text("ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
