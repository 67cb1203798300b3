"""What came, in words, and what torch says of it when it is asked now."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence

from packviz.errors import PackvizError
from packviz.inputs.module import dtype_name
from packviz.inputs.torch_answers import ask
from packviz.text import shown, with_article

__all__ = [
    "MAX_CELLS",
    "check_kind",
    "described",
    "frozen_copy",
    "layout_obstacle",
    "numbers",
    "pack_cells",
    "step_numbers",
    "tensor_obstacle",
    "unpack_or_say",
]

MAX_CELLS = 20_000_000  # of a grid that torch is asked to make, only to see what it does


def described(value: object) -> str:
    """Return a value in a few words: "a float32 tensor of shape (3, 4)", "a list", "2.5".

    >>> described(torch.zeros(3, 4))
    'a float32 tensor of shape (3, 4)'
    """
    if isinstance(value, Tensor):
        return f"{with_article(dtype_name(value.dtype))} tensor of shape {tuple(value.shape)}"
    if value is None or isinstance(value, bool | int | float):
        return shown(value)
    return with_article(type(value).__name__)


def check_kind(parameter: str, value: object, kind: type, mend: str) -> None:
    """Raise PackvizError unless the value is of that kind."""
    if not isinstance(value, kind):
        raise PackvizError(parameter, expected=with_article(kind.__name__), came=described(value), mend=mend)


def layout_obstacle(tensor: Tensor) -> str | None:
    """Return what a tensor that is not dense is ("a nested tensor"), or None."""
    if tensor.is_nested:
        return "a nested tensor"
    if tensor.is_quantized:
        return "a quantized tensor"
    if tensor.layout != torch.strided:
        return f"a tensor in the {str(tensor.layout).removeprefix('torch.')} layout"
    return None


def tensor_obstacle(tensor: Tensor) -> str | None:
    """Return why a tensor cannot be traced ("a tensor on cuda:0", "a nested tensor"), or None where it can."""
    return layout_obstacle(tensor) or (None if tensor.device.type == "cpu" else f"a tensor on {tensor.device}")


def frozen_copy(tensor: Tensor) -> Tensor:
    """Return a plain copy that no later change of the original reaches, without gradient."""
    return tensor.detach().as_subclass(Tensor).clone()


def pack_cells(B: int, T: int, lengths: object, *, enforce_sorted: bool) -> PackedSequence:
    """Return cell numbers (B, T), counted row by row, packed with the lengths as they came."""
    cells = torch.arange(B * T, device="cpu").view(B, T)
    return pack_padded_sequence(cells, lengths, batch_first=True, enforce_sorted=enforce_sorted)  # type: ignore[arg-type]


def unpack_or_say(packed: PackedSequence) -> str:
    """Return what pad_packed_sequence does with a packed sequence, in words."""
    return ask(lambda: pad_packed_sequence(packed, batch_first=True)).does(lambda done: f"unpacks {numbers(done[1])}")


def numbers(values: Tensor) -> str:
    """Return the first few numbers of a tensor, in brackets."""
    flat = values.detach().flatten()
    shown = ", ".join(f"{value:.6g}" if isinstance(value, float) else str(value) for value in flat[:8].tolist())
    return f"[{shown}]" if len(flat) <= 8 else f"[{shown}, …]"


def step_numbers(values: Tensor) -> str:
    """Return one step: its number, or the first few of its features in brackets."""
    return numbers(values) if values.numel() > 1 else numbers(values)[1:-1]
