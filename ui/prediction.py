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

_WAITING = "Make your prediction first; the movie then jumps to the step that shows the answer."


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
            visit().said = Said(key, said, visit().said.number + 1)
        _verdict(shown, asked, key, moved=sent and bool(said.strip()))


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


def _verdict(shown: Shown, asked: Prediction, key: str, *, moved: bool) -> None:
    """Say whether what was said is right, and why, in a line that is always there."""
    said = visit().said
    answered = said.key == key and bool(said.answer.strip())
    told = ""
    if not answered:
        st.text(_WAITING)
    else:
        try:
            verdict = asked.check(said.answer)
        except PackvizError as problem:
            told = f"⚠ {problem.sentence}"
            st.text(told)
            moved = False
        else:
            told = f"{':green[**✓ Right.**]' if verdict.right else ':red[**✗ Not quite.**]'} {verdict.reason}"
            st.markdown(told)
    announce(told, "prediction", number=said.number)
    if answered and moved:
        show(step=shown.film.step_at(asked.moment.stage, asked.moment.timestep, asked.moment.name))
