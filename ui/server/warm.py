"""Warm up the server's process before its first visitor, and keep it small when visitors have left.

Warm: import, run once, collect, freeze. Small: Streamlit keeps a session for server.disconnectedSessionTTL seconds
after its visitor has left, and drops it only when another one is stored. Its objects form cycles, which only a
garbage collection frees, and here none runs after each rerun. The C library keeps freed memory, and returns it to the
system only on request.
"""

import asyncio
import ctypes
import gc
import webbrowser
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import streamlit as st
import torch
from streamlit import config
from streamlit.runtime import Runtime
from streamlit.runtime.pages_manager import PagesManager

from classroom.rooms import rooms
from packviz import charts
from packviz.facts import sequence_error
from ui.parts.part import table
from ui.server import logs, observed
from ui.server.static import compress_all
from ui.state.kinds import PACKING
from ui.state.runs import Request, run

EVERY = 15.0  # seconds between two checks for ended sessions
_M_MMAP_THRESHOLD, _LARGE = -3, 2**18  # of mallopt; bytes


@asynccontextmanager
async def warm(_app: st.App) -> AsyncIterator[dict[str, Any] | None]:
    """Warm up the process, print the app's address, open it if there is a screen, and serve."""
    _c("mallopt", _M_MMAP_THRESHOLD, _LARGE)  # large blocks are mapped separately, and given back when freed
    torch.set_num_threads(1)  # the matrices are small, and every visitor has a thread
    PagesManager.uses_pages_directory = False  # so that even the first deep link finds its page through app.py
    shown = run(Request())
    table(PACKING, shown.trace, "pack", None, 0)
    sequence_error(shown.trace)  # torch's first nested tensor takes seconds
    charts.states(shown.trace)
    compress_all()
    gc.collect()
    gc.freeze()  # later collections skip everything that is loaded now
    address = f"http://localhost:{config.get_option('server.port')}"
    if logs.wanted():
        logs.set_up()
        logs.tell("ready", port=config.get_option("server.port"))
    else:
        print(f"packviz is ready: {address}", flush=True)
    if not config.get_option("server.headless"):
        webbrowser.open(address)
    tasks = [asyncio.create_task(_keep_small()), asyncio.create_task(observed.watch_loop())]
    async with rooms.serving():
        yield None
    for task in tasks:
        task.cancel()
    logs.tell("stopped")


async def _keep_small() -> None:
    """Check repeatedly for ended sessions, and release their memory."""
    there: set[str] = set()
    while True:
        await asyncio.sleep(EVERY)
        manager: Any = Runtime.instance()._session_mgr
        now = {each.session.id for each in manager.list_sessions()}
        if there - now:
            await give_back(manager._session_storage)
        there = now


async def give_back(storage: Any) -> None:
    """Drop the expired sessions and everything that only they held."""
    storage._cache.expire()
    gc.collect()
    await asyncio.to_thread(_c, "malloc_trim", 0)


def _c(name: str, *numbers: int) -> None:
    """Call a function of the C library, if it is the GNU one."""
    function = getattr(ctypes.CDLL(None), name, None)
    if function is not None:
        function(*numbers)
