"""A link from a text that is no data, such as an error message or code, to the search of the questions."""

import re

import streamlit as st

from packviz import doctor
from packviz.teach.questions import searched
from ui.state.path import script

_PRINTED = r"(?:\w*[Tt]ensor|array|PackedSequence|Size|list|tuple|pad_sequence|pack_sequence)"  # around printed values
_VALUE = rf"(?:torch|np|numpy|nan|inf|None|True|False|{_PRINTED})\b"
# A call or an index of anything but printed values, a call that is given a name, or a name that gets another's value.
_CODE = re.compile(
    rf"\b(?!{_PRINTED}\b)[a-z_]\w*[\[(]|\b{_PRINTED}\(\s*(?!{_VALUE}|\w+\s*=)[A-Za-z_]"
    rf"|\w[ \t]*=[ \t]*(?!{_VALUE})[A-Za-z_]"
)


def look_up(text: str) -> None:
    """If a text is words, such as an error message or a question, or code, link to the search of the questions."""
    label = "Look up these words in Questions"
    if not doctor.are_words(text):
        if not (_CODE.search(text) or doctor.has_statement(text)):
            return
        st.text("This looks like code, but this page checks values: print the tensors and paste what is printed.")
        label = "Look up this code in Questions"
    found = {"search": " ".join(searched(text).split())}
    st.page_link(script("questions"), label=label, icon=":material/arrow_forward:", query_params=found)
