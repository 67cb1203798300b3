"""Experiments take only settings that can be trained; their sequences are the source's own, or made up."""

import re
from dataclasses import FrozenInstanceError
from importlib.resources import files

import numpy as np
import pytest
import torch

from packviz.lab.training import Experiment, first_token, vowels, vowels_credit


def test_an_experiment_is_frozen_can_be_a_key_and_has_a_name() -> None:
    one = Experiment(seeds=[0, 1], lr=1)  # type: ignore[arg-type]
    assert {one: 1}[Experiment(seeds=(0, 1), lr=1.0)] == 1
    with pytest.raises(FrozenInstanceError):
        one.epochs = 3  # type: ignore[misc]
    assert one.name == "packed"
    name = Experiment(readout="last_valid", bidirectional=True, extra_padding=20).name
    assert name == "last valid step, two directions, 20 extra pads"


def test_the_vowels_come_in_their_original_split_of_270_and_370() -> None:
    split = vowels()
    assert (len(split.train_x), len(split.test_x)) == (270, 370)
    assert (len(split.train_y), len(split.test_y)) == (270, 370)
    assert (split.features, split.classes) == (12, 9)
    assert torch.bincount(split.train_y).tolist() == [30] * 9
    assert torch.bincount(split.test_y).tolist() == [31, 35, 88, 44, 29, 24, 40, 50, 29]
    assert split.majority_baseline == 100 * 88 / 370


# From the two files of the source: split, utterance and time step; below them its twelve numbers.
SOURCE = """
train_x 0 0
1.860936 -0.207383 0.261557 -0.214562 -0.171253 -0.118167 -0.277557 0.025668 0.126701 -0.306756 -0.213076 0.088728
train_x 137 3
1.050631 -0.170413 -0.515685 -0.403839 0.286926 -0.363844 -0.118189 -0.004694 -0.147789 -0.18864 -0.021451 0.194006
train_x 269 -1
0.966744 -0.323093 0.305467 -0.419457 0.514195 -0.31106 -0.033985 0.154038 -0.389686 -0.089183 0.16625 0.173642
test_x 0 0
1.635533 0.024848 0.432087 -0.361914 -0.074776 -0.693481 -0.229621 0.261503 -0.089421 -0.020431 -0.008612 0.139754
test_x 200 5
1.498452 -1.118857 0.214708 -0.044592 0.402017 -0.175471 -0.515688 -0.093969 -0.190934 -0.071031 0.071669 -0.029991
test_x 369 -1
1.177449 -0.40408 0.052026 -0.284812 0.42984 -0.203484 -0.072393 -0.080955 -0.244424 -0.001849 -0.016634 0.224688
"""


@pytest.mark.parametrize("row", re.findall(r"(?m)^t.*\n.*", SOURCE))
def test_the_values_are_the_sources_own(row: str) -> None:
    part, utterance, step, *values = row.split()
    assert torch.equal(getattr(vowels(), part)[int(utterance)][int(step)], torch.tensor([float(x) for x in values]))


def test_the_stored_vowels_are_small_and_carry_their_credit() -> None:
    assert len(files("packviz.lab.training").joinpath("vowels_split.gz").read_bytes()) < 400_000
    assert all(part in vowels_credit() for part in ("Kudo", "UCI", "10.24432/C5NS47", "CC BY 4.0"))


@pytest.mark.parametrize("seed", range(3))
def test_the_answer_is_the_first_token(seed: int) -> None:
    split, again, other = first_token(seed), first_token.__wrapped__(seed), first_token(seed + 1)
    assert (split.features, split.classes) == (4, 4)
    for x, y in ((split.train_x, split.train_y), (split.test_x, split.test_y)):
        assert [int(row[0].argmax()) for row in x] == y.tolist()
        assert all(torch.equal(row.sum(1), torch.ones(len(row))) and set(row.flatten().tolist()) == {0, 1} for row in x)
    lengths = {len(row) for row in split.train_x}
    assert lengths == set(range(3, 13))
    assert all(torch.equal(a, b) for a, b in zip(split.train_x, again.train_x, strict=True))
    assert not torch.equal(split.train_y, other.train_y)


def test_integers_of_numpy_are_kept_as_those_of_python() -> None:
    given = {"hidden_size": np.int64(8), "extra_padding": np.int64(20), "bidirectional": np.bool_(True)}
    one = Experiment(**given, seeds=(np.int64(3),))  # type: ignore[arg-type]
    assert [type(each) for each in (one.hidden_size, one.extra_padding, one.bidirectional)] == [int, int, bool]
    assert one == Experiment(hidden_size=8, extra_padding=20, bidirectional=True, seeds=(3,))
