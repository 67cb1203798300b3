"""What stands under the player: the proof, the records of the stage on screen, torch's own fields, the script."""

import pandas as pd
import streamlit as st

from packviz import tables
from packviz.compute.trace import Trace
from packviz.show.snippet import snippet
from ui.runs import Shown

__all__ = ["proof", "records", "table"]

_FIELDS = ("data", "batch_sizes", "sorted_indices", "unsorted_indices")


def records(shown: Shown, stage: str) -> None:
    """Write all that belongs to the run and to the stage on screen, in words and numbers."""
    proof(shown)
    left, right = st.columns(2, gap="medium")
    with left:
        st.subheader(f"Records of the stage {stage}", anchor=False)
        frame = table(shown, stage)
        if "padding" in frame and not frame["padding"].any():
            frame = frame.drop(columns="padding")
        st.dataframe(frame, hide_index=True, key="records", alt=f"The records of the stage {stage}")
        st.subheader("The PackedSequence, as torch prints it", anchor=False)
        st.code(_fields(shown.trace), language="python")
    with right:
        st.subheader("The same run in plain PyTorch", anchor=False)
        st.code(snippet(shown.trace), language="python", wrap_lines=True)


def table(shown: Shown, stage: str) -> pd.DataFrame:
    """Return the records of one stage, or of the last one that this run has, where torch refused to go on."""
    trace, request = shown.trace, shown.request
    if trace.error is not None or stage in ("pad", "embed"):
        return tables.padded_table(trace)
    if stage == "sort":
        return tables.sorted_table(trace)
    if stage == "pack":
        return tables.packed_table(trace)
    if stage == "run":
        return tables.run_table(trace, request.layer, request.direction)
    return tables.unpacked_table(trace)


def proof(shown: Shown) -> None:
    """Say how the run compares with torch's own."""
    if shown.trace.error is not None:
        return
    proof = shown.trace.proof
    if shown.movie["exact"]:
        st.badge(shown.movie["proof"], icon=":material/check:", color="green")
    else:
        st.badge(shown.movie["proof"], icon=":material/error:", color="orange")
    st.text(f"Largest distance from torch's own run in {', '.join(proof)}: {max(proof.values())}")


def _fields(trace: Trace) -> str:
    if trace.error is not None:
        return f"RuntimeError: {trace.error}"
    values = (trace.packed.data, trace.packed.batch_sizes, trace.sorted.sorted_indices, trace.sorted.unsorted_indices)
    return "\n".join(f">>> packed.{name}\n{value}" for name, value in zip(_FIELDS, values, strict=True))
