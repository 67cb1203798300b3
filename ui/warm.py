"""Make the server's process warm before its first visitor, and keep it small when visitors have left.

Warm: import, run once, collect, freeze. Small: Streamlit keeps a session for server.disconnectedSessionTTL seconds
after its visitor has gone, and drops it when another one is stored, or never. Its objects form cycles, which only a
collection frees, and there is none after each rerun here. Freed memory stays with the C library, which gives it back to
the system only when asked.
"""

import asyncio
import ctypes
import gc
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
from packviz.facts import memory
from ui import logs
from ui.connections import bound_all
from ui.part import table
from ui.runs import Request, run
from ui.static import compress_all

EVERY = 15.0  # seconds between two looks whether sessions have ended
_M_MMAP_THRESHOLD, _LARGE = -3, 2**18  # of mallopt; bytes


@asynccontextmanager
async def warm(_app: st.App) -> AsyncIterator[dict[str, Any] | None]:
    """Warm the process, say where the app is, and serve."""
    _c("mallopt", _M_MMAP_THRESHOLD, _LARGE)  # large blocks are mapped separately, and given back when freed
    torch.set_num_threads(1)  # the matrices are small, and every visitor has a thread
    PagesManager.uses_pages_directory = False  # a deep link that comes first finds its page through app.py, too
    shown = run(Request())
    table(shown.trace, "pack", None, 0)
    memory(shown.trace)  # torch's first nested tensor takes a second
    charts.states(shown.trace)
    compress_all()
    gc.collect()
    bound_all()
    gc.freeze()  # what is loaded now stays: no later collection looks at it again
    if logs.wanted():
        logs.set_up()
        logs.tell("ready", port=config.get_option("server.port"))
    else:
        print(f"packviz is ready: http://localhost:{config.get_option('server.port')}", flush=True)
    small = asyncio.create_task(_keep_small())
    async with rooms.serving():
        yield None
    small.cancel()
    logs.tell("stopped")


async def _keep_small() -> None:
    """Look again and again whether sessions have ended, and then give back what they held."""
    there: set[str] = set()
    while True:
        await asyncio.sleep(EVERY)
        manager: Any = Runtime.instance()._session_mgr
        now = {each.session.id for each in manager.list_sessions()}
        if there - now:
            await give_back(manager._session_storage)
        there = now


async def give_back(storage: Any) -> None:
    """Let go of the sessions whose time is over, and of all that only they held."""
    storage._cache.expire()
    gc.collect()
    await asyncio.to_thread(_c, "malloc_trim", 0)


def _c(name: str, *numbers: int) -> None:
    """Call a function of the C library, where it is GNU's."""
    function = getattr(ctypes.CDLL(None), name, None)
    if function is not None:
        function(*numbers)
