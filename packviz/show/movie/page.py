"""The player's files, and the page that carries them with a movie in it."""

import base64
import gzip
import html
import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from string import Template
from typing import Any

__all__ = ["assets", "framed", "packed", "standalone"]

FRAME_HEIGHT = 660  # pixels of a movie in a notebook
POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data: blob:"


@cache
def assets() -> tuple[str, str]:
    """Return the player's style sheet and its ES module."""
    here = files("packviz.show.movie")
    return (here / "player.css").read_text("utf-8"), (here / "player.js").read_text("utf-8")


def standalone(title: str, movie: Mapping[str, Any]) -> str:
    """Return one HTML page that plays a movie without a server or a network."""
    css, js = assets()
    page = Template((files("packviz.show.movie") / "page.html").read_text("utf-8"))
    return page.substitute(title=html.escape(title), policy=POLICY, css=css, js=js, movie=packed(movie))


def framed(title: str, movie: Mapping[str, Any]) -> str:
    """Return the page as a frame for a notebook: its own document, so that no style of either reaches the other."""
    document = html.escape(standalone(title, movie), quote=True)
    return (
        f'<iframe title="{html.escape(title, quote=True)}" srcdoc="{document}" sandbox="allow-scripts allow-downloads" '
        f'allow="fullscreen *" style="width:100%;height:{FRAME_HEIGHT}px;border:0"></iframe>'
    )


def packed(movie: Mapping[str, Any]) -> str:
    """Return a movie as base64 of gzipped JSON: a tenth of the size, and nothing in it can end the script element."""
    text = json.dumps(movie, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return base64.b64encode(gzip.compress(text.encode(), 6, mtime=0)).decode("ascii")
