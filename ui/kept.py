"""Results that all visitors share: kept up to a number of bytes, the least recently used ones dropped first.

Streamlit's own cache of shared objects counts entries, and one entry here may be a thousand times as large as another.
"""

import functools
import inspect
import pickle
import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from types import FunctionType, ModuleType
from typing import Any, ParamSpec, TypeVar

import numpy as np
import torch

from packviz.show.movie import Movie

__all__ = ["MAX_BYTES", "Kept", "bytes_of", "kept"]

MAX_BYTES = 32 * 2**20  # of all results together
_PART_OF_A_MOVIE = 320  # bytes of a cell or a change, counted over movies of 200 to 50,000 of them
_LARGE = 2 * 2**20  # bytes of a movie from which on it is kept as one block

P = ParamSpec("P")
T = TypeVar("T")


class Kept:
    """The results by their keys, each computed once however many ask for it at the same time.

    The latest one is kept even if it is larger than all may be together.
    """

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self._max = max_bytes
        self._results: OrderedDict[object, tuple[Any, int]] = OrderedDict()
        self._sum = 0
        self._lock = threading.Lock()
        self._being_made: dict[object, threading.Lock] = {}

    @property
    def bytes(self) -> int:
        """What is kept, in bytes."""
        return self._sum

    def get(self, key: object, make: Callable[[], Any]) -> Any:
        """Return the result for a key; `make` computes it if it is not kept, and what it raises is not kept."""
        with self._lock:
            found = self._found(key)
            turn = None if found else self._being_made.setdefault(key, threading.Lock())
        if turn is None:
            return _as_given(found)
        with turn:
            with self._lock:
                found = self._found(key)
            if found:
                return _as_given(found)
            try:
                result = make()
                self._keep(key, *_as_kept(result))
            finally:
                with self._lock:
                    self._being_made.pop(key, None)
            return result

    def _found(self, key: object) -> tuple[Any, int] | None:
        if key in self._results:
            self._results.move_to_end(key)
        return self._results.get(key)

    def _keep(self, key: object, result: object, size: int) -> None:
        with self._lock:
            self._results[key] = (result, size)
            self._sum += size
            while self._sum > self._max and len(self._results) > 1:
                self._sum -= self._results.popitem(last=False)[1][1]


def _as_kept(result: object) -> tuple[object, int]:
    """Return a result as it is kept, and its bytes.

    A large movie is one block: as 50,000 small objects, strewn among those of other runs, it would keep the memory of
    all of them from being given back.
    """
    size = bytes_of(result)
    if isinstance(result, Movie) and size > _LARGE:
        block = _Block(pickle.dumps(result, pickle.HIGHEST_PROTOCOL))
        return block, len(block.pickled)
    return result, size


def _as_given(found: Any) -> Any:
    result = found[0]
    return pickle.loads(result.pickled) if isinstance(result, _Block) else result


@dataclass(frozen=True)
class _Block:
    pickled: bytes


_KEPT = Kept()


def kept(function: Callable[P, T]) -> Callable[P, T]:
    """Keep what a function returns by its arguments, but for those whose names begin with an underscore."""
    signature = inspect.signature(function)

    @functools.wraps(function)
    def found(*args: P.args, **kwargs: P.kwargs) -> T:
        given = signature.bind(*args, **kwargs).arguments.items()
        key = (function, *((name, value) for name, value in given if not name.startswith("_")))
        result: T = _KEPT.get(key, lambda: function(*args, **kwargs))
        return result

    return found


def bytes_of(result: object) -> int:
    """Return about how much memory a result takes, whatever it is made of, each part counted once."""
    seen: set[int] = set()
    waiting, total = [result], 0
    while waiting:
        part = waiting.pop()
        if id(part) not in seen and not isinstance(part, (type, ModuleType, FunctionType)):
            seen.add(id(part))
            total += _own_bytes(part)
            waiting += _parts(part)
    return total


def _own_bytes(part: object) -> int:
    if isinstance(part, Movie):
        changes = sum(len(beat) for step in part.steps for beat in step.beats)
        return _PART_OF_A_MOVIE * (len(part.cells) + changes)
    if isinstance(part, torch.Tensor):
        return sys.getsizeof(part) + part.untyped_storage().nbytes()
    return sys.getsizeof(part)


def _parts(part: object) -> Iterator[object]:
    if isinstance(part, (Movie, torch.Tensor, np.ndarray, str, bytes, int, float)):
        return
    if isinstance(part, Mapping):
        yield from part.keys()
        yield from part.values()
    elif isinstance(part, (list, tuple, set, frozenset)):
        yield from part
    elif hasattr(part, "__dict__"):
        yield from vars(part).values()
    elif is_dataclass(part):  # one with slots
        yield from (getattr(part, field.name) for field in fields(part))
