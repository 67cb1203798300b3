"""Make the server's process warm before its first visitor: import, run once, collect, freeze."""

import asyncio
import gc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import streamlit as st
import torch
from streamlit import config
from streamlit.runtime.pages_manager import PagesManager

from packviz import charts
from packviz.facts import memory
from ui.connections import bound_all
from ui.memory import keep_small, large_blocks_apart
from ui.part import table
from ui.runs import Request, run

__all__ = ["warm"]


@asynccontextmanager
async def warm(_app: st.App) -> AsyncIterator[dict[str, Any] | None]:
    """Warm the process, say where the app is, and serve."""
    large_blocks_apart()
    torch.set_num_threads(1)  # the matrices are small, and every visitor has a thread
    PagesManager.uses_pages_directory = False  # a deep link that comes first finds its page through app.py, too
    shown = run(Request())
    table(shown.trace, "pack", None, 0)
    memory(shown.trace)  # torch's first nested tensor takes a second
    charts.states(shown.trace)
    gc.collect()
    bound_all()
    gc.freeze()  # what is loaded now stays: no later collection looks at it again
    print(f"packviz is ready: http://localhost:{config.get_option('server.port')}", flush=True)
    small = asyncio.create_task(keep_small())
    yield None
    small.cancel()
