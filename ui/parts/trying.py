"""Things to try below a movie: a button puts settings into the controls, is marked as chosen, and takes them back."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from ui.parts.controls import put, restore
from ui.parts.player import show
from ui.state import address, names
from ui.state.visit import visit


@dataclass
class Tried:
    """What each button has put into the controls, with the batch then, and what stood there before, by its label."""

    given: dict[str, Mapping[str, object]] = field(default_factory=dict)
    before: dict[str, Mapping[str, object]] = field(default_factory=dict)


def try_this(text: str, buttons: Mapping[str, Mapping[str, object]]) -> None:
    """Offer something to try. A button that is chosen is marked, and another press restores what it replaced."""
    with st.container(border=True, horizontal=True, vertical_alignment="center", key="try"):
        st.markdown(f"**Try this.** {text}", width="content")
        for label, settings in buttons.items():
            is_fixed, is_chosen = address.fixed(*settings), _is_chosen(label, settings)
            told = "The link fixes these settings." if is_fixed else _change_in_words(settings, is_chosen=is_chosen)
            look: Any = {"type": "primary", "icon": ":material/check:"} if is_chosen else {}
            press = _take_back if is_chosen else _put
            st.button(label, f"try {label}", told, press, (label, settings), disabled=is_fixed, **look)


def _is_chosen(label: str, settings: Mapping[str, object]) -> bool:
    """Return whether the controls have these settings, or those that the button put there for the same batch."""
    return any(_now(given) == given for given in (settings, visit(Tried).given.get(label, {})) if given)


def _now(settings: Iterable[str]) -> dict[str, object]:
    return {name: st.session_state.get(name, names.default(name)) for name in settings}


def _change_in_words(settings: Mapping[str, object], *, is_chosen: bool) -> str:
    """Return what a press of the button changes, in words."""
    if is_chosen:
        return "Press again to undo it."
    parts = ["other sequences" if name == "sequences" else f"`{name} = {value}`" for name, value in settings.items()]
    return f"This sets {' and '.join(parts)}. Press again to undo it."


def _put(label: str, settings: Mapping[str, object]) -> None:
    tried = visit(Tried)
    tried.before[label] = _now([*settings, "example"] if "sequences" in settings else settings)
    put(settings)
    tried.given[label] = {**_now(["sequences", "example"]), **settings}
    _show()


def _take_back(label: str, settings: Mapping[str, object]) -> None:
    tried = visit(Tried)
    tried.given.pop(label, {})
    restore(tried.before.pop(label, {}) or {name: names.default(name) for name in (*settings, "example")})
    _show()


def _show() -> None:
    show(step=0, look=True)
    st.rerun()  # the fragment alone would leave the movie as it was
