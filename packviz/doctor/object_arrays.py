"""Numbers in Python objects: lists, and arrays of objects in .npy and .npz files, one array for each sequence.

numpy writes an array of objects as a pickle. It is read without running what is in it: only three names of numpy are
known, and each stands for a record of ours; nothing of numpy is called before shape and size are checked.
"""

import io
import math
import pickle
from collections.abc import Iterator
from typing import Any

import numpy as np


class _Pickled:
    """An array, or a dtype, as its pickle describes it."""

    def __init__(self, *described: Any) -> None:
        self.described = described
        self.state: tuple[Any, ...] = ()

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self.state = state


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> type[_Pickled]:
        """Return the record for a name of numpy; raises ValueError for every other name."""
        if module.partition(".")[0] != "numpy" or name not in ("_reconstruct", "ndarray", "dtype"):
            raise ValueError(f"its array of objects holds {module}.{name}, which is not an array of numbers")
        return _Pickled

    def persistent_load(self, pid: object) -> object:
        """Refuse it: numpy writes none."""
        raise ValueError(f"its array of objects holds the persistent id {pid!r}")


def arrays_in(stream: io.BytesIO) -> Iterator[np.ndarray[Any, Any]]:
    """Yield the numeric arrays in a pickled array of objects. Raises ValueError if it holds anything else."""
    whole = _Unpickler(stream).load()
    items = whole.state[4] if isinstance(whole, _Pickled) and len(whole.state) == 5 else None
    if not isinstance(items, list):
        raise ValueError("its array of objects is not written as numpy writes it")
    for item in items:
        if isinstance(item, list) and item and all(type(number) in (int, float) for number in item):
            yield np.array(item)
        elif isinstance(item, _Pickled) and len(item.state) == 5:
            yield _numeric(*item.state[1:])
        else:
            raise ValueError(f"its array of objects holds {type(item).__name__}, not only arrays of numbers")


def array_of(value: object, depth: int = 4) -> np.ndarray[Any, Any] | None:
    """Return the array that a list of numbers, or of equal lists of them, writes; None for anything else."""
    if not depth or not isinstance(value, list | tuple) or not value:
        return None
    if all(type(one) in (int, float, bool) for one in value):
        return np.array(value)
    parts = [part for one in value if (part := array_of(one, depth - 1)) is not None]
    alike = len(parts) == len(value) and len({part.shape for part in parts}) == 1
    return np.stack(parts) if alike else None


def _numeric(shape: Any, dtype: Any, in_columns: Any, data: Any) -> np.ndarray[Any, Any]:
    if not (isinstance(dtype, _Pickled) and isinstance(data, bytes) and isinstance(shape, tuple)):
        raise ValueError("an array in its array of objects is not one of numbers")
    kind = np.dtype(str(dtype.described[0]))
    if len(dtype.state) > 1 and dtype.state[1] in ("<", ">"):
        kind = kind.newbyteorder(dtype.state[1])
    if kind.hasobject or kind.kind not in "biuf":
        raise ValueError(f"an array in its array of objects has the dtype {kind}, which is not numeric")
    if not all(type(size) is int and size >= 0 for size in shape) or math.prod(shape) * kind.itemsize != len(data):
        raise ValueError("an array in its array of objects declares another number of values than it holds")
    return np.frombuffer(data, kind).reshape(shape, order="F" if in_columns is True else "C")
