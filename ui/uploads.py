"""Files given to the doctor: tensors and weights, read as data."""

from collections.abc import Sequence
from functools import partial
from typing import Any, get_args

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence

from packviz.doctor import Loaded, module_from, read_isolated
from packviz.errors import PackvizError
from packviz.inputs.config import Nonlinearity
from ui.patient import Given, Lengths, X, filled, lengths_of, settings, tried

__all__ = ["uploaded"]

MAX_FILES, MAX_MEGABYTES = 4, 32  # the server refuses larger ones, too: maxUploadSize in .streamlit/config.toml
_FILES = ["npy", "npz", "pt", "pth", "safetensors"]


def uploaded() -> Given:
    """Let files be chosen, and in them what is x, what the lengths, and whose weights there are."""
    limits = f"At most {MAX_FILES} files of {MAX_MEGABYTES} MB each: a larger one turns red and is not read."
    label = "A tensor, a PackedSequence, or the weights of an nn.RNN, nn.GRU or nn.LSTM: one file, or weights and data"
    files = st.file_uploader(label, _FILES, accept_multiple_files=True, key="files")
    st.text(f"{limits} Opened as data: nothing in them is run.")
    if len(files) > MAX_FILES:
        st.text(
            f"⚠ Expected at most {MAX_FILES} files, got {len(files)}. Fix: remove {len(files) - MAX_FILES} of them."
        )
        return filled(None, None, None, True, False, None, unread=True)
    loaded, unread = [], False
    for file in files:
        one, bad = tried(partial(_read, file.file_id, file.name, file), file)
        loaded += [one] if one is not None else []
        unread |= bad
    key = " ".join(file.file_id for file in files)  # other files, other choices
    weights = [each for each in loaded if each.prefixes]
    module = _module(weights[0], key) if weights else None
    x, lengths, bad = _data([each for each in loaded if not each.prefixes], key)
    chosen = settings("file") if x is not None else (True, False, None)
    return filled(x, lengths, module, *chosen, unread=unread or bad)


def _read(file_id: str, name: str, file: UploadedFile) -> Loaded:
    """Return what a file holds; raises PackvizError where it cannot be read."""
    found = _once(file_id, name, file)
    if isinstance(found, PackvizError):
        raise found
    return found


@st.cache_resource(scope="session", max_entries=2 * MAX_FILES, show_spinner=False)
def _once(file_id: str, name: str, _file: UploadedFile) -> Loaded | PackvizError:  # noqa: ARG001
    """Read a file, in a process of its own, once for each visitor who has given it."""
    try:
        return read_isolated(_file.getvalue(), name)
    except PackvizError as problem:
        return problem


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
        lengths, bad = lengths_of(typed)
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
    details: dict[str, Any] = {"batch_first": batch_first, "nonlinearity": nonlinearity}
    return tried(lambda: module_from(loaded.tensors, prefix, **details), loaded)[0]
