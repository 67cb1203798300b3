"""The parts of the lesson on sorting, below its movie."""

import pandas as pd
import streamlit as st

from packviz.facts import enforcing, first_unstable, order_of_equals, ties
from packviz.inputs.batch import sequence_label
from ui.part import verdicts
from ui.runs import Shown

__all__ = ["enforced", "equals"]


def enforced(shown: Shown) -> None:
    """Show what torch does with these lengths, with enforce_sorted=True and False."""
    verdicts(enforcing(shown.trace))


def equals(shown: Shown) -> None:
    """Show in which order torch put equal lengths: of this batch, and of 16 and 17 sequences."""
    if shown.trace.error is None:
        found = ties(shown.trace)
        for tie in found[:6]:
            letters = ", ".join(sequence_label(b) for b in tie.sequences[:12])
            how = "as they came" if tie.as_they_came else "**not** as they came"
            st.markdown(f"Length {tie.length}: torch put them in the order {letters}, {how}.")
        if not found:
            st.markdown("In this batch no two lengths are equal, so there is only one order.")
    first = first_unstable()
    if first is None:
        st.markdown("Up to 64 equal lengths this torch keeps the order in which they came; nothing promises it.")
        return
    st.markdown(f"With **{first} equal lengths**, this torch does not keep the order in which they came.")
    st.dataframe(
        pd.DataFrame(
            [(n, str(list(order_of_equals(n)))) for n in (first - 1, first)],
            columns=["equal lengths", "sorted_indices"],
        ),
        hide_index=True,
        key="equals",
        alt="The order in which torch puts equal lengths",
    )
