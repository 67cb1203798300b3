"""Why pack: the final state of one sequence by itself, beside its final states in the padded and the packed batch."""

from dataclasses import dataclass
from typing import Literal

from torch import Tensor

from packviz.compute.determinism import exact_arithmetic
from packviz.compute.record import Refusal, Trace, Traced
from packviz.compute.verify import apart, differing, distance
from packviz.facts.padded_run import batch_dependence, run_padded, run_tokens, tokens_of
from packviz.facts.words import sentence
from packviz.inputs.module import directions
from packviz.text import Brief

__all__ = ["FinalState", "ReadState", "final_state"]

_SEEN = 0.005  # the smallest change that two decimals show


@dataclass(frozen=True, eq=False, repr=False)
class ReadState(Brief):
    """The final state of a sequence, run in one way, and what the cell reads until then."""

    way: Literal["alone", "padded", "packed"]
    pads: tuple[bool, ...]  # whether each input is a pad, in the order in which the cell reads them
    h: Tensor  # (H,)
    off: float  # its largest difference from the state of the sequence by itself; 0.0 if that is rounding


@dataclass(frozen=True, eq=False, repr=False)
class FinalState(Brief):
    """The final state, as in h_n of the top layer, of one sequence and one direction that pads change."""

    b: int
    direction: Literal["", "forward", "backward"]  # "" if the module has one
    alone: ReadState  # without the other sequences of the batch
    padded: ReadState
    packed: ReadState


def final_state(trace: Traced) -> FinalState | str:
    """Return what pads do to the shortest sequence, which has the most; if there is nothing to compare, say why."""
    if len(trace.padded.lengths) == 1:
        return sentence("final_state.single")
    if bool(trace.padded.mask.all()):
        return sentence("final_state.equal")
    if isinstance(trace, Refusal):
        return sentence("final_state.refused")
    return _compared(trace, *_changed(trace))


def _changed(trace: Trace) -> tuple[int, int]:
    """Return the direction and the sequence to show: the first shortest one, forward, whatever the settings.

    If nobody could see that pads change its final state, it is the direction and the sequence that they change most.
    """
    D, B = directions(trace.module), len(trace.padded.lengths)
    with exact_arithmetic():
        padded = run_padded(trace)[1][-D:]  # (D, B, H)
        _, unpadded = run_tokens(trace, [tokens_of(trace, b) for b in range(B)], range(B))
    changes = apart(padded, unpadded[-D:]).amax(2).masked_fill(trace.padded.mask.all(1), -1.0)  # (D, B)
    shortest = int(trace.padded.lengths.argmin())
    return (0, shortest) if changes[0, shortest] >= _SEEN else divmod(int(changes.argmax()), B)


def _compared(trace: Trace, d: int, b: int) -> FinalState:
    found, D, mask = batch_dependence(trace, b), directions(trace.module), trace.padded.mask[b]
    length = int(mask.sum())
    alone, padded = (state.chunk(D)[d] for state in found.padded)
    packed = found.packed[1].chunk(D)[d]

    def read(way: Literal["alone", "padded", "packed"], cells: Tensor, h: Tensor) -> ReadState:
        off = distance(alone, h) if differing(alone[None], h[None]) else 0.0
        return ReadState(way, tuple((~(cells.flip(0) if d else cells)).tolist()), h, off)

    return FinalState(
        b,
        "" if D == 1 else "backward" if d else "forward",
        read("alone", mask[mask], alone),
        read("padded", mask, padded),
        read("packed", mask[:length], packed),
    )
