"""Numbers as sentences and cells have them: rounded, but never to 0 or to the whole if they are not."""

import math


def percent(share: float) -> str:
    """Return a share from 0 to 1 in percent, never 0% or 100% unless it is exact.

    >>> percent(0.335), percent(0.001), percent(0.999)
    ('34%', 'under 1%', 'over 99%')
    """
    if 0 < share < 0.005:
        return "under 1%"
    return "over 99%" if 0.995 <= share < 1 else f"{round(100 * share)}%"


def two_digits(number: float) -> str:
    """Return a number with two significant digits, up to a million with all of its integer digits.

    >>> two_digits(0.4216), two_digits(3e-8), two_digits(123.4)
    ('0.42', '3e-8', '123')
    """
    if not math.isfinite(number):
        return "no finite number"
    if 99.5 <= abs(number) < 1e6:
        return f"{number:.0f}"
    return f"{number:.2g}".replace("e-0", "e-").replace("e+0", "e").replace("e+", "e")


def two_decimals(number: float) -> str:
    """Return a number with two decimals, as cells show it; with two significant digits if they would be 0, or needless.

    >>> two_decimals(0.4), two_decimals(0.095), two_decimals(3e-8), two_decimals(123.4)
    ('0.40', '0.10', '3e-8', '123')
    """
    return f"{number:.2f}" if 0.005 <= abs(number) < 99.5 else two_digits(number)
