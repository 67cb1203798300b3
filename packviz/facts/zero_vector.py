"""A zero vector is not nothing: how far one more step of zeros moves the state, and what an embedding's pad row is."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.utils.rnn import pack_sequence

from packviz.compute.determinism import exact_arithmetic
from packviz.compute.draw import draw
from packviz.compute.record import Trace
from packviz.facts.padded_run import tokens_of
from packviz.inputs.module import directions, run_module
from packviz.text import sequence_label
from packviz.validate import integer

__all__ = ["PadRow", "ZeroStep", "after_zero_vector", "pad_row"]

_MANY = 50


@dataclass(frozen=True)
class ZeroStep:
    """Hold the top layer's forward state of one sequence, before and after more steps whose input is all zeros.

    b       the sequence, and its length
    before  h after its last token, as many numbers as h is wide
    after   h after one more step of zeros
    later   h after fifty
    norms   of ``before``, of the move to ``after``, of the move to ``later``
    """

    b: int
    length: int
    before: tuple[float, ...]
    after: tuple[float, ...]
    later: tuple[float, ...]
    norms: tuple[float, float, float]

    @property
    def moved(self) -> float:
        """Return the norm of after - before."""
        return self.norms[1]

    @property
    def told(self) -> str:
        """Return what one step of zeros does to h, and what fifty do, in plain sentences."""
        norm, once, often = self.norms
        name, tokens = sequence_label(self.b), "its one token" if self.length == 1 else f"its {self.length} tokens"
        start = f"After {tokens} the norm of {name}'s h is {norm:.3g}."
        if once == 0:
            return f"{start} One more input of zeros leaves this h as it is; {_MANY} move it by {often:.3g}."
        share = f", {100 * once / norm:.0f} % of it" if once < 10 * norm else ""
        return (
            f"{start} One more input of zeros moves h by {once:.3g}{share}; {_MANY} move it by {often:.3g}. "
            "A zero input removes only the W_ih x term; h and the biases still contribute."
        )


@dataclass(frozen=True)
class PadRow:
    """Hold the embedding of the id that pads: the row, E numbers, and whether padding_idx makes it zeros."""

    id: int
    row: tuple[float, ...]
    padding_idx: int | None

    @property
    def is_zero(self) -> bool:
        """Return whether every number of the row is 0."""
        return not any(self.row)

    @property
    def told(self) -> str:
        """Return what the row is and why, in plain sentences."""
        if self.padding_idx is None:
            return (
                f"padding_idx is None: row {self.id} is random and trained like any other, and a pad enters the cell "
                "with it."
            )
        return (
            f"padding_idx = {self.padding_idx}: row {self.id} is zeros and is never trained. "
            "A pad enters the cell as a vector of zeros, which still moves h."
        )


def after_zero_vector(trace: Trace, b: int = 0) -> ZeroStep:
    """Run the whole module over sequence b alone, and again with one and with fifty inputs of zeros after it.

    torch's own module is run, from the same initial state as in the trace; where torch refused the lengths nothing was
    carried over, and a carried state is zeros. Raises PackvizError where there is no such sequence.
    """
    B = len(trace.padded.lengths)
    b = integer("b", b, 0, B - 1, what="a sequence", mend="choose a sequence of this batch")
    x = tokens_of(trace, b)
    with exact_arithmetic():
        hx = _initial_state(trace, b)
        before, after, later = (_state(trace, x, zeros, hx) for zeros in (0, 1, _MANY))
    norms = (float(before.norm()), float((after - before).norm()), float((later - before).norm()))
    return ZeroStep(b, len(x), tuple(before.tolist()), tuple(after.tolist()), tuple(later.tolist()), norms)


def pad_row(trace: Trace) -> PadRow | None:
    """Return the embedding of the id that pads; None where the trace has no embedding."""
    if trace.padded.embedding is None or trace.config is None:
        return None
    pad = trace.config.pad_id
    return PadRow(pad, tuple(trace.padded.embedding[pad].tolist()), trace.config.padding_idx)


def _state(trace: Trace, x: Tensor, zeros: int, hx: object) -> Tensor:
    """Return (H,): the top layer's forward h after x (length, F) and so many inputs of zeros."""
    longer = torch.cat([x, x.new_zeros(zeros, x.size(1))])
    _, state = run_module(trace.module, pack_sequence([longer]), hx)
    h_n = state[0] if isinstance(state, tuple) else state  # (L*D, 1, H)
    return h_n[-directions(trace.module), 0]


def _initial_state(trace: Trace, b: int) -> Tensor | tuple[Tensor, Tensor]:
    """Return the trace's own initial state of sequence b: h_0 (L*D, 1, H), for the LSTM (h_0, c_0)."""
    if trace.error is not None and trace.batch is not None and trace.config is not None:  # nothing was run
        drawn = draw(trace.batch, trace.config)
        h_0, c_0 = drawn.h_0, drawn.c_0
    else:
        h_0, c_0 = trace.h_0, trace.c_0
    own = h_0[:, b : b + 1].contiguous()
    return own if c_0 is None else (own, c_0[:, b : b + 1].contiguous())
