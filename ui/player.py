"""The player's place in the app: the module and style sheet of notebooks and files, mounted once and then fed."""

from typing import Any

import streamlit as st

from packviz.movie import STAGES, assets
from ui import links

__all__ = ["AFTER", "play", "stage_on_screen"]

AFTER = "after the picture"  # the key of the fragment that shows what belongs to the picture

_css, _js = assets()
_mount = st.components.v2.component("packviz_player", css=_css, js=_js)


def play(movie: dict[str, Any]) -> None:
    """Show a movie; the fragment AFTER reruns when it has been painted, and when another stage comes on screen."""
    step = links.first_step(len(movie["steps"]))
    _mount(key="player", data={"movie": movie, "step": step}, on_shown_change=_follow)


def stage_on_screen() -> str | None:
    """Return the stage that the player shows; None before it has painted for the first time."""
    stage = st.session_state.get("stage on screen")
    return stage if stage in STAGES else None


def _follow() -> None:
    st.session_state["stage on screen"] = st.session_state["player"]["shown"]
    st.rerun(AFTER)
