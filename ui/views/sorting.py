"""The parts of the lesson on sorting, below its movie."""

from itertools import cycle, islice

import streamlit as st

from packviz.compute.record import Trace
from packviz.facts import enforcing, first_unstable, order_of_equals, ties
from packviz.text import listed, sequence_label
from ui.parts.part import sheet, verdicts
from ui.parts.trying import as_text, typed_tokens
from ui.state.runs import Shown

_MANY = 17  # equal lengths: torch does not keep their order


def to_try(shown: Shown) -> dict[str, dict[str, object]]:
    """Return a promise to try, and many equal lengths: the beginnings of this batch's sequences, again and again."""
    own = typed_tokens(shown) or [[str(row)] for row in range(1, _MANY + 1)]
    short = min(2, *map(len, own))
    equal = as_text(tokens[:short] for tokens in islice(cycle(own), _MANY))
    return {
        "promise sorted lengths (enforce_sorted on)": {"enforce_sorted": True},
        f"{_MANY} sequences of equal length": {"sequences": equal},
    }


def enforced(shown: Shown) -> None:
    """Show what torch does with these lengths for enforce_sorted=True and False."""
    st.markdown("`True` is a promise that torch checks. `False` lets torch sort.")
    verdicts(shown.fact(enforcing))


def equals(shown: Shown) -> None:
    """Show the order that torch gives to equal lengths: in this batch, and for 16 and 17 sequences."""
    st.markdown("torch decides which of several equal lengths comes first. Read `sorted_indices` instead of guessing.")
    if isinstance(shown.trace, Trace):
        found = ties(shown.trace)
        for tie in found[:6]:
            letters = listed([sequence_label(b) for b in tie.sequences], 24)
            how = "their original order" if tie.as_they_came else "**not** their original order"
            st.markdown(f"Length {tie.length}: torch put them in the order {letters}, {how}.")
        if not found:
            st.markdown("In this batch no two lengths are equal, so there is only one order.")
    first = first_unstable()
    if first is None:
        st.markdown("Up to 64 equal lengths, this version of torch keeps the original order; nothing guarantees it.")
        return
    st.markdown(f"With **{first} equal lengths**, this version of torch does not keep the original order.")
    rows = [(n, str(list(order_of_equals(n)))) for n in (first - 1, first)]
    sheet(rows, ["equal lengths", "sorted_indices"], "The order in which torch puts equal lengths")
