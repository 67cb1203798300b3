"""The controls: every widget, its key (which is its name in the URL) and its one default."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import get_args

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from packviz.inputs.batch import ReadAs
from packviz.inputs.config import Cell, Config, InitialState, Nonlinearity, PaddingSide
from packviz.inputs.examples import EXAMPLES, example
from ui import links
from ui.requests import OWN, Request, Source
from ui.widgets import choice, maybe_whole, number, of_every_page, switch, whole

__all__ = ["Controls", "controls", "keep", "put", "put_aside", "put_back", "typed"]


_NAMES = ("example", "sequences", "read_as", "layer", "direction", *(field.name for field in fields(Config)))


@dataclass(frozen=True)
class Controls:
    """Hold what all controls but the text ask for, and three places in the sidebar."""

    picked: str
    read_as: ReadAs
    settings: tuple[tuple[str, object], ...]
    layer: int | None
    direction: int
    for_text: DeltaGenerator
    under_text: DeltaGenerator
    over_settings: DeltaGenerator


@of_every_page()
def controls() -> Controls:
    """Draw all controls but the text, which has its place above them."""
    links.remember()
    _keep(*links.OF_OTHER_PAGES)
    if "to put back" in st.session_state:  # before the widgets are drawn: afterwards their values are theirs
        text = st.session_state.pop("to put back")
        put({"sequences": text, "example": OWN})
        st.session_state.pop("put aside", None)
    with st.sidebar:
        for_text, under_text = st.container(), st.container()
        picked = _example()
        read_as: ReadAs = "auto"
        if picked == OWN or example(picked).text is not None:
            read_as = choice("read_as", get_args(ReadAs), read_as, label="Read as")
        over_settings = st.container()
        settings = {**_cell(), **_packing()}
        layer, direction = _watched(settings)
        with st.expander("More settings"):
            settings |= {**_module_details(), **_padding_details()}
    return Controls(picked, read_as, tuple(settings.items()), layer, direction, for_text, under_text, over_settings)


def keep() -> None:
    """Keep what all controls hold, on a page that draws none of them: Streamlit forgets widgets that are not drawn."""
    links.remember()
    _keep(*_NAMES, *links.OF_OTHER_PAGES)


def _keep(*names: str) -> None:
    for name in names:
        if name in st.session_state:
            st.session_state[name] = st.session_state[name]


def typed(chosen: Controls) -> Request:
    """Draw the text area where there is a text to edit, and return what all controls ask for."""
    with chosen.for_text:
        text = _text(chosen.picked)
    source = Source(chosen.picked, text, chosen.read_as)
    return Request(source, chosen.settings, chosen.layer, chosen.direction)


def _example() -> str:
    """Return the key of the example that is picked, or OWN."""
    if "sequences" in links.asked() and "example" not in links.asked():
        st.session_state.setdefault("example", OWN)
    keys = [*(each.key for each in EXAMPLES), OWN]
    return st.pills(
        "Example", keys, default=keys[0], required=True, key="example", bind="query-params", on_change=_fill_in
    )


def _fill_in() -> None:
    """Put the text of the example just picked into the text area; one's own text comes back as it was left."""
    picked = st.session_state["example"]
    own = st.session_state.get("own text", st.session_state.get("sequences"))
    text = own if picked == OWN else example(picked).text
    if text is not None:
        st.session_state["sequences"] = text


@of_every_page()
def _text(picked: str) -> str | None:
    """Return what is typed; None for an example that is a batch of tensors."""
    given = "" if picked == OWN else example(picked).text
    if given is None:
        return None
    text = st.text_area("Sequences, one a line", given, 148, key="sequences", bind="query-params", on_change=_take_over)
    if picked == OWN:
        st.session_state["own text"] = text
    return text


def _take_over() -> None:
    """Make an example whose text has been edited one's own."""
    st.session_state["example"] = OWN


def put(settings: Mapping[str, object]) -> None:
    """Put settings, by their names, into the controls; a text of one's own that has to give way can be had back."""
    if "sequences" in settings and st.session_state.get("example") == OWN and "sequences" in st.session_state:
        st.session_state.setdefault("put aside", st.session_state["sequences"])
    for name, value in settings.items():
        st.session_state[name] = value
    if "sequences" in settings:
        st.session_state["example"], st.session_state["own text"] = OWN, settings["sequences"]


def put_aside() -> str | None:
    """Return the text of one's own that had to give way; None where there is none."""
    text: str | None = st.session_state.get("put aside")
    return text


def put_back() -> None:
    """Put that text into the controls again, with the next run of the page."""
    st.session_state["to put back"] = st.session_state.pop("put aside")


def _cell() -> dict[str, object]:
    cell = choice("cell", get_args(Cell), Config.cell)
    left, right = st.columns(2)
    with left:
        hidden_size = whole("hidden_size", Config.hidden_size, 1, 64, "H: how many numbers a hidden state has.")
    with right:
        num_layers = whole("num_layers", Config.num_layers, 1, 4, "L: each layer is fed the output of the one below.")
    both_ways = switch("bidirectional", Config.bidirectional, "Also run from the last step to the first: D = 2.")
    return {"cell": cell, "hidden_size": hidden_size, "num_layers": num_layers, "bidirectional": both_ways}


def _packing() -> dict[str, object]:
    promise = "On: you promise that the lengths never increase. Off: PyTorch sorts them."
    return {"enforce_sorted": switch("enforce_sorted", Config.enforce_sorted, promise)}


def _watched(settings: dict[str, object]) -> tuple[int | None, int]:
    """Return the layer and the direction that the run shows; asked only where there are several."""
    layers, ways = settings["num_layers"], ("forward", "backward")
    assert isinstance(layers, int)
    layer = choice("layer", range(layers), layers - 1, label="Watch layer") if layers > 1 else None
    direction = choice("direction", ways, ways[0], label="Watch direction") if settings["bidirectional"] else ways[0]
    return layer, ways.index(direction)


def _module_details() -> dict[str, object]:
    return {
        "nonlinearity": choice("nonlinearity", get_args(Nonlinearity), Config.nonlinearity, "Of the cell rnn only."),
        "bias": switch("bias", Config.bias, "Whether the cell adds bias_ih and bias_hh."),
        "initial_state": choice("initial_state", get_args(InitialState), Config.initial_state, "Where h_0 comes from."),
        "embedding_dim": maybe_whole("embedding_dim", 1, 32, "Empty: 4 for words, no embedding for numbers."),
        "padding_idx": maybe_whole("padding_idx", 0, 4096, "The id that pads, whose embedding stays zero."),
        "seed": whole("seed", Config.seed, 0, 2**31 - 1, "Of the weights and of the initial state."),
    }


def _padding_details() -> dict[str, object]:
    return {
        "batch_first": switch("batch_first", Config.batch_first, "On: padded values are (B, T, F). Off: (T, B, F)."),
        "padding_value": number("padding_value", Config.padding_value, 1e6, "What fills the padded grids."),
        "padding_side": choice("padding_side", get_args(PaddingSide), Config.padding_side),
        "total_length": maybe_whole("total_length", 1, 256, "Of the unpacked output. Empty: the longest sequence."),
    }
