"""A round of the quiz on paper: its questions with room for the answers, and the solutions on a sheet of their own."""

from collections.abc import Sequence

import streamlit as st

from packviz.teach.quiz import LEVELS, Question
from ui.path import script
from ui.quiz_views import batch

_NAME = "worksheet"  # in the address
_print = st.components.v2.component(
    "packviz_print",
    html='<button type="button">Print</button>',
    css="button { font: inherit; padding: 0.4rem 1.2rem; border-radius: 8px; cursor: pointer; }",
    js='export default ({ parentElement }) => { parentElement.querySelector("button").onclick = () => print(); };',
)


def asked_for() -> bool:
    """Return whether the address asks for the worksheet of its round, instead of the quiz."""
    return st.query_params.get(_NAME) == "true"


def way_to(level: int, number: int) -> None:
    """Lead to the worksheet of a round."""
    place = {"level": str(level), "round": str(number), _NAME: "true"}
    st.page_link(script("quiz"), label="This round as a worksheet", icon=":material/print:", query_params=place)


def worksheet(level: int, number: int, asked: Sequence[Question]) -> None:
    """Show the questions of a round, each with its batch, and then the solutions with their reasons."""
    with st.container(horizontal=True, vertical_alignment="center", key="worksheet-way"):
        _print(key="print", height="content", width="content")
        place = {"level": str(level), "round": str(number)}
        st.page_link(script("quiz"), label="Back to the quiz", icon=":material/arrow_back:", query_params=place)
    name = f"Level {level} ({LEVELS[level].told}), round {number}"
    with st.container(key="worksheet"):
        st.markdown(f"{name}. Name:")
        for i, question in enumerate(asked, 1):
            _question(i, question)
    with st.container(key="solutions"):
        st.header("Solutions", anchor=False)
        st.markdown(f"{name}. Computed by PyTorch.")
        for i, question in enumerate(asked, 1):
            prediction = question.prediction
            with st.container(key=f"sheet-solution-{i}"):
                st.markdown(f"**{i}. {prediction.solution.removesuffix('.')}.** {prediction.why}")


def _question(i: int, question: Question) -> None:
    prediction = question.prediction
    with st.container(key=f"sheet-question-{i}", gap="small"):
        st.markdown(f"**{i}.** {prediction.prompt}")
        with st.container(horizontal=True, vertical_alignment="center"):
            batch(question.batch.texts, small=True)
            st.markdown(" ".join(f"`{setting}`" for setting in question.settings))
        if prediction.form == "choice":
            st.markdown("\n".join(f"- {choice}" for choice in prediction.choices))
        else:
            st.html('<div class="room">Answer:</div>')
