"""Numbers as they are written and stored."""

from math import isfinite

import numpy as np
from torch import Tensor


def rounded(rows: Tensor) -> np.ndarray:
    """Return numbers rounded to the four decimals that are shown."""
    return rows.detach().double().numpy().round(4)


def stored(matrix: np.ndarray) -> list[list[int | None]]:
    """Return rounded numbers in ten-thousandths, which take fewer digits in JSON; None for NaN and infinities."""
    whole = np.rint(matrix * 1e4)
    if (np.abs(whole) < 2**53).all():
        rows: list[list[int | None]] = whole.astype(np.int64).tolist()
        return rows
    return [[int(value) if isfinite(value) else None for value in row] for row in whole.tolist()]


def exact(value: float) -> str:
    """Return all digits of a number, without a needless `.0`."""
    return repr(value).removesuffix(".0")


def number(value: float) -> str:
    """Return a number as written in a cell: short, without a needless `.0`."""
    if not isfinite(value) or value != int(value):
        return f"{value:.4g}"
    return str(int(value)) if abs(value) < 1e6 else f"{value:.3g}"
