"""Values that the app gives to widgets: until one arrives, the browser sends older ones with every action."""

import math
import time
from dataclasses import dataclass, field

import streamlit as st

from ui.state.visit import visit

# Seconds after which the browser has received what was drawn. Streamlit does not say when. Without this wait, text
# that is typed just before a setting is chosen is lost on a slow link: see the two tests in tests/app/test_typing.py.
LATE = 0.5


@dataclass
class Replaced:
    """The widgets to which the app has given a value: the older ones, the last one, and when this was first drawn."""

    widgets: dict[str, tuple[tuple[object, ...], object, float]] = field(default_factory=dict)


def give(name: str, value: object) -> None:
    """Give a widget a new value."""
    older, last, _ = _replaced(name)
    if (there := st.session_state.get(name, last)) != value:
        visit(Replaced).widgets[name] = (*older, there), value, math.inf
    st.session_state[name] = value


def drawn(name: str) -> None:
    """Record that a widget is drawn now, and send its given value again: the run that sent it may have been cut off."""
    older, value, first = _replaced(name)
    if older:
        visit(Replaced).widgets[name] = older, value, min(first, time.monotonic())
        if st.session_state.get(name) == value:
            st.session_state[name] = value


def overtaken(name: str) -> bool:
    """Return whether a widget's change is only an older value, sent before the last arrived; if so, give that again."""
    older, value, _ = _replaced(name)
    if not older:
        return False
    if (there := st.session_state[name]) in older:
        st.session_state[name] = value
        return True
    visit(Replaced).widgets[name] = (*older, value), there, math.inf
    st.session_state[name] = there  # the given value may arrive after this choice and overwrite it
    return False


def on_the_way() -> bool:
    """Return whether the browser may not have all values yet."""
    return any(_replaced(name)[0] for name in visit(Replaced).widgets)


def _replaced(name: str) -> tuple[tuple[object, ...], object, float]:
    """Return older values of a widget that the browser may still send, the last one, and when that was first drawn."""
    older, value, first = visit(Replaced).widgets.get(name, ((), None, math.inf))
    return ((), value, first) if time.monotonic() > first + LATE else (older, value, first)
