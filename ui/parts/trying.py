"""Things to try below a movie: a button puts settings into the controls, is marked as chosen, and takes them back.

If that needs other sequences, they are made of the visitor's own where that is possible.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from ui.parts.player import show
from ui.state import address, names
from ui.state.runs import Shown
from ui.state.text import CHOICE, FIELD
from ui.state.visit import visit
from ui.state.widgets import now, put, restore


@dataclass
class Tried:
    """What each button has put into the controls, with the batch then, and what stood there before, by its label."""

    given: dict[str, Mapping[str, object]] = field(default_factory=dict)
    before: dict[str, Mapping[str, object]] = field(default_factory=dict)


def try_this(text: str, buttons: Mapping[str, Mapping[str, object]], seen: Mapping[str, int] = {}) -> None:
    """Offer something to try. A button that is chosen is marked, and another press restores what it replaced.

    seen: by setting, the step that shows it; any other setting opens the first step that differs.
    """
    buttons = {label: settings for label, settings in buttons.items() if not _is_there(label, settings)}
    replacing = " ".join(filter(None, (_about_sequences(label, settings) for label, settings in buttons.items())))
    with st.container(border=True, horizontal=True, vertical_alignment="center", key="try"):
        st.markdown(f"**Try this.** {text} {replacing}", width="content")
        for label, settings in buttons.items():
            is_fixed, is_chosen = address.fixed(*settings), _is_chosen(label, settings)
            told = "The link fixes these settings." if is_fixed else _change_in_words(settings, is_chosen=is_chosen)
            look: Any = {"type": "primary", "icon": ":material/check:"} if is_chosen else {}
            press = _take_back if is_chosen else _put
            step = next((seen[name] for name in settings if name in seen), 0)
            st.button(label, f"try {label}", told, press, (label, settings, step), disabled=is_fixed, **look)


def typed_tokens(shown: Shown) -> list[list[str]]:
    """Return the tokens of each sequence as they are typed; nothing if no text separates them by spaces alone."""
    text = shown.request.source.text or ""
    lines = [line.split() for line in text.splitlines() if line.strip()]
    is_plain = not set("[]()") & set(text)  # a part of a list in brackets is not a list
    return lines if is_plain and list(map(len, lines)) == shown.batch.lengths.tolist() else []


def as_text(sequences: Iterable[Iterable[str]]) -> str:
    """Return sequences of tokens as they are typed."""
    return "\n".join(map(" ".join, sequences))


def equally_long(shown: Shown) -> str:
    """Return the text of sequences of one length: the visitor's own, cut to the shortest, where that is possible."""
    own = typed_tokens(shown)
    return as_text(tokens[: min(map(len, own))] for tokens in own) or "1 2 3\n4 5 6\n7 8 9"


def _is_there(label: str, settings: Mapping[str, object]) -> bool:
    """Return whether a button would leave the sequences as they are, although it is not chosen."""
    text = now([FIELD])[FIELD]
    return settings.get(FIELD) == text is not None and not _is_chosen(label, settings)


def _about_sequences(label: str, settings: Mapping[str, object]) -> str:
    """Return what a button does to the sequences, if it replaces them or has done so; "" for any other."""
    if FIELD not in settings or address.fixed(FIELD):
        return ""
    if _is_chosen(label, settings):
        return f"Press “{label}” again to get your sequences back."
    own = str(now([FIELD])[FIELD] or "").split()
    if set(str(settings[FIELD]).split()) <= set(own):  # they are made of these
        return ""
    return f"“{label}” replaces your sequences. Press it again to get them back."


def _is_chosen(label: str, settings: Mapping[str, object]) -> bool:
    """Return whether the controls have these settings, or those that the button put there for the same batch.

    Sequences count only if the button put them there.
    """
    possible = ({} if FIELD in settings else settings, visit(Tried).given.get(label, {}))
    return any(now(given) == given for given in possible if given)


def _change_in_words(settings: Mapping[str, object], *, is_chosen: bool) -> str:
    """Return what a press of the button changes, in words."""
    if is_chosen:
        return "Press again to undo it."
    parts = ["other sequences" if name == FIELD else f"`{name} = {value}`" for name, value in settings.items()]
    return f"This sets {' and '.join(parts)}. Press again to undo it."


def _put(label: str, settings: Mapping[str, object], step: int) -> None:
    tried = visit(Tried)
    tried.before[label] = now([*settings, CHOICE] if FIELD in settings else settings)
    put(settings)
    tried.given[label] = {**now([FIELD, CHOICE]), **settings}
    _show(step)


def _take_back(label: str, settings: Mapping[str, object], step: int) -> None:
    tried = visit(Tried)
    tried.given.pop(label, {})
    restore(tried.before.pop(label, {}) or {name: names.default(name) for name in (*settings, CHOICE)})
    _show(step)


def _show(step: int) -> None:
    show(step=step, look=True)
    st.rerun()  # the fragment alone would leave the movie as it was
