"""What the parts of a lesson below its movie are made of: headings, things to try, facts by torch, tables."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager

import streamlit as st

from packviz.movie.model import Stage
from ui.records import proof, table
from ui.runs import Shown

__all__ = ["numbers", "onward", "part", "refused", "try_this", "verdicts"]


@contextmanager
def part(title: str, text: str = "") -> Iterator[None]:
    """Stand under a heading, with a sentence or two of Markdown."""
    with st.container(border=True):
        st.subheader(title, anchor=False)
        if text:
            st.markdown(text)
        yield


def try_this(text: str, buttons: Mapping[str, Mapping[str, object]]) -> None:
    """Offer one thing to try; a button puts its settings, by their names, into the controls."""
    with st.container(border=True, horizontal=True, vertical_alignment="center", key="try"):
        st.markdown(f"**Try this.** {text}", width="content")
        for label, settings in buttons.items():
            if st.button(label, on_click=_set, kwargs=dict(settings), key=f"try {label}"):
                st.rerun()  # this fragment alone would leave the movie as it was


def _set(**settings: object) -> None:
    for name, value in settings.items():
        st.session_state[name] = value
    if "sequences" in settings:
        st.session_state["example"] = "own"
        st.session_state["own text"] = settings["sequences"]


def refused(shown: Shown) -> None:
    """Say that torch packed nothing, so that there is nothing to see here, and offer the way out."""
    try_this(
        "torch refuses these lengths, so nothing is packed or run.", {"enforce_sorted off": {"enforce_sorted": False}}
    )
    st.code(f"RuntimeError: {shown.trace.error}", language=None, wrap_lines=True)


def verdicts(lines: Iterable[tuple[str, str]]) -> None:
    """Show lines of Python, and what torch made of each, just now."""
    st.code("\n".join(f">>> {code}\n{outcome}" for code, outcome in lines), language="python", wrap_lines=True)


def numbers(shown: Shown, stage: Stage) -> None:
    """Show the records of a stage as a table, and how they compare with torch's own run."""
    with part("The numbers"):
        proof(shown)
        st.dataframe(table(shown, stage), hide_index=True, key="records", alt=f"The records of the stage {stage}")


def onward(page: str, label: str) -> None:
    """Lead to the next lesson, on the same batch."""
    st.page_link(page, label=label, icon=":material/arrow_forward:")
