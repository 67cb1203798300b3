import threading
from collections.abc import Iterator

import pytest
import torch

from packviz.compute.determinism import exact_arithmetic, seeded


@pytest.fixture(params=[True, False])
def onednn(request: pytest.FixtureRequest) -> Iterator[bool]:
    with torch.backends.mkldnn.flags(enabled=request.param, allow_tf32=None):
        yield request.param


def test_onednn_is_off_inside_and_as_before_outside_even_nested(onednn: bool) -> None:
    with exact_arithmetic():
        with exact_arithmetic():
            pass
        assert not torch.backends.mkldnn.enabled
    assert bool(torch.backends.mkldnn.enabled) == onednn


def test_onednn_is_as_before_after_an_error(onednn: bool) -> None:
    with pytest.raises(ZeroDivisionError), exact_arithmetic():
        raise ZeroDivisionError
    assert bool(torch.backends.mkldnn.enabled) == onednn


def test_gradients_and_autocast_are_off_inside() -> None:
    with torch.autocast("cpu"):
        with exact_arithmetic():
            assert not torch.is_grad_enabled()
            assert (torch.ones(2, 2) @ torch.ones(2, 2)).dtype == torch.float32
        assert torch.is_grad_enabled()
        assert (torch.ones(2, 2) @ torch.ones(2, 2)).dtype == torch.bfloat16


def test_a_seed_gives_the_numbers_of_manual_seed_and_is_forgotten_afterwards() -> None:
    torch.manual_seed(3)
    expected = torch.randn(5)
    torch.manual_seed(4)
    before = torch.get_rng_state()
    with seeded(3):
        assert torch.equal(torch.randn(5), expected)
    with seeded(2**63 - 1):  # the largest that a Config takes
        assert torch.randn(1).isfinite().all()
    assert torch.equal(torch.get_rng_state(), before)


def test_one_thread_at_a_time_computes_exactly() -> None:
    inside, most = [0], [0]

    def compute() -> None:
        for _ in range(20):
            with exact_arithmetic():
                inside[0] += 1
                most[0] = max(most[0], inside[0])
                torch.randn(30, 30).mm(torch.randn(30, 30))
                inside[0] -= 1

    threads = [threading.Thread(target=compute) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1]
