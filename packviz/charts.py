"""Charts as Plotly figures, each with a one-sentence description in `figure.layout.meta["alt"]`."""

from packviz.errors import extra

with extra("charts"):
    from packviz.lab.cost.charts import counts_bars, fills, pairs_bars, timings, waste, winning
    from packviz.lab.training.charts import accuracy_against_padding, final, learning, recorded_accuracy
    from packviz.show.charts.differences import difference, drifts, gradients
    from packviz.show.charts.lengths import margins, padding_shares
    from packviz.show.charts.panels import Panel, panels
    from packviz.show.charts.states import states, units
    from packviz.show.charts.template import template

__all__ = [
    "Panel",
    "accuracy_against_padding",
    "counts_bars",
    "difference",
    "drifts",
    "fills",
    "final",
    "gradients",
    "learning",
]
__all__ += [
    "margins",
    "padding_shares",
    "pairs_bars",
    "panels",
    "recorded_accuracy",
    "states",
    "template",
    "timings",
    "units",
    "waste",
]
__all__ += ["winning"]
