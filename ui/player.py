"""The player's place in the app: the module and style sheet of notebooks and files, mounted once and then fed."""

import streamlit as st

from packviz.movie import STAGES, assets
from ui import links
from ui.runs import Shown

__all__ = ["play"]

_css, _js = assets()
_mount = st.components.v2.component("packviz_player", css=_css, js=_js)


def play(shown: Shown) -> str | None:
    """Show the movie and return the stage on screen; None until the player has painted for the first time."""
    data = {"movie": shown.movie, "step": links.first_step(len(shown.movie["steps"]))}
    stage = _mount(key="player", data=data, default={"stage": None}, on_stage_change=_nothing).stage
    return stage if stage in STAGES else None


def _nothing() -> None:
    """Do nothing more when the stage changes: Streamlit wants a callback for a state that has a default."""
