"""The parts of the lesson on filling rows, below its movie."""

import streamlit as st

from packviz import charts
from packviz.compute.fill import fill_rows
from packviz.compute.row_record import RowsTrace
from packviz.errors import PackvizError
from packviz.inputs.row_config import STRATEGIES
from packviz.lab.cost import fills_of
from packviz.lab.training.experiment import vowels_credit
from packviz.teach.filling import MAX_CAPACITY, MAX_DOCUMENTS, filling
from ui.parts.part import fresh, sheet
from ui.parts.player import fill_yourself
from ui.state import address
from ui.state.runs import Shown
from ui.state.widgets import put
from ui.views.costs import NOT_TYPED, RECORDINGS, THIS_BATCH, TYPED, lengths_from

_SMALL = "1 2 3 4\n5 6 7\n8 9 1\n2 3\n4 5\n6 7"  # of lengths 4, 3, 3, 2, 2 and 2: best fit needs one row too many


def to_try(shown: Shown) -> dict[str, dict[str, object]]:
    """Return settings to try on this batch: other strategies, and rows too short for its longest sequence."""
    longest = int(shown.batch.lengths.max())
    found: dict[str, dict[str, object]] = {
        "cut at the row's end (wrapped)": {"strategy": "wrapped"},
        "cut only what is too long (bfd_split)": {"strategy": "bfd_split"},
    }
    return found | ({f"rows of {longest - 1} cells (max_length)": {"max_length": longest - 1}} if longest > 1 else {})


def by_hand(shown: Shown) -> None:
    """Let a visitor fill the rows, or those of a smaller batch if they are too many or too long."""
    st.markdown("Drag each document into a row, or tap it and then a row. Use as few rows as you can.")
    asked = filling(shown.batch.lengths.tolist(), shown.rows.rows.max_length)
    if asked is not None:
        fill_yourself(asked)
        return
    st.markdown(f"This works with at most {MAX_DOCUMENTS} documents, and rows of at most {MAX_CAPACITY} cells.")
    small = {"sequences": _SMALL, "max_length": 8}
    if st.button("Fill rows of 8 with six documents", on_click=put, args=(small,), disabled=address.fixed(*small)):
        st.rerun()  # the movie, too


def strategies(shown: Shown) -> None:
    """Show what every strategy makes of this batch."""
    st.markdown(
        "Every strategy gets the same documents and the same `max_length`. Free cells are computed and thrown away."
    )
    columns = ["strategy", "rows", "free cells", "tokens dropped", "documents cut"]
    sheet(shown.fact(_filled), columns, "What every strategy makes of this batch")


def capacities(shown: Shown) -> None:
    """Show how well each strategy fills rows of several lengths, for the lengths of a data set."""
    st.markdown("Longer rows are easier to fill. `wrapped` and `bfd_split` drop nothing, but cut documents.")
    source = st.selectbox("Lengths", [THIS_BATCH, TYPED, RECORDINGS, *NOT_TYPED], key="fills_of")
    try:
        if (lengths := lengths_from(shown, source, "fills")) is None:
            return
        found = fills_of(lengths)
    except PackvizError as problem:
        st.text(f"⚠ {problem.sentence}")
        return
    fresh(charts.fills, found, key="fills")
    if source == RECORDINGS:
        st.markdown(f":small[{vowels_credit()}]")


def _filled(run: RowsTrace) -> list[tuple[str, int, int, int, int]]:
    found = list[tuple[str, int, int, int, int]]()
    for strategy in STRATEGIES:
        rows = fill_rows(run.batch.lengths, run.rows.max_length, strategy)
        found.append((strategy, len(rows.rows), rows.padding, rows.tokens_dropped, len(rows.cut)))
    return found
