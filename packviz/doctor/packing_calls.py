"""The calls of pack_padded_sequence, pad_packed_sequence and pad_sequence, seen however their names were imported.

Each of them looks up a function of torch's own when it is called; while somebody watches, that one is replaced. Not
seen are compiled and scripted code, which run torch's own, and the calls in other threads than the one that watches.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Lock, local
from typing import Any

import torch
from torch import Tensor
from torch.nn.utils.rnn import pack_padded_sequence

See = Callable[[str, tuple[Any, ...], Any, Tensor | None], None]  # name, arguments, result, sorted_indices

# Of all that is torch's own here, a release may have less: then less is seen, and nothing fails.
_INNER = {"_pack_padded_sequence": torch._VF, "_pad_packed_sequence": torch._VF, "pad_sequence": torch._C._nn}


class _Here(local):
    watching: tuple[See, ...] = ()  # in this thread


_here, _lock = _Here(), Lock()
_replaced = dict[str, tuple[Any, Any]]()  # ours, and what the owner itself had, if anything
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
        # how torch.jit.script knows its functions
        scripted = getattr(getattr(torch.jit, "_builtins", None), "_get_builtin_table", dict[int, str])()
        for name, owner in _INNER.items():
            if not before and hasattr(owner, name):
                ours = _seen(name, getattr(owner, name))
                _replaced[name] = ours, vars(owner).get(name)
                scripted[id(ours)] = f"aten::{name}"
                setattr(owner, name, ours)
            elif not _contexts and name in _replaced:
                ours, own = _replaced.pop(name)
                scripted.pop(id(ours), None)
                if vars(owner).get(name) is ours:  # else somebody replaced it since
                    setattr(owner, name, own) if own else delattr(owner, name)
                    _correct_dynamo(ours, getattr(owner, name))


def _correct_dynamo(ours: object, original: object) -> None:
    """Put torch's function into Dynamo's table of known ones, if Dynamo made it in the meantime."""
    rules: Any = sys.modules.get("torch._dynamo.trace_rules")
    table = getattr(rules, "get_torch_obj_rule_map", None)
    if table is not None and table.cache_info().currsize and ours in table():
        table()[original] = table().pop(ours)


def _seen(name: str, original: Callable[..., Any]) -> Callable[..., Any]:
    def call(*arguments: Any, **named: Any) -> Any:
        result = original(*arguments, **named)
        if _here.watching and not named and not hidden():  # torch's own callers name no argument
            caller = sys._getframe(1)
            packs = caller.f_code is pack_padded_sequence.__code__
            order = caller.f_locals.get("sorted_indices") if packs else None
            for see in _here.watching:
                see(name, arguments, result, order)
        return result

    skip_frames_of(call)
    return call


def skip_frames_of(function: Callable[..., Any]) -> None:
    """Keep Dynamo from compiling what a function runs, as torch.compiler.disable() does, which imports Dynamo."""
    with suppress(AttributeError):  # where a release of torch has other names for it, Dynamo compiles them
        frames: Any = torch._C._dynamo.eval_frame
        skip = frames._FrameAction.SKIP
        frames.set_code_exec_strategy(function.__code__, frames._FrameExecStrategy(skip, skip))


def hidden() -> bool:
    """Tell whether torch compiles or traces this code: then it leaves no trace there, and sees nothing."""
    return torch.compiler.is_compiling() or torch._C._is_tracing()
