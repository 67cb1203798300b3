"""The parts of the lesson on packing, below its movie."""

from collections.abc import Callable

import streamlit as st

from packviz import charts
from packviz.errors import PackvizError
from packviz.facts import Address, behaviours, fields, memory, row_of, token_of
from packviz.inputs.examples import example
from packviz.teach.exercise import MAX_SEQUENCES, MAX_TOKENS, exercise
from packviz.text import sequence_label
from ui.parts.part import figure, sheet, verdicts
from ui.parts.player import pack_yourself, show
from ui.parts.trying import as_text, equally_long, typed_tokens
from ui.state.runs import Shown
from ui.state.widgets import put

_SHORT = 20  # tokens of a sequence that is written out twice


def to_try(shown: Shown) -> dict[str, dict[str, object]]:
    """Return one long sequence and equal lengths: this batch with its longest sequence repeated, and cut."""
    own, long = typed_tokens(shown), "1 2\n3\n4 5 6 7 8 9 10 11\n12 13"
    longest = max(own, key=len, default=[])
    if own and len(longest) <= _SHORT:
        long = as_text(2 * tokens if tokens is longest else tokens for tokens in own)
    return {"one long sequence": {"sequences": long}, "equal lengths": {"sequences": equally_long(shown)}}


def by_hand(shown: Shown) -> None:
    """Let a visitor pack the batch, or a smaller one if it is too large."""
    st.markdown("Tap the cells in the order in which torch packs them, or drag them to `data`.")
    asked = shown.fact(exercise)
    if asked is not None:
        pack_yourself(asked)
        return
    st.markdown(f"This works with at most {MAX_TOKENS} tokens in at most {MAX_SEQUENCES} sequences.")
    small = example("unsorted")
    if st.button(f"Pack {small.title}", on_click=put, args=({"sequences": small.text},)):
        st.rerun()  # the movie, too


def addresses(shown: Shown) -> None:
    """Translate a sequence and a time step into a packed row, and back; the player highlights the token."""
    st.markdown(
        "A token is at `data[offset[t] + position]`. `offset[t]` is the number of rows of all earlier time steps, and "
        "`position` is the number of rows before it in its own step."
    )
    letters = shown.letters
    there, back = st.columns(2, gap="medium")
    with there:
        left, right = st.columns(2)
        letter = left.selectbox("sequence", letters, key="address_sequence")
        t = right.number_input("time step t", 0, None, 0, 1, key="address_t")
        _tell(shown, lambda: row_of(shown.trace, letters.index(letter), t), "address_there")
    with back:
        n = st.number_input("packed row n", 0, None, 0, 1, key="address_n")
        _tell(shown, lambda: token_of(shown.trace, n), "address_back")


def _tell(shown: Shown, find: Callable[[], Address], key: str) -> None:
    """Show where the token is, or why there is none."""
    try:
        found = find()
    except PackvizError as problem:
        st.text(f"⚠ {problem.sentence}")
        return
    pad = ", where a pad was packed as if it were data" if bool(shown.trace.packed_is_pad[found.n]) else ""
    st.markdown(f"`{found.sentence}`: sequence **{sequence_label(found.b)}** at time step **{found.t}**{pad}.")
    tokens = shown.movie.tokens
    place = (found.b, found.t)
    if place in tokens and st.button("Show it in the movie", key=key):
        show(token=tokens.index(place), look=True)
        st.rerun()


def margins(shown: Shown) -> None:
    """Show lengths and batch_sizes as the two margins of the sorted grid."""
    st.markdown(
        "Count the tokens of each row, and you get `lengths`. Count those of each column, and you get `batch_sizes`."
    )
    figure(shown, charts.margins, shown.trace, key="margins")


def inside(shown: Shown) -> None:
    """Show the fields of the PackedSequence, how else its tokens can be stored, and how it behaves in torch."""
    st.markdown("A PackedSequence is a tuple of four fields, not a tensor. Each line was run on this batch.")
    columns = ["field", "type", "dtype", "shape", "device"]
    sheet(shown.fact(fields), columns, "The four fields of the PackedSequence")
    verdicts(shown.fact(behaviours))
    kept, steps, sequences = shown.fact(memory), "time step by time step", "sequence by sequence"
    st.markdown(
        "The same tokens can also be stored in a padded or in a jagged tensor, which is another layout of PyTorch."
    )
    grid = sequences if shown.trace.padded.batch_first else steps
    layouts = ("padded", grid, kept.padded), ("packed", steps, kept.packed), ("jagged", sequences, kept.jagged)
    rows = [(name, order, of.rows, of.pads, of.bytes, of.index_bytes) for name, order, of in layouts]
    columns = ["layout", "order in memory", "rows", "pads", "bytes", "bytes of indices"]
    sheet(rows, columns, "How many bytes the batch needs in three layouts")
