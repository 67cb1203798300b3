"""The controls in the sidebar: the batch, whose edits rerun what shows it, and the settings, which rerun the page."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import get_args

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from packviz.inputs.batch import ReadAs
from packviz.inputs.examples import EXAMPLES, example
from packviz.inputs.limits import LIMITS
from packviz.text import joined
from ui.parts.settings import PANELS
from ui.state import address, names, widgets
from ui.state.kinds import APP_KINDS, PACKING, AppKind
from ui.state.names import WATCHED
from ui.state.replaced import draw_received, give
from ui.state.runs import OWN, Request, Source
from ui.state.visit import visit
from ui.state.widgets import bound, choice, of_every_page

WayBack = tuple[str, str, dict[str, str]]  # a page, the label of the link to it, and its address

LABEL = "Type your sentences"
BATCH = "batch"  # the key of the fragment that shows the batch
_EXAMPLES = "examples"  # of the one that offers the examples
_TEXTS = {None, *(each.text for each in EXAMPLES)}


@dataclass
class Typed:
    """A visitor's own text, and the way back to it.

    own: the last one. put_aside: one that was replaced by something to try. way_back: from the overview to the page
    that opened it. picked: the example that was drawn last. chosen: how often an example or that text was chosen.
    """

    own: str | None = None
    put_aside: str | None = None
    way_back: WayBack | None = None
    picked: str | None = None
    chosen: int = 0


@dataclass(frozen=True)
class Controls:
    """The requested settings, what reruns for another batch, and the places of the text and of the notes on it."""

    asked: Request  # of the first example, whatever batch is chosen
    rerun: Callable[[], None]
    for_text: DeltaGenerator
    for_notes: DeltaGenerator
    under_text: DeltaGenerator


@of_every_page()
def controls(
    kind: AppKind = PACKING,
    *,
    wait: bool = False,
    apart: bool = True,
    text: DeltaGenerator | None = None,
    place: DeltaGenerator | None = None,
) -> Controls:
    """Draw the examples and the settings of a kind of run, and reserve space for the text above them.

    apart: whether the fragment BATCH shows the batch, so that another batch reruns only that; if not, it reruns the
    page. wait: whether to leave out untouched settings until the first picture has been painted. The sidebar is closed
    then, and drawing them would delay the picture. text: the place of the text; None: above the settings. place: of the
    settings; None: the sidebar.
    """
    address.remember()
    widgets.keep(name for other in APP_KINDS.values() if other is not kind for name in other.names.values())
    with st.sidebar if place is None else place:
        for_text, for_notes, under_text = text or st.container(), st.container(), st.container()
        rerun = partial(st.rerun, (_EXAMPLES, BATCH) if apart else "app")
        _examples(rerun)
        places = (rerun, for_text, for_notes, under_text)
        if wait and not address.touched((*kind.names.values(), *WATCHED.values())):
            return Controls(Request(settings=tuple(kind.defaults.items()), kind=kind), *places)
        if names := address.locked():
            st.text(
                "The link fixes all settings." if "all" in names else f"The link fixes {joined(names, len(names))}."
            )
        panel = PANELS[kind]
        settings = panel.first()
        with st.container():  # always there, even if empty: what comes after it keeps its place and stays open
            watched = panel.watched(settings)
        with st.expander("More settings"):
            settings |= {name: draw(kind.names[name]) for name, draw in panel.more.items()}
    in_order = tuple((name, settings[name]) for name in kind.defaults)
    return Controls(Request(settings=in_order, kind=kind, **watched), *places)


@of_every_page()
def source(chosen: Controls) -> Source:
    """Draw the text of the batch, if it has one; return the source that the controls request."""
    picked = st.session_state["example"]
    text = "" if picked == OWN else example(picked).text
    with chosen.for_text:
        if text is not None:
            bindings = bound("sequences", on_change=partial(_take_over, chosen.rerun))
            text = st.text_area(LABEL, text, 124, LIMITS.characters, **bindings)
        draw_received()
    return Source(picked, None) if text is None else Source(picked, text, st.session_state["read_as"])


@st.fragment(key=_EXAMPLES)
def _examples(rerun: Callable[[], None]) -> None:
    """Offer the examples, and how to read a text; an edit of the text redraws neither."""
    if "sequences" in address.asked() and "example" not in address.asked() and "example" not in st.session_state:
        st.session_state["example"] = OWN
        address.write("example", OWN)  # which Streamlit does not do for a value that comes before the widget
    keys = [*(each.key for each in EXAMPLES), OWN]
    told = "  \n".join([*(f"{each.key}: {each.title}" for each in EXAMPLES), f"{OWN}: your own text"])
    bindings = bound("example", told, partial(_fill_in, rerun), "sequences")
    picked = visit(Typed).picked = st.pills("Example", keys, default=keys[0], required=True, **bindings)
    if picked != OWN:
        st.caption(example(picked).title)
    if picked == OWN or example(picked).text is not None:
        choice("read_as", get_args(ReadAs), label="Read as", on_change=rerun)


def _fill_in(rerun: Callable[[], None]) -> None:
    """Put the text of the picked example into the text area; the visitor's own text can be restored unchanged."""
    picked, there = st.session_state["example"], st.session_state.get("sequences")
    visit(Typed).chosen += 1
    if there not in _TEXTS:
        visit(Typed).own = there
    if picked != OWN:
        if (text := example(picked).text) is not None:
            give("sequences", text)
    elif (own := visit(Typed).own or there) is not None:
        _own(own)
    rerun()


def _take_over(rerun: Callable[[], None]) -> None:
    """Turn an edited example into the visitor's own text, unless another example was picked at the same moment."""
    picked = st.session_state["example"]
    if picked == visit(Typed).picked != OWN and st.session_state["sequences"] != example(picked).text:
        give("example", OWN)
        rerun()


def _own(text: str) -> None:
    """Show a text as the visitor's own."""
    if "sequences" not in st.session_state:  # there is no text area that would write it to the address
        address.write("sequences", text)
    give("sequences", text)
    give("example", OWN)


def put(settings: Mapping[str, object]) -> None:
    """Put settings, by their names, into the controls, except those fixed by the link.

    A typed text that is replaced can be restored.
    """
    typed, state = visit(Typed), st.session_state
    settings = {name: value for name, value in settings.items() if not address.fixed(name)}
    if "sequences" in settings:
        if state.get("example") == OWN and "sequences" in state and typed.put_aside is None:
            typed.put_aside = state["sequences"]
        _own(str(settings["sequences"]))
    for name, value in settings.items():
        give(name, value)


def restore(settings: Mapping[str, object]) -> None:
    """Put settings back into the controls. With a text stands the example that was chosen, "own" for a visitor's own.

    The text that was set aside no longer is if it is this one.
    """
    picked, text = settings.get("example", OWN), settings.get("sequences")
    put({name: value for name, value in settings.items() if name not in ("example", "sequences")})
    if "sequences" not in settings or address.fixed("sequences"):
        return
    typed = visit(Typed)
    typed.put_aside = None if typed.put_aside == text else typed.put_aside
    if picked == OWN:
        _own(str(text))
        return
    give("example", picked)
    if (text := example(str(picked)).text) is not None:
        give("sequences", text)


def _put_back() -> None:
    """Restore the text that was set aside."""
    text, visit(Typed).put_aside = visit(Typed).put_aside, None
    if text is not None:
        _own(text)


def way_back(chosen: Controls) -> None:
    """Show the link back to the page that opened this batch."""
    found = visit(Typed).way_back
    if found is not None:
        page, label, asked = found
        with chosen.under_text:
            st.page_link(page, label=label, icon=":material/arrow_back:", query_params=asked)


def strip(chosen: Controls) -> None:
    """Show the way back to the visitor's own text, and the settings that differ from the defaults.

    Each has a button that resets it. If there is nothing to take back, nothing is shown.
    """
    settings = {chosen.asked.kind.names[name]: value for name, value in chosen.asked.settings}
    changed = {name: value for name, value in settings.items() if value != names.default(name)}
    with st.container(horizontal=True, vertical_alignment="center", key="changed", gap="small"):
        # the container is always there: what comes after it keeps its place and its state
        if visit(Typed).put_aside is not None:
            st.button("Back to my own text", key="put back", on_click=_put_back)
        if not changed:
            return
        st.markdown("Changed:")
        for name, value in changed.items():
            sign, is_fixed = ("· fixed", True) if address.fixed(name) else ("✕", False)
            label, told = f"{name} = {value} {sign}", "The link fixes this setting." if is_fixed else None
            st.button(label, key=f"undo {name}", on_click=_take_back, args=((name,),), disabled=is_fixed, help=told)
        if len(changed) > 1 and not address.fixed(*changed):
            st.button("Reset all", key="undo all", on_click=_take_back, args=(tuple(changed),))


def _take_back(settings: tuple[str, ...]) -> None:
    put({name: names.default(name) for name in settings})
