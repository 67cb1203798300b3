"""Charts as Plotly figures, each with one sentence that tells what it shows, in `figure.layout.meta["alt"]`."""

from packviz.show.charts.differences import difference, drifts, gradients
from packviz.show.charts.margins import margins
from packviz.show.charts.padding_shares import padding_shares
from packviz.show.charts.panels import Panel, panels
from packviz.show.charts.state_grid import states
from packviz.show.charts.template import template
from packviz.show.charts.units import units

__all__ = [
    "Panel",
    "difference",
    "drifts",
    "gradients",
    "margins",
    "padding_shares",
    "panels",
    "states",
    "template",
    "units",
]
