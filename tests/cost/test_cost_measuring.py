"""Measurements by scripted clocks: medians, spread, turns, a busy machine, a sweep, and their charts. No real time."""

import random
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from itertools import accumulate, chain, product, repeat, tee
from math import isnan, log2
from statistics import median
from typing import Any, cast

import numpy as np
import pytest
import torch
from seeds import seeds
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from packviz import Batch, charts, trace
from packviz.lab.cost import Measurement, Setup, Timing, counts_of, draw_lengths, measure, plan_sweep, sweep, verdict
from packviz.lab.cost.measuring import Lap, Stopwatch, in_turns
from packviz.lab.cost.setup import switches, works
from packviz.show.theme import LIGHT

SMALL = Setup("gru", 2, 3)
LENGTHS = (4, 2, 1)


def scripted(seconds: Iterable[float], share: float = 1.0, load: float | None = 0.5, cores: int = 2) -> Stopwatch:
    """Return clocks by which the runs take these seconds, one after the other, then a second each.

    share: of each run, in which its thread has a processor.
    """
    clock, cpu = tee(accumulate(chain.from_iterable((0.0, each) for each in chain(seconds, repeat(1.0)))))
    return Stopwatch(lambda: next(clock), lambda: share * next(cpu), lambda: load, cores)


def measured(padded: Iterable[float], packed: Iterable[float], setup: Setup = SMALL, **machine: Any) -> Measurement:
    """Return the measurement whose rounds took these ms; warm-up and fixed work take 5 ms."""
    rounds = list(zip(padded, packed, strict=True))
    script = chain([5.0] * 3, *((a, b, 5.0) for a, b in rounds))
    return measure(setup, LENGTHS, len(rounds), watch=scripted((ms / 1e3 for ms in script), **machine))


KINDS = {"rnn": nn.RNN, "gru": nn.GRU, "lstm": nn.LSTM}
SLOW, FAST = [8.0, 9.0, 8.5, 8.0, 9.5, 8.2, 8.8], [4.0, 4.5, 4.1, 4.2, 4.4, 4.0, 4.3]


@pytest.mark.parametrize(("cell", "both", "layers"), [*product(KINDS, (False, True), (1, 2))])
def test_both_sides_run_the_same_weights_on_the_same_input(cell: Any, both: bool, layers: int) -> None:
    before = torch.get_rng_state()
    way = works(Setup(cell, 3, 5, layers, both), LENGTHS)
    assert torch.equal(torch.get_rng_state(), before)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        module = KINDS[cell](3, 5, layers, batch_first=True, bidirectional=both)
        x = torch.randn(3, 4, 3) * (torch.arange(4) < torch.tensor(LENGTHS)[:, None]).unsqueeze(-1)
    packed = pack_padded_sequence(x, torch.tensor(LENGTHS), True, enforce_sorted=False)
    with torch.no_grad(), torch.backends.mkldnn.flags(enabled=False, allow_tf32=None):
        assert torch.equal(way["padded"]()[0], module(x)[0])
        assert torch.equal(way["packed"]()[0], pad_packed_sequence(module(packed)[0], True)[0])


@pytest.mark.parametrize("cell", KINDS)
def test_backward_computes_the_same_gradients_of_all_weights_on_both_sides(cell: Any) -> None:
    padded, packed = (way()[1:] for way in works(Setup(cell, 3, 5, 2, backward=True), LENGTHS).values())
    assert [one.shape for one in padded] == [weight.shape for weight in KINDS[cell](3, 5, 2).parameters()]
    for one, two in zip(padded, packed, strict=True):
        assert float(one.abs().max()) > 0
        torch.testing.assert_close(one, two, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("seed", seeds(10))
def test_each_side_gets_its_own_times_in_ms(seed: int) -> None:
    draw = random.Random(seed)
    rounds = draw.randint(1, 9)
    script = [draw.uniform(0.001, 0.1) for _ in range(3 * (rounds + 1))]
    done = measure(SMALL, LENGTHS, rounds, watch=scripted(script))
    turns = [script[i : i + 3] for i in range(3, len(script), 3)]
    for side, timing in enumerate((done.padded, done.packed)):
        assert timing.times == pytest.approx([1e3 * turn[side] for turn in turns])
        assert timing.quartiles == pytest.approx(np.percentile(timing.times, [25, 50, 75]).tolist())
    assert done.ratio == pytest.approx(median(t[1] for t in turns) / median(t[0] for t in turns))
    assert done.rounds == rounds
    assert done.fill == pytest.approx(7 / 12)


def test_runs_take_turns_inside_their_switches() -> None:
    seen: list[str] = []

    @contextmanager
    def around() -> Iterator[None]:
        seen.append("(")
        yield
        seen.append(")")

    both = {name: partial(seen.append, name) for name in "AB"}
    rounds = in_turns(both, 2, around=around, watch=scripted([]))
    assert [list(laps) for laps in rounds] == [["A", "B"]] * 2
    assert "".join(seen) == "(A)(B)" * 3


@pytest.mark.parametrize(("seconds", "rounds"), [(0.0, 6), (10.0, 9), (16.5, 16), (100.0, 20), (None, 20)])
def test_no_round_begins_when_the_time_is_over_and_there_are_six(seconds: float | None, rounds: int) -> None:
    runs: list[None] = []  # a second each
    watch = Stopwatch(lambda: len(runs), lambda: len(runs), lambda: None, 2)
    works = {"A": lambda: runs.append(None)}
    done = list(in_turns(works, 20, around=nullcontext, seconds=seconds, watch=watch))
    assert done == [{"A": Lap(1.0, 1.0)}] * rounds


@pytest.mark.parametrize(("onednn", "backward"), [*product((True, False), repeat=2)])
def test_a_run_has_its_switches_and_leaves_them_as_they_were(onednn: bool, backward: bool) -> None:
    def state() -> tuple[bool, int, bool]:
        return torch._C._get_mkldnn_enabled(), torch.get_num_threads(), torch.is_grad_enabled()

    before = state()
    with pytest.raises(KeyError) as raised, switches(Setup("gru", 2, 3, 1, False, backward, onednn, threads=1)):
        raise KeyError(*state())
    assert raised.value.args == (onednn, 1, backward)
    assert state() == before


@pytest.mark.parametrize("packed", [FAST, FAST[::-1], [ms + 0.1 for ms in FAST], [1.0, 9.0, 1.0, 9.0, 1.0, 9.0, 9.0]])
def test_where_the_spreads_overlap_no_difference_is_told(packed: list[float]) -> None:
    done = measured(FAST, packed)
    assert not done.differs
    assert verdict(done).startswith("This measurement shows no difference (GRU forward, fill 58%): ")


@pytest.mark.parametrize(("rounds", "differs"), [(1, False), (3, False), (5, False), (6, True), (7, True)])
def test_a_difference_takes_six_rounds(rounds: int, differs: bool) -> None:
    done = measured(FAST[:rounds], SLOW[:rounds])
    assert done.differs is differs
    assert ("too few" in verdict(done)) is (rounds < 6)


@pytest.mark.parametrize(
    ("machine", "told"),
    [
        ({}, ""),
        ({"load": None, "cores": 1}, ""),
        ({"load": 6.0, "cores": 8}, ""),
        ({"share": 0.5}, "the measuring thread had a processor for only 50% of the time"),
        ({"load": 6.0}, "the load average was 6.0 on 2 processors"),
        ({"load": 1.5, "cores": 1}, "the load average was 1.5 on 1 processor"),
    ],
)
def test_a_measurement_on_a_busy_machine_says_so_and_no_other(machine: Any, told: str) -> None:
    done = measured(FAST, SLOW, **machine)
    assert done.reasons == ((told,) if told else ())
    assert done.busy is bool(told)
    assert verdict(done).endswith(f" The machine was busy: {told}." if told else "(GRU forward, fill 58%).")


def test_the_plan_is_every_combination_that_can_be() -> None:
    cells: tuple[Any, ...] = ("rnn", "lstm")
    fills, sizes, steps, hidden = (0.05, 0.5, 1.0), (1, 4, 64), (5, 40), (2, 8)
    planned = plan_sweep(cells, fills, sizes, steps, hidden, backward=True, onednn=False, threads=1, seed=3)
    found = [(setup.cell, setup.hidden_size, len(n), max(n), sum(n)) for setup, n in planned]
    possible = [
        (cell, H, B, T, round(fill * B * T))
        for cell, fill, B, T, H in product(cells, fills, sizes, steps, hidden)
        if round(fill * B * T) >= T + B - 1
    ]
    assert sorted(found) == sorted(possible)
    assert 0 < len(possible) < 2 * 3 * 3 * 2 * 2
    assert {(setup.backward, setup.onednn, setup.threads, setup.seed) for setup, _ in planned} == {(True, False, 1, 3)}


def test_measurements_come_one_by_one_in_the_order_of_the_plan() -> None:
    planned = plan_sweep(cast(Any, tuple(KINDS)), (0.5, 1.0), (4,), (6,), (3,), features=2)
    asked: list[float] = []

    def clock() -> float:
        asked.append(len(asked))
        return asked[-1]

    for i, (wanted, done) in enumerate(zip(planned, sweep(planned, repeats=2, watch=Stopwatch(clock)), strict=True), 1):
        assert ((done.setup, done.lengths), done.rounds) == (wanted, 2)
        assert len(asked) % i == 0  # each measurement asks the clock as often, and none is made in advance


BUSY = ("the load average was 9.0 on 2 processors",)
ONE = measured([4.0, 5.0, 6.0, 7.0, 8.0], [1.0, 2.0, 3.0, 4.0, 9.0])


def place(fill: float, B: int, ratio: float, *, sure: bool = True, reasons: tuple[str, ...] = ()) -> Measurement:
    """Return a measurement of seven rounds; where it is not sure, every other round comes out the other way."""
    packed = [10 * ratio] * 7 if sure else [10 * ratio, 10 / ratio] * 3 + [10 * ratio]
    lengths = tuple(draw_lengths(B, 50, fill).tolist())
    return Measurement(Setup("lstm", 2, 3), lengths, Timing((10.0,) * 7), Timing(tuple(packed)), reasons)


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


def test_the_map_colours_what_differs_from_one() -> None:
    done = [place(0.5, 4, 0.5), place(0.5, 16, 1.1, sure=False), place(1.0, 4, 3.0, reasons=BUSY)]
    figure = charts.winning(done)
    heat = figure.data[0]
    for across, sizes in (("batch_size", ["4", "16"]), ("steps", ["50"]), ("hidden_size", ["3"])):
        assert list(charts.winning(done, across).layout.xaxis.ticktext) == sizes  # type: ignore[arg-type]
    assert list(figure.layout.yaxis.ticktext) == ["50", "100"]
    assert list(heat.z[0]) == pytest.approx([log2(0.5), 0.0])
    assert heat.z[1][0] == pytest.approx(log2(3.0))
    assert heat.z[1][1] is None or isnan(heat.z[1][1])
    assert (heat.zmin, heat.zmid, heat.zmax) == (-log2(3.0), 0, log2(3.0))
    assert [color for _, color in heat.colorscale] == list(LIGHT.diverging)
    written = {(note.x, note.y): note.text for note in figure.layout.annotations}
    assert written == {(0, 0): "0.50", (1, 0): "1.10<br>?", (0, 1): "3.0<br>*"}
    alt = figure.layout.meta["alt"]
    assert "faster in 1, slower in 1, no measurable difference in 1; ratios from 0.50 to 3.0; 1 setting measured" in alt


def test_waste_is_one_bar_for_each_way_to_batch() -> None:
    shares = {"random": 0.5, "sorted": 0.25, "buckets": 0.3, "token budget": 0.125}
    figure = charts.waste(shares)
    assert dict(zip(figure.layout.yaxis.ticktext, figure.data[0].x, strict=True)) == (
        {name: 100 * share for name, share in shares.items()}
    )
    assert "(%)" in figure.layout.xaxis.title.text


def test_counts_have_panels_of_their_own_and_no_ms() -> None:
    figure = charts.counts_bars(counts_of(trace(Batch.parse("1 2 3 4 5\n6 7\n8"))))
    updates, steps = figure.data
    assert list(updates.x) == [15, 8]
    assert list(steps.x) == [5, 5]
    assert (updates.xaxis, steps.xaxis) == ("x", "x2")
    assert [figure.layout.xaxis.title.text, figure.layout.xaxis2.title.text] == ["cell updates", "sequential steps"]
    assert "ms" not in figure.to_json().replace("params", "").split('"template"')[0]
    assert "padded 15, packed 8; sequential steps: padded 5, packed 5" in figure.layout.meta["alt"]


def test_sizes_of_numpy_are_kept_as_those_of_python() -> None:
    one = Setup("gru", np.int64(2), np.int64(3), threads=np.int64(1))  # type: ignore[arg-type]
    assert [type(each) for each in (one.features, one.hidden_size, one.threads)] == [int] * 3
    assert torch.equal(draw_lengths(np.int64(4), np.int64(5), 0.5), draw_lengths(4, 5, 0.5))  # type: ignore[arg-type]
