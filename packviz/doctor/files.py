"""What people upload: .npy, .npz, .pt, .pth and .safetensors, opened without running anything that stands in them."""

from __future__ import annotations

import io
import math
import pickle
import re
import tokenize
import warnings
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePath

import numpy as np
import torch
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence

from packviz.doctor.weights import recurrent_prefixes
from packviz.errors import PackvizError
from packviz.visible import quoted

__all__ = ["MOST_BYTES", "Loaded", "read_file"]

MOST_BYTES = 64 * 2**20  # of a file, and of what it unpacks to
MOST_PARTS = 10_000

_ERRORS = (
    *(RuntimeError, ValueError, TypeError, KeyError, OSError, EOFError, AttributeError, IndexError, OverflowError),
    *(NotImplementedError, MemoryError, RecursionError, AssertionError, SyntaxError, tokenize.TokenError),
    *(zipfile.BadZipFile, zlib.error, pickle.UnpicklingError),
)
_COLOURS = re.compile(r"\x1b\[\d*m|\[\d+m")
_REASON = re.compile(r"WeightsUnpickler error:\s*(.+)")


@dataclass(frozen=True, eq=False)
class Loaded:
    """Hold what a file holds.

    tensors, packed   by name; a lone one under the file's name without its ending
    prefixes          where in `tensors` the state of a recurrent layer stands: see recurrent_prefixes()
    """

    name: str
    tensors: Mapping[str, Tensor]
    packed: Mapping[str, PackedSequence]

    @property
    def prefixes(self) -> tuple[str, ...]:
        """Return the prefixes of the recurrent layers whose weights are in the file."""
        return recurrent_prefixes(self.tensors)


def read_file(name: str, data: bytes) -> Loaded:
    """Return the tensors in a file's bytes; the ending of its name says what it is. Everything comes to the CPU.

    Raises PackvizError for another ending, for more than MOST_BYTES, packed or unpacked, and for whatever cannot be
    opened without running code that stands in the file.
    """
    if len(data) > MOST_BYTES:
        raise _too_large(f"a file of {_megabytes(len(data))}")
    path = PurePath(name)
    readers = {".npy": _npy, ".npz": _npz, ".pt": _pt, ".pth": _pt, ".safetensors": _safetensors}
    if path.suffix.lower() not in readers:
        came = quoted(path.suffix) if path.suffix else "a name without an ending"
        raise PackvizError("file", expected=", ".join(readers), came=came, mend="save it with numpy.save or torch.save")
    content = readers[path.suffix.lower()](data)
    tensors: dict[str, Tensor] = {}
    packed: dict[str, PackedSequence] = {}
    for key, value in _leaves(content, path.stem):
        if isinstance(value, PackedSequence):
            packed[key] = value
        else:
            tensors[key] = value.detach()
    if not tensors and not packed:
        raise PackvizError("file", expected="tensors", came="a file without any", mend="save a tensor or a state dict")
    return Loaded(name, tensors, packed)


def _npy(data: bytes) -> Tensor:
    try:
        return _npy_array(io.BytesIO(data), len(data))
    except _ERRORS as error:
        raise _unreadable("a .npy file with numbers", error) from None


def _npy_array(stream: io.BytesIO, most: int) -> Tensor:
    """Read the header first: what it declares must be there, and must be numbers."""
    version = np.lib.format.read_magic(stream)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, _, dtype = read(stream)
    if dtype.hasobject or dtype.kind not in "biuf":
        raise ValueError(f"its dtype is {dtype}, and these are no numbers")
    if math.prod(shape) * dtype.itemsize > most:
        raise ValueError(f"it declares {math.prod(shape):,} numbers, and holds fewer")
    stream.seek(0)
    array = np.load(stream, allow_pickle=False)
    return torch.from_numpy(np.array(array, dtype=dtype.newbyteorder("="), order="C"))


def _npz(data: bytes) -> dict[str, Tensor]:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            parts = _checked_parts(archive)
            return {
                part.filename.removesuffix(".npy"): _npy_array(io.BytesIO(archive.read(part)), part.file_size)
                for part in parts
            }
    except PackvizError:
        raise
    except _ERRORS as error:
        raise _unreadable("a .npz file with numbers", error) from None


def _checked_parts(archive: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    """Return the parts of an archive; raises PackvizError where they would unpack to too much."""
    parts = archive.infolist()
    unpacked = sum(part.file_size for part in parts)
    if unpacked > MOST_BYTES or len(parts) > MOST_PARTS:
        raise _too_large(f"{len(parts):,} parts that unpack to {_megabytes(unpacked)}")
    return parts


def _pt(data: bytes) -> object:
    if data[:2] == b"PK":
        try:
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                parts = _checked_parts(archive)
        except PackvizError:
            raise
        except _ERRORS as error:
            raise _unreadable("a file that torch.save wrote", error) from None
        if any(part.compress_type != zipfile.ZIP_STORED for part in parts):
            raise _unreadable("a file that torch.save wrote", ValueError("torch.save does not compress"))
    try:
        with warnings.catch_warnings(), torch.serialization.safe_globals([PackedSequence]):
            warnings.simplefilter("ignore")
            return torch.load(io.BytesIO(data), map_location="cpu", weights_only=True)
    except _ERRORS as error:
        raise _unreadable("weights only: tensors, and lists and dicts of them", error) from None


def _safetensors(data: bytes) -> dict[str, Tensor]:
    from safetensors import SafetensorError  # only here: the library works without it
    from safetensors.torch import load

    try:
        return load(data)
    except (SafetensorError, *_ERRORS) as error:
        raise _unreadable("a .safetensors file", error) from None


def _leaves(content: object, stem: str) -> list[tuple[str, Tensor | PackedSequence]]:
    """Return tensors and packed sequences by their names, in dicts and lists of any depth."""
    found: list[tuple[str, Tensor | PackedSequence]] = []
    waiting: list[tuple[str, object]] = [("", content)]
    seen = size = 0
    while waiting:
        name, value = waiting.pop()
        seen += 1
        fields = value if isinstance(value, PackedSequence) else (value,)
        size += sum(part.numel() * part.element_size() for part in fields if isinstance(part, Tensor))
        if seen > MOST_PARTS or size > MOST_BYTES:
            raise _too_large(
                f"more than {MOST_PARTS:,} parts" if seen > MOST_PARTS else f"{_megabytes(size)} of tensors"
            )
        if isinstance(value, PackedSequence):
            if isinstance(value.data, Tensor) and isinstance(value.batch_sizes, Tensor):
                found.append((name or stem, value))
        elif isinstance(value, Tensor):
            found.append((name or stem, value))
        elif isinstance(value, Mapping | list | tuple):
            items = value.items() if isinstance(value, Mapping) else enumerate(value)
            waiting += [(f"{name}.{key}" if name else str(key), part) for key, part in reversed(list(items))]
    return found


def _megabytes(number: int) -> str:
    return f"{number / 2**20:,.1f} MiB"


def _too_large(came: str) -> PackvizError:
    expected = f"at most {_megabytes(MOST_BYTES)}, packed and unpacked"
    return PackvizError("file", expected=expected, came=came, mend="save the batch or the layer in question alone")


def _unreadable(expected: str, error: BaseException) -> PackvizError:
    text = _COLOURS.sub("", str(error))
    reason = _REASON.search(text)
    says = reason[1] if reason else (text.strip().splitlines() or [type(error).__name__])[0]
    return PackvizError(
        "file",
        expected=expected,
        came="a file that cannot be opened as that",
        mend="save tensors with numpy.save, torch.save(module.state_dict(), ...) or safetensors",
        torch_says=says,
    )
