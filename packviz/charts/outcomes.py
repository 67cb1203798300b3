"""Trainings by their end: the final accuracy of every seed, and the mean, by the amount of extra padding."""

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

import plotly.graph_objects as go

from packviz.charts.experiments import ACCURACY, AnExperiment, color_of, label, symbol_of, task_and_cell
from packviz.charts.template import counted, drawn
from packviz.theme import LIGHT, Palette

__all__ = ["final"]

GAP = 0.16  # between two readouts at the same padding; the paddings are 1 apart


class _Outcome(Protocol):
    @property
    def experiment(self) -> AnExperiment: ...
    @property
    def seeds(self) -> tuple[int, ...]: ...
    @property
    def accuracies(self) -> tuple[float, ...]: ...
    @property
    def mean(self) -> float: ...
    @property
    def commonest(self) -> float: ...


def final(outcomes: Sequence[_Outcome], palette: Palette = LIGHT) -> go.Figure:
    """Return the final accuracy (%) of every seed as a dot, and the mean as a line, by the amount of extra padding.

    A dotted line stands where the same answer to every sequence would be, if that is the same for all.
    """
    paddings = sorted({outcome.experiment.extra_padding for outcome in outcomes})
    every = [outcome.experiment for outcome in outcomes]
    series: dict[str, list[_Outcome]] = {}
    for outcome in sorted(outcomes, key=lambda outcome: outcome.experiment.extra_padding):
        series.setdefault(label(outcome.experiment, every), []).append(outcome)
    shifts = [GAP * min(1.0, 4 / len(series)) * (i - (len(series) - 1) / 2) for i in range(len(series))]
    data = [
        trace
        for (name, group), shift in zip(series.items(), shifts, strict=True)
        for trace in _ended(name, group, [paddings.index(o.experiment.extra_padding) + shift for o in group], palette)
    ]
    guesses = {outcome.commonest for outcome in outcomes}
    layout = {
        "title": {
            "text": "Final accuracy" if outcomes else "Final accuracy: no training has finished yet",
            "subtitle": {"text": task_and_cell(every)},
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
        "shapes": [_guess(guesses.pop(), palette)] if len(guesses) == 1 else [],
    }
    said = ", ".join(f"{label(o.experiment, every, padding=True)} {_told(o)}" for o in outcomes)
    return drawn(data, layout, f"Final test accuracy, mean and reach over the seeds: {said or 'none'}.", palette)


def _ended(name: str, group: Sequence[_Outcome], places: list[float], palette: Palette) -> Iterator[dict[str, Any]]:
    """Yield the means of one series, joined by a line, and then its seeds."""
    color, symbol = color_of(group[0].experiment, palette), symbol_of(group[0].experiment)
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


def _told(outcome: _Outcome) -> str:
    reach = f"{min(outcome.accuracies):.1f} to {max(outcome.accuracies):.1f} %"
    return f"{outcome.mean:.1f} % ({reach} over {counted(len(outcome.seeds), 'seed')})"


def _guess(percent: float, palette: Palette) -> dict[str, Any]:
    ends = {"xref": "paper", "x0": 0, "x1": 1, "y0": percent, "y1": percent}
    words = {"text": "the same answer to all", "textposition": "start", "font": {"color": palette.quiet}}
    return {"type": "line", "layer": "below", "line": {"color": palette.quiet, "dash": "dot"}, "label": words, **ends}
