"""What is said beside the picture: what was ignored from the link, why a batch is not shown, and where it comes from.

A visitor's own text goes through `st.text`, which interprets neither Markdown nor HTML.
"""

from contextlib import nullcontext
from dataclasses import dataclass
from itertools import chain

import streamlit as st

from packviz.errors import PackvizError
from packviz.inputs.batch import Batch
from packviz.inputs.examples import example
from ui.parts.controls import Controls
from ui.state import address, names
from ui.state.runs import Request, Shown
from ui.state.text import OWN
from ui.state.visit import visit

_OF_THE_TEXT = {"text", "kind"}  # the parameters of Batch.parse


@dataclass
class Arrival:
    """The first request of a visitor, which is what the link led to."""

    request: Request | None = None


@dataclass
class Edit:
    """The visitor's last edit: the batch before it and as it is now, and how many words stand before its place."""

    before: Batch | None = None
    now: Batch | None = None
    place: int = -1


def about_the_edit(asked: Request, batch: Batch) -> None:
    """Say what an edit of words changed beside them, until the next: other words have new ids, or numbers have none."""
    edit = visit(Edit)
    if asked.source.example != OWN or edit.before is None or edit.now is None:
        edit.before, edit.now, edit.place = batch, batch, -1
    elif batch.texts != edit.now.texts:
        if (place := _place(edit.now, batch)) != edit.place:  # a word that is typed letter by letter is one edit
            edit.before, edit.place = edit.now, place
        edit.now = batch
    if edit.before.vocabulary and (line := _of_the_edit(edit.before.vocabulary, batch)):
        is_changed = dict(asked.settings) != asked.kind.defaults  # those stand where this would
        with st.container(key="below") if is_changed else nullcontext(), st.container(key="ids"):
            st.text(line)


def _place(before: Batch, after: Batch) -> int:
    """Return how many words stand before the first that differs."""
    pairs = enumerate(zip(chain(*before.texts), chain(*after.texts), strict=False))
    shorter = min(int(before.lengths.sum()), int(after.lengths.sum()))
    return next((i for i, (old, new) in pairs if old != new), shorter)


def _of_the_edit(before: tuple[str, ...], batch: Batch) -> str:
    if batch.kind != "words":
        return "Numbers need neither ids nor an embedding."
    ids = {word: i for i, word in enumerate(before)}
    changed = any(ids.get(word, i) != i for i, word in enumerate(batch.vocabulary))
    return "Each new word gets the next id." if changed else ""


def about_the_link(asked: Request, shown: Shown) -> None:
    """Show what was ignored from the link, until a control is used."""
    arrival = visit(Arrival)
    arrival.request = arrival.request or asked
    if arrival.request != asked or not address.asked():
        return
    state = {name: st.session_state[name] for name in names.NAMES if name in st.session_state}
    state |= address.view()
    state["step"] = min(address.ordinal(address.asked(), "step") or 1, len(shown.movie.times))
    if line := address.unmet(address.asked(), state):
        st.text(line)


def about_the_problem(chosen: Controls, problem: PackvizError, last: Batch) -> None:
    """Show briefly why the batch is not shown, and in the settings, under the text, give the full reason."""
    of_the_text = problem.parameter in _OF_THE_TEXT
    has = f"Your text has {problem.got}" if of_the_text else f"You chose {problem.got} for {problem.parameter}"
    fix = problem.fix.split(";")[0].split(", or ")[0]
    with st.container(key="problem"):
        reason = "The box is empty" if problem.got == "nothing" else f"⚠ {has}, but this app takes {problem.expected}"
        st.text(f"{reason}. {fix[:1].upper()}{fix[1:]}. You still see your last batch: {last.summary}.")
    if chosen.for_notes is not None:
        with chosen.for_notes, st.container(border=True):
            st.text(f"⚠ {problem.sentence if of_the_text else problem}")


def about_the_sequences(asked: Request, batch: Batch) -> None:
    """Show the size of the batch, its notes, and the credit of an example or a warning about a long text."""
    text, lines = asked.source.text, [batch.summary, *batch.notes]
    if asked.source.example != OWN and text == example(asked.source.example).text:
        told = example(asked.source.example)
        lines += [f"{told.title}: a batch of tensors, not of text."] if told.text is None else []
        lines += [told.credit] if told.credit is not None else []
    elif text is not None and (warning := address.warning(text)):
        lines.append(warning)
    for line in lines:
        st.text(line)
