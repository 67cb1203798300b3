"""The page of the doctor: what is found in what is given."""

from collections.abc import Sequence

import streamlit as st
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence

from packviz.batch import sequence_label
from packviz.charts import Panel, panels
from packviz.config import Config
from packviz.doctor import Finding, examine
from packviz.errors import PackvizError
from packviz.theme import DARK, LIGHT
from ui.explorer import explorer
from ui.part import explore
from ui.patient import Given, Lengths, given

__all__ = ["doctor"]

_ROWS, _COLUMNS = 12, 16  # of x that are drawn
_WIDE = 8  # cells that have room beside the findings
_BADGES = {
    "error": ":red-badge[:material/error: torch refuses]",
    "silent": ":orange-badge[:material/visibility_off: goes wrong silently]",
    "note": ":gray-badge[:material/info: worth knowing]",
}


def doctor() -> None:
    """Ask for a batch, or weights, or both; show what is found, and the run of one's own weights."""
    patient = given()
    with st.container(key="measured"):
        if patient.x is not None:
            _examined(patient)
        elif patient.module is None:
            st.text("Nothing to examine yet.")
        if patient.module is not None:
            explorer(patient.module, patient.x, patient.lengths)


def _examined(patient: Given) -> None:
    """Examine what is given, and show what is found."""
    x, lengths, module, pad = patient.x, patient.lengths, patient.module, patient.padding_value
    assert x is not None
    promised, first = patient.enforce_sorted, patient.batch_first
    try:
        if module is not None and _fits(module, x):
            findings = examine(module, x, lengths, enforce_sorted=promised, padding_value=pad)
        else:
            findings = examine(x, lengths, batch_first=first, enforce_sorted=promised, padding_value=pad)
    except PackvizError as problem:
        st.text(f"⚠ {problem}")
        return
    left, right = st.columns([3, 2])
    with left:
        _found(findings)
    with right:
        _picture(patient, findings)


def _fits(module: nn.RNNBase, x: Tensor | PackedSequence) -> bool:
    """Return whether x is meant for the module: it has its features."""
    values = x.data if isinstance(x, PackedSequence) else x
    return values.dim() >= 2 and values.size(-1) == module.input_size and values.is_floating_point()


def _found(findings: Sequence[Finding]) -> None:
    if not findings:
        st.success(
            "Nothing was found: the lengths fit the tensor, and no pad is among the tokens.", icon=":material/check:"
        )
    for i, finding in enumerate(findings):
        with st.container(border=True, key=f"finding {i}"):
            st.markdown(f"{_BADGES[finding.severity]} {finding.where}")
            st.text(f"{finding.found}\ntorch {finding.torch_does}")
            st.code(finding.repair, language="python", wrap_lines=True)


def _picture(patient: Given, findings: Sequence[Finding]) -> None:
    """Draw x with every cell marked that a finding is about, and lead on to the explorer."""
    grid, lengths = _grid(patient), _whole(patient.lengths)
    panel = _packed_panel(patient.x) if grid is None else _panel(grid, lengths, findings)
    if panel is None:
        return
    drawn = panels([panel], DARK if st.context.theme.type == "dark" else LIGHT, wide=_WIDE)
    config = {"displaylogo": False, "displayModeBar": False}
    st.plotly_chart(drawn, theme=None, key="patient picture", alt=drawn.layout.meta["alt"], config=config)
    if grid is not None and lengths is not None:
        _onward(grid, lengths)


def _onward(grid: Tensor, lengths: list[int]) -> None:
    """Lead to the explorer with the sequences that the lengths leave, where there are such."""
    if len(lengths) == len(grid) and all(1 <= n <= grid.size(1) for n in lengths):
        rows = (row[:n].tolist() for row, n in zip(grid, lengths, strict=True))
        text = "\n".join(" ".join(f"{value:g}" for value in row) for row in rows)
        explore("Open in the explorer", text, Config())


def _packed_panel(x: object) -> Panel | None:
    """Return a PackedSequence of one number a row, a column for each time step, as far as batch_sizes go with data."""
    if not isinstance(x, PackedSequence) or x.data.numel() != len(x.data) or x.data.numel() > _ROWS * _COLUMNS:
        return None
    values, sizes = x.data.flatten().tolist(), x.batch_sizes.tolist()
    steps = [values[sum(sizes[:t]) : sum(sizes[: t + 1])] for t in range(len(sizes))] if min(sizes) > 0 else []
    order = range(sizes[0]) if x.sorted_indices is None else x.sorted_indices.tolist()
    texts = tuple(tuple(f"{value:g}" for value in step) for step in steps if step)
    owners = tuple(tuple(order[i] if i < len(order) else None for i in range(len(step))) for step in texts)
    return Panel("data, a row for each time step", texts, owners, rows=tuple(f"t={t}" for t in range(len(texts))))


def _grid(patient: Given) -> Tensor | None:
    """Return x as (B, T), where each of its cells is one number."""
    x = patient.x
    if isinstance(x, PackedSequence) or x is None or x.dim() not in (2, 3) or (x.dim() == 3 and x.size(2) != 1):
        return None
    flat = x if x.dim() == 2 else x[:, :, 0]
    return flat if patient.batch_first else flat.T


def _whole(lengths: Lengths) -> list[int] | None:
    """Return the lengths as whole numbers, as torch reads them; None where they are not in one row."""
    if lengths is None or (isinstance(lengths, Tensor) and lengths.dim() != 1):
        return None
    return [int(length) for length in lengths]


def _panel(grid: Tensor, lengths: list[int] | None, findings: Sequence[Finding]) -> Panel:
    rows, columns = min(_ROWS, grid.size(0)), min(_COLUMNS, grid.size(1))
    ends = [n if n is not None else grid.size(1) for n in [*(lengths or []), *[None] * rows]][:rows]
    texts = tuple(tuple(f"{value:g}" for value in row[:columns].tolist()) for row in grid[:rows])
    owners = tuple(tuple(b if t < ends[b] else None for t in range(columns)) for b in range(rows))
    wrong = {place for each in findings for place in zip(each.sequences, each.timesteps, strict=False)}
    title = "x, as torch reads it" if (rows, columns) == tuple(grid.shape) else f"x: {rows} of {len(grid)} sequences"
    names = tuple(sequence_label(b) for b in range(rows))
    there = frozenset((b, t) for b, t in wrong if b < rows and t < columns)
    return Panel(title, texts, owners, wrong=there, rows=names, columns=tuple(map(str, range(columns))))
