"""What is given to the doctor: typed, pasted or uploaded, and read in place."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import streamlit as st
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence

from packviz.doctor import filler_of, read_lengths, read_packed, read_tensor
from packviz.errors import PackvizError
from ui import address
from ui.address import default, of_every_page, switch
from ui.visit import visit

__all__ = ["PATIENTS", "Given", "Lengths", "X", "filled", "lengths_of", "patients", "settings", "tried", "typed"]

Lengths = Tensor | Sequence[int] | Sequence[float] | None
X = Tensor | PackedSequence | None
T = TypeVar("T")

_MOST_CHARACTERS = 100_000  # of what is typed: more is a file

# What can be tried: the text of x, of its lengths, batch_first, and enforce_sorted.
PATIENTS: Mapping[str, tuple[str, str, bool, bool]] = {
    "lengths too long": (default("x"), default("lengths"), True, True),
    "pads on the left": ("[[4, 5, 6], [0, 2, 3], [0, 0, 1]]", "3, 2, 1", True, True),
    "a real 0": ("[[7, 0, 9, 4], [3, 2, 1, 0], [5, 6, 0, 0]]", "3, 3, 2", True, False),
    "batch_first forgotten": ("[[1, 2, 3], [4, 5, 6], [7, 0, 0]]", "3, 3, 1", False, True),
    "printed": (
        "PackedSequence(data=tensor([1., 4., 6., 2., 5.]), batch_sizes=tensor([3, 2, 1]), "
        "sorted_indices=None, unsorted_indices=None)",
        "",
        True,
        True,
    ),
    "healthy": ("[[1, 2, 3, 4], [5, 6, 7, 0], [8, 9, 0, 0]]", "4, 3, 2", True, True),
}
_TYPED = ("x", "lengths", "x_batch_first", "x_enforce_sorted", "x_padding_value")  # the fields, by their keys
_OWN = "my own"  # in the place of a patient's name: what the visitor has typed


@dataclass(frozen=True, eq=False)
class Given:
    """Hold what a visitor has given.

    unread: whether something was given that cannot be read, so that nothing can be said. filler: what stands in the
    pads; told: whether the visitor has said so.
    """

    x: X
    lengths: Lengths
    module: nn.RNNBase | None
    batch_first: bool
    enforce_sorted: bool
    unread: bool
    filler: float = 0.0
    told: bool = False


def patients() -> None:
    """Offer batches to try; with one's own among them, once that has had to give way."""
    own = [_OWN] if visit().doctor_input is not None else []
    st.pills("Try", [*PATIENTS, *own], key="patient", on_change=_fill_in, label_visibility="collapsed")


@of_every_page()
def typed() -> Given:
    """Draw the fields to type in, and say in place what cannot be read."""
    left, right = st.columns([3, 2])
    with left:
        text = st.text_area(
            "x: a list, or a tensor or PackedSequence as torch prints it",
            default("x"),
            118,
            _MOST_CHARACTERS,
            key="x",
            on_change=_leave_the_patient,
            bind="query-params",
        )
        x, bad_x = _read(text)
        if warning := address.warning(text):
            st.text(warning)
    with right:
        ends = st.text_input("lengths", default("lengths"), key="lengths", bind="query-params")
        lengths, bad_lengths = lengths_of(ends)
        batch_first, enforce_sorted, padding_value = settings("x")
    return filled(x, lengths, None, batch_first, enforce_sorted, padding_value, unread=bad_x or bad_lengths)


@of_every_page()
def settings(prefix: str) -> tuple[bool, bool, float | None]:
    """Draw the settings of x; return batch_first, enforce_sorted and padding_value, None where it is assumed."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        padding_value = st.number_input(
            "padding_value",
            value=None,
            step=1.0,
            format="%g",
            placeholder="assumed",
            key=f"{prefix}_padding_value",
            bind="query-params",
            width=150,
        )
        first = switch(f"{prefix}_batch_first", label="batch_first")
        promised = switch(f"{prefix}_enforce_sorted", label="enforce_sorted")
    return first, promised, padding_value


def filled(
    x: X,
    lengths: Lengths,
    module: nn.RNNBase | None,
    batch_first: bool,
    enforce_sorted: bool,
    padding_value: float | None,
    *,
    unread: bool,
) -> Given:
    """Return all of it, with what stands in the pads where nobody has said so."""
    told = padding_value is not None
    filler = padding_value or 0.0
    if not told and isinstance(x, Tensor):
        filler = filler_of(x, lengths, batch_first=batch_first)
    return Given(x, lengths, module, batch_first, enforce_sorted, unread, filler, told)


def _fill_in() -> None:
    """Put what was picked into the fields; what somebody has typed there can be had back as one's own."""
    picked, typed = st.session_state["patient"], tuple(st.session_state.get(name) for name in _TYPED)
    if typed[:-1] not in PATIENTS.values():
        visit().doctor_input = typed
    if picked is not None:
        wanted = (visit().doctor_input or ()) if picked == _OWN else (*PATIENTS[picked], None)
        for name, value in zip(_TYPED, wanted, strict=True):
            st.session_state[name] = value


def _leave_the_patient() -> None:
    st.session_state["patient"] = None


def _read(text: str) -> tuple[X, bool]:
    """Return what a text writes, and whether it could not be read; rows without brackets are rows, too."""
    lines = text.strip().splitlines()
    if len(lines) > 1 and "[" not in text and "(" not in text:
        rows = (", ".join(line.replace(",", " ").split()) for line in lines)
        text = f"[{', '.join(f'[{row}]' for row in rows)}]"
    return tried(lambda: read_packed(text) if lines[0].startswith("PackedSequence") else read_tensor(text), lines)


def lengths_of(typed: str) -> tuple[Lengths, bool]:
    """Return the lengths that are typed, and whether they could not be read."""
    return tried(lambda: read_lengths(typed), typed.strip())


def tried(read: Callable[[], T], given: object) -> tuple[T | None, bool]:
    """Return what can be read, and whether it could not be; nothing given is nothing read."""
    if not given:
        return None, False
    try:
        return read(), False
    except PackvizError as problem:
        st.text(f"⚠ {problem.sentence}")
        return None, True
