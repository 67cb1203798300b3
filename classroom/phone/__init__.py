"""The page for phones: one HTML file with its style sheet and script in it, and the player, fetched for the movie.

Its script is ../phone.js, which `make player` bundles from the modules here, and the player ../player.js.
"""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Awaitable, Callable
from functools import cache
from hashlib import sha256
from pathlib import Path
from string import Template

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from packviz.show.movie import assets
from packviz.show.theme import DARK, LIGHT, SEQUENCE_HUES, Palette, mix, text_on

__all__ = ["page", "play", "player", "routes"]

_HERE = Path(__file__).parent
_SOFT = 0.88  # share of the background in a colour behind a text


def routes() -> list[Route]:
    """Return the routes of the page, without a room or with its code, and of the player."""
    text, policy = page()
    show = _sender(text, "text/html", {"Cache-Control": "no-cache", "Content-Security-Policy": policy})
    return [Route("/join", show), play("/join/", _read("../player.js")), Route("/join/{code}", show)]


def play(folder: str, script: str) -> Route:
    """Return the route of a player in a folder. A browser may keep it."""
    name, code = player(script)
    keep = {"Cache-Control": "public, max-age=31536000, immutable"}
    return Route(folder + name, _sender(code, "text/javascript", keep))


@cache
def page() -> tuple[str, str]:
    """Return the page and its Content-Security-Policy."""
    script = _read("../phone.js")
    style = _colours() + _read("phone.css")
    text = Template(_read("index.html")).substitute(
        player=f"join/{player(_read('../player.js'))[0]}", style=style, script=script
    )
    digest = base64.b64encode(sha256(script.encode()).digest()).decode()
    own = f"script-src 'self' 'sha256-{digest}'; style-src 'unsafe-inline'; connect-src 'self'"
    return text, f"default-src 'none'; {own}; img-src 'self' data: blob:; base-uri 'none'; form-action 'none'"


@cache
def player(script: str) -> tuple[str, str]:
    """Return a player's name, which changes with it, and its module, which has the style sheet, too."""
    style, _ = assets()
    code = f"{script}\nexport const styles = {json.dumps(style)};\n"
    return f"player.{sha256(code.encode()).hexdigest()[:16]}.js", code


def _colours() -> str:
    """Return the colours of the app as custom properties, light and dark."""
    hues = "".join(f".hue{i}{{color:{text_on(hue)};background:{hue}}}" for i, hue in enumerate(SEQUENCE_HUES))
    return f":root{{{_named(LIGHT)}}}@media(prefers-color-scheme:dark){{:root{{{_named(DARK)}}}}}{hues}\n"


def _named(palette: Palette) -> str:
    background = palette.background
    names = ("background", "surface", "text", "quiet", "line", "now", "good", "wrong")
    values = {name: str(getattr(palette, name)) for name in names}
    values |= {f"{name}-soft": mix(values[name], background, _SOFT) for name in ("now", "good", "wrong")}
    values["hair"] = mix(palette.line, background, 0.7)
    return "".join(f"--{name}:{value};" for name, value in values.items())


def _read(name: str) -> str:
    return (_HERE / name).read_text("utf-8")


def _sender(text: str, kind: str, headers: dict[str, str]) -> Callable[[Request], Awaitable[Response]]:
    """Return what answers requests with a text, compressed for those that accept it."""
    zipped = gzip.compress(text.encode(), 9, mtime=0)
    headers = {**headers, "Vary": "Accept-Encoding"}

    async def send(request: Request) -> Response:
        if "gzip" in request.headers.get("accept-encoding", ""):
            return Response(zipped, headers={**headers, "Content-Encoding": "gzip"}, media_type=kind)
        return Response(text, headers=headers, media_type=kind)

    return send
