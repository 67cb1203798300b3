"""The page of the doctor: the findings, and every step of a run with uploaded weights."""

from collections.abc import Sequence
from typing import Any

import streamlit as st
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence

from packviz.charts import panels
from packviz.compute.trace import Trace, trace_module
from packviz.doctor import Finding, are_words, examine, filler_of, padding_code
from packviz.errors import PackvizError
from packviz.inputs.config import DIRECTIONS, Config
from packviz.show.movie import movie
from packviz.show.movie.kinds import movie_kind_of, stages_of
from packviz.text import counted, shown
from ui.parts.part import TABLES, distance, explore, fresh, table
from ui.parts.player import clip
from ui.parts.status import announce
from ui.state.kinds import PACKING
from ui.state.names import default
from ui.state.path import script
from ui.state.replaced import draw_received
from ui.state.runs import as_json
from ui.state.widgets import of_every_page
from ui.views.doctor_picture import as_integers, as_text, packed_panel, padded_panel
from ui.views.doctor_rows import examined_rows, typed_rows
from ui.views.given import BATCH_FORM, ROWS_FORM, Given, examples, typed, uploaded

_WAYS = ("a batch", "rows", "a file")
_FORMS = {"a batch": BATCH_FORM, "rows": ROWS_FORM}
_BADGES = {
    "error": ":red-badge[:material/error: torch refuses]",
    "silent": ":orange-badge[:material/visibility_off: goes wrong silently]",
    "note": ":gray-badge[:material/info: worth knowing]",
}
_LATER = ":orange-badge[:material/schedule: fails later, in {call}]"
_WRITTEN = {  # ways to write the same x
    "a list of Python or JSON": "[[1, 2, 3], [4, 5, 0]]",
    "one row on each line": "1 2 3\n4 5 0",
    "as torch prints it": "tensor([[1, 2, 3],\n        [4, 5, 0]])",
}
_MAX_SEQUENCES, _MAX_STEPS = 32, 64  # of a run with uploaded weights
_STAND_INS = (5, 3, 2)  # lengths if none are given
_WIDE = 8  # cells that fit beside the findings


def doctor() -> None:
    """Ask for a batch, or weights, or both; show the findings, and a run with the weights."""
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        with of_every_page():
            look: dict[str, Any] = {"required": True, "bind": "query-params", "label_visibility": "collapsed"}
            way = st.segmented_control("What is given", _WAYS, default=default("given"), key="given", **look)
        if way in _FORMS:
            examples(_FORMS[way])
    if way == "rows":
        written = typed_rows()
        draw_received()
        with st.container(key="measured"):
            if written is not None:
                examined_rows(written.given, written.eos, _cards)
        return
    given = typed() if way == "a batch" else uploaded()
    draw_received()
    with st.container(key="measured"):
        if given.unread:
            if way == "a batch":
                _unexamined(given)
            return
        if given.rows is not None:
            examined_rows(given.rows, (), _cards)
            return
        if given.x is not None:
            _examined(given)
        if given.module is not None:
            _step_by_step(given, given.module)
        if given.x is None and given.module is None:
            st.text("There is nothing to examine yet. Give a tensor, or the weights of an nn.RNN, nn.GRU or nn.LSTM.")
            if way == "a batch":
                _unexamined(given)


def _unexamined(given: Given) -> None:
    """Show x although its lengths cannot be read, or else how x can be written."""
    if given.x is not None:
        left, right = st.columns([3, 2])
        left.info("x can be read. Correct or delete the lengths to check the batch.")
        with right:
            _picture(given, ())
        return
    text = st.session_state["x"].strip()
    if "\n" in text and are_words(text) and "Error" not in text:
        _watch("Watch these sentences in the overview", text)
    if not padding_code(text):  # otherwise the code that pads these rows is above
        with st.container(border=True):
            st.markdown("**x can be written like this:**")
            for column, (told, written) in zip(st.columns(len(_WRITTEN)), _WRITTEN.items(), strict=True):
                column.text(told)
                column.code(written, language=None)


def _examined(given: Given) -> None:
    """Examine the input, and show the findings and where they are."""
    try:
        findings = _findings(given)
    except PackvizError as problem:
        st.text(f"⚠ {problem}")
        announce(str(problem), "doctor")
        return
    left, right = st.columns([3, 2])
    with left:
        _found(findings, given)
    announce(_summary(findings), "doctor")
    with right:
        _picture(given, findings)


def _findings(given: Given) -> Sequence[Finding]:
    x, lengths, module = given.x, given.lengths, given.module
    assert x is not None
    names = ("enforce_sorted", "padding_value", "lengths_device")
    known: dict[str, Any] = {name: getattr(given, name) for name in names}
    values = x.data if isinstance(x, PackedSequence) else x
    features = values.size(-1) if values.dim() >= 2 and values.is_floating_point() else None
    if module is not None and module.input_size == features:  # x is meant for it
        return examine(module, x, lengths, **known)
    return examine(x, lengths, batch_first=given.batch_first, **known)


def _summary(findings: Sequence[Finding]) -> str:
    """Return the findings for screen readers."""
    if not findings:
        return "No mistake was found."
    parts = [f"{_badge(finding)}, {finding.where}: {finding.found}" for finding in findings]
    return f"{counted(len(findings), 'finding')}. {' '.join(parts)}"


def _badge(finding: Finding) -> str:
    return _LATER.format(call=finding.fails_in) if finding.fails_in else _BADGES[finding.severity]


def _found(findings: Sequence[Finding], given: Given) -> None:
    if not findings and given.lengths is None:
        st.success("No mistake was found in x. If you give the lengths, they are checked, too.")
    elif not findings:
        certain = (
            "" if given.padding_value is not None else " If you give padding_value, it is certain which steps are pads."
        )
        st.success(f"No mistake was found: the lengths fit x.{certain}", icon=":material/check:")
    if given.padding_value is None and isinstance(given.x, Tensor):
        assumed = filler_of(given.x, given.lengths, batch_first=given.batch_first)
        if assumed:
            st.text(f"Pads are assumed to be {assumed:g}, the only value after the lengths.")
    _cards(findings)


def _cards(findings: Sequence[Finding]) -> None:
    for i, finding in enumerate(findings):
        with st.container(border=True, key=f"finding {i}"):
            st.markdown(f"{_badge(finding)} {finding.where}")
            st.text("\n".join(filter(None, (finding.found, finding.torch_sentence))))
            if finding.repair:
                st.code(finding.repair, language="python", wrap_lines=True)


def _picture(given: Given, findings: Sequence[Finding]) -> None:
    """Draw x with the cells of the findings marked, and link to the overview."""
    drawn = packed_panel(given.x) if isinstance(given.x, PackedSequence) else padded_panel(given, findings)
    if drawn is None:
        return
    fresh(panels, [drawn], key="doctor picture", wide=_WIDE)
    if (text := as_text(given)) is not None:
        _watch("Watch this batch in the overview", text)


def _watch(label: str, text: str) -> None:
    explore(label, text, Config(), (script("doctor"), "Back to Check my batch", {}))


def _step_by_step(given: Given, module: nn.RNNBase) -> None:
    """Run a module over x, or over random numbers if x does not fit, and show every step."""
    st.subheader("Your weights, step by step", anchor=False)
    st.markdown(f"`{module}`")
    x, ends = _input(given, module)
    try:
        done = trace_module(module, x, ends)
    except PackvizError as problem:
        st.text(f"⚠ {problem}")
        return
    layer, direction = _watched(module)
    clip(as_json(movie(done, layer=layer, direction=direction)), 1, "own weights")
    _records(done, layer, direction)


def _input(given: Given, module: nn.RNNBase) -> tuple[Tensor | PackedSequence, list[int] | None]:
    """Return the module's input, cut to a size that can be shown, with a sentence on the page if it is not x itself."""
    x, ends = given.x, as_integers(given.lengths)
    fits = _fits(x, module)
    if isinstance(x, PackedSequence) and fits:
        return x, None
    if isinstance(x, Tensor) and fits and given.lengths is not None:
        B, T = (0, 1) if module.batch_first else (1, 0)
        cut = x.narrow(B, 0, min(x.size(B), _MAX_SEQUENCES)).narrow(T, 0, min(x.size(T), _MAX_STEPS))
        if cut.shape != x.shape:
            st.text(f"Showing the first {cut.size(B)} sequences and {cut.size(T)} time steps.")
        return cut, None if ends is None else [min(end, cut.size(T)) for end in ends][: cut.size(B)]
    if not ends or len(ends) > _MAX_SEQUENCES or not all(1 <= end <= _MAX_STEPS for end in ends):
        ends = list(_STAND_INS)
    got = "no x was given" if x is None else f"x is {shown(x)}"
    why = f"The weights take {module.input_size} features, but {got}."
    why = "x fits the weights, but its lengths are missing. Give them above to run x." if fits else why
    st.text(f"{why} This is a run on random numbers.")
    shape = (len(ends), max(ends)) if module.batch_first else (max(ends), len(ends))
    drawn = torch.randn(*shape, module.input_size, generator=torch.Generator().manual_seed(0))
    return drawn.to(module.weight_ih_l0.dtype), ends  # type: ignore[arg-type]


def _fits(x: object, module: nn.RNNBase) -> bool:
    """Return whether each step of x has the features that the module takes."""
    values = x.data if isinstance(x, PackedSequence) else x
    dims = 2 if isinstance(x, PackedSequence) else 3
    return isinstance(values, Tensor) and values.dim() == dims and values.size(-1) == module.input_size


def _watched(module: nn.RNNBase) -> tuple[int, int]:
    """Let a visitor choose the layer and the direction, if there are several."""
    layer = top = module.num_layers - 1
    way = DIRECTIONS[0]
    with st.container(horizontal=True):
        if top:
            layer = st.segmented_control("Show layer", range(top + 1), default=top, required=True, key="own_layer")
        if module.bidirectional:
            way = st.segmented_control("Show direction", DIRECTIONS, default=way, required=True, key="own_direction")
    return layer, DIRECTIONS.index(way)


def _records(done: Trace, layer: int, direction: int) -> None:
    """Show the records of one stage, and how they compare with torch's own run."""
    has = stages_of(movie_kind_of(done), done)
    stages = [stage for stage in TABLES[PACKING] if stage in has]
    stage = st.segmented_control("Records of the stage", stages, default="run", required=True, key="own_stage")
    frame = table(PACKING, done, stage, layer, direction)
    st.dataframe(frame, hide_index=True, key="own_records", alt=f"The records of the stage {stage}")
    distance(done)
