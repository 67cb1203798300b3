"""The parts of the lesson on padding, below its movie."""

import pandas as pd
import streamlit as st

from packviz import charts
from packviz.batch import sequence_label
from packviz.studies import (
    DISTRIBUTIONS,
    after_zero_vector,
    confusion,
    pad_row,
    padding_cells,
    padding_share,
    padding_shares,
    stack_errors,
    stacked_shape,
)
from ui.figures import figure
from ui.part import verdicts
from ui.runs import Shown

__all__ = ["confused", "embedding", "shares", "stacked"]


def stacked(shown: Shown) -> None:
    """Show what torch says when the rows are to be stacked as they are."""
    errors = stack_errors(shown.batch)
    if errors:
        verdicts(errors)
    else:
        verdicts([("torch.stack(sequences).shape", f"torch.Size({list(stacked_shape(shown.batch) or ())})")])
        st.markdown("All of these sequences have the same length: they stack as they are, and need no padding.")


def confused(shown: Shown) -> None:
    """Show what a count of cells that are not padding makes of the lengths."""
    found = confusion(shown.trace)
    st.markdown(f":{'red' if found.wrong else 'green'}[**{'✗' if found.wrong else '✓'}**] {found.told}")
    if found.wrong:
        names = [sequence_label(b) for b in range(len(found.lengths))]
        frame = pd.DataFrame({"sequence": names, "length": found.lengths, found.code: found.counted})
        st.dataframe(frame, hide_index=True, key="counted", alt="The true lengths, and those that the count returns")


def embedding(shown: Shown) -> None:
    """Show what the pad's row of the embedding is, and that a vector of zeros moves the state."""
    row, zeros = pad_row(shown.trace), after_zero_vector(shown.trace)
    if row is not None:
        st.markdown(row.told)
        verdicts([(f"embedding.weight[{row.id}]", f"tensor({[round(value, 4) for value in row.row]})")])
    st.markdown(zeros.told)
    columns = [f"unit {unit}" for unit in range(len(zeros.before))]
    states = {"after its last token": zeros.before, "one zero later": zeros.after, "fifty zeros later": zeros.later}
    frame = pd.DataFrame(states, index=columns).T
    st.dataframe(frame.style.format("{:.4f}"), key="zeros", alt="The state before and after inputs of zeros")


def shares(shown: Shown) -> None:
    """Show the share of padding for ten distributions of lengths, and for this batch."""
    here = shown.batch.padding_share
    figure(shown, charts.padding_shares, padding_shares(), here, key="shares")
    outlier = next(each for each in DISTRIBUTIONS if each.key == "outlier")
    share, (pads, cells) = padding_share(outlier.lengths()), padding_cells(outlier.lengths())
    st.markdown(
        f"A mean hides what one batch can do. {outlier.title.capitalize()}: {outlier.told} "
        f"In the mean {share:.0%} of a batch is padding, but {pads / cells:.0%} of all cells are."
    )
