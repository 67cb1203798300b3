"""Why pack: the final state of the shortest sequence, padded and packed, beside that of the sequence alone."""

from dataclasses import dataclass

from torch import Tensor

from packviz.compute.record import Refusal, Trace, Traced
from packviz.compute.verify import differing, distance
from packviz.facts.padded_run import batch_dependence
from packviz.facts.words import sentence
from packviz.inputs.module import directions, state_size
from packviz.text import Brief

__all__ = ["FinalState", "final_state"]

_SHOWN = 4  # numbers of a state that are shown


@dataclass(frozen=True, eq=False, repr=False)
class FinalState(Brief):
    """The final state, (H,), of one sequence of a batch: of the top layer, forward, as torch returns it in h_n."""

    b: int  # the first of the shortest sequences
    padded: Tensor  # with the pads
    packed: Tensor
    alone: Tensor  # without the other sequences of the batch
    lines: tuple[str, ...]  # what pads do to it, as Markdown: its state alone, padded, and packed


def final_state(trace: Traced) -> FinalState | tuple[str, ...]:
    """Return what pads do to the shortest sequence; if they do nothing to any, one line that says why."""
    lengths = trace.padded.lengths
    if len(lengths) == 1:
        return (sentence("final_state.single"),)
    if bool(trace.padded.mask.all()):
        return (sentence("final_state.equal"),)
    if isinstance(trace, Refusal):
        return (sentence("final_state.refused"),)
    return _compared(trace, int(lengths.argmin()))


def _compared(trace: Trace, b: int) -> FinalState:
    found, size, D = batch_dependence(trace, b), state_size(trace.module), directions(trace.module)
    alone, padded = (state[:size] for state in found.padded)
    packed = found.packed[1][:size]
    digits = _digits(padded, alone)
    lines = [sentence("final_state.alone", D=D, numbers=_written(alone, digits))]
    for way, state in {"padded": padded, "packed": packed}.items():
        off, most = bool(differing(alone[None], state[None])), distance(alone, state)
        known = {"way": sentence(f"final_state.{way}", off=off), "numbers": _written(state, digits), "most": most}
        lines.append(sentence(f"final_state.{'wrong' if off else 'right'}", **known))
    return FinalState(b, padded, packed, alone, tuple(lines))


def _digits(one: Tensor, other: Tensor) -> int:
    """Return how many digits it takes to see that two states differ: 2, or up to 6."""
    return next((digits for digits in range(2, 6) if _written(one, digits) != _written(other, digits)), 2)


def _written(state: Tensor, digits: int) -> str:
    numbers = [f"{number:z.{digits}f}" for number in state[:_SHOWN].tolist()]
    return f"[{', '.join(numbers)}{', …' if len(state) > _SHOWN else ''}]"
