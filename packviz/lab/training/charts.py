"""Trainings as charts: how each experiment learned, epoch by epoch, and its final accuracy by the extra padding."""

from collections.abc import Iterable, Iterator, Sequence
from statistics import fmean
from typing import Any, NamedTuple

import plotly.graph_objects as go

from packviz.lab.training.experiment import Experiment
from packviz.lab.training.outcome import Outcome
from packviz.lab.training.run import Progress
from packviz.show.charts.template import drawn
from packviz.text import counted
from packviz.theme import LIGHT, SEQUENCE_HUES, Palette, with_contrast

__all__ = ["final", "learning"]

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


def _label(one: Experiment, every: Sequence[Experiment], *, padding: bool = False) -> str:
    """Return what tells the experiment from the others: its name, after each setting that is not the same for all."""
    differing = [name for name in _SETTINGS if len({getattr(other, name) for other in every}) > 1]
    head = [_SETTINGS[name].format(getattr(one, name)).replace("_", " ") for name in differing]
    name = one.name if padding else one.name.partition(f", {one.extra_padding} extra")[0]
    return ", ".join([*head, name])


def _task_and_cell(every: Sequence[Experiment]) -> str:
    """Return the task, the cell and the directions, each of all experiments, as a subtitle tells them."""
    tasks = [one.task.replace("_", " ") for one in every]
    cells = [one.cell.upper() for one in every]
    ways = ["two directions" if one.bidirectional else "one direction" for one in every]
    return " · ".join(" and ".join(dict.fromkeys(names)) for names in (tasks, cells, ways) if names)


def _color_of(one: Experiment, palette: Palette) -> str:
    """Return the colour of the experiment's readout."""
    return with_contrast(SEQUENCE_HUES[_HUES[_READOUTS.index(one.readout)]], palette.background, 3.0)


def _symbol_of(one: Experiment) -> str:
    """Return the mark of the experiment's readout, as Plotly names it."""
    return _SYMBOLS[_READOUTS.index(one.readout)]


DASHES = {0: "solid", 20: "dash", 100: "dot"}
BAND = 0.18  # opacity


class _Point(NamedTuple):
    """Hold one epoch of a curve: mean, least and most of the seeds that have come so far, and their number."""

    epoch: int
    mean: float
    least: float
    most: float
    seeds: int


def learning(results: Iterable[Progress], palette: Palette = LIGHT) -> go.Figure:
    """Return accuracy (%) above loss (nats) over the epochs: for each experiment the mean of its seeds, in their band.

    The band reaches from the worst seed to the best one. Of a training that still runs there is what has come so far.
    """
    groups: dict[Experiment, list[Progress]] = {}
    for progress in results:
        groups.setdefault(progress.experiment, []).append(progress)
    panels = (("test_accuracy", "y"), ("train_loss", "y2"))
    named = [(_label(one, list(groups), padding=True), one, rows) for one, rows in groups.items()]
    curves = [(name, one, _curve(rows, what), axis) for name, one, rows in named for what, axis in panels]
    bands = [_band(curve, axis, _color_of(one, palette)) for _, one, curve, axis in curves]
    lines = [_line(name, one, curve, axis, palette) for name, one, curve, axis in curves]
    layout = {
        "title": {
            "text": "Accuracy and loss" if groups else "Accuracy and loss: nothing has been trained yet",
            "subtitle": {"text": _task_and_cell(list(groups))},
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


def _curve(rows: Sequence[Progress], what: str) -> list[_Point]:
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


def _line(name: str, one: Experiment, curve: list[_Point], axis: str, palette: Palette) -> dict[str, Any]:
    accuracy = axis == "y"
    line = {"color": _color_of(one, palette), "width": 2.5, "dash": DASHES.get(one.extra_padding, "dashdot")}
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
        "marker": {"symbol": _symbol_of(one), "size": 6, "color": line["color"]},
        "hoverinfo": "text",
        "hovertext": [
            f"{name}, epoch {epoch}<br>{written(mean)}, mean of {counted(seeds, 'seed')}"
            f"<br>{written(least)} to {written(most)}"
            for epoch, mean, least, most, seeds in curve
        ],
    }


GAP = 0.16  # between two readouts at the same padding; the paddings are 1 apart


def final(outcomes: Sequence[Outcome], palette: Palette = LIGHT) -> go.Figure:
    """Return the final accuracy (%) of every seed as a dot, and the mean as a line, by the amount of extra padding.

    A dotted line marks the majority baseline where it is the same for all.
    """
    paddings = sorted({outcome.experiment.extra_padding for outcome in outcomes})
    every = [outcome.experiment for outcome in outcomes]
    series: dict[str, list[Outcome]] = {}
    for outcome in sorted(outcomes, key=lambda outcome: outcome.experiment.extra_padding):
        series.setdefault(_label(outcome.experiment, every), []).append(outcome)
    shifts = [GAP * min(1.0, 4 / len(series)) * (i - (len(series) - 1) / 2) for i in range(len(series))]
    data = [
        trace
        for (name, group), shift in zip(series.items(), shifts, strict=True)
        for trace in _ended(name, group, [paddings.index(o.experiment.extra_padding) + shift for o in group], palette)
    ]
    baselines = {outcome.majority_baseline for outcome in outcomes}
    layout = {
        "title": {
            "text": "Final accuracy" if outcomes else "Final accuracy: no training has finished yet",
            "subtitle": {"text": _task_and_cell(every)},
        },
        "height": 440 + 22 * len(series),
        "showlegend": True,
        "legend": {"entrywidth": 0},
        "xaxis": {
            "title": {"text": "extra padding (steps)"},
            "tickvals": list(range(len(paddings))),
            "ticktext": [str(padding) for padding in paddings],
            "range": [-0.5, max(len(paddings), 1) - 0.5],
            "showgrid": False,
            "zeroline": False,
        },
        "yaxis": ACCURACY,
        "shapes": [_baseline(baselines.pop(), palette)] if len(baselines) == 1 else [],
    }
    said = ", ".join(f"{_label(o.experiment, every, padding=True)} {_told(o)}" for o in outcomes)
    return drawn(data, layout, f"Final test accuracy, mean and reach over the seeds: {said or 'none'}.", palette)


def _ended(name: str, group: Sequence[Outcome], places: list[float], palette: Palette) -> Iterator[dict[str, Any]]:
    """Yield the means of one series, joined by a line, and then its seeds."""
    color, symbol = _color_of(group[0].experiment, palette), _symbol_of(group[0].experiment)
    shared = {"type": "scatter", "legendgroup": name, "hoverinfo": "text"}
    dots = [(place, o, i) for place, o in zip(places, group, strict=True) for i in range(len(o.seeds))]
    yield shared | {
        "mode": "lines+markers",
        "name": name,
        "x": places,
        "y": [outcome.mean for outcome in group],
        "line": {"color": color, "width": 1.5, "dash": "dash" if group[0].experiment.bidirectional else "solid"},
        "marker": {"symbol": "line-ew", "size": 16, "line": {"color": color, "width": 3}},
        "hovertext": [f"{name}, {o.experiment.extra_padding} extra pads<br>{_told(o)}" for o in group],
    }
    yield shared | {
        "mode": "markers",
        "name": f"{name}, each seed",
        "showlegend": False,
        "x": [place for place, _, _ in dots],
        "y": [outcome.accuracies[i] for _, outcome, i in dots],
        "marker": {"symbol": f"{symbol}-open", "size": 9, "color": color, "line": {"color": color, "width": 2}},
        "hovertext": [f"{name}, seed {o.seeds[i]}<br>{o.accuracies[i]:.1f} %" for _, o, i in dots],
    }


def _told(outcome: Outcome) -> str:
    reach = f"{min(outcome.accuracies):.1f} to {max(outcome.accuracies):.1f} %"
    return f"{outcome.mean:.1f} % ({reach} over {counted(len(outcome.seeds), 'seed')})"


def _baseline(percent: float, palette: Palette) -> dict[str, Any]:
    ends = {"xref": "paper", "x0": 0, "x1": 1, "y0": percent, "y1": percent}
    words = {"text": "majority baseline", "textposition": "start", "font": {"color": palette.quiet}}
    return {"type": "line", "layer": "below", "line": {"color": palette.quiet, "dash": "dot"}, "label": words, **ends}
