"""The parts of the lesson on what leaks, below its movie."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import streamlit as st

from packviz.compute.row_record import RowsTrace
from packviz.compute.rows import rerun
from packviz.errors import PackvizError
from packviz.facts.episodes import Way, episodes
from packviz.facts.row_leaks import fullest, leak_in
from packviz.inputs.cell_kinds import CELL_KINDS
from packviz.inputs.examples import example
from packviz.text import letters, two_decimals
from ui.parts.part import sheet
from ui.state.path import script
from ui.state.runs import Shown

Borders = tuple[
    str, str, Mapping[str, Any], Mapping[str, Any]
]  # a layer and its borders, also as settings, and without

_RUN_ON = {"reset_positions": False}
ATTENTION: tuple[Borders, ...] = (
    ("attention", "a block mask", {"layer": "attention"}, {"isolate": False}),
    ("learned positions", "positions that start again", {"layer": "attention", "positions": "learned"}, _RUN_ON),
    ("rotary positions", "nothing: only distances count", {"layer": "attention", "positions": "rope"}, _RUN_ON),
)
_LAYERS: tuple[Borders, ...] = (
    *ATTENTION,
    *((name, "a PackedSequence", {"layer": name}, {"isolate": False}) for name in CELL_KINDS),
    ("conv", "a cut at each border", {"layer": "conv"}, {"isolate": False}),
)
_WAYS = {
    "loop": ("A loop that resets the state at each start", "This is the reference. It takes one step after the other."),
    "packed": (
        "Split at the starts, pack, run, unpack",
        "All episodes run at once, each with a state of its own. The result is that of the loop, apart from rounding.",
    ),
    "whole": ("One run over the rollout", "The state runs on over the ends, so all later episodes are wrong."),
    "stale": (
        "Packed, with h_0 left over from the last rollout",
        "A stored state does not belong to an episode that starts anew. Give zeros there.",
    ),
    "last": (
        "The last column of the unpacked grid",
        "Shorter episodes have zeros there. Take their final states from `h_n`.",
    ),
}
_TIED = """
A **PackedSequence** knows its borders: `batch_sizes` ends each sequence for the layer, so that no state can run on.
A **row** is a plain tensor, and every layer must be told where a document ends:

- **Attention** needs a **mask** with the borders, and positions that start again.
- **An RNN, GRU or LSTM** needs a **reset** of its state; it takes no mask, and zeros as input do not erase its old
  state. The same holds for other layers with a state, such as Mamba (a state-space model) or a gated delta rule (a
  linear attention that overwrites its state).
  For torch's own RNN, GRU or LSTM that is a PackedSequence; Mamba takes `seq_idx`.
- **A convolution** needs a cut at each border, or it mixes the first k − 1 tokens with the document before.

A layer that you forget leaks, and no error is raised.
"""
_CHECK = """import packviz as pv

pv.check_rows(model, documents)       # each document alone, and one token after another changed
pv.examine(gru, x, starts=starts)     # rollouts (T, B, F): is the state reset where an episode starts?
"""


def to_try(shown: Shown) -> dict[str, dict[str, object]]:
    """Return settings to try on this batch: a layer, and what keeps its documents apart."""
    layer = shown.rows.config.layer
    found: dict[str, dict[str, object]] = {
        "a GRU instead": {"row_layer": "gru"},
        "an LSTM instead": {"row_layer": "lstm"},
        "a convolution instead": {"row_layer": "conv"},
        "game episodes": {"sequences": example("episodes").text},
        "let documents mix (isolate off)": {"isolate": False},
    }
    if layer == "attention":
        found["positions run on (reset_positions off)"] = {"reset_positions": False}
    return found


def layers(shown: Shown) -> None:
    """Show the difference from alone of every layer on this batch, with and without its borders."""
    differences(shown, _LAYERS)


def differences(shown: Shown, every: tuple[Borders, ...]) -> None:
    """Show the difference from alone on this batch with and without each of these borders."""
    st.markdown(
        "We also run each document alone. The table shows the largest difference between its outputs alone and in the "
        "row. With the right border it is 0, apart from rounding."
    )
    columns = ["layer", "kept apart by", "with it", "without it", "tokens that differ without it"]
    rows = shown.cached(lambda: _compared(shown.rows, every), differences, *(name for name, *_ in every))
    sheet(rows, columns, "The difference from alone on this batch, with and without borders")


def _compared(run: RowsTrace, every: tuple[Borders, ...]) -> list[tuple[str, str, str, str, int]]:
    row, found = fullest(run), list[tuple[str, str, str, str, int]]()
    for name, by, chosen, lacking in every:
        try:
            replace(run.config, **chosen)
        except PackvizError:  # these heads do not divide this embedding_dim
            continue
        settings: dict[str, Any] = {"isolate": True, "reset_positions": True, **chosen}
        kept, lost = (leak_in(rerun(run, row, **each), 0) for each in (settings, settings | dict(lacking)))
        largest = [two_decimals(float(each.difference[-1].max())) for each in (kept, lost)]
        found.append((name, by, largest[0], largest[1], int(lost.differs[-1].sum())))
    return found


def rollout(shown: Shown) -> None:
    """Show ways to run the sequences of this batch as the episodes of one rollout, and what each gets wrong."""
    st.markdown(
        "A rollout of a recurrent policy, in which `done` ends the episodes, is a row, and each episode is a document. "
        "Here the row in the movie is a rollout, and a GRU runs over it."
    )
    for way in shown.fact(episodes):
        title, why = _WAYS[way.key]
        sign = ":red[**✗**]" if way.wrong else ":green[**✓**]"
        with st.expander(f"{sign} {title}: {_apart(way)}", key=f"way {way.key}", on_change="rerun") as panel:
            if panel.open:
                st.markdown(why)
                st.code(way.code, language="python", wrap_lines=True)


def _apart(way: Way) -> str:
    if way.key == "loop":
        return "the reference"
    which = f", wrong for {letters(way.wrong)}" if way.wrong else ""
    return f"largest difference {two_decimals(way.difference)}{which}"


def own_model(_: Shown) -> None:
    """Show how both probes are applied to a model."""
    st.markdown("`check_rows` knows nothing about the model, and finds all of this. A correct model gives no findings.")
    st.code(_CHECK, language="python", wrap_lines=True)
    st.page_link(script("doctor"), label="Check my batch", icon=":material/stethoscope:")


def finished() -> None:
    """Sum up what keeps documents apart in a PackedSequence and in a row."""
    with st.expander("What you know now: PackedSequence, mask, reset"):
        st.markdown(_TIED)
