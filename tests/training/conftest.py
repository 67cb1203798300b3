"""Nothing here leaves the random numbers of the process changed: every test of training is held to that."""

from collections.abc import Iterator

import pytest
import torch


@pytest.fixture(autouse=True)
def untouched_process() -> Iterator[None]:
    state, dtype = torch.get_rng_state(), torch.get_default_dtype()
    yield
    assert torch.equal(torch.get_rng_state(), state)
    assert torch.get_num_threads() == 1
    assert torch.get_default_dtype() == dtype
    assert torch.is_grad_enabled()
