"""How many random cases a test tries: one switch for all of them; and what came of each."""

import os
import random
import traceback
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
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


def raw_errors(tries: range, attempt: Callable[[random.Random], object]) -> list[str]:
    """Try each seed; return what came instead of a result or a PackvizError, each with its seed and its last lines."""
    found = []
    for seed in tries:
        try:
            with warnings.catch_warnings(), suppress(PackvizError):
                warnings.simplefilter("ignore")
                attempt(random.Random(seed))
        except Exception:
            found.append(f"seed {seed}: {traceback.format_exc(limit=-3)}")
    return found
