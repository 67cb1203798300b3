"""What the app answers to what was typed or linked: plain sentences, in their place.

Whatever holds a visitor's own characters goes through `st.text`, which reads neither Markdown nor HTML.
"""

from dataclasses import fields

import streamlit as st

from packviz.errors import PackvizError
from packviz.inputs.batch import Batch
from packviz.inputs.config import Config
from packviz.inputs.examples import Example, example
from ui import links
from ui.controls import Controls
from ui.player import place
from ui.requests import OWN, Request
from ui.runs import Shown

__all__ = ["notices"]

_SETTINGS = {"example", "sequences", "read_as", "layer", "direction", *(field.name for field in fields(Config))}
_OF_THE_TEXT = {"text", "kind"}  # the parameters of Batch.parse


def notices(chosen: Controls, asked: Request, shown: Shown) -> None:
    """Say what the sequences are, or why they cannot be shown, and what the link asked for in vain."""
    _about_the_link(asked, shown)
    problem, summary = shown.problem, shown.batch.summary
    if problem is None:
        with chosen.under_text:
            _about_the_sequences(asked, shown.batch)
        return
    of_the_text = problem.parameter in _OF_THE_TEXT
    reason = problem.sentence if of_the_text else str(problem)
    with st.container(border=True):
        st.text(f"⚠ {_short(problem)} This is the last batch that could be shown: {summary}.")
    with chosen.under_text if of_the_text else chosen.over_settings, st.container(border=True):
        st.text(f"⚠ {reason}")


def _short(problem: PackvizError) -> str:
    """Return what came and how to mend it; the whole reason stands where it was typed or set."""
    name = "" if problem.parameter in _OF_THE_TEXT else f"{problem.parameter}: "
    mend = problem.mend.split(";")[0].split(", or ")[0]
    return f"{name}{problem.came}: {mend}."


def _about_the_sequences(asked: Request, batch: Batch) -> None:
    st.text(batch.summary.replace(" %", "\N{NO-BREAK SPACE}%"))  # a line never ends before the sign
    for note in batch.notes:
        st.text(note)
    if asked.source.example != OWN and asked.source.text == example(asked.source.example).text:
        _about_the_example(example(asked.source.example))
    elif asked.source.text is not None and (warning := links.warning(asked.source.text)):
        st.text(warning)


def _about_the_example(told: Example) -> None:
    if told.text is None:
        st.text(f"{told.title}: tensors, which nobody types.")
    if told.credit is not None:
        st.text(told.credit)


def _about_the_link(asked: Request, shown: Shown) -> None:
    """Say what the link asked for in vain, until a control is touched."""
    if st.session_state.setdefault("first request", asked) != asked:
        return
    state = {name: value for name, value in st.session_state.to_dict().items() if name in _SETTINGS}
    step = links.first_step(len(shown.film.steps), place(asked.stages))
    line = links.unmet(links.asked(), state | {"step": step})
    if line is not None:
        st.text(line)
