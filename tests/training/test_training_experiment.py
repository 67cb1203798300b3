"""Experiments: only settings that can be trained are taken, and the default ones are all four readouts."""

from dataclasses import FrozenInstanceError
from typing import Any, get_args

import pytest

from packviz.errors import PackvizError
from packviz.lab.training import EXTRA_PADDING, Experiment, Readout, default_experiments


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"cell": "transformer"}, "cell: expected rnn, gru or lstm, but got 'transformer'"),
        ({"readout": "max"}, "readout: expected naive, last_valid, packed or mean"),
        ({"task": "speech"}, "task: expected vowels or first_token"),
        ({"extra_padding": 10}, "extra_padding: expected 0, 20 or 100, but got 10"),
        ({"extra_padding": False}, "extra_padding: expected 0, 20 or 100, but got False"),
        ({"bidirectional": 1}, "bidirectional: expected False or True, but got 1"),
        ({"hidden_size": 0}, "hidden_size: expected a whole number from 1 to 512, but got 0"),
        ({"hidden_size": 10**9}, "hidden_size"),
        ({"hidden_size": True}, "hidden_size"),
        ({"epochs": 0}, "epochs: expected a whole number of at least 1, but got 0"),
        ({"epochs": 2.0}, "epochs"),
        ({"batch_size": -1}, "batch_size"),
        ({"lr": 0}, "lr: expected a number above 0, at most 1, but got 0"),
        ({"lr": float("nan")}, "lr"),
        ({"lr": float("inf")}, "lr"),
        ({"lr": "fast"}, "lr"),
        ({"seeds": ()}, "seeds: expected a few whole numbers, none twice, but got no seed"),
        ({"seeds": 3}, "seeds"),
        ({"seeds": "123"}, "seeds"),
        ({"seeds": (0, 1, 0)}, "0 more than once"),
        ({"seeds": (-1,)}, "seeds"),
        ({"seeds": (2**63,)}, "seeds"),
    ],
)
def test_what_cannot_be_trained_is_refused_with_its_name(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(PackvizError) as refused:
        Experiment(**settings)
    assert message in str(refused.value)
    assert refused.value.parameter == next(iter(settings))
    assert refused.value.mend


def test_an_experiment_is_frozen_and_can_be_a_key() -> None:
    one = Experiment(seeds=[0, 1], lr=1)
    assert {one: 1}[Experiment(seeds=(0, 1), lr=1.0)] == 1
    with pytest.raises(FrozenInstanceError):
        one.epochs = 3  # type: ignore[misc]


def test_the_defaults_are_every_readout_with_every_padding_and_three_seeds() -> None:
    for task in ("vowels", "first_token"):
        experiments = default_experiments(task)
        pairs = {(one.readout, one.extra_padding) for one in experiments}
        assert pairs == {(readout, extra) for readout in get_args(Readout) for extra in EXTRA_PADDING}
        assert len(experiments) == len(pairs)
        assert {(one.task, len(one.seeds)) for one in experiments} == {(task, 3)}


def test_the_name_says_what_differs() -> None:
    assert Experiment().name == "packed"
    name = Experiment(readout="last_valid", bidirectional=True, extra_padding=20).name
    assert name == "last valid, two directions, 20 extra pads"
