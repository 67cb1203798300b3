"""Values that the app gives to widgets: until one is there, the browser sends older ones with all that is done."""

import math
import time

import streamlit as st

from ui.visit import visit

LATE = 0.5  # seconds after which the browser knows what was drawn


def give(name: str, value: object) -> None:
    """Give a widget another value."""
    older, last, _ = _replaced(name)
    if (there := st.session_state.get(name, last)) != value:
        visit().replaced[name] = (*older, there), value, math.inf
    st.session_state[name] = value


def drawn(name: str) -> None:
    """Note that a widget is drawn now; what it was given is told again, for the run that told it may be cut off."""
    older, value, first = _replaced(name)
    if older:
        visit().replaced[name] = older, value, min(first, time.monotonic())
        if st.session_state.get(name) == value:
            st.session_state[name] = value


def overtaken(name: str) -> bool:
    """Return whether a change of a widget is only an older value, sent before the last came; give it that again."""
    older, value, _ = _replaced(name)
    if not older:
        return False
    if (there := st.session_state[name]) in older:
        st.session_state[name] = value
        return True
    visit().replaced[name] = (*older, value), there, math.inf
    st.session_state[name] = there  # the value may come after this was chosen, and stand there instead
    return False


def on_the_way() -> bool:
    """Return whether the browser may not have all values yet."""
    return any(_replaced(name)[0] for name in visit().replaced)


def _replaced(name: str) -> tuple[tuple[object, ...], object, float]:
    """Return older values of a widget that the browser may still send, the last one, and when it was first drawn."""
    older, value, first = visit().replaced.get(name, ((), None, math.inf))
    return ((), value, first) if time.monotonic() > first + LATE else (older, value, first)
