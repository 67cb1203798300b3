"""The whole way: padded, sorted, packed, run, unpacked."""

import streamlit as st

from ui.controls import controls
from ui.lesson import after, lesson

st.title("packviz: padding and packing", anchor=False)
lesson(controls())
after()
