"""The parts of the lesson on filling rows, below its movie."""

import streamlit as st

from packviz.compute.fill import fill_rows
from packviz.compute.row_record import RowsTrace
from packviz.inputs.row_config import STRATEGIES
from ui.parts.part import sheet
from ui.state.runs import Shown


def to_try(shown: Shown) -> dict[str, dict[str, object]]:
    """Return settings to try on this batch: other strategies, and rows too short for its longest sequence."""
    longest = int(shown.batch.lengths.max())
    found: dict[str, dict[str, object]] = {name: {"strategy": name} for name in ("wrapped", "bfd_split")}
    return found | ({f"rows of {longest - 1}": {"max_length": longest - 1}} if longest > 1 else {})


def strategies(shown: Shown) -> None:
    """Show what every strategy makes of this batch."""
    st.markdown("The same sequences, and the same `max_length`. Free cells are computed and thrown away.")
    columns = ["strategy", "rows", "free cells", "tokens dropped", "sequences cut"]
    sheet(shown.fact(_filled), columns, "strategies", "What every strategy makes of this batch")


def _filled(run: RowsTrace) -> list[tuple[str, int, int, int, int]]:
    found = list[tuple[str, int, int, int, int]]()
    for strategy in STRATEGIES:
        rows = fill_rows(run.batch.lengths, run.rows.max_length, strategy)
        found.append((strategy, len(rows.rows), rows.padding, rows.tokens_dropped, len(rows.cut)))
    return found
