"""Work of every kind, and visitors who want it done: the same for this machine and for workers anywhere."""

import os
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from ui.jobs.work import Backend, Progress, Task


def count(to: int, _label: str = "") -> Iterator[int]:
    yield from range(to)


def never_end(_label: str = "") -> Iterator[int]:
    yield os.getpid()
    while True:
        time.sleep(0.05)


def leave_a_trace(file: Path) -> Iterator[int]:
    file.touch()
    yield 1


def fail() -> Iterator[int]:
    yield 1
    raise ValueError("no such thing")


def vanish() -> Iterator[int]:
    yield 1
    os._exit(3)


def devour() -> Iterator[int]:
    yield 1
    yield len(bytearray(2**31))


def devour_tensors() -> Iterator[int]:
    import torch

    yield 1
    yield torch.ones(2**29).numel()  # of 4 bytes each


def time_it(file: Path) -> Iterator[int]:
    """Note when it begins and ends."""
    for _ in range(2):
        with file.open("a") as trace:
            trace.write(f"{os.getpid()}\n")
        time.sleep(0.5)
    yield 1


def show(_results: Any) -> None:
    """Draw nothing."""


def task(work: Callable[..., Iterator[Any]], *given: Any, measures: bool = False) -> Task:
    return Task("work", "as it is told", 1, partial(work, *given), show, measures=measures)


def until(true: Callable[[], object]) -> None:
    """Wait until something is so; if it never is, that is a failure."""
    deadline = time.monotonic() + 60
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def is_gone(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    return False


class Visitor:
    """Somebody who wants one task done, and looks at it only when a test does."""

    def __init__(self, jobs: Backend, name: str, wanted: Task) -> None:
        self.jobs, self.name, self.key = jobs, name, wanted.key
        jobs.submit(name, wanted)

    @property
    def now(self) -> Progress:
        progress = self.jobs.progress(self.key, self.name)
        assert progress is not None
        return progress

    @property
    def results(self) -> list[Any]:
        return self.jobs.result(self.key)

    def stop(self) -> None:
        self.jobs.stop(self.key, self.name)
