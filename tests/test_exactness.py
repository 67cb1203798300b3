from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest
import torch

from packviz.compute.determinism import exact_arithmetic, seeded


@pytest.mark.parametrize("onednn", [True, False])
def test_switches_are_as_before_after_nesting_and_after_an_error(onednn: bool) -> None:
    with torch.backends.mkldnn.flags(enabled=onednn, allow_tf32=None):
        with suppress(ZeroDivisionError), exact_arithmetic():
            with exact_arithmetic():
                pass
            assert not torch.backends.mkldnn.enabled
            assert not torch.is_grad_enabled()
            raise ZeroDivisionError
        assert bool(torch.backends.mkldnn.enabled) == onednn
        assert torch.is_grad_enabled()


def test_the_largest_seed_that_a_config_takes_gives_numbers() -> None:
    with seeded(2**63 - 1):
        assert torch.randn(1).isfinite().all()


def test_one_thread_at_a_time_computes_exactly() -> None:
    inside, most = [0], [0]

    def compute() -> None:
        for _ in range(20):
            with exact_arithmetic():
                inside[0] += 1
                most[0] = max(most[0], inside[0])
                torch.randn(30, 30).mm(torch.randn(30, 30))
                inside[0] -= 1

    with ThreadPoolExecutor(4) as pool:
        for thread in [pool.submit(compute) for _ in range(4)]:
            thread.result()
    assert most == [1]
