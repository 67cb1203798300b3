"""Values as messages and printed records describe them, tensors without reading more than a few of their numbers."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

import numpy as np
import torch
from torch import Tensor

from packviz.text.characters import quoted
from packviz.text.phrases import counted, with_article

_FEW = 8  # values that are written out; of more, only the first or how many there are
_LONGEST = 120  # characters of a value in a printed record


class Brief:
    """Print a record on one line: a tensor as shape and dtype, or as values if it has only a few integers."""

    def __repr__(self) -> str:
        parts = (f"{field.name}={_brief(getattr(self, field.name))}" for field in fields(self))  # type: ignore[arg-type]
        return f"{type(self).__name__}({', '.join(parts)})"


def _brief(value: Any) -> str:
    if isinstance(value, Tensor):
        few = value.dim() == 1 and len(value) <= _FEW and not value.is_floating_point()
        return str(value.tolist()) if few else f"{tuple(value.shape)} {dtype_name(value.dtype)}"
    if isinstance(value, Mapping):
        return f"<{', '.join(map(str, value))}>"
    plain = str | int | float | None
    if isinstance(value, tuple | list) and not (len(value) <= _FEW and all(isinstance(each, plain) for each in value)):
        return f"<{counted(len(value), 'item')}>"
    text = repr(value) if isinstance(value, plain | Brief | tuple | list) else f"<{type(value).__name__}>"
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 2]} …"


def dtype_name(dtype: torch.dtype) -> str:
    """Return "float32" for torch.float32."""
    return str(dtype).removeprefix("torch.")


def shape(*sizes: int) -> str:
    """Return sizes as torch prints a shape: "(3, 4)", "(3,)"."""
    return f"({sizes[0]},)" if len(sizes) == 1 else f"({', '.join(map(str, sizes))})"


def numbers(values: Tensor | Sequence[float]) -> str:
    """Return the first few of some numbers, in brackets."""
    flat = values.detach().flatten() if isinstance(values, Tensor) else values
    first = flat[:_FEW].tolist() if isinstance(flat, Tensor) else flat[:_FEW]
    items = ", ".join(f"{value:.6g}" if isinstance(value, float) else str(value) for value in first)
    return f"[{items}]" if len(flat) <= _FEW else f"[{items}, …]"


def shown(value: object) -> str:
    """Describe any value for a message: a text in quotes, a number as it is, anything else by its type.

    NumPy's scalars are shown like Python's, and a tensor without reading its values.

    >>> shown("abc"), shown(np.int64(2)), shown([1, 2]), shown(torch.zeros(3, 4))
    ("'abc'", '2', 'a list', 'a float32 tensor of shape (3, 4)')
    """
    if isinstance(value, np.bool_ | np.integer | np.floating):
        value = value.item()
    if isinstance(value, Tensor):
        return _shown_tensor(value)
    if isinstance(value, str):
        return quoted(value)
    if value is None or isinstance(value, bool | float):
        return str(value)
    if isinstance(value, int):
        if abs(value) < 10**30:
            return str(value)
        power = round(math.log10(abs(value)))  # the logarithm is exact enough to find the nearest power of 10
        return f"a number of {power + (abs(value) >= 10**power)} digits"
    return with_article(type(value).__name__)


def _shown_tensor(value: Tensor) -> str:
    if value.is_nested:
        return "a nested tensor"
    if value.is_quantized:
        return "a quantized tensor"
    if value.layout != torch.strided:
        return f"a tensor in the {str(value.layout).removeprefix('torch.')} layout"
    return f"{with_article(dtype_name(value.dtype))} tensor of shape {tuple(value.shape)}"
