"""Charts of a trace and of a movie, as Plotly figures; one sentence on each stands in `figure.layout.meta["alt"]`."""

from packviz.charts.compare import difference, drifts, gradients
from packviz.charts.cost import counts_bars, timings, waste
from packviz.charts.film import film
from packviz.charts.margins import margins
from packviz.charts.outcomes import final
from packviz.charts.panels import Panel, panels
from packviz.charts.shares import padding_shares
from packviz.charts.states import states
from packviz.charts.template import template
from packviz.charts.training import learning
from packviz.charts.units import units
from packviz.charts.winning import winning

__all__ = [
    "Panel",
    "counts_bars",
    "difference",
    "drifts",
    "film",
    "final",
    "gradients",
    "learning",
    "margins",
    "padding_shares",
    "panels",
    "states",
    "template",
    "timings",
    "units",
    "waste",
    "winning",
]
