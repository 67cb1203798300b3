"""The lesson plan on the teacher's page, and the button that adds to it from anywhere in the app."""

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from mimetypes import guess_type
from typing import Any
from urllib.parse import parse_qsl

import streamlit as st

from classroom.export import gift, qti_archive
from classroom.questions import question
from packviz.errors import PackvizError
from packviz.text import counted
from ui import address
from ui.class_questions import prediction
from ui.component import component
from ui.path import script
from ui.plan import MAX_ITEMS, MAX_NOTE, STARTER, Item, about, as_file, as_html, from_file, heading
from ui.runs import OWN
from ui.visit import visit

# The plan is kept in the browser, too: the server forgets it with the session.
_mount = component("plan")


def plan_view(ask: Callable[[object], None] | None) -> None:
    """Show the plan, and how it is made, saved, opened and exported.

    ask: puts a question to the open room, whose class may see this page: the plan with its notes is folded then.
    """
    items = visit().plan
    _keep()
    head = nullcontext() if ask is None else st.expander("Lesson plan", key="plan folded")
    with head, st.container(border=ask is None, key="plan"):
        if ask is None:
            st.subheader("Lesson plan", anchor=False)
        if not items:
            st.markdown(
                "Nothing here yet. **Share** on any page has a button that adds the step on the screen; "
                "**Make a question** adds a question."
            )
            st.button("Start with six questions, one for each idea", on_click=_set, args=(STARTER,))
        for i, item in enumerate(items):
            _row(i, item, ask)
        _files(items)


def add_step(here: Item) -> None:
    """Offer to put what a page shows into the plan, with a question about it if that is wanted."""
    _keep()
    st.text_input("Note for yourself", key="plan note", max_chars=MAX_NOTE)
    base = None if here.request is None else about(here.request)
    if base is not None and st.checkbox("With a question to the class", key="plan asks"):
        here = replace(here, question=prediction(base, 0, "plan kind"))
    what = "question" if not here.page else "page" if here.link is not None else "step"
    full = len(visit().plan) >= MAX_ITEMS
    st.button(f"+ Add this {what} to the lesson plan", key="plan add", disabled=full, on_click=_append, args=(here,))
    if visit().plan:
        st.page_link(script("class"), label=f"The plan has {counted(len(visit().plan), 'item')}")


def _append(item: Item) -> None:
    note, st.session_state["plan note"] = st.session_state["plan note"], ""
    _set((*visit().plan, replace(item, note=note)))


def _set(items: tuple[Item, ...]) -> None:
    visit().plan, visit().plan_problem, visit().plan_touched = items, "", True


def _keep() -> None:
    items = visit().plan
    data = {"plan": as_file(items) if items else "", "gone": visit().plan_touched and not items}
    with st.container(key="plan-kept"):
        _mount(key="plan in the browser", data=data, on_kept_change=_restore, height=0)


def _restore() -> None:
    """Take up the plan that the browser has kept, in a session that has none."""
    if not visit().plan:
        try:
            visit().plan = from_file(st.session_state["plan in the browser"]["kept"].encode())
        except PackvizError as problem:
            visit().plan_problem = str(problem)


def _row(i: int, item: Item, ask: Callable[[object], None] | None) -> None:
    """Show one item: what it is, its note, and what can be done with it."""
    with st.container(horizontal=True, vertical_alignment="center", key=f"plan-row-{i}"):
        st.markdown(f"**{i + 1}.** {_told(item)}", width="stretch")
        key = f"plan note {i} {hash(as_file([replace(item, note='')]))}"  # another item is another field
        note = st.text_input("Note", item.note, key=key, label_visibility="collapsed", placeholder="Note")
        if note != item.note:
            _put(i, replace(item, note=note))
        if item.page:
            st.page_link(script(item.page), label="Open", query_params=_asked(item))
        if item.asks is not None and ask is not None:
            st.button("Ask", key=f"plan ask {i}", on_click=ask, args=(item.asks,))
        st.button("↑", key=f"plan up {i}", help="Move up", disabled=i == 0, on_click=_move, args=(i, i - 1))
        st.button("✕", key=f"plan remove {i}", help="Remove", on_click=_remove, args=(i,))


def _told(item: Item) -> str:
    parts = [heading(item)] if item.page else []
    if item.question is not None:
        parts.append(question(item.question).prompt.replace("`", ""))
    return ". ".join(parts)


def _asked(item: Item) -> dict[str, str]:
    """Return the address of an item's page."""
    if item.link is not None:
        return dict(parse_qsl(item.link))
    settings: dict[str, Any] = dict(item.settings or {})
    settings |= {"example": item.example, "read_as": item.read_as, "layer": item.layer, "step": item.step}
    if item.example == OWN:
        settings["sequences"] = item.sequences
    if item.direction:
        settings["direction"] = "backward"
    return address.changed(settings)


def _put(i: int, item: Item) -> None:
    items = list(visit().plan)
    items[i] = item
    _set(tuple(items))


def _move(i: int, to: int) -> None:
    items = list(visit().plan)
    items.insert(to, items.pop(i))
    _set(tuple(items))


def _remove(i: int) -> None:
    _set(visit().plan[:i] + visit().plan[i + 1 :])


def _files(items: tuple[Item, ...]) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        if items:
            download("Save", "packviz-plan.json", lambda: as_file(items))
            download("One page, offline", "packviz-plan.html", lambda: as_html("Lesson plan", items))
        if any(item.question for item in items):
            asked = [question(item.question) for item in items if item.question is not None]
            download("Moodle (GIFT)", "packviz.gift.txt", lambda: gift(asked))
            download("Canvas (QTI 1.2)", "packviz-qti.zip", lambda: qti_archive(asked))
        with st.popover("Open a plan"):
            st.file_uploader("A plan that was saved here", "json", key="plan file", on_change=_open)
    if visit().plan_problem:
        st.text(f"⚠ {visit().plan_problem}")


def download(label: str, name: str, made: Callable[[], str | bytes]) -> None:
    """Offer a file; it is made when it is asked for."""
    kind, _ = guess_type(name)
    st.download_button(label, made, name, kind, key=f"save {name}", on_click="ignore", icon=":material/download:")


def _open() -> None:
    file = st.session_state["plan file"]
    if file is None:
        return
    try:
        _set(from_file(file.getvalue()))
    except PackvizError as problem:
        visit().plan_problem = str(problem)
