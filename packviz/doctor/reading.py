"""What people paste: a tensor, lengths or a PackedSequence, as torch, numpy, Python or JSON write it; never run."""

import ast
import math
import re
from contextlib import suppress
from typing import cast

import torch
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence, pad_sequence

from packviz.doctor.opening import FIELDS
from packviz.errors import PackvizError, first_line
from packviz.inputs.packed_rows import as_they_are
from packviz.inputs.parsing.python import PYTHON, Atom, Group, Reader
from packviz.text import counted, quoted, quoted_line, shown

__all__ = [
    "are_words", "has_statement", "padding_code", "printed_device",
    "read_lengths", "read_nested", "read_packed", "read_tensor",
]  # fmt: skip

MAX_CHARACTERS = 2_000_000

Nested = int | float | bool | list["Nested"]

_WORDS = {"none": math.nan, "true": True, "false": False}
_GAP = re.compile(r"(?<=[\w.\])])\s+(?=[\w\[(+\-.])")
_NUMBERS = re.compile(r"\b(?:nan|inf|infinity|none|true|false)\b", re.IGNORECASE)  # and no words
_ERROR = re.compile(r"\w(?:Error|Exception|Warning)\b|Traceback \(most recent call last\)")
# A word after a word; or letters, and neither digits nor brackets.
_PROSE = re.compile(r"[^\W\d_]\s++[^\W\d_]|^(?=[^\d\[\](){}]*+\Z).*[^\W\d_]", re.DOTALL)
_COMMENT = re.compile(r"#.*")
# A line of Python that could be prose, but for its signs: "for a batch:" and "import errors" are prose.
_STATEMENT = re.compile(
    r"^[ \t]*+(?:(?:class|def)[ \t]++\w++[ \t]*+(?:\(|:[ \t]*+$)"
    r"|for[ \t]++\w++(?:,[ \t]*+\w++)*+[ \t]++in[ \t]++(?:\S*|.*\)):[ \t]*+$|with[ \t]++[\w.]++\("
    r"|import[ \t]++(?:torch|numpy|[\w.]++[ \t]++as[ \t]++\w)|from[ \t]++[\w.]++[ \t]++import[ \t])",
    re.MULTILINE,
)
_DTYPE = re.compile("u?int(8|16|32|64)|int|bfloat16|float(16|32|64)?|half|double|short|long|bool")
_DEVICE = re.compile(r"\bdevice\s*=\s*['\"](\w+(?::\d+)?)['\"]")
IN_BRACKETS = "numbers in brackets"  # what is expected of a text that is no numbers, other than lengths
_PADDING = """import torch
from torch.nn.utils.rnn import pad_sequence

sequences = {rows}
x = pad_sequence([torch.tensor(row) for row in sequences], batch_first=True, padding_value=0)
lengths = [len(row) for row in sequences]"""
_EXAMPLE, _LENGTHS = "[[1, 2, 3], [4, 5, 0]]", "[3, 2]"  # of x and of lengths, in hints
_HINTS = {  # by the example in it: what is expected, how to write it, and what to give in place of words
    _EXAMPLE: (IN_BRACKETS, f"write a list in brackets, such as {_EXAMPLE}", f"a list such as {_EXAMPLE}"),
    _LENGTHS: ("numbers", f"write one for each sequence, as 3 2 or {_LENGTHS}", f"a list, as 3 2 or {_LENGTHS}"),
}
_FIX_OF_WORDS = "give the numbers themselves: {}, or a tensor as torch prints it"


def read_tensor(text: str) -> Tensor:
    """Return the tensor that a list of Python or JSON writes, or that torch or numpy printed; on the CPU.

    Raises PackvizError for rows of different lengths, for shortened text, and for anything but numbers.

    >>> read_tensor("tensor([[1, 2], [3, 0]])").shape
    torch.Size([2, 2])
    """
    reader = _reader(text)
    return _tensor(reader, reader.expression())


def read_nested(text: str) -> Nested:
    """Return a number, or lists of numbers that may differ in length.

    >>> read_nested("[[1, 2], [3]]")
    [[1, 2], [3]]
    """
    reader = _reader(text)
    return _numbers(reader.value(reader.expression()))


def read_lengths(text: str) -> list[int] | list[float] | Tensor:
    """Return the lengths as a list of the numbers as written; a printed tensor, or nested lists, as a tensor.

    >>> read_lengths("3, 2, 1")
    [3, 2, 1]
    >>> read_lengths("[3 2.5 1]")
    [3, 2.5, 1]
    """
    reader = _reader(text.rstrip(",; \n").replace(";", ",") if isinstance(text, str) else text, _LENGTHS)
    written = reader.expression()
    if isinstance(written, ast.Call):
        return _tensor(reader, written)
    values = _numbers(reader.value(written), reader.example)
    flat = values if isinstance(values, list) else [values]
    numbers = [value for value in flat if isinstance(value, int | float) and not isinstance(value, bool)]
    return numbers if len(numbers) == len(flat) else _tensor(reader, written)


def printed_device(text: str) -> str:
    """Return the device that a printed tensor names, "cpu" if it names none.

    >>> printed_device("tensor([3, 2], device='cuda:0')")
    'cuda:0'
    """
    named = _DEVICE.search(text)
    return named[1] if named else "cpu"


def are_words(text: str) -> bool:
    """Return whether a text is words, such as an error message or a question, and not numbers or code.

    >>> are_words("RuntimeError: `lengths` array must be sorted"), are_words("why is it wrong?"), are_words("[nan nan]")
    (True, True, False)
    """
    written = _NUMBERS.sub("0", _COMMENT.sub("", text).replace("Parameter containing:", ""))
    if _ERROR.search(written):
        return True
    is_code = PYTHON.search(written) or has_statement(written)
    return bool(written.strip()) and not is_code and _PROSE.search(written) is not None


def has_statement(text: str) -> bool:
    """Return whether a line of a text begins a class, a function, a loop or a block of Python, or imports something."""
    return _STATEMENT.search(text) is not None


def padding_code(text: str) -> str:
    """Return code that pads the sequences which a text writes, or "" if it writes no rows of different lengths."""
    with suppress(ValueError, TypeError, RuntimeError, IndexError, OverflowError):  # no rows, or not of numbers
        reader = _reader(text)
        rows = cast("list[list[Nested]]", _numbers(reader.value(reader.expression())))
        padded = pad_sequence([torch.tensor(row, device="cpu") for row in rows], batch_first=True)
        if len({len(row) for row in rows}) > 1 and bool(padded.isfinite().all()):
            return _PADDING.format(rows=rows)
    return ""


def read_packed(text: str) -> PackedSequence:
    """Return the PackedSequence that torch printed, as it is: its fields may contradict each other.

    Raises PackvizError if a field is missing or shortened.
    """
    reader = _reader(text)
    match reader.expression():
        case ast.Call(func=ast.Name(id="PackedSequence") | ast.Attribute(attr="PackedSequence"), args=[]) as call:
            fields = {str(each.arg): each.value for each in call.keywords if reader.source(each.value) != "None"}
        case _:
            fix = "print the PackedSequence and copy all of it"
            raise _refusal("PackedSequence(data=..., ...)", quoted_line(text.strip()), fix)
    if set(FIELDS[:2]) - set(fields) or set(fields) - set(FIELDS):
        got = f"{counted(len(fields), 'field')}: {quoted(', '.join(fields), 60)}"
        raise _refusal(f"the fields {', '.join(FIELDS)}", got, "copy all of it, with data and batch_sizes")
    return as_they_are(*(_tensor(reader, fields[name]) if name in fields else None for name in FIELDS))


def _reader(text: object, example: str = _EXAMPLE) -> Reader:
    """Return the reader of a text, in which all commas may be missing. example: of what can be read, for hints."""
    expected, fix, instead = _HINTS[example]
    if not isinstance(text, str):
        raise _refusal("a str", shown(text), "give the printed text, or give the tensor itself to examine()")
    if len(text) > MAX_CHARACTERS:
        as_file = "upload it as a file: .npy, .npz, .pt"
        raise _refusal(f"at most {MAX_CHARACTERS:,} characters", f"{len(text):,} characters", as_file)
    if not text.strip():
        raise _refusal(expected, "nothing", fix)
    if are_words(text):
        raise _refusal(expected, f"words: {quoted_line(text.strip())}", _FIX_OF_WORDS.format(instead))
    text = text.strip().removeprefix("Parameter containing:").replace("\N{MINUS SIGN}", "-")
    return Reader(text if "," in text else _GAP.sub(", ", text), expected, fix, example)


def _tensor(reader: Reader, written: ast.expr) -> Tensor:
    """Return the tensor of a list, or of the call that torch or numpy prints around it."""
    named: dict[str, str] = {}
    if isinstance(written, ast.Call):
        named = {str(each.arg): reader.source(each.value) for each in written.keywords}
    values = _numbers(reader.value(written), reader.example)
    _shape(values, "")
    name = named.get("dtype", "").removeprefix("torch.").removeprefix("np.").strip("'\"")
    dtype = getattr(torch, name) if _DTYPE.fullmatch(name) else None
    try:
        tensor = torch.tensor(values, dtype=dtype, device="cpu")
        return tensor.reshape(ast.literal_eval(named["size"])) if "size" in named else tensor
    except (RuntimeError, ValueError, TypeError, OverflowError) as error:
        got = f"{quoted(reader.text)} ({first_line(error)})"
        fix = "correct the numbers, or leave out dtype and size" if named else "give smaller numbers"
        raise _refusal("numbers that fit a tensor", got, fix) from None


def _numbers(item: Atom | Group, example: str = _EXAMPLE) -> Nested:
    """Return the number, or the list of lists of numbers, of a tree. example: of what can be read, for hints."""
    if isinstance(item, Group):
        return [_numbers(each, example) for each in item.items]
    text = item.text.lower()
    with suppress(ValueError):
        if not item.quoted:
            return _WORDS[text] if text in _WORDS else int(text) if text.lstrip("+-").isdecimal() else float(text)
    expected, fix, _ = _HINTS[example]
    raise _refusal(expected, quoted_line(item.text), fix)


def _shape(values: Nested, where: str) -> tuple[int, ...]:
    """Return the shape; raises PackvizError, with the place, if two rows differ."""
    if not isinstance(values, list):
        return ()
    shapes = [_shape(value, f"{where}[{index}]") for index, value in enumerate(values)]
    for index, shape in enumerate(shapes):
        if shape != shapes[0]:
            one, other = (counted(each[0], "item") if each else "no bracket" for each in (shape, shapes[0]))
            got = f"x{where}[{index}] with {one} after x{where}[0] with {other}"
            fix = "pad the shorter rows, for example with 0, and give the lengths"
            raise _refusal("rows of equal length", got, fix)
    return (len(values), *(shapes[0] if shapes else ()))


def _refusal(expected: str, got: str, fix: str) -> PackvizError:
    return PackvizError("text", expected=expected, got=got, fix=fix)
