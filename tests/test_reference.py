from collections.abc import Callable
from dataclasses import replace

import pytest
import torch
from torch import Tensor, nn

from packviz.compute.record import Trace
from packviz.compute.trace import trace_module
from packviz.compute.verify import distance, prove

NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("ours", "theirs", "apart"),
    [
        ([1.0, 2.0], [1.0, 2.5], 0.5),
        ([1.0, -3.0], [2.0, 3.0], 6.0),
        ([NAN, 1.0], [NAN, 1.0], 0.0),
        ([INF, -INF], [INF, -INF], 0.0),
        ([0.0], [-0.0], 0.0),
        ([INF], [-INF], INF),
        ([], [], 0.0),
    ],
)
def test_distance_is_that_of_the_pair_that_is_furthest_apart(
    ours: list[float], theirs: list[float], apart: float
) -> None:
    assert distance(torch.tensor(ours), torch.tensor(theirs)) == apart


@pytest.mark.parametrize(("ours", "theirs"), [([NAN], [1.0]), ([1.0], [NAN]), ([NAN, INF], [1.0, INF])])
def test_a_nan_beside_a_number_is_never_zero(ours: list[float], theirs: list[float]) -> None:
    assert torch.tensor(distance(torch.tensor(ours), torch.tensor(theirs))).isnan()


def test_another_shape_or_dtype_or_no_tensor_is_infinitely_far() -> None:
    one = torch.ones(2)
    assert distance(one, torch.ones(1, 2)) == INF
    assert distance(one, one.double()) == INF
    assert distance(None, one) == INF


def lstm_trace() -> Trace:
    torch.manual_seed(0)
    return trace_module(nn.LSTM(3, 4, 2, bidirectional=True, batch_first=True), torch.randn(3, 5, 3), [3, 5, 1])


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("output", lambda t: t.output),
        ("h_n", lambda t: t.h_n),
        ("c_n", lambda t: t.c_n),
        ("unpacked", lambda t: t.unpacked.output),
        ("last_valid", lambda t: t.unpacked.last_valid),
    ],
)
def test_one_wrong_number_is_found(name: str, part: Callable[[Trace], Tensor]) -> None:
    t = lstm_trace()
    assert t.unpacked.output.dim() == 3  # made before its source is spoiled
    part(t).view(-1)[5].add_(0.25)
    proof = prove(t)
    assert {key for key, apart in proof.items() if apart} == {name}
    assert proof[name] == pytest.approx(0.25)


def test_a_row_that_claims_a_wrong_origin_is_found() -> None:
    t = lstm_trace()
    assert prove(replace(t, packed=replace(t.packed, sequence=t.packed.sequence.flip(0))))["data"] > 0
