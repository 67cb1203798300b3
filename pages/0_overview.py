"""The whole way: padded, sorted, packed, run, unpacked."""

import streamlit as st

from ui.controls import controls
from ui.notices import notices
from ui.player import play
from ui.records import records
from ui.runs import latest

st.title("packviz: padding and packing", anchor=False)
asked = controls()
shown = latest(asked.request)
notices(asked, shown)


@st.fragment
def film() -> None:
    """Rerun alone when another stage comes on screen; the first picture waits for nothing below it."""
    stage = play(shown)
    if stage is not None:
        records(shown, stage)


film()
