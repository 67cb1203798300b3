"""The four initial states: when to use each, how far it moves the result, and its code."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, get_args

from packviz.compute.record import Trace, check_own_making
from packviz.compute.trace import trace as run
from packviz.compute.verify import distance
from packviz.facts.words import sentence
from packviz.inputs.cell_kinds import CELL_KINDS
from packviz.inputs.config import InitialState
from packviz.text import ENVIRONMENT

__all__ = ["STARTS", "StartEffect", "starts"]

# torch's defaults as Python prints them (-0.0 differs bitwise)
_DEFAULTS = {"bias": "True", "bidirectional": "False", "dtype": "torch.float32", "nonlinearity": "'tanh'"}
_DEFAULTS |= {"num_layers": "1", "batch_first": "False", "enforce_sorted": "True", "total_length": "None"}
_DEFAULTS |= {"padding_idx": "None", "padding_side": "'right'", "padding_value": "0 0.0"}

STARTS: dict[InitialState, str] = {name: sentence(f"start.{name}") for name in get_args(InitialState)}


@dataclass(frozen=True)
class StartEffect:
    """What one initial state does to a batch."""

    name: InitialState  # as in Config; STARTS says what it means, and when to use it
    code: str  # its lines in PyTorch, using the names sequences, packed and the cell's
    moved: float  # the largest distance of h_n from that of a run from zeros
    chosen: bool  # whether the trace itself was run from it


def starts(trace: Trace) -> tuple[StartEffect, ...]:
    """Run the batch of a trace from each of the four initial states, and compare h_n with a run from zeros.

    Raises PackvizError for the trace of a module of your own, or if torch refuses the lengths.
    """
    batch, config = check_own_making(trace, "give the module another hx in trace_module, and compare h_n")
    settings = {name: replace(config, initial_state=name) for name in STARTS}
    ended = {name: trace.h_n if own == config else run(batch, own).h_n for name, own in settings.items()}
    kind, dtype = CELL_KINDS[config.cell], trace.h_n.dtype
    code = {name: SCRIPT.state(own, kind, dtype) + SCRIPT.running(own, kind) for name, own in settings.items()}
    return tuple(
        StartEffect(name, code[name].strip(), distance(ended[name], ended["zeros"]), settings[name] == config)
        for name in STARTS
    )


def call(function: str, *values: object, **settings: object) -> str:
    """Return the source text of a call, leaving out settings at torch's defaults."""
    changed = [f"{name}={value!r}" for name, value in settings.items() if repr(value) not in _DEFAULTS[name].split()]
    return f"{function}({', '.join([*map(str, values), *changed])})"


_TEXT = Path(__file__).with_name("script.txt").read_text(encoding="utf-8")
SCRIPT: Any = ENVIRONMENT.from_string(_TEXT, {"call": call}).module  # its macros
