"""What people paste: a tensor, lengths or a PackedSequence, as torch, numpy, Python or JSON write it; never run."""

import ast
import math
import re
from typing import cast

import torch
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence

from packviz.doctor.opening import FIELDS
from packviz.errors import PackvizError, first_line
from packviz.text import counted, quoted

__all__ = ["read_lengths", "read_packed", "read_tensor"]

MAX_CHARACTERS = 2_000_000
MAX_BRACKETS = 8  # within one another

Nested = int | float | bool | list["Nested"]

_DTYPES = {
    *("float16", "bfloat16", "float32", "float64", "half", "float", "double"),
    *("int8", "int16", "int32", "int64", "short", "int", "long", "uint8", "bool"),
}
_NAMED = re.compile(r"^\s*\w+\s*=\s*(?=[\[(\w])")  # as copied from a program: x = [[1, 2], [3, 0]]
_TYPED = re.compile(r"^\s*(?:torch\.)?(?:Long|Int|Float|Double|Half|Bool)Tensor\s*\(")
_PACKED = re.compile(r"\s*(?:torch\.nn\.utils\.rnn\.)?PackedSequence\s*\((.*)\)\s*", re.DOTALL)
_PRINTED = re.compile(r"(?:Parameter containing:\s*)?(?:torch\.|np\.|numpy\.)?(?:tensor|array)\s*\(", re.IGNORECASE)
_WORDS = {"nan": "None", "inf": "1e999", "infinity": "1e999", "true": "True", "false": "False"}
_WORD = re.compile(r"(?<![\w.])(nan|inf|infinity|true|false)(?!\w)", re.IGNORECASE)
_ALLOWED = re.compile(r"(?:[\s\d\[\](),.+-]|(?<=[\d.])[eE]|True|False|None)*+")
_GAP = re.compile(r"(?<=[\d.\])ef])\s+(?=[\[(+\-\d.TFN])")


def read_tensor(text: str) -> Tensor:
    """Return the tensor that a list of Python or JSON writes, or that torch or numpy printed; on the CPU.

    Raises PackvizError for rows of different lengths, for shortened text, and for anything but numbers.

    >>> read_tensor("tensor([[1, 2], [3, 0]])").shape
    torch.Size([2, 2])
    """
    text = _text(text)
    body, named = _printed(text) or (text, {})
    values = _literal(body)
    _shape(values, "")
    name = named.get("dtype", "").removeprefix("torch.").removeprefix("np.").strip("'\"")
    dtype = getattr(torch, name) if name in _DTYPES else None
    try:
        tensor = torch.tensor(values, dtype=dtype)
        return tensor.reshape(cast("list[int]", _literal(named["size"]))) if "size" in named else tensor
    except (RuntimeError, ValueError, TypeError, OverflowError) as error:
        got = f"{quoted(text.strip())} ({first_line(error)})"
        raise _refusal("numbers that fit a tensor", got, "check the numbers") from None


def read_lengths(text: str) -> list[int] | list[float] | Tensor:
    """Return the lengths as a list of the numbers as written; a printed tensor, or nested lists, as a tensor.

    >>> read_lengths("3, 2, 1")
    [3, 2, 1]
    >>> read_lengths("[3 2.5 1]")
    [3, 2.5, 1]
    """
    text = _text(text)
    if _printed(text) is not None:
        return read_tensor(text)
    bare = text.strip().rstrip(",;").replace(";", ",")
    values = _literal(bare if bare[:1] in ("[", "(") else f"[{bare}]" if bare else "")
    flat = values if isinstance(values, list) else [values]
    numbers = [value for value in flat if isinstance(value, int | float) and not isinstance(value, bool)]
    return numbers if len(numbers) == len(flat) else read_tensor(bare)


def read_packed(text: str) -> PackedSequence:
    """Return the PackedSequence that torch printed, as it is: its fields may contradict each other.

    Raises PackvizError where a field is missing or shortened.
    """
    text = _text(text)
    match = _PACKED.fullmatch(text)
    if match is None:
        fix = "print the packed sequence and copy the whole of it"
        raise _refusal("PackedSequence(data=..., ...)", quoted(text.strip()), fix)
    fields = _named_arguments(_arguments(match[1]))
    missing = [name for name in FIELDS[:2] if fields.get(name, "None") == "None"]
    if missing or set(fields) - set(FIELDS):
        got = f"{counted(len(fields), 'field')}: {quoted(', '.join(fields), 60)}"
        raise _refusal(f"the fields {', '.join(FIELDS)}", got, "copy all of it, with data and batch_sizes")
    data, batch_sizes, forth, back = (
        None if fields.get(name, "None") == "None" else read_tensor(fields[name]) for name in FIELDS
    )
    bare = PackedSequence(cast(Tensor, data), batch_sizes)
    return bare._replace(sorted_indices=forth, unsorted_indices=back)  # as they are: torch would invert the one


def _text(text: object) -> str:
    if not isinstance(text, str):
        raise _refusal("a str", f"a {type(text).__name__}", "give the text, or the tensor itself to examine()")
    return _TYPED.sub("tensor(", _NAMED.sub("", text).replace("\N{MINUS SIGN}", "-"))


def _printed(text: str) -> tuple[str, dict[str, str]] | None:
    """Return the list inside a printed tensor, and its further arguments ("dtype", ...), or None for other text."""
    match = _PRINTED.match(text.strip())
    if match is None:
        return None
    inner = text.strip()[match.end() :].rstrip()
    if not inner.endswith(")"):
        raise _refusal("a printed tensor with its closing bracket", "one without", "copy the whole of it")
    body, *further = _arguments(inner[:-1])
    return body, _named_arguments(further)


def _arguments(text: str) -> list[str]:
    """Return the parts between the commas that are not inside a bracket."""
    parts, depth, start = [], 0, 0
    for match in re.finditer(r"([\[({<])|([\])}>])|,", text):
        depth += bool(match[1]) - bool(match[2])
        if match[0] == "," and depth == 0:
            parts.append(text[start : match.start()])
            start = match.end()
    return [part.strip() for part in (*parts, text[start:])]


def _named_arguments(parts: list[str]) -> dict[str, str]:
    named = dict(part.split("=", 1) for part in parts if "=" in part)
    return {name.strip(): value.strip() for name, value in named.items()}


def _literal(text: str) -> Nested:
    """Return the number, or the list of lists of numbers, that a text writes; commas may be missing throughout.

    Raises PackvizError for anything else, for shortened text ("..."), and for more than MAX_CHARACTERS.
    """
    if len(text) > MAX_CHARACTERS:
        got = f"{len(text):,} characters"
        raise _refusal(f"at most {MAX_CHARACTERS:,} characters", got, "upload it as a file: .npy, .npz, .pt")
    if "..." in text or "…" in text:
        fix = "print all of it: torch.set_printoptions(threshold=float('inf')), or upload it as a file"
        raise _refusal("every number", "a shortened text, with '...' in it", fix)
    plain = _WORD.sub(lambda match: _WORDS[match[0].lower()], text.strip())
    if not plain or not _ALLOWED.fullmatch(plain):
        got = quoted(text.strip()) if plain else "nothing"
        raise _refusal("numbers in brackets", got, "write a list such as [[1, 2, 3], [4, 5, 0]]")
    if "," not in plain:
        plain = _GAP.sub(", ", plain)
    depth = 0
    for bracket in re.findall(r"[\[\]()]", plain):
        depth += 1 if bracket in "[(" else -1
        if depth > MAX_BRACKETS:
            got = f"more than {MAX_BRACKETS} brackets within one another"
            raise _refusal("at most three dimensions", got, "write sequences, time steps, and features")
    try:
        return _numbers(ast.literal_eval(plain))
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError) as error:
        says = (str(error).splitlines() or ["too deep"])[0]  # a MemoryError of the parser has no message
        got = f"{quoted(text.strip())} ({says})"
        raise _refusal("numbers in brackets", got, "close every bracket and set a comma after every item") from None


def _numbers(value: object) -> Nested:
    if value is None:
        return math.nan
    if isinstance(value, bool | int | float):
        return value
    if isinstance(value, list | tuple):
        return [_numbers(item) for item in value]
    raise ValueError(f"{value!r} is not a number")


def _shape(values: Nested, where: str) -> tuple[int, ...]:
    """Return the shape; raises PackvizError, with the place, where two rows differ."""
    if not isinstance(values, list):
        return ()
    shapes = [_shape(value, f"{where}[{index}]") for index, value in enumerate(values)]
    for index, shape in enumerate(shapes):
        if shape != shapes[0]:
            one, other = (counted(each[0], "item") if each else "no bracket" for each in (shape, shapes[0]))
            got = f"x{where}[{index}] with {one} after x{where}[0] with {other}"
            fix = "fill the shorter rows with a padding value, for example 0, and give the lengths beside it"
            raise _refusal("rows of one length", got, fix)
    return (len(values), *(shapes[0] if shapes else ()))


def _refusal(expected: str, got: str, fix: str) -> PackvizError:
    return PackvizError("text", expected=expected, got=got, fix=fix)
