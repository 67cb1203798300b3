"""The lines of PyTorch that make an initial state and run the cell from it."""

from __future__ import annotations

import torch

from packviz.inputs.cell_kinds import CELL_KINDS
from packviz.inputs.config import Config

__all__ = ["arguments", "running_lines", "state_lines"]


def state_lines(config: Config, dtype: torch.dtype) -> list[str]:
    """Return the lines that make h_0 (and c_0) for `sequences`; none where torch's zeros or a run before give them."""
    if config.initial_state in ("zeros", "carried"):
        return []
    rows = config.num_layers * (2 if config.bidirectional else 1)
    names = CELL_KINDS[config.cell].named("0")
    typed = {} if dtype == torch.float32 else {"dtype": dtype}
    if config.initial_state == "random":
        shape = arguments(rows, "len(sequences)", config.hidden_size, **typed)
        return [f"{name} = torch.randn({shape})" for name in names]
    shape = arguments(rows, 1, config.hidden_size, **typed)
    learned = [f"learned_{name} = nn.Parameter(torch.randn({shape}) * 0.1)" for name in names]
    return learned + [f"{name} = learned_{name}.expand(-1, len(sequences), -1).contiguous()" for name in names]


def running_lines(config: Config) -> list[str]:
    """Return the lines that run the cell over `packed` from that state."""
    given, states = (CELL_KINDS[config.cell].in_code(when) for when in "0n")
    entering = "packed" if config.initial_state == "zeros" else f"packed, {given}"
    line = f"output, {states} = {config.cell}({entering})"
    if config.initial_state != "carried":
        return [line]
    before = "# the batch before: here it is this one, from zeros"
    return [f"with torch.no_grad():  {before}", f"    _, {given} = {config.cell}(packed)", line]


def arguments(*values: object, **settings: object) -> str:
    """Return the arguments of a call as Python writes them."""
    return ", ".join([*map(str, values), *(f"{name}={value!r}" for name, value in settings.items())])
