"""Memory: that of visitors who have left is released, and shared results are limited in bytes; and the log."""

import ctypes
import json
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from threading import Barrier

import pytest
import torch

import packviz as pv
from packviz.inputs.cell_kinds import Cell
from pages import LESSONS, opened
from ui.server import sessions
from ui.state.cache import SHARED, Cache, bytes_of

ROOT = Path(__file__).parents[2]


def test_the_session_of_a_visitor_who_has_left_is_closed_and_freed() -> None:
    code = """
import asyncio, gc, time, weakref
from streamlit.runtime import Runtime, RuntimeConfig, SessionClient
from streamlit.runtime.memory_media_file_storage import MemoryMediaFileStorage
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from ui.server.sessions import AWAY, close_those_left, note, release_memory

class Browser(SessionClient):
    def write_forward_msg(self, message):
        pass

async def visit():
    files = MemoryMediaFileStorage("/media"), MemoryUploadedFileManager("/upload")
    runtime = Runtime(RuntimeConfig("app.py", *files))
    await runtime.start()
    name = runtime.connect_session(Browser(), {})
    note(name)
    session = weakref.ref(runtime.get_app_session(name))
    start = time.monotonic()
    print(close_those_left(start + 2 * AWAY), session() is None)  # the visitor is there
    runtime.disconnect_session(name)
    print(close_those_left(start + 2 * AWAY + 1), session() is None)  # and may come back
    gc.disable()
    closed = close_those_left(start + 3 * AWAY + 1)
    await release_memory()
    print(closed, session() is None)
    runtime.stop()
    await runtime.stopped

asyncio.run(visit())
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["0 False", "0 False", "1 True"]


async def test_memory_is_released_on_windows_without_the_gnu_library(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(name: str | None) -> None:
        raise TypeError(name)  # as Windows does for None

    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(ctypes, "CDLL", refuse)
    sessions.map_large_blocks()
    await sessions.release_memory()


def test_loggers_that_streamlit_makes_later_write_lines_of_json_too() -> None:
    code = """
from streamlit.logger import get_logger
from ui.server import logs
get_logger("streamlit.before").warning("first %s", "typed")
logs.set_up()
get_logger("streamlit.before").warning("second %s", "typed")
get_logger("streamlit.later").warning("third %s", "typed")
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert [json.loads(line)["event"] for line in done.stdout.splitlines()] == ["second %s", "third %s"]
    assert done.stderr.count("typed") == 1  # before they were set up


def test_shared_results_are_bounded_in_bytes() -> None:
    get, size = Cache(10_000).cached, 3_000
    for name in "abc":
        get(lambda: bytes(size), name)
    get(never, "a")
    get(lambda: bytes(size), "d")  # takes the place of b, the least recently used
    for name in "acd":
        get(never, name)
    assert get(lambda: b"again", "b") == b"again"


def test_the_latest_result_is_kept_however_large() -> None:
    get = Cache(10_000).cached
    get(lambda: bytes(50_000), "large")
    get(never, "large")
    get(lambda: b"", "small")
    assert get(lambda: b"again", "large") == b"again"


def test_a_result_that_has_grown_is_counted_again_and_takes_the_place_of_others() -> None:
    results, grows = Cache(10_000), list[bytes]()
    results.cached(bytes, "a")
    results.cached(lambda: grows, "b")
    results.cached(lambda: bytes(3_000), "c")
    grows.append(bytes(8_000))
    results.count_again("b")
    assert [*results.kept] == [("b",)]
    assert 8_000 < results.kept.currsize < 8_500
    results.count_again("a")  # which was dropped
    assert [*results.kept] == [("b",)]


@pytest.mark.parametrize("layer", ["conv", "gru"])
@pytest.mark.parametrize("page", ["start", *LESSONS])
def test_after_a_page_has_drawn_the_results_are_as_large_as_counted(page: str, layer: str) -> None:
    text = "\n".join(" ".join(map(str, range(1, n + 1))) for n in (12, 9, 7, 7, 6, 5, 4, 4, 3, 3, 2, 1))
    SHARED.kept.clear()
    opened(page, {"sequences": text, "num_layers": 2, "bidirectional": "true", "row_layer": layer})
    assert len(SHARED.kept) > 2
    assert sum(bytes_of(each.result) for each in SHARED.kept.values()) <= 1.1 * SHARED.kept.currsize


def never() -> object:
    pytest.fail("it is cached")


def test_simultaneous_requests_wait_for_one_result() -> None:
    get, made = Cache(10_000).cached, list[object]()

    def make() -> object:
        time.sleep(0.2)
        made.append(object())
        return made[-1]

    with ThreadPoolExecutor(5) as pool:
        got = list(pool.map(lambda _: get(make, "key"), range(5)))
    assert len(made) == 1
    assert got == made * 5


def test_after_an_exception_one_of_those_who_wait_computes() -> None:
    get, calls, start = Cache(10_000).cached, list[str](), Barrier(6)

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
            return get(make, "key")
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


def test_views_of_a_tensor_share_one_storage() -> None:
    x = torch.zeros(4, 1000)
    assert 16_000 < bytes_of(x.chunk(4)) < 18_000
    assert 16_000 < bytes_of([x[0], x.T, *x.unbind()]) < 18_500
    assert bytes_of([x, x.clone()]) > 32_000
    assert bytes_of([torch.empty(0), torch.empty(0), x]) > 16_000


@pytest.mark.parametrize("cell", ["rnn", "gru", "lstm"])
def test_a_trace_counts_as_much_as_torch_saves(cell: Cell) -> None:
    batch = pv.Batch.parse("\n".join(["1 " * 64] * 64))
    trace = pv.trace(batch, pv.Config(cell=cell, hidden_size=32))
    saved = BytesIO()
    torch.save(trace, saved)  # each storage once
    assert bytes_of(trace) == pytest.approx(saved.tell(), rel=0.1)
