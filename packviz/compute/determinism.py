"""What makes a run repeatable to the last bit, in a process with many threads.

oneDNN's switch and the random numbers' state belong to the whole process. Whoever changes them holds the one lock
meanwhile and puts them back.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import torch

_LOCK = threading.RLock()


@contextmanager
def exact_arithmetic() -> Iterator[None]:
    """Let torch compute without gradients, without autocast and without oneDNN.

    oneDNN takes over an LSTM whose lengths are all equal, and its last bits differ from those of torch's loop.
    Only the one switch is touched: ``torch.backends.mkldnn.flags`` would overwrite the precision settings beside it.
    """
    with with_onednn(False), torch.no_grad(), torch.autocast("cpu", enabled=False):
        yield


@contextmanager
def with_onednn(wanted: bool) -> Iterator[None]:
    """Let torch compute with oneDNN or without, and nobody else change that meanwhile."""
    with _LOCK:
        enabled, *_ = _switch_onednn(wanted)
        try:
            yield
        finally:
            _switch_onednn(enabled)


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Let torch's random numbers on the CPU start from seed, as after ``torch.manual_seed(seed)``; then as before."""
    with _LOCK, torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)  # torch.manual_seed would reseed the GPUs, too
        yield


def _switch_onednn(enabled: bool) -> tuple[bool, ...]:
    """Set oneDNN's switch and nothing else; return the flags as they were."""
    flags: tuple[bool, ...] = torch.backends.mkldnn.set_flags(enabled, _fp32_precision=None)  # type: ignore[no-untyped-call]
    return flags
