"""The parts of the lesson on attention, below its movie."""

import streamlit as st
import torch
import torch.nn.functional as F

from ui.parts.part import verdicts
from ui.state.runs import Shown
from ui.views.what_leaks import ATTENTION, differences

_NONE = "The layer of this run is not attention. Set `layer` to attention in the controls, or with the button above."
_PADS = """
A pad is not a token, so the mask lets it read nothing. A softmax over no key at all is 0 / 0. PyTorch's
`scaled_dot_product_attention` returns 0 for such a query; a softmax of your own returns NaN, and one NaN is enough
to spoil a mean or a gradient.
"""
_WHY = """
If the mask covers the **whole row**, a query also reads earlier documents. If positions **run on**, it reads the same
keys, but the learned embedding of position 4 is not that of position 0, at which the document starts when it is alone.
**Rotary** positions rotate the query and the key, and the score depends only on the distance between them.
"""


def to_try(shown: Shown) -> dict[str, dict[str, object]]:
    """Return settings to try: a mask without borders, positions that run on, other positions."""
    if shown.rows.mask is None:
        return {"attention instead": {"row_layer": "attention"}}
    return {
        "no borders in the mask (isolate off)": {"isolate": False},
        "positions run on (reset_positions off)": {"reset_positions": False},
        "rotary positions (rope)": {"positions": "rope"},
    }


def _is_attention(shown: Shown) -> bool:
    """Return whether the run has attention; without it, show a sentence that says so."""
    if shown.rows.mask is None:
        st.markdown(_NONE)
    return shown.rows.mask is not None


def both_ways(shown: Shown) -> None:
    """Show how far outputs are from those of each document alone, with mask and positions right and wrong."""
    if _is_attention(shown):
        differences(shown, ATTENTION)
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
