"""What torch says of ragged sequences is what torch says."""

import pytest
import torch
from study_cases import SEEDS, refused, studied

from packviz.facts.torch_says import stack_errors, stacked_shape
from packviz.inputs.batch import Batch


def test_the_first_example_says_three_and_two() -> None:
    assert stack_errors(Batch.parse("1 2 3\n4 5")) == (
        (
            "torch.stack(sequences)",
            "RuntimeError: stack expects each tensor to be equal size, but got [3] at entry 0 and [2] at entry 1",
        ),
        (
            "torch.tensor([x.tolist() for x in sequences])",
            "ValueError: expected sequence of length 3 at dim 1 (got 2)",
        ),
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_each_code_raises_just_that_error(seed: int) -> None:
    batch = studied(seed).batch
    if batch is None:
        return
    shown = stack_errors(batch)
    sequences = list(batch.sequences)
    assert bool(shown) == (len(set(batch.lengths.tolist())) > 1)
    for code, message in shown:
        with pytest.raises((RuntimeError, ValueError)) as raised:
            eval(code, {"torch": torch, "sequences": sequences})
        assert message == f"{raised.type.__name__}: {raised.value}"


@pytest.mark.parametrize("seed", SEEDS)
def test_sequences_of_one_length_do_stack(seed: int) -> None:
    batch = studied(seed).batch
    if batch is None:
        return
    equal = len(set(batch.lengths.tolist())) == 1
    assert stacked_shape(batch) == (tuple(torch.stack(list(batch.sequences)).shape) if equal else None)


def test_a_batch_that_torch_does_not_pack_has_its_errors_too() -> None:
    batch = refused().batch
    assert batch is not None
    assert len(stack_errors(batch)) == 2


def test_one_sequence_stacks() -> None:
    batch = Batch.parse("1 2 3")
    assert stack_errors(batch) == ()
    assert stacked_shape(batch) == (1, 3)


def test_a_hundred_sequences_of_vectors_do_not() -> None:
    assert len(stack_errors(Batch.example("hundred"))) == 2
