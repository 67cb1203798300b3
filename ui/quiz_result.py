"""The end of a round: the points, every question with what was said and the answer, and what to do next."""

from collections.abc import Callable, Mapping

import streamlit as st

from packviz.teach.quiz import LEVELS, Mark, Scorecard
from packviz.text import quoted

__all__ = ["result"]

_SIGNS: dict[Mark, str] = {
    "open": "",
    "first": ":green[**✓** 2 points]",
    "second": ":green[**½** 1 point]",
    "missed": ":red[**✗** 0 points]",
}


def result(
    scorecard: Scorecard,
    level: int,
    number: int,
    unread: Mapping[int, str],
    *,
    begin: Callable[[int | None], None],
    again: Callable[[], None],
    see: Callable[[int], None],
) -> None:
    """Show what came of a round.

    unread: for each question, what was typed last that could not be read. begin: begins another round, of the level
    that it is given. again: begins this one again. see: opens one question.
    """
    with st.container(border=True, key="quiz-result"):
        st.header(f"{scorecard.points} of {scorecard.most} points", anchor=False)
        st.markdown(f"Level {level}, round {number}: {_told(scorecard)}")
        with st.container(horizontal=True):
            st.button("Another round", on_click=begin, args=(level,))
            if level + 1 in LEVELS:
                st.button(f"Level {level + 1}: {LEVELS[level + 1].told}", on_click=begin, args=(level + 1,), wrap=True)
            st.button("Same round again", on_click=again)
        for i in range(len(scorecard.questions)):
            _line(scorecard, i, unread.get(i, ""), see)


def _told(scorecard: Scorecard) -> str:
    first, second = (scorecard.marks.count(mark) for mark in ("first", "second"))
    return f"{first} right at the first try, {second} at the second, {len(scorecard.marks) - first - second} not found."


def _line(scorecard: Scorecard, i: int, unread: str, see: Callable[[int], None]) -> None:
    asked = scorecard.questions[i].prediction
    with st.container(horizontal=True, vertical_alignment="center", key=f"quiz-line-{i}"):
        with st.container(width="stretch", gap=None):
            st.markdown(f"**{i + 1}.** {asked.prompt}")
            with st.container(horizontal=True, gap="small"):
                st.markdown(_SIGNS[scorecard.mark(i)], width="content")
                st.text(f"{_said(scorecard, i, unread)}The answer: {_ended(asked.solution.replace('`', ''))}")
        st.button("See why", on_click=see, args=(i,), key=f"see {i}")


def _said(scorecard: Scorecard, i: int, unread: str) -> str:
    """Return what was said; nothing about what was said before a reload, which nobody has kept."""
    said = ", then ".join(each.replace("`", "") for each in scorecard.tries(i))
    if not said and i < len(scorecard.restored):
        return ""
    if not said and unread:
        return f"You typed: {quoted(unread)}. "
    return f"You said: {_ended(said or 'nothing')} "


def _ended(text: str) -> str:
    return text if text.endswith(".") else f"{text}."
