"""Outcomes, what is concluded from them, the CSV and the charts: nothing that the spread does not bear."""

import csv
from dataclasses import replace
from io import StringIO
from itertools import product
from statistics import mean, stdev
from typing import Any

import pytest
import torch

from packviz.lab.training import COLUMNS, EpochResult, Experiment, Outcome, conclusion, summary, table, to_csv
from packviz.lab.training.charts import final, learning


def ended(*accuracies: float, majority_baseline: float = 10.0, **settings: Any) -> Outcome:
    seeds = tuple(range(len(accuracies)))
    return Outcome(Experiment(seeds=seeds, **settings), seeds, accuracies, 1.0, majority_baseline)


NAIVE: dict[str, Any] = {"readout": "naive"}
CONCLUSIONS: list[tuple[list[Outcome], str]] = [
    ([ended(81.0, 82.0, 83.0, **NAIVE), ended(93.0, 94.0, 95.0)], "12.0 points lower than packed (82.0% and 94.0%"),
    ([ended(93.0, 94.0, 95.0), ended(97.0, 98.0, 99.0, readout="mean")], "4.0 points higher than packed"),
    ([ended(28.0, 70.0, 98.0, **NAIVE), ended(99.0, 100.0, 100.0)], "3 seeds show no difference from packed"),
    (
        [ended(90.0, 91.0, 95.0, readout="last_valid"), ended(90.0, 91.0, 95.0)],
        "the accuracy is the same as packed in each",
    ),
    ([ended(91.0, 90.0, 95.0, readout="last_valid"), ended(90.0, 91.0, 95.0)], "show no difference from packed"),
    ([ended(20.0, **NAIVE), ended(95.0)], "1 seed is too few"),
    ([ended(20.0, 20.0, **NAIVE), ended(95.0, 95.0)], "2 seeds are too few"),
    ([ended(80.0, 81.0, 82.0, **NAIVE), ended(50.0, 51.0, 52.0, extra_padding=20, **NAIVE)], "than without extra pads"),
    ([ended(7.8, 9.5, 23.8, majority_baseline=23.8, **NAIVE)], "no seed beats the majority-class baseline (23.8%)"),
]


@pytest.mark.parametrize(("outcomes", "says"), CONCLUSIONS, ids=[says for _, says in CONCLUSIONS])
def test_what_the_spread_bears_is_concluded_and_no_more(outcomes: list[Outcome], says: str) -> None:
    (said,) = conclusion(outcomes)
    assert says in said
    assert (" points " in said) == ("points" in says or "without extra pads" in says)


def test_only_experiments_that_differ_in_one_setting_are_compared() -> None:
    good, bad = (95.0, 95.5, 96.0), (20.0, 20.5, 21.0)
    others: dict[str, Any] = {"cell": "rnn", "bidirectional": True, "extra_padding": 20, "task": "first_token"}
    others |= {"epochs": 3, "hidden_size": 4, "lr": 0.5, "batch_size": 9}
    for setting, value in others.items():
        assert conclusion([ended(*bad, readout="naive", **{setting: value}), ended(*good)]) == ()
    assert len(conclusion([ended(*bad, readout="naive"), ended(*good)])) == 1
    assert conclusion([]) == ()


def test_chance_alone_is_called_a_difference_in_few_of_many_trials() -> None:
    generator, claims = torch.Generator().manual_seed(0), 0
    for _ in range(800):
        one, other = (ended(*(50 + torch.randn(3, generator=generator)).tolist()) for _ in range(2))
        (said,) = conclusion([replace(one, experiment=replace(one.experiment, readout="naive")), other])
        claims += " points " in said
    assert 0.01 < claims / 800 < 0.04


def test_the_summary_takes_the_last_epoch_of_finished_seeds_alone() -> None:
    one = Experiment(epochs=2, seeds=(4, 5, 6))
    other = replace(one, readout="naive")
    runs = [(one, 4, 1, 10.0), (one, 4, 2, 80.0), (other, 4, 1, 1.0), (one, 5, 1, 20.0), (one, 5, 2, 90.0)]
    runs.append((one, 6, 1, 99.0))
    (outcome,) = summary([EpochResult(each, seed, epoch, 1.0, a, 0.25 * epoch) for each, seed, epoch, a in runs])
    assert (outcome.experiment, outcome.seeds, outcome.accuracies) == (one, (4, 5), (80.0, 90.0))
    assert outcome.mean == 85.0
    assert outcome.spread == pytest.approx(stdev((80.0, 90.0)))
    assert outcome.majority_baseline == 100 * 88 / 370
    assert outcome.seconds == 0.5
    assert summary([]) == ()


def test_the_table_has_a_row_for_each_outcome_with_its_units() -> None:
    first, other = table([ended(80.0, 84.0, 88.0, readout="naive", extra_padding=20), ended(90.0)])
    settings = {"task": "vowels", "cell": "gru", "directions": 1, "readout": "last column", "extra pads": 20}
    numbers = {"mean (%)": 84.0, "standard deviation (points)": 4.0, "worst seed (%)": 80.0, "best seed (%)": 88.0}
    assert first == settings | numbers | {"seeds": 3, "seconds a seed": 1.0}
    assert other["standard deviation (points)"] is None


def records(*experiments: Experiment) -> list[EpochResult]:
    """Return made-up results: every number differs from every other."""
    return [
        EpochResult(one, seed, epoch, 2.0 / epoch + seed / 7 + i / 90, 10.0 * epoch + seed + i / 9, 1.0)
        for i, one in enumerate(experiments)
        for seed in one.seeds
        for epoch in range(1, one.epochs + 1)
    ]


def test_the_csv_gives_back_every_number_of_every_epoch_and_seed() -> None:
    one = Experiment(task="first_token", hidden_size=2, epochs=2, batch_size=240, seeds=(0, 3))
    results = records(one, replace(one, readout="naive", bidirectional=True, extra_padding=20))
    lines = list(csv.DictReader(StringIO(to_csv(results))))
    assert len(lines) == len(results) == 8
    assert tuple(lines[0]) == COLUMNS
    for line, p in zip(lines, results, strict=True):
        for name in COLUMNS:
            value = getattr(p if hasattr(p, name) else p.experiment, name)
            assert type(value)(line[name] == "True" if isinstance(value, bool) else line[name]) == value
    assert to_csv([]).splitlines() == [",".join(COLUMNS)]


CASES: Any = product(("naive", "packed"), (0, 100))
EXPERIMENTS = [Experiment(epochs=4, readout=readout, extra_padding=extra) for readout, extra in CASES]


def lines(figure: Any, axis: str) -> list[Any]:
    return [trace for trace in figure.data if trace.fill is None and trace.yaxis == axis]


@pytest.mark.parametrize(("axis", "what"), [("y", "test_accuracy"), ("y2", "train_loss")])
def test_each_curve_is_the_mean_of_its_seeds_and_its_band_their_reach(axis: str, what: str) -> None:
    results = records(*EXPERIMENTS)
    figure = learning(results)
    bands = [trace for trace in figure.data if trace.fill == "toself" and trace.yaxis == axis]
    assert len(bands) == len(lines(figure, axis)) == len(EXPERIMENTS)
    for one, line, band in zip(EXPERIMENTS, lines(figure, axis), bands, strict=True):
        seen = [[getattr(p, what) for p in results if p.experiment == one and p.epoch == e] for e in range(1, 5)]
        assert list(line.x) == [1, 2, 3, 4]
        assert list(line.y) == pytest.approx([mean(values) for values in seen])
        assert list(band.x) == [1, 2, 3, 4, 4, 3, 2, 1]
        assert list(band.y) == [*map(max, seen), *map(min, seen[::-1])]
        assert line.name == one.name


def test_the_final_chart_has_a_dot_for_every_seed() -> None:
    outcomes = summary(records(*EXPERIMENTS))
    figure = final(outcomes)
    means, dots = list(figure.data[::2]), list(figure.data[1::2])
    assert [trace.name for trace in means] == ["last column", "packed"]
    for readout, average, seeds in zip(("naive", "packed"), means, dots, strict=True):
        group = [o for o in outcomes if o.experiment.readout == readout]
        assert list(average.y) == [o.mean for o in group]
        assert list(seeds.y) == [accuracy for o in group for accuracy in o.accuracies]
        assert [round(x) for x in average.x] == [0, 1]
        assert list(seeds.x) == [x for x in average.x for _ in range(3)]
    assert list(figure.layout.xaxis.ticktext) == ["0", "100"]
    assert [shape.y0 for shape in figure.layout.shapes] == [100 * 88 / 370]


def test_experiments_that_differ_in_other_settings_stay_apart() -> None:
    settings = {"cell": "lstm", "hidden_size": 3, "lr": 0.5, "batch_size": 7, "bidirectional": True}
    others = [Experiment(epochs=2, **{name: value}) for name, value in settings.items()]  # type: ignore[arg-type]
    results = records(Experiment(epochs=2), *others)
    assert len({trace.name for trace in lines(learning(results), "y")}) == 6
    assert len({trace.name for trace in final(summary(results)).data}) == 12


def test_nothing_trained_is_a_titled_empty_chart() -> None:
    assert not learning([]).data
    assert "nothing has been trained yet" in learning([]).layout.title.text
    assert not final([]).data
    assert "no training has finished yet" in final([]).layout.title.text
