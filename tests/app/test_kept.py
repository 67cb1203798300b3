"""Memory: that of visitors who have left is released, and shared results are limited in bytes."""

import asyncio
import gc
import time
import weakref
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from streamlit.runtime.memory_session_storage import MemorySessionStorage
from streamlit.runtime.websocket_session_manager import WebsocketSessionManager

from ui.server import warm
from ui.state.kept import Kept, bytes_of


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


def test_shared_results_are_bounded_in_bytes_and_the_most_recently_used_stay() -> None:
    results, size = Kept(max_bytes=10_000), 3_000
    for name in "abc":
        results.get(name, lambda: bytes(size))
    results.get("a", lambda: pytest.fail("it is kept"))
    results.get("d", lambda: bytes(size))
    assert results.bytes <= 10_000
    for name in "acd":
        results.get(name, lambda: pytest.fail("it is kept"))
    assert results.get("b", lambda: b"again") == b"again"
    results.get("large", lambda: bytes(50_000))
    results.get("large", lambda: pytest.fail("the latest is kept, however large"))
    results.get("small", lambda: b"")
    assert results.bytes < 1_000


def test_simultaneous_requests_wait_for_one_result() -> None:
    results, made = Kept(), []

    def make() -> object:
        time.sleep(0.2)
        made.append(object())
        return made[-1]

    with ThreadPoolExecutor(5) as pool:
        got = list(pool.map(lambda _: results.get("key", make), range(5)))
    assert len(made) == 1
    assert got == made * 5


def test_the_size_of_a_result_counts_each_of_its_parts_once() -> None:
    x = torch.zeros(1000)
    assert 4000 < bytes_of(x) < 4400
    assert 4000 < bytes_of({"x": [x, x], "same": (x,)}) < 5500
    assert bytes_of(["a" * 5000]) > 5000
