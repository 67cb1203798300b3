"""What makes a run repeatable to the last bit in a process with many threads.

oneDNN's switch and the random number generator belong to the whole process. Whoever changes them holds the lock of this
module until they are restored, for a whole run. The filters for warnings have a lock of their own, in
packviz/inputs/torch_answers.py, which is held for a call. A thread that needs both takes this one first: never open a
block of this module inside ask(), filtered() or overheard(), or two threads may wait for each other.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import torch

_LOCK = threading.RLock()


@contextmanager
def exact_arithmetic() -> Iterator[None]:
    """Turn off gradients, autocast and oneDNN inside the block.

    oneDNN takes over an LSTM whose lengths are all equal, and its last bits differ from those of torch's loop.
    Only this switch is set: ``torch.backends.mkldnn.flags`` would also overwrite the precision settings.
    """
    with with_onednn(False), torch.no_grad(), torch.autocast("cpu", enabled=False):
        yield


@contextmanager
def with_onednn(wanted: bool) -> Iterator[None]:
    """Turn oneDNN on or off inside the block, with the setting locked, with as many threads as torch is set to use."""
    torch.get_num_threads()  # a new thread computes with as many as there are cores until it has asked how many it may
    with _LOCK:
        enabled, *_ = _switch_onednn(wanted)
        try:
            yield
        finally:
            _switch_onednn(enabled)


@contextmanager
def no_seeded_run() -> Iterator[None]:
    """Wait until no other thread is inside one of these blocks, and let none begin one inside this block."""
    with _LOCK:
        yield


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Seed torch's CPU generator inside the block, as ``torch.manual_seed(seed)`` does; then restore its state."""
    with _LOCK, torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)  # torch.manual_seed would also reseed the GPUs
        yield


def _switch_onednn(enabled: bool) -> tuple[bool, ...]:
    """Set oneDNN's switch and nothing else; return the previous flags."""
    flags: tuple[bool, ...] = torch.backends.mkldnn.set_flags(enabled, _fp32_precision=None)  # type: ignore[no-untyped-call]
    return flags
