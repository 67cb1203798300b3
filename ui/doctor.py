"""The page of the doctor: what is found in what is given."""

from collections.abc import Sequence

import streamlit as st
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence

from packviz.doctor import Finding, examine
from packviz.errors import PackvizError
from packviz.inputs.config import Config
from packviz.show.charts import panels
from packviz.text import counted
from ui.explorer import explorer
from ui.part import explore, fresh
from ui.patient import Given, patients, typed
from ui.patient_picture import WIDE, as_text, packed_panel, padded_panel
from ui.status import announce
from ui.uploads import uploaded

__all__ = ["doctor"]

_WAYS = ("typed or pasted", "a file")
_BADGES = {
    "error": ":red-badge[:material/error: torch refuses]",
    "silent": ":orange-badge[:material/visibility_off: goes wrong silently]",
    "note": ":gray-badge[:material/info: worth knowing]",
}


def doctor() -> None:
    """Ask for a batch, or weights, or both; show what is found, and the run of one's own weights."""
    patient = _given()
    with st.container(key="measured"):
        if patient.unread:
            st.text("Nothing is examined until all of it can be read.")
            return
        if patient.x is not None:
            _examined(patient)
        if patient.module is not None:
            explorer(patient.module, patient.x, patient.lengths)
        if patient.x is None and patient.module is None:
            st.text("Nothing to examine yet: no tensor, and no weights of an nn.RNN, nn.GRU or nn.LSTM.")


def _given() -> Given:
    """Let a visitor choose between fields and files, and return what is given there."""
    with st.container(horizontal=True, vertical_alignment="center"):
        way = st.segmented_control(
            "What is given", _WAYS, default=_WAYS[0], required=True, key="given", label_visibility="collapsed"
        )
        if way == _WAYS[0]:
            patients()
    return typed() if way == _WAYS[0] else uploaded()


def _examined(patient: Given) -> None:
    """Examine what is given, and show what is found."""
    x, lengths, module = patient.x, patient.lengths, patient.module
    pad = patient.filler if patient.told else None  # then the findings say what they assume
    assert x is not None
    promised, first = patient.enforce_sorted, patient.batch_first
    try:
        if module is not None and _fits(module, x):
            findings = examine(module, x, lengths, enforce_sorted=promised, padding_value=pad)
        else:
            findings = examine(x, lengths, batch_first=first, enforce_sorted=promised, padding_value=pad)
    except PackvizError as problem:
        st.text(f"⚠ {problem}")
        announce(str(problem), "doctor")
        return
    left, right = st.columns([3, 2])
    with left:
        _found(findings, patient)
    announce(_summary(findings), "doctor")
    with right:
        _picture(patient, findings)


def _fits(module: nn.RNNBase, x: Tensor | PackedSequence) -> bool:
    """Return whether x is meant for the module: it has its features."""
    values = x.data if isinstance(x, PackedSequence) else x
    return values.dim() >= 2 and values.size(-1) == module.input_size and values.is_floating_point()


def _summary(findings: Sequence[Finding]) -> str:
    """Return the findings as they are spoken."""
    if not findings:
        return "Nothing was found."
    parts = [f"{_BADGES[finding.severity]}, {finding.where}: {finding.found}" for finding in findings]
    return f"{counted(len(findings), 'finding')}. {'. '.join(parts)}"


def _found(findings: Sequence[Finding], patient: Given) -> None:
    if not findings and patient.lengths is None:
        st.success("Nothing was found in x. No lengths are given, so they could not be examined.")
    elif not findings:
        st.success("Nothing was found: the lengths fit x, and no pad is among the tokens.", icon=":material/check:")
    if patient.filler and not patient.told:
        st.text(f"Pads are taken to be {patient.filler:g}, the only value after the lengths.")
    for i, finding in enumerate(findings):
        with st.container(border=True, key=f"finding {i}"):
            st.markdown(f"{_BADGES[finding.severity]} {finding.where}")
            st.text(f"{finding.found}\ntorch {finding.torch_does}")
            st.code(finding.repair, language="python", wrap_lines=True)


def _picture(patient: Given, findings: Sequence[Finding]) -> None:
    """Draw x with every cell marked that a finding is about, and lead on to the explorer."""
    x = patient.x
    panel = packed_panel(x) if isinstance(x, PackedSequence) else padded_panel(patient, findings)
    if panel is None:
        return
    fresh(panels, [panel], key="patient picture", wide=WIDE)
    text = None if isinstance(x, PackedSequence) else as_text(patient)
    if text is not None:
        explore("Open in the explorer", text, Config(), ("pages/10_doctor.py", "Back to the doctor", {}))
