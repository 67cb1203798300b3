"""How many random cases a test tries: one switch for all of them; and what came of each."""

import os
import random
import traceback
import warnings
from collections.abc import Callable

import pytest

from packviz.errors import PackvizError

__all__ = ["all_of_them", "many", "raw_errors", "seeds"]


FEW = 10  # cases of every random test, however quick the run


def many(number: int) -> int:
    """Return a number of random cases times PACKVIZ_SEEDS from the environment: 1 by default, 0.2 in `make check`."""
    return max(min(number, FEW), round(number * float(os.environ.get("PACKVIZ_SEEDS", "1"))))


def seeds(number: int) -> range:
    """Return the seeds of a random test: so many, times PACKVIZ_SEEDS."""
    return range(many(number))


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
