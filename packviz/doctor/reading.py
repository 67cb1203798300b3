"""What people paste: a tensor, lengths, or the PackedSequence that torch printed."""

from __future__ import annotations

import re

import torch
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence

from packviz.doctor.opening import FIELDS
from packviz.doctor.printed_text import Nested, arguments, literal, printed_tensor
from packviz.errors import PackvizError, first_line
from packviz.text import counted, quoted

__all__ = ["read_lengths", "read_packed", "read_tensor"]

_DTYPES = {
    *("float16", "bfloat16", "float32", "float64", "half", "float", "double"),
    *("int8", "int16", "int32", "int64", "short", "int", "long", "uint8", "bool"),
}
_NAMED = re.compile(r"^\s*\w+\s*=\s*(?=[\[(\w])")  # as one copies it: x = [[1, 2], [3, 0]]
_TYPED = re.compile(r"^\s*(?:torch\.)?(?:Long|Int|Float|Double|Half|Bool)Tensor\s*\(")
_PACKED = re.compile(r"\s*(?:torch\.nn\.utils\.rnn\.)?PackedSequence\s*\((.*)\)\s*", re.DOTALL)


def read_tensor(text: str) -> Tensor:
    """Return the tensor that a list of Python or JSON writes, or that torch or numpy printed; on the CPU.

    Raises PackvizError for rows of different lengths, for shortened text, and for what is no number.

    >>> read_tensor("tensor([[1, 2], [3, 0]])").shape
    torch.Size([2, 2])
    """
    text = _text(text)
    printed = printed_tensor(text)
    body, named = (text, {}) if printed is None else printed
    values = literal(body)
    _shape(values, "")
    name = named.get("dtype", "").removeprefix("torch.").removeprefix("np.").strip("'\"")
    dtype = getattr(torch, name) if name in _DTYPES else None
    try:
        tensor = torch.tensor(values, dtype=dtype)
        return tensor.reshape(_size(named["size"])) if "size" in named else tensor
    except (RuntimeError, ValueError, TypeError, OverflowError) as error:
        came = f"{quoted(text.strip())} ({first_line(error)})"
        raise PackvizError("text", expected="numbers that fit a tensor", came=came, mend="check the numbers") from None


def read_lengths(text: str) -> list[int] | list[float] | Tensor:
    """Return the lengths as a list of the numbers as they were written; a printed tensor, or nested lists, as a tensor.

    >>> read_lengths("3, 2, 1")
    [3, 2, 1]
    >>> read_lengths("[3 2.5 1]")
    [3, 2.5, 1]
    """
    text = _text(text)
    if printed_tensor(text) is not None:
        return read_tensor(text)
    bare = text.strip().rstrip(",;").replace(";", ",")
    values = literal(bare if bare[:1] in ("[", "(") else f"[{bare}]" if bare else "")
    flat = values if isinstance(values, list) else [values]
    numbers = [value for value in flat if isinstance(value, int | float) and not isinstance(value, bool)]
    return numbers if len(numbers) == len(flat) else read_tensor(bare)


def read_packed(text: str) -> PackedSequence:
    """Return the PackedSequence that torch printed, as it stands: its fields may contradict each other.

    Raises PackvizError where a field is missing or shortened.
    """
    text = _text(text)
    match = _PACKED.fullmatch(text)
    if match is None:
        mend = "print the packed sequence and copy the whole of it"
        raise PackvizError("text", expected="PackedSequence(data=..., ...)", came=quoted(text.strip()), mend=mend)
    named = dict(part.split("=", 1) for part in arguments(match[1]) if "=" in part)
    fields = {name.strip(): value.strip() for name, value in named.items()}
    missing = [name for name in FIELDS[:2] if fields.get(name, "None") == "None"]
    if missing or set(fields) - set(FIELDS):
        came = f"{counted(len(fields), 'field')}: {quoted(', '.join(fields), 60)}"
        mend = "copy all of it, with data and batch_sizes"
        raise PackvizError("text", expected=f"the fields {', '.join(FIELDS)}", came=came, mend=mend)
    read = {name: None if value == "None" else read_tensor(value) for name, value in fields.items()}
    data, batch_sizes = read["data"], read["batch_sizes"]
    assert data is not None
    bare = PackedSequence(data, batch_sizes)
    forth, back = read.get("sorted_indices"), read.get("unsorted_indices")
    return bare._replace(sorted_indices=forth, unsorted_indices=back)  # as they stand: torch would invert the one


def _text(text: object) -> str:
    if not isinstance(text, str):
        came = f"a {type(text).__name__}"
        raise PackvizError("text", expected="a str", came=came, mend="give the text, or the tensor itself to examine()")
    bare = _NAMED.sub("", text).replace("\N{MINUS SIGN}", "-")
    return _TYPED.sub("tensor(", bare)


def _shape(values: Nested, where: str) -> tuple[int, ...]:
    """Return the shape; raises PackvizError, with the place, where two rows differ."""
    if not isinstance(values, list):
        return ()
    shapes = [_shape(value, f"{where}[{index}]") for index, value in enumerate(values)]
    for index, shape in enumerate(shapes):
        if shape != shapes[0]:
            at, first = f"x{where}[{index}]", f"x{where}[0]"
            came = f"{at} with {_described(shape)} after {first} with {_described(shapes[0])}"
            mend = "fill the shorter rows with a padding value, for example 0, and give the lengths beside it"
            raise PackvizError("text", expected="rows of one length", came=came, mend=mend)
    return (len(values), *(shapes[0] if shapes else ()))


def _described(shape: tuple[int, ...]) -> str:
    return counted(shape[0], "item") if shape else "no bracket"


def _size(text: str) -> tuple[int, ...]:
    size = literal(text)
    return tuple(int(n) for n in size if isinstance(n, int)) if isinstance(size, list) else ()
