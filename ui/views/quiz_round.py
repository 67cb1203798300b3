"""Which round of the quiz is played, by its level and number in the address, and the progress in it.

The address names the round, so that a link gives everybody the same round. A visitor's progress is kept in the browser,
in a cookie for the last few rounds: the server gets it with the page, even after a restart.
"""

from functools import partial
from random import SystemRandom
from typing import Any

import streamlit as st

from packviz.teach.quiz import LAST_ROUND, LEVELS
from ui.parts.component import component
from ui.parts.game import Games
from ui.state import address
from ui.state.visit import visit

_HELP = "Every set of ten questions has a number. Read it out, or share the link: everyone gets the same ten."
_LEVEL, _NUMBER = "quiz level", "quiz number"  # the widgets, which follow the address

_COOKIE, _MAX_KEPT = "packviz_quiz", 5
_in_browser = component(__file__, "quiz_round")


def chosen() -> tuple[int, int]:
    """Return the level and the number of the round from the address; what it lacks is taken from the last round."""
    level = address.ordinal(st.query_params, "level", len(LEVELS))
    number = address.ordinal(st.query_params, "round", LAST_ROUND)
    last = visit(Games).current
    if number is None and last is not None:
        level, number = level or last[0], last[1]
    there = visit(Games).current = level or 1, number or _any_round()
    return there


def choice(level: int, number: int) -> None:
    """Offer other rounds: the widgets follow the address, and the address follows them."""
    for key, value in ((_LEVEL, level), (_NUMBER, number)):
        if st.session_state.get(key) != value:
            st.session_state[key] = value
    go = partial(_go, level, number)
    look: dict[str, Any] = {"format_func": lambda each: f"{each} {LEVELS[each].name}", "width": "stretch"}
    st.segmented_control("level", tuple(LEVELS), required=True, key=_LEVEL, on_change=go, **look)
    st.number_input("round number", 1, LAST_ROUND, None, 1, key=_NUMBER, on_change=go, help=_HELP)


def begin(level: int) -> None:
    """Go to another round of a level."""
    address.write_all(level=level, round=_any_round())


def progress(level: int, number: int) -> str:
    """Return the progress in a round that the browser kept; "" if there is none."""
    rounds = (each.partition("_") for each in st.context.cookies.get(_COOKIE, "").split("."))
    return next((kept for name, _, kept in rounds if name == f"{level}-{number}"), "")


def keep_progress(level: int, number: int, code: str) -> None:
    """Have the browser write the round to the address, and keep its progress. code: "" at the start.

    The server does not write the address here: its message may arrive when the visitor is already on another page. Nor
    does the browser if the address already names another round, for example after two quick clicks on Back.
    """
    place = {"level": str(level) if level > 1 else "", "round": str(number), "name": f"{level}-{number}"}
    asked = {"asked": {name: st.query_params.get(name, "") for name in ("level", "round")}}
    kept = {"kept": code, "cookie": _COOKIE, "most": _MAX_KEPT}
    _in_browser(key="quiz-address", data=place | asked | kept, height=0)


def _go(level: int, number: int) -> None:
    """Follow the widgets; if the number was cleared, restore it."""
    address.write_all(level=st.session_state[_LEVEL] or level, round=st.session_state[_NUMBER] or number)


def _any_round() -> int:
    return SystemRandom().randint(1, LAST_ROUND)
