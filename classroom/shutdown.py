"""Shutdown: what is done when the server is told to shut down, before it waits for open connections."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def before_the_end(stop: Callable[[], None]) -> Iterator[None]:
    """Call `stop` when the server is told to shut down, because it waits for open channels to end."""
    loop, before = asyncio.get_running_loop(), dict[int, Any]()

    def ending(number: int, frame: Any) -> None:
        loop.call_soon_threadsafe(stop)
        before[number](number, frame)

    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGINT, signal.SIGTERM):
            if callable(handler := signal.getsignal(number)):
                before[number] = handler
                signal.signal(number, ending)
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
