"""Checks of single arguments: an integer in a range, a number, True or False, one of a few choices."""

from collections.abc import Sequence
from math import isfinite
from numbers import Integral, Real
from typing import TypeGuard, TypeVar

import numpy as np
import torch
from torch import Tensor

from packviz.errors import PackvizError
from packviz.text import joined, shown

FLOAT32_MAX = 2.0**128 - 2.0**104  # the largest finite number in float32

Value = TypeVar("Value")


def is_integer(value: object, least: int | None = None, most: int | None = None) -> TypeGuard[int]:
    """Return whether a value is an integer (bools excluded) from `least` to `most`."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        return False
    return (least is None or int(value) >= least) and (most is None or int(value) <= most)


def is_number(value: object) -> TypeGuard[float]:
    """Return whether a value is a number (bools excluded) within the range of a float."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return False
    try:
        float(value)
    except OverflowError:
        return False
    return True


def as_python(value: object) -> object:
    """Return a scalar, an array or a dense tensor as numbers and lists of Python; anything else as it is."""
    if isinstance(value, Tensor):
        return value if value.is_nested or value.is_meta or value.layout != torch.strided else value.tolist()
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value


def integer(
    parameter: str,
    value: object,
    least: int,
    most: int | None = None,
    *,
    what: str = "an integer",
    fix: str = "",
    or_none: bool = False,
) -> int:
    """Return the value as an int; raises PackvizError unless it is an integer from `least` to `most`.

    what: the noun in the message; fix: "" for a choice in the range; or_none: whether the message offers None.
    """
    if is_integer(value, least, most):
        return int(value)
    reach = f"of at least {least}" if most is None else f"from {least} to {most}"
    expected = f"{what} {reach}" + (", or None" if or_none else "")
    fix = fix or (f"choose {least} or more" if most is None else f"choose a number from {least} to {most}")
    raise PackvizError(parameter, expected=expected, got=shown(value), fix=fix)


def number(
    parameter: str, value: object, *, limit: float = FLOAT32_MAX, finite: bool = True, what: str = "float32"
) -> float:
    """Return the value as a float; raises PackvizError unless its magnitude is at most `limit`.

    what: the dtype whose largest number the limit is; finite: whether NaN and infinity are refused.
    """
    if is_number(value) and (abs(value) <= limit or (not finite and not isfinite(value))):  # False for nan
        return float(value)
    expected, fix = f"a number that is finite in {what}: at most {limit:.8g}", "choose a number such as 0.0 or -100.0"
    raise PackvizError(parameter, expected=expected, got=shown(value), fix=fix)


def flag(parameter: str, value: object) -> bool:
    """Return the value as a bool; raises PackvizError unless it is one, or an integer, which torch takes for one.

    A bool or an integer of numpy counts as one of Python.
    """
    if isinstance(value, bool | np.bool_ | Integral):
        return bool(value)
    raise PackvizError(parameter, expected="True or False", got=shown(value), fix="give one of the two")


def choice(parameter: str, value: object, choices: Sequence[Value], *, where: str = "") -> Value:
    """Return the value; raises PackvizError unless it equals one of the choices in type and value.

    A bool or an integer of numpy counts as one of Python.
    """
    value = value.item() if isinstance(value, np.bool_ | np.integer) else value
    for one in choices:
        if isinstance(value, type(one)) and isinstance(value, bool) is isinstance(one, bool) and value == one:
            return one
    words = joined([*map(str, choices)], len(choices), "or")
    raise PackvizError(parameter, expected=words + where, got=shown(value), fix=f"choose {words}")
