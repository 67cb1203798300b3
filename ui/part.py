"""What the parts of a lesson below its movie are made of: headings, things to try, facts by torch, tables."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields

import streamlit as st

from packviz.inputs.config import Config
from packviz.show.movie.model import Stage
from ui.controls import put, put_aside, put_back
from ui.player import show
from ui.records import proof, table
from ui.requests import OWN
from ui.runs import Shown

__all__ = ["explore", "numbers", "onward", "part", "refused", "try_this", "verdicts", "way_back"]

Way = tuple[str, str, dict[str, str]]


@contextmanager
def part(title: str, text: str = "") -> Iterator[None]:
    """Stand under a heading, with a sentence or two of Markdown."""
    with st.container(border=True):
        st.subheader(title, anchor=False)
        if text:
            st.markdown(text)
        yield


def try_this(text: str, buttons: Mapping[str, Mapping[str, object]]) -> None:
    """Offer something to try; a button puts its settings, by their names, into the controls."""
    with st.container(border=True, horizontal=True, vertical_alignment="center", key="try"):
        st.markdown(f"**Try this.** {text}", width="content")
        pressed = [st.button(label, on_click=_put, args=(each,), key=f"try {label}") for label, each in buttons.items()]
        if put_aside() is not None and st.button("my own text again", key="put back"):
            put_back()
            pressed.append(True)
        if any(pressed):
            st.rerun()  # this fragment alone would leave the movie as it was


def _put(settings: Mapping[str, object]) -> None:
    put(settings)
    show(step=1, look=True)


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


def explore(label: str, sequences: str, config: Config, back: Way, *, direction: int = 0, step: int = 1) -> None:
    """Offer to open a batch, all settings and a step of the movie in the explorer; one's own text is put aside.

    back: the page, a label and the address by which the explorer leads back.
    """
    settings = {each.name: getattr(config, each.name) for each in fields(Config)}
    settings |= {"sequences": sequences, "direction": "backward" if direction else "forward"}
    if st.button(label, icon=":material/arrow_forward:", key="explore", on_click=put, args=(settings,)):
        usual = {each.name: each.default for each in fields(Config)} | {"direction": "forward", "step": 1}
        asked = settings | {"example": OWN, "step": step}  # widgets that have never been drawn write no address
        changed = {name: str(value) for name, value in asked.items() if value != usual.get(name)}
        st.session_state["way back"] = back
        st.switch_page("pages/0_overview.py", query_params=changed)


def way_back() -> None:
    """Lead back to the page from which the explorer was opened, if it was."""
    if "way back" in st.session_state:
        page, label, asked = st.session_state["way back"]
        st.page_link(page, label=label, icon=":material/arrow_back:", query_params=asked)
