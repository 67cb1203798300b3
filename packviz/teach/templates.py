"""Templates: sentences with {{ placeholders }}, written with the numbers that were computed (Jinja2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

from jinja2 import Environment, StrictUndefined, Template
from torch import Size, Tensor

from packviz.text import counted, joined, listed, percent

__all__ = ["filled", "written"]


def filled(template: str, names: Mapping[str, object]) -> str:
    """Return the template with its placeholders filled in. Raises jinja2.UndefinedError for an unknown name."""
    return _compiled(template).render(names)


def written(value: object) -> str:
    """Return a value as it is written in a sentence: 0.42, 3e-8, [1, 2, 3], (3, 1), "A and B"."""
    if isinstance(value, Tensor):
        value = value.detach().tolist()
    if isinstance(value, float):
        return f"{value:.0f}" if value == int(value) else f"{value:.2g}".replace("e-0", "e-").replace("e+0", "e")
    if isinstance(value, Size | tuple):
        return f"({', '.join(map(written, value))}{',' * (len(value) == 1)})"
    if isinstance(value, list) and value and all(isinstance(each, str) for each in value):
        return joined(value)
    if isinstance(value, list):
        return f"[{', '.join(map(written, value))}]"
    return str(value)


def _count(number: int | Tensor | Sequence[object], noun: str) -> str:
    """Return "1 row" or "2 rows", also of things that have to be counted first."""
    return counted(int(number) if isinstance(number, int | Tensor) else len(number), noun)


@cache
def _compiled(template: str) -> Template:
    return _ENVIRONMENT.from_string(template)


_ENVIRONMENT = Environment(undefined=StrictUndefined, finalize=written)
_ENVIRONMENT.filters |= {
    "count": _count,
    "joined": joined,
    "listed": lambda items: listed(items, 8),
    "percent": lambda share: percent(float(share)),
}
_ENVIRONMENT.globals |= {each.__name__: each for each in (abs, enumerate, float, int, len, max, min, sorted, sum, zip)}
