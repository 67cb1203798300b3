"""The page for phones: one HTML file with its style sheet and script in it, and the player, fetched for the movie."""

from __future__ import annotations

import base64
import gzip
import json
import re
from functools import cache
from hashlib import sha256
from pathlib import Path
from string import Template

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from packviz.show.movie import assets
from packviz.show.theme import DARK, LIGHT, SEQUENCE_HUES, Palette, mix, text_on

__all__ = ["page", "player", "routes"]

_HERE = Path(__file__).parent
_MODULES = ("dom", "kept", "answer", "line", "reveal", "phone")  # each after those that it imports
_IMPORT = re.compile(r"^import [^;]*;\n", re.MULTILINE)
_SOFT = 0.88  # share of the background in a colour behind a text
_KEEP = "public, max-age=31536000, immutable"


def routes() -> list[Route]:
    """Return the routes of the page, without a room or with its code, and of the player."""
    name, code = player()
    text, policy = page()

    async def show(request: Request) -> Response:
        headers = {"Cache-Control": "no-cache", "Content-Security-Policy": policy}
        return _zipped(request, text, "text/html; charset=utf-8", headers)

    async def play(request: Request) -> Response:
        return _zipped(request, code, "text/javascript; charset=utf-8", {"Cache-Control": _KEEP})

    return [Route("/join", show), Route(f"/join/{name}", play), Route("/join/{code}", show)]


@cache
def page() -> tuple[str, str]:
    """Return the page and its Content-Security-Policy."""
    script = "\n" + "".join(map(_module, _MODULES)) + "\n"
    style = _colours() + _read("phone.css")
    text = Template(_read("index.html")).substitute(player=f"join/{player()[0]}", style=style, script=script[1:-1])
    digest = base64.b64encode(sha256(script.encode()).digest()).decode()
    own = f"script-src 'self' 'sha256-{digest}'; style-src 'unsafe-inline'; connect-src 'self'; img-src data: blob:"
    return text, f"default-src 'none'; {own}; base-uri 'none'; form-action 'none'"


@cache
def player() -> tuple[str, str]:
    """Return the player's name, which changes with it, and its module, which has its style sheet, too."""
    css, js = assets()
    code = f"{js}\nexport const styles = {json.dumps(css)};\n"
    return f"player.{sha256(code.encode()).hexdigest()[:16]}.js", code


def _module(name: str) -> str:
    """Return a module as a part of one script: all of them stand in one scope there."""
    return re.sub(r"^export ", "", _IMPORT.sub("", _read(f"{name}.js")), flags=re.MULTILINE)


def _colours() -> str:
    """Return the colours of the app as custom properties, light and dark."""
    return f":root{{{_named(LIGHT)}}}@media(prefers-color-scheme:dark){{:root{{{_named(DARK)}}}}}{_hues()}\n"


def _named(palette: Palette) -> str:
    background = palette.background
    names = ("background", "surface", "text", "quiet", "line", "now", "good", "wrong")
    values = {name: str(getattr(palette, name)) for name in names}
    values |= {f"{name}-soft": mix(values[name], background, _SOFT) for name in ("now", "good", "wrong")}
    values["hair"] = mix(palette.line, background, 0.7)
    return "".join(f"--{name}:{value};" for name, value in values.items())


def _hues() -> str:
    rules = (f".hue{i}{{color:{text_on(hue)};background:{hue}}}" for i, hue in enumerate(SEQUENCE_HUES))
    return "".join(rules)


def _read(name: str) -> str:
    return (_HERE / name).read_text("utf-8")


@cache
def _gzipped(text: str) -> bytes:
    return gzip.compress(text.encode(), 9, mtime=0)


def _zipped(request: Request, text: str, kind: str, headers: dict[str, str]) -> Response:
    headers = {**headers, "Vary": "Accept-Encoding"}
    if "gzip" in request.headers.get("accept-encoding", ""):
        return Response(_gzipped(text), headers={**headers, "Content-Encoding": "gzip"}, media_type=kind)
    return Response(text, headers=headers, media_type=kind)
