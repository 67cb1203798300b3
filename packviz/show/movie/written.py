"""Numbers as they are written and stored."""

from collections.abc import Callable, Sequence
from decimal import ROUND_HALF_UP, Decimal
from math import isfinite

import numpy as np
from torch import Tensor

from packviz.show.movie.format import SCALE

DIGITS = (2, 3, 4)  # after the decimal point: the fewest that reproduce the trace's number
HUGE = 1e4  # from here on, a number is written with three digits


def rounded(rows: Tensor) -> np.ndarray:
    """Return numbers rounded to the four decimals that are shown."""
    return rows.detach().double().numpy().round(4)


def scaled(values: np.ndarray) -> np.ndarray:
    """Return numbers in the unit in which they are stored, as whole numbers."""
    whole: np.ndarray = np.rint(SCALE * values)
    return whole


def stored(matrix: np.ndarray) -> list[list[int | None]]:
    """Return rows of rounded numbers as they are stored; None for NaN and infinities."""
    whole = scaled(matrix)
    if (np.abs(whole) < 2**53).all():
        rows: list[list[int | None]] = whole.astype(np.int64).tolist()
        return rows
    return [[int(value) if isfinite(value) else None for value in row] for row in whole.tolist()]


def exact(value: float) -> str:
    """Return all digits of a number, without a needless `.0`."""
    return repr(value).removesuffix(".0")


def number(value: float) -> str:
    """Return a number as written in a cell: short, without a needless `.0`."""
    whole = isfinite(value) and value == int(value)
    text = f"{value:.{3 if whole else 4}g}" if not whole or abs(value) >= 1e6 else str(int(value))
    return text.replace("-", "−")


def agreeing(values: Sequence[float], result: float, calculate: Callable[..., float]) -> tuple[list[str], str]:
    """Return the numbers with the fewest digits that reproduce the displayed result, and `=`; `≈` if none do."""
    if not all(map(isfinite, (*values, result))):
        return [written(value) for value in values], "="
    shown = written(result)
    for digits in DIGITS:
        short = [_round(value, digits) for value in values]
        if written(calculate(*short)) == shown:
            return [_plain(value, digits) for value in short], "="
    return [written(value, DIGITS[-1]) for value in values], "≈"


def written(value: float, digits: int = DIGITS[0]) -> str:
    """Return a number as the player writes it: halves round away from zero, and there is no −0.00."""
    if not isfinite(value):
        return "nan"
    return _plain(_round(value, digits), digits)


def _plain(rounded: float, digits: int) -> str:
    """Write a number that is rounded already."""
    text = f"{rounded:.3g}" if abs(rounded) >= HUGE else f"{rounded + 0.0:.{digits}f}"
    return text.replace("-", "−")


def _round(value: float, digits: int) -> float:
    """Round halves away from zero. They are the multiples of a power of two; `round` is right for other numbers.

    It takes a quarter of the time of a Decimal, and a movie rounds a thousand numbers.
    """
    if abs(value) >= HUGE:
        return value
    if (value * 2.0 ** (digits + 1)).is_integer():
        return float(Decimal(value).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP))
    return round(value, digits)
