"""Charts of trainings: how each experiment learned, and its final accuracy by extra padding, in full and short."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import pandas as pd
import plotly.graph_objects as go

from packviz.lab.recorded.recording import training
from packviz.lab.training.experiment import READS, Experiment, Readout
from packviz.lab.training.results import Outcome, by_padding, label
from packviz.lab.training.run import EpochResult
from packviz.show.charts.template import drawn, line, named_axis
from packviz.show.theme import LIGHT, SEQUENCE_HUES, Palette, with_contrast
from packviz.text import counted

ACCURACY = {"title": "test accuracy (%)", "range": [-2, 102], "dtick": 25}  # the axis
SYMBOLS = {"naive": "x", "last_valid": "diamond", "packed": "circle", "mean": "square"}
DASHES = {0: "solid", 20: "dash", 100: "dot"}
BAND = 0.18  # opacity
SHORT: tuple[Readout, ...] = ("packed", "last_valid", "naive")  # the lines of the short chart
GAP = 0.16  # between two readouts at the same padding; the paddings are 1 apart


def learning(results: Iterable[EpochResult], palette: Palette = LIGHT) -> go.Figure:
    """Return accuracy (%) above loss (nats) by epoch: for each experiment the mean and range of its seeds.

    The band extends from the worst seed to the best. A training that is still running shows its results so far.
    """
    columns = ["experiment", "epoch", "test_accuracy", "train_loss"]
    epochs = pd.DataFrame([vars(progress) for progress in results], columns=columns)
    groups: dict[Any, pd.DataFrame] = dict(iter(epochs.groupby("experiment", sort=False)))
    every = list(groups)
    panels = (("test_accuracy", "y", "{:.1f}%"), ("train_loss", "y2", "{:.3f} nats"))
    curves, ends = [], []
    for one, frame in groups.items():
        for what, axis, written in panels:
            curve = frame.groupby("epoch")[what].agg(["mean", "min", "max", "size"])
            curves.append(_curve(curve, label(one, every), one, axis, written, palette))
        ends.append(f"{label(one, every)} {frame.groupby('epoch').test_accuracy.mean().iloc[-1]:.1f}%")
    return drawn(
        [*(band for band, _ in curves), *(means for _, means in curves)],
        f"Curves over the epochs; mean test accuracy after the last epoch so far: {', '.join(ends) or 'none'}.",
        palette,
        title="Accuracy and loss" if groups else "Accuracy and loss: nothing has been trained yet",
        subtitle=_task_and_cell(every),
        height=560 + 22 * len(groups),
        showlegend=True,
        legend={"entrywidth": 0, "y": -0.14},
        xaxis={"title": "epoch", "anchor": "y2", "showgrid": False, "tickformat": "d"},
        yaxis=ACCURACY | {"domain": [0.54, 1]},
        yaxis2={"title": "training loss (nats)", "domain": [0, 0.46], "rangemode": "tozero"},
    )


def _curve(
    curve: pd.DataFrame, name: str, one: Experiment, axis: str, written: str, palette: Palette
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the band from min to max and the line of means, with marks, of one experiment in one panel."""
    color, symbol = _look(one, palette)
    reach = [*curve[["min", "max"]].itertuples(index=False)]
    band = _band(list(curve.index), reach, color) | {"yaxis": axis, "showlegend": False}
    hover = [
        f"{name}, epoch {epoch}<br>{written.format(mean)}, mean of {counted(seeds, 'seed')}"
        f"<br>{written.format(least)} to {written.format(most)}"
        for epoch, mean, least, most, seeds in curve.itertuples(name=None)
    ]
    means = line(list(curve.index), list(curve["mean"]), color, hover, symbol)
    means["line"]["dash"] = DASHES.get(one.extra_padding, "dashdot")
    return band, means | {"name": name, "legendgroup": name, "showlegend": axis == "y", "yaxis": axis}


def _band(x: list[Any], reach: Sequence[Sequence[float]], color: str) -> dict[str, Any]:
    """Return the area between the smallest and the largest numbers at each x."""
    outline = [*(most for _, most in reach), *(least for least, _ in reversed(reach))]
    look = {"mode": "lines", "line": {"width": 0, "color": color}, "fillcolor": color, "opacity": BAND}
    return {"x": [*x, *x[::-1]], "y": outline, "hoverinfo": "skip", "fill": "toself", **look}


def final(outcomes: Sequence[Outcome], palette: Palette = LIGHT) -> go.Figure:
    """Return the final accuracy (%) of every seed as a dot, and the mean as a line, by the amount of extra padding.

    A dotted line marks the majority-class baseline if it is the same for all.
    """
    every = [outcome.experiment for outcome in outcomes]
    paddings = sorted({one.extra_padding for one in every})
    series: dict[str, list[Outcome]] = {}
    for outcome in sorted(outcomes, key=lambda outcome: outcome.experiment.extra_padding):
        series.setdefault(label(outcome.experiment, every, padding=False), []).append(outcome)
    data: list[dict[str, Any]] = []
    for i, (name, group) in enumerate(series.items()):
        shift = GAP * min(1.0, 4 / len(series)) * (i - (len(series) - 1) / 2)
        data.extend(_ended(name, group, [paddings.index(o.experiment.extra_padding) + shift for o in group], palette))
    baselines = {outcome.majority_baseline for outcome in outcomes}
    shared = baselines if len(baselines) == 1 else ()
    dotted = {"type": "line", "layer": "below", "line": {"color": palette.quiet, "dash": "dot"}, "xref": "paper"}
    words = {"text": "majority baseline", "textposition": "start", "font": {"color": palette.quiet}}
    said = ", ".join(f"{label(o.experiment, every)} {_described(o)}" for o in outcomes)
    return drawn(
        data,
        f"Final test accuracy, mean and range over the seeds: {said or 'none'}.",
        palette,
        title="Final accuracy" if outcomes else "Final accuracy: no training has finished yet",
        subtitle=_task_and_cell(every),
        height=440 + 22 * len(series),
        showlegend=True,
        legend={"entrywidth": 0},
        xaxis=named_axis(
            [*map(str, paddings)], title="extra padding (steps)", range=[-0.5, max(len(paddings), 1) - 0.5]
        ),
        yaxis=ACCURACY,
        shapes=[dotted | {"label": words, "x0": 0, "x1": 1, "y0": at, "y1": at} for at in shared],
    )


def accuracy_against_padding(outcomes: Sequence[Outcome], palette: Palette = LIGHT) -> go.Figure:
    """Return the mean accuracy (%) by extra padding: packed, read at the last valid step, and in the last column.

    It is small, with the range of the seeds and labels at the lines. The line of the last valid step is dashed, because
    in one direction it is on that of packing. The outcomes of other readouts are left out.
    """
    data: list[dict[str, Any]] = []
    notes: list[dict[str, Any]] = []
    shown = [outcome for outcome in outcomes if outcome.experiment.readout in SHORT]
    for readout in SHORT:
        name, group = READS[readout], by_padding(shown, readout)
        if group:
            color, symbol = _look(group[0].experiment, palette)
            places = [outcome.experiment.extra_padding for outcome in group]
            reach = [(min(outcome.accuracies), max(outcome.accuracies)) for outcome in group]
            means = line(places, *_means(name, group, color), symbol, 10) | {"name": name}
            means["line"]["dash"] = "dash" if readout == "last_valid" else "solid"
            data += [_band(places, reach, color), means]
            notes.extend(_at_the_line(name, group, palette, below=readout == "last_valid"))
    paddings = sorted({outcome.experiment.extra_padding for outcome in shown})
    said = ", ".join(f"{READS[o.experiment.readout]} with {o.experiment.extra_padding} {_described(o)}" for o in shown)
    return drawn(
        data,
        f"Test accuracy by the number of extra pads: {said or 'none'}.",
        palette,
        title="Accuracy as padding grows" if shown else "Accuracy as padding grows: nothing has been trained",
        subtitle=_task_and_cell([outcome.experiment for outcome in shown]),
        height=340,
        showlegend=False,
        xaxis=named_axis([str(n) for n in paddings], paddings, title="extra pads in each row", range=[-7, 104]),
        yaxis={"range": [0, 108], "tickvals": [0, 50, 100], "ticktext": ["0%", "50%", "100%"]},
        annotations=notes,
    )


def recorded_accuracy(cell: str = "gru", palette: Palette = LIGHT) -> go.Figure:
    """Return the recorded accuracy (%) by extra padding: packed, at the last valid step, and in the last column.

    training_headline and training_caveat in `packviz.lab.recorded` describe what it shows, and when and where it was
    recorded.
    """
    return accuracy_against_padding(training().outcomes(cell), palette)


def _at_the_line(
    name: str, group: Sequence[Outcome], palette: Palette, *, below: bool = False
) -> Iterator[dict[str, Any]]:
    """Yield the percentages above or below the points of one line, and its name at the last but one.

    If the line falls, it would cross the first one, which is left of its point, and the last one, which is higher. The
    name below a line has a line of its own: on a phone it would reach the last percentage.
    """
    falls = group[-1].mean < group[0].mean - 1
    color = with_contrast(_look(group[0].experiment, palette)[0], palette.background, 4.5)
    for place, outcome in enumerate(group, 1 - len(group)):
        number = f"<b>{outcome.mean:.0f}%</b>"
        first = falls and place == 1 - len(group)
        yield {
            "x": outcome.experiment.extra_padding,
            "y": outcome.mean,
            "text": (f"{number}<br>{name}" if below else f"{name} {number}")
            if place == -1 or len(group) == 1
            else number,
            "align": "left",
            "xanchor": "right" if first or (place == 0 and len(group) > 1) else "left",
            "xshift": -8 if first else 0,
            "yanchor": "middle" if first else "top" if below else "bottom",
            "yshift": 0 if first else -5 if below else 12 if place == 0 and falls else 5,
            "showarrow": False,
            "font": {"color": color},
        }


def _ended(name: str, group: Sequence[Outcome], places: list[float], palette: Palette) -> Iterator[dict[str, Any]]:
    color, symbol = _look(group[0].experiment, palette)
    look = {"color": color, "width": 1.5, "dash": "dash" if group[0].experiment.bidirectional else "solid"}
    marker = {"symbol": "line-ew", "size": 16, "line": {"color": color, "width": 3}}
    named = {"name": name, "legendgroup": name}
    yield line(places, *_means(name, group, color)) | named | {"line": look, "marker": marker}
    dots = [(x, *run) for x, o in zip(places, group, strict=True) for run in zip(o.seeds, o.accuracies, strict=True)]
    yield {
        "mode": "markers",
        "name": f"{name}, each seed",
        "legendgroup": name,
        "showlegend": False,
        "x": [x for x, _, _ in dots],
        "y": [accuracy for _, _, accuracy in dots],
        "marker": {"symbol": f"{symbol}-open", "size": 9, "color": color, "line": {"color": color, "width": 2}},
        "hovertext": [f"{name}, seed {seed}<br>{accuracy:.1f}%" for _, seed, accuracy in dots],
    }


def _means(name: str, group: Sequence[Outcome], color: str) -> tuple[list[float], str, list[str]]:
    hover = [f"{name}, {outcome.experiment.extra_padding} extra pads<br>{_described(outcome)}" for outcome in group]
    return [outcome.mean for outcome in group], color, hover


def _described(outcome: Outcome) -> str:
    reach = f"{min(outcome.accuracies):.1f} to {max(outcome.accuracies):.1f}%"
    return f"{outcome.mean:.1f}% ({reach} over {counted(len(outcome.seeds), 'seed')})"


def _task_and_cell(every: Sequence[Experiment]) -> str:
    """Return the tasks, cells and directions of all experiments."""
    tasks = [one.task.replace("_", " ") for one in every]
    cells = [one.cell.upper() for one in every]
    ways = ["two directions" if one.bidirectional else "one direction" for one in every]
    return " · ".join(" and ".join(dict.fromkeys(names)) for names in (tasks, cells, ways) if names)


def _look(one: Experiment, palette: Palette) -> tuple[str, str]:
    """Return the colour and the mark of the experiment's readout: red for the wrong one; packed as in all charts."""
    colors = {"naive": palette.wrong, "packed": palette.now, "last_valid": SEQUENCE_HUES[1], "mean": SEQUENCE_HUES[2]}
    return with_contrast(colors[one.readout], palette.background, 3.0), SYMBOLS[one.readout]
