"""What people upload: .npy, .npz, .pt, .pth and .safetensors, opened without running anything that stands in them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from tempfile import TemporaryFile
from threading import BoundedSemaphore

import torch
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence

from packviz.doctor import opening
from packviz.doctor.opening import FIELDS, Part, UnreadableError, megabytes, open_parts, too_large, unreadable
from packviz.doctor.weights import recurrent_prefixes
from packviz.errors import PackvizError

__all__ = ["MAX_BYTES", "Loaded", "read_file", "read_isolated"]

MAX_BYTES = opening.MAX_BYTES
MAX_READERS = 2  # processes at once
_READERS = BoundedSemaphore(MAX_READERS)


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

    The file is parsed in this process: for files of strangers there is read_isolated().
    Raises PackvizError for another ending, for more than MAX_BYTES, packed or unpacked, and for whatever cannot be
    opened without running code that stands in the file.
    """
    with _refusing():
        return _loaded(name, open_parts(name, data))


def read_isolated(data: bytes, name: str, *, seconds: int = 20, memory: int = 2**30) -> Loaded:
    """Return what read_file() returns, parsed in a process of its own.

    seconds   how long the process may take, and as long may wait for its turn: MAX_READERS run at once
    memory    bytes that it may use, where the system can limit that: Linux does; torch alone takes 200 MB of it

    Raises PackvizError as read_file() does, and for a file that needs more, or that ends the process that reads it.
    """
    with _refusing():
        if len(data) > MAX_BYTES:
            raise too_large(f"a file of {megabytes(len(data))}")
        if not _READERS.acquire(timeout=seconds):
            raise UnreadableError(
                "its turn", f"{MAX_READERS} other files still being read", "try again in a moment", None
            )
        try:
            parts = _received(data, name, seconds, memory)
        finally:
            _READERS.release()
        return _loaded(name, parts)


@contextmanager
def _refusing() -> Iterator[None]:
    try:
        yield
    except UnreadableError as refusal:
        expected, came, mend, says = refusal.args
        raise PackvizError("file", expected=expected, came=came, mend=mend, torch_says=says) from None


def _received(data: bytes, name: str, seconds: int, memory: int) -> list[Part]:
    """Run the process; what it writes goes to a file, whose size it cannot exceed."""
    settings = json.dumps((name, memory, seconds)).encode() + b"\n"
    command = [sys.executable, "-P", "-B", opening.__file__]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}  # each thread would have memory of its own
    limits = f"a file that can be read within {seconds} s and {megabytes(memory)}"
    with TemporaryFile() as out:
        try:
            done = subprocess.run(
                command, input=settings + data, stdout=out, stderr=subprocess.DEVNULL, timeout=seconds, env=environment
            )
        except subprocess.TimeoutExpired:
            raise UnreadableError(limits, "one that takes longer", _SMALLER, None) from None
        if done.returncode or out.seek(0, os.SEEK_END) > 2 * MAX_BYTES:
            raise UnreadableError(limits, "one that ended the process reading it", _SMALLER, None)
        out.seek(0)
        head = json.loads(out.readline())
        if head["refused"]:
            raise UnreadableError(*head["refused"])
        return [
            Part(each, field, dtype, tuple(shape), out.read(size)) for each, field, dtype, shape, size in head["parts"]
        ]


_SMALLER = "save the batch or the layer in question alone, with numpy.save or torch.save"


def _loaded(name: str, parts: list[Part]) -> Loaded:
    tensors: dict[str, Tensor] = {}
    packed: dict[str, dict[str, Tensor]] = {}
    for part in parts:
        fields = packed.setdefault(part.name, {}) if part.field else tensors
        try:
            fields[part.field or part.name] = _tensor(part)
        except (RuntimeError, OverflowError) as error:  # a shape beyond 64 bits, with a 0 in it
            raise unreadable("shapes that torch can count", error) from None
    return Loaded(name, tensors, {each: _packed(fields) for each, fields in packed.items()})


def _packed(fields: Mapping[str, Tensor]) -> PackedSequence:
    data, batch_sizes, forth, back = (fields.get(field) for field in FIELDS)
    assert data is not None
    bare = PackedSequence(data, batch_sizes)
    return bare._replace(sorted_indices=forth, unsorted_indices=back)  # as they stand: torch would invert the one


def _tensor(part: Part) -> Tensor:
    dtype = getattr(torch, part.dtype)
    if not part.data:
        return torch.empty(part.shape, dtype=dtype)
    return torch.frombuffer(bytearray(part.data), dtype=dtype).reshape(part.shape)
