"""A new question for a class: a prediction, one of the quiz, or the teacher's own; a slide or a step for the plan."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import streamlit as st
from msgspec import structs

from classroom.questions import question
from classroom.specs import is_question, run_of
from classroom.state import RefusedError
from classroom.tapping import TAPPED_KINDS
from packviz.compute.runs import RunKind
from packviz.teach.predictions import KINDS
from packviz.teach.quiz import LAST_ROUND, LEVELS
from packviz.text import counted
from ui.parts.controls import controls, source
from ui.parts.own_question import own_question, own_slide, preview
from ui.parts.plan import MAX_NOTE, Item, Plan, about
from ui.parts.plan_view import Ask, keep, to_plan
from ui.parts.quiz_views import batch
from ui.state import address, names
from ui.state.cache import cached
from ui.state.kinds import APP_KINDS
from ui.state.path import script
from ui.state.text import CHOICE, FIELD
from ui.state.visit import visit
from ui.state.widgets import put

_ABOUT = "class about"  # the widget for the kind of run
_TABS = ("A prediction", "From the quiz", "Your own", "A slide")


def add_step(here: Item) -> None:
    """Offer to add what a page shows to the plan, optionally with a question about it."""
    keep()
    st.text_input("Note for yourself", key=names.PLAN_NOTE, max_chars=MAX_NOTE)
    base = None if here.request is None else about(here.request)
    if base is not None and st.checkbox("With a question for the class", key="plan asks"):
        run = APP_KINDS[here.kind].computes
        here = structs.replace(here, question=_choose_prediction(run, base, 0, "plan kind"))
    what = "question" if not here.page else "page" if here.link is not None else "step"
    to_plan(f"+ Add this {what} to the lesson plan", "plan add", here)
    if visit(Plan).items:
        st.page_link(script("class"), label=f"The plan has {counted(len(visit(Plan).items), 'item')}")


def unfold(*, on: bool) -> None:
    """Unfold the panel for a new question, or fold it."""
    st.session_state["class new"] = on


def new_question(title: str, ask: Ask | None) -> None:
    """Offer a question on any batch and settings, or a slide, to show it or to add it to the plan.

    ask: None without a room.
    """
    with st.expander(title, key="class new", on_change="rerun") as panel:
        if not panel.open:
            return
        tabs = st.tabs(_TABS, key="class kinds", on_change="rerun")
        for tab, offer in zip(tabs, (_prediction, _of_the_quiz, _own, _slide), strict=True):
            if tab.open:
                with tab, st.container(key=f"class{offer.__name__}"):
                    offer(ask)


def put_batch(asked: Sequence[Mapping[str, Any]]) -> None:
    """Put the batch and the settings of the last prediction that was asked into the controls, unless the link has some.

    The server that knew them may have been restarted, and the next question is usually about the same batch.
    """
    last = next((spec for spec in reversed(asked) if "sequences" in spec), None)
    if last is None or address.touched((FIELD, CHOICE)):
        return
    kind, settings = APP_KINDS[run_of(last).name], dict(last.get("settings", {}))
    known = {**kind.names, **{part.name: names.WATCHED[part.argument] for part in kind.computes.watched}}
    settings = {known.get(name, name): value for name, value in settings.items()}
    st.session_state[_ABOUT] = kind.name
    put({**settings, FIELD: last["sequences"]})


def _prediction(ask: Ask | None) -> None:
    """Offer the predictions that can be asked about a batch, which is typed here."""
    kinds = tuple(APP_KINDS)
    kind = APP_KINDS[st.segmented_control("About", kinds, default=kinds[0], required=True, key=_ABOUT)]
    left, right = st.columns([3, 2], gap="medium")
    with right, st.expander("Sequences and settings", key="class settings"):
        chosen = controls(kind, apart=False, above=left.container(), place=st.container())
    base = about(replace(chosen.asked, source=source(chosen)))
    with left:
        _about(kind.computes, base, ask)


def _about(run: RunKind, base: Mapping[str, Any] | None, ask: Ask | None) -> None:
    """Offer the predictions about a batch and the settings of a run."""
    if base is None:
        st.text("⚠ This example is a batch of tensors. Choose another one, or type the sequences.")
        return
    first = st.container()  # the question; how it is worded depends on the variant
    hint = "This asks about another row, step or sequence."
    number = st.number_input("variant", 1, 99, 1, help=hint, key="class variant")
    with first:
        spec = _choose_prediction(run, base, number - 1, "class kind")
    if spec is None:
        return
    try:
        shown = question(spec)
    except RefusedError as refusal:  # not every token can be tapped
        st.text(f"⚠ {refusal.sentence}")
        return
    batch(shown.rows, shown.settings, small=True)
    _offer(spec, ask, "prediction")


def _choose_prediction(run: RunKind, base: Mapping[str, Any], number: int, key: str) -> dict[str, Any] | None:
    """Let the teacher choose one of the predictions about a batch and its settings; say why if there is none."""
    found, problem = cached(lambda: _possible(run, base, number), "questions", run, repr(base), number)
    if not found:
        st.text(f"⚠ {problem}")
        return None
    kind = st.selectbox("Question", [*found], format_func=lambda kind: _listed(kind, found[kind]), key=key)
    if kind is None:
        return None
    tap = {"tap": True} if kind in TAPPED_KINDS and st.toggle("Answer by tapping a token", key=f"{key} tap") else {}
    return {"kind": kind, **base, "number": number, **tap}


def _listed(kind: str, prompt: str) -> str:
    return f"Tap or type: {prompt}" if kind in TAPPED_KINDS else prompt


def _possible(run: RunKind, base: Mapping[str, Any], number: int) -> tuple[dict[str, str], str]:
    """Return the prompts of the questions that can be asked, by kind, and the reason if there are none."""
    found, problem = {}, ""
    for kind in (key for key, kind in KINDS.items() if kind.subject.run is run):
        try:
            found[kind] = question({"kind": kind, **base, "number": number}).prompt.replace("`", "")
        except RefusedError as refusal:
            problem = problem or refusal.sentence
    return found, problem


def _of_the_quiz(ask: Ask | None) -> None:
    left, middle, right = st.columns(3)
    level = left.segmented_control("level", tuple(LEVELS), default=1, required=True, key="class level")
    number = middle.number_input("round", 1, LAST_ROUND, 1, 1, key="class round")
    at = right.number_input("question", 1, 10, 1, 1, key="class quiz question")
    spec = {"level": level, "round": number, "question": at - 1}
    st.markdown(question(spec).prompt)
    _offer(spec, ask, "quiz")


def _own(ask: Ask | None) -> None:
    spec, problem = own_question()
    if not problem:
        preview(spec)
    _offer(spec, ask, "own", problem)


def _slide(ask: Ask | None) -> None:
    spec, problem = own_slide()
    if not problem:
        preview(spec)
    _offer(spec, ask, "slide", problem)


def _offer(spec: dict[str, Any], ask: Ask | None, key: str, missing: str = "") -> None:
    """Offer to show a question or a slide, and to add it to the plan; say why if that is not possible."""
    label, item = ("Ask it", Item(question=spec)) if is_question(spec) else ("Show it", Item(slide=spec["slide"]))
    with st.container(horizontal=True):
        if ask is not None:
            st.button(label, key=f"ask {key}", type="primary", disabled=bool(missing), on_click=ask, args=(spec,))
        to_plan("Add to the plan", f"plan {key}", item, possible=not missing)
    _tell(missing)


def _tell(missing: str) -> None:
    if missing:
        st.text(missing)
    elif visit(Plan).problem:
        st.text(f"⚠ {visit(Plan).problem}")
