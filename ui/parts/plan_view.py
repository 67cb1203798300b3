"""What a teacher prepares: the lesson plan, how to add to it from any page, and the questions for a class."""

import re
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from functools import partial
from typing import Any
from urllib.parse import parse_qsl

import streamlit as st
from msgspec import structs, to_builtins

from classroom.export import gift, qti_archive
from classroom.questions import askable, question
from classroom.slide import without_picture
from classroom.specs import check_plan, is_question
from classroom.state import RefusedError
from packviz.errors import PackvizError
from ui.parts.component import component
from ui.parts.downloads import download
from ui.parts.plan import MAX_ITEMS, MAX_NOTE, STARTER, Item, Plan, asked_in, heading, settings_of, shown_of
from ui.parts.plan_file import as_file, as_html, from_file
from ui.state import names
from ui.state.path import script
from ui.state.text import CHOICE, FIELD, OWN
from ui.state.turns import in_turn
from ui.state.visit import visit

# The plan is also kept in the browser: the server forgets it with the session.
_mount = component(__file__, "plan")

Ask = Callable[[object], None]
_NO_MARKS = str.maketrans("", "", "`*$")
_ESCAPED = re.compile(r"[!-/:-@\[-`{-~]")  # what Markdown can escape: the punctuation of ASCII, and nothing else
MAX_LINE = 80  # characters of an item's text in a list


def plan_view(ask: Ask | None) -> None:
    """Show the plan, and how to create, save, open and export it.

    ask: shows an item in the open room, whose class may see this page, so the plan with its notes is folded.
    """
    items = visit(Plan).items
    head = nullcontext() if ask is None else st.expander("Lesson plan", key="plan folded")
    with head, st.container(border=ask is None, key="plan"):
        if ask is None:
            st.header("Lesson plan", anchor=False)
        told = (visit(Plan).title, f"{visit(Plan).minutes} minutes" if visit(Plan).minutes else "", visit(Plan).goal)
        if items and any(told):
            st.text(" · ".join(filter(None, told)))
        if not items:
            st.markdown(
                "Your plan is empty. On any page, **Share** has a button that adds the step on the screen. "
                "The panel above adds questions and slides."
            )
        for i, item in enumerate(items):
            _row(i, item, ask)
        _files(items)
    keep()  # last: a click on Save may wait for it


def to_plan(label: str, key: str, item: Item, *, possible: bool = True) -> None:
    """Offer to append an item to the plan."""
    full = len(visit(Plan).items) >= MAX_ITEMS
    st.button(label, key=key, disabled=full or not possible, on_click=_append, args=(item,))


def _append(item: Item) -> None:
    """Append an item to the plan, with the note that was typed for it."""
    try:
        asked = None if item.question is None else askable(item.question)
    except RefusedError as refusal:
        visit(Plan).problem = refusal.sentence
        return
    note = st.session_state.get(names.PLAN_NOTE, "")
    st.session_state[names.PLAN_NOTE] = ""
    _set((*visit(Plan).items, structs.replace(item, note=note, question=asked)))


def _set(items: tuple[Item, ...]) -> None:
    """Put other items into the visitor's plan, or say why they are too large."""
    own = visit(Plan)
    try:
        check_plan([to_builtins(item) for item in items])
        own.items, own.problem, own.touched = items, "", True
    except RefusedError as refusal:
        own.problem = refusal.sentence


def set_plan(plan: Plan) -> None:
    """Put a plan in the place of the visitor's."""
    own = visit(Plan)
    own.title, own.goal, own.minutes = plan.title, plan.goal, plan.minutes
    _set(plan.items)


def keep() -> None:
    """Have the browser keep the plan, too."""
    items = visit(Plan).items
    data = {"plan": as_file(visit(Plan)) if items else "", "gone": visit(Plan).touched and not items}
    with st.container(key="plan-kept"):
        _mount(key="plan in the browser", data=data, on_kept_change=_restore, height=0)


def _restore() -> None:
    """Restore the plan kept in the browser, in a session that has none."""
    if not visit(Plan).items:
        _read(st.session_state["plan in the browser"]["kept"].encode())


def _open() -> None:
    """Open the plan that was chosen as a file."""
    if (file := st.session_state["plan file"]) is not None:
        _read(file.getvalue())


def _read(file: bytes) -> None:
    """Put the plan of a file in the place of the visitor's, or say why it is refused."""
    try:
        set_plan(from_file(file))
    except (PackvizError, RefusedError) as problem:
        visit(Plan).problem = str(problem)


def _row(i: int, item: Item, ask: Ask | None) -> None:
    """Show one item: its heading, its note, and its buttons."""
    with st.container(horizontal=True, vertical_alignment="center", key=f"{names.PLAN_ROW}{i}"):
        # A plan may come from elsewhere: it is text, not Markdown.
        st.text(f"{i + 1}. {_described(item)}", width="stretch")
        key = f"plan note {i} {hash(as_file(Plan((structs.replace(item, note=''),))))}"  # another item is another field
        typed = partial(_note, i, key)
        st.text_input(
            "Note", item.note, MAX_NOTE, key, on_change=typed, label_visibility="collapsed", placeholder="Note"
        )
        if item.page:
            st.page_link(script(item.page), label="Open", query_params=_asked(item))
        if ask is not None and (shown := shown_of((item,))):
            label = "Ask" if is_question(shown[0]) else "Show"
            st.button(label, key=f"plan ask {i}", on_click=ask, args=(shown[0],))
        st.button("↑", key=f"plan up {i}", help="Move up", disabled=i == 0, on_click=_move_up, args=(i,))
        others = visit(Plan).items[:i] + visit(Plan).items[i + 1 :]
        st.button("✕", key=f"plan remove {i}", help="Remove", on_click=_set, args=(others,))


def _note(i: int, key: str) -> None:
    """Put a note that was typed into the plan, before anything that is drawn or saved has the old one."""
    items = list(visit(Plan).items)
    items[i] = structs.replace(items[i], note=st.session_state[key])
    _set(tuple(items))


def _described(item: Item) -> str:
    if item.slide:
        return f"Slide: {_first_line(item.slide)}"
    parts = [heading(item)] if item.page else []
    if item.question is not None:
        parts.append(_plain(item.question))
    return ". ".join(parts)


def _first_line(text: str) -> str:
    """Return the first line of Markdown that has words, without its marks."""
    lines = (line.strip("# ").translate(_NO_MARKS) for line in without_picture(text, "").splitlines())
    return next(filter(None, lines), "a picture")[:MAX_LINE]


def _plain(spec: Mapping[str, Any]) -> str:
    """Return what a question asks, without Markdown, or why it cannot be asked."""
    try:
        with in_turn():
            asked = question(spec)
            return asked.prompt.replace("`", "") if asked.kind != "own" else _first_line(asked.prompt)
    except RefusedError as refusal:
        return f"⚠ {refusal.sentence}"


def title(spec: Mapping[str, Any]) -> str:
    """Return what an item of a room is, in a few words, for its teacher."""
    if "slide" in spec:
        return f"Slide: {_first_line(spec['slide'])}"
    if "step" in spec:
        return f"Movie: {spec['step'].get('stage', 'all stages')}, step {spec['step'].get('number', 1)}"
    return _plain(spec)


def _as_label(text: str) -> str:
    """Return a text as the label of a button, which Streamlit takes for Markdown."""
    return _ESCAPED.sub(r"\\\g<0>", text)


def _asked(item: Item) -> dict[str, str]:
    """Return the address of an item's page."""
    if item.request is None:
        return dict(parse_qsl(item.link or ""))
    settings = settings_of(item.request) | {CHOICE: item.example, "step": item.step}
    if item.example == OWN:
        settings[FIELD] = item.sequences
    return names.changed(settings)


def _move_up(i: int) -> None:
    items = list(visit(Plan).items)
    items.insert(i - 1, items.pop(i))
    _set(tuple(items))


def _files(items: tuple[Item, ...]) -> None:
    plan = visit(Plan)  # of this visitor: the files are made in a thread that belongs to nobody
    with st.container(horizontal=True, vertical_alignment="center"):
        if not items:
            st.button("Start with six questions, one for each idea", on_click=set_plan, args=(Plan(STARTER),))
        if items:
            download("Save", names.PLAN_FILE, lambda: as_file(plan))
            download("One page, offline", "packviz-plan.html", lambda: as_html(plan.title or "Lesson plan", items))
        if asked_in(items):
            download("Moodle (GIFT)", "packviz.gift.txt", lambda: gift(asked_in(items)))
            download("Canvas (QTI 1.2)", "packviz-qti.zip", lambda: qti_archive(asked_in(items)))
        with st.popover("Open a plan"):
            st.file_uploader("A plan saved on this page", "json", key="plan file", on_change=_open)
    if plan.problem:
        st.text(f"⚠ {plan.problem}")


def from_the_list(seen: Mapping[str, Any], ask: Ask) -> None:
    """Offer the questions or the plan that the room was opened with."""
    listed = seen["items"] or seen["questions"]
    if not listed or seen["phase"] == "vote":
        return
    what = "Plan" if seen["items"] else "Prepared questions"
    with st.popover(f"{what}: {len(listed)}", key="class list", on_change="rerun") as panel:
        if not panel.open:
            return
        for i, spec in enumerate(listed):
            mark = "▸ " if i == seen["index"] else "✓ " if i in seen["done"] else ""
            label = _as_label(f"{mark}{i + 1}. {title(spec)}")
            st.button(label, key=f"list {i}", width="stretch", on_click=_choose, args=(ask, i))


def _choose(ask: Ask, i: int) -> None:
    """Show an item of the list, and close the list, which covers it."""
    st.session_state["class list"] = False
    ask(i)
