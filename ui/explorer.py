"""The explorer with one's own weights: the whole movie and the records of a module that was uploaded."""

import streamlit as st
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence

from packviz.compute.trace import Trace, trace_module
from packviz.errors import PackvizError
from packviz.show.movie import movie
from ui.part import TABLES, table
from ui.patient import Lengths
from ui.patient_picture import whole
from ui.player import clip

__all__ = ["explorer"]

MOST_SEQUENCES, MOST_STEPS = 32, 64
_STAND_INS = (5, 3, 2)  # lengths where none are given


def explorer(module: nn.RNNBase, x: Tensor | PackedSequence | None, lengths: Lengths) -> None:
    """Run a module over x, or over random numbers where x has other features than it takes, and show every step."""
    st.subheader("Your weights, step by step", anchor=False)
    st.markdown(f"`{module}`")
    given, ends = _input(module, x, lengths)
    try:
        done = trace_module(module, given, ends)
    except PackvizError as problem:
        st.text(f"⚠ {problem}")
        return
    layer, direction = _watched(module)
    shown = movie(done, layer=layer, direction=direction)
    clip(shown, 1, "own weights")
    _records(done, layer, direction)


def _input(
    module: nn.RNNBase, x: Tensor | PackedSequence | None, lengths: Lengths
) -> tuple[Tensor | PackedSequence, list[int] | None]:
    """Return what the module is run on, small enough to be shown, and say what it is."""
    ends = whole(lengths)
    if isinstance(x, PackedSequence) and x.data.dim() == 2 and x.data.size(1) == module.input_size:
        return x, None
    if isinstance(x, Tensor) and x.dim() == 3 and x.size(2) == module.input_size and lengths is not None:
        B, T = (0, 1) if module.batch_first else (1, 0)
        cut = x.narrow(B, 0, min(x.size(B), MOST_SEQUENCES)).narrow(T, 0, min(x.size(T), MOST_STEPS))
        if cut.shape != x.shape:
            st.text(f"Showing the first {cut.size(B)} sequences and {cut.size(T)} time steps.")
        return cut, None if ends is None else [min(end, cut.size(T)) for end in ends][: cut.size(B)]
    ends = _stand_ins(ends)
    st.text(f"The weights take {module.input_size} features, and no such x is given: random numbers stand in for it.")
    shape = (len(ends), max(ends)) if module.batch_first else (max(ends), len(ends))
    drawn = torch.randn(*shape, module.input_size, generator=torch.Generator().manual_seed(0))
    return drawn.to(module.weight_ih_l0.dtype), ends  # type: ignore[arg-type]


def _stand_ins(ends: list[int] | None) -> list[int]:
    fine = ends and len(ends) <= MOST_SEQUENCES and all(1 <= end <= MOST_STEPS for end in ends)
    return ends if ends and fine else list(_STAND_INS)


def _watched(module: nn.RNNBase) -> tuple[int, int]:
    """Let a visitor choose the layer and the direction, where there are several."""
    top, ways = module.num_layers - 1, ("forward", "backward")
    layer, way = top, ways[0]
    with st.container(horizontal=True):
        if top:
            layer = st.segmented_control("Watch layer", range(top + 1), default=top, required=True, key="own_layer")
        if module.bidirectional:
            way = st.segmented_control("Watch direction", ways, default=ways[0], required=True, key="own_direction")
    return layer, ways.index(way)


def _records(done: Trace, layer: int, direction: int) -> None:
    """Show the records of one stage, and how they compare with torch's own run."""
    stage = st.segmented_control("Records of the stage", list(TABLES), default="run", required=True, key="own_stage")
    frame = table(done, stage, layer, direction)
    st.dataframe(frame, hide_index=True, key="own_records", alt=f"The records of the stage {stage}")
    worst = max(done.proof.values())
    st.text(f"Largest distance from torch's own run in {', '.join(done.proof)}: {worst}")
