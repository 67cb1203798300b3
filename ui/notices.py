"""What the app answers to what was typed or linked: plain sentences, in their place.

Whatever holds a visitor's own characters goes through `st.text`, which reads neither Markdown nor HTML.
"""

import streamlit as st

from packviz.examples import Example, example
from ui import links
from ui.controls import Controls
from ui.requests import OWN
from ui.runs import Shown

__all__ = ["notices"]

_OF_THE_TEXT = {"text", "kind"}  # the parameters of Batch.parse


def notices(asked: Controls, shown: Shown) -> None:
    """Say what the sequences are, or why they cannot be shown, and what the link asked for in vain."""
    _about_the_link(asked, shown)
    problem = shown.problem
    if problem is not None:
        st.warning(
            f"What the sidebar asks for cannot be shown. This is the last batch that could: {shown.batch.summary}."
        )
    with asked.under_text.container():
        if problem is not None and problem.parameter in _OF_THE_TEXT:
            _alarm(problem.sentence)
        elif problem is None:
            _about_the_sequences(asked, shown)
    with asked.over_settings.container():
        if problem is not None and problem.parameter not in _OF_THE_TEXT:
            _alarm(str(problem))


def _alarm(sentence: str) -> None:
    with st.container(border=True):
        st.text(f"⚠ {sentence}")


def _about_the_sequences(asked: Controls, shown: Shown) -> None:
    source = asked.request.source
    st.text(shown.batch.summary)
    if source.example != OWN:
        _about_the_example(example(source.example))
    elif source.text is not None and (warning := links.warning(source.text)):
        st.text(warning)


def _about_the_example(told: Example) -> None:
    if told.text is None:
        st.text(f"{told.title}: tensors, which nobody types.")
    if told.credit is not None:
        st.text(told.credit)


def _about_the_link(asked: Controls, shown: Shown) -> None:
    """Say what the link asked for in vain, until a control is touched."""
    if st.session_state.setdefault("first request", asked.request) != asked.request:
        return
    state = st.session_state.to_dict() | {"step": links.first_step(len(shown.movie["steps"]))}
    line = links.unmet(links.asked(), state)
    if line is not None:
        st.text(line)
