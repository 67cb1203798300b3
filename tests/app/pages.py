"""The pages of the app without a browser: run as Streamlit runs them, a hundred times faster."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

from ui.visit import Visit

__all__ = ["STAGES", "movies", "opened", "texts"]

APP = Path(__file__).parents[2] / "app.py"
STAGES = {"padding": "pad", "sorting": "sort", "packing": "pack", "running": "run", "unpacking": "unpack"}


def opened(page: str, query: Mapping[str, object] | None = None, *, painted: bool = True) -> AppTest:
    """Open a page, by its name in the address, with a link's query; painted: whether its player has painted."""
    app = AppTest.from_file(APP, default_timeout=60)
    app._page_hash = calc_hash(page)  # AppTest can switch to a page, but not begin there
    app.query_params.update({name: str(value) for name, value in (query or {}).items()})
    if painted:
        app.session_state["visit"] = Visit(stage=STAGES.get(page, "pad"))
    return app.run()


def texts(app: AppTest) -> str:
    """Return every text on a page, one after the other."""
    assert not app.exception, [each.message for each in app.exception]
    kinds = ("title", "header", "subheader", "markdown", "text", "code", "success")
    return "\n".join(cast(Any, each).value for kind in kinds for each in app.get(kind))


def movies(app: AppTest) -> list[str]:
    """Return what each player on a page is given, as JSON."""
    given = [each.proto.bytes.decode() for each in app.get("bidi_component")]
    return [data for data in given if '"movie"' in data]
