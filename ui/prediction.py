"""A prediction: asked before the movie shows the answer, checked against torch, and then shown by the movie."""

from hashlib import sha256

import streamlit as st

from packviz.errors import PackvizError
from packviz.show.movie.step import Stage
from packviz.teach.predictions import Prediction, ask
from ui.player import show
from ui.runs import Shown
from ui.status import announce
from ui.visit import Said, visit

__all__ = ["prediction"]

_WAITING = "Answer first. The movie then plays the step that shows why."
_TRIES = 2


def prediction(shown: Shown, stage: Stage) -> None:
    """Ask for a prediction about the batch that is on screen; an answer moves the player to where it can be seen."""
    number = visit().prediction
    asked = ask(shown.trace, stage, number, direction=shown.request.direction)
    if asked is None:
        return
    batch = sha256(repr(shown.request).encode()).hexdigest()[:16]  # another batch or setting is another question
    key = f"{stage} {number} {batch}"
    with st.container(border=True, key="prediction"):
        with st.form(f"form {key}", border=False, enter_to_submit=True):
            said, sent = _form(asked, key)
        if sent:
            before = visit().said
            tries = before.tries if before.key == key else 0
            visit().said = Said(key, said, before.number + 1, tries + bool(said.strip()))
        if _verdict(asked, key, sent=sent):
            visit().done |= {stage}
            show(step=shown.film.step_at(asked.moment.stage, asked.moment.timestep, asked.moment.name))


def _form(asked: Prediction, key: str) -> tuple[str, bool]:
    """Draw the question, what answers it and two buttons, in a line where there is room for one."""
    question, answer, buttons = st.columns([6, 2.6, 2.3], vertical_alignment="center")
    with question:
        st.markdown(f"**Predict.** {asked.prompt}")
    with answer:
        said = _answer(asked, key)
    with buttons, st.container(horizontal=True, gap="small"):
        sent = st.form_submit_button("Check")
        st.form_submit_button("Another", on_click=_next)
    return said, sent


def _answer(asked: Prediction, key: str) -> str:
    if asked.form != "choice":
        return st.text_input(asked.prompt, key=key, placeholder=asked.example, label_visibility="collapsed")
    hint = "Choose"
    chosen = st.selectbox(asked.prompt, asked.choices, None, key=key, placeholder=hint, label_visibility="collapsed")
    return chosen or ""


def _next() -> None:
    visit().prediction += 1
    show(step=1)


def _verdict(asked: Prediction, key: str, *, sent: bool) -> bool:
    """Say whether what was said is right, and why, in a line that is always there; return whether to show why.

    That is after a right answer, after the last try, and for who asks.
    """
    said = visit().said
    if said.key != key or not said.answer.strip():
        st.text(_WAITING)
        announce("", "prediction", number=said.number)
        return False
    try:
        verdict = asked.check(said.answer)
    except PackvizError as problem:
        told = f"⚠ {problem.sentence}"
        st.text(told)
        announce(told, "prediction", number=said.number)
        return False
    told = f"{':green[**✓ Right.**]' if verdict.right else ':red[**✗ Not quite.**]'} {verdict.reason}"
    again = not verdict.right and said.tries < _TRIES
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"{told} Try once more." if again else told, width="stretch")
        give_up = again and st.button("Show me", key=f"show {key}")
    announce(told, "prediction", number=said.number)
    return give_up or (sent and not again)
