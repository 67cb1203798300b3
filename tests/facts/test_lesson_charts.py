"""The charts of the lessons, by value: torch is the judge of every number in them."""

from typing import Any

import pytest
import torch
from facts_cases import made, packed_run, padded_run
from torch.nn.utils.rnn import pack_padded_sequence

import packviz as pv
from packviz import Batch, Config, charts
from packviz.facts import compare, drift, gradient_distances
from packviz.lab.cost import Setup, counts_of, measure, pairs_of
from packviz.lab.training import EpochResult, Experiment, summary
from packviz.lab.training.charts import final, learning
from packviz.show.charts.differences import difference, drifts, gradients
from packviz.show.theme import DARK, LIGHT, SEQUENCE_HUES, Palette, diverging

CASES = [
    ("1 2 3\n4 5\n6 7 8 9", Config()),
    ("1 2 3\n4 5\n6", Config(cell="lstm", num_layers=2, bidirectional=True, hidden_size=3)),
    ("7", Config(cell="rnn", nonlinearity="relu", hidden_size=1)),
    ("\n".join("1 2 3 4"[: 2 * n - 1] for n in (2, 4, 1, 3, 4)), Config(batch_first=False, bidirectional=True)),
]
TRACES = [pv.trace(Batch.parse(text), config) for text, config in CASES]
each = pytest.mark.parametrize("trace", TRACES, ids=[str(i) for i in range(len(TRACES))])


@each
def test_states_shows_torchs_own_output_up_to_an_outlined_final_state(trace: pv.Trace) -> None:
    output, H, lengths = packed_run(trace)[0], trace.module.hidden_size, trace.padded.lengths.tolist()
    for d in range(len(trace.layers[-1])):
        figure = charts.states(trace, direction=d)
        for b, length in enumerate(lengths):
            shown = torch.tensor(figure.data[0].z[b * (H + 1) :][:H], dtype=torch.float32)  # (H, T); nan where None
            torch.testing.assert_close(shown[:, :length].T, output[b, :length, d * H :][:, :H], atol=1e-6, rtol=0)
            assert bool(shown[:, length:].isnan().all())
        rings = figure.layout.shapes[1::2]
        ends = [0 if d else length - 1 for length in lengths]
        assert [(ring.x0 + 0.5, ring.y0 + 0.5) for ring in rings] == [(t, b * (H + 1)) for b, t in enumerate(ends)]
        assert [ring.line.color for ring in rings] == [SEQUENCE_HUES[b % 10] for b in range(len(ends))]


def test_a_state_that_rounds_to_zero_has_no_sign_under_the_pointer() -> None:
    module = torch.nn.RNN(1, 1, batch_first=True)
    with torch.no_grad():
        for weights in module.parameters():
            weights.fill_(-1e-5)
    [text] = [
        text
        for row in charts.states(pv.trace_module(module, torch.ones(1, 1, 1), [1])).data[0].text
        for text in row
        if text
    ]
    assert text.endswith("h = 0.0000")


@each
def test_units_draws_each_unit_of_torchs_own_output(trace: pv.Trace) -> None:
    output = packed_run(trace)[0]
    for b, length in enumerate(trace.padded.lengths.tolist()):
        *lines, final = charts.units(trace, b).data
        for unit, line in enumerate(lines):
            assert list(line.x) == list(range(length))
            assert list(line.y) == pytest.approx(output[b, :length, unit].tolist(), abs=1e-6)
        assert set(final.x) == {length - 1}
        assert list(final.y) == [line.y[-1] for line in lines]


@each
def test_margins_are_lengths_and_batch_sizes(trace: pv.Trace) -> None:
    lengths, sizes = charts.margins(trace).data
    packed = pack_padded_sequence(trace.padded.grid, trace.padded.lengths, True, enforce_sorted=False)
    order = packed.sorted_indices
    assert order is not None
    assert list(lengths.y) == trace.padded.lengths[order].tolist()
    assert list(sizes.y) == packed.batch_sizes.tolist()
    assert list(lengths.marker.color) == [SEQUENCE_HUES[b % 10] for b in order.tolist()]


def test_padding_shares_are_shown_in_percent_and_this_batch_is_marked() -> None:
    figure = charts.padding_shares({"all equal": 0.0, "a <b>few</b>": 0.855}, 0.25)
    assert list(figure.data[0].x) == pytest.approx([0, 85.5, 25])
    assert list(figure.layout.yaxis.ticktext) == ["all equal", "a &lt;b&gt;few&lt;/b&gt;", "<b>this batch</b>"]
    assert list(figure.data[0].marker.color) == [LIGHT.pad, LIGHT.pad, LIGHT.now]
    assert figure.layout.shapes[0].x0 == 25
    small = charts.padding_shares({"few": 0.003, "nearly all": 0.997})
    assert list(small.data[0].text) == ["under 1%", "over 99%"]
    assert "few under 1%, nearly all over 99%" in small.layout.meta["alt"]


def test_panels_show_every_text_on_its_colour_and_frame_what_is_wrong() -> None:
    texts, owners = (("1", "2"), ("<b>",)), ((0, 0), (None,))
    grid = charts.Panel("x", texts, owners, wrong=frozenset({(0, 1)}), rows=("A", "B"))
    figure = charts.panels([grid, charts.Panel("d", (("-1", "2"),), values=((-1.0, 2.0),))])
    words = ["<b>x</b>", "A", "B", "1", "2", "&lt;b&gt;", "<b>d</b>", "-1", "2"]
    assert [note.text for note in figure.layout.annotations] == words
    fills = [box.fillcolor for box in figure.layout.shapes]
    own = SEQUENCE_HUES[0]
    assert fills == [own, LIGHT.background, own, LIGHT.pad, diverging(-0.5), diverging(1.0)]
    assert [box.line.color == LIGHT.wrong for box in figure.layout.shapes] == [False, True, *[False] * 4]
    assert figure.layout.meta["alt"] == "x: 1 2; <b>. d: -1 2."


def test_difference_shows_how_far_torchs_two_runs_are_apart(seen: pv.Trace) -> None:
    heat, crosses = difference(compare(seen)).data
    apart = (padded_run(seen)[0].double() - packed_run(seen)[0].double()).abs().amax(2)
    torch.testing.assert_close(torch.tensor(heat.z, dtype=torch.float64), apart, atol=1e-4, rtol=1e-4)
    pads = (~seen.padded.mask).nonzero().tolist()
    assert list(zip(crosses.y, crosses.x, strict=True)) == [(b, t) for b, t in pads]


def test_a_large_batch_is_shown_in_part_and_says_so() -> None:
    trace = pv.trace(Batch.from_tensors([torch.ones(1 + b % 3) for b in range(70)]), Config(hidden_size=64))
    drawn = [charts.states(trace), difference(compare(trace)), drifts(drift(trace, 2)), charts.states(TRACES[0])]
    said = ["24 of 70 sequences, 12 of 64 units", "60 of 70 sequences", "40 of 70 sequences"]
    assert [each.layout.title.subtitle.text for each in drawn] == [*(f"showing {part}" for part in said), ""]
    assert (len(drawn[0].data[0].z), len(drawn[1].data[0].z)) == (24 * 13 - 1, 60)


def test_drifts_puts_every_distance_over_its_own_number_of_pads() -> None:
    done = drift(made("1 2 3\n4", bidirectional=True, num_layers=2), 50)
    figure = drifts(done)
    assert list(figure.data[0].x) == list(done.pads) == [*range(11), 15, 20, 30, 40, 49, 50]
    assert list(figure.data[0].y) == done.distances[0].tolist()
    assert "over 0 to 50 pads; after one pad and after 50: A " in figure.layout.meta["alt"]


def test_gradients_has_two_bars_for_each_parameter() -> None:
    done = gradient_distances(made("on your mark\ngo", bidirectional=True))
    unmasked, masked = gradients(done).data
    assert list(unmasked.y) == list(masked.y) == [row.name for row in done]
    assert [*zip(unmasked.x, masked.x, strict=True)] == [(row.unmasked, row.masked) for row in done]


TRAINED = [EpochResult(Experiment(epochs=1, seeds=(0,)), 0, 1, 1.3, 40.0, 1.0)]
DONE = measure(Setup("gru", 2, 3), (4, 2, 1), 1)
T = TRACES[1]
CHARTS: list[tuple[Any, ...]] = [(charts.states, T), (charts.units, T, 0), (charts.margins, T)]
CHARTS += [(charts.padding_shares, {"even": 0.5}, 0.2), (charts.waste, {"random": 0.4}), (charts.timings, [DONE])]
CHARTS += [(charts.winning, [DONE]), (charts.counts_bars, counts_of(T)), (difference, compare(T)), (drifts, drift(T))]
CHARTS += [(charts.pairs_bars, pairs_of([3, 2, 1], 6))]
CHARTS += [(gradients, gradient_distances(T)), (learning, TRAINED), (final, summary(TRAINED))]


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("chart", CHARTS, ids=lambda chart: chart[0].__name__)
def test_every_chart_has_our_template_a_sentence_and_named_axes(chart: tuple[Any, ...], palette: Palette) -> None:
    draw, *of = chart
    layout = draw(*of, palette=palette).layout
    assert layout.template == charts.template(palette)
    assert layout.template.layout.font.size >= 13
    assert layout.template.layout.font.color == palette.text
    assert layout.template.layout.paper_bgcolor == "rgba(0,0,0,0)"
    assert layout.title.text
    assert layout.xaxis.title.text
    assert layout.meta["alt"].endswith(".")
