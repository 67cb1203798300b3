"""Weights as torch draws them after manual_seed(seed), from a generator of their own.

torch's global generator belongs to the whole process: a thread that draws from it, or restores its state, changes what
its neighbours get. torch's functions in nn.init take a generator, which nn.Module's constructors do not pass on.
"""

from collections.abc import Callable
from typing import Any, TypeVar

import torch
from torch import nn
from torch.overrides import TorchFunctionMode

Module = TypeVar("Module", bound=nn.Module)


def generator_of(seed: int) -> torch.Generator:
    """Return a generator that gives what torch's own gives after ``torch.manual_seed(seed)``."""
    return torch.Generator("cpu").manual_seed(seed)


class _From(TorchFunctionMode):
    """Within this context, the functions of nn.init that this thread calls draw from `generator`."""

    def __init__(self, generator: torch.Generator) -> None:
        super().__init__()
        self.generator = generator

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Call a function of torch, with the generator if it takes one."""
        given = kwargs or {}
        return func(*args, **given | ({"generator": self.generator} if "generator" in given else {}))


def drawn(build: Callable[..., Module], *sizes: Any, generator: torch.Generator, **settings: Any) -> Module:
    """Return build(*sizes, **settings) on the CPU with the weights that torch would give it, drawn from `generator`."""
    with _From(generator):
        return build(*sizes, **settings, device="cpu")
