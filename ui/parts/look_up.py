"""A link from a text that is no data, such as an error message, to the search of the questions."""

import streamlit as st

from packviz import doctor
from packviz.teach.questions import searched
from ui.state.path import script


def look_up(text: str) -> None:
    """If a text is words, such as an error message or a question, link to the search of the questions with it."""
    if not doctor.are_words(text):
        return
    found = {"search": " ".join(searched(text).split())}
    label = "Look up an error message or a question in Questions"
    st.page_link(script("questions"), label=label, icon=":material/arrow_forward:", query_params=found)
