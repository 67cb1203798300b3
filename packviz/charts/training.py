"""Trainings as curves: how each experiment learned, epoch by epoch, with the reach of its seeds."""

from collections.abc import Iterable, Sequence
from statistics import fmean
from typing import Any, NamedTuple, Protocol

import plotly.graph_objects as go

from packviz.charts.experiments import ACCURACY, AnExperiment, color_of, label, symbol_of, task_and_cell
from packviz.charts.template import counted, drawn
from packviz.theme import LIGHT, Palette

__all__ = ["learning"]

DASHES = {0: "solid", 20: "dash", 100: "dot"}
BAND = 0.18  # opacity


class _Point(NamedTuple):
    """Hold one epoch of a curve: mean, least and most of the seeds that have come so far, and their number."""

    epoch: int
    mean: float
    least: float
    most: float
    seeds: int


class _Progress(Protocol):
    @property
    def experiment(self) -> AnExperiment: ...
    @property
    def epoch(self) -> int: ...
    @property
    def train_loss(self) -> float: ...
    @property
    def test_accuracy(self) -> float: ...


def learning(results: Iterable[_Progress], palette: Palette = LIGHT) -> go.Figure:
    """Return accuracy (%) above loss (nats) over the epochs: for each experiment the mean of its seeds, in their band.

    The band reaches from the worst seed to the best one. Of a training that still runs there is what has come so far.
    """
    groups: dict[AnExperiment, list[_Progress]] = {}
    for progress in results:
        groups.setdefault(progress.experiment, []).append(progress)
    panels = (("test_accuracy", "y"), ("train_loss", "y2"))
    named = [(label(one, list(groups), padding=True), one, rows) for one, rows in groups.items()]
    curves = [(name, one, _curve(rows, what), axis) for name, one, rows in named for what, axis in panels]
    bands = [_band(curve, axis, color_of(one, palette)) for _, one, curve, axis in curves]
    lines = [_line(name, one, curve, axis, palette) for name, one, curve, axis in curves]
    layout = {
        "title": {
            "text": "Accuracy and loss" if groups else "Accuracy and loss: nothing has been trained yet",
            "subtitle": {"text": task_and_cell(list(groups))},
        },
        "height": 560 + 22 * len(groups),
        "showlegend": True,
        "legend": {"entrywidth": 0, "y": -0.14},
        "xaxis": {"title": {"text": "epoch"}, "anchor": "y2", "showgrid": False, "tickformat": "d"},
        "yaxis": ACCURACY | {"domain": [0.54, 1]},
        "yaxis2": {"title": {"text": "training loss (nats)"}, "domain": [0, 0.46], "rangemode": "tozero"},
    }
    said = ", ".join(f"{name} {_curve(rows, 'test_accuracy')[-1].mean:.1f} %" for name, _, rows in named)
    alt = f"Curves over the epochs; mean test accuracy after the last epoch so far: {said or 'none'}."
    return drawn([*bands, *lines], layout, alt, palette)


def _curve(rows: Sequence[_Progress], what: str) -> list[_Point]:
    """Return a point for each epoch of the number that `what` names."""
    values: dict[int, list[float]] = {}
    for row in rows:
        values.setdefault(row.epoch, []).append(getattr(row, what))
    return [_Point(epoch, fmean(seen), min(seen), max(seen), len(seen)) for epoch, seen in sorted(values.items())]


def _band(curve: list[_Point], axis: str, color: str) -> dict[str, Any]:
    there, back = curve, curve[::-1]
    return {
        "type": "scatter",
        "x": [point.epoch for point in (*there, *back)],
        "y": [*(point.most for point in there), *(point.least for point in back)],
        "yaxis": axis,
        "showlegend": False,
        "hoverinfo": "skip",
        "mode": "lines",
        "line": {"width": 0, "color": color},
        "fill": "toself",
        "fillcolor": color,
        "opacity": BAND,
    }


def _line(name: str, one: AnExperiment, curve: list[_Point], axis: str, palette: Palette) -> dict[str, Any]:
    accuracy = axis == "y"
    line = {"color": color_of(one, palette), "width": 2.5, "dash": DASHES.get(one.extra_padding, "dashdot")}
    written = "{:.1f} %".format if accuracy else "{:.3f} nats".format
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": name,
        "legendgroup": name,
        "showlegend": accuracy,
        "x": [point.epoch for point in curve],
        "y": [point.mean for point in curve],
        "yaxis": axis,
        "line": line,
        "marker": {"symbol": symbol_of(one), "size": 6, "color": line["color"]},
        "hoverinfo": "text",
        "hovertext": [
            f"{name}, epoch {epoch}<br>{written(mean)}, mean of {counted(seeds, 'seed')}"
            f"<br>{written(least)} to {written(most)}"
            for epoch, mean, least, most, seeds in curve
        ],
    }
