"""Where h_0 comes from: the four initial states, when one wants them, and how far each moves the result."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import get_args

import torch

from packviz.compute.record import Trace, check_own_making
from packviz.compute.trace import trace as run
from packviz.compute.verify import distance
from packviz.facts.code_lines import running_lines, state_lines
from packviz.inputs.config import Config, InitialState

__all__ = ["STARTS", "Start", "StartEffect", "starts"]


@dataclass(frozen=True)
class Start:
    """Hold one initial state: its name in Config, what it means, and when one wants it."""

    name: InitialState
    meaning: str
    wanted: str


@dataclass(frozen=True)
class StartEffect:
    """Hold what one initial state does to a batch.

    code          its lines in PyTorch, on the names sequences and packed and the cell's own
    moved         the largest distance of h_n from that of a run from zeros
    per_sequence  the same for each of the B sequences
    chosen        whether the trace itself was run from it
    """

    start: Start
    code: str
    moved: float
    per_sequence: tuple[float, ...]
    chosen: bool


STARTS = (
    Start(
        "zeros",
        "Every sequence starts from zeros, which is what torch takes when no h_0 is given.",
        "Take it where sequences have nothing to do with each other: it is the usual choice.",
    ),
    Start(
        "random",
        "Every sequence starts from random numbers of its own, other ones in every run.",
        "Take it to see how much the start matters: what h_n keeps of it is noise.",
    ),
    Start(
        "learned",
        "Every sequence starts from the same row, which is a parameter and is trained with the weights.",
        "Take it where sequences are short, so that a good start counts.",
    ),
    Start(
        "carried",
        "Row b starts from the state in which row b of the batch before ended; here that is this same batch.",
        "Take it where row b of each batch is the next piece of one long text.",
    ),
)


def starts(trace: Trace) -> tuple[StartEffect, ...]:
    """Run the batch of a trace from each of the four initial states, and compare h_n with that of a run from zeros.

    Raises PackvizError for the trace of a module of your own, and where torch refuses the lengths.
    """
    mend = "give the module another hx in trace_module, and compare h_n"
    batch, config = check_own_making(trace, mend)
    ended = {
        name: trace.h_n if name == config.initial_state else run(batch, replace(config, initial_state=name)).h_n
        for name in get_args(InitialState)
    }
    pairs = {name: list(zip(h_n.unbind(1), ended["zeros"].unbind(1), strict=True)) for name, h_n in ended.items()}
    return tuple(
        StartEffect(
            start,
            _code(replace(config, initial_state=start.name), trace.h_n.dtype),
            distance(ended[start.name], ended["zeros"]),
            tuple(distance(ours, zeros) for ours, zeros in pairs[start.name]),
            start.name == config.initial_state,
        )
        for start in STARTS
    )


def _code(config: Config, dtype: torch.dtype) -> str:
    """Return the lines that make the state and run the cell from it."""
    return "\n".join([*state_lines(config, dtype), *running_lines(config)])
