"""Navigation: the pages in groups, the lessons in order, and which of them are done."""

from collections.abc import Set
from dataclasses import dataclass, field

import streamlit as st
from streamlit.navigation.page import Page

from packviz.teach.pages import LESSONS, PAGES, place_of_lesson
from ui.state.visit import visit

FIRST_STAGES = frozenset(page.stages[0] for page in LESSONS.values())  # each has a prediction, and a tick in the menu
FIRST = "start"  # the name of the first page, which is shown at the root
COOKIE = "packviz_lessons"  # in which the browser keeps the stages, with dots between them


def _kept() -> frozenset[str]:
    return frozenset(st.context.cookies.get(COOKIE, "").split(".")) & FIRST_STAGES


@dataclass
class Lessons:
    """The stages whose prediction a visitor has answered, or whose exercise is done; a reload keeps them."""

    done: frozenset[str] = field(default_factory=_kept)


def pages() -> dict[str, list[Page]]:
    """Return the pages by menu group; lessons have their number, and a tick if they are done."""
    overview = script("overview")
    done = visit(Lessons).done
    groups: dict[str, list[Page]] = {page.group: [] for page in PAGES}
    for page in PAGES:
        if page.address == "overview":  # the first page, without a name and by it
            groups[page.group] += [
                st.Page(overview, title="Overview", url_path=FIRST, default=True),
                st.Page(overview, title="Overview", url_path="overview", visibility="hidden"),
            ]
        else:
            place = f"{place_of_lesson(page.address)[0]} " if page.address in LESSONS else ""
            groups[page.group].append(_page(page.address, place + page.menu, done))
    return groups


def script(name: str) -> str:
    """Return the file of a page, by its name in the address."""
    return f"pages/{name}.py"


def _page(name: str, title: str, done: Set[str]) -> Page:
    """Return a page; done: the first stages of the lessons that are done."""
    # The tick is the page's icon in the browser, too: a :material/ icon would be fetched.
    tick = "✔️" if name in LESSONS and LESSONS[name].stages[0] in done else None
    return st.Page(script(name), title=title, icon=tick, url_path=name)
