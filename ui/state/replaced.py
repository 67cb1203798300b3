"""Values that the app gives to widgets: until they arrive, the browser sends older ones with every action.

A message from the browser is sent for one action, and has the values of all widgets. So the app numbers the values that
it gives, and puts the last number into a hidden widget, which is drawn after the others. The number in a message says
which values the browser had when it sent the message. If it did not have the newer value of a widget, then the visitor
has not chosen the older one.

The address in a message may also be older than its values. Then the value is written into it.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

import streamlit as st

from ui.state.visit import visit

RECEIVED = "received"  # the key of the hidden widget
DIGITS = 9  # of the last number, at most
MOST = 32  # values of a widget that are kept for a browser that reports none of them


class Replacement(NamedTuple):
    """A value that the app has given to a widget, its number, and the value before it."""

    number: int
    before: object
    value: object


@dataclass
class Replaced:
    """How many values the app has given, and by widget, those that the browser may not have yet.

    unwritten: the widgets whose value was not in the address that came with it. is_drawn: whether the hidden widget has
    been drawn.
    """

    count: int = 0
    on_the_way: dict[str, list[Replacement]] = field(default_factory=dict)
    unwritten: set[str] = field(default_factory=set)
    is_drawn: bool = False


def give(name: str, value: object) -> None:
    """Give a widget a new value."""
    state = st.session_state
    if name in state and state[name] != value:
        _replace(name, state[name], value)
    state[name] = value


def write(name: str) -> None:
    """Have the value of a widget written into the address, which came with it but is older and lacks it.

    Streamlit writes a value that is given, when it draws the widget. In a run that another one has replaced before, it
    may take the older value of the address instead, so the value is given again then.
    """
    visit(Replaced).unwritten.add(name)
    st.session_state[name] = st.session_state[name]


def give_again(name: str) -> None:
    """Before a widget is drawn, give it its value again if that may not have arrived: its run may have been stopped."""
    found, unwritten, state = _on_the_way(name), visit(Replaced).unwritten, st.session_state
    if name in state and (name in unwritten or (found and state[name] == found[-1].value)):
        state[name] = state[name]
    unwritten.discard(name)


def draw_received() -> None:
    """Draw the hidden widget, in each run that draws widgets that are given values, after all of them.

    The first time it has no number: a browser that has no such widget yet sends none, and Streamlit then takes ours.
    """
    replaced = visit(Replaced)
    st.session_state[RECEIVED] = str(replaced.count) if replaced.is_drawn else ""
    replaced.is_drawn = True
    # with a number input, an edit of the text takes 4 ms more in the browser
    st.text_input(RECEIVED, max_chars=DIGITS, key=RECEIVED)


def overtaken(name: str) -> bool:
    """Return whether a widget's change is only an older value; if so, give it its value again."""
    found, there = _on_the_way(name), st.session_state[name]
    if not found:
        return False
    if there in [one.before for one in found]:
        st.session_state[name] = found[-1].value
        return True
    _replace(name, found[-1].value, there)  # what is on the way would replace this choice in the browser
    st.session_state[name] = there
    return False


def on_the_way() -> bool:
    """Return whether the browser may not have all values yet."""
    return any(_on_the_way(name) for name in list(visit(Replaced).on_the_way))


def _replace(name: str, before: object, value: object) -> None:
    replaced = visit(Replaced)
    replaced.count += 1
    earlier = replaced.on_the_way.get(name, [])[1 - MOST :]
    replaced.on_the_way[name] = [*earlier, Replacement(replaced.count, before, value)]


def _on_the_way(name: str) -> list[Replacement]:
    """Return the values of a widget that the browser may not have yet, and forget the others."""
    known, received = visit(Replaced).on_the_way, st.session_state.get(RECEIVED, "")
    number = int(received[:DIGITS]) if received.isdecimal() else 0  # a visitor can put anything there
    known[name] = [one for one in known.get(name, ()) if one.number > number]
    return known[name]
