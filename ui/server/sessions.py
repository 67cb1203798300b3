"""The sessions of visitors who have left: they are closed after a while, and their memory is given back.

Streamlit keeps a session for server.disconnectedSessionTTL seconds after its visitor has left, and drops it only when
another one is stored. Its objects form cycles, which only a garbage collection frees, and here none runs after each
rerun. The C library keeps freed memory, and returns it to the system only on request.

Visitors who return then, or after the server was restarted, have a page whose session the server does not know.
"""

import asyncio
import ctypes
import gc
import sys
import time
from datetime import timedelta

import streamlit as st
from streamlit.runtime import Runtime

from classroom.background import going_on

EVERY = 15.0  # seconds between two checks
AWAY = 60.0  # seconds after which a visitor who has left is not waited for; with two checks, less than Streamlit's own

_M_MMAP_THRESHOLD, _LARGE = -3, 2**18  # of mallopt; bytes

_last_seen: dict[str, float] = {}  # by session, on the clock time.monotonic


def note(session: str) -> None:
    """Record that a visitor's page runs now."""
    _last_seen[session] = time.monotonic()


@st.fragment(run_every=timedelta(days=1))
def ask_again() -> None:
    """Have the browser ask for the whole page when it connects again, on each page.

    Streamlit's browser does so only if the page has a fragment that runs by itself, or if the last run was one of a
    fragment. Otherwise it first asks for the fragment of what is used next, and a new session ignores a fragment that
    it has not drawn: an edit of the text would change nothing.

    Call it before the page is drawn. If a fragment reruns before the browser has its part of the page, Streamlit drops
    that part, and the browser refuses what comes after it: "Bad delta path index".
    """


async def close_repeatedly() -> None:
    """Close the sessions of those who have left, and release their memory, until the server stops."""
    while True:
        await asyncio.sleep(EVERY)
        with going_on("Closing the sessions of those who have left"):
            if close_those_left(time.monotonic()):
                await release_memory()


def close_those_left(now: float) -> int:
    """Close the sessions whose visitors were not seen for AWAY seconds; return how many. Call it in the event loop."""
    runtime = Runtime.instance()
    _last_seen.update((session, now) for session in list(_last_seen) if runtime.is_active_session(session))
    left = [session for session, seen in list(_last_seen.items()) if now - seen > AWAY]  # pages add theirs meanwhile
    for session in left:
        runtime.close_session(session)
        _last_seen.pop(session, None)
    return len(left)


async def release_memory() -> None:
    """Collect garbage, and return what is free to the system."""
    gc.collect()
    await asyncio.to_thread(_call_c, "malloc_trim", 0)


def map_large_blocks() -> None:
    """Let the C library map large blocks of memory separately: these are given back as soon as they are freed."""
    _call_c("mallopt", _M_MMAP_THRESHOLD, _LARGE)


def _call_c(name: str, *numbers: int) -> None:
    """Call a function of the C library, if it is the GNU one."""
    if sys.platform == "win32":  # which refuses CDLL(None)
        return
    function = getattr(ctypes.CDLL(None), name, None)
    if function is not None:
        function(*numbers)
