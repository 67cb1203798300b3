"""A cache that all visitors share, limited in bytes; the least recently used results are dropped first.

Streamlit's own cache of shared objects counts entries, but one entry here may be a thousand times as large as another.
"""

import gc
import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from types import FunctionType, ModuleType
from typing import Any, TypeVar

import torch

MAX_BYTES = 32 * 2**20  # of all results together

T = TypeVar("T")


class Kept:
    """The results by key, each computed once no matter how many visitors ask for it at the same time.

    bytes: the current total. The latest result is kept even if it alone exceeds the limit.
    """

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self.bytes = 0
        self._max = max_bytes
        self._results: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()
        self._lock = threading.Lock()
        self._in_progress: dict[Hashable, threading.Lock] = {}

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return the result for a key; `make` computes it if it is not cached. Exceptions are not cached."""
        with self._lock:
            turn = self._in_progress.setdefault(key, threading.Lock())
        with turn:
            try:
                found = self._results.get(key)
                if found is None:
                    result = make()
                    found = result, bytes_of(result)
                with self._lock:
                    self.bytes += found[1] - self._results.pop(key, (None, 0))[1]
                    self._results[key] = found  # as the one that was used last
                    while self.bytes > self._max and len(self._results) > 1:
                        self.bytes -= self._results.popitem(last=False)[1][1]
            finally:
                with self._lock:
                    self._in_progress.pop(key, None)
        return found[0]


_KEPT = Kept()


def kept(make: Callable[[], T], *key: Hashable) -> T:
    """Return the result of `make`, which is called only if no result is cached for the key."""
    return _KEPT.get(key, make)


def bytes_of(result: object) -> int:
    """Return approximately how much memory a result takes, with each of its parts counted once."""
    seen: set[int] = set()
    waiting, total = [result], 0
    while waiting:
        part = waiting.pop()
        if id(part) in seen or isinstance(part, (type, ModuleType, FunctionType)):
            continue
        seen.add(id(part))
        total += sys.getsizeof(part) + (part.untyped_storage().nbytes() if isinstance(part, torch.Tensor) else 0)
        waiting += gc.get_referents(part)
    return total
