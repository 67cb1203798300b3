"""The way through a lesson, in the order in which a visitor should see it."""

import streamlit as st

from ui.controls import Controls, typed
from ui.notices import notices
from ui.player import AFTER, play, stage_on_screen
from ui.records import records
from ui.requests import Request
from ui.runs import latest, run

__all__ = ["after", "lesson"]


@st.fragment
def lesson(chosen: Controls) -> None:
    """Show the text area and the player; an edit of the text reruns these two and nothing else."""
    if st.session_state["example"] != chosen.picked:
        st.rerun()  # the edit has made the example one's own text: that concerns the other controls, too
    asked = typed(chosen)
    shown = latest(asked)
    with st.container():  # there with and without a notice, so that the player keeps its place, and thereby its state
        notices(chosen, asked, shown)
    play(shown.movie)


@st.fragment(key=AFTER)
def after() -> None:
    """Show what belongs to the picture; the picture itself waits for none of it."""
    stage = stage_on_screen()
    if stage is not None:
        records(run(st.session_state.get("last good", Request())), stage)
