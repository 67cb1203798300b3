"""The charts of trainings hold the records' own numbers, seed by seed."""

from statistics import mean
from typing import Any

import pytest

from packviz.lab.training import Experiment, Progress, summary
from packviz.lab.training.charts import final, learning


def records(*experiments: Experiment) -> list[Progress]:
    """Return made-up results: every number differs from every other."""
    return [
        Progress(one, seed, epoch, 2.0 / epoch + seed / 7 + i / 90, 10.0 * epoch + seed + i / 9, 1.0)
        for i, one in enumerate(experiments)
        for seed in one.seeds
        for epoch in range(1, one.epochs + 1)
    ]


EXPERIMENTS = [Experiment(epochs=4, readout=readout, extra_padding=extra)
               for readout in ("naive", "packed") for extra in (0, 100)]  # fmt: skip


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


def test_the_final_chart_has_a_dot_for_every_seed_and_a_mean_for_every_experiment() -> None:
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
    everything = [Experiment(epochs=2), *others]
    assert len({trace.name for trace in lines(learning(records(*everything)), "y")}) == 6
    assert len({trace.name for trace in final(summary(records(*everything))).data}) == 12


def test_nothing_trained_is_a_titled_empty_chart() -> None:
    assert not learning([]).data
    assert "nothing has been trained yet" in learning([]).layout.title.text
    assert not final([]).data
    assert "no training has finished yet" in final([]).layout.title.text
