"""The controls in the sidebar: the batch, whose edits rerun what shows it, and the settings, which rerun the page."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import get_args

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from packviz.inputs.batch import ReadAs
from packviz.inputs.examples import example
from packviz.inputs.limits import LIMITS
from packviz.text import joined
from ui.parts.settings import PANELS
from ui.state import address, names, text, widgets
from ui.state.kinds import APP_KINDS, PACKING, AppKind
from ui.state.names import WATCHED
from ui.state.replaced import draw_received
from ui.state.runs import Request
from ui.state.text import OWN, Source
from ui.state.visit import visit
from ui.state.widgets import bound, choice, of_every_page, put

WayBack = tuple[str, str, dict[str, str]]  # a page, the label of the link to it, and its address

LABEL = "Type your sentences"
BATCH = "batch"  # the key of the fragment that shows the batch
PICKER = "examples"  # of the one that offers the examples
MORE = "fold More settings"  # of the panel with the settings that few visitors change


@dataclass
class Opened:
    """The way back from the overview to the page that opened a batch in it."""

    way_back: WayBack | None = None


@dataclass(frozen=True)
class Controls:
    """The requested settings, what reruns for another batch, and the places of the text and of what is said of it.

    for_notes: of what is wrong with it, if that is not said beside it already. for_counts: of what the shown batch has.
    waits: whether the first picture comes before whatever it does not need.
    """

    asked: Request  # of the first example, whatever batch is chosen
    rerun: Callable[[], None]
    for_text: DeltaGenerator
    for_notes: DeltaGenerator | None
    for_counts: DeltaGenerator
    under_text: DeltaGenerator
    waits: bool


@of_every_page()
def controls(
    kind: AppKind = PACKING,
    *,
    wait: bool = False,
    apart: bool = True,
    above: DeltaGenerator | None = None,
    place: DeltaGenerator | None = None,
) -> Controls:
    """Draw the examples and the settings of a kind of run, and reserve space for the text above them.

    apart: whether the fragment BATCH shows the batch, so that another batch reruns only that; if not, it reruns the
    page. wait: whether to leave out untouched settings until the first picture has been painted. The sidebar is closed
    then, and drawing them would delay the picture. above: the place of the text; None: above the settings.
    place: of the settings; None: the sidebar.
    """
    address.remember()
    widgets.keep(name for other in APP_KINDS.values() if other is not kind for name in other.names.values())
    with st.sidebar if place is None else place:
        for_text, for_counts, under_text = above or st.container(), st.container(), st.container()
        rerun = partial(st.rerun, (PICKER, BATCH) if apart else "app")
        _examples(rerun)
        places = (rerun, for_text, None if above else for_text, for_counts, under_text, wait)
        if wait and not address.touched((*kind.names.values(), *WATCHED.values())):
            return Controls(Request(settings=tuple(kind.defaults.items()), kind=kind), *places)
        if fixed := address.locked():
            st.text(
                "The link fixes all settings." if "all" in fixed else f"The link fixes {joined(fixed, len(fixed))}."
            )
        panel = PANELS[kind]
        settings = panel.first()
        with st.container():  # always there, even if empty: what comes after it keeps its place and stays open
            watched = panel.watched(settings)
        settings |= _more(kind)
    in_order = tuple((name, settings[name]) for name in kind.defaults)
    return Controls(Request(settings=in_order, kind=kind, **watched), *places)


def _more(kind: AppKind) -> dict[str, object]:
    """Draw the other settings, once they are unfolded or one of them has a value; return their values.

    Until then nobody sees them, and the browser would draw ten fields again with each edit of the text (`make bench`).
    """
    wanted = {name: kind.names[name] for name in PANELS[kind].more}
    with st.expander("More settings", key=MORE, on_change="rerun") as panel:
        if not panel.open and not address.touched(wanted.values()):
            return {name: names.default(key) for name, key in wanted.items()}
        return {name: draw(wanted[name]) for name, draw in PANELS[kind].more.items()}


@of_every_page()
def source(chosen: Controls) -> Source:
    """Draw the text of the batch, if it has one; return the source that the controls request."""
    with chosen.for_text:
        if (first := text.first()) is not None:
            changed = partial(_edit, chosen.rerun)
            field = bound(text.FIELD, None, changed) | {"placeholder": "One sentence per line"}
            st.text_area(LABEL, first, 124, LIMITS.characters, **field)
        if not chosen.waits:
            draw_received()
    return text.source()


@st.fragment(key=PICKER)
def _examples(rerun: Callable[[], None]) -> None:
    """Offer the examples, and how to read a text; an edit of the text redraws neither."""
    text.arrive()
    keys = list(text.TITLES)
    told = "  \n".join(f"{key}: {title}" for key, title in text.TITLES.items())
    bindings = bound(text.CHOICE, told, partial(_pick, rerun), text.FIELD)
    picked = st.pills("Example", keys, default=keys[0], required=True, **bindings)
    text.draw(picked)
    st.caption(text.TITLES[picked])
    if picked == OWN or example(picked).text is not None:
        choice("read_as", get_args(ReadAs), label="Read as", on_change=rerun)


def _pick(rerun: Callable[[], None]) -> None:
    text.picked()
    rerun()


def _edit(rerun: Callable[[], None]) -> None:
    if text.typed():
        rerun()


def way_back(chosen: Controls) -> None:
    """Show the link back to the page that opened this batch."""
    found = visit(Opened).way_back
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
        if text.is_set_aside():
            st.button("Back to my own text", key="put back", on_click=text.take_up)
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
