"""The player's files, and the page that contains them with a movie."""

import base64
import gzip
import html
import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from string import Template
from typing import Any
from zlib import crc32

LARGE = 200_000  # characters from which an SVG is not stored in a notebook beside its movie
HERE = files("packviz.show.movie")
POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data: blob:"


@cache
def assets() -> tuple[str, str]:
    """Return the player's style sheet and its ES module."""
    return (HERE / "player.css").read_text("utf-8"), (HERE / "player.js").read_text("utf-8")


def exercises() -> str:
    """Return the script of the exercises by hand, which have the player's style sheet."""
    return (HERE / "exercises.js").read_text("utf-8")


def standalone(title: str, movie: Mapping[str, Any], given: str = "") -> str:
    """Return one HTML page that plays a movie without a server or a network.

    given: attributes for the player's element: ` data-fit` in a frame, ` data-step="3"` to open on another step.
    """
    css, js = assets()
    page = Template((HERE / "page.html").read_text("utf-8"))
    return page.substitute(
        title=html.escape(title), policy=POLICY, css=css, js=js, movie=compressed(movie), given=given
    )


def framed(title: str, movie: Mapping[str, Any], still: str) -> str:
    """Return the page as a frame for a notebook: a separate document, so that no styles leak either way.

    still: shown instead if a notebook is not trusted, and on GitHub, which removes frames and styles.
    """
    host = (HERE / "host.js").read_text("utf-8")
    document, name = html.escape(standalone(title, movie, " data-fit")), f"packviz-{crc32(still.encode()):x}"
    attributes = f'title="{html.escape(title)}" srcdoc="{document}" onload="{html.escape(host)}" allow="fullscreen *"'
    look = 'sandbox="allow-scripts allow-downloads" style="width:100%;height:560px;border:0"'
    hidden = f"<style>.{name} {{ display: none }}</style>"
    return f'{hidden}<iframe {attributes} {look}></iframe><div class="{name}">{still}</div>'


def pictured(text: str, svg: str) -> str:
    """Return a picture of a movie as HTML without scripts, with a line of text; only the text if it is large."""
    data, line = base64.b64encode(svg.encode()).decode("ascii"), html.escape(text)
    image = f'<img alt="{line}" src="data:image/svg+xml;base64,{data}" style="max-width:100%"/>'
    return f"{image if len(svg) < LARGE else ''}<p>{line}</p>"


def compressed(movie: Mapping[str, Any]) -> str:
    """Return a movie as base64 of gzipped JSON: a tenth of the size, and it cannot end the script element."""
    text = json.dumps(movie, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return base64.b64encode(gzip.compress(text.encode(), 6, mtime=0)).decode("ascii")
