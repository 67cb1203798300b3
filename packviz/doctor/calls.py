"""A call of a watched recurrent layer, which can be run again and shown."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence

from packviz.compute.record import Trace
from packviz.compute.trace import trace_module
from packviz.show.movie import Movie, movie


@dataclass(eq=False, repr=False)
class Call:
    """One call of a recurrent layer, with what is needed to run it again."""

    layer: str  # its name in the model
    module: nn.RNNBase  # with a copy of the weights that it had
    given: Tensor | PackedSequence
    hx: Any = None

    def trace(self) -> Trace:
        """Run the call again, in evaluation and on the CPU, and record every step.

        Raises PackvizError as trace_module() does.
        """
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
        given = "packed" if isinstance(self.given, PackedSequence) else "unpacked"
        return f"Call({self.layer or 'the model itself'}, {given})"


def on_each(states: Any, change: Callable[[Tensor], Tensor]) -> Any:
    """Apply a function to h, or to both h and c."""
    return tuple(change(state) for state in states) if isinstance(states, tuple | list) else change(states)


def copied(given: Any) -> Any:
    """Return a copy on the CPU of a tensor or a packed sequence, which later changes of the original do not affect."""
    if isinstance(given, PackedSequence):
        indices = (None if index is None else index.cpu() for index in given[2:])
        return PackedSequence(copied(given.data), given.batch_sizes, *indices)
    return given.detach().clone().cpu()
