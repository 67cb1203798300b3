"""The parts of the lesson on two packings, below its movie."""

import streamlit as st
from torch.nn.utils.rnn import pack_sequence

from packviz.compute.row_record import RowsTrace
from packviz.inputs.documents import cu_seqlens_of, position_ids_of
from packviz.text import listed
from ui.parts.part import sheet
from ui.parts.trying import equally_long
from ui.state.runs import Shown

_WHY = """
A **PackedSequence** is ordered by time step, because step t must be finished for all sequences before step t + 1
begins. A **row** is ordered by sequence: attention has no such steps, and a row is a plain tensor. The borders of both
come from the lengths: `batch_sizes[t]` counts the lengths greater than t, and `cu_seqlens` is the running sum of the
lengths.
"""


def to_try(shown: Shown) -> dict[str, dict[str, object]]:
    """Return settings to try on this batch: its sequences in reverse, and equal lengths."""
    lines = (shown.request.source.text or "").splitlines()
    found: dict[str, dict[str, object]] = {"equal lengths": {"sequences": equally_long(shown)}}
    if len(lines) == len(shown.batch.sequences):
        found["in reverse order"] = {"sequences": "\n".join(reversed(lines))}
    return found


def side_by_side(shown: Shown) -> None:
    """Show what the two packings of this batch are, and who reads them."""
    st.markdown(_WHY)
    sheet(shown.fact(_compared), ["", "PackedSequence", "row"], "The two packings of this batch")


def _compared(run: RowsTrace) -> list[tuple[str, str, str]]:
    lengths: list[int] = run.batch.lengths.tolist()
    sizes = pack_sequence(list(run.batch.sequences), enforce_sorted=False).batch_sizes.tolist()
    return [
        ("order of the tokens", "by time step", "by sequence"),
        (
            "borders",
            f"batch_sizes = {listed(sizes, 16)}",
            f"cu_seqlens = {listed(cu_seqlens_of(lengths).tolist(), 16)}",
        ),
        (
            "the same as",
            "sorted_indices, unsorted_indices",
            f"position_ids = {listed(position_ids_of(lengths).tolist(), 16)}",
        ),
        ("who reads it", "nn.RNN, nn.GRU, nn.LSTM", "varlen_attn, FlashAttention, FlexAttention, SDPA with a mask"),
        ("what goes wrong", "the order is lost, or a wrong state is read", "a layer does not know the borders"),
    ]
