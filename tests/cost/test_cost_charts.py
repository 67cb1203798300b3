"""The charts of costs, by value."""

from dataclasses import replace
from math import isnan, log2

import pytest
from cost_cases import measured

from packviz import Batch, PackvizError, charts, trace
from packviz.lab.cost import Measurement, Point, Setting, Setup, Timing, counts_of, ways
from packviz.show.theme import LIGHT

BUSY = ("the load average was 9.0 on 2 processors",)
ONE = measured([4.0, 5.0, 6.0, 7.0, 8.0], [1.0, 2.0, 3.0, 4.0, 9.0])


def point(fill: float, batch_size: int, ratio: float, *, sure: bool = True, reasons: tuple[str, ...] = ()) -> Point:
    """Return a point of seven rounds; where it is not sure, every other round comes out the other way."""
    packed = [10 * ratio] * 7 if sure else [10 * ratio, 10 / ratio] * 3 + [10 * ratio]
    setup = Setup("lstm", 2, 3)
    done = Measurement(setup, (4, 1), Timing((10.0,) * 7), Timing(tuple(packed)), reasons)
    return Point(Setting(setup, batch_size, 50, fill), done)


def test_timings_are_medians_in_ms_with_whiskers_at_the_quartiles() -> None:
    figure = charts.timings([ONE, replace(ONE, setup=Setup("lstm", 2, 3, backward=True, onednn=False), reasons=BUSY)])
    for bars, timing in zip(figure.data, (ONE.padded, ONE.packed), strict=True):
        assert list(bars.x) == [timing.median] * 2
        assert [timing.median + up for up in bars.error_x.array] == pytest.approx([timing.quartiles[2]] * 2)
        assert [timing.median - down for down in bars.error_x.arrayminus] == pytest.approx([timing.quartiles[0]] * 2)
    assert [bars.name for bars in figure.data] == ["padded", "packed"]
    assert list(figure.layout.yaxis.ticktext) == [
        "GRU forward",
        "LSTM forward + backward<br>oneDNN off<br>machine busy",
    ]
    assert "(ms)" in figure.layout.xaxis.title.text
    assert "padded 6 ms, packed 3 ms" in figure.layout.meta["alt"]


def test_the_map_colours_what_the_runs_tell_from_one_and_writes_every_ratio() -> None:
    points = [point(0.1, 4, 0.5), point(0.1, 16, 1.1, sure=False), point(1.0, 4, 3.0, reasons=BUSY)]
    figure = charts.winning(points)
    heat = figure.data[0]
    assert list(figure.layout.xaxis.ticktext) == ["4", "16"]
    assert list(figure.layout.yaxis.ticktext) == ["10", "100"]
    assert list(heat.z[0]) == pytest.approx([log2(0.5), 0.0])
    assert heat.z[1][0] == pytest.approx(log2(3.0))
    assert heat.z[1][1] is None or isnan(heat.z[1][1])
    assert (heat.zmin, heat.zmid, heat.zmax) == (-log2(3.0), 0, log2(3.0))
    assert [color for _, color in heat.colorscale] == list(LIGHT.diverging)
    written = {(note.x, note.y): note.text for note in figure.layout.annotations}
    assert written == {(0, 0): "0.50", (1, 0): "1.10?", (0, 1): "3.0*"}
    alt = figure.layout.meta["alt"]
    assert "faster in 1, slower in 1, no difference shows in 1; ratios from 0.50 to 3.0; 1 setting measured" in alt


def test_waste_is_one_bar_for_each_way_to_batch() -> None:
    shares = {cut.name: cut.share for cut in ways([1, 9, 2, 8, 3, 30], 2)}
    figure = charts.waste(shares)
    assert list(figure.data[0].x) == pytest.approx([100 * share for share in shares.values()])
    assert list(figure.layout.yaxis.ticktext) == ["random", "sorted", "buckets", "token budget"]
    assert "(%)" in figure.layout.xaxis.title.text
    with pytest.raises(PackvizError):
        charts.waste({"odd": 2.0})


def test_counts_have_panels_of_their_own_and_no_ms() -> None:
    figure = charts.counts_bars(counts_of(trace(Batch.parse("1 2 3 4 5\n6 7\n8"))))
    updates, steps = figure.data
    assert list(updates.x) == [15, 8]
    assert list(steps.x) == [5, 5]
    assert (updates.xaxis, steps.xaxis) == ("x", "x2")
    assert [figure.layout.xaxis.title.text, figure.layout.xaxis2.title.text] == ["cell updates", "sequential steps"]
    assert "ms" not in figure.to_json().replace("params", "").split('"template"')[0]
    assert "padded 15, packed 8; sequential steps: padded 5, packed 5" in figure.layout.meta["alt"]
