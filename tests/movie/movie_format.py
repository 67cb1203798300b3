"""Whether data keep to the records of packviz/show/movie/format.py."""

from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints, is_typeddict

from packviz.show.movie.format import MovieData

__all__ = ["faults"]


def faults(data: Any, hint: Any = MovieData, at: str = "$") -> list[str]:
    """Return where data do not keep to a type, with what was expected there; lists stand for tuples, too."""
    kind, parts = get_origin(hint), get_args(hint)
    found: list[str] = []
    if kind in (Union, UnionType):
        branches = [faults(data, part, at) for part in parts]
        return [] if [] in branches else min(branches, key=len)
    if kind is Literal:
        fits = data in parts and type(data) in map(type, parts)
    elif is_typeddict(hint):
        fields, fits = get_type_hints(hint), isinstance(data, dict)
        if fits:
            odd = [f"{at}.{name}: unknown" for name in data.keys() - fields.keys()]
            odd += [f"{at}.{name}: missing" for name in hint.__required_keys__ - data.keys()]
            found = odd + [
                each for name in data.keys() & fields for each in faults(data[name], fields[name], f"{at}.{name}")
            ]
    elif kind is dict:
        fits = isinstance(data, dict)
        for name, value in data.items() if fits else ():
            found += [*faults(name, parts[0], f"{at} {name}"), *faults(value, parts[1], f"{at}.{name}")]
    elif kind in (list, tuple):
        fits = isinstance(data, list | tuple) and (kind is list or len(data) == len(parts))
        for i, value in enumerate(data if fits else ()):
            found += faults(value, parts[0] if kind is list else parts[i], f"{at}[{i}]")
    else:
        numbers = {float: (int, float), NoneType: (NoneType,)}
        fits = type(data) in numbers.get(hint, (hint,))
    return found if fits else [f"{at}: {data!r:.60} instead of {hint}"]
