"""The doctor's second form: a row of documents, pasted; what each rule finds in it, what is wrong, the conversions."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import streamlit as st
import torch

from packviz import doctor
from packviz.charts import Panel, panels
from packviz.doctor import Finding, Reading, examine_rows
from packviz.errors import PackvizError
from packviz.inputs.borders import document_ids
from packviz.inputs.documents import NO_LABEL
from packviz.inputs.limits import LIMITS
from packviz.rules.rows import label_shift
from packviz.text import counted, listed
from ui.parts.look_up import look_up
from ui.parts.part import fresh
from ui.parts.status import announce
from ui.state import address
from ui.state.names import default
from ui.state.replaced import give_again
from ui.state.widgets import of_every_page
from ui.views.given import ROWS_FORM, type_over

_LABEL = "Paste any of position_ids, cu_seqlens, max_seqlen, seq_idx, attention_mask, input_ids and eos, labels"
_COLUMNS, _LINES = 10, 4  # of places that are drawn
_MAX_PLACES = 100_000  # that are examined
_PARTS = (*doctor.SPELLINGS, "input_ids", "labels")


@of_every_page()
def typed_rows() -> doctor.WrittenRows | None:
    """Draw the field, and return what it says; None if it is empty, or cannot be read, which is reported below it."""
    give_again("rows")
    change = partial(type_over, ROWS_FORM)
    help_ = "Write each part on its own line, such as position_ids: 0 1 2 0 1, or give the dict as Python prints it."
    text = st.text_area(
        _LABEL, default("rows"), 118, LIMITS.characters, key="rows", on_change=change, bind="query-params", help=help_
    )
    if warning := address.warning(text):
        st.text(warning)
    try:
        written = doctor.read_rows(text)
    except PackvizError as problem:
        st.text(f"⚠ {problem}")
        look_up(text)
        return None
    if written.others:
        st.text(f"Not examined: {listed(written.others, 4)}.")
    return written


def examined_rows(given: Mapping[str, Any], eos: Sequence[int], found: Any) -> None:
    """Show what is wrong with rows, and, of one of them, what each rule finds and the conversions.

    found   draws findings
    """
    parts = [torch.as_tensor(value) for name, value in given.items() if name not in ("documents", "max_seqlen")]
    places = max([part.numel() for part in parts], default=0)
    offsets = torch.as_tensor(given.get("cu_seqlens", [0]))
    if offsets.numel() and not offsets.is_floating_point():
        places = max(places, int(offsets.max()))
    if not given:
        st.text("There is nothing to examine yet. Paste a row, such as position_ids: 0 1 2 0 1 0.")
        return
    if places > _MAX_PLACES:
        fix = "Give fewer rows, or run packviz examine FILE."
        st.text(f"⚠ Expected at most {_MAX_PLACES:,} places, but got {places:,}. {fix}")
        return
    try:
        findings = examine_rows(**_with_borders(given, eos))
    except PackvizError as problem:
        st.text(f"⚠ {problem}")
        announce(str(problem), "doctor")
        return
    left, right = st.columns([3, 2])
    with right:
        row = _one_row(given)
        read = doctor.readings(row, eos)
        _picture(row, read, findings)
    with left:
        if not findings:
            st.success("No mistake was found: no part of the row contradicts another.", icon=":material/check:")
        found(findings)
    _conversions(read)


def _with_borders(given: Mapping[str, Any], eos: Sequence[int]) -> dict[str, Any]:
    """Return the row with its documents, if only their last tokens say where they are."""
    row = torch.as_tensor(given["input_ids"]) if "input_ids" in given else None
    if row is None or not eos or set(doctor.SPELLINGS) & {*given} or row.numel() != row.shape[-1]:
        return {**given}
    return {**given, "seq_idx": document_ids(input_ids=row, eos=eos)}


def _one_row(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parts of one row of a batch, which the visitor chooses."""
    cases = doctor.row_cases(**{name: value for name, value in given.items() if name != "documents"})
    row = st.number_input("Row", 0, len(cases) - 1, 0, key="row of the batch", width=150) if len(cases) > 1 else 0
    return {name: part for name in _PARTS if (part := getattr(cases[row], name)) is not None}


def _best(read: Sequence[Reading]) -> Reading:
    """Return the reading that is most likely."""
    likely = ("cu_seqlens", "seq_idx", "end tokens", "no pads")
    return min(read, key=lambda one: likely.index(one.rule) if one.rule in likely else len(likely))


def _picture(row: Mapping[str, Any], read: Sequence[Reading], findings: Sequence[Finding]) -> None:
    """Draw the documents that each rule finds."""
    if not read:
        st.text("No rule finds documents here.")
        return
    lines = [*read, *_labels(row, _best(read))]
    N = max(len(one.ids) for one in read)
    wrong = {(len(read) if one.key.startswith("labels") else 0, n) for one in findings for n in one.timesteps}
    shown = min(N, _COLUMNS * _LINES)
    cut = [_panel(lines, range(start, min(start + _COLUMNS, shown)), wrong) for start in range(0, shown, _COLUMNS)]
    fresh(panels, cut, key="row picture", wide=min(N, _COLUMNS) + 3)
    if shown < N:
        st.text(f"The first {shown} of {N} places are drawn.")
    st.text("\n".join(f"{one.rule}: {_described(one.lengths)}" for one in read))


def _described(lengths: Sequence[int]) -> str:
    told = counted(len(lengths), "document")
    return f"{told} of length{'' if len(lengths) == 1 else 's'} {listed(lengths, 12)}" if lengths else told


def _conversions(read: Sequence[Reading]) -> None:
    if read and (best := _best(read)).lengths:
        st.markdown(f"**The documents that `{best.rule}` finds**, written as each of these tensors")
        code = doctor.conversions(best.lengths, max(len(one.ids) for one in read))
        st.code(code, language="python", wrap_lines=True)


def _labels(row: Mapping[str, Any], best: Reading) -> list[Reading]:
    """Return the labels as a line of the picture, each in the color of the document whose token it is."""
    if "labels" not in row or row["labels"].numel() != len(best.ids):
        return []
    labels = row["labels"].flatten()
    shift = max(label_shift(row["input_ids"].flatten(), labels), 0) if "input_ids" in row else 0
    owners = torch.cat([best.ids[shift:], best.ids.new_full((shift,), -1)])
    return [Reading("labels", torch.where(labels == NO_LABEL, -1, owners), labels.tolist())]


def _panel(lines: Sequence[Reading], places: range, wrong: set[tuple[int, int]]) -> Panel:
    """Return a panel of some places: a row for each rule, with the color of a document, or of pads."""
    texts, owners = [], []
    for one in lines:
        cells = [n for n in places if n < len(one.ids)]
        texts.append(tuple(str(one.numbers[n]) if one.numbers else "" for n in cells))
        owners.append(tuple(int(one.ids[n]) if one.ids[n] >= 0 else None for n in cells))
    marked = frozenset((line, n - places.start) for line, n in wrong if n in places)
    title = "The documents by each rule" if not places.start else ""
    return Panel(
        title, tuple(texts), tuple(owners), (), marked, tuple(one.rule for one in lines), tuple(map(str, places))
    )
