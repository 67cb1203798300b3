"""The parts of the lesson on attention, below its movie."""

import math
from typing import Any

import streamlit as st
import torch
import torch.nn.functional as F

from packviz.compute.row_record import RowsTrace
from packviz.facts.row_attention import switched
from packviz.inputs.batch import sequence_label
from packviz.tables import keys_table
from packviz.text import two_digits
from ui.parts.part import sheet, verdicts
from ui.state.runs import Shown

_FORMULA = """scores = query[i] @ key.T / d**0.5
scores[~mask[i]] = -inf
weights = scores.softmax(-1)
output = weights @ value"""
_NONE = "The layer of this run is not attention. Set `layer` to attention in the controls, or with the button above."
_PADS = """
A pad is no token, so the mask lets it read nothing. A softmax over no key at all is 0 / 0. PyTorch's
`scaled_dot_product_attention` returns 0 for such a query; a softmax of your own returns NaN, and one NaN is enough
to spoil a mean or a gradient.
"""
_WHY = """
A mask **of the row** lets a query read earlier documents. Positions that **run on** change no key that is read, but a
learned embedding of position 4 is not that of position 0, which the document has alone. **Rotary** positions turn
query and key by their positions, and only the difference of the two reaches the score.
"""


def to_try(shown: Shown) -> dict[str, dict[str, object]]:
    """Return settings to try: a mask without borders, positions that run on, other positions."""
    if shown.rows.mask is None:
        return {"attention": {"row_layer": "attention"}}
    return {
        "mask off": {"isolate": False},
        "positions run on": {"reset_positions": False},
        "rotary positions": {"positions": "rope"},
    }


def _is_attention(shown: Shown) -> bool:
    """Return whether the run has attention, and say so if it has not."""
    if shown.rows.mask is None:
        st.markdown(_NONE)
    return shown.rows.mask is not None


def one_query(shown: Shown) -> None:
    """Show every key of a query that is chosen here, in the layer and the head that the movie shows."""
    if not _is_attention(shown):
        return
    run, request = shown.rows, shown.request
    places = {(b, t): (row, cell) for row, cell, b, t in _tokens(run)}
    left, right = st.columns(2)
    letters = {sequence_label(b): b for b, _ in places}
    b = letters[left.selectbox("sequence", letters, key="query_sequence")]
    steps = [t for other, t in places if other == b]
    if st.session_state.get("query_token") not in steps:
        st.session_state["query_token"] = steps[-1]
    row, cell = places[b, right.selectbox("token", steps, key="query_token")]
    layer = len(run.layers) - 1 if request.layer is None else request.layer
    st.code(_FORMULA.replace("d**", f"{run.config.head_dim}**").replace("[i]", f"[{cell}]"), wrap_lines=True)
    frame = keys_table(run, row, cell, layer, request.head)
    frame["score"] = [f"{score:.4f}" if score != -math.inf else "−∞" for score in frame["score"]]  # as in the movie
    numbers: dict[str, Any] = dict.fromkeys(frame.columns[4:], st.column_config.NumberColumn(format="%.4f"))
    numbers["score"] = st.column_config.TextColumn(alignment="right")
    alt = f"Every key of the query in cell {cell} of row {row}"
    sheet(frame.itertuples(index=False), frame.columns, "keys", alt, formats=numbers, height=210)
    made = run.layers[layer].output[row, cell].view(run.config.num_heads, -1)[request.head]
    st.text(f"weights @ value = {', '.join(f'{number:.4f}' for number in made.tolist())}")


def _tokens(run: RowsTrace) -> list[tuple[int, int, int, int]]:
    """Return row, cell, sequence and place in it of every token in the rows, by sequence."""
    found = list[tuple[int, int, int, int]]()
    for row, pieces in enumerate(run.rows.rows):
        tokens = [(b, t) for b, start, stop in pieces for t in range(start, stop)]
        found += [(row, cell, *token) for cell, token in enumerate(tokens)]
    return sorted(found, key=lambda each: each[2:])


def both_ways(shown: Shown) -> None:
    """Show how far each document is from itself alone, with the mask and the positions right and wrong."""
    if not _is_attention(shown):
        return
    st.markdown(
        "Each line is a run with the same tokens and weights. It shows how far each document is from the same document "
        "alone."
    )
    rows = [
        (
            each.positions,
            "of the document" if each.isolate else "of the row",
            "start again" if each.reset_positions else "run on",
            two_digits(each.largest),
            each.documents,
        )
        for each in shown.fact(switched)
    ]
    columns = ["positions", "mask", "position_ids", "largest difference", "by document"]
    sheet(rows, columns, "both ways", "The mask and the positions, right and wrong")
    st.markdown(_WHY)


def nothing_to_read(_shown: Shown) -> None:
    """Show what torch makes of a query that may read no key."""
    st.markdown(_PADS)
    verdicts(_said())


def _said() -> list[tuple[str, str]]:
    """Return lines of Python, each with torch's current output."""
    q, mask = torch.ones(1, 1, 4, device="cpu"), torch.zeros(1, 1, dtype=torch.bool, device="cpu")
    return [
        ("torch.full((3,), -torch.inf).softmax(0)", repr(torch.full((3,), -torch.inf, device="cpu").softmax(0))),
        ("q = torch.ones(1, 1, 4); mask = torch.zeros(1, 1, dtype=torch.bool)", ""),
        ("F.scaled_dot_product_attention(q, q, q, mask)", repr(F.scaled_dot_product_attention(q, q, q, mask))),
    ]
