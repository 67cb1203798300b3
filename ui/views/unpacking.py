"""The parts of the lesson on unpacking, below its movie."""

import pandas as pd
import streamlit as st

from packviz.facts import Readout, readouts
from packviz.text import sequence_label
from ui.parts.part import do_i_need_it, grid
from ui.state.kinds import PACKING
from ui.state.path import FIRST_STAGES, Lessons, script
from ui.state.runs import Shown
from ui.state.visit import visit

_KNOWN = """
- **Padding** makes one tensor of rows of different lengths. You need `lengths` to know which values are real.
- **Sorting** puts the longest first, so the rows that still have a token come first. `unsorted_indices` undoes it.
- **Packing** takes the grid column by column. `batch_sizes[t]` rows belong to time step t.
- **Running** updates only these rows. A sequence that has ended keeps its state, which is its row of `h_n`.
- **Unpacking** restores the grid. Read `h_n`, or the last valid step, but not `output[:, -1]`.
"""


def to_try(shown: Shown) -> dict[str, dict[str, object]]:
    """Return settings to try on this batch: another number of directions, a wider grid, another filler."""
    wider = int(shown.batch.lengths.max()) + 2
    return {
        "read in both directions (bidirectional)": {"bidirectional": True},
        f"a grid of {wider} steps (total_length)": {"total_length": wider},
        "fill with 42 (padding_value)": {"padding_value": 42.0},
    }


def which_one(shown: Shown) -> None:
    """Show every readout of one vector per sequence: its code, its numbers, whether it is right here, and why."""
    st.markdown("Right means that every direction has read the whole sequence and no padding is mixed in.")
    found = shown.fact(readouts)
    if caution := next((each.caution for each in found if each.caution), ""):
        st.markdown(f":red[**✗ {caution}**]")
    with st.container(gap="xsmall"):
        for each in found:
            sign = ":green[**✓ right here**]" if each.right else ":red[**✗ wrong here**]"
            verdict = sign if each.available else "**needs two directions**"
            key = f"readout of {each.key}"
            with st.expander(f"`{each.title}` {verdict}", key=key, on_change="rerun") as panel:
                if panel.open:
                    st.markdown(each.reason)
                if panel.open and each.available:
                    _values(each)


def _values(each: Readout) -> None:
    assert each.values is not None
    names = [sequence_label(b) for b in range(len(each.values))]
    width = min(each.values.shape[1], 16)
    frame = pd.DataFrame(each.values[:, :width].tolist(), index=names, columns=[f"[{i}]" for i in range(width)])
    seen = pd.DataFrame(each.seen, index=names, columns=[f"seen by {half}" for half in each.halves])
    left, right = st.columns([2, 3])
    left.code(each.code, language="python", wrap_lines=True)
    with right:
        grid(seen.join(frame), f"What {each.title} gives for each sequence")


def finished() -> None:
    """Sum up the five lessons, and say where to go next."""
    of_packing = FIRST_STAGES & set(PACKING.stages)
    lessons, done = len(of_packing), len(of_packing & visit(Lessons).done)
    answered = f"{done} of {lessons} predictions answered" if done < lessons else "all five predictions answered ✓"
    with st.expander(f"What you know now: {answered}", expanded=done == lessons):
        st.markdown(_KNOWN)
        st.page_link(script("quiz"), label="Try the quiz", icon=":material/quiz:")
    do_i_need_it()
