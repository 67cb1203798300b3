"""What padding and packing cost, as charts: ms on this machine, counts, and the padding that batching leaves."""

from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go

from packviz.lab.cost.counts import Amount, Counts
from packviz.lab.cost.measuring import Measurement
from packviz.lab.cost.timing import Timing
from packviz.show.charts.padding_shares import padding_shares
from packviz.show.charts.template import drawn
from packviz.text import counted
from packviz.theme import LIGHT, Palette

__all__ = ["counts_bars", "timings", "waste"]


def timings(measurements: Sequence[Measurement], palette: Palette = LIGHT) -> go.Figure:
    """Return two bars for each measurement, padded and packed: medians in ms, with whiskers at the quartiles.

    The subtitle tells the sizes that were measured: a result may be looked at when the batch is another one by then.
    """
    names = [_name(measurement) for measurement in measurements]
    sizes = list(dict.fromkeys(map(_size, measurements)))
    above = 110 + 18 * len(sizes)  # pixels of title, subtitle and legend
    bars = [
        _timing_bars("padded", [m.padded for m in measurements], names, palette.pad_hatch, palette),
        _timing_bars("packed", [m.packed for m in measurements], names, palette.now, palette),
    ]
    layout = {
        "title": {"text": "Time of one run" if names else "Time of one run: nothing was measured"}
        | ({"subtitle": {"text": "<br>".join([*sizes, "medians, whiskers at the quartiles"])}} if names else {})
        | {"y": 1, "yanchor": "top", "pad": {"l": 12, "t": 16}},
        "margin": {"t": above},
        "height": 126 + above + 74 * max(1, len(names)),
        "barmode": "group",
        "bargap": 0.3,
        "xaxis": {"title": {"text": "time (ms)"}, "rangemode": "tozero"},
        "yaxis": _rows(names),
        "legend": {"y": 1, "yanchor": "bottom", "x": 1, "xanchor": "right"},
    }
    said = "; ".join(
        f"{name.replace('<br>', ', ')}: padded {m.padded.median:.3g} ms, packed {m.packed.median:.3g} ms"
        for name, m in zip(names, measurements, strict=True)
    )
    return drawn(bars, layout, f"Bars of the time of one run, medians: {said or 'none'}.", palette)


def waste(shares: Mapping[str, float], palette: Palette = LIGHT) -> go.Figure:
    """Return a bar of the share of padding for each way to make batches: random, sorted, buckets, token budget.

    shares: from 0.0 to 1.0. Raises PackvizError for any other number.
    """
    figure = padding_shares(shares, palette=palette)
    figure.update_layout(
        title_text="Padding in all batches" + ("" if shares else ": no lengths were given"),
        xaxis_title_text="padding in all batches together (%)",
    )
    return figure


def counts_bars(counts: Counts, palette: Palette = LIGHT) -> go.Figure:
    """Return two panels that are never mixed: cell updates, and steps that wait for one another; padded and packed."""
    panels = (("cell updates", counts.updates, ""), ("sequential steps", counts.steps, "2"))
    axes: dict[str, Any] = {}
    for (title, amount, axis), domain in zip(panels, ([0.62, 1], [0, 0.38]), strict=True):
        end = 1.3 * max(amount.padded, amount.packed)  # the number stands behind its bar
        axes[f"xaxis{axis}"] = {"title": {"text": title}, "range": [0, end], "nticks": 5, "anchor": f"y{axis}"}
        axes[f"yaxis{axis}"] = {"autorange": "reversed", "domain": domain, "anchor": f"x{axis}", "showgrid": False}
    layout = {"title": {"text": "Counted, not measured"}, "height": 380, "showlegend": False, "bargap": 0.3, **axes}
    said = "; ".join(f"{title}: padded {amount.padded:,}, packed {amount.packed:,}" for title, amount, _ in panels)
    return drawn([_panel(*panel, palette) for panel in panels], layout, f"Bars in two panels, {said}.", palette)


def _panel(title: str, amount: Amount, axis: str, palette: Palette) -> dict[str, Any]:
    sides = {"padded": amount.padded, "packed": amount.packed}
    return {
        "type": "bar",
        "orientation": "h",
        "x": list(sides.values()),
        "y": list(sides),
        "xaxis": f"x{axis}",
        "yaxis": f"y{axis}",
        "text": [f"{number:,}" for number in sides.values()],
        "textposition": "outside",
        "cliponaxis": False,
        "textfont": {"color": palette.text},
        "marker": {"color": [palette.pad_hatch, palette.now]},
        "hoverinfo": "text",
        "hovertext": [f"{side}: {number:,} {title}" for side, number in sides.items()],
    }


def _timing_bars(side: str, of: Sequence[Timing], names: Sequence[str], color: str, palette: Palette) -> dict[str, Any]:
    return {
        "type": "bar",
        "orientation": "h",
        "name": side,
        "y": list(range(len(of))),
        "x": [timing.median for timing in of],
        "error_x": {
            "type": "data",
            "symmetric": False,
            "array": [timing.high - timing.median for timing in of],
            "arrayminus": [timing.median - timing.low for timing in of],
            "color": palette.text,
            "thickness": 1.5,
        },
        "marker": {"color": color},
        "hoverinfo": "text",
        "hovertext": [
            f"{name}<br>{side}: median {t.median:.3g} ms, quartiles {t.low:.3g} and {t.high:.3g} ms, "
            f"{counted(len(t.times), 'run')}"
            for name, t in zip(names, of, strict=True)
        ],
    }


def _size(measurement: Measurement) -> str:
    """Return the sizes of the batch and of the module; T is the longest, L and D only where not 1."""
    setup, lengths = measurement.setup, measurement.lengths
    sizes = {"B": len(lengths), "T": max(lengths), "F": setup.features, "H": setup.hidden_size}
    more = {"L": setup.num_layers, "D": 2 if setup.bidirectional else 1}
    sizes |= {letter: size for letter, size in more.items() if size != 1}
    return ", ".join(f"{letter} {size:,}" for letter, size in sizes.items())


def _name(measurement: Measurement) -> str:
    """Return the label of a measurement, in lines: the cell, then how it was run."""
    setup = measurement.setup
    where = setup.device.upper() if setup.device != "cpu" else "" if setup.onednn else "oneDNN off"
    how = "forward, backward" if setup.backward else "forward"
    return "<br>".join(part for part in (f"{setup.name} {how}", where, "machine busy" * measurement.busy) if part)


def _rows(names: Sequence[str]) -> dict[str, Any]:
    return {
        "tickmode": "array",
        "tickvals": list(range(len(names))),
        "ticktext": list(names),
        "autorange": "reversed",
        "showgrid": False,
        "zeroline": False,
    }
