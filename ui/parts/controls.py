"""The controls in the sidebar: the batch, whose edits rerun what shows it, and the settings, which rerun the page."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from typing import get_args

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from packviz.inputs.batch import ReadAs
from packviz.inputs.cell_kinds import Cell
from packviz.inputs.config import Config, InitialState, Nonlinearity, PaddingSide
from packviz.inputs.examples import EXAMPLES, example
from packviz.inputs.limits import LIMITS
from ui.state import address
from ui.state.address import bound, choice, of_every_page, switch, whole
from ui.state.replaced import give
from ui.state.runs import OWN, Request, Source
from ui.state.visit import visit

WayBack = tuple[str, str, dict[str, str]]  # a page, the label of the link to it, and its address

_DEFAULTS: Mapping[str, object] = asdict(Config())
BATCH = "batch"  # the key of the fragment that shows the batch
_EXAMPLES = "examples"  # of the one that offers the examples
_TEXTS = {None, *(each.text for each in EXAMPLES)}
_WATCHED = ("layer", "direction")
_WIDTH = "Time steps of the unpacked output. Empty: as many as the longest sequence has."
_MORE: Mapping[str, Callable[[str], object]] = {  # settings, each with what draws it
    "nonlinearity": lambda name: choice(name, get_args(Nonlinearity), "Only used by nn.RNN."),
    "bias": lambda name: switch(name, "Whether the cell adds bias_ih and bias_hh."),
    "initial_state": lambda name: choice(name, get_args(InitialState), "Where h_0 comes from."),
    "embedding_dim": lambda name: whole(name, 1, LIMITS.embedding_dim, "Empty: 4 for words, no embedding for numbers."),
    "padding_idx": lambda name: whole(
        name, 0, LIMITS.padding_idx, "The id of the padding token, whose embedding stays zero."
    ),
    "seed": lambda name: whole(name, 0, 2**31 - 1, "Random seed for the weights and the initial state."),
    "batch_first": lambda name: switch(name, "On: padded values are (B, T, F). Off: (T, B, F)."),
    "padding_value": lambda name: st.number_input(
        name, -1e6, 1e6, address.default(name), 1.0, "%g", **bound(name, "What fills the short rows.")
    ),
    "padding_side": lambda name: choice(name, get_args(PaddingSide)),
    "total_length": lambda name: whole(name, 1, LIMITS.total_length, _WIDTH),
}


@dataclass
class Typed:
    """A visitor's own text, and the way back to it.

    own: the last one. put_aside: one that was replaced by something to try. way_back: from the overview to the page
    that opened it.
    """

    own: str | None = None
    put_aside: str | None = None
    way_back: WayBack | None = None


@dataclass(frozen=True)
class Controls:
    """Hold the requested settings, what reruns for another batch, and two places in the sidebar."""

    asked: Request  # of the first example, whatever batch is chosen
    rerun: Callable[[], None]
    for_text: DeltaGenerator
    under_text: DeltaGenerator


@of_every_page()
def controls(*, wait: bool = False, apart: bool = True) -> Controls:
    """Draw the examples and the settings, and reserve space for the text above them.

    apart: whether the fragment BATCH shows the batch, so that another batch reruns only that; if not, it reruns the
    page. wait: whether to leave out untouched settings until the first picture has been painted. The sidebar is closed
    then, and drawing them would delay the picture.
    """
    address.remember()
    with st.sidebar:
        for_text, under_text = st.container(), st.container()
        rerun = partial(st.rerun, (_EXAMPLES, BATCH) if apart else "app")
        _examples(rerun)
        places = (rerun, for_text, under_text)
        if wait and not address.touched((*_DEFAULTS, *_WATCHED)):
            return Controls(Request(settings=tuple(_DEFAULTS.items())), *places)
        if names := address.locked():
            st.text("The link fixes all settings." if "all" in names else f"Fixed by the link: {', '.join(names)}.")
        promise = "On: you promise that the lengths never increase. Off: PyTorch sorts them."
        settings = {**_cell(), "enforce_sorted": switch("enforce_sorted", promise)}
        with st.container():  # always there, even if empty: what comes after it keeps its place and stays open
            layer, direction = _watched(settings)
        with st.expander("More settings"):
            settings |= {name: draw(name) for name, draw in _MORE.items()}
    in_order = tuple((name, settings[name]) for name in _DEFAULTS)
    return Controls(Request(settings=in_order, layer=layer, direction=direction), *places)


@of_every_page()
def source(chosen: Controls) -> Source:
    """Draw the text of the batch, if it has one; return the source that the controls request."""
    picked = st.session_state["example"]
    text_of_example = "" if picked == OWN else example(picked).text
    if text_of_example is None:
        return Source(picked, None)
    with chosen.for_text:
        bindings = bound("sequences", on_change=partial(_take_over, chosen.rerun))
        text = st.text_area("Your sequences, one per line", text_of_example, 148, LIMITS.characters, **bindings)
    return Source(picked, text, st.session_state["read_as"])


@st.fragment(key=_EXAMPLES)
def _examples(rerun: Callable[[], None]) -> None:
    """Offer the examples, and how to read a text; an edit of the text redraws neither."""
    if "sequences" in address.asked() and "example" not in address.asked() and "example" not in st.session_state:
        st.session_state["example"] = OWN
        address.write("example", OWN)  # which Streamlit does not do for a value that comes before the widget
    keys = [*(each.key for each in EXAMPLES), OWN]
    bindings = bound("example", None, partial(_fill_in, rerun), "sequences")
    picked = st.pills("Example", keys, default=keys[0], required=True, **bindings)
    if picked == OWN or example(picked).text is not None:
        choice("read_as", get_args(ReadAs), label="Read as", on_change=rerun)


def _fill_in(rerun: Callable[[], None]) -> None:
    """Put the text of the picked example into the text area; the visitor's own text can be restored unchanged."""
    picked, there = st.session_state["example"], st.session_state.get("sequences")
    if there not in _TEXTS:
        visit(Typed).own = there
    if picked != OWN:
        if (text := example(picked).text) is not None:
            give("sequences", text)
    elif (own := visit(Typed).own or there) is not None:
        _own(own)
    rerun()


def _take_over(rerun: Callable[[], None]) -> None:
    """Turn an edited example into the visitor's own text."""
    picked = st.session_state["example"]
    if picked != OWN and st.session_state["sequences"] != example(picked).text:
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


def put_back() -> None:
    """Restore the text that was set aside; a fragment alone would leave the movie as it was."""
    text, visit(Typed).put_aside = visit(Typed).put_aside, None
    if text is not None:
        _own(text)
    st.rerun()


def ways_back(chosen: Controls) -> None:
    """Show links back to the page that opened this batch, and to the visitor's own text that it replaced."""
    typed = visit(Typed)
    with chosen.under_text:
        if typed.way_back is not None:
            page, label, asked = typed.way_back
            st.page_link(page, label=label, icon=":material/arrow_back:", query_params=asked)
        if typed.put_aside is not None:
            st.button("Back to my own text", key="put back", on_click=put_back)


def strip(chosen: Controls) -> None:
    """Show the settings that differ from the defaults, each with a button that resets it; nothing if there are none."""
    changed = {name: value for name, value in chosen.asked.settings if value != address.default(name)}
    with st.container(horizontal=True, vertical_alignment="center", key="changed", gap="small"):
        if not changed:  # the container is always there: what comes after it keeps its place and its state
            return
        st.markdown("Changed:")
        for name, value in changed.items():
            sign, is_fixed = ("· fixed", True) if address.fixed(name) else ("✕", False)
            label, told = f"{name} = {value} {sign}", "Fixed by the link." if is_fixed else None
            st.button(label, key=f"undo {name}", on_click=_take_back, args=((name,),), disabled=is_fixed, help=told)
        if len(changed) > 1 and not address.fixed(*changed):
            st.button("Reset all", key="undo all", on_click=_take_back, args=(tuple(changed),))


def _take_back(names: tuple[str, ...]) -> None:
    put({name: address.default(name) for name in names})


def _cell() -> dict[str, object]:
    settings: dict[str, object] = {"cell": choice("cell", get_args(Cell))}
    left, right = st.columns(2)
    with left:
        settings["hidden_size"] = whole("hidden_size", 1, LIMITS.hidden_size, "H: how many numbers a hidden state has.")
    with right:
        settings["num_layers"] = whole("num_layers", 1, LIMITS.num_layers, "L: each layer reads the one below.")
    return settings | {"bidirectional": switch("bidirectional", "Also run from the last step to the first: D = 2.")}


def _watched(settings: dict[str, object]) -> tuple[int | None, int]:
    """Return the layer and the direction that the run shows; ask only if there are several."""
    layers, ways = settings["num_layers"], ("forward", "backward")
    assert isinstance(layers, int)
    layer = choice("layer", range(layers), label="Watch layer", first=layers - 1) if layers > 1 else None
    direction = choice("direction", ways, label="Watch direction") if settings["bidirectional"] else ways[0]
    return layer, ways.index(direction)
