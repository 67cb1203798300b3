"""The presenter view: what only the teacher should see, beside what the class sees.

The clock, the note, what comes next, the answers so far, and what students tell their teacher.
"""

from collections.abc import Mapping
from datetime import datetime
from html import escape
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import streamlit as st

from classroom.phases import VOTING
from classroom.seen import Seen
from classroom.state import Pace
from packviz.text import counted, percent
from ui.parts.plan_view import title
from ui.views.class_stage import LOOK, bars
from ui.views.teachers_room import act, seen_now

_PACES: Mapping[Pace, str] = {"slow": "too slow", "fast": "too fast", "lost": "lost"}
_SHOWN = 5  # of the questions from students, the latest ones


@st.fragment(run_every=LOOK)
def presenter(following: str) -> None:
    """Show what only the teacher should see. following: the label of what Page Down does after the movie, if any."""
    seen = seen_now()
    if seen is None:
        return
    with st.container(border=True, key="class-presenter"):
        st.html(_clock(seen))
        if seen["note"]:
            st.text(seen["note"])
        st.html(_next(seen, following) + _pace(seen))
        if seen["question"] is not None and seen["phase"] in VOTING and seen["voted"]:
            if seen["hint"] is not None:
                st.markdown(f"**{percent(seen['hint']['share'])} right.** {seen['hint']['told']}")
            st.html(bars(seen, seen["question"]))
        for wonder in reversed(seen["wonders"][-_SHOWN:]):
            _wonder(wonder["id"], wonder["text"], on=wonder["shown"])


def _clock(seen: Seen) -> str:
    """Return the time of day where the teacher is, and how long the lesson has run."""
    try:
        now = datetime.now(ZoneInfo(st.context.timezone or "UTC"))
    except (ZoneInfoNotFoundError, ValueError):
        now = datetime.now().astimezone()
    since = "" if seen["seconds"] is None else f"{counted(seen['seconds'] // 60, 'minute')} since the first item"
    place = f"item {seen['item'] + 1} of {len(seen['items'])}" if seen["items"] and seen["item"] is not None else ""
    told = " · ".join(filter(None, (since, place)))
    return f'<p class="class-clock"><b>{now:%H:%M}</b> {escape(told)}</p>'


def _next(seen: Seen, following: str) -> str:
    """Return what Page Down does, and which item comes next. Within a movie it is a step of that."""
    movie = seen.get("movie") if seen["phase"] == "reveal" else None
    if movie and (seen["step"] or 0) < (movie["steps"] or 0):
        following = "the next step of the movie"
    key = f"<b>Page Down:</b> {escape(following)}" if following else "This is the end of the list."
    upcoming = seen["upcoming"] and title(seen["upcoming"])
    after = f"<br><b>The next item:</b> {escape(upcoming)}" if upcoming else ""
    return f'<p class="class-next">{key}{after}</p>'


def _pace(seen: Seen) -> str:
    """Return one small bar of what students say about the pace."""
    pace = {told: seen["paces"][name] for name, told in _PACES.items()}
    told = ", ".join(f"{many} {name}" for name, many in pace.items() if many)
    if not told:
        return ""
    parts = "".join(
        f'<i class="{name}" style="--share: {seen["paces"][name] / seen["joined"]:.3f}"></i>' for name in _PACES
    )
    return (
        f'<div class="class-pace"><div aria-hidden="true">{parts}</div>'
        f"<p>In the last five minutes, of {seen['joined']}: {told}.</p></div>"
    )


def _wonder(number: int, text: str, *, on: bool) -> None:
    """Show a question from a student, and offer to put it on the projector."""
    st.text(f"“{text}”")
    label = "Take it off the projector" if on else "Put it on the projector"
    if st.button(label, key=f"class wonder {number}"):
        act("show", wonder=None if on else number)
        st.rerun()  # the stage beside this shows it, too
