"""The player's place in the app: the one of notebooks and files, mounted once and then fed."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import streamlit as st

from packviz.show.movie import STAGES
from ui import links
from ui.player_code import LOADER
from ui.requests import Request

__all__ = ["AFTER", "clip", "picked", "place", "play", "show", "stage_on_screen"]

AFTER = "after the picture"  # the key of the fragment that shows what belongs to the picture

_mount = st.components.v2.component("packviz_player", js=LOADER)


def play(movie: dict[str, Any], stages: Sequence[str] | None, *, picks: bool = False) -> None:
    """Show a movie; the fragment AFTER reruns when it has been painted, and when another stage comes on screen.

    picks: whether a click on a cell is asked for; it reruns the same fragment.
    """
    key = place(stages)
    step, ask = links.first_step(len(movie["steps"]), key), st.session_state.get("ask")
    data = {"movie": movie, "step": step, "ask": ask, "picks": picks}
    _mount(key=key, data=data, on_shown_change=partial(_follow, key), on_picked_change=partial(_pick, key))


def clip(movie: dict[str, Any], step: int, key: str) -> None:
    """Show a movie from a step on, as the explanation of something else: neither the address nor a fragment follows it.

    key: of what it explains; another one is another player, which starts at its own step.
    """
    _mount(key=f"clip {key}", data={"movie": movie, "step": step, "loose": True})


def place(stages: Sequence[str] | None) -> str:
    """Return the key of the player that shows these stages; None for the whole way."""
    return f"player {' '.join(stages or ('all',))}"


def show(*, step: int | None = None, token: int | None = None, look: bool = False) -> None:
    """Ask the player to play one step, or to light up a token; it does so once. look: whether to scroll to it, too."""
    number = st.session_state.get("ask", {"number": 0})["number"] + 1
    st.session_state["ask"] = {"number": number, "step": step, "token": token, "look": look}


def stage_on_screen() -> str | None:
    """Return the stage that the player shows; None before it has painted for the first time."""
    stage = st.session_state.get("stage on screen")
    return stage if stage in STAGES else None


def picked(request: Request) -> dict[str, Any] | None:
    """Return what was clicked last in this request's movie: the number of the cell, the step, and the token or None."""
    cell: dict[str, Any] | None = st.session_state.get("picked cell")
    return cell if cell is not None and cell["request"] == request else None


def _follow(key: str) -> None:
    st.session_state["stage on screen"] = st.session_state[key]["shown"]
    st.rerun(AFTER)


def _pick(key: str) -> None:
    st.session_state["picked cell"] = st.session_state[key]["picked"] | {"request": st.session_state["last good"]}
    st.rerun(AFTER)
