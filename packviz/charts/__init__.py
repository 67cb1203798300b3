"""Charts of a trace and of a movie, as Plotly figures; one sentence on each stands in `figure.layout.meta["alt"]`."""

from packviz.charts.film import film
from packviz.charts.margins import margins
from packviz.charts.shares import padding_shares
from packviz.charts.states import states
from packviz.charts.template import template
from packviz.charts.units import units

__all__ = ["film", "margins", "padding_shares", "states", "template", "units"]
