"""Charts of the cost of padding and packing: ms on this machine, where packing wins, counts, padding in batches."""

from collections.abc import Callable, Mapping, Sequence
from math import ceil, log2
from typing import Any, Literal

import pandas as pd
import plotly.graph_objects as go

from packviz.lab.cost.counting import Counts
from packviz.lab.cost.fills import Fill
from packviz.lab.cost.measuring import Measurement, Timing, wins_and_losses
from packviz.lab.cost.pairs import Pairs
from packviz.show.charts.lengths import padding_shares
from packviz.show.charts.template import bars, drawn, heatmap, line, named_axis
from packviz.show.theme import LIGHT, SEQUENCE_HUES, Palette, diverging, text_on
from packviz.text import counted, percent

Across = Literal["batch_size", "hidden_size", "steps"]
ACROSS = {"batch_size": "batch size B", "hidden_size": "hidden size H", "steps": "longest length T"}
SIZES: dict[str, Callable[[Measurement], int]] = {
    "batch_size": lambda measured: len(measured.lengths),
    "hidden_size": lambda measured: measured.setup.hidden_size,
    "steps": lambda measured: max(measured.lengths),
}
MARKS = {"?": "the runs show no difference", "*": "the machine was busy"}
SYMBOLS = ("circle", "square", "diamond", "cross", "x", "triangle-up")  # of the strategies
LEAST_END = 1.0  # the minimum end of the map's scale, as log2 of the ratio: from half to double


def timings(measurements: Sequence[Measurement], palette: Palette = LIGHT) -> go.Figure:
    """Return two bars per measurement, padded and packed: medians in ms, with whiskers at the quartiles.

    The subtitle names the sizes measured, because the batch may have changed since.
    """
    names = [each.setup.description.replace(", ", "<br>") + "<br>machine busy" * each.busy for each in measurements]
    sides = [
        _bars("padded", [each.padded for each in measurements], names, palette.pad_hatch, palette),
        _bars("packed", [each.packed for each in measurements], names, palette.now, palette),
    ]
    sizes = list(dict.fromkeys(map(_sizes, measurements)))
    subtitle = "<br>".join([*sizes, "medians, whiskers at the quartiles"] if names else [])
    above = 110 + 18 * len(sizes)  # pixels of title, subtitle and legend
    said = "; ".join(
        f"{name.replace('<br>', ', ')}: padded {m.padded.median:.3g} ms, packed {m.packed.median:.3g} ms"
        for name, m in zip(names, measurements, strict=True)
    )
    return drawn(
        sides,
        f"Bars of the time of one run, medians: {said or 'none'}.",
        palette,
        title="Time of one run" if names else "Time of one run: nothing was measured",
        subtitle=subtitle,
        on_top=True,
        margin={"t": above},
        height=126 + above + 74 * max(1, len(names)),
        barmode="group",
        xaxis={"title": "time (ms)", "rangemode": "tozero"},
        yaxis=named_axis(names, autorange="reversed"),
        legend={"y": 1, "yanchor": "bottom", "x": 1, "xanchor": "right"},
    )


def _bars(side: str, of: Sequence[Timing], names: Sequence[str], color: str, palette: Palette) -> dict[str, Any]:
    quartiles = [timing.quartiles for timing in of]
    hover = [
        f"{name}<br>{side}: median {mid:.3g} ms, quartiles {low:.3g} and {high:.3g} ms, "
        f"{counted(len(timing.times), 'run')}"
        for name, timing, (low, mid, high) in zip(names, of, quartiles, strict=True)
    ]
    error = {
        "type": "data",
        "symmetric": False,
        "color": palette.text,
        "thickness": 1.5,
        "array": [high - mid for _, mid, high in quartiles],
        "arrayminus": [mid - low for low, mid, _ in quartiles],
    }
    return bars(range(len(of)), [mid for _, mid, _ in quartiles], color, hover, name=side, error_x=error)


def _sizes(measurement: Measurement) -> str:
    """Return the sizes of the batch and of the module; T is the longest; L and D only if not 1."""
    setup, lengths = measurement.setup, measurement.lengths
    sizes = {"B": len(lengths), "T": max(lengths), "F": setup.features, "H": setup.hidden_size}
    more = {"L": setup.num_layers, "D": 2 if setup.bidirectional else 1}
    sizes |= {letter: size for letter, size in more.items() if size != 1}
    return ", ".join(f"{letter} {size:,}" for letter, size in sizes.items())


def waste(shares: Mapping[str, float], palette: Palette = LIGHT) -> go.Figure:
    """Return a bar with the share of padding for each way to make batches: random, sorted, buckets, token budget.

    shares: from 0.0 to 1.0. Raises PackvizError for any other number.
    """
    figure = padding_shares(shares, palette=palette)
    figure.update_layout(
        title_text="Padding in all batches" + ("" if shares else ": no lengths were given"),
        xaxis_title_text="padding (%)",
    )
    return figure


def counts_bars(counts: Counts, palette: Palette = LIGHT) -> go.Figure:
    """Return two panels, each with its own scale: cell updates and sequential steps, padded and packed."""
    panels = (("cell updates", counts.updates, "", [0.62, 1]), ("sequential steps", counts.steps, "2", [0, 0.38]))
    data: list[dict[str, Any]] = []
    axes: dict[str, Any] = {}
    for title, amount, axis, domain in panels:
        sides = {"padded": amount.padded, "packed": amount.packed}
        hover = [f"{side}: {number:,} {title}" for side, number in sides.items()]
        more = {"text": [f"{number:,}" for number in sides.values()], "xaxis": f"x{axis}", "yaxis": f"y{axis}"}
        data.append(bars([*sides], [*sides.values()], [palette.pad_hatch, palette.now], hover, **more))
        end = 1.3 * max(sides.values())  # the number is after its bar
        axes[f"xaxis{axis}"] = {"title": title, "range": [0, end], "nticks": 5, "anchor": f"y{axis}"}
        axes[f"yaxis{axis}"] = {"autorange": "reversed", "domain": domain, "anchor": f"x{axis}", "showgrid": False}
    said = "; ".join(f"{title}: padded {amount.padded:,}, packed {amount.packed:,}" for title, amount, *_ in panels)
    alt = f"Bars in two panels, {said}."
    return drawn(data, alt, palette, title="Counted, not measured", height=380, showlegend=False, **axes)


def pairs_bars(ways: Sequence[Pairs], palette: Palette = LIGHT) -> go.Figure:
    """Return two panels: the cells of each way to run attention, and its pairs of a query and a key, on a log scale.

    A last bar in the second panel shows the pairs that are needed, the same for all ways. The numbers after the bars
    have three digits, such as 10.5M, so that they fit a phone; the hover texts have all digits.
    """
    names, needed = [each.name for each in ways], ways[0].needed if ways else 0
    colors = [palette.pad_hatch if name == "padded" else palette.now for name in names]
    panels: tuple[tuple[str, list[str], list[int], str, list[float]], ...] = (
        ("cells", names, [each.cells for each in ways], "", [0.62, 1]),
        ("pairs computed", [*names, "needed"], [*(each.computed for each in ways), needed], "2", [0, 0.44]),
    )
    data: list[dict[str, Any]] = []
    axes: dict[str, Any] = {}
    for title, labels, numbers, axis, domain in panels:
        hover = [f"{label}: {number:,} {title}" for label, number in zip(labels, numbers, strict=True)]
        more = {"texttemplate": "%{x:.3~s}", "xaxis": f"x{axis}", "yaxis": f"y{axis}"}
        data.append(bars(labels, numbers, [*colors, palette.text][: len(labels)], hover, **more))
        top = log2(max(numbers, default=1) + 1) / log2(10)
        axes[f"xaxis{axis}"] = {
            "title": title,
            "type": "log",
            "range": [0, 1.45 * top],
            "anchor": f"y{axis}",
            "dtick": ceil(top / 3),  # decades
            "tickangle": 0,
            "exponentformat": "SI",  # as in the numbers after the bars
        }
        axes[f"yaxis{axis}"] = {"autorange": "reversed", "domain": domain, "anchor": f"x{axis}", "showgrid": False}
    told = "; ".join(f"{each.name}: {each.cells:,} cells, {each.computed:,} pairs computed" for each in ways)
    alt = f"Bars on a logarithmic scale, {told or 'none'}; {needed:,} pairs needed."
    title = "Cells and pairs, counted" + ("" if ways else ": no lengths were given")
    return drawn(data, alt, palette, title=title, height=460, showlegend=False, **axes)


def fills(found: Sequence[Fill], palette: Palette = LIGHT) -> go.Figure:
    """Return two panels over the cells of a row: the share of cells that are filled, and of tokens that are dropped.

    Each strategy is a line; if several coincide, the marks of all of them are visible.
    """
    data: list[dict[str, Any]] = []
    strategies = list(dict.fromkeys(each.strategy for each in found))
    for number, (strategy, symbol) in enumerate(zip(strategies, SYMBOLS, strict=False)):
        mine = [each for each in found if each.strategy == strategy]
        hover = [
            f"{strategy}, rows of {each.max_length:,}: {counted(each.rows, 'row')}, {percent(each.share)} filled, "
            f"{counted(each.dropped, 'token')} dropped"
            for each in mine
        ]
        look = {"name": strategy, "legendgroup": strategy}
        for axis, shares in (("", [each.share for each in mine]), ("2", [each.lost for each in mine])):
            across, up = [each.max_length for each in mine], [100 * share for share in shares]
            drawn_line = line(across, up, SEQUENCE_HUES[number], hover, symbol, 15 - 2 * number)
            data.append({**drawn_line, **look, "xaxis": f"x{axis}", "yaxis": f"y{axis}", "showlegend": not axis})
    ticks = sorted({each.max_length for each in found})
    sizes = {"type": "log", "tickvals": ticks, "ticktext": [f"{tick:,}" for tick in ticks], "showgrid": False}
    best = max(found, key=lambda each: (each.dropped == 0, each.share), default=None)
    said = f"best without dropping: {best.strategy} at {best.max_length:,}, {percent(best.share)}" if best else "none"
    return drawn(
        data,
        f"Lines of filled cells and dropped tokens for {len(strategies)} strategies; {said}.",
        palette,
        title="Filled cells and dropped tokens",
        height=520,
        xaxis={**sizes, "anchor": "y", "showticklabels": False},
        yaxis={"title": "cells filled (%)", "range": [0, 105], "domain": [0.42, 1]},
        xaxis2={**sizes, "anchor": "y2", "title": "max_length, the cells of a row"},
        yaxis2={"title": "tokens<br>dropped (%)", "rangemode": "tozero", "domain": [0, 0.3], "anchor": "x2"},
        legend={"entrywidth": 84, "y": -0.2},
    )


def winning(measured: Sequence[Measurement], across: Across = "batch_size", palette: Palette = LIGHT) -> go.Figure:
    """Return a map of packed ÷ padded: fill upwards, the batch size (or another size) across, on a log scale.

    Blue means that packing wins, red that it loses. A ratio that the runs cannot distinguish from 1 has a question mark
    and the neutral colour of 1; a star means that the machine was busy. If several measurements share a cell, which is
    a fill in whole percent and a size, it shows the median of their ratios. A cell without one stays empty.
    """
    rows = [(round(m.fill, 2), SIZES[across](m), m.ratio, m.differs, m.busy, _described(m)) for m in measured]
    frame = pd.DataFrame(rows, columns=["fill", "size", "ratio", "differs", "busy", "told"])
    how: dict[str, Any] = {"ratio": "median", "differs": "any", "busy": "any", "told": "<br>".join}
    places = frame.groupby(["fill", "size"]).agg(how).astype({"differs": bool, "busy": bool})
    ratios = places["ratio"].map(log2).where(places["differs"], 0.0)  # what the colours show
    z, hover = ratios.unstack(), places["told"].unstack(fill_value="")
    end = max([LEAST_END, *ratios.abs()])
    marks = {"?": ~places["differs"], "*": places["busy"]}
    key = ["below 1, in blue, packing wins", *(f"{mark} {MARKS[mark]}" for mark in marks if marks[mark].any())]
    cells = dict.fromkeys(each.setup.description for each in measured)
    ran = f"{',<br>' if len(cells) > 1 else ', '}{' and '.join(cells)}" if cells else ": nothing was measured yet"
    top = 30 + 24 * (1 + ran.count("<br>")) + 18 * len(key)  # pixels of the lines above the map
    numbers = [
        {
            "x": z.columns.get_loc(size),
            "y": z.index.get_loc(fill),
            "text": _ratio(places["ratio"][fill, size]) + "".join(f"<br>{m}" for m in marks if marks[m][fill, size]),
            "showarrow": False,
            "font": {"color": text_on(diverging(ratio / end, palette))},
        }
        for (fill, size), ratio in zip(ratios.index.tolist(), ratios, strict=True)
    ]
    return drawn(
        [heatmap(z.to_numpy().tolist(), hover.to_numpy().tolist(), end, palette, xgap=2, ygap=2, showscale=False)],
        _alt(measured),
        palette,
        title=f"Packed ÷ padded{ran}",
        subtitle="<br>".join(key) if measured else "",
        on_top=True,
        margin={"t": top},
        height=146 + top + 40 * max(3, len(z.index)),
        xaxis=named_axis([f"{size:,}" for size in z.columns], title=ACROSS[across]),
        yaxis=named_axis([f"{100 * fill:.3g}" for fill in z.index], title="real tokens (%)"),
        annotations=numbers,
    )


def _ratio(ratio: float) -> str:
    return f"{ratio:.1f}" if ratio >= 1.95 else f"{ratio:.2f}"


def _described(done: Measurement) -> str:
    sure = "" if done.differs else ", the runs show no difference"
    busy = ", machine busy" if done.busy else ""
    times = f"padded {done.padded.median:.3g} ms, packed {done.packed.median:.3g} ms: {_ratio(done.ratio)} times"
    return f"{done.setup.name}, {_sizes(done)}, fill {100 * done.fill:.3g}%<br>{times}{sure}{busy}"


def _alt(done: Sequence[Measurement]) -> str:
    if not done:
        return "Map of where packing wins: nothing was measured yet."
    faster, slower = wins_and_losses(done)
    ratios = [each.ratio for each in done]
    return (
        f"Map of packed divided by padded time in {counted(len(done), 'setting')}: packing is faster in {faster}, "
        f"slower in {slower}, no measurable difference in {len(done) - faster - slower}; "
        f"ratios from {_ratio(min(ratios))} to {_ratio(max(ratios))}; "
        f"{counted(sum(each.busy for each in done), 'setting')} measured while the machine was busy."
    )
