"""The player in the app: the same player as in notebooks and files, mounted once and then updated.

Streamlit sends a component's script again with each change of its data, and serves it as a file only for an installed
package. So the component's own script is LOADER, a few lines that import the file from our route: the browser fetches
it once and caches it. The movie is sent as bytes, because Streamlit would convert a dict to JSON twice.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import msgspec
import streamlit as st
from starlette.routing import Route

from classroom import phone
from packviz.show.movie.page import assets, exercises
from packviz.teach.exercise import Exercise
from packviz.teach.filling import Filling
from ui.parts.component import component
from ui.parts.controls import BATCH, PICKER
from ui.state import address
from ui.state.kinds import APP_KINDS, PACKING
from ui.state.names import watched
from ui.state.path import COOKIE, Lessons
from ui.state.replaced import on_the_way
from ui.state.runs import Runs
from ui.state.visit import session_id, visit
from ui.state.widgets import put

AFTER = "after the picture"  # the key of the fragment that shows what belongs to the picture
WHY = "why"  # of the one that shows what packing is for

_, _SCRIPT = assets()
NAME, _ = phone.player(_SCRIPT)  # it changes with the code, so that a browser may keep it
LOADER = f"""
const {{ default: play, styles }} = await import(new URL("./{NAME}", document.baseURI));
const sheet = new CSSStyleSheet();
sheet.replaceSync(styles);
export default (component) => {{
  if (!component.parentElement.isConnected) return; // the element was removed while its script was on its way
  const root = component.parentElement.getRootNode();
  if (!root.adoptedStyleSheets.includes(sheet)) root.adoptedStyleSheets.push(sheet);
  const data = JSON.parse(new TextDecoder().decode(component.data));
  return START({{ ...component, data }});
}};
"""
_mount = st.components.v2.component("packviz_player", js=LOADER.replace("START", "play"))
_by_hand = st.components.v2.component(
    "packviz_exercise", js=exercises() + LOADER.replace("START", "exercises.exercise")
)
_keeper = component(__file__, "lessons_done")


@dataclass(frozen=True)
class Ask:
    """What the player is asked to show, each time with a new number: a step, or a token. look: also scroll to it."""

    number: int = 0
    step: int | None = None
    token: int | None = None
    look: bool = False


@dataclass
class Screen:
    """What a visitor's player shows.

    stage: on the screen. narrow: whether the screen is as narrow as a phone's. ask: what it is asked to show.
    picked: the last click in the movie with its request, until it is handled.
    """

    stage: str | None = None
    narrow: bool = False
    ask: Ask = Ask()
    picked: dict[str, Any] | None = None


def play(
    movie: bytes,
    stages: Sequence[str] | None,
    *,
    chosen: int,
    picks: bool = False,
    onward: Sequence[str] = (),
    after: Sequence[str] = (AFTER,),
) -> None:
    """Show a movie; the fragments `after` rerun when it has been painted, and when the stage on screen changes.

    The first time, the whole page reruns, because the rest of the page waits for the first picture.

    movie: as JSON. chosen: how often an example was chosen; each time it begins at its first step, which an edit of the
    text does not. picks: whether clicks on cells are reported; they rerun AFTER. onward: the labels of buttons in the
    last step, which follow the links in the container "onward".
    """
    key, ask = key_of(stages), visit(Screen).ask
    asked = asdict(ask) if ask.number else None
    # A new session, after the server was restarted, has other data, so the player tells it what is on the screen.
    data = {"ask": asked, "chosen": chosen, "picks": picks, "watches": True, "onward": list(onward)}
    _mount(
        key=key,
        data=_with(movie, data | {"session": session_id()}),
        on_shown_change=partial(_follow, key, after),
        on_picked_change=partial(_pick, key),
        on_watched_change=partial(_watch, key),
        on_answered_change=partial(_done, stages[0] if stages else ""),
    )
    _keep("movie")


def clip(movie: bytes, step: int, key: str, *, large: bool = False) -> None:
    """Show a movie from a step on, as an explanation: it changes neither the address nor a fragment.

    movie: as JSON. key: of what it explains; another key is another player, which starts at its own step.
    large: for a distant audience: without the code.
    """
    _mount(key=f"clip {key}", data=_with(movie, {"step": step, "loose": True}, code=not large))


def pack_yourself(asked: Exercise) -> None:
    """Show the exercise of packing a batch by hand; completing it completes the lesson."""
    _by_hand(key="exercise", data=json.dumps(asdict(asked)).encode(), on_packed_change=partial(_done, "pack"))
    _keep("exercise")


def fill_yourself(asked: Filling) -> None:
    """Show the exercise of filling rows by hand; completing it completes the lesson."""
    _by_hand(key="exercise", data=json.dumps(asdict(asked)).encode(), on_filled_change=partial(_done, "fill"))
    _keep("exercise")


def key_of(stages: Sequence[str] | None) -> str:
    """Return the key of the player that shows these stages; None for all."""
    return f"player {' '.join(stages or ('all',))}"


def show(*, step: int | None = None, token: int | None = None, look: bool = False) -> None:
    """Ask the player, once, to play a step or to highlight a token.

    step: 0 for the first step that differs in the next movie, of those that show something wrong if there are any.
    look: whether to scroll to the player.
    """
    visit(Screen).ask = Ask(visit(Screen).ask.number + 1, step, token, look)


def stage_on_screen() -> str | None:
    """Return the stage that the player shows; None until it has painted for the first time."""
    stage = visit(Screen).stage
    return stage if any(stage in kind.stages for kind in APP_KINDS.values()) else None


def on_a_phone() -> bool:
    """Return whether the screen is a phone's, as its browser says, until a player has measured it."""
    return visit(Screen).narrow or "Mobi" in st.context.headers.get("User-Agent", "")


def route() -> Route:
    """Return the route of the player's file, next to the app's pages under any base path."""
    return phone.play("/{base:path}", _SCRIPT)


def _with(movie: bytes, data: dict[str, Any], *, code: bool = True) -> bytes:
    """Return the player's data as JSON. code: whether the code is visible at first."""
    return msgspec.json.encode(data | {"code": code and "code" not in address.hidden(), "movie": msgspec.Raw(movie)})


def _follow(key: str, after: Sequence[str]) -> None:
    is_first, shown = stage_on_screen() is None, st.session_state[key]["shown"]
    visit(Screen).stage, visit(Screen).narrow = shown["stage"], shown["narrow"]
    if is_first:  # the rest of the page has waited for it
        st.rerun()
    # This run replaces one that may be on the way; its address is as old as its values, so both widgets are drawn.
    st.rerun((PICKER, BATCH, *after) if on_the_way() else after)


def _keep(of: str) -> None:
    """Have the browser keep which lessons are done, once there are any. of: what has just been drawn."""
    if done := visit(Lessons).done:
        with st.container(key=f"status-kept-{of}", gap=None):
            _keeper(
                key=f"lessons after {of}", data={"cookie": COOKIE, "done": ".".join(sorted(done))}, height="content"
            )


def _done(stage: str) -> None:
    visit(Lessons).done |= {stage}


def _pick(key: str) -> None:
    visit(Screen).picked = st.session_state[key]["picked"] | {"request": visit(Runs).last_good.get(PACKING)}
    st.rerun(AFTER)


def _watch(key: str) -> None:
    """Put the layer, the direction and the head chosen in the player into their controls, if they exist."""
    for name, value in watched(st.session_state[key]["watched"]).items():
        if name in st.session_state:
            put({name: value})
    st.rerun()
