"""The recorded runs as charts."""

import plotly.graph_objects as go

from packviz.lab.recorded.recording import training
from packviz.lab.training.charts import accuracy_against_padding
from packviz.theme import LIGHT, Palette

__all__ = ["recorded_accuracy"]


def recorded_accuracy(cell: str = "gru", palette: Palette = LIGHT) -> go.Figure:
    """Return the recorded accuracy (%) over the extra padding, read from the last column and packed.

    `packviz.lab.recorded` says in words what it shows, and when and where it was recorded: training_headline,
    training_caveat.
    """
    return accuracy_against_padding(training().outcomes(cell), palette)
