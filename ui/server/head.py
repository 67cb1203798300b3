"""The head of the HTML page that Streamlit's server sends: its title, the preview of a link, and what loads first.

Streamlit sends the same page, titled "Streamlit", for every address. Here it gets the title and the description of the
page that the address names, tags for chats and search engines (Open Graph), the app's styles, and a few small scripts.

The end of the head runs the files that the first picture needs, the player and parts of Streamlit's script, after
Streamlit's own: otherwise Streamlit's script requests the code of an element only when the first such element arrives.
React then shows placeholders, and everything that arrives within the next half second has to wait. Measured with an
empty cache, the picture comes after 1.0 s instead of 1.1 s, and with 40 ms to the server after 1.5 s instead of 1.7 s
(medians of 8). Naming these files and their imports as `modulepreload`, too, gained nothing, nor did it with 150 ms.
With the files of the settings and of the table, which come after the picture, it took 20 ms more (pairs of 32 visits).
The first edit needs one file more, which is loaded when the page has come to rest.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import parse_qsl

from starlette.middleware.base import BaseHTTPMiddleware, RequestResponseEndpoint
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import ASGIApp

from packviz.teach.pages import PAGES
from packviz.teach.questions import ENTRIES
from packviz.text import markup, visible
from ui.parts.player import NAME
from ui.server.missing import is_missing, missing
from ui.server.static import FOLDER, PAGE
from ui.state.path import FIRST
from ui.state.text import TITLES

PREVIEW = "preview.png"  # 1200 x 630 pixels, beside this file; its name in the address, too

ELEMENTS = ("BidiComponent", "TextArea", "ButtonGroup")  # of the first picture
FOR_AN_EDIT = "TextInput"  # see ui/state/replaced.py

_JS = FOLDER / "static" / "js"
_OF_THE_FILE = ("content-encoding", "content-length", "etag", "last-modified")  # headers
_SCRIPTS = ("away", "code", "examples", "history", "menu", "print", "tables", "theme", "typing")
# Where Streamlit finds its server. It would look below the page's own address first, and the browser report two errors.
_BASE = 'window.__streamlit = { BACKEND_BASE_URL: new URL(".", window.location.href).href };'
_EXAMPLES = f"window.__examples = {json.dumps(TITLES)};"
_STYLE = Path(__file__).with_name("style.css").read_text("utf-8")
_SCRIPT = _EXAMPLES + "".join(Path(__file__).with_name(f"{name}.js").read_text("utf-8") for name in _SCRIPTS)
_OF_PAGES = {page.address: (page.title, page.about) for page in PAGES}
_RIGHT = {name: name for name in _OF_PAGES} | {FIRST: ""}
_OF_ENTRIES = {key: (entry.question, entry.claim) for entry in ENTRIES for key in (entry.key, *entry.also)}
_MAX_CHARACTERS = 200  # of a description
_FILES = "/media/"  # in the address of what Streamlit offers for download: a saved movie is an HTML page, too
_ALT = "A batch of three sequences, packed column by column into one tensor"


class Head(BaseHTTPMiddleware):
    """Add the head to every HTML page that is sent."""

    def __init__(self, app: ASGIApp) -> None:
        super().__init__(app)
        end = f"{_end()}</head>"
        self.before, _, after = PAGE.partition("<title>Streamlit</title>")
        self.after = after.replace("</head>", end, 1).replace("</body>", f"<style>{_STYLE}</style></body>", 1)

    async def dispatch(self, request: Request, call_next: RequestResponseEndpoint) -> Response:
        """Send the page instead of Streamlit's own, with our styles after Streamlit's; pass on everything else."""
        right = _right(request.url.path)
        if right != request.url.path:
            return RedirectResponse(f"{right}?{request.url.query}" if request.url.query else right)
        answer = await call_next(request)
        is_html = answer.headers.get("content-type", "").startswith("text/html")
        if answer.status_code != 200 or not is_html or _FILES in request.url.path:
            return answer
        if is_missing(request.url.path):
            return missing(request)
        headers = {name: value for name, value in answer.headers.items() if name not in _OF_THE_FILE}
        script = f"{_BASE if _name(request.url.path) in _OF_PAGES else ''}{_SCRIPT}"
        return HTMLResponse(f"{self.before}<script>{script}</script>{_tags(request)}{self.after}", headers=headers)


def title_and_description(path: str, asked: Mapping[str, str]) -> tuple[str, str]:
    """Return the title and the description of the page at an address; asked: its query."""
    name = _name(path)
    title, about = _OF_PAGES.get(name, _OF_PAGES["overview"])
    if name == "questions" and asked.get("entry") in _OF_ENTRIES:
        title, about = _OF_ENTRIES[asked["entry"]]
    if name == "quiz" and asked.get("round", "").isdecimal():
        title = f"{title} Round {int(asked['round'][:5])}"
    if "sequences" in asked:
        rows = (visible(row.strip()) for row in asked["sequences"][:_MAX_CHARACTERS].splitlines())
        about = f"The batch {' / '.join(filter(None, rows))}. {about}"
    if len(about) > _MAX_CHARACTERS:
        about = f"{about[: _MAX_CHARACTERS - 1].rstrip()}…"
    return f"{title} · packviz", about


def _name(path: str) -> str:
    """Return the name of the page at an address; a server may put others before it."""
    return path.rstrip("/").rpartition("/")[2]


def _right(path: str) -> str:
    """Return the address of the intended page: capitals and a trailing slash are accepted.

    Streamlit shows its first page only at the root, and says at the page's own address that there is no such page.
    """
    before, _, name = path.rstrip("/").rpartition("/")
    right = _RIGHT.get(name.lower())
    return path if right is None else f"/{before.lstrip('/')}/{right}".replace("//", "/")


def _tags(request: Request) -> str:
    """Return the title of the requested page, and the tags for link previews."""
    url = request.url
    if request.headers.get("x-forwarded-proto") == "https":  # behind a proxy that ends TLS
        url = url.replace(scheme="https")
    title, about = title_and_description(url.path, dict(parse_qsl(url.query)))
    image = url.replace(path=f"/{PREVIEW}", query="", fragment="")
    named = {"description": about, "twitter:card": "summary_large_image"}
    graph = {"site_name": "packviz", "type": "website", "title": title, "description": about, "url": url}
    picture = {"image": image, "image:width": "1200", "image:height": "630", "image:alt": _ALT}
    return markup(Path(__file__).with_suffix(".html"), title=title, named=named, graph=graph | picture)


def needed() -> list[str]:
    """Return the player and the files of ELEMENTS, by their addresses."""
    return [NAME, *map(_file, ELEMENTS)]


def _file(element: str) -> str:
    (found,) = _JS.glob(f"{element}.*.js")
    return f"static/js/{found.name}"


def _end() -> str:
    """Return the script that runs these files after those of the page itself."""
    player, *parts = needed()
    imports = f'import {{ explainPage, framed }} from "./{player}";' + "".join(f'import "./{file}";' for file in parts)
    later = f'setTimeout(() => {{ explainPage(); import("./{_file(FOR_AN_EDIT)}"); }}, 1500);'
    return f'<script type="module">{imports}framed();{later}</script>'
