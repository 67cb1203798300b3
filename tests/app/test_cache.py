"""Memory: that of visitors who have left is released, and shared results are limited in bytes."""

import asyncio
import gc
import time
import weakref
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Barrier
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from streamlit.runtime.memory_session_storage import MemorySessionStorage
from streamlit.runtime.websocket_session_manager import WebsocketSessionManager

from ui.server import warm
from ui.state.cache import bounded, bytes_of


class Session:
    """Stand in for one of Streamlit's sessions: it refers to itself, so only a garbage collection frees it."""

    def __init__(self) -> None:
        self.id, self.itself = "a", self


def test_an_expired_session_is_freed() -> None:
    storage: Any = MemorySessionStorage(ttl_seconds=0)
    session = Session()
    gone = weakref.ref(session)
    storage.save(SimpleNamespace(session=session))
    del session
    gc.disable()
    try:
        assert gone() is not None
        asyncio.run(warm.give_back(storage))
        assert gone() is None
    finally:
        gc.enable()


def test_streamlit_still_has_the_attributes_that_are_read() -> None:
    storage = MemorySessionStorage()
    arguments: Any = (storage, None, None, None)
    manager: Any = WebsocketSessionManager(*arguments)
    assert manager.list_sessions() == []
    assert manager._session_storage is storage


def test_shared_results_are_bounded_in_bytes() -> None:
    get, size = bounded(10_000), 3_000
    for name in "abc":
        get(lambda: bytes(size), name)
    get(never, "a")
    get(lambda: bytes(size), "d")  # takes the place of b, the least recently used
    for name in "acd":
        get(never, name)
    assert get(lambda: b"again", "b")[0] == b"again"


def test_the_latest_result_is_kept_however_large() -> None:
    get = bounded(10_000)
    get(lambda: bytes(50_000), "large")
    get(never, "large")
    get(lambda: b"", "small")
    assert get(lambda: b"again", "large")[0] == b"again"


def never() -> object:
    pytest.fail("it is cached")


def test_simultaneous_requests_wait_for_one_result() -> None:
    get, made = bounded(10_000), []

    def make() -> object:
        time.sleep(0.2)
        made.append(object())
        return made[-1]

    with ThreadPoolExecutor(5) as pool:
        got = [found for found, _ in pool.map(lambda _: get(make, "key"), range(5))]
    assert len(made) == 1
    assert got == made * 5


def test_after_an_exception_one_of_those_who_wait_computes() -> None:
    get, calls, start = bounded(10_000), list[str](), Barrier(6)

    def make() -> str:
        calls.append("begun")
        time.sleep(0.05)
        if len(calls) == 1:
            raise MemoryError
        calls.append("ended")
        return "made"

    def ask(_: int) -> str | None:
        start.wait()
        with suppress(MemoryError):
            found: str = get(make, "key")[0]
            return found
        return None

    with ThreadPoolExecutor(6) as pool:
        got = list(pool.map(ask, range(6)))
    assert sorted(map(str, got)) == ["None", *["made"] * 5]
    assert calls == ["begun", "begun", "ended"]


def test_the_size_of_a_result_counts_each_of_its_parts_once() -> None:
    x = torch.zeros(1000)
    assert 4000 < bytes_of(x) < 4400
    assert 4000 < bytes_of({"x": [x, x], "same": (x,)}) < 5500
    assert bytes_of(["a" * 5000]) > 5000
