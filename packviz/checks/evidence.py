"""What came, in words, and what torch says of it when it is asked now."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from packviz.batch import Batch
from packviz.config import Config
from packviz.errors import PackvizError
from packviz.modules import dtype_name
from packviz.record import Trace
from packviz.visible import shown

__all__ = ["check_kind", "check_own_making", "described", "frozen_copy", "tensor_obstacle", "torch_refusal"]


def torch_refusal(call: Callable[[], object]) -> str | None:
    """Return the first line of what torch says when the call is made now, or None where it says nothing."""
    try:
        call()
    except (RuntimeError, ValueError, IndexError, TypeError, AttributeError, NotImplementedError) as error:
        return str(error).splitlines()[0]
    return None


def described(value: object) -> str:
    """Return a value in a few words: "a float32 tensor of shape (3, 4)", "a list", "2.5".

    >>> described(torch.zeros(3, 4))
    'a float32 tensor of shape (3, 4)'
    """
    if isinstance(value, Tensor):
        return f"{_with_article(dtype_name(value.dtype))} tensor of shape {tuple(value.shape)}"
    if value is None or isinstance(value, bool | int | float):
        return shown(value)
    return _with_article(type(value).__name__)


def check_kind(parameter: str, value: object, kind: type, mend: str) -> None:
    """Raise PackvizError unless the value is of that kind."""
    if not isinstance(value, kind):
        raise PackvizError(parameter, expected=_with_article(kind.__name__), came=described(value), mend=mend)


def tensor_obstacle(tensor: Tensor) -> str | None:
    """Return why a tensor cannot be traced at all ("on cuda:0", "sparse"), or None where it can."""
    if tensor.is_nested:
        return "a nested tensor"
    if tensor.is_quantized:
        return "a quantized tensor"
    if tensor.layout != torch.strided:
        return f"a tensor in the {str(tensor.layout).removeprefix('torch.')} layout"
    return None if tensor.device.type == "cpu" else f"a tensor on {tensor.device}"


def frozen_copy(tensor: Tensor) -> Tensor:
    """Return a plain copy that no later change of the original reaches, without gradient."""
    return tensor.detach().as_subclass(Tensor).clone()


def _with_article(word: str) -> str:
    return f"an {word}" if word[:1] in "aeioAEIO" else f"a {word}"


def check_own_making(trace: Trace, mend: str) -> tuple[Batch, Config]:
    """Return what a trace was made from; raises PackvizError, with `mend`, for the trace of a module of one's own."""
    if trace.batch is None or trace.config is None:
        raise PackvizError(
            "trace",
            expected="a trace that packviz made from a Batch and a Config",
            came="the trace of a module of your own",
            mend=mend,
        )
    return trace.batch, trace.config
