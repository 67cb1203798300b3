"""Results that all visitors share: kept up to a number of bytes, the least recently used ones dropped first.

Streamlit's own cache of shared objects counts entries, and one entry here may be a thousand times as large as another.
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
    """The results by their keys, each computed once however many visitors ask for it at the same time.

    bytes: how many are kept. The latest result is kept even if it is larger than all may be together.
    """

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self.bytes = 0
        self._max = max_bytes
        self._results: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()
        self._lock = threading.Lock()
        self._in_progress: dict[Hashable, threading.Lock] = {}

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return the result for a key; `make` computes it if it is not kept, and what it raises is not kept."""
        with self._lock:
            turn = self._in_progress.setdefault(key, threading.Lock())
        with turn:
            try:
                result, size = self._results.get(key) or _with_size(make())
                self._keep(key, result, size)
            finally:
                with self._lock:
                    self._in_progress.pop(key, None)
        return result  # type: ignore[no-any-return]

    def _keep(self, key: Hashable, result: object, size: int) -> None:
        """Keep a result as the one that was used last, and drop those that were not used for longest."""
        with self._lock:
            _, before = self._results.pop(key, (None, 0))
            self._results[key] = (result, size)
            self.bytes += size - before
            while self.bytes > self._max and len(self._results) > 1:
                self.bytes -= self._results.popitem(last=False)[1][1]


_KEPT = Kept()


def kept(make: Callable[[], T], *key: Hashable) -> T:
    """Return what `make` returns; it is called only if no result is kept for the key."""
    return _KEPT.get(key, make)


def _with_size(result: T) -> tuple[T, int]:
    return result, bytes_of(result)


def bytes_of(result: object) -> int:
    """Return about how much memory a result takes, whatever it is made of, each part counted once."""
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
