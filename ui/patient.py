"""What is given to the doctor: typed, pasted or uploaded, and read in place."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import get_args

import streamlit as st
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence

from packviz.config import Nonlinearity
from packviz.doctor import Loaded, module_from, read_file, read_lengths, read_packed, read_tensor
from packviz.errors import PackvizError

__all__ = ["MOST_MEGABYTES", "PATIENTS", "Given", "Lengths", "given"]

Lengths = Tensor | Sequence[int] | Sequence[float] | None

MOST_MEGABYTES = 32  # of an upload
_FILES = ["npy", "npz", "pt", "pth", "safetensors"]

# What can be tried: the text of x, of its lengths, batch_first, and enforce_sorted.
PATIENTS: Mapping[str, tuple[str, str, bool, bool]] = {
    "lengths too long": ("[[1, 2, 3, 4], [5, 6, 7, 0], [8, 9, 0, 0]]", "5, 3, 2", True, True),
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
_FIRST = next(iter(PATIENTS.values()))


@dataclass(frozen=True, eq=False)
class Given:
    """Hold what a visitor has given, as far as it could be read."""

    x: Tensor | PackedSequence | None
    lengths: Lengths
    module: nn.RNNBase | None
    batch_first: bool
    enforce_sorted: bool
    padding_value: float | None


def given() -> Given:
    """Draw the fields, and say in place what cannot be read."""
    st.pills("Try", list(PATIENTS), key="patient", on_change=_fill_in)
    left, right = st.columns([3, 2])
    with left:
        text = st.text_area(
            "x: a list, or a tensor or PackedSequence as torch prints it", _FIRST[0], 118, key="x", bind="query-params"
        )
        below_x = st.container()
    with right:
        typed = st.text_input("lengths", _FIRST[1], key="lengths", bind="query-params")
        below_lengths = st.container()
        with st.container(horizontal=True):
            batch_first = st.toggle("batch_first", _FIRST[2], key="x_batch_first", bind="query-params")
            enforce_sorted = st.toggle("enforce_sorted", _FIRST[3], key="x_enforce_sorted", bind="query-params")
    with st.expander("A file of your own: a tensor, a PackedSequence, or the weights of an nn.RNN, nn.GRU or nn.LSTM"):
        loaded = _loaded()
        x, rows, module = _chosen(loaded) if loaded is not None else (None, None, None)
    with below_x:
        x = _read(text) if x is None else x
    with below_lengths:
        lengths = _read_lengths(typed) if rows is None else rows
    return Given(x, lengths, module, batch_first, enforce_sorted, padding_value=0.0)


def _fill_in() -> None:
    patient = st.session_state["patient"]
    if patient is not None:
        names = ("x", "lengths", "x_batch_first", "x_enforce_sorted")
        for name, value in zip(names, PATIENTS[patient], strict=True):
            st.session_state[name] = value


def _read(text: str) -> Tensor | PackedSequence | None:
    if not text.strip():
        return None
    try:
        return read_packed(text) if text.strip().startswith("PackedSequence") else read_tensor(text)
    except PackvizError as problem:
        st.text(f"⚠ {problem.sentence}")
        return None


def _read_lengths(typed: str) -> Lengths:
    if not typed.strip():
        return None
    try:
        return read_lengths(typed)
    except PackvizError as problem:
        st.text(f"⚠ {problem.sentence}")
        return None


def _loaded() -> Loaded | None:
    told = f"At most {MOST_MEGABYTES} MB. Opened as data: nothing in it is run."
    file = st.file_uploader("File", _FILES, key="file", help=told, max_upload_size=MOST_MEGABYTES)
    st.text(told)
    if file is None:
        return None
    try:
        return read_file(file.name, file.getvalue())
    except PackvizError as problem:
        st.text(f"⚠ {problem}")
        return None


def _chosen(loaded: Loaded) -> tuple[Tensor | PackedSequence | None, Tensor | None, nn.RNNBase | None]:
    """Let a visitor say which of a file's tensors is what; weights become a module."""
    if loaded.prefixes:
        return None, None, _module(loaded)
    inputs: dict[str, Tensor | PackedSequence] = {**loaded.packed, **loaded.tensors}
    if not inputs:
        st.text("⚠ There is no tensor in this file.")
        return None, None, None
    left, right = st.columns(2)
    name = left.selectbox("x", list(inputs), key="file_x")
    rows = [each for each, tensor in loaded.tensors.items() if tensor.dim() == 1 and each != name]
    first = 0 if "lengths" in rows else None
    rows.sort(key=lambda each: each != "lengths")
    which = right.selectbox("lengths", rows, first, key="file_lengths", placeholder="as typed above")
    st.text("This x is examined now, and not what is typed above.")
    return inputs[name], None if which is None else loaded.tensors[which], None


def _module(loaded: Loaded) -> nn.RNNBase | None:
    left, middle, right = st.columns(3, vertical_alignment="bottom")
    prefix = left.selectbox(
        "layer", loaded.prefixes, key="file_layer", format_func=lambda name: name or "the file itself"
    )
    batch_first = middle.toggle("batch_first", True, key="file_batch_first")
    kinds: tuple[Nonlinearity, ...] = get_args(Nonlinearity)
    nonlinearity = right.segmented_control(
        "nonlinearity, of an RNN", kinds, default=kinds[0], required=True, key="file_nonlinearity"
    )
    try:
        return module_from(loaded.tensors, prefix, batch_first=batch_first, nonlinearity=nonlinearity)
    except PackvizError as problem:
        st.text(f"⚠ {problem}")
        return None
