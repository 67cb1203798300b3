"""The parts of the lesson on running, below its movie."""

import streamlit as st
import torch

from packviz import charts, movie
from packviz.compute.backward import On
from packviz.facts import UnitSum, unit_sum
from packviz.predictions import asking
from packviz.text import sequence_label
from ui.parts.part import figure
from ui.parts.player import Screen, clip
from ui.state.runs import Shown, as_json
from ui.state.visit import visit

to_try: dict[str, dict[str, object]] = {
    "read backward (bidirectional)": {"bidirectional": True, "direction": "backward"},
    "an LSTM instead": {"cell": "lstm"},
    "two layers (num_layers)": {"num_layers": 2},
}


def one_unit(shown: Shown) -> None:
    """Show the arithmetic of one hidden unit: the one clicked in the movie, or chosen here."""
    st.markdown("Click or tap a number in the movie, or choose here.")
    trace, request = shown.trace, shown.request
    _follow_the_click(shown)
    left, middle, right = st.columns(3)
    letters = shown.letters
    b = letters.index(left.selectbox("sequence", letters, key="unit_sequence"))
    steps = trace.packed.timestep[trace.packed.sequence == b].tolist()
    if st.session_state.get("unit_t") not in steps:
        st.session_state["unit_t"] = steps[0]
    t = middle.selectbox("time step", steps, key="unit_t")
    unit = right.number_input("hidden unit", 0, trace.module.hidden_size - 1, 0, 1, key="unit_unit")
    n = int(((trace.packed.sequence == b) & (trace.packed.timestep == t)).nonzero())
    unit = min(unit, trace.module.hidden_size - 1)
    _formulas(unit_sum(trace, n, unit, layer=request.layer, direction=request.direction))


def _follow_the_click(shown: Shown) -> None:
    """Put the last click in the movie into the three controls, once."""
    pick, visit(Screen).picked = visit(Screen).picked, None
    if pick is None or pick["request"] != shown.request:
        return
    b = pick["seq"]
    if pick["role"] != "value" or b is None:
        return
    st.session_state["unit_sequence"], st.session_state["unit_unit"] = sequence_label(b), pick["k"]
    time = shown.movie.times[pick["step"] - 1]
    steps = shown.trace.packed.timestep[shown.trace.packed.sequence == b].tolist()
    if time is not None:
        st.session_state["unit_t"] = min(time, steps[-1])


def _formulas(taken: UnitSum) -> None:
    formulas = [*(gate.formula for gate in taken.gates), *taken.formulas]
    lines = [line for formula in formulas for line in (formula.symbols, formula.numbers)]
    st.code("\n".join(dict.fromkeys(lines)), language=None, wrap_lines=True)


def over_time(shown: Shown) -> None:
    """Show the whole run as a heat map, and on request each hidden unit of a sequence."""
    st.markdown("Each band is a sequence, and each line in it is a hidden unit. A ring marks the last valid step.")
    trace, request = shown.trace, shown.request
    figure(shown, charts.states, trace, key="states", layer=request.layer, direction=request.direction)
    letters = shown.letters
    letter = st.selectbox("Hidden units, line by line, of sequence", letters, None, key="lines", placeholder="none")
    if letter is not None:
        watched = {"layer": request.layer, "direction": request.direction}
        figure(shown, charts.units, trace, key="units", b=letters.index(letter), **watched)


@st.fragment
def going_back(shown: Shown) -> None:
    """Show the gradient of a loss on its way back through the time steps."""
    st.markdown("`loss.backward()` takes the time steps in the opposite order. Choose where the loss begins.")
    final, every = "all final states", "every row of output"
    chosen = st.selectbox("The loss is the sum of", [final, every, *shown.letters], format_func=_loss, key="loss of")
    on: On = "output" if chosen == every else "last_valid"

    def film() -> bytes:
        upstream = None
        if chosen in shown.letters:
            upstream = torch.zeros_like(shown.trace.unpacked.last_valid)
            upstream[shown.letters.index(chosen)] = 1.0
        layer, direction = shown.request.layer, shown.request.direction
        shot = movie(shown.trace, ("backward",), layer=layer, direction=direction, on=on, upstream=upstream)
        return as_json(shot if direction or chosen != final else asking(shot, "backward"))

    clip(shown.cached(film, movie, chosen), 1, f"going back {chosen}")


def _loss(chosen: str) -> str:
    return f"the final state of {chosen}" if chosen.isupper() else chosen
