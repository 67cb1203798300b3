"""The calls of pack_padded_sequence, pad_packed_sequence and pad_sequence, seen however their names were imported.

Each of them looks up a function of torch's own when it is called; while somebody watches, that one is replaced. Not
seen are compiled and scripted code, and the calls in other threads than the one that watches.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from threading import Lock, local
from typing import Any

import torch
from torch import Tensor
from torch.nn.utils.rnn import pack_padded_sequence

See = Callable[[str, tuple[Any, ...], Any, Tensor | None], None]  # name, arguments, result, sorted_indices

_INNER = {"_pack_padded_sequence": torch._VF, "_pad_packed_sequence": torch._VF, "pad_sequence": torch._C._nn}


class _Here(local):
    watching: tuple[See, ...] = ()  # in this thread


_here, _lock, _originals = _Here(), Lock(), dict[str, tuple[Any, bool, Any]]()
_contexts = 0


@contextmanager
def seeing_packing(see: See) -> Iterator[None]:
    """Call see() after every one of these calls in this thread, as long as the context is open."""
    _replace(1)
    _here.watching = (*_here.watching, see)
    try:
        yield
    finally:
        _here.watching = tuple(one for one in _here.watching if one is not see)
        _replace(-1)


def _replace(change: int) -> None:
    """Count the open contexts; replace torch's functions for the first of them, and put them back after the last."""
    global _contexts
    with _lock:
        before, _contexts = _contexts, _contexts + change
        for name, owner in _INNER.items():
            if not before:
                ours = _seen(name, getattr(owner, name))
                _originals[name] = ours, name in vars(owner), getattr(owner, name)
                setattr(owner, name, ours)
            elif not _contexts and vars(owner).get(name) is _originals[name][0]:  # else somebody replaced it since
                _, own, original = _originals[name]
                setattr(owner, name, original) if own else delattr(owner, name)


def _seen(name: str, original: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(original)
    def call(*arguments: Any, **named: Any) -> Any:
        result = original(*arguments, **named)
        if _here.watching and not named and not hidden():  # torch's own callers name no argument
            caller = sys._getframe(1)
            packs = caller.f_code is pack_padded_sequence.__code__
            order = caller.f_locals.get("sorted_indices") if packs else None
            for see in _here.watching:
                see(name, arguments, result, order)
        return result

    return call


def hidden() -> bool:
    """Tell whether torch compiles or traces this code: then it leaves no trace there, and sees nothing."""
    return torch.compiler.is_compiling() or torch._C._is_tracing()
