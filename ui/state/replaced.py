"""Values that the app gives to widgets: until one arrives, the browser sends older ones with every action.

A message from the browser has the values of all widgets, and is sent for one action. So if one of them is older than
what the app gave, and another has changed, then the older value was not chosen by the visitor, and is ignored. If no
other has changed, time must decide: the action may have been a button, or the older value itself.
"""

import math
import time
from dataclasses import dataclass, field

import streamlit as st

from ui.state.visit import visit

# Seconds after which the browser has received what was drawn. Streamlit does not say when. Without this wait, a button
# that is pressed just after another one undoes it on a slow link: see the tests in tests/app/test_typing.py.
LATE = 0.5
SLOW = 10.0  # seconds in which a message can overtake the app's value at all


@dataclass
class Replaced:
    """Widgets to which the app has given a value: the older ones, the last one, and when this was first drawn.

    seen: the value of each widget when it was last drawn, if it had one.
    """

    widgets: dict[str, tuple[tuple[object, ...], object, float]] = field(default_factory=dict)
    seen: dict[str, object] = field(default_factory=dict)


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
    if name in st.session_state:  # else it is drawn for the first time, with a value that only Streamlit knows yet
        visit(Replaced).seen[name] = st.session_state[name]


def forget_undrawn() -> None:
    """Forget what was given to widgets that are still not drawn once all of a page are: it does not have them."""
    widgets = visit(Replaced).widgets
    for name in [name for name, (_, _, first) in widgets.items() if first == math.inf]:
        del widgets[name]


def overtaken(name: str) -> bool:
    """Return whether a widget's change is only an older value, sent before the last arrived; if so, give that again."""
    known, there = visit(Replaced).widgets, st.session_state[name]
    older, value, first = known.get(name, ((), None, math.inf))
    if there in older and (_within(LATE, first) or (_within(SLOW, first) and _another_changed(name))):
        st.session_state[name] = value
        return True
    if older and _within(LATE, first):
        known[name] = (*older, value), there, math.inf
        st.session_state[name] = there  # the given value may arrive after this choice and overwrite it
    else:
        known.pop(name, None)
    return False


def on_the_way() -> bool:
    """Return whether the browser may not have all values yet."""
    return any(_replaced(name)[0] for name in visit(Replaced).widgets)


def _replaced(name: str) -> tuple[tuple[object, ...], object, float]:
    """Return older values of a widget that the browser may still send, the last one, and when that was first drawn."""
    older, value, first = visit(Replaced).widgets.get(name, ((), None, math.inf))
    return (older, value, first) if _within(LATE, first) else ((), value, first)


def _within(seconds: float, first: float) -> bool:
    return time.monotonic() <= first + seconds


def _another_changed(name: str) -> bool:
    """Return whether a widget has changed that is not this one, to a value that is not an older one."""
    state, replaced = st.session_state, visit(Replaced)
    return any(
        other != name
        and other in state
        and state[other] != seen
        and state[other] not in replaced.widgets.get(other, ((), None, 0.0))[0]
        for other, seen in replaced.seen.items()
    )
