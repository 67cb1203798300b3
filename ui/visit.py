"""What the app remembers of a visitor from one run to the next: one typed record for each session.

A widget's value is the widget's own, and what the address says is in `ui.address`; everything else is here.
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
    """Ask the player for a step, or to light up a token; each time with another number. look: scroll to it, too."""

    number: int = 0
    step: int | None = None
    token: int | None = None
    look: bool = False


@dataclass
class Visit:
    """Hold all that is remembered of one visitor.

    link: what the address asked for when the visitor came. first_request, first_player: what that came to.
    last_good: the last request that could be shown.
    own_text: the text that was last typed. put_aside: a typed text that gave way to something to try.
    stage: the stage on the player's screen. narrow: whether that is as narrow as a phone's.
    ask: what the player is asked to show.
    picked: what was clicked last in the movie, and of which request that was, until it is taken up.
    done: the stages whose prediction was answered, or whose exercise was done.
    way_back: from the overview to the page that opened it.
    doctor_input: what was typed into the doctor's fields before an example replaced it.
    jobs: long work by its name. round: the level and number of the last round of the quiz. games: its rounds.
    room: the code of the teacher's class and the secret. room_problem: why the last action there was refused.
    room_is_over: whether the browser should forget it. revealed: by question, the step at which its movie was opened.
    plan: the lesson plan. plan_problem: why a file was refused.
    plan_touched: whether the plan has been changed in this session.
    """

    link: Mapping[str, str] | None = None
    first_request: "Request | None" = None
    first_player: str | None = None
    last_good: "Request | None" = None
    own_text: str | None = None
    put_aside: str | None = None
    stage: str | None = None
    narrow: bool = False
    ask: Ask = Ask()
    picked: dict[str, Any] | None = None
    done: frozenset[str] = frozenset()
    way_back: WayBack | None = None
    doctor_input: tuple[Any, ...] | None = None
    jobs: "dict[str, Started]" = field(default_factory=dict)
    round: tuple[int, int] | None = None
    games: "dict[tuple[int, int], Game]" = field(default_factory=dict)
    room: tuple[str, str] | None = None
    room_problem: str = ""
    room_is_over: bool = False
    revealed: dict[int, int] = field(default_factory=dict)
    plan: "tuple[Item, ...]" = ()
    plan_problem: str = ""
    plan_touched: bool = False


def visit() -> Visit:
    """Return the record of the visitor for whom the page is run."""
    if "visit" not in st.session_state:
        st.session_state["visit"] = Visit()
    found: Visit = st.session_state["visit"]
    return found
