"""The checks call a model as often as they may, and report each call."""

from typing import Any

import pytest
import torch
from sample_cases import floats
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence

import packviz as pv

LENGTHS = [2 + b % 5 for b in range(100)]


class Counting(nn.Module):
    """A model that counts its calls, and refuses its last sample alone."""

    calls = 0  # of the class: a check runs a copy

    def forward(self, x: Tensor, *_: object) -> Tensor:
        type(self).calls += 1
        if len(x) == 1 and bool((x == 99).any()):
            raise RuntimeError("the last one")
        return x


@pytest.fixture
def model() -> Counting:
    Counting.calls = 0
    return Counting()


def with_a_last_one(B: int = 100) -> list[Tensor]:
    samples = floats(LENGTHS[:B])
    samples[-1][0] = 99
    return samples


@pytest.mark.parametrize("forwards", [12, 80])
@pytest.mark.parametrize("B", [5, 100])
def test_samples_that_fail_alone_do_not_exceed_the_calls(model: Counting, B: int, forwards: int) -> None:
    found = pv.check_samples(lambda s: model(pad_sequence(s, True)), with_a_last_one(B), forwards=forwards)
    assert found.influence.forwards == Counting.calls <= forwards
    assert found.wrong == ()


@pytest.mark.parametrize("forwards", [12, 80])
@pytest.mark.parametrize("B", [5, 100])
def test_sequences_that_fail_alone_do_not_exceed_the_calls(model: Counting, B: int, forwards: int) -> None:
    x = pad_sequence(with_a_last_one(B), batch_first=True)
    found = pv.check_invariance(model, x, LENGTHS[:B], batch_first=True, forwards=forwards)
    assert found.influence.forwards == Counting.calls <= forwards
    assert found.wrong == ()


def test_a_sample_that_fails_alone_late_leaves_the_others_compared(model: Counting) -> None:
    x = pad_sequence(with_a_last_one(60), batch_first=True)
    found = pv.check_invariance(model, x, LENGTHS[:60], batch_first=True)
    assert [(one.key, "The rest was compared" in one.found) for one in found] == [("alone_fails", True)]


@pytest.mark.parametrize("forwards", [12, 80])
def test_the_calls_for_a_second_input_are_counted(model: Counting, forwards: int) -> None:
    x, other = torch.randn(20, 4, 3), torch.randn(20, 4, 3)
    told: dict[str, Any] = {"batch_first": True, "forwards": forwards, "call": lambda m, x, _: m(x) + other}
    found = pv.check_invariance(model, x, [4] * 20, **told)
    assert found.influence.forwards == Counting.calls <= forwards


def test_the_calls_in_training_are_counted(model: Counting) -> None:
    rnn, norm = nn.GRU(3, 4, batch_first=True), nn.BatchNorm1d(3)

    def call(m: nn.Module, x: Tensor, lengths: Any) -> Tensor:
        x = m[2](m[0](x).transpose(1, 2)).transpose(1, 2)  # type: ignore[index]
        packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        return pad_packed_sequence(m[1](packed)[0], batch_first=True)[0]  # type: ignore[index]

    found = pv.check_invariance(
        nn.Sequential(model, rnn, norm), torch.randn(4, 5, 3), [5, 2, 4, 3], batch_first=True, call=call
    )
    assert [one.key for one in found] == ["batch_norm_pads"]
    assert found.influence.forwards == Counting.calls


@pytest.mark.parametrize("forwards", [12, 80])
def test_the_calls_for_documents_are_counted(model: Counting, forwards: int) -> None:
    rnn, documents = nn.GRU(3, 4, batch_first=True), with_a_last_one(30)
    found = pv.check_rows(
        nn.Sequential(model, rnn), documents, lambda m, row: m(row.input_ids - 1)[0], forwards=forwards
    )
    assert found.wrong
    assert found.influence.forwards == Counting.calls <= forwards


def test_an_output_that_small_batches_alone_have_is_compared_in_them() -> None:
    def run(samples: list[Tensor]) -> list[dict[str, Tensor]]:
        return [{"x": one, **({"small": one * 2} if len(samples) < 3 else {})} for one in samples]

    assert [one.key for one in pv.check_samples(run, floats())] == ["shape_differs"]
