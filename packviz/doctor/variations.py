"""Other versions of samples: copies, other values in the same shape, a longer one, and another order."""

import random
from collections.abc import Callable, Mapping, Sequence
from copy import copy, deepcopy
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from torch import Tensor

Path = tuple[Any, ...]  # keys and indices that lead to a place in a sample

MORE = 3  # entries by which a longer sample is longer


def copied(sample: Any) -> Any:
    """Return a copy of a sample that `run` may change in place."""
    if isinstance(sample, Tensor):
        return sample.detach().clone().requires_grad_(sample.requires_grad)
    if type(sample) in (list, tuple):
        return type(sample)(copied(part) for part in sample)
    if type(sample) is dict:
        return {key: copied(part) for key, part in sample.items()}
    try:
        return deepcopy(sample)
    except Exception:  # of something that cannot be copied, such as an open file
        return sample


def other_order(sizes: Sequence[float], seed: int) -> list[int]:
    """Return a permutation that moves every sample, and leaves them sorted neither by rising nor by falling size.

    Two samples can only be swapped.

    >>> other_order([5, 4], 0)
    [1, 0]
    """
    B, drawn = len(sizes), random.Random(seed)
    orders = [[(b + 1) % B for b in range(B)], [(b - 1) % B for b in range(B)], [*range(B)][::-1]]
    orders += [drawn.sample(range(B), B) for _ in range(20)]

    def rank(order: list[int]) -> tuple[int, int]:
        moved = [sizes[b] for b in order]
        return sum(b == at for at, b in enumerate(order)), moved in (sorted(moved), sorted(moved, reverse=True))

    return min(orders, key=lambda order: (order == [*range(B)], *rank(order)))


def other_orders(sizes: Sequence[float], seed: int) -> list[list[int]]:
    """Return another order, and of three and more samples also the opposite one."""
    return [other_order(sizes, seed), [*range(len(sizes))][::-1]][: 2 if len(sizes) > 2 else 1]


@dataclass(frozen=True, eq=False)
class Values:
    """The values that the samples have at one place in them, which is named by its keys and attributes.

    pool    the values to draw from: those of all samples, without 0, negative integers and common first or last ids
    ragged  whether the samples differ in length here
    """

    pool: Sequence[Any]
    fixed: frozenset[Any]
    ragged: bool

    def other(self, value: Any, drawn: random.Random) -> Any:
        """Return other values in the same shape."""
        if isinstance(value, str):
            words = [drawn.choice(self.pool) for _ in value.split()]
            return " ".join(words)
        flat, shape = _flat(value)
        new = [one if one in self.fixed or one == 0 else self._drawn(one, drawn) for one in flat]
        return _like(value, new, shape)

    def _drawn(self, old: Any, drawn: random.Random) -> Any:
        return next((new for _ in range(8) if (new := drawn.choice(self.pool)) != old), old)

    def longer(self, value: Any) -> Any:
        """Return the value with more entries before its last one."""
        if isinstance(value, str):
            words = value.split()
            return " ".join([*words[:-1], *words[:1] * MORE, *words[-1:]])
        if isinstance(value, Tensor):
            return torch.cat([value[:-1], value[:1].repeat(MORE, *[1] * (value.dim() - 1)), value[-1:]])
        if isinstance(value, np.ndarray):
            return np.concatenate([value[:-1], *[value[:1]] * MORE, value[-1:]])
        return [*value[:-1], *[value[0]] * MORE, value[-1]]


class Variations:
    """Other versions of these samples, drawn with a seed. Nothing else is drawn from."""

    def __init__(self, samples: Sequence[Any], seed: int) -> None:
        self.samples, self.seed = samples, seed
        self.places = _places(samples)

    @cached_property
    def extents(self) -> list[dict[Path, int]]:
        """Return how long each sample is, at each place; of a list of sequences the longest, and their count."""
        found: list[dict[Path, int]] = [{} for _ in self.samples]
        for sample, extents in zip(self.samples, found, strict=True):
            _measure(sample, (), extents)
        return found

    @property
    def sizes(self) -> list[int]:
        """Return how long each sample is: where they differ in length, else in their first place; 0 if unknown."""
        extents = self.extents
        paths = list(dict.fromkeys(path for one in extents for path in one))
        ragged = [path for path in paths if len({one.get(path, 0) for one in extents}) > 1] or paths[:1]
        return [sum(one.get(path, 0) for path in ragged) for one in extents]

    def covers(self, i: int, j: int) -> bool:
        """Return whether sample i is at least as long as sample j everywhere, so that j does not pad it."""
        return all(self.extents[i].get(path, 0) >= length for path, length in self.extents[j].items())

    def is_full(self, i: int) -> bool:
        """Return whether no sample is longer than sample i anywhere, so that nothing of it is padded."""
        return bool(self.extents[i]) and all(self.covers(i, j) for j in range(len(self.samples)))

    def with_other_values(self, b: int) -> Any | None:
        """Return sample b with other values in the same shape; None if there is nothing to change."""
        drawn = random.Random(f"{self.seed} {b}")
        places = {path: one for path, one in self.places.items() if len(one.pool) > 1}
        if not places:
            return None
        return _changed(self.samples[b], lambda path, value: places[path].other(value, drawn), places)

    def longer(self) -> Any | None:
        """Return a sample that is longer than all; None if none can be made."""
        sizes = self.sizes
        if not self.places:
            return None
        b = sizes.index(max(sizes))
        first = _length(_at(self.samples[b], next(iter(self.places))))
        grown = {p: one for p, one in self.places.items() if one.ragged} or {
            p: one for p, one in self.places.items() if _length(_at(self.samples[b], p)) == first
        }
        return _changed(self.samples[b], lambda path, value: grown[path].longer(value), grown)


def _measure(value: Any, path: Path, extents: dict[Path, int]) -> None:
    if isinstance(value, Mapping):
        for key, part in value.items():
            _measure(part, (*path, key), extents)
    elif isinstance(value, list | tuple) and not _is_numbers(value):
        of_one_kind = isinstance(value, list)
        for key, part in enumerate(value):
            _measure(part, (*path, "each" if of_one_kind else key), extents)
        if of_one_kind:
            extents[*path, "count"] = max(extents.get((*path, "count"), 0), len(value))
    elif length := _length(value):
        extents[path] = max(extents.get(path, 0), length)


def _places(samples: Sequence[Any]) -> dict[Path, Values]:
    """Return, by path, the sequences of values that every sample has: tensors, arrays, texts, and lists of numbers."""
    paths = [path for path in _paths(samples[0]) if all(_length(_at(sample, path)) for sample in samples)]
    found = {}
    for path in paths:
        values = [_at(sample, path) for sample in samples]
        ragged = len({_length(value) for value in values}) > 1
        if all(isinstance(value, str) for value in values):
            found[path] = Values([word for value in values for word in value.split()], frozenset(), ragged)
            continue
        flat = [_flat(value)[0] for value in values]
        every = {one for part in flat for one in part}
        whole = all(isinstance(one, int) for one in every)
        ends = {part[side] for side in (0, -1) for part in flat[:1] if len({other[side] for other in flat}) == 1}
        fixed = {one for one in every if whole and (one < 0 or one in ends)} if len(samples) > 1 else set()
        # a mask, or positions, which begin alike: they say how the sample is laid out
        counts = len({part[0] for part in flat}) == 1 and all(b - a == 1 for part in flat for a, b in pairwise(part))
        marks = whole and (every <= {0, 1} or counts)
        pool = [] if marks else [one for part in flat for one in part if one not in fixed and one != 0]
        found[path] = Values(pool if len(set(pool)) > 1 else [], frozenset(fixed), ragged)
    return found


def _paths(value: Any, path: Path = ()) -> list[Path]:
    if isinstance(value, Mapping):
        return [each for key, part in value.items() for each in _paths(part, (*path, key))]
    if isinstance(value, list | tuple) and not _is_numbers(value):
        return [each for key, part in enumerate(value) for each in _paths(part, (*path, key))]
    return [path] if _length(value) else []


def _at(value: Any, path: Path) -> Any:
    try:
        for key in path:
            value = value[key]
    except (LookupError, TypeError):
        return None
    return value


def _length(value: Any) -> int:
    """Return the number of entries of a sequence of values; 0 for anything else."""
    if isinstance(value, str):
        return len(value.split())
    if isinstance(value, Tensor | np.ndarray):
        return len(value) if value.ndim and value.shape[0] and not str(value.dtype).endswith("bool") else 0
    return len(value) if _is_numbers(value) else 0


def _is_numbers(value: Any) -> bool:
    return (
        isinstance(value, list | tuple)
        and len(value) > 0
        and all(isinstance(one, int | float) and not isinstance(one, bool) for one in value)
    )


def _flat(value: Any) -> tuple[list[Any], tuple[int, ...]]:
    if isinstance(value, Tensor):
        return value.detach().flatten().tolist(), tuple(value.shape)
    if isinstance(value, np.ndarray):
        return value.ravel().tolist(), value.shape
    return [*value], (len(value),)


def _like(value: Any, flat: list[Any], shape: tuple[int, ...]) -> Any:
    if isinstance(value, Tensor):
        return torch.tensor(flat, dtype=value.dtype, device=value.device).reshape(shape)
    return np.array(flat, value.dtype).reshape(shape) if isinstance(value, np.ndarray) else type(value)(flat)


def _changed(value: Any, change: Callable[[Any, Any], Any], places: Mapping[Any, Any], path: Any = ()) -> Any:
    """Return the sample with what stands at these places changed."""
    if path in places:
        return change(path, value)
    if isinstance(value, Mapping):
        changed = {key: _changed(part, change, places, (*path, key)) for key, part in value.items()}
        if type(value) is dict:
            return changed
        other: Any = copy(value)
        other.update(changed)
        return other
    if isinstance(value, list | tuple) and not _is_numbers(value):
        parts = [_changed(part, change, places, (*path, key)) for key, part in enumerate(value)]
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    return value
