"""The bytes of a file, opened as data: what packviz.doctor.files runs, here or in a process of its own.

Nothing of packviz is imported, and torch only for its own files: that process starts in a tenth of a second.
"""

from __future__ import annotations

import ctypes
import io
import json
import math
import re
import runpy
import sys
import zipfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from torch import Tensor

MAX_BYTES = 64 * 2**20  # of a file, and of what it unpacks to
MAX_PARTS = 10_000
MAX_NAME = 1_000  # characters

# by its path: a process that reads one file has no packages of ours
_OBJECTS = runpy.run_path(str(Path(__file__).with_name("object_arrays.py")))

FIELDS = ("data", "batch_sizes", "sorted_indices", "unsorted_indices")  # of a PackedSequence
PLAIN = "plain"  # the field of numbers, and lists of them

_DTYPES = {
    *("bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64"),
    *("float16", "bfloat16", "float32", "float64", "complex64", "complex128"),
}
_COLOURS = re.compile(r"\x1b\[\d*m|\[\d+m")
_REASON = re.compile(r"WeightsUnpickler error:\s*(.+)")
_GLOBAL = re.compile(r"GLOBAL ([\w.]+)")
_BATCH = re.compile(r"Batch(Encoding|Feature)?$")  # what tokenizers and collators return
_WEIGHTS = "the weights alone: torch.save(module.state_dict(), ...)"
_ADVICE = re.compile(r"weights_only|safe_globals")  # of torch: to load the file in a way that may run its code
_NEWUSER, _NEWNET = 0x10000000, 0x40000000  # of Linux's unshare: namespaces of its own for users and for the network
_NOT_FOR_FILES = ("socket.", "subprocess.", "os.system", "os.exec", "os.fork", "os.posix_spawn", "os.spawn")


class Part(NamedTuple):
    """A tensor of a file: its dtype by torch's name, its numbers as bytes, row by row."""

    name: str
    field: str  # "", PLAIN, or which of the FIELDS of the PackedSequence of that name
    dtype: str
    shape: tuple[int, ...]
    data: bytes


class UnreadableError(Exception):
    """The reason why a file was not opened, as the parts of a PackvizError: expected, got, fix."""


def open_parts(name: str, data: bytes) -> list[Part]:
    """Return the tensors in a file's bytes; the ending of its name determines the format. Raises UnreadableError."""
    if len(data) > MAX_BYTES:
        raise too_large(f"a file of {megabytes(len(data))}")
    path = PurePath(name)
    suffix = path.suffix.lower()
    if suffix not in _READERS:
        got = ascii(path.suffix[:20]) if suffix else "a name without an ending"
        raise UnreadableError(", ".join(_READERS), got, "save it with numpy.save or torch.save")
    expected, read = _READERS[suffix]
    try:
        parts = list(read(path.stem, data))
    except UnreadableError:
        raise
    except MemoryError:
        raise UnreadableError("a file that fits into memory", "a larger one", ALONE) from None
    except Exception as error:  # a parser may raise anything for bytes that were not written for it
        raise unreadable(expected, error) from None
    if all(part.field == PLAIN and not part.shape for part in parts):
        raise UnreadableError("tensors", "a file without tensors", "save a tensor or a state dict")
    return parts


def _npy(name: str, data: bytes) -> Iterator[Part]:
    yield from _array(name, io.BytesIO(data), len(data))


def _npz(_: str, data: bytes) -> Iterator[Part]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for info in _checked(archive):
            yield from _array(info.filename.removesuffix(".npy"), io.BytesIO(archive.read(info)), info.file_size)


def _array(name: str, stream: io.BytesIO, available: int) -> Iterator[Part]:
    """Read the header first: the numbers that it declares must be there."""
    version = np.lib.format.read_magic(stream)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, _, dtype = read(stream)
    if dtype.hasobject:
        for each, item in enumerate(_OBJECTS["arrays_in"](stream)):
            yield _whole(f"{name}.{each}", item)
        return
    if dtype.kind not in "biuf" or dtype.name not in _DTYPES:
        raise ValueError(f"its dtype is {dtype}, which is not numeric")
    if math.prod(shape) * dtype.itemsize > available:
        raise ValueError(f"it declares {math.prod(shape):,} numbers, but holds fewer")
    stream.seek(0)
    yield _whole(name, np.load(stream, allow_pickle=False))


def _whole(name: str, array: np.ndarray[Any, Any]) -> Part:
    dtype = array.dtype
    if dtype.kind not in "biuf" or dtype.name not in _DTYPES:
        raise ValueError(f"its dtype is {dtype}, which is not numeric")
    return Part(name, "", dtype.name, array.shape, array.astype(dtype.newbyteorder("=")).tobytes())


def _json(stem: str, data: bytes) -> Iterator[Part]:
    content = json.loads(data)
    for name, value in content.items() if isinstance(content, dict) else [(stem, content)]:
        each = enumerate(value) if isinstance(value, list) else ()
        yield from [*_plain(name, value)] or [part for at, one in each for part in _plain(f"{name}.{at}", one)]


def _plain(name: str, value: object) -> Iterator[Part]:
    """Yield a number, or a list of numbers or of equal lists of them, as one part; nothing for anything else."""
    array = np.array(value) if type(value) in (int, float) else _OBJECTS["array_of"](value)
    if array is not None and array.dtype.name in _DTYPES:
        yield _whole(name, array)._replace(field=PLAIN)


def _checked(archive: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    """Return what is in an archive; raises UnreadableError if it would unpack to too much."""
    infos = archive.infolist()
    unpacked = sum(info.file_size for info in infos)
    if unpacked > MAX_BYTES or len(infos) > MAX_PARTS:
        many = len(infos) > MAX_PARTS
        raise too_large(f"{len(infos):,} parts" if many else f"{megabytes(unpacked)} when unpacked")
    return infos


def _safetensors(_: str, data: bytes) -> Iterator[Part]:
    try:
        from safetensors import deserialize  # only here: the library works without it
    except ModuleNotFoundError:
        expected, got = "the package safetensors, which reads such files", "an environment without it"
        raise UnreadableError(expected, got, "install it: pip install safetensors") from None

    for name, part in sorted(deserialize(data)):  # type: ignore[no-untyped-call]
        yield Part(name, "", _torch_name(part["dtype"]), tuple(part["shape"]), bytes(part["data"]))


def _torch_name(dtype: str) -> str:
    """Return "bfloat16" for "BF16", as .safetensors files write it."""
    kinds = {"I": "int", "U": "uint", "F": "float", "BF": "bfloat", "C": "complex"}
    kind = dtype.rstrip("0123456789")
    name = "bool" if dtype == "BOOL" else kinds.get(kind, kind) + dtype[len(kind) :]
    if name not in _DTYPES:
        raise ValueError(f"a tensor in it has dtype {dtype}")
    return name


def _pt(stem: str, data: bytes) -> Iterator[Part]:
    try:
        import torch
        from torch.nn.utils.rnn import PackedSequence
    except Exception:  # it loads everywhere but in a process short of memory, and there with any error
        raise MemoryError from None
    if data[:2] == b"PK":
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            if any(info.compress_type != zipfile.ZIP_STORED for info in _checked(archive)):
                raise ValueError("torch.save does not compress")
    with torch.serialization.safe_globals([PackedSequence]):
        content = torch.load(io.BytesIO(data), map_location="cpu", weights_only=True)
    yield from _leaves(content, stem)


def _leaves(content: object, stem: str) -> Iterator[Part]:
    """Yield tensors, fields of packed sequences and numbers, with their names, from dicts and lists of any depth."""
    from torch import Tensor
    from torch.nn.utils.rnn import PackedSequence

    waiting: list[tuple[str, str, object]] = [("", "", content)]
    seen = size = 0
    while waiting:
        name, field, value = waiting.pop()
        seen, size = seen + 1, size + (value.numel() * value.element_size() if isinstance(value, Tensor) else 0)
        if seen > MAX_PARTS or size > MAX_BYTES:
            raise too_large(f"more than {MAX_PARTS:,} parts" if seen > MAX_PARTS else f"{megabytes(size)} of tensors")
        if isinstance(value, Tensor):
            yield _part(name or stem, field, value)
        elif isinstance(value, PackedSequence):
            if all(isinstance(part, Tensor) for part in value[:2]) and len(value) == len(FIELDS):
                waiting += [(name or stem, each, part) for each, part in zip(FIELDS[::-1], value[::-1], strict=True)]
        elif plain := [*_plain(name or stem, value)]:
            size += sum(len(part.data) for part in plain)
            yield from plain
        elif isinstance(value, Mapping | list | tuple):
            items = [*(value.items() if isinstance(value, Mapping) else enumerate(value))]
            waiting += [((f"{name}.{key}" if name else str(key))[:MAX_NAME], "", part) for key, part in items[::-1]]


def _part(name: str, field: str, value: Tensor) -> Part:
    import torch

    dtype = str(value.dtype).removeprefix("torch.")
    if value.layout != torch.strided or value.device.type != "cpu" or value.is_nested or dtype not in _DTYPES:
        raise ValueError(f"{name} is a {dtype} tensor with layout {value.layout} on {value.device}: save dense numbers")
    plain = value.detach().resolve_conj().resolve_neg().contiguous().reshape(-1).view(torch.uint8)
    return Part(name, field, dtype, tuple(value.shape), plain.numpy().tobytes())


_READERS: dict[str, tuple[str, Callable[[str, bytes], Iterator[Part]]]] = {
    ".npy": ("a .npy file with numbers", _npy),
    ".npz": ("a .npz file with numbers", _npz),
    ".pt": ("weights only: tensors, and lists and dicts of them", _pt),
    ".pth": ("weights only: tensors, and lists and dicts of them", _pt),
    ".safetensors": ("a .safetensors file", _safetensors),
    ".json": ("lists of numbers, or an object of them", _json),
}


def megabytes(number: int) -> str:
    """Return a number of bytes in MiB, rounded up, in words."""
    return f"{math.ceil(10 * number / 2**20) / 10:,.1f} MiB"


ALONE = "save only the batch or the layer"


def too_large(got: str) -> UnreadableError:
    """Return the refusal of more than MAX_BYTES."""
    expected = f"at most {megabytes(MAX_BYTES)}, compressed or not, in at most {MAX_PARTS:,} parts"
    return UnreadableError(expected, got, ALONE)


def unreadable(expected: str, error: Exception) -> UnreadableError:
    """Return the refusal of a file that a parser gave up on, with the parser's reason.

    torch's advice to load the file unsafely is not passed on.
    """
    text = _COLOURS.sub("", str(error))
    if needed := _GLOBAL.search(text):
        got = f"a pickle that needs {needed[1][:MAX_NAME]}, which could run code"
        fix = "the batch as a dict: torch.save({**batch}, ...)" if _BATCH.search(needed[1]) else _WEIGHTS
        return UnreadableError(expected, got, f"save {fix}")
    reason = _REASON.search(text)
    if _ADVICE.search(reason[1] if reason else text):
        return UnreadableError(expected, "a file with more than tensors in it", "save only tensors, or a state dict")
    says = reason[1] if reason else (text.strip().splitlines() or [type(error).__name__])[0]
    fix = "save tensors with numpy.save, torch.save(module.state_dict(), ...) or safetensors"
    return UnreadableError(expected, f"a file that cannot be opened ({says[:MAX_NAME]})", fix)


def confine(memory: int, seconds: int) -> None:
    """Limit this process: its memory, its time, what it writes; and take the network and other programs from it.

    Everywhere Python refuses to open a socket or to start a program. Linux also gives the process a network of its own,
    without connections, if it permits that; many containers do not. Windows has none of the other limits.
    """
    if sys.platform == "linux":
        unshare = ctypes.CDLL(None).unshare
        if unshare(_NEWUSER | _NEWNET):
            unshare(_NEWNET)  # which needs no namespace for users if this is root
    sys.addaudithook(_refuse)
    if sys.platform == "win32":
        return
    import resource

    limits = {"DATA": memory, "CPU": seconds, "FSIZE": 2 * MAX_BYTES, "CORE": 0}
    for name, most in limits.items():
        what = getattr(resource, f"RLIMIT_{name}")
        allowed = resource.getrlimit(what)[1]
        most = most if allowed == resource.RLIM_INFINITY else min(most, allowed)
        resource.setrlimit(what, (most, most))


def _refuse(event: str, _: object) -> None:
    if event.startswith(_NOT_FOR_FILES):
        raise PermissionError(f"reading a file needs no {event}")


def _serve() -> None:
    """Read a line of settings and a file's bytes; write a line about its parts, and their bytes."""
    name, *limits = json.loads(sys.stdin.buffer.readline())
    confine(*limits)
    parts, refused = list[Part](), None
    try:
        parts = open_parts(name, sys.stdin.buffer.read())
    except UnreadableError as refusal:
        refused = refusal.args
    head = {"refused": refused, "parts": [(*part[:4], len(part.data)) for part in parts]}
    sys.stdout.buffer.write(b"".join([json.dumps(head).encode(), b"\n", *(part.data for part in parts)]))


if __name__ == "__main__":
    _serve()
