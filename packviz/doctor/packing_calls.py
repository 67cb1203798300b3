"""Calls of pack_padded_sequence, pad_packed_sequence and pad_sequence: how they are observed, what is kept of them."""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, cast

import torch
from torch import Tensor
from torch.jit import is_tracing  # type: ignore[attr-defined]
from torch.nn.utils.rnn import PackedSequence
from torch.overrides import TorchFunctionMode

Function = TypeVar("Function", bound=Callable[..., Any])

# What pack_padded_sequence, pad_packed_sequence and pad_sequence of torch.nn.utils.rnn call with what they were given.
PACKING_CALLS = ("_pack_padded_sequence", "_pad_packed_sequence", "pad_sequence")


Observe = Callable[[str, tuple[Any, ...], Any], None]  # of one of these calls: its name, arguments and result


def packing_calls(observe: Observe) -> TorchFunctionMode:
    """Return the context in which each call in PACKING_CALLS is passed to a function, in the thread that entered it.

    Calls in compiled and scripted code are not observed.
    """

    class PackingCalls(TorchFunctionMode):
        @not_compiled
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            if kwargs:  # torch.nn.utils.rnn names no argument of these calls
                return func(*args, **kwargs)
            result = func(*args)
            if getattr(func, "__name__", "") in PACKING_CALLS and not is_compiled_or_traced():
                observe(func.__name__, args, result)
            return result

    return PackingCalls()


def not_compiled(function: Function) -> Function:
    """Return the function such that torch.compile leaves it as it is.

    Marking it imports Dynamo, which takes seconds; if that is not imported yet, no model has been compiled.
    """
    return cast(Function, torch.compiler.disable(function)) if "torch._dynamo" in sys.modules else function  # type: ignore[no-untyped-call]


def is_compiled_or_traced() -> bool:
    """Return whether torch.compile or torch.jit.trace is reading this code: then the hooks must do nothing."""
    return torch.compiler.is_compiling() or bool(is_tracing())  # type: ignore[no-untyped-call]


@dataclass(eq=False)
class PackCall:
    """A call of pack_padded_sequence: what it returned and, if that must be examined, what was packed."""

    data: Callable[[], Tensor | None]
    batch_sizes: Callable[[], Tensor | None]
    batch_first: bool
    grid: Tensor | None = None  # according to batch_first, in packed order; None if it clearly fits its lengths
    lengths: Sequence[int] = ()  # in packed order
    padded: Tensor | None = None  # what pad_sequence returned last, according to padded_first
    padded_first: bool = False
    own_lengths: Sequence[int] = ()  # of the sequences that pad_sequence was given

    def restored(self, packed: PackedSequence) -> tuple[Tensor, list[int]]:
        """Return the grid (B, T, ...) and its lengths (B,), in the original order of the sequences."""
        assert self.grid is not None
        grid = self.grid if self.batch_first else self.grid.transpose(0, 1)
        if packed.unsorted_indices is None:
            return grid, [*self.lengths]
        back = packed.unsorted_indices
        return grid.index_select(0, back.to(grid.device)), [self.lengths[b] for b in back.tolist()]

    def was_padded_as(self, grid: Tensor) -> bool:
        """Return whether the grid (B, T, ...) is the one that pad_sequence returned."""
        if self.padded is None:
            return False
        return torch.equal(self.padded if self.padded_first else self.padded.transpose(0, 1), grid)
