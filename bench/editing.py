"""Ten visitors on one server, each of whom types a new batch every few seconds."""

import asyncio
import os
import random
import time
from pathlib import Path
from statistics import median, quantiles

from bench import servers
from bench.report import Measured
from bench.visitors import Visitor, crowd

VISITORS = 10
EVERY, SECONDS = 5.0, 30.0
ROWS, LONGEST = 6, 8  # of each batch


def editing() -> list[Measured]:
    """Ten visitors who edit: ms to the picture, the server's CPU and the bytes sent for an edit."""
    with servers.packviz() as (address, process):
        return asyncio.run(_measured(address, process.pid))


async def _measured(address: str, process: int) -> list[Measured]:
    async with crowd(address, VISITORS) as everybody:
        bytes_before, cpu_before = sum(each.arrived for each in everybody), _cpu(process)
        edits = await asyncio.gather(*(_edits(each, i) for i, each in enumerate(everybody)))
        arrived = sum(each.arrived for each in everybody) - bytes_before
        cpu = _cpu(process) - cpu_before
    took, count = [seconds for own in edits for seconds in own if seconds is not None], sum(map(len, edits))
    each = f"one every {EVERY:g} s each for {SECONDS:g} s"
    how = f"{VISITORS} visitors, {count} edits of {ROWS} × {LONGEST} batches, {each}"
    return [
        Measured("ms from an edit to its picture, median", 1000 * median(took), how),
        Measured("ms from an edit to its picture, 95th percentile", 1000 * quantiles(took, n=20)[-1], how),
        Measured("edits without the right picture", count - len(took), how, at_most=0),
        Measured("ms of the server's CPU for an edit", 1000 * cpu / count, how, at_most=14),
        Measured("kB on the wire for an edit", arrived / count / 1000, how, at_most=35),
    ]


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
