"""What a teacher prepares: the lesson plan, how to add to it from any page, and the questions for a class."""

import re
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from mimetypes import guess_type
from typing import Any
from urllib.parse import parse_qsl

import streamlit as st
from msgspec import structs

from classroom.export import gift, qti_archive
from classroom.questions import askable, question
from classroom.state import RefusedError
from packviz.errors import PackvizError
from packviz.teach.predictions import KINDS
from packviz.teach.quiz import LAST_ROUND, LEVELS
from packviz.text import counted
from ui.parts.component import component
from ui.parts.controls import controls, source
from ui.parts.plan import (
    MAX_ITEMS,
    MAX_NOTE,
    STARTER,
    Item,
    Plan,
    about,
    as_file,
    as_html,
    asked_in,
    from_file,
    heading,
    settings_of,
)
from ui.state import address
from ui.state.cache import cached
from ui.state.path import script
from ui.state.runs import OWN, in_turn
from ui.state.visit import visit

# The plan is also kept in the browser: the server forgets it with the session.
_mount = component(__file__, "plan")

Ask = Callable[[object], None]
_TABS = ("A prediction", "From the quiz", "Your own")


def plan_view(ask: Ask | None) -> None:
    """Show the plan, and how to create, save, open and export it.

    ask: puts a question to the open room, whose class may see this page, so the plan with its notes is folded.
    """
    items = visit(Plan).items
    _keep()
    head = nullcontext() if ask is None else st.expander("Lesson plan", key="plan folded")
    with head, st.container(border=ask is None, key="plan"):
        if ask is None:
            st.subheader("Lesson plan", anchor=False)
        if not items:
            st.markdown(
                "Nothing here yet. **Share** on any page has a button that adds the step on the screen; "
                "**Create a question** adds a question."
            )
            st.button("Start with six questions, one for each idea", on_click=_set, args=(STARTER,))
        for i, item in enumerate(items):
            _row(i, item, ask)
        _files(items)


def add_step(here: Item) -> None:
    """Offer to add what a page shows to the plan, optionally with a question about it."""
    _keep()
    st.text_input("Note for yourself", key="plan note", max_chars=MAX_NOTE)
    base = None if here.request is None else about(here.request)
    if base is not None and st.checkbox("With a question for the class", key="plan asks"):
        here = structs.replace(here, question=_choose_prediction(base, 0, "plan kind"))
    what = "question" if not here.page else "page" if here.link is not None else "step"
    _to_plan(f"+ Add this {what} to the lesson plan", "plan add", here)
    if visit(Plan).items:
        st.page_link(script("class"), label=f"The plan has {counted(len(visit(Plan).items), 'item')}")


def _to_plan(label: str, key: str, item: Item, *, possible: bool = True) -> None:
    full = len(visit(Plan).items) >= MAX_ITEMS
    st.button(label, key=key, disabled=full or not possible, on_click=_append, args=(item,))


def _append(item: Item) -> None:
    """Append an item to the plan, with the note that was typed for it."""
    try:
        asked = None if item.question is None else askable(item.question)
    except RefusedError as refusal:
        visit(Plan).problem = refusal.sentence
        return
    note, st.session_state["plan note"] = st.session_state.get("plan note", ""), ""
    _set((*visit(Plan).items, structs.replace(item, note=note, question=asked)))


def _set(items: tuple[Item, ...]) -> None:
    visit(Plan).items, visit(Plan).problem, visit(Plan).touched = items, "", True


def _keep() -> None:
    items = visit(Plan).items
    data = {"plan": as_file(items) if items else "", "gone": visit(Plan).touched and not items}
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
        _set(from_file(file))
    except PackvizError as problem:
        visit(Plan).problem = str(problem)


def _row(i: int, item: Item, ask: Ask | None) -> None:
    """Show one item: its heading, its note, and its buttons."""
    with st.container(horizontal=True, vertical_alignment="center", key=f"plan-row-{i}"):
        st.text(f"{i + 1}. {_told(item)}", width="stretch")  # a plan may come from elsewhere: it is text, not Markdown
        key = f"plan note {i} {hash(as_file([structs.replace(item, note='')]))}"  # another item is another field
        typed = partial(_note, i, key)
        st.text_input(
            "Note", item.note, MAX_NOTE, key, on_change=typed, label_visibility="collapsed", placeholder="Note"
        )
        if item.page:
            st.page_link(script(item.page), label="Open", query_params=_asked(item))
        if item.asks is not None and ask is not None:
            st.button("Ask", key=f"plan ask {i}", on_click=ask, args=(item.asks,))
        st.button("↑", key=f"plan up {i}", help="Move up", disabled=i == 0, on_click=_move_up, args=(i,))
        others = visit(Plan).items[:i] + visit(Plan).items[i + 1 :]
        st.button("✕", key=f"plan remove {i}", help="Remove", on_click=_set, args=(others,))


def _note(i: int, key: str) -> None:
    """Put a note that was typed into the plan, before anything that is drawn or saved has the old one."""
    items = list(visit(Plan).items)
    items[i] = structs.replace(items[i], note=st.session_state[key])
    _set(tuple(items))


def _told(item: Item) -> str:
    parts = [heading(item)] if item.page else []
    if item.question is not None:
        parts.append(_plain(item.question))
    return ". ".join(parts)


def _plain(spec: Mapping[str, Any]) -> str:
    """Return what a question asks, without Markdown, or why it cannot be asked."""
    try:
        with in_turn():
            return question(spec).prompt.replace("`", "")
    except RefusedError as refusal:
        return f"⚠ {refusal.sentence}"


def _as_label(text: str) -> str:
    """Return a text as the label of a button, which Streamlit takes for Markdown."""
    return re.sub(r"([^\w\s])", r"\\\1", text, flags=re.ASCII)


def _asked(item: Item) -> dict[str, str]:
    """Return the address of an item's page."""
    if item.request is None:
        return dict(parse_qsl(item.link or ""))
    settings = settings_of(item.request) | {"example": item.example, "step": item.step}
    if item.example == OWN:
        settings["sequences"] = item.sequences
    return address.changed(settings)


def _move_up(i: int) -> None:
    items = list(visit(Plan).items)
    items.insert(i - 1, items.pop(i))
    _set(tuple(items))


def _files(items: tuple[Item, ...]) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        if items:
            download("Save", "packviz-plan.json", lambda: as_file(items))
            download("One page, offline", "packviz-plan.html", lambda: as_html("Lesson plan", items))
        if any(item.question for item in items):
            download("Moodle (GIFT)", "packviz.gift.txt", lambda: gift(asked_in(items)))
            download("Canvas (QTI 1.2)", "packviz-qti.zip", lambda: qti_archive(asked_in(items)))
        with st.popover("Open a plan"):
            st.file_uploader("A plan saved on this page", "json", key="plan file", on_change=_open)
    if visit(Plan).problem:
        st.text(f"⚠ {visit(Plan).problem}")


def download(label: str, name: str, made: Callable[[], str | bytes]) -> None:
    """Offer a file, created on request."""
    kind, _ = guess_type(name)
    st.download_button(label, made, name, kind, key=f"save {name}", on_click="ignore", icon=":material/download:")


def from_the_list(seen: Mapping[str, Any], ask: Ask) -> None:
    """Offer the questions that the room was opened with."""
    if not seen["questions"] or seen["phase"] == "vote":
        return
    with st.popover(f"Prepared questions: {len(seen['questions'])}", on_change="rerun") as panel:
        if not panel.open:
            return
        for i, spec in enumerate(seen["questions"]):
            mark = "▸ " if i == seen["index"] else ""
            st.button(
                _as_label(f"{mark}{i + 1}. {_plain(spec)}"), key=f"list {i}", width="stretch", on_click=ask, args=(i,)
            )


def unfold(*, on: bool) -> None:
    """Unfold the panel for a new question, or fold it."""
    st.session_state["class new"] = on


def new_question(title: str, ask: Ask | None) -> None:
    """Offer a question on any batch and settings, to ask it or to add it to the plan. ask: None without a room."""
    with st.expander(title, key="class new", on_change="rerun") as panel:
        if not panel.open:
            return
        tabs = st.tabs(_TABS, key="class kinds", on_change="rerun")
        for tab, offer in zip(tabs, (_prediction, _of_the_quiz, _own), strict=True):
            if tab.open:
                with tab, st.container(key=f"class{offer.__name__}"):
                    offer(ask)


def _prediction(ask: Ask | None) -> None:
    """Offer the predictions that can be asked about the batch and the settings of the sidebar."""
    st.markdown("The batch and settings are those under **Your sequences**, at the top left.")
    chosen = controls(apart=False)
    base = about(replace(chosen.asked, source=source(chosen)))
    if base is None:
        st.text("⚠ This example is a batch of tensors. Choose another one, or type the sequences.")
        return
    hint = "Another row, step or sequence to ask about."
    number = st.number_input("variant", 1, 99, 1, help=hint, key="class variant")
    spec = _choose_prediction(base, number - 1, "class kind")
    if spec is None:
        return
    if spec["kind"] in ("packed_row", "packed_token") and st.toggle("Answer by tapping a token", key="class tap"):
        spec["tap"] = True
    _offer(spec, ask, "prediction")


def _choose_prediction(base: Mapping[str, Any], number: int, key: str) -> dict[str, Any] | None:
    """Let the teacher choose one of the predictions about a batch and its settings; say why if there is none."""
    found, problem = cached(lambda: _possible(base, number), "questions", repr(base), number)
    if not found:
        st.text(f"⚠ {problem}")
        return None
    kind = st.selectbox("Question", [*found], format_func=lambda kind: found[kind], key=key)
    return {"kind": kind, **base, "number": number} if kind else None


def _possible(base: Mapping[str, Any], number: int) -> tuple[dict[str, str], str]:
    """Return the prompts of the questions that can be asked, by kind, and the reason if there are none."""
    found, problem = {}, ""
    for kind in KINDS:
        try:
            found[kind] = question({"kind": kind, **base, "number": number}).prompt.replace("`", "")
        except RefusedError as refusal:
            problem = problem or refusal.sentence
    return found, problem


def _of_the_quiz(ask: Ask | None) -> None:
    left, middle, right = st.columns(3)
    level = left.segmented_control("level", tuple(LEVELS), default=1, required=True, key="class level")
    number = middle.number_input("round", 1, LAST_ROUND, 1, 1, key="class round")
    at = right.number_input("question", 1, 10, 1, 1, key="class question")
    spec = {"level": level, "round": number, "question": at - 1}
    st.markdown(question(spec).prompt)
    _offer(spec, ask, "quiz")


def _own(ask: Ask | None) -> None:
    prompt = st.text_area("Question", key="class prompt", height=68, max_chars=500)
    typed = st.text_area("Options, one per line (2 to 6)", key="class options", height=136)
    options = [line.strip() for line in typed.splitlines() if line.strip()]
    right = st.selectbox("Right answer", options, index=None, key="class right")
    why = st.text_input("Why it is right (shown with the answer)", key="class why", max_chars=500)
    spec: dict[str, Any] = {"prompt": prompt, "options": options, "why": why}
    if right is not None:
        spec["answer"] = options.index(right)
    missing = [name for name, there in (("the question", prompt.strip()), ("the right answer", right)) if not there]
    _offer(spec, ask, "own", f"Still missing: {' and '.join(missing)}." if missing else "")


def _offer(spec: dict[str, Any], ask: Ask | None, key: str, missing: str = "") -> None:
    """Offer to ask a question, and to add it to the plan; say why if that is not possible."""
    with st.container(horizontal=True):
        if ask is not None:
            st.button("Ask it", key=f"ask {key}", type="primary", disabled=bool(missing), on_click=ask, args=(spec,))
        _to_plan("Add to the plan", f"plan {key}", Item(question=spec), possible=not missing)
    if missing:
        st.text(missing)
    elif visit(Plan).problem:
        st.text(f"⚠ {visit(Plan).problem}")
