"""Run the pages of the app without a browser, as Streamlit runs them: a hundred times faster."""

import json
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

from packviz.teach import pages
from ui.parts.player import Screen

__all__ = ["LESSONS", "ROW_STAGES", "STAGES", "movies", "opened", "press", "rendered", "texts"]

APP = Path(__file__).parents[2] / "app.py"
FOLDS: dict[str, set[str]] = defaultdict(set)  # the keys of a page's folded parts, as far as they are known
STAGES = {page.address: page.stages[0] for page in pages.LESSONS.values() if page.kind == "packing"}
ROW_STAGES = {page.address: page.stages[0] for page in pages.LESSONS.values() if page.kind == "rows"}
LESSONS = STAGES | ROW_STAGES  # of each lesson, its first stage


def opened(page: str, query: Mapping[str, object] | None = None, *, painted: bool = True) -> AppTest:
    """Open a page and all its folded parts. page: its name in the address. painted: whether its player has painted.

    On numbers, which are short to type and have no embedding, if the link's query names no batch.
    """
    app = AppTest.from_file(APP, default_timeout=60)
    app._page_hash = calc_hash(page)  # AppTest can switch to a page, but not begin there
    asked = dict(query or {})
    if "sequences" not in asked and page not in ("questions", "doctor", "quiz"):
        asked.setdefault("example", "unsorted")
    app.query_params.update({name: str(value) for name, value in asked.items()})
    if painted:
        app.session_state["visit"] = {Screen: Screen(stage=LESSONS.get(page, "pad"))}
    for key in FOLDS[page]:
        app.session_state[key] = True
    app.run()
    folded = {each.key for each in app.expander if each.key and each.key.startswith("fold ")} - FOLDS[page]
    FOLDS[page] |= folded
    for key in folded:
        app.session_state[key] = True
    return app.run() if folded else app


def press(app: AppTest, *labels: str) -> AppTest:
    """Press buttons one after another, each by the beginning of its label."""
    for label in labels:
        next(each for each in app.button if each.label.startswith(label)).click().run()
        assert not app.exception
    return app


def texts(app: AppTest) -> str:
    """Return all texts on a page."""
    assert not app.exception, [each.message for each in app.exception]
    kinds = ("title", "header", "subheader", "markdown", "text", "code", "success")
    return "\n".join(cast(Any, each).value for kind in kinds for each in app.get(kind))


def rendered(app: AppTest) -> str:
    """Return the HTML of the Markdown of teachers on a page."""
    given = [each.proto for each in app.get("bidi_component") if each.proto.component_name == "packviz_rendered"]
    assert given
    return "\n".join(str(each.json and json.loads(each.json)) for each in given)


def movies(app: AppTest) -> list[str]:
    """Return what each player on a page is given, as JSON."""
    given = [each.proto.bytes.decode() for each in app.get("bidi_component")]
    return [data for data in given if '"movie"' in data]
