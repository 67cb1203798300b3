"""Values that the app gives to widgets: until one is there, the browser sends the old one with all that is done."""

import math
import time

import streamlit as st

from ui.visit import visit

LATE = 0.5  # seconds after which the browser knows what was drawn


def give(name: str, value: object) -> None:
    """Give a widget another value."""
    if (old := st.session_state.get(name)) != value:
        visit().replaced[name] = old, value, math.inf
    st.session_state[name] = value


def drawn(name: str) -> None:
    """Note that a widget is drawn with the value that it was given."""
    if name in visit().replaced:
        old, value, first = visit().replaced[name]
        visit().replaced[name] = old, value, min(first, time.monotonic())


def overtaken(name: str) -> bool:
    """Return whether a change of a widget is only its old value, sent before the new one came; give it that again."""
    old, value, first = visit().replaced.get(name, (None, None, -math.inf))
    if st.session_state[name] != old or time.monotonic() > first + LATE:
        visit().replaced.pop(name, None)
        return False
    st.session_state[name] = value
    return True
