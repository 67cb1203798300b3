"""Calls: those of pack_padded_sequence, pad_packed_sequence and pad_sequence, seen; those of a layer, kept to be shown.

Each of these three looks up a function of torch's own when it is called; while somebody watches, that one is replaced.
Not seen are compiled and scripted code, which run torch's own, and calls in other threads than the one that watches.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from threading import Lock, local
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence

from packviz.compute.record import Trace
from packviz.compute.trace import trace_module
from packviz.errors import PackvizError
from packviz.show.movie import Movie, movie

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


@dataclass(eq=False, repr=False)
class Call:
    """Hold one call of a recurrent layer; of those that were kept, what is needed to run it again."""

    layer: str  # its name in the model
    given: Tensor | PackedSequence | None = None
    hx: Any = None
    module: nn.RNNBase | None = None  # with a copy of the weights that it had

    def trace(self) -> Trace:
        """Run the call again, in evaluation and on the CPU, and record every step.

        Raises PackvizError as trace_module() does, and where the call was not kept.
        """
        if self.module is None or self.given is None:
            raise PackvizError("call", expected="one that was kept", got=repr(self), fix="watch with a larger keep=")
        if isinstance(self.given, PackedSequence):
            return trace_module(self.module, self.given, hx=self.hx)
        x = self.given if self.given.dim() == 3 else self.given.unsqueeze(0 if self.module.batch_first else 1)
        B, T = x.shape[:2] if self.module.batch_first else x.shape[1::-1]
        hx = self.hx if self.given.dim() == 3 or self.hx is None else on_each(self.hx, lambda state: state.unsqueeze(1))
        return trace_module(self.module, x, [T] * B, hx=hx)  # it ran over every step of the grid

    def movie(self, **settings: Any) -> Movie:
        """Show the call step by step; the settings are those of packviz.movie()."""
        return movie(self.trace(), **settings)

    def __repr__(self) -> str:
        kept = "not kept" if self.given is None else "packed" if isinstance(self.given, PackedSequence) else "unpacked"
        return f"Call({self.layer or 'the model itself'}, {kept})"


def on_each(states: Any, change: Callable[[Tensor], Tensor]) -> Any:
    """Return a state, or a pair of them, changed."""
    return tuple(change(state) for state in states) if isinstance(states, tuple | list) else change(states)


def copied(given: Any) -> Any:
    """Return a copy on the CPU of a tensor, or of a packed sequence, that no later change reaches."""
    if isinstance(given, PackedSequence):
        indices = (None if index is None else index.cpu() for index in given[2:])
        return PackedSequence(copied(given.data), given.batch_sizes, *indices)
    return given.detach().clone().cpu()
