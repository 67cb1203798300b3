"""Make the server's process warm before its first visitor: import, run once, collect, freeze."""

import gc
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import streamlit as st
import torch
from streamlit import config
from streamlit.runtime.pages_manager import PagesManager

from packviz import charts
from packviz.studies import memory
from ui.records import table
from ui.requests import Request
from ui.runs import run

__all__ = ["warm"]


@asynccontextmanager
async def warm(_app: st.App) -> AsyncIterator[dict[str, Any] | None]:
    """Warm the process, say where the app is, and serve."""
    torch.set_num_threads(1)  # the matrices are small, and every visitor has a thread
    PagesManager.uses_pages_directory = False  # a deep link that comes first finds its page through app.py, too
    shown = run(Request())
    table(shown, "pack")
    memory(shown.trace)  # torch's first nested tensor takes a second
    charts.states(shown.trace)
    gc.collect()
    _answer_at_once()
    gc.freeze()  # what is loaded now stays: no later collection looks at it again
    print(f"packviz is ready: http://localhost:{config.get_option('server.port')}", flush=True)
    yield None


def _answer_at_once() -> None:
    """Send small files and answers without waiting for an acknowledgement: 1.5 ms each instead of 45.

    asyncio switches Nagle's algorithm off only for sockets that name their protocol, and Streamlit's listener names
    none. What it accepts inherits the option. The listener is handed to nobody, so it is looked for among all objects.
    """
    for each in gc.get_objects():
        if type(each) is socket.socket and each.family in (socket.AF_INET, socket.AF_INET6) and _listens(each):
            each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


def _listens(each: socket.socket) -> bool:
    return each.fileno() >= 0 and each.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN) == 1
