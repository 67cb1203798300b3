"""What a round of the quiz looks like: the rows of a batch, how the questions stand, the result, and all on paper."""

from collections.abc import Callable, Sequence
from pathlib import Path

import streamlit as st

from packviz.show.theme import SEQUENCE_HUES, hue, text_on
from packviz.teach.quiz import LEVELS, Mark, Question, Scorecard
from packviz.text import markup, quoted
from ui.part import palette
from ui.path import script

# The sign of each mark, what it means, and what it is worth.
_MARKS: dict[Mark, tuple[str, str, str]] = {
    "open": ("", "open", ""),
    "first": ("✓", "right on the first try, 2 points", ":green[**✓** 2 points]"),
    "second": ("½", "right on the second try, 1 point", ":green[**½** 1 point of 2 (second try)]"),
    "missed": ("✗", "missed, 0 points", ":red[**✗** 0 points]"),
}
_WORKSHEET = "worksheet"  # in the address
_HERE = Path(__file__).parent
_print = st.components.v2.component(
    "packviz_print",
    html='<button type="button">Print</button>',
    css="button { font: inherit; padding: 0.4rem 1.2rem; border-radius: 8px; cursor: pointer; }",
    js='export default ({ parentElement }) => { parentElement.querySelector("button").onclick = () => print(); };',
)


def batch(sequences: Sequence[Sequence[str]], *, small: bool = False) -> None:
    """Show the sequences as they came: ragged rows, each with its letter and in its colour."""
    colors = [SEQUENCE_HUES[hue(b)[0]] for b in range(len(sequences))]
    rows = zip(sequences, colors, map(text_on, colors), strict=True)
    table = markup(_HERE / "quiz_batch.html", rows=rows, count=len(sequences), small=small)
    st.html(table, width="content" if small else "stretch")


def marks(standing: Sequence[Mark], at: int) -> None:
    """Show how each question stands, and at which one we are."""
    st.html(markup(_HERE / "quiz_marks.html", standing=standing, at=at, signs=_MARKS, palette=palette()))


def result(
    scorecard: Scorecard,
    place: tuple[int, int],
    unread: dict[int, str],
    *,
    begin: Callable[[int | None], None],
    again: Callable[[], None],
    see: Callable[[int], None],
) -> None:
    """Show how a round ended.

    place: its level and number. unread: for each question, what was typed last that could not be read. begin: begins
    another round, of the level that it is given. again: begins this one again. see: opens one question.
    """
    (level, number), standing = place, scorecard.marks
    first, second = standing.count("first"), standing.count("second")
    with st.container(border=True, key="quiz-result"):
        st.header(f"{scorecard.points} of {scorecard.most} points", anchor=False)
        told = f"{first} right on the first try, {second} on the second, {len(standing) - first - second} missed."
        st.markdown(f"Level {level}, round {number}: {told}")
        with st.container(horizontal=True):
            st.button("Another round", on_click=begin, args=(level,))
            if level + 1 in LEVELS and 2 * scorecard.points >= scorecard.most:
                st.button(f"Level {level + 1}: {LEVELS[level + 1].told}", on_click=begin, args=(level + 1,), wrap=True)
            st.button("Same round again", on_click=again)
        for i in range(len(scorecard.questions)):
            _line(scorecard, i, unread.get(i, ""), see)


def _line(scorecard: Scorecard, i: int, unread: str, see: Callable[[int], None]) -> None:
    asked = scorecard.questions[i].prediction
    with st.container(horizontal=True, vertical_alignment="center", key=f"quiz-line-{i}"):
        with st.container(width="stretch", gap=None):
            st.markdown(f"**{i + 1}.** {asked.prompt}")
            with st.container(horizontal=True, gap="small"):
                st.markdown(_MARKS[scorecard.mark(i)][2], width="content")
                st.text(f"{_said(scorecard, i, unread)}The answer: {_sentence(asked.solution)}")
        st.button("See why", on_click=see, args=(i,), key=f"see {i}")


def _said(scorecard: Scorecard, i: int, unread: str) -> str:
    """Return what was said; nothing about what was said before a reload, which nobody has kept."""
    said = ", then ".join(scorecard.tries(i))
    if not said and i < len(scorecard.restored):
        return ""
    if not said and unread:
        return f"You typed: {quoted(unread)}. "
    return f"You said: {_sentence(said or 'nothing')} "


def _sentence(text: str) -> str:
    return f"{text.replace('`', '').removesuffix('.')}."


def asked_for() -> bool:
    """Return whether the address asks for the worksheet of its round, instead of the quiz."""
    return st.query_params.get(_WORKSHEET) == "true"


def way_to(level: int, number: int) -> None:
    """Lead to the worksheet of a round."""
    place = {"level": str(level), "round": str(number), _WORKSHEET: "true"}
    st.page_link(script("quiz"), label="This round as a worksheet", icon=":material/print:", query_params=place)


def worksheet(level: int, number: int, asked: Sequence[Question]) -> None:
    """Show a round on paper: its questions with room for the answers, and the solutions on a sheet of their own."""
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
