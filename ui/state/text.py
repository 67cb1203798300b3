"""The text of a visitor's batch: what stands in its field, where it came from, and who may replace it.

Two widgets have their one owner here, the field ("sequences") and the choice of an example ("example"). controls.py in
ui/parts draws them; whoever else wants another text calls a function of this file. Where the text came from is the
choice: an example, or OWN for the visitor's own, whether it was typed, came with a link, or was put there to be tried.
The last text that could be shown is part of the last request that could, in ui/state/runs.py.

Who replaces it:

1. An example that is picked. A text of the visitor's own is remembered, and comes back with OWN.
2. Typing, which makes an example's text the visitor's own. If one message has both a typed text and another pick, the
   pick came later, because it has ended the typing: it counts, whichever of `typed` and `picked` Streamlit calls first.
3. What is put there to be tried. A text of the visitor's own is set aside first, and so is what they make of it.

A click in the moment in which the browser gets another choice is lost in Streamlit's own script: the new choice stays,
and no text is lost. A value that the browser sent before it had a newer one replaces nothing (ui/state/replaced.py),
and nothing replaces what the link fixes (`put` and `restore` in ui/state/widgets.py).
"""

from collections import deque
from dataclasses import dataclass, field

import streamlit as st

from packviz.inputs.batch import ReadAs
from packviz.inputs.examples import EXAMPLES, example
from ui.state import address
from ui.state.replaced import give
from ui.state.visit import visit

FIELD, CHOICE = "sequences", "example"  # the keys of the widgets
OWN = "own"  # the choice of the visitor's own text, in place of an example's key
TITLES = {each.key: each.title for each in EXAMPLES} | {OWN: "your own text"}  # what each choice shows
_OF_EXAMPLES = {None, *(each.text for each in EXAMPLES)}


@dataclass(frozen=True)
class Source:
    """Where the sequences come from: a text and how to read it, or an example's tensors if there is no text."""

    example: str = EXAMPLES[0].key
    text: str | None = EXAMPLES[0].text
    read_as: ReadAs = "auto"


FIRST_EXAMPLE = Source()  # before a visitor has chosen anything


@dataclass
class Texts:
    """The texts that a visitor can have back.

    own: the last one of theirs that a picked example has replaced. set_aside: those that something to try has replaced.
    tried: what was put there to be tried. drawn: the choice that was drawn last. picks: how often an example, or the
    visitor's own text, was picked.
    """

    own: str | None = None
    set_aside: deque[str] = field(default_factory=lambda: deque(maxlen=8))
    tried: str | None = None
    drawn: str | None = None
    picks: int = 0


def arrive() -> None:
    """Before the choice is drawn: a text that a link has without an example is the visitor's own."""
    asked = address.asked()
    if FIELD in asked and CHOICE not in asked and CHOICE not in st.session_state:
        st.session_state[CHOICE] = OWN
        address.write(CHOICE, OWN)  # which Streamlit does not do for a value that comes before the widget


def draw(choice: str) -> None:
    """Note which choice the visitor sees now."""
    visit(Texts).drawn = choice


def first() -> str | None:
    """Return what the field has before anything is typed; None if there is no field, because an example has no text."""
    choice = st.session_state[CHOICE]
    return "" if choice == OWN else example(choice).text


def source() -> Source:
    """Return what the two widgets request, and how to read it, once they are drawn."""
    choice = st.session_state[CHOICE]
    return Source(choice, None) if first() is None else Source(choice, _there(), st.session_state["read_as"])


def picks() -> int:
    """Return how often an example, or the visitor's own text, was picked: a movie of it begins at its first step."""
    return visit(Texts).picks


def picked() -> None:
    """Show the text of the example that was picked, or the visitor's own again."""
    texts, choice, there = visit(Texts), st.session_state[CHOICE], _there()
    texts.picks += 1
    if there not in _OF_EXAMPLES:
        texts.own = there
    if choice != OWN:
        _give_text_of(choice)
    elif (own := texts.own or there) is not None:
        _give_own(own)


def typed() -> bool:
    """Make an example's text that was edited the visitor's own; return whether it is one now and was none before."""
    choice = st.session_state[CHOICE]
    is_new = choice == visit(Texts).drawn != OWN and _there() != example(choice).text
    if is_new:
        give(CHOICE, OWN)
    return is_new


def put(text: str) -> None:
    """Put a text there to be tried; one of the visitor's own is set aside."""
    visit(Texts).set_aside.extend(_own())
    visit(Texts).tried = text
    _give_own(text)


def restore(text: object, choice: object) -> None:
    """Put back a text that stood there, with its choice; then it is no longer set aside."""
    if text in (aside := visit(Texts).set_aside):
        aside.remove(str(text))
    if choice == OWN:
        _give_own(str(text))
    else:
        give(CHOICE, choice)
        _give_text_of(str(choice))


def is_set_aside() -> bool:
    """Return whether a text of the visitor's own is set aside."""
    return bool(visit(Texts).set_aside)


def take_up() -> None:
    """Put back the text that was set aside last; another one of the visitor's own takes its place."""
    if aside := visit(Texts).set_aside:
        text = aside.pop()
        aside.extendleft(_own())
        _give_own(text)


def _there() -> str | None:
    """Return what stands in the field; None before it is drawn."""
    text: str | None = st.session_state.get(FIELD)
    return text


def _own() -> list[str]:
    """Return the text in the field if it is the visitor's own and not only there to be tried."""
    there = _there()
    return [] if st.session_state.get(CHOICE) != OWN or there in (None, "", visit(Texts).tried) else [str(there)]


def _give_text_of(choice: str) -> None:
    if (text := example(choice).text) is not None:
        give(FIELD, text)


def _give_own(text: str) -> None:
    if FIELD not in st.session_state:  # there is no text area that would write it to the address
        address.write(FIELD, text)
    give(FIELD, text)
    give(CHOICE, OWN)
