"""Random states that a check leaves as they were, although the model that it runs may draw from them."""

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from packviz.compute.determinism import no_seeded_run


class _Operations(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Record whether operations in this thread draw random numbers, and whether one is a convolution."""

    drawn = convolves = False

    def __torch_dispatch__(self, call: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        own = any(isinstance(one, torch.Generator) for one in (*args, *(kwargs or {}).values()))
        self.drawn |= torch.Tag.nondeterministic_seeded in call.tags and not own
        self.convolves |= call.overloadpacket == torch.ops.aten.convolution
        return call(*args, **(kwargs or {}))


class WatchedRun:
    """A run whose first call is watched for random numbers and convolutions.

    drawn      whether torch drew in the first call; convolves: whether it computed a convolution
    differs    whether two calls were seen to differ, set by the caller
    """

    def __init__(self, run: Callable[[Any], Any]) -> None:
        self.run, self.calls = run, 0
        self.drawn = self.convolves = self.differs = False
        self.before = torch.get_rng_state(), random.getstate(), np.random.get_state()

    def draws(self) -> bool:
        """Return whether the run draws random numbers, as far as can be seen."""
        numpy = str(np.random.get_state()) != str(self.before[2])
        return self.drawn or numpy or random.getstate() != self.before[1]

    def __call__(self, given: Any) -> Any:
        self.calls += 1
        if self.calls > 1:
            return self.run(given)
        with _Operations() as seen:  # type: ignore[no-untyped-call]
            result = self.run(given)
        self.drawn, self.convolves = seen.drawn, seen.convolves
        return result


@contextmanager
def random_states_kept(run: Callable[[Any], Any]) -> Iterator[WatchedRun]:
    """Put the random states of torch, Python and NumPy back at the end to what they were, whether the run draws or not.

    They belong to the process: what another thread draws meanwhile is drawn again afterwards. Whether the run draws is
    seen in its first call, of torch's operations those in this thread. Variations have a generator of their own.
    """
    with no_seeded_run():
        watched = WatchedRun(run)
        on_gpu = torch.cuda.get_rng_state_all() if torch.cuda.is_initialized() else []  # type: ignore[no-untyped-call]
    try:
        yield watched
    finally:
        with no_seeded_run():
            torch.set_rng_state(watched.before[0])
            torch.cuda.set_rng_state_all(on_gpu)
            random.setstate(watched.before[1])
            np.random.set_state(watched.before[2])
