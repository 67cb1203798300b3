"""What the app remembers about a visitor from one run to the next: one typed record for each session.

The widgets hold their own values, and `ui.address` has the address; everything else is here.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import streamlit as st

if TYPE_CHECKING:
    from ui.plan import Item
    from ui.progress import Started
    from ui.quiz import Game
    from ui.runs import Request

WayBack = tuple[str, str, dict[str, str]]  # a page, the label of the link to it, and its address


@dataclass(frozen=True)
class Ask:
    """Ask the player for a step, or to highlight a token; each time with a new number. look: also scroll to it."""

    number: int = 0
    step: int | None = None
    token: int | None = None
    look: bool = False


@dataclass
class Visit:
    """Hold everything that is remembered about one visitor."""

    # of widgets to which the app has given a value: older ones, the last one, and when this was first drawn
    replaced: dict[str, tuple[tuple[object, ...], object, float]] = field(default_factory=dict)
    link: Mapping[str, str] | None = None  # what the address asked for when the visitor arrived,
    first_request: "Request | None" = None  # and the request it led to
    last_good: "Request | None" = None  # the last request that could be shown
    own_text: str | None = None  # the visitor's last typed text
    put_aside: str | None = None  # a typed text that was replaced by something to try
    stage: str | None = None  # on the player's screen
    narrow: bool = False  # whether the screen is as narrow as a phone's
    ask: Ask = Ask()  # what the player is asked to show
    # the last click in the movie and its request, until it is handled
    picked: dict[str, Any] | None = None
    done: frozenset[str] = frozenset()  # the stages whose prediction was answered, or whose exercise was done
    way_back: WayBack | None = None  # from the overview to the page that opened it
    doctor_input: tuple[Any, ...] | None = None  # typed into the doctor's fields before an example replaced it
    jobs: "dict[str, Started]" = field(default_factory=dict)  # long work by its name
    round: tuple[int, int] | None = None  # the level and number of the quiz's last one
    games: "dict[tuple[int, int], Game]" = field(default_factory=dict)  # the rounds of the quiz
    room: tuple[str, str] | None = None  # the code of the teacher's class and the secret
    room_problem: str = ""  # why the last action there was refused
    room_is_over: bool = False  # whether the browser should forget it
    revealed: dict[int, int] = field(default_factory=dict)  # by question, the step at which its movie was opened
    plan: "tuple[Item, ...]" = ()  # the lesson plan
    plan_problem: str = ""  # why a file was refused
    plan_touched: bool = False  # whether it has been changed in this session


def visit() -> Visit:
    """Return the record of the current visitor."""
    if "visit" not in st.session_state:
        st.session_state["visit"] = Visit()
    found: Visit = st.session_state["visit"]
    return found


def on_a_phone() -> bool:
    """Return whether the screen is a phone's, as its browser says, until a player has measured it."""
    return visit().narrow or "Mobi" in st.context.headers.get("User-Agent", "")
