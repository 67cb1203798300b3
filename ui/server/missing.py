"""The page for an address that packviz does not have: it says so, names a similar page, and lists them all."""

from pathlib import Path

from rapidfuzz import fuzz, process
from starlette.requests import Request
from starlette.responses import HTMLResponse

from packviz.teach.pages import PAGES
from packviz.text import markup

_TITLES = {page.address: page.menu for page in PAGES}
_GROUPS: dict[str, list[str]] = {}  # of all pages but the overview, by their groups in the menu
for _page in PAGES[1:]:
    _GROUPS.setdefault(_page.group or "More", []).append(_page.address)
_SIMILAR = 65  # of 100: "pading" and "padding" have 92, "nonsense" and "questions" 47
_MAX_CHARACTERS = 60  # of the address, as it is shown


def is_missing(path: str) -> bool:
    """Return whether no page of the app has the last name in this path; a server may put others before it."""
    return path.rstrip("/").rpartition("/")[2] not in {"", *_TITLES}


def missing(request: Request) -> HTMLResponse:
    """Return the page, with status 404. Its links keep the batch and the settings of the address."""
    asked = request.url.path.strip("/")
    similar = process.extractOne(asked[:_MAX_CHARACTERS].lower(), [*_TITLES], scorer=fuzz.ratio, score_cutoff=_SIMILAR)
    shown = asked if len(asked) <= _MAX_CHARACTERS else f"{asked[:_MAX_CHARACTERS]}…"
    query = f"?{request.url.query}" if request.url.query else ""
    words = {"asked": shown, "query": query, "titles": _TITLES, "groups": _GROUPS.items()}
    found = None if similar is None else similar[0]
    return HTMLResponse(markup(Path(__file__).with_suffix(".html"), similar=found, **words), 404)
