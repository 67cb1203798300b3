"""The parts of the lesson on padding, below its movie."""

import pandas as pd
import streamlit as st

from packviz import charts, facts
from packviz.text import percent
from ui.parts.part import figure, grid, sheet, verdicts
from ui.state.runs import Shown

SEEN = {"padding_side": 2, "padding_value": 2, "padding_idx": 2, "batch_first": 3}  # in the padded grid, or turned


def to_try(shown: Shown) -> dict[str, dict[str, object]]:
    """Return settings to try: other padding values, if possible one that occurs in the data, and the other side."""
    others: dict[str, dict[str, object]] = {
        "pads on the left (padding_side)": {"padding_side": "left"},
        "time steps first (batch_first off)": {"batch_first": False},
    }
    if shown.trace.padded.embedding is not None:
        first = int(shown.batch.sequences[0][0])  # a word's id: as padding_idx it hides that word
        return {**{f"fill with the id {idx} (padding_idx)": {"padding_idx": idx} for idx in (first, 0)}, **others}
    token = float(shown.batch.sequences[0].flatten()[0])
    values = (42.0, token)
    return {**{f"fill with {value:g} (padding_value)": {"padding_value": value} for value in values}, **others}


def stacked(shown: Shown) -> None:
    """Show what torch says when the rows are stacked without padding."""
    st.markdown("These are the same sequences, without padding.")
    verdicts(facts.stacking(shown.batch))
    if len(set(shown.batch.lengths.tolist())) == 1:
        st.markdown("All of these sequences have the same length, so they stack as they are and need no padding.")


def confused(shown: Shown) -> None:
    """Show the lengths that counting the cells without padding would give."""
    st.markdown("Counting the cells that are not padding gives the length only if no token equals the padding value.")
    found = facts.pad_collision(shown.trace)
    st.markdown(f":{'red' if found.wrong else 'green'}[**{'✗' if found.wrong else '✓'}**] {found.sentence}")
    if found.wrong:
        rows = zip(shown.letters, found.lengths, found.counted, strict=True)
        columns = ["sequence", "length", f"`{found.code}`"]
        sheet(rows, columns, "The true lengths, and those that the count returns")


def embedding(shown: Shown) -> None:
    """Show the pad's row of the embedding, and that a vector of zeros moves the state."""
    zeros, table, config = shown.fact(facts.after_zero_vector), shown.trace.padded.embedding, shown.trace.config
    if table is not None and config is not None:
        st.markdown(facts.pad_row(config))
        verdicts([(f"embedding.weight.detach()[{config.pad_id}]", repr(table[config.pad_id]))])
    if table is None or config is None:
        st.markdown("Suppose that every input after the last token were a vector of zeros.")
    elif config.padding_idx is None:
        st.markdown("Now suppose that `padding_idx` were set: each pad would be a vector of zeros.")
    st.markdown(zeros.sentence)
    columns = [f"unit {unit}" for unit in range(len(zeros.states[0]))]
    frame = pd.DataFrame(zeros.states, ["after its last token", "one zero later", "fifty zeros later"], columns)
    grid(frame, "The state before and after inputs of zeros")


def shares(shown: Shown) -> None:
    """Show the share of padding for ten distributions of lengths, and for this batch."""
    st.markdown("Each bar is a mean over random batches of 32 sequences. Each batch is padded to its longest sequence.")
    here = shown.batch.padding_share
    figure(shown, charts.padding_shares, facts.padding_shares(), here, key="shares")
    outlier = next(each for each in facts.DISTRIBUTIONS if each.key == "outlier")
    mean, of_all = facts.padding_share(outlier.lengths())
    st.markdown(
        f"A mean can hide a bad batch. {outlier.title.capitalize()}: {outlier.description} On average, "
        f"{percent(mean)} of a batch is padding. Of all cells together, {percent(of_all)} are padding, because the "
        "batch with the long sequence is huge."
    )
