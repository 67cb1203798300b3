"""A cache that all visitors share, limited in bytes; the least recently used results are dropped first.

Streamlit's own cache of shared objects counts entries, but one entry here may be a thousand times as large as another.
"""

import gc
import sys
import threading
from collections.abc import Callable, Hashable
from types import FunctionType, ModuleType
from typing import Any, NamedTuple, TypeVar

import cachetools
import torch

MAX_BYTES = 32 * 2**20  # of all results together

T = TypeVar("T")


class _Counted(NamedTuple):
    """A result and its bytes, which are counted before others have to wait: those of a large run take milliseconds."""

    result: Any
    size: int


class Cache:
    """Results by key, limited in bytes. The latest one is kept even if it alone is larger than the limit."""

    def __init__(self, max_bytes: int) -> None:
        self.kept = cachetools.LRUCache[Hashable, _Counted](max_bytes, lambda each: min(each.size, max_bytes))
        self._turn = threading.Condition()
        by_key = cachetools.cached(self.kept, key=lambda _, *key: key, condition=self._turn)
        self._of_key = by_key(lambda make, *_: _counted(make()))

    def cached(self, make: Callable[[], T], *key: Hashable) -> T:
        """Return the result of `make`, which is called only if no result is cached for the key.

        It is called once, however many threads ask for the result at the same time. Exceptions are not cached.
        """
        result: T = self._of_key(make, *key).result
        return result

    def count_again(self, *key: Hashable) -> None:
        """Count the bytes of a result again: a record keeps what was read of it, and so grows after it was made."""
        with self._turn:
            before = self.kept.get(key)
        if before is None:
            return
        now = _counted(before.result)
        with self._turn:
            if key in self.kept:
                self.kept[key] = now


SHARED = Cache(MAX_BYTES)
cached, count_again = SHARED.cached, SHARED.count_again


def _counted(result: Any) -> _Counted:
    return _Counted(result, bytes_of(result))


def bytes_of(result: object) -> int:
    """Return approximately how much memory a result takes, with each of its parts counted once.

    Views of a tensor share its storage, which is one part.
    """
    seen, storages = set[int](), dict[int, int]()  # bytes by address
    waiting, total = [result], 0
    while waiting:
        part = waiting.pop()
        if id(part) in seen or isinstance(part, (type, ModuleType, FunctionType)):
            continue
        seen.add(id(part))
        total += sys.getsizeof(part)
        if isinstance(part, torch.Tensor):
            storage = part.untyped_storage()
            storages[storage.data_ptr()] = storage.nbytes()
        waiting += gc.get_referents(part)
    return total + sum(storages.values())
