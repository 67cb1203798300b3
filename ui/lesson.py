"""The way through a page, in the order in which a visitor should see it: words, prediction, movie, the rest."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import streamlit as st

from packviz.show.movie import STAGES
from ui.controls import Controls, controls, keep, put_aside, put_back, typed
from ui.notices import notices
from ui.part import refused, way_back
from ui.player import AFTER, play, stage_on_screen
from ui.prediction import prediction
from ui.progress import leave_others
from ui.records import records
from ui.requests import Request, View
from ui.runs import Shown, latest, run

__all__ = ["apart", "lesson", "measured", "overview"]

Sections = Callable[[Shown], None]


def overview(title: str) -> None:
    """Show the whole way, from the text to the unpacked output, and the records of the stage on screen."""
    leave_others("")
    st.title(title, anchor=False)
    chosen = controls()
    with chosen.under_text:
        way_back()
    if put_aside() is not None and chosen.under_text.button("My own text again", key="put back"):
        put_back()
        st.rerun()
    _picture(chosen, None)
    _after(None, _records)


def lesson(question: str, answer: str, stages: Sequence[View], sections: Sections) -> None:
    """Show one part of the way in full depth.

    question: the title. answer: at most three short sentences, Markdown. stages: whose movie is shown, the first of
    them is asked about. sections: what stands below the movie, once it has been painted.
    """
    leave_others("")
    _head(question, answer)
    _picture(controls(), tuple(stages))
    _after(tuple(stages), sections)


def measured(question: str, answer: str, work: str, sections: Sections) -> None:
    """Show a page without a movie, whose numbers are measured when a visitor asks for them.

    work: the name of what may take long here; such work of other pages is ended.
    """
    leave_others(work)
    _head(question, answer)
    _measured(controls(), sections)


def apart(question: str, answer: str) -> None:
    """Head a page that does not show the visitor's batch; what the controls of the other pages hold is kept."""
    leave_others("")
    keep()
    st.session_state.pop("way back", None)
    with st.container(key="apart"):
        _head(question, answer)


def _head(question: str, answer: str) -> None:
    with st.container(key="head"):
        st.title(question, anchor=False)
        if answer:
            st.markdown(answer)


@st.fragment
def _measured(chosen: Controls, sections: Sections) -> None:
    """Show the text area, and what is measured for its batch."""
    asked, shown = _shown(chosen, None)
    notices(chosen, asked, shown)
    with st.container(key="measured"):
        sections(shown)


@st.fragment
def _picture(chosen: Controls, stages: tuple[View, ...] | None) -> None:
    """Show the text area and the player; an edit of the text reruns these two and nothing else."""
    asked, shown = _shown(chosen, stages)
    with st.container():  # there with and without a notice, so that the player keeps its place, and thereby its state
        notices(chosen, asked, shown)
    if stages is not None and stages[0] in STAGES:
        prediction(shown, stages[0])
    play(shown.movie, stages, picks=stages == ("run",))


def _shown(chosen: Controls, stages: tuple[View, ...] | None) -> tuple[Request, Shown]:
    """Draw the text area; return what is asked for, and what can be shown of it."""
    if st.session_state["example"] != chosen.picked:
        st.rerun()  # the edit has made the example one's own text: that concerns the other controls, too
    asked = replace(typed(chosen), stages=stages)
    return asked, latest(asked)


@st.fragment(key=AFTER)
def _after(stages: tuple[View, ...] | None, sections: Sections) -> None:
    """Show what belongs to the picture; the picture itself waits for none of it."""
    if stage_on_screen() is not None:
        shown = run(replace(st.session_state.get("last good", Request()), stages=stages))
        if shown.trace.error is None or stages is None or stages[0] in ("pad", "sort"):
            sections(shown)
        else:
            refused(shown)


def _records(shown: Shown) -> None:
    stage = stage_on_screen()
    if stage is not None:
        records(shown, stage)
