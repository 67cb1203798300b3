"""Streamlit's own scripts and styles, served from memory and compressed once.

Streamlit reads such a file from disk for each browser and sends it uncompressed: 3 MB in 90 files for a first visit.
Their names change with their content, so a browser requests each one once, and they can be cached here.
"""

import gzip
import re
from functools import cache
from pathlib import Path

import streamlit as st
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

FOLDER = Path(st.__file__).parent / "static"
PAGE = (FOLDER / "index.html").read_text("utf-8")
_TYPES = {".js": "application/javascript", ".css": "text/css"}
_NAMES = {str(file.relative_to(FOLDER)) for suffix in _TYPES for file in FOLDER.glob(f"static/*/*{suffix}")}
_HEADERS = {
    "Cache-Control": "public, immutable, max-age=31536000",
    "Content-Encoding": "gzip",
    "Vary": "Accept-Encoding",
}


class Static:
    """Serve the scripts and styles in FOLDER, if the browser accepts them compressed."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve the file, or pass the request on to the app."""
        name = _asked(scope)
        answer = self.app
        if name is not None:
            answer = Response(compressed(name), headers=_HEADERS, media_type=_TYPES[Path(name).suffix])
        await answer(scope, receive, send)


def compress_all() -> None:
    """Compress the files that the page names now; all others when they are requested."""
    for name in _NAMES & set(re.findall(r'"\./([^"]+)"', PAGE)):
        compressed(name)


@cache
def compressed(name: str) -> bytes:
    """Return a file of FOLDER compressed with gzip."""
    return gzip.compress((FOLDER / name).read_bytes(), 6, mtime=0)


def _asked(scope: Scope) -> str | None:
    """Return the name of the requested file, if it is one of these and may be sent compressed."""
    if scope["type"] != "http" or scope["method"] != "GET":
        return None
    name, headers = "/".join(scope["path"].split("/")[-3:]), Headers(scope=scope)
    takes = "gzip" in headers.get("accept-encoding", "") and "range" not in headers
    return name if name in _NAMES and takes else None
