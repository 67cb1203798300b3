"""Give back what visitors who have left had held.

Streamlit keeps a session for server.disconnectedSessionTTL seconds after its visitor has gone, and lets go of it when
another one is stored, or never. What it then lets go of are cycles, which only a collection frees: there is none after
each rerun here. And what is freed stays with the C library, which gives it back to the system only when asked.
"""

import asyncio
import ctypes
import gc
from typing import Any

from streamlit.runtime import Runtime

__all__ = ["EVERY", "give_back", "keep_small", "large_blocks_apart"]

EVERY = 15.0  # seconds between two looks
_M_MMAP_THRESHOLD, _LARGE = -3, 2**18  # of mallopt; bytes


async def keep_small() -> None:
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
    await asyncio.to_thread(_trim)


def large_blocks_apart() -> None:
    """Have each large block mapped on its own, so that it goes back to the system as soon as it is free."""
    _c("mallopt", _M_MMAP_THRESHOLD, _LARGE)


def _trim() -> None:
    """Give free memory back to the system."""
    _c("malloc_trim", 0)


def _c(name: str, *numbers: int) -> None:
    """Call a function of the C library, where it is GNU's."""
    function = getattr(ctypes.CDLL(None), name, None)
    if function is not None:
        function(*numbers)
