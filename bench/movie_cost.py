"""What a movie costs beside the trace that it shows, and how long it is as JSON."""

import json
import random
import time
from collections.abc import Callable

import torch

import packviz as pv
from bench.report import Line, at_most
from packviz import Batch, Config

__all__ = ["movie_cost"]

ROUNDS = 5
CASES = (  # name, sequences, the longest, cell, at most so many traces, at most so many kB
    ("3 by 4, GRU", 3, 4, Config(), 3, 12),
    ("6 by 8, LSTM", 6, 8, Config(cell="lstm"), 4, 25),
    ("20 by 20, GRU", 20, 20, Config(), 7, 100),
    ("60 by 60, GRU", 60, 60, Config(), 12, 600),
)


def movie_cost() -> list[Line]:
    """Time `movie(t).to_dict()` and `trace(...)`, the fastest of some rounds each, in one thread."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        return [line for case in CASES for line in _lines(*case)]
    finally:
        torch.set_num_threads(threads)


def _lines(name: str, rows: int, longest: int, config: Config, traces: float, kilobytes: float) -> list[Line]:
    batch = _batch(rows, longest)
    seen = pv.trace(batch, config)
    alone = _fastest(lambda: pv.trace(batch, config))
    shown = _fastest(lambda: pv.movie(seen).to_dict())
    size = len(json.dumps(pv.movie(seen).to_dict(), separators=(",", ":"), ensure_ascii=False).encode()) / 1000
    how = f"{shown:.1f} ms ÷ {alone:.1f} ms, the fastest of {ROUNDS} each"
    return [
        Line(f"movie(t).to_dict() ÷ trace(...), {name}", shown / alone, at_most(traces), how),
        Line(f"kB of the movie as JSON, {name}", size, at_most(kilobytes), "without spaces"),
    ]


def _batch(rows: int, longest: int) -> Batch:
    draw = random.Random(0)
    lengths = [longest, *(draw.randint(1, longest) for _ in range(rows - 1))]
    return Batch.parse("\n".join(" ".join(str(k % 10) for k in range(length)) for length in lengths))


def _fastest(run: Callable[[], object]) -> float:
    """Return the milliseconds of the fastest round."""
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times) * 1000
