"""Announcements for screen readers: an invisible line, spoken when it changes but not when the page first loads."""

import re

import streamlit as st

from packviz.text import unlinked
from ui.parts.component import component

_COLOURED = re.compile(r":\w+(?:-badge)?\[(?::material/\w+: ?)?((?:[^\[\]]|\[[^\[\]]*\])*)\]")  # also with a list in it
_MARKUP = re.compile(r"\*\*|`|[✓✗⚠½]\**|^\|(?:-+\|)*|\|$", re.MULTILINE)  # and the edges of a table

_mount = component(__file__, "status", '<div role="status"></div>')


def announce(markdown: str, key: str, *, number: int = 0) -> None:
    """Announce a result to screen readers, politely, when it differs from the last one.

    markdown  what is on the screen; "" while there is no result: the line must exist before it can speak
    key       of the place, the same on every rerun
    number    of the answer: with a new number the same words are spoken again
    """
    words = " ".join(_MARKUP.sub("", unlinked(_COLOURED.sub(r"\1", markdown))).split())
    with st.container(key=f"status-{key}", gap=None):
        _mount(key=f"status {key}", data={"text": words, "number": number}, height="content")
