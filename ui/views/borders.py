"""The parts of the lesson on borders, below its movie."""

import streamlit as st

from packviz.compute.row_record import RowsTrace
from packviz.inputs.borders import BORDER_RULES, find_documents
from packviz.inputs.limits import LIMITS
from packviz.text import listed
from ui.parts.part import sheet
from ui.parts.trying import as_text, typed_tokens
from ui.state.runs import Shown

_ONES = "1 2 3\n4\n5\n6 7"  # documents of one token, beside others
_CASES = {
    "three documents": [0, 1, 2, 0, 1, 0],
    "four documents, two of one token": [0, 1, 2, 0, 0, 0, 1],
    "two documents, and three pads": [0, 1, 2, 0, 1, 0, 0, 0],
    "two pads on the left, and one document": [1, 1, 0, 1, 2],
    "two documents, counted from 2": [2, 3, 4, 2, 3],
}
_READERS = [
    ("position_ids", "(1, N) int64", "position embeddings and RoPE; transformers infers the documents from them"),
    ("seq_idx", "(1, N) int32", "Mamba and short convolutions; document ids for FlexAttention"),
    ("cu_seqlens", "(D + 1,) int32", "varlen_attn and FlashAttention, with max_seqlen; jagged tensors, as offsets"),
    ("mask", "(1, 1, N, N) bool", "scaled_dot_product_attention; it computes every pair"),
]


def to_try(shown: Shown) -> dict[str, dict[str, object]]:
    """Return settings with which a rule fails: pads, documents of one token, positions that run on."""
    return {
        "pads at the end (max_length)": {"max_length": min(int(shown.batch.lengths.sum()) + 3, LIMITS.max_length)},
        "documents of one token": {"sequences": _with_single_tokens(shown)},
        "positions run on (reset_positions off)": {"reset_positions": False},
    }


def _with_single_tokens(shown: Shown) -> str:
    """Return this batch with all but its longest sequence cut to one token, if it has three sequences or more."""
    own = typed_tokens(shown)
    longest = max(own, key=len, default=[])
    return as_text(tokens if tokens is longest else tokens[:1] for tokens in own) if len(own) > 2 else _ONES


def rules(shown: Shown) -> None:
    """Show what three public rules find in the position_ids of this batch, and in five others."""
    st.markdown(
        "The table shows the lengths that a library finds if it begins a document where the position does not rise by "
        "1, where it falls, or where it is 0. The last column shows what packviz's `find_documents` finds."
    )
    columns = ["row", "position_ids", "does not rise by 1", "falls", "is 0", "find_documents"]
    sheet(shown.fact(_found), columns, "What each rule finds in position_ids")
    st.markdown(
        "No rule can tell a document of one token from a pad at the end: give such a row `seq_idx` or `cu_seqlens`."
    )


def _found(run: RowsTrace) -> list[tuple[str, ...]]:
    own = {f"row {row} of this batch": ids for row, ids in enumerate(run.position_ids[:4].tolist())}
    return [_line(name, ids) for name, ids in (own | _CASES).items()]


def _line(name: str, ids: list[int]) -> tuple[str, ...]:
    found = (find_documents(position_ids=ids, rule=rule) for rule in (*BORDER_RULES, None))
    return name, listed(ids, 16), *(listed(lengths, 12) or "none" for lengths in found)


def readers(_shown: Shown) -> None:
    """Show which layers take which of the four."""
    st.markdown("Each of the four can be computed from the others, as long as no document is empty.")
    sheet(_READERS, ["tensor", "shape and dtype", "who reads it"], "Who reads which tensor")
