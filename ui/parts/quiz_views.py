"""The batch of a question, and a round of the quiz on paper."""

from collections.abc import Sequence
from pathlib import Path

import streamlit as st

from packviz.inputs.row_config import RowConfig
from packviz.show.theme import sequence_color, text_on
from packviz.teach.quiz import LEVELS, QuizQuestion
from packviz.text import markup
from ui.state import names
from ui.state.path import script

_HERE = Path(__file__).parent
_print = st.components.v2.component(
    "packviz_print",
    html='<button type="button">Print</button>',
    css="button { font: inherit; color: inherit; background: var(--st-background-color); padding: 0.4rem 1.2rem; "
    "border: 1px solid var(--st-border-color); border-radius: 8px; cursor: pointer; }",
    js='export default ({ parentElement }) => { parentElement.querySelector("button").onclick = () => print(); };',
)


def batch(sequences: Sequence[Sequence[str]], settings: Sequence[str] = (), *, small: bool = False) -> None:
    """Show the sequences as ragged rows in the original order, each with its letter and colour; and the settings."""
    colors = [sequence_color(b) for b in range(len(sequences))]
    rows = [*zip(sequences, colors, map(text_on, colors), strict=True)]
    table = markup(_HERE / "quiz_batch.html", rows=rows, columns=max(map(len, sequences)), small=small)
    st.html(table, width="content" if small else "stretch")
    if settings:
        named = ", ".join(f"`{setting}`" for setting in settings)
        st.markdown(f"{'Setting' if len(settings) == 1 else 'Settings'}: {named}")


def needed_settings(question: QuizQuestion) -> list[str]:
    """Return the settings, as code, that the answer can depend on: the cell in a run, enforce_sorted in an order."""
    if isinstance(question.config, RowConfig):
        return []  # the question names them
    left_out, stage = [], question.prediction.moment.stage
    if stage in ("pad", "embed", "sort", "pack"):
        left_out.append("cell")
    if stage not in ("sort", "pack"):
        left_out.append("enforce_sorted")
    return [code for name, code in question.settings.items() if name not in left_out]


def way_to(level: int, number: int) -> None:
    """Lead to the worksheet of a round."""
    place = names.changed({"level": level, "round": number, "worksheet": "true"})
    st.page_link(script("quiz"), label="This round as a worksheet", icon=":material/print:", query_params=place)


def worksheet(level: int, number: int, asked: Sequence[QuizQuestion]) -> None:
    """Show a round for printing: its questions with room for the answers, and the solutions on a separate sheet."""
    with st.container(horizontal=True, vertical_alignment="center", key="worksheet-way"):
        _print(key="print", height="content", width="content")
        place = names.changed({"level": level, "round": number})
        st.page_link(script("quiz"), label="Back to the quiz", icon=":material/arrow_back:", query_params=place)
    name = f"Level {level} ({LEVELS[level].about}), round {number}"
    with st.container(key="worksheet"):
        st.markdown(f"{name}. Name:")
        for i, question in enumerate(asked, 1):
            _question(i, question)
    with st.container(key="solutions"):
        st.header("Solutions", anchor=False)
        st.markdown(f"{name}. Computed by PyTorch.")
        for i, question in enumerate(asked, 1):
            with st.container(key=f"sheet-solution-{i}"):
                st.markdown(f"**{i}. {question.prediction.solution.removesuffix('.')}.** {question.prediction.why}")


def _question(i: int, question: QuizQuestion) -> None:
    prediction = question.prediction
    with st.container(key=f"sheet-question-{i}", gap="small"):
        st.markdown(f"**{i}.** {prediction.prompt}")
        with st.container(horizontal=True, vertical_alignment="center"):
            batch(question.batch.texts, needed_settings(question), small=True)
        if prediction.form == "choice":
            st.markdown("\n".join(f"- {choice}" for choice in prediction.choices))
        else:
            st.html('<div class="room">Answer:</div>')
