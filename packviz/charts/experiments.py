"""How a chart names an experiment and shows which one it is: a colour and a mark for each readout."""

from collections.abc import Hashable, Sequence
from typing import Protocol

from packviz.theme import SEQUENCE_HUES, Palette, with_contrast

__all__ = ["ACCURACY", "AnExperiment", "color_of", "label", "symbol_of", "task_and_cell"]

ACCURACY = {"title": {"text": "test accuracy (%)"}, "range": [-2, 102], "dtick": 25}  # the axis

_READOUTS = ("naive", "last_valid", "packed", "mean")
_SYMBOLS = ("x", "diamond", "circle", "square")
_SETTINGS = {
    "task": "{}",
    "cell": "{}",
    "hidden_size": "H {}",
    "epochs": "{} epochs",
    "batch_size": "batches of {}",
    "lr": "lr {:g}",
}
_HUES = (2, 1, 0, 4)  # places in SEQUENCE_HUES


class AnExperiment(Hashable, Protocol):
    """Name what a chart asks an experiment for."""

    @property
    def cell(self) -> str: ...
    @property
    def task(self) -> str: ...
    @property
    def hidden_size(self) -> int: ...
    @property
    def epochs(self) -> int: ...
    @property
    def batch_size(self) -> int: ...
    @property
    def lr(self) -> float: ...
    @property
    def readout(self) -> str: ...
    @property
    def bidirectional(self) -> bool: ...
    @property
    def extra_padding(self) -> int: ...
    @property
    def name(self) -> str: ...


def label(one: AnExperiment, every: Sequence[AnExperiment], *, padding: bool = False) -> str:
    """Return what tells the experiment from the others: its name, after each setting that is not the same for all."""
    differing = [name for name in _SETTINGS if len({getattr(other, name) for other in every}) > 1]
    head = [_SETTINGS[name].format(getattr(one, name)).replace("_", " ") for name in differing]
    name = one.name if padding else one.name.partition(f", {one.extra_padding} extra")[0]
    return ", ".join([*head, name])


def task_and_cell(every: Sequence[AnExperiment]) -> str:
    """Return the task, the cell and the directions, each of all experiments, as a subtitle tells them."""
    tasks = [one.task.replace("_", " ") for one in every]
    cells = [one.cell.upper() for one in every]
    ways = ["two directions" if one.bidirectional else "one direction" for one in every]
    return " · ".join(" and ".join(dict.fromkeys(names)) for names in (tasks, cells, ways) if names)


def color_of(one: AnExperiment, palette: Palette) -> str:
    """Return the colour of the experiment's readout."""
    return with_contrast(SEQUENCE_HUES[_HUES[_READOUTS.index(one.readout)]], palette.background, 3.0)


def symbol_of(one: AnExperiment) -> str:
    """Return the mark of the experiment's readout, as Plotly names it."""
    return _SYMBOLS[_READOUTS.index(one.readout)]
