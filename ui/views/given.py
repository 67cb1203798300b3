"""The doctor's input: typed, pasted or uploaded, and parsed here."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import zip_longest
from typing import Any, TypeVar, get_args

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence

from packviz import doctor
from packviz.errors import PackvizError
from packviz.inputs.config import Nonlinearity
from packviz.inputs.limits import LIMITS
from packviz.text import joined
from ui.parts.look_up import look_up
from ui.state import address
from ui.state.names import default
from ui.state.replaced import give, give_again, overtaken
from ui.state.visit import visit
from ui.state.widgets import bound, of_every_page, switch

Lengths = Tensor | Sequence[int] | Sequence[float] | None
X = Tensor | PackedSequence | None
T = TypeVar("T")

MAX_FILES, MAX_MEGABYTES = 4, 32  # the server also refuses larger ones: maxUploadSize in .streamlit/config.toml
_MAX_LENGTHS = 20_000  # characters of typed lengths; larger input needs a file
_FILES = ["npy", "npz", "pt", "pth", "safetensors", "json"]

# Examples to try: the text of x and of its lengths, batch_first, and enforce_sorted.
EXAMPLES: Mapping[str, tuple[str, str, bool, bool]] = {
    "lengths too long": (default("x"), default("lengths"), True, True),
    "pads on the left": ("[[4, 5, 6], [0, 2, 3], [0, 0, 1]]", "3, 2, 1", True, True),
    "0 is a token": ("[[7, 0, 9, 4], [3, 2, 1, 0], [5, 6, 0, 0]]", "3, 3, 2", True, False),
    "batch_first forgotten": ("[[1, 2, 3], [4, 5, 6], [7, 0, 0]]", "3, 3, 1", False, True),
    "a printed PackedSequence": (
        "PackedSequence(data=tensor([1., 4., 6., 2., 5.]), batch_sizes=tensor([3, 2, 1]), "
        "sorted_indices=None, unsorted_indices=None)",
        "",
        True,
        True,
    ),
    "no mistake": ("[[1, 2, 3, 4], [5, 6, 7, 0], [8, 9, 0, 0]]", "4, 3, 2", True, True),
}
# The text of a row's parts.
ROW_EXAMPLES: Mapping[str, tuple[str]] = {
    "pads at 0": (default("rows"),),
    "a mask of ones": ("input_ids: 5 6 7 8 9 10\nposition_ids: 0 1 2 0 1 0\nattention_mask: 1 1 1 1 1 1",),
    "one-token documents": ("position_ids: 0 1 2 0 0 0 1",),
    "no leading 0": ("input_ids: 5 6 7 8 9 10\ncu_seqlens: 3 5 6\nmax_seqlen: 3",),
    "end tokens": ("input_ids: 5 6 2 7 2 8 9 2 2 2\neos: 2",),
    "labels over a border": (
        "{'input_ids': tensor([[5, 6, 7, 8, 9, 10]]), 'position_ids': tensor([[0, 1, 2, 0, 1, 0]]), "
        "'labels': tensor([[5, 6, 7, 8, 9, 10]])}",
    ),
    "no mistake": ("input_ids: 5 6 7 8 9 10\nposition_ids: 0 1 2 0 1 2\nlabels: -100 6 7 -100 9 10",),
}
_OWN = "my own"  # in place of an example's name: the visitor's own input


@dataclass(frozen=True, eq=False)
class Given:
    """A visitor's input."""

    x: X = None
    lengths: Lengths = None
    module: nn.RNNBase | None = None
    batch_first: bool = True
    enforce_sorted: bool = False
    padding_value: float | None = None  # None if it is not given, but assumed
    lengths_device: str = "cpu"  # their device when they were printed
    unread: bool = False  # whether some of it could not be read, as a message beside it says
    rows: Mapping[str, Any] | None = None  # what a collator returned, by the arguments of examine_rows()


@dataclass(frozen=True)
class Form:
    """Fields by their keys, examples of their values, the last of which may be missing, and the key of the choice."""

    key: str
    fields: tuple[str, ...]
    examples: Mapping[str, tuple[Any, ...]]


BATCH_FORM = Form("doctor example", ("x", "lengths", "x_batch_first", "x_enforce_sorted", "x_padding_value"), EXAMPLES)
ROWS_FORM = Form("row example", ("rows",), ROW_EXAMPLES)


@dataclass
class DoctorInput:
    """What a visitor had typed into the fields of a form before an example replaced it, by the key of its choice."""

    own: dict[str, tuple[Any, ...]] = field(default_factory=dict)


def examples(form: Form) -> None:
    """Offer examples to try, and the visitor's own input if an example has replaced it."""
    give_again(form.key)
    own = [_OWN] if form.key in visit(DoctorInput).own else []
    if form.key not in st.session_state:  # after a reload, and if a link asks for one
        asked = [st.query_params.get(name, str(default(name))).lower() for name in form.fields]
        written = {name: [str(each).lower() for each in fields] for name, fields in form.examples.items()}
        st.session_state[form.key] = next((name for name, each in written.items() if each == asked[: len(each)]), None)
    change = partial(_fill_in, form)
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", width="content"):
        st.text("Examples:", width="content")
        st.pills("Examples", [*form.examples, *own], key=form.key, on_change=change, label_visibility="collapsed")


def _fill_in(form: Form) -> None:
    """Put the picked example into the fields; the visitor's own input can be restored."""
    if overtaken(form.key):
        return
    picked, there = st.session_state[form.key], tuple(st.session_state.get(name) for name in form.fields)
    if all(there[: len(each)] != each for each in form.examples.values()):
        visit(DoctorInput).own[form.key] = there
    if picked is not None:
        wanted = visit(DoctorInput).own.get(form.key, ()) if picked == _OWN else form.examples[picked]
        for name, value in zip_longest(form.fields, wanted):
            give(name, value)


def type_over(form: Form) -> None:
    """Leave the examples, since the visitor types into the first field; lengths of an example are not those of x."""
    if overtaken(form.fields[0]):
        return
    left = str(st.session_state.get(form.key))
    if form is BATCH_FORM and left in EXAMPLES and st.session_state.get("lengths") == EXAMPLES[left][1]:
        give("lengths", "")
    give(form.key, None)


@of_every_page()
def typed() -> Given:
    """Draw the input fields, and report next to each what cannot be read."""
    left, right = st.columns([3, 2])
    with left:
        label, first = "x: a list, or a tensor or PackedSequence as torch prints it", default("x")
        give_again("x")
        text = st.text_area(
            label, first, 118, LIMITS.characters, key="x", on_change=partial(type_over, BATCH_FORM), bind="query-params"
        )
        x, bad_x = _read_x(text)
        if warning := address.warning(text):
            st.text(warning)
    with right:
        written = st.text_input("lengths", default("lengths"), _MAX_LENGTHS, placeholder="optional", **bound("lengths"))
        if told := address.cut("lengths", written, _MAX_LENGTHS):
            st.text(told)
        lengths, bad_lengths = _read_lengths(written)
        given = Given(x, lengths, lengths_device=doctor.printed_device(written), unread=bad_x or bad_lengths)
        return _settings(given, "x")


def uploaded() -> Given:
    """Let the visitor choose files, and which of their contents are x, the lengths and the weights."""
    limits = (
        f"You can give at most {MAX_FILES} files of {MAX_MEGABYTES} MB each. A larger file turns red and is not read."
    )
    label = "A batch, a PackedSequence, what a collator returned, or the weights of an nn.RNN, nn.GRU or nn.LSTM"
    files = st.file_uploader(label, _FILES, accept_multiple_files=True, key="files")
    st.text(f"{limits} They are opened as data, and nothing in them is run.")
    if len(files) > MAX_FILES:
        st.text(f"⚠ Expected at most {MAX_FILES} files, but got {len(files)}. Remove {len(files) - MAX_FILES} of them.")
        return Given(unread=True)
    tried = [_tried(partial(_read, file), file) for file in files]
    loaded = [one for one, _ in tried if one is not None]
    key = " ".join(file.file_id for file in files)  # other files, other choices
    for each in loaded:
        if found := doctor.rows_in(each):
            if found[1]:
                st.text(found[1])
            _say_unexamined(loaded, [each])
            return Given(rows=found[0])
    weights, data = [each for each in loaded if each.prefixes], [each for each in loaded if not each.prefixes]
    module = _module(weights[0], key) if weights else None
    x, lengths, bad, used = _data(data, key)
    _say_unexamined(loaded, [*weights[:1], *used])
    given = Given(x, lengths, module, unread=bad or any(bad_file for _, bad_file in tried))
    return given if x is None else _settings(given, "file")


def _say_unexamined(loaded: Sequence[doctor.Loaded], used: Sequence[doctor.Loaded]) -> None:
    if others := [each.name for each in loaded if each not in used]:
        st.text(f"Not examined: {joined(others)}. Give each alone to examine it.")


@of_every_page()
def _settings(given: Given, prefix: str) -> Given:
    """Draw the settings of x, and add them to the input."""
    look: dict[str, Any] = {"format": "%g", "placeholder": "assumed", "width": 150}
    with st.container(horizontal=True, vertical_alignment="bottom", key=f"{prefix}-settings"):
        bindings = bound(f"{prefix}_padding_value")
        padding_value = st.number_input("padding_value", value=None, step=1.0, **look, **bindings)
        first = switch(f"{prefix}_batch_first", label="batch_first")
        promised = switch(f"{prefix}_enforce_sorted", label="enforce_sorted")
    return replace(given, batch_first=first, enforce_sorted=promised, padding_value=padding_value)


def _read_x(text: str) -> tuple[X, bool]:
    """Return the value of a text, and whether it could not be read; rows need no brackets."""
    lines = text.strip().splitlines()
    if len(lines) > 1 and "[" not in text and "(" not in text and not doctor.are_words(text):
        rows = (", ".join(line.replace(",", " ").split()) for line in lines)
        text = f"[{', '.join(f'[{row}]' for row in rows)}]"
    is_packed = text.lstrip().startswith("PackedSequence")
    x, bad = _tried(lambda: doctor.read_packed(text) if is_packed else doctor.read_tensor(text), lines)
    if bad:
        look_up(text)
    if bad and (code := doctor.padding_code(text)):
        st.code(code, language="python", wrap_lines=True)
    return x, bad


def _read_lengths(text: str) -> tuple[Lengths, bool]:
    """Return the typed lengths, and whether they could not be read."""
    lengths, bad = _tried(lambda: doctor.read_lengths(text), text.strip())
    if bad:
        look_up(text)
    return lengths, bad


def _tried(read: Callable[[], T], given: object) -> tuple[T | None, bool]:
    """Return the parsed value, and whether parsing failed; empty input does not count as a failure."""
    if not given:
        return None, False
    try:
        return read(), False
    except PackvizError as problem:
        st.text(f"⚠ {problem.sentence}")
        return None, True


def _read(file: UploadedFile) -> doctor.Loaded:
    """Return the contents of a file; raises PackvizError if it cannot be read."""
    found = _once(file.file_id, file.name, file)
    if isinstance(found, PackvizError):
        raise found
    return found


@st.cache_resource(scope="session", max_entries=2 * MAX_FILES, show_spinner=False)
def _once(file_id: str, name: str, _file: UploadedFile) -> doctor.Loaded | PackvizError:  # noqa: ARG001
    """Read a file in a separate process, once for each visitor who has uploaded it."""
    try:
        return doctor.read_isolated(name, _file.getvalue())
    except PackvizError as problem:
        return problem


def _data(loaded: Sequence[doctor.Loaded], key: str) -> tuple[X, Lengths, bool, Sequence[doctor.Loaded]]:
    """Let the visitor choose x and its lengths; return both, whether typed ones are bad, and the files of both."""
    if len(loaded) == 1 and loaded[0].is_ragged:
        padded, ends, said = loaded[0].padded()
        st.text(f"{said}, with the sequences first.")
        return padded, ends, False, loaded
    tensors = {name: tensor for each in loaded for name, tensor in each.tensors.items()}
    inputs: dict[str, Tensor | PackedSequence] = {name: x for each in loaded for name, x in each.packed.items()}
    inputs |= tensors
    if not inputs:
        return None, None, False, ()
    names = sorted(inputs, key=lambda name: (name not in ("x", "input", "inputs", "data"), _flat(inputs[name])))
    left, middle, right = st.columns(3, vertical_alignment="bottom")
    name = left.selectbox("x", names, key=f"x of {key}")
    flat = [each for each in tensors if _flat(tensors[each]) and each != name]
    rows = sorted(flat, key=lambda each: "len" not in each)
    first = 0 if rows and "len" in rows[0] else None
    which = middle.selectbox("lengths", rows, first, key=f"lengths of {key}", placeholder="typed, or none")
    with right:
        text = st.text_input("or typed", "", _MAX_LENGTHS, key=f"typed lengths of {key}", disabled=which is not None)
        lengths, bad = _read_lengths(text)
    used = [each for each in loaded if {name, which} & {*each.packed, *each.tensors}]
    for part in (name, which):
        if len(several := [each.name for each in used if part in {*each.packed, *each.tensors}]) > 1:
            st.text(f"⚠ Expected {part} in one file, but got it in {joined(several)}. Remove one of these files.")
            return None, None, True, used
    return inputs[name], lengths if which is None else tensors[which], bad and which is None, used


def _flat(x: Tensor | PackedSequence) -> bool:
    return isinstance(x, Tensor) and x.dim() < 2


def _module(loaded: doctor.Loaded, key: str) -> nn.RNNBase | None:
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
    return _tried(lambda: doctor.module_from(loaded.tensors, prefix, **details), loaded)[0]
