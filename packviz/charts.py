"""Charts as Plotly figures, each with one sentence that tells what it shows, in `figure.layout.meta["alt"]`."""

from packviz.lab.cost.charts import counts_bars, timings, waste, winning
from packviz.lab.training.charts import final, learning
from packviz.show.charts import (
    Panel,
    difference,
    drifts,
    gradients,
    margins,
    padding_shares,
    panels,
    states,
    template,
    units,
)

__all__ = [
    "Panel",
    "counts_bars",
    "difference",
    "drifts",
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
