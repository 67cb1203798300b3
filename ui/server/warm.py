"""Warm up the server's process before its first visitor: import, run once, collect, freeze."""

import asyncio
import gc
import webbrowser
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import streamlit as st
import torch
from streamlit.runtime.pages_manager import PagesManager

from classroom.rooms import rooms
from packviz import charts
from ui.parts.part import table
from ui.server import logs, observed, sessions
from ui.server.static import compress_all
from ui.state.kinds import PACKING
from ui.state.runs import Request, run


@asynccontextmanager
async def warm(_app: st.App) -> AsyncIterator[dict[str, Any] | None]:
    """Warm up the process, print the app's address, open it if there is a screen, and serve."""
    sessions.map_large_blocks()
    torch.set_num_threads(1)  # the matrices are small, and every visitor has a thread
    PagesManager.uses_pages_directory = False  # or Streamlit runs a file in pages/ without app.py for the first visitor
    shown = run(Request())
    _ = shown.movie  # made when it is read
    table(PACKING, shown.trace, "pack", None, 0)
    charts.states(shown.trace)
    _attend()
    compress_all()
    gc.collect()
    gc.freeze()  # later collections skip everything that is loaded now
    address = f"http://localhost:{st.get_option('server.port')}"
    if logs.wanted():
        logs.set_up()
        logs.tell("ready", port=st.get_option("server.port"))
    else:
        print(f"packviz is ready: {address}", flush=True)
    if not st.get_option("server.headless"):
        webbrowser.open(address)
    tasks = [asyncio.create_task(sessions.close_repeatedly()), asyncio.create_task(observed.watch_loop())]
    async with rooms.serving():
        yield None
    for task in tasks:
        task.cancel()
    logs.tell("stopped")


def _attend() -> None:
    """Run attention with a mask: at the first one torch imports modules, for up to a second."""
    x, pads = torch.zeros(1, 2, 2), torch.tensor([[False, True]])
    torch.nn.MultiheadAttention(2, 1, batch_first=True)(x, x, x, key_padding_mask=pads)
