"""Recorded runs: what is stored keeps to its schema and is drawn like a live run; the recorder writes the same form."""

import json
import math
import platform
import re
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from functools import partial
from importlib.resources import files
from itertools import product
from pathlib import Path
from typing import Any, get_args

import pytest
import torch
from jsonschema import Draft202012Validator

from packviz import charts
from packviz.inputs.cell_kinds import Cell
from packviz.lab import recorded
from packviz.lab.cost import Measurement, Setup, Timing, plan_sweep
from packviz.lab.recorded import CostRecording, Made, TrainingRecording
from packviz.lab.recorded.__main__ import EXPERIMENTS, RECORDERS, main, record_cost, record_training
from packviz.lab.recorded.recording import DATA
from packviz.lab.training import EpochResult, Experiment, Readout, run_all, summary
from packviz.show.theme import DARK, LIGHT, Palette, contrast

SCHEMA = json.loads((files("packviz.lab.recorded") / "recorded.schema.json").read_text("utf-8"))
WAYS: tuple[Readout, Readout] = ("naive", "packed")
TINY = [Experiment(cell="rnn", hidden_size=2, epochs=2, seeds=(0, 1), readout=way) for way in WAYS]
TINY_SWEEP = plan_sweep(("gru",), (0.5, 1.0), (2,), (4,), (3,), features=2)
MADE = Made("2026-11-22", 100.0, 25.0, "A processor", 2, [3.0, 4.0], 1, "3.11.7", "2.13.0")
CELLS = get_args(Cell)

each_cell = pytest.mark.parametrize("cell", CELLS)


def stored(kind: str, folder: Path = DATA) -> Any:
    return json.loads((folder / f"{kind}.json").read_text("utf-8"))


def valid(data: Any, kind: str) -> bool:
    return bool(Draft202012Validator({**SCHEMA, "oneOf": [{"$ref": f"#/$defs/{kind}"}]}).is_valid(data))


def tiny_cost() -> dict[str, Any]:
    batch = [(Setup("gru", 1, 2, backward=backward), (2, 1)) for backward in (False, True)]
    return record_cost(batch, TINY_SWEEP, 6, 0.01)


def training_of(naive: Sequence[float], packed: Sequence[float], *, seeds: int = 3) -> TrainingRecording:
    """Return a made-up recording: accuracies for 0 and 100 extra pads, each seed a point above the one before."""
    cases = zip(product(WAYS, (0, 100)), (*naive, *packed), strict=True)
    every = [(Experiment("gru", 24, way, False, extra, epochs=1), a) for (way, extra), a in cases]
    return TrainingRecording(
        MADE, tuple(EpochResult(one, n, 1, 1.0, a + n, 8.0) for one, a in every for n in range(seeds))
    )


def cost_of(small: float, *larger: float) -> CostRecording:
    """Return a made-up recording, with these ratios of packed to padded."""
    setup = Setup("gru", 2, 3)
    timings = [Timing((10 * ratio,) * 7) for ratio in (1.0, small, *larger)]
    first, *done = [Measurement(setup, (4, 1), timings[0], packed, ()) for packed in timings[1:]]
    return CostRecording(MADE, (first,), tuple(done))


@pytest.mark.parametrize("kind", ["training", "cost"])
def test_what_is_recorded_keeps_to_the_schema(kind: str) -> None:
    Draft202012Validator.check_schema(SCHEMA)
    data = stored(kind)
    assert valid(data, kind)
    assert not valid(data, {"training": "cost", "cost": "training"}[kind])
    for changed in ({"more": 1}, {"format": 1}, {"made": data["made"] | {"cpu": "/home/somebody"}}, {"made": None}):
        assert not valid(data | changed, kind)
    made, text = data["made"], json.dumps(data)
    assert made["torch"].startswith(torch.__version__.split("+")[0])  # a new torch needs a new recording
    assert 0 < made["cpu_seconds"] <= made["seconds"] * made["cores"]
    assert "/" not in text.replace("w/", "")
    assert platform.node() not in text or len(platform.node()) < 4


@each_cell
def test_the_stored_trainings_are_whole(cell: str) -> None:
    run = recorded.training()
    assert {replace(each.experiment, seeds=(0, 1, 2)) for each in run.results} == set(EXPERIMENTS)
    outcomes = run.outcomes(cell)
    assert len(outcomes) == 12
    assert all(outcome.seeds == outcome.experiment.seeds and len(outcome.seeds) >= 3 for outcome in outcomes)
    assert len(run.of(cell)) == sum(o.experiment.epochs * len(o.seeds) for o in outcomes)
    dots = [y for trace in charts.final(outcomes).data[1::2] for y in trace.y]
    assert sorted(dots) == sorted(a for outcome in outcomes for a in outcome.accuracies)
    assert max(max(trace.x) for trace in charts.learning(run.of(cell)).data) == 12


@pytest.mark.slow
@each_cell
def test_a_model_trained_now_learns_as_the_recorded_one(cell: Cell) -> None:
    one = next(each for each in EXPERIMENTS if each.cell == cell and each.readout == "packed")
    recording = [each for each in recorded.training().of(cell) if each.experiment == one and each.seed == 0]
    now = next(run_all([one]))  # after one epoch, while different processors still agree
    assert now.train_loss == pytest.approx(recording[0].train_loss, abs=1e-3)
    assert now.test_accuracy == pytest.approx(recording[0].test_accuracy, abs=2)


@each_cell
@pytest.mark.parametrize("backward", [False, True])
def test_the_stored_times_are_the_apps_map_and_drawn_by_its_charts(cell: Cell, backward: bool) -> None:
    run = recorded.cost()
    done = run.of(cell, backward=backward)
    assert [(m.setup, m.lengths) for m in done] == plan_sweep((cell,), backward=backward)
    assert all(len(m.padded.times) == len(m.packed.times) >= 6 for m in done)
    assert len(charts.winning(done).layout.annotations) == len(done)
    bars = charts.timings(run.batch).data
    assert [*zip(*(each.x for each in bars), strict=True)] == [(m.padded.median, m.packed.median) for m in run.batch]


@pytest.mark.slow
def test_tiny_runs_are_recorded_in_the_same_form_and_read_back_as_they_ran(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(RECORDERS, "training", partial(record_training, TINY))
    monkeypatch.setitem(RECORDERS, "cost", tiny_cost)
    main(["training"], tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["training.json"]
    main([], tmp_path)
    for kind in ("training", "cost"):
        assert valid(stored(kind, tmp_path), kind)
    read, live = recorded.training(tmp_path), list(run_all(TINY))
    for ours, theirs in zip(read.results, live, strict=True):
        assert (ours.experiment, ours.seed, ours.epoch) == (theirs.experiment, theirs.seed, theirs.epoch)
        assert (ours.train_loss, ours.test_accuracy) == pytest.approx((theirs.train_loss, theirs.test_accuracy), 1e-5)
    assert asdict(read.made) == stored("training", tmp_path)["made"]
    assert charts.final(summary(read.results)).data
    times = recorded.cost(tmp_path)
    assert [each.setup.backward for each in times.batch] == [False, True]
    assert [(each.setup, each.lengths) for each in times.shapes] == TINY_SWEEP
    assert list(times.shapes[0].packed.times) == stored("cost", tmp_path)["shapes"][0]["packed"]
    assert charts.winning(times.shapes).data


ALWAYS = (
    "If the last column, `output[:, -1]`, is read, the accuracy falls from 78% to 13% as padding grows. "
    "If the batch is packed, the accuracy stays at 93%."
)
NONE = "{} seeds show no difference between the last column and packed, even with 100 extra pads: {}% and {}%."
LOSES = (
    "Packing 2 sequences takes 2.0 times as long as padding. "
    "Of 3 larger batches, packing is faster for 2 and slower for 1."
)
GAINS = (
    "Packing 2 sequences takes 50% of the time of padding. "
    "Of 1 larger batch, packing is faster for 1 and slower for none."
)
EQUALS = (
    "Packing 2 sequences takes 50% of the time of padding. "
    "Of 6 larger batches, packing is faster for 1, slower for 2, and about equal for 3."
)
HEADLINES: list[tuple[Callable[..., str], object, str]] = [
    (recorded.training_headline, training_of((77, 12), (92, 92)), ALWAYS),
    (recorded.training_headline, training_of((91, 91), (92, 92)), NONE.format(3, 92, 93)),
    (recorded.training_headline, training_of((77, 12), (92, 92), seeds=2), NONE.format(2, 12, 92)),
    (recorded.cost_headline, cost_of(2.0, 0.5, 0.5, 1.5), LOSES),
    (recorded.cost_headline, cost_of(0.5, 0.5), GAINS),
    (recorded.cost_headline, cost_of(0.5, 0.5, 1.5, 1.5, 1.0, 1.0, 1.0), EQUALS),
]


@pytest.mark.parametrize(("headline", "run", "told"), HEADLINES)
def test_a_headline_says_only_what_the_spread_of_the_runs_allows(
    headline: Callable[..., str], run: object, told: str
) -> None:
    assert headline(run, "gru") == told


@each_cell
def test_the_caption_of_the_map_says_why_a_field_has_no_number(cell: str) -> None:
    run = recorded.cost()
    done = run.of(cell)
    colors = [value for row in charts.winning(done).data[0].z for value in row]
    assert sum(value is None or math.isnan(value) for value in colors) == len(colors) - len(done) > 0
    assert "Fields without a number were not measured" in recorded.cost_caveat(run, cell)
    assert "Fields" not in recorded.cost_caveat(cost_of(0.5, 0.5), "gru")


def test_a_gap_is_told_beside_what_chance_alone_does() -> None:
    told = recorded.training_caveat(training_of((77, 12), (92, 92)), "gru")
    spread = (1 + 1) ** 0.5  # each of the two results has a standard deviation of one point over the seeds
    said = f"80 points apart, and this gap varies by about {round(spread)} from seed to seed."
    assert said in " ".join(told.split())


def test_without_a_load_average_the_machine_is_told_all_the_same() -> None:
    run = recorded.cost()
    assert "load average" in recorded.machine(run)
    assert "load average" not in recorded.machine(replace(run, made=replace(run.made, load=[])))


@each_cell
def test_the_last_valid_step_is_named_where_it_is_as_accurate_as_packing(cell: str) -> None:
    run = recorded.training()
    means = {
        way: [o.accuracies for o in run.outcomes(cell) if o.experiment.readout == way]
        for way in ("last_valid", "packed")
    }
    told = [recorded.training_headline(run, cell), recorded.training_caveat(run, cell)]
    assert [("last valid step" in each) for each in told] == 2 * [means["last_valid"] == means["packed"]]


@pytest.mark.parametrize(
    ("T", "num_layers", "rounds", "seconds", "told"),
    [
        (4, 1, 99, 60.0, "2 seconds"),  # 100 pairs of 10 ms and 10 ms
        (12, 2, 99, 60.0, "12 seconds"),
        (600, 2, 99, 60.0, "60 seconds"),  # 6 s a pair: no new round begins after 60 s
        (600, 2, 99, 1.0, "42 seconds"),  # six rounds and the one that does not count
    ],
)
def test_the_time_of_a_measurement_follows_from_recorded_batches(
    T: int, num_layers: int, rounds: int, seconds: float, told: str
) -> None:
    setups = [Setup("gru", 5, 7, num_layers)]
    said = recorded.batch_takes(cost_of(1.0), setups, T, rounds, seconds)
    assert said == f"On the idle machine of the recorded run this takes about {told}; on a busy one it takes longer."
    assert recorded.batch_takes(cost_of(1.0), [Setup("lstm", 5, 7)], T, rounds, seconds) == ""


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
@each_cell
def test_the_short_chart_has_the_recorded_means(cell: str, palette: Palette) -> None:
    figure = charts.recorded_accuracy(cell, palette)
    outcomes = recorded.training().outcomes(cell)
    ways = ("packed", "last_valid", "naive")
    packed, valid, naive = ([o.mean for o in outcomes if o.experiment.readout == way] for way in ways)
    bands, lines = figure.data[::2], figure.data[1::2]
    assert [list(line.y) for line in lines] == [packed, valid, naive]
    assert all(list(line.x) == [0, 20, 100] for line in lines)
    assert all(list(band.x) == [0, 20, 100, 100, 20, 0] and max(band.y) <= 100 for band in bands)
    assert lines[1].line.dash == "dash"  # in one direction it is on the line of packing, and both are seen
    assert not figure.layout.showlegend
    names = ["", "packed ", "", "", "", "", "", "last column ", ""]
    words = [f"{name}{mean:.0f}%" for name, mean in zip(names, packed + valid + naive, strict=True)]
    words[4] += "\nlast valid step"  # in a line of its own, clear of the last percentage on a phone
    assert [re.sub("<.*?>", "", note.text.replace("<br>", "\n")) for note in figure.layout.annotations] == words
    assert all(contrast(note.font.color, palette.background) >= 4.5 for note in figure.layout.annotations)
    assert f"last column with 100 {naive[-1]:.1f}%" in figure.layout.meta["alt"]
