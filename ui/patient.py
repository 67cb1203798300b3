"""What is given to the doctor: typed, pasted or uploaded, and read in place."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar, get_args

import streamlit as st
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence

from packviz.config import Nonlinearity
from packviz.doctor import Loaded, filler_of, module_from, read_file, read_lengths, read_packed, read_tensor
from packviz.errors import PackvizError
from ui import links

__all__ = ["MOST_MEGABYTES", "PATIENTS", "Given", "Lengths", "given"]

Lengths = Tensor | Sequence[int] | Sequence[float] | None
X = Tensor | PackedSequence | None
T = TypeVar("T")

MOST_MEGABYTES = 32  # of an upload
_MOST_CHARACTERS = 100_000  # of what is typed: more is a file
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
_WAYS = ("typed or pasted", "a file")


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


def given() -> Given:
    """Draw the fields, and say in place what cannot be read."""
    with st.container(horizontal=True, vertical_alignment="center"):
        way = st.segmented_control(
            "What is given", _WAYS, default=_WAYS[0], required=True, key="given", label_visibility="collapsed"
        )
        if way == _WAYS[0]:
            st.pills("Try", list(PATIENTS), key="patient", on_change=_fill_in, label_visibility="collapsed")
    return _typed() if way == _WAYS[0] else _uploaded()


def _typed() -> Given:
    left, right = st.columns([3, 2])
    with left:
        text = st.text_area(
            "x: a list, or a tensor or PackedSequence as torch prints it",
            _FIRST[0],
            118,
            _MOST_CHARACTERS,
            key="x",
            bind="query-params",
        )
        x, bad_x = _read(text)
        if warning := links.warning(text):
            st.text(warning)
    with right:
        typed = st.text_input("lengths", _FIRST[1], key="lengths", bind="query-params")
        lengths, bad_lengths = _read_lengths(typed)
        batch_first, enforce_sorted, padding_value = _settings("x", _FIRST[2], _FIRST[3])
    return _filled(x, lengths, None, batch_first, enforce_sorted, padding_value, unread=bad_x or bad_lengths)


def _settings(prefix: str, batch_first: bool, enforce_sorted: bool) -> tuple[bool, bool, float | None]:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        padding_value = st.number_input(
            "padding_value",
            value=None,
            step=1.0,
            format="%g",
            placeholder="found",
            key=f"{prefix}_padding_value",
            bind="query-params",
            width=150,
        )
        first = st.toggle("batch_first", batch_first, key=f"{prefix}_batch_first", bind="query-params")
        promised = st.toggle("enforce_sorted", enforce_sorted, key=f"{prefix}_enforce_sorted", bind="query-params")
    return first, promised, padding_value


def _filled(
    x: X,
    lengths: Lengths,
    module: nn.RNNBase | None,
    batch_first: bool,
    enforce_sorted: bool,
    padding_value: float | None,
    *,
    unread: bool,
) -> Given:
    told = padding_value is not None
    filler = padding_value or 0.0
    if not told and isinstance(x, Tensor):
        filler = filler_of(x, lengths, batch_first=batch_first)
    return Given(x, lengths, module, batch_first, enforce_sorted, unread, filler, told)


def _fill_in() -> None:
    patient = st.session_state["patient"]
    if patient is not None:
        names = ("x", "lengths", "x_batch_first", "x_enforce_sorted")
        for name, value in zip(names, PATIENTS[patient], strict=True):
            st.session_state[name] = value
        st.session_state["x_padding_value"] = None


def _read(text: str) -> tuple[X, bool]:
    """Return what a text writes, and whether it could not be read; rows without brackets are rows, too."""
    lines = text.strip().splitlines()
    if len(lines) > 1 and "[" not in text and "(" not in text:
        rows = (", ".join(line.replace(",", " ").split()) for line in lines)
        text = f"[{', '.join(f'[{row}]' for row in rows)}]"
    return _tried(lambda: read_packed(text) if lines[0].startswith("PackedSequence") else read_tensor(text), lines)


def _read_lengths(typed: str) -> tuple[Lengths, bool]:
    return _tried(lambda: read_lengths(typed), typed.strip())


def _tried(read: Callable[[], T], given: object) -> tuple[T | None, bool]:
    """Return what can be read, and whether it could not be; nothing given is nothing read."""
    if not given:
        return None, False
    try:
        return read(), False
    except PackvizError as problem:
        st.text(f"⚠ {problem.sentence}")
        return None, True


def _uploaded() -> Given:
    told = f"At most {MOST_MEGABYTES} MB each. Opened as data: nothing in them is run."
    label = "A tensor, a PackedSequence, or the weights of an nn.RNN, nn.GRU or nn.LSTM: one file, or weights and data"
    files = st.file_uploader(label, _FILES, accept_multiple_files=True, key="files", max_upload_size=MOST_MEGABYTES)
    st.text(told)
    loaded, unread = [], False
    for file in files:
        one, bad = _tried(partial(read_file, file.name, file.getvalue()), file)
        loaded += [one] if one is not None else []
        unread |= bad
    key = " ".join(file.file_id for file in files)  # other files, other choices
    weights = [each for each in loaded if each.prefixes]
    module = _module(weights[0], key) if weights else None
    x, lengths, bad = _data([each for each in loaded if not each.prefixes], key)
    settings = _settings("file", True, False) if x is not None else (True, False, None)
    return _filled(x, lengths, module, *settings, unread=unread or bad)


def _data(loaded: Sequence[Loaded], key: str) -> tuple[X, Lengths, bool]:
    """Let a visitor say which of the tensors is x and which the lengths."""
    tensors = {name: tensor for each in loaded for name, tensor in each.tensors.items()}
    packed = {name: each for one in loaded for name, each in one.packed.items()}
    inputs: dict[str, Tensor | PackedSequence] = {**packed, **tensors}
    if not inputs:
        return None, None, False
    names = sorted(inputs, key=lambda name: (name not in ("x", "input", "inputs", "data"), _flat(inputs[name])))
    left, middle, right = st.columns(3, vertical_alignment="bottom")
    name = left.selectbox("x", names, key=f"x of {key}")
    rows = sorted(
        (each for each in tensors if _flat(tensors[each]) and each != name), key=lambda each: "len" not in each
    )
    first = 0 if rows and "len" in rows[0] else None
    which = middle.selectbox("lengths", rows, first, key=f"lengths of {key}", placeholder="typed, or none")
    with right:
        typed = st.text_input("or typed", key=f"typed lengths of {key}", disabled=which is not None)
        lengths, bad = _read_lengths(typed)
    return inputs[name], lengths if which is None else tensors[which], bad and which is None


def _flat(x: Tensor | PackedSequence) -> bool:
    return isinstance(x, Tensor) and x.dim() < 2


def _module(loaded: Loaded, key: str) -> nn.RNNBase | None:
    left, middle, right = st.columns(3, vertical_alignment="bottom")
    prefix = left.selectbox(
        "layer", loaded.prefixes, key=f"layer of {key}", format_func=lambda name: name or "the file itself"
    )
    batch_first = middle.toggle("batch_first of the layer", True, key=f"layout of {key}")
    kinds: tuple[Nonlinearity, ...] = get_args(Nonlinearity)
    nonlinearity = right.segmented_control(
        "nonlinearity, of an RNN", kinds, default=kinds[0], required=True, key=f"nonlinearity of {key}"
    )
    settings: dict[str, Any] = {"batch_first": batch_first, "nonlinearity": nonlinearity}
    return _tried(lambda: module_from(loaded.tensors, prefix, **settings), loaded)[0]
