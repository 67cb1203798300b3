"""Let the browser fetch the parts of Streamlit's frontend that our first picture needs together with the page.

Streamlit's script asks for the code of an element when the first such element arrives, one round after the other. A
`Link` header names these files with the page itself, so that they are there in time.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import streamlit as st
from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["ELEMENTS", "Preload", "needed"]

ELEMENTS = ("BidiComponent", "TextArea", "ButtonGroup", "NumberInput", "Checkbox", "Html")

_STATIC = Path(st.__file__).parent / "static"
_IMPORT = re.compile(r"""(?:from|import)\s*["']\./([^"']+\.js)["']""")


class Preload:
    """Add the header to every page that is sent."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        links = ", ".join(f"<./static/js/{name}>; rel=modulepreload" for name in needed())
        self.header = (b"link", links.encode("ascii"))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_on(message: Message) -> None:
            if message["type"] == "http.response.start" and _is_page(message):
                message = {**message, "headers": [*message["headers"], self.header]}
            await send(message)

        await self.app(scope, receive, send_on)


def needed() -> list[str]:
    """Return the files of ELEMENTS and whatever they import, less what the page names itself; [] if none is found."""
    folder, page = _STATIC / "static" / "js", _STATIC / "index.html"
    if not page.is_file():
        return []
    named = page.read_text("utf-8")
    found: dict[str, None] = {}
    for element in ELEMENTS:
        for file in sorted(folder.glob(f"{element}.*.js")):
            found |= dict.fromkeys(_with_imports(file, set()))
    return [name for name in found if name not in named]


def _with_imports(file: Path, seen: set[str]) -> Iterator[str]:
    if file.name in seen or not file.is_file():
        return
    seen.add(file.name)
    yield file.name
    for name in _IMPORT.findall(file.read_text("utf-8")):
        yield from _with_imports(file.parent / name, seen)


def _is_page(message: Message) -> bool:
    return any(name == b"content-type" and value.startswith(b"text/html") for name, value in message["headers"])
