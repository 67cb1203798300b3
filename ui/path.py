"""Navigation: the pages in groups, the lessons in order, and which of them are done."""

from collections.abc import Mapping

import streamlit as st
from streamlit.navigation.page import Page

from ui.visit import visit

LESSONS = {"pad": "padding", "sort": "sorting", "pack": "packing", "run": "running", "unpack": "unpacking"}  # by stage
_GROUPS: Mapping[str, tuple[str, ...]] = {
    "Learn": tuple(LESSONS.values()),
    "Why it matters": ("compare", "cost", "training"),
    "Help": ("questions", "doctor"),
    "": ("quiz", "class"),
}
NAMES = [name for names in _GROUPS.values() for name in names]  # in the order of their files
_OVERVIEW = "pages/0_overview.py"


def pages() -> dict[str, list[Page]]:
    """Return the pages by menu group; lessons that are done have a tick."""
    start = [
        st.Page(_OVERVIEW, title="Overview", url_path="start", default=True),
        st.Page(_OVERVIEW, title="Overview", url_path="overview", visibility="hidden"),  # the first page, by its name
    ]
    groups = {group: [_page(name) for name in names] for group, names in _GROUPS.items()}
    return {**groups, "": [*start, *groups[""]]}


def script(name: str) -> str:
    """Return the file of a page, by its name in the address."""
    return f"pages/{['overview', *NAMES].index(name)}_{name}.py"


def _page(name: str) -> Page:
    done = {LESSONS[stage] for stage in visit().done}
    tick = ":material/check_circle:" if name in done else None
    return st.Page(script(name), title=name.title(), icon=tick, url_path=name)
