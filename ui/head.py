"""The head of the HTML page that Streamlit's server sends: a title, what a pasted link shows, and what comes first.

Streamlit sends the same page, titled "Streamlit", for every address. Here it gets the title and the description of the
page that the address names, tags that chats and search engines read (Open Graph), the app's styles, and a few small
scripts.

At its end it names the files that the first picture needs, the player and parts of Streamlit's script, and runs them
after Streamlit's own: by itself, Streamlit's script asks for the code of an element when the first such element
arrives. React then shows placeholders, and what arrives within the next half second waits for its end.
"""

import gzip
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import parse_qsl

from starlette.datastructures import URL, Headers, MutableHeaders
from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from packviz.teach.questions import ENTRIES, PAGES
from packviz.text import markup, visible
from ui.player import NAME
from ui.static import FOLDER

PREVIEW = "preview.png"  # 1200 x 630 pixels, beside this file; its name in the address, too

ELEMENTS = ("BidiComponent", "TextArea", "ButtonGroup", "NumberInput", "Checkbox", "Html")

_JS = FOLDER / "static" / "js"
_IMPORT = re.compile(r"""(?:from|import)\s*["']\./([^"']+\.js)["']""")
_TITLE = "<title>Streamlit</title>"
_SCRIPTS = ("away", "history", "menu", "print", "theme", "typing")
_STYLE = Path(__file__).with_name("style.css").read_text("utf-8")
_SCRIPT = "".join(Path(__file__).with_name(f"{name}.js").read_text("utf-8") for name in _SCRIPTS)
_OF_PAGES = {page.address: (page.title, page.about) for page in PAGES} | {
    "questions": ("Questions about packing, answered", "What people ask and claim, each tried by a small program.")
}
_OF_ENTRIES = {key: (entry.question, entry.claim) for entry in ENTRIES for key in (entry.key, *entry.also)}
_MAX_CHARACTERS = 200  # of a description
_ALT = "A batch of three sequences, packed column by column into one tensor"


class Head:
    """Put it into every HTML page that is sent."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self.end = _end()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        right = _right(scope["path"])
        if right != scope["path"]:
            query = scope["query_string"].decode("latin-1")
            await RedirectResponse(f"{right}?{query}" if query else right)(scope, receive, send)
            return
        await self.app(scope, receive, _Sent(send, lambda: f"<script>{_SCRIPT}</script>{_tags(scope)}", self.end))


class _Sent:
    """Send an answer on; if it is an HTML page, with `head` in the place of the title, and `end` at its head's end."""

    def __init__(self, send: Send, head: Callable[[], str], end: str) -> None:
        self.send, self.head, self.end = send, head, end
        self.start: Message | None = None  # held back until the length of the page is known
        self.body = b""

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start" and _is_page(message):
            self.start = message
        elif self.start is None:
            await self.send(message)
        else:
            self.body += message.get("body", b"")
            if not message.get("more_body", False):
                await self._send_page()

    async def _send_page(self) -> None:
        assert self.start is not None
        headers = MutableHeaders(raw=list(self.start["headers"]))
        body = gzip.decompress(self.body) if headers.get("content-encoding") == "gzip" else self.body
        if _TITLE.encode() not in body:  # not a page of Streamlit's
            await self.send(self.start)
            await self.send({"type": "http.response.body", "body": self.body})
            return
        text = body.decode("utf-8").replace(_TITLE, self.head(), 1).replace("</head>", f"{self.end}</head>", 1)
        page = text.replace("</body>", f"<style>{_STYLE}</style></body>", 1).encode()  # behind Streamlit's own styles
        for name in ("content-encoding", "etag", "last-modified"):  # the last two are of the file, the same for all
            del headers[name]
        headers["content-length"] = str(len(page))
        await self.send({**self.start, "headers": headers.raw})
        await self.send({"type": "http.response.body", "body": page})


def told(path: str, query: str) -> tuple[str, str]:
    """Return the title and the description of the page at an address."""
    asked = dict(parse_qsl(query))
    name = path.rstrip("/").rpartition("/")[2]
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


def _right(path: str) -> str:
    """Return the address of the page that is meant: one in capitals, or with a slash behind it, is a page, too."""
    before, _, name = path.rstrip("/").rpartition("/")
    return f"/{before.lstrip('/')}/{name.lower()}".replace("//", "/") if name.lower() in _OF_PAGES else path


def _tags(scope: Scope) -> str:
    """Return the title of the page that was asked for, and the tags by which others show it."""
    url = URL(scope=scope)
    if Headers(scope=scope).get("x-forwarded-proto") == "https":  # a proxy has taken the encryption off
        url = url.replace(scheme="https")
    title, about = told(url.path, url.query)
    image = url.replace(path=f"/{PREVIEW}", query="", fragment="")
    named = {"description": about, "twitter:card": "summary_large_image"}
    graph = {"site_name": "packviz", "type": "website", "title": title, "description": about, "url": url}
    picture = {"image": image, "image:width": "1200", "image:height": "630", "image:alt": _ALT}
    return markup(Path(__file__).with_suffix(".html"), title=title, named=named, graph=graph | picture)


def _is_page(message: Message) -> bool:
    headers = MutableHeaders(raw=message["headers"])
    return message["status"] == 200 and headers.get("content-type", "").startswith("text/html")


def needed() -> list[str]:
    """Return the player, the files of ELEMENTS and whatever they import, except those that the page names itself."""
    page = FOLDER / "index.html"
    named = page.read_text("utf-8") if page.is_file() else ""
    found: dict[str, None] = {}
    for file in _first():
        found |= dict.fromkeys(_with_imports(file, set()))
    return [NAME, *(f"static/js/{name}" for name in found if name not in named)]


def _end() -> str:
    """Return what fetches these files together, after those of the page itself, and then runs them."""
    links = "".join(f'<link rel="modulepreload" fetchpriority="low" href="./{file}">' for file in needed())
    parts = "".join(f'import "./static/js/{file.name}";' for file in _first())
    player = f'import {{ explainPage }} from "./{NAME}";'
    return f'{links}<script type="module">{player}{parts}setTimeout(explainPage, 1500);</script>'


def _first() -> list[Path]:
    return [file for element in ELEMENTS for file in sorted(_JS.glob(f"{element}.*.js"))]


def _with_imports(file: Path, seen: set[str]) -> Iterator[str]:
    if file.name in seen or not file.is_file():
        return
    seen.add(file.name)
    yield file.name
    for name in _IMPORT.findall(file.read_text("utf-8")):
        yield from _with_imports(file.parent / name, seen)
