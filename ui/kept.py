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
            if key in self._results:
                return self._used(key)  # type: ignore[no-any-return]
            turn = self._in_progress.setdefault(key, threading.Lock())
        with turn:
            with self._lock:
                if key in self._results:
                    return self._used(key)  # type: ignore[no-any-return]
            try:
                result = make()
                self._keep(key, result, bytes_of(result))
            finally:
                with self._lock:
                    self._in_progress.pop(key, None)
            return result

    def _used(self, key: Hashable) -> Any:
        self._results.move_to_end(key)
        return self._results[key][0]

    def _keep(self, key: Hashable, result: object, size: int) -> None:
        with self._lock:
            self._results[key] = (result, size)
            self.bytes += size
            while self.bytes > self._max and len(self._results) > 1:
                self.bytes -= self._results.popitem(last=False)[1][1]


_KEPT = Kept()


def kept(make: Callable[[], T], *key: Hashable) -> T:
    """Return what `make` returns; it is called only if no result is kept for the key."""
    return _KEPT.get(key, make)


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
