"""How many random cases a test tries: one switch for all of them; and what came of each."""

import os
import random
import traceback
import warnings
from collections.abc import Callable, Sequence
from typing import TypeVar

import pytest

from packviz.errors import PackvizError

__all__ = ["all_of_them", "many", "raw_errors", "seeds", "some"]


FEW = 3  # cases of every test, however quick the run
SHARE = float(os.environ.get("PACKVIZ_SEEDS", "1"))  # of the cases: 0.1 in `make check`

Each = TypeVar("Each")


def many(number: int) -> int:
    """Return a number of random cases times PACKVIZ_SEEDS from the environment."""
    return max(min(number, FEW), round(number * SHARE))


def seeds(number: int) -> range:
    """Return the seeds of a random test: so many, times PACKVIZ_SEEDS."""
    return range(many(number))


def some(cases: Sequence[Each]) -> Sequence[Each]:
    """Return the cases of a grid: all of them, or with PACKVIZ_SEEDS below 1 each second, third ... one from the first.

    At 0.1 it is each tenth, but of a small grid so many that there are three of them.
    """
    return cases[:: max(1, min(round(1 / SHARE), len(cases) // FEW))]


all_of_them = pytest.mark.skipif(many(100) < 100, reason="what is true of all cases together may not be of a few")


def raw_errors(tries: range, attempt: Callable[[random.Random], object]) -> dict[str, list[int]]:
    """Try each seed; return the seeds of which something else came than a result or a PackvizError, by its place."""
    found: dict[str, list[int]] = {}
    for seed in tries:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                attempt(random.Random(seed))
        except PackvizError:
            pass
        except Exception as error:
            own = [frame for frame in traceback.extract_tb(error.__traceback__) if "/packviz/" in frame.filename]
            places = " < ".join(f"{frame.filename.rpartition('/')[2]}:{frame.lineno}" for frame in reversed(own[-4:]))
            found.setdefault(f"{type(error).__name__} {places}: {str(error)[:100]}", []).append(seed)
    return found
