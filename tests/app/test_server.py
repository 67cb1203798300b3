"""The server: warm, without a collection after every rerun, and with the page's files named in its header."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path
from urllib.request import urlopen

import pytest
from streamlit import config
from streamlit.runtime.pages_manager import PagesManager

from ui.preload import ELEMENTS, needed

ROOT = Path(__file__).parents[2]
SETTINGS = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text("utf-8"))
OPTIONS = [
    f"{section}.{name}"
    for section, values in SETTINGS.items()
    for name, value in values.items()
    if not isinstance(value, dict)
]


@pytest.mark.parametrize("name", OPTIONS)
def test_every_setting_is_one_that_streamlit_knows(name: str) -> None:
    assert name in config.get_config_options()


def test_streamlit_still_has_the_hidden_settings_that_the_speed_rests_on() -> None:
    assert SETTINGS["runner"]["postScriptGC"] is False
    assert config.get_config_options()["runner.postScriptGC"].default_val is True
    assert hasattr(PagesManager, "uses_pages_directory")


def test_the_process_is_warm_before_it_serves() -> None:
    code = """
import asyncio, gc, socket, sys
from ui.warm import warm

async def serve():
    listener = socket.create_server(("127.0.0.1", 0))
    other = socket.socket()
    async with warm(None):
        at_once = [bool(each.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)) for each in (listener, other)]
        print(gc.get_freeze_count(), sys.modules["torch"].get_num_threads(), "pandas" in sys.modules, *at_once)
    listener.close()
    other.close()

asyncio.run(serve())
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    ready, warm = done.stdout.splitlines()
    assert ready.startswith("packviz is ready: http://localhost:")
    frozen, threads, pandas, listener, other = warm.split()
    assert int(frozen) > 100_000
    assert (threads, pandas) == ("1", "True")
    assert (listener, other) == ("True", "False")  # who listens answers at once; nobody else's socket is touched


def test_the_page_names_the_files_that_the_first_picture_needs(address: str) -> None:
    files = needed()
    assert {name.partition(".")[0] for name in files} >= set(ELEMENTS)
    with urlopen(f"{address}/overview") as page:
        links = page.headers["Link"]
    assert re.findall(r"<\./static/js/([^>]+)>; rel=modulepreload", links) == files
    for file in files:
        with urlopen(f"{address}/static/js/{file}") as answer:
            assert answer.status == 200
            assert "javascript" in answer.headers["Content-Type"]


def test_nothing_but_the_page_carries_that_header(address: str) -> None:
    with urlopen(f"{address}/_stcore/health") as health:
        assert health.headers["Link"] is None
