"""Each stage alone: small cases with the expected rows written out."""

from typing import Any

import pytest
import torch

from packviz.compute.stages import pad
from packviz.compute.trace import trace
from packviz.inputs.batch import Batch
from packviz.inputs.config import Config

RAGGED = [torch.tensor([1.0, 2.0, 3.0]), torch.tensor([4.0, 5.0]), torch.tensor([6.0])]
UNSORTED = Batch.parse("1 2 3\n4 5\n6 7 8 9")  # sorted: C, A, B


# Padding


@pytest.mark.parametrize(
    ("side", "tokens", "mask"),
    [
        ("right", [[1, 2, 3], [4, 5, 9], [6, 9, 9]], [[1, 1, 1], [1, 1, 0], [1, 0, 0]]),
        ("left", [[1, 2, 3], [9, 4, 5], [9, 9, 6]], [[1, 1, 1], [0, 1, 1], [0, 0, 1]]),
    ],
)
def test_the_grid_has_a_row_for_each_sequence_and_pads_on_its_side(side: Any, tokens: Any, mask: Any) -> None:
    padded = pad(RAGGED, padding_value=9.0, padding_side=side)
    assert padded.tokens.tolist() == tokens
    assert padded.mask.int().tolist() == mask
    assert padded.lengths.tolist() == [3, 2, 1]
    padded.tokens.add_(1)
    assert [sequence.tolist() for sequence in RAGGED] == [[1, 2, 3], [4, 5], [6]]


# Sorting and packing


def test_rows_stand_time_step_after_time_step_and_the_longest_sequence_first() -> None:
    t = trace(UNSORTED)
    assert t.packed.data.flatten().tolist() == [6, 1, 4, 7, 2, 5, 8, 3, 9]
    assert t.packed.sequence.tolist() == [2, 0, 1, 2, 0, 1, 2, 0, 2]
    assert t.packed.timestep.tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 3]
    assert t.packed.batch_sizes.tolist() == [3, 3, 2, 1]
    assert t.packed.offsets.tolist() == [0, 3, 6, 8]
    assert t.sorted.lengths.tolist() == [4, 3, 2]
    assert t.sorted.order.tolist() == [2, 0, 1]
    assert t.sorted.rank.tolist() == [1, 2, 0]


# The recurrence


def test_steps_go_through_the_packed_rows_forward_and_backward() -> None:
    forward, backward = trace(UNSORTED, Config(bidirectional=True)).layers[0]
    steps = [forward.step(k) for k in range(4)]
    assert [(step.t, step.start, step.stop) for step in steps] == [(0, 0, 3), (1, 3, 6), (2, 6, 8), (3, 8, 9)]
    assert [step.live for step in steps] == [(2, 0, 1), (2, 0, 1), (2, 0), (2,)]
    assert [step.began for step in steps] == [(2, 0, 1), (), (), ()]
    assert [step.ended for step in steps] == [(), (1,), (0,), (2,)]
    steps = [backward.step(k) for k in range(4)]
    rows = [slice(8, 9), slice(6, 8), slice(3, 6), slice(0, 3)]
    assert [(step.k, step.t, step.rows) for step in steps] == list(zip(range(4), (3, 2, 1, 0), rows, strict=True))
    assert [step.live for step in steps] == [(2,), (2, 0), (2, 0, 1), (2, 0, 1)]
    assert [step.began for step in steps] == [(2,), (0,), (1,), ()]
    assert [step.ended for step in steps] == [(), (), (), (2, 0, 1)]
