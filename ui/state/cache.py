"""A cache that all visitors share, limited in bytes; the least recently used results are dropped first.

Streamlit's own cache of shared objects counts entries, but one entry here may be a thousand times as large as another.
"""

import gc
import sys
import threading
from collections.abc import Callable, Hashable
from types import FunctionType, ModuleType
from typing import Any, TypeVar

import cachetools
import torch

MAX_BYTES = 32 * 2**20  # of all results together

T = TypeVar("T")


def bounded(max_bytes: int) -> Callable[..., tuple[Any, int]]:
    """Return a function that calls `make` once for a key, however many threads ask for it at the same time.

    It takes `make` and the parts of the key, and returns the result and its size. Exceptions are not cached. The latest
    result is kept even if it alone is larger than the limit.
    """
    results = cachetools.LRUCache[Hashable, tuple[Any, int]](max_bytes, getsizeof=lambda found: found[1])

    @cachetools.cached(results, key=lambda _, *key: key, condition=threading.Condition())
    def of_key(make: Callable[[], Any], *_: Hashable) -> tuple[Any, int]:
        result = make()
        return result, min(bytes_of(result), max_bytes)

    return of_key


_shared = bounded(MAX_BYTES)


def cached(make: Callable[[], T], *key: Hashable) -> T:
    """Return the result of `make`, which is called only if no result is cached for the key."""
    result: T = _shared(make, *key)[0]
    return result


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
