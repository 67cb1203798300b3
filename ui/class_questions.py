"""What a teacher can ask: the next of the list, a prediction on any batch, a question of the quiz, one of their own."""

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

from classroom.questions import checked, question
from classroom.refusal import RefusedError
from packviz.teach.predictions import KINDS
from packviz.teach.quiz import LAST_ROUND, LEVELS
from ui import address
from ui.controls import controls, source
from ui.kept import kept
from ui.plan import MAX_ITEMS, Item, about
from ui.runs import Request
from ui.visit import visit

Ask = Callable[[object], None]
_TABS = ("A prediction", "From the quiz", "Your own")


def from_the_list(seen: Mapping[str, Any], ask: Ask) -> None:
    """Offer the questions with which the room was opened."""
    if not seen["questions"] or seen["phase"] == "vote":
        return
    with st.popover(f"Prepared questions: {len(seen['questions'])}", on_change="rerun") as panel:
        if not panel.open:
            return
        for i, spec in enumerate(seen["questions"]):
            mark = "▸ " if i == seen["index"] else ""
            label = f"{mark}{i + 1}. {question(spec).prompt.replace('`', '')}"
            st.button(label, key=f"list {i}", width="stretch", on_click=ask, args=(i,))


def unfold(*, on: bool) -> None:
    """Unfold the panel for a new question, or fold it."""
    st.session_state["class new"] = on


def new_question(title: str, ask: Ask | None) -> None:
    """Offer a question on any batch and settings, to ask it or to put it into the plan. ask: None without a room."""
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
    given = source(chosen)
    settings = tuple((name, value) for name, value in chosen.settings if value != address.default(name))
    base = about(Request(given, settings, chosen.layer, chosen.direction))
    if base is None:
        st.text("⚠ This example is a batch of tensors. Choose another one, or type the sequences.")
        return
    number = st.number_input(
        "variant", 1, 99, 1, help="Another row, step or sequence to ask about.", key="class variant"
    )
    spec = prediction(base, number - 1, "class kind")
    if spec is None:
        return
    if spec["kind"] in ("packed_row", "packed_token") and st.toggle("Answer by tapping a token", key="class tap"):
        spec["tap"] = True
    _offer(spec, ask, "prediction")


def prediction(base: Mapping[str, Any], number: int, key: str) -> dict[str, Any] | None:
    """Let one of the predictions about a batch and its settings be chosen; say why where there is none."""
    found, problem = kept(lambda: _possible(base, number), "questions", repr(base), number)
    if not found:
        st.text(f"⚠ {problem}")
        return None
    kind = st.selectbox("Question", [*found], format_func=lambda kind: found[kind], key=key)
    return {"kind": kind, **base, "number": number} if kind else None


def _possible(base: Mapping[str, Any], number: int) -> tuple[dict[str, str], str]:
    """Return the prompts of the questions that can be asked, by their kind; and why there are none."""
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
    """Offer to ask a question, and to put it into the plan; say why where that is not possible."""
    with st.container(horizontal=True):
        if ask is not None:
            st.button("Ask it", key=f"ask {key}", type="primary", disabled=bool(missing), on_click=ask, args=(spec,))
        full = len(visit().plan) >= MAX_ITEMS
        st.button("Add to the plan", key=f"plan {key}", disabled=bool(missing) or full, on_click=_add, args=(spec,))
    if missing:
        st.text(missing)
    elif visit().plan_problem:
        st.text(f"⚠ {visit().plan_problem}")


def _add(spec: dict[str, Any]) -> None:
    try:
        visit().plan, visit().plan_problem = (*visit().plan, Item(question=checked(spec))), ""
    except RefusedError as refusal:
        visit().plan_problem = refusal.sentence
