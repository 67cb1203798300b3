"""Training: it learns, reports after every epoch, and repeats itself for a seed."""

from dataclasses import replace
from itertools import product
from typing import Any

import pytest
import torch

from packviz.lab.training import Experiment, Progress, run_all

QUICK = Experiment(task="first_token", hidden_size=8, epochs=3, batch_size=60, seeds=(0, 1))
THOROUGH = replace(QUICK, hidden_size=16, epochs=14, lr=0.02, seeds=(0,))


def trained(one: Experiment, **changed: Any) -> list[Progress]:
    return list(run_all([replace(one, **changed)]))


def numbers(results: list[Progress]) -> list[tuple[int, int, float, float]]:
    """Return all but the seconds."""
    return [(p.seed, p.epoch, p.train_loss, p.test_accuracy) for p in results]


@pytest.mark.slow
def test_training_finds_the_first_token_and_pads_that_are_read_make_it_forget() -> None:
    naive, last = (trained(THOROUGH, readout=readout, extra_padding=20) for readout in ("naive", "last_valid"))
    assert last[0].train_loss > 1 > 10 * last[-1].train_loss  # ln 4 = 1.386 is guessing
    assert last[-1].test_accuracy > 95
    assert last[-1].test_accuracy > naive[-1].test_accuracy + 30


def test_every_experiment_has_its_first_seed_before_any_has_its_second() -> None:
    other = replace(QUICK, readout="naive", seeds=(7, 8, 9), epochs=1)
    ends = [(p.experiment.readout, p.seed) for p in run_all([QUICK, other]) if p.finished]
    assert ends == [("packed", 0), ("naive", 7), ("packed", 1), ("naive", 8), ("naive", 9)]
    assert list(run_all([])) == []


@pytest.mark.parametrize(("cell", "bidirectional"), [*product(("rnn", "gru", "lstm"), (False, True))])
def test_the_same_seed_gives_the_same_numbers(cell: str, bidirectional: bool) -> None:
    one = replace(QUICK, cell=cell, bidirectional=bidirectional, epochs=2)  # type: ignore[arg-type]
    first = trained(one)
    assert numbers(first) == numbers(trained(one))
    assert first[1].train_loss != first[3].train_loss  # another seed


@pytest.mark.slow
def test_the_numbers_do_not_depend_on_what_ran_before_or_between() -> None:
    alone = numbers(trained(QUICK))
    among = [p for p in run_all([replace(QUICK, readout="naive"), QUICK]) if p.experiment == QUICK]
    assert numbers(among) == alone
    between = []
    with torch.random.fork_rng(devices=[]):
        for p in run_all([QUICK]):
            torch.manual_seed(12)
            torch.randn(3)
            between.append(p)
    assert numbers(between) == alone


@pytest.mark.slow
def test_it_learns_while_the_caller_has_gradients_off_and_leaves_them_off() -> None:
    wanted = numbers(trained(QUICK))
    with torch.no_grad():
        seen = []
        for p in run_all([QUICK]):
            assert not torch.is_grad_enabled()
            seen.append(p)
    assert numbers(seen) == wanted
