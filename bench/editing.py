"""Many visitors on one server, each of whom types a new batch every few seconds."""

import asyncio
import os
import random
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median, quantiles

from bench import servers
from bench.report import Line
from bench.visitors import Visitor, crowd

CLASSES = {10: None, 100: 150.0, 300: 800.0}  # visitors, and the target for the 95th percentile of their edits in ms
EVERY, SECONDS = 5.0, 30.0
ROWS, LONGEST = 6, 8  # of each batch


def editing() -> Iterator[Line]:
    """10, 100 and 300 visitors editing, and the same in a minimal app: ms to the picture, CPU, bytes."""
    for app, served in {"": servers.packviz(), "minimal app, ": servers.least()}.items():
        with served as (address, process):
            for visitors in CLASSES:
                yield from asyncio.run(_measured(address, process.pid, visitors, app))


async def _measured(address: str, process: int, visitors: int, app: str) -> list[Line]:
    async with crowd(address, visitors) as everybody:
        bytes_before, cpu_before = sum(each.received for each in everybody), _cpu(process)
        edits = await asyncio.gather(*(_edits(each, i) for i, each in enumerate(everybody)))
        received = sum(each.received for each in everybody) - bytes_before
        cpu = _cpu(process) - cpu_before
    took, count = [seconds for own in edits for seconds in own if seconds is not None], sum(map(len, edits))
    who = f"{app}{visitors} visitors editing"
    how = f"{count} edits of {ROWS} × {LONGEST} batches, one every {EVERY:g} s each, for {SECONDS:g} s"
    lines = [
        Line(f"{who}: ms from an edit to its picture, median", 1000 * median(took), how),
        Line(f"{who}: the same, 95th percentile", 1000 * quantiles(took, n=20)[-1], how, CLASSES[visitors]),
        Line(f"{who}: edits without the right picture", count - len(took), how, at_most=0),
        Line(f"{who}: ms of the server's CPU for an edit", 1000 * cpu / count, how, at_most=14),
        Line(f"{who}: kB sent for an edit", received / count / 1000, how, at_most=35),
    ]
    return lines if visitors == min(CLASSES) else lines[:3]


async def _edits(each: Visitor, number: int) -> list[float | None]:
    """Type random batches again and again; return the seconds that each took, None without the right picture."""
    drawn, edits = random.Random(number), list[float | None]()
    end = time.monotonic() + SECONDS
    await asyncio.sleep(drawn.uniform(0, EVERY))
    while (start := time.monotonic()) < end:
        lengths = [LONGEST, *(drawn.randint(1, LONGEST) for _ in range(ROWS - 1))]
        text = "\n".join(" ".join(str(drawn.randint(0, 99)) for _ in range(length)) for length in lengths)
        try:
            seconds = await each.edit(text)
            edits.append(seconds if each.lengths == lengths else None)
        except TimeoutError:
            edits.append(None)
        await asyncio.sleep(max(0.0, start + EVERY - time.monotonic()))
    return edits


def _cpu(process: int) -> float:
    """Return the CPU time of a process in seconds, from Linux's /proc."""
    fields = Path(f"/proc/{process}/stat").read_text("ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
