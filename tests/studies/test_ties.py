"""Equal lengths stand in torch's own order."""

from typing import Any

import pytest
import torch
from study_cases import SEEDS, made, refused, studied
from torch.nn.utils.rnn import pack_padded_sequence, pack_sequence

from packviz.errors import PackvizError
from packviz.facts.ties import Tie, first_unstable, order_of_equals, ties


@pytest.mark.parametrize("n", [1, 2, 3, 16, 17, 18, 20, 64, 100, 300])
def test_the_order_of_equals_is_torchs(n: int) -> None:
    packed = pack_sequence([torch.zeros(3, 2)] * n, enforce_sorted=False)
    assert packed.sorted_indices is not None
    assert list(order_of_equals(n)) == packed.sorted_indices.tolist()


def test_the_first_unstable_number_is_the_first_that_moves() -> None:
    first = first_unstable()
    moved = [n for n in range(1, 65) if list(order_of_equals(n)) != list(range(n))]
    assert first == (moved[0] if moved else None)
    assert first is None or first_unstable(first - 1) is None


@pytest.mark.parametrize("n", [0, -1, "x", None])
def test_no_sequence_has_no_order(n: Any) -> None:
    with pytest.raises(PackvizError, match="at least 1"):
        order_of_equals(n)


@pytest.mark.parametrize("seed", SEEDS)
def test_ties_are_the_runs_of_equal_lengths_in_torchs_order(seed: int) -> None:
    seen = studied(seed)
    order, lengths = seen.sorted.order.tolist(), seen.padded.lengths.tolist()
    found = ties(seen)
    assert [tie.length for tie in found] == sorted({n for n in lengths if lengths.count(n) > 1}, reverse=True)
    for tie in found:
        assert list(tie.sequences) == [b for b in order if lengths[b] == tie.length]
        assert tie.as_they_came == all(a < b for a, b in zip(tie.sequences, tie.sequences[1:], strict=False))


@pytest.mark.parametrize("count", [2, 17, 40, 300])
def test_a_batch_of_equals_is_one_tie_in_the_order_of_equals(count: int) -> None:
    seen = made("\n".join(["1 2"] * count))
    packed = pack_padded_sequence(seen.padded.grid, seen.padded.lengths, True, False)
    assert packed.sorted_indices is not None
    assert ties(seen) == (Tie(2, tuple(packed.sorted_indices.tolist())),)
    assert ties(seen)[0].as_they_came == (packed.sorted_indices.tolist() == list(range(count)))


def test_different_lengths_have_no_ties() -> None:
    assert ties(made()) == ()


def test_with_enforce_sorted_equals_stay_as_they_came() -> None:
    (tie,) = ties(made("\n".join(["1 2"] * 20), enforce_sorted=True))
    assert tie.sequences == tuple(range(20))
    assert tie.as_they_came


def test_a_batch_that_torch_refused_has_no_order() -> None:
    with pytest.raises(PackvizError):
        ties(refused())
