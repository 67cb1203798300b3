"""Cache, in the view, what functions of the view return."""

from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar


class _Keeps(Protocol):
    @property
    def made(self) -> dict[object, Any]: ...


Made = TypeVar("Made")
P = ParamSpec("P")
V = TypeVar("V", bound=_Keeps)


def once(make: Callable[Concatenate[V, P], Made]) -> Callable[Concatenate[V, P], Made]:
    """Keep what a function of the view returns; parts of frames that are the same object need not be compared."""

    def kept(view: V, /, *args: P.args, **kwargs: P.kwargs) -> Made:
        key = (make, args, *kwargs.items()) if kwargs else (make, args)
        found: Made
        try:
            found = view.made[key]
        except KeyError:
            found = view.made[key] = make(view, *args, **kwargs)
        return found

    return kept
