"""What stands in the pads, found where nobody says it."""

import random

import pytest
import torch
from seeds import seeds
from torch.nn.utils.rnn import pad_sequence

from packviz.doctor import filler_of


@pytest.mark.parametrize("seed", seeds(15))
def test_the_padding_value_of_pad_sequence_is_found(seed: int) -> None:
    draw = random.Random(seed)
    lengths = [draw.randint(1, 6) for _ in range(draw.randint(2, 5))]
    batch_first, value = draw.random() < 0.5, draw.choice([0.0, -100.0, 1.0, 0.5])
    shape = () if draw.random() < 0.5 else (3,)
    x = pad_sequence([torch.randn(n, *shape) for n in lengths], batch_first, value)
    pads = sum(max(lengths) - n for n in lengths)
    assert filler_of(x, lengths, batch_first=batch_first) == (value if pads > 1 else 0.0)
