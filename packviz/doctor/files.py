"""What people upload: .npy, .npz, .pt, .pth, .safetensors and .json, opened without running anything that is in them.

A recurrent module is built from its weights: cell, sizes, layers and directions are in the shapes of a state dict.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from tempfile import TemporaryFile
from threading import BoundedSemaphore
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence, pad_sequence

from packviz.doctor import opening
from packviz.doctor.opening import (
    ALONE,
    FIELDS,
    PLAIN,
    Part,
    UnreadableError,
    megabytes,
    open_parts,
    too_large,
    unreadable,
)
from packviz.errors import PackvizError
from packviz.inputs.cell_kinds import CELL_KINDS
from packviz.inputs.packed_rows import as_they_are
from packviz.text import Brief, counted, joined, listed, quoted
from packviz.validate import choice

__all__ = ["MAX_BYTES", "Loaded", "module_from", "read_file", "read_isolated", "recurrent_prefixes"]

MAX_BYTES = opening.MAX_BYTES
MAX_READERS = 2  # processes at once
_READERS = BoundedSemaphore(MAX_READERS)
_FIRST = re.compile(r"(.*)weight_ih_l0", re.DOTALL)
_NAME = re.compile(r"(?:weight_ih|weight_hh|bias_ih|bias_hh|weight_hr)_l\d{1,4}(?:_reverse)?")
_KEPT = ("PATH", "PYTHONHOME", "PYTHONPATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SYSTEMROOT")  # what Python needs
_LAYER = re.compile(r"weight_ih_l\d+")


@dataclass(frozen=True, eq=False, repr=False)
class Loaded(Brief):
    """What a file holds."""

    name: str
    tensors: Mapping[str, Tensor]  # by name; a lone one under the file's name without its ending
    packed: Mapping[str, PackedSequence]
    numbers: Mapping[str, float]  # that stand alone and are not tensors
    lists: frozenset[str]  # the tensors that are lists in the file, which have no dtype

    @property
    def is_ragged(self) -> bool:
        """Return whether the tensors are sequences, one each: (len,) or (len, F), not all of one length."""
        each = [*self.tensors.values()]
        alike = {(one.dim(), one.shape[1:], one.dtype) for one in each}
        lengths = {len(one) for one in each if one.dim()}
        return not self.packed and len(alike) == 1 and each[0].dim() in (1, 2) and len(lengths) > 1 and 0 not in lengths

    def padded(self, padding_value: float | None = None, *, batch_first: bool = True) -> tuple[Tensor, list[int], str]:
        """Return sequences as a padded batch with its lengths, and a sentence about both; None pads with 0."""
        each = [*self.tensors.values()]
        x = pad_sequence(each, batch_first=batch_first, padding_value=padding_value or 0.0)
        said = f"{self.name} holds {counted(len(each), 'sequence')}, one tensor each: padded to x {tuple(x.shape)}"
        return x, [len(one) for one in each], said

    @property
    def prefixes(self) -> tuple[str, ...]:
        """Return where in `tensors` the state of a recurrent layer is: see recurrent_prefixes()."""
        return recurrent_prefixes(self.tensors)


def read_file(name: str, data: bytes) -> Loaded:
    """Return the tensors in a file's bytes; the ending of its name determines the format. Everything comes to the CPU.

    The file is parsed in this process: for untrusted files use read_isolated().
    Raises PackvizError for another ending, for more than MAX_BYTES, packed or unpacked, and for whatever cannot be
    opened without running code that is in the file.
    """
    with _refusing():
        return _loaded(name, open_parts(name, data))


def read_isolated(name: str, data: bytes, *, seconds: int = 20, memory: int = 2**30) -> Loaded:
    """Return what read_file() returns, parsed in a process of its own: without the environment, without a network.

    seconds   how long the process may take, and as long may wait for its turn: MAX_READERS run at once
    memory    bytes that it may use, if the system can limit that: Linux does; torch alone takes 200 MB of it

    Raises PackvizError as read_file() does, and for a file that needs more, or that ends the process that reads it.
    """
    with _refusing():
        if len(data) > MAX_BYTES:
            raise too_large(f"a file of {megabytes(len(data))}")
        if not _READERS.acquire(timeout=seconds):
            expected, got = f"at most {MAX_READERS} files at a time", "one more"
            raise UnreadableError(expected, got, "try again in a moment")
        try:
            parts = _received(name, data, seconds, memory)
        finally:
            _READERS.release()
        return _loaded(name, parts)


@contextmanager
def _refusing() -> Iterator[None]:
    try:
        yield
    except UnreadableError as refusal:
        expected, got, fix = refusal.args
        raise PackvizError("file", expected=expected, got=got, fix=fix) from None


def _received(name: str, data: bytes, seconds: int, memory: int) -> list[Part]:
    """Run the process; what it writes goes to a file, whose size it cannot exceed."""
    settings = json.dumps((name, memory, seconds)).encode() + b"\n"
    command = [sys.executable, "-P", "-B", "-W", "ignore", opening.__file__]
    environment = {name: os.environ[name] for name in _KEPT if name in os.environ}  # no passwords and keys
    environment["OMP_NUM_THREADS"] = "1"  # each thread would have memory of its own
    limits = f"a file that can be read within {seconds} s and {megabytes(memory)}"
    with TemporaryFile() as out:
        try:
            done = subprocess.run(
                command, input=settings + data, stdout=out, stderr=subprocess.DEVNULL, timeout=seconds, env=environment
            )
        except subprocess.TimeoutExpired:
            raise UnreadableError(limits, "one that takes longer", ALONE) from None
        if done.returncode or out.seek(0, os.SEEK_END) > 2 * MAX_BYTES:
            raise UnreadableError(limits, "one that ended the process reading it", ALONE)
        out.seek(0)
        head = json.loads(out.readline())
        if head["refused"]:
            raise UnreadableError(*head["refused"])
        return [
            Part(each, field, dtype, tuple(shape), out.read(size)) for each, field, dtype, shape, size in head["parts"]
        ]


def _loaded(name: str, parts: list[Part]) -> Loaded:
    tensors: dict[str, Tensor] = {}
    packed: dict[str, dict[str, Tensor]] = {}
    numbers: dict[str, Tensor] = {}
    lists = frozenset(part.name for part in parts if part.field == PLAIN and part.shape)
    for part in parts:
        plain = part.field in ("", PLAIN)
        alone = numbers if part.field and not part.shape else tensors
        fields = alone if plain else packed.setdefault(part.name, {})
        dtype = getattr(torch, part.dtype)
        flat = (
            torch.frombuffer(bytearray(part.data), dtype=dtype)
            if part.data
            else torch.empty(0, dtype=dtype, device="cpu")
        )
        try:
            fields[part.name if plain else part.field] = flat.reshape(part.shape)
        except (RuntimeError, OverflowError) as error:  # a shape beyond 64 bits, with a 0 in it
            raise unreadable("shapes that torch can count", error) from None
    sequences = {each: as_they_are(*map(of.get, FIELDS)) for each, of in packed.items()}
    return Loaded(name, tensors, sequences, {each: value.item() for each, value in numbers.items()}, lists)


def recurrent_prefixes(state: Mapping[str, Tensor]) -> tuple[str, ...]:
    """Return what comes before weight_ih_l0 in the names of a state dict: "" or, in a model, "encoder.lstm."."""
    return tuple(match[1] for name in state if (match := _FIRST.fullmatch(name)) and f"{match[1]}weight_hh_l0" in state)


def module_from(
    state: Mapping[str, Tensor],
    prefix: str | None = None,
    *,
    batch_first: bool = False,
    nonlinearity: Literal["tanh", "relu"] = "tanh",
) -> nn.RNN | nn.GRU | nn.LSTM:
    """Return the nn.RNN, nn.GRU or nn.LSTM that a state dict belongs to, with its weights, in evaluation mode.

    prefix         one of recurrent_prefixes(state); may be left out if there is only one
    batch_first, nonlinearity   are not in a state dict: torch's own defaults, unless given; dropout is 0

    Raises PackvizError if no such layer is in the state, if several are and none was chosen, and if weights
    are missing or their shapes fit no module.
    """
    prefix = _chosen(recurrent_prefixes(state), prefix)
    own = {name.removeprefix(prefix): weight for name, weight in state.items() if name.startswith(prefix)}
    own = {name: weight for name, weight in own.items() if _NAME.fullmatch(name)}
    first, hidden, projection = own["weight_ih_l0"], own["weight_hh_l0"], own.get("weight_hr_l0")
    if first.dim() != 2 or hidden.dim() != 2 or not hidden.numel() or not first.is_floating_point():
        shapes = listed([f"{name} {tuple(weight.shape)}" for name, weight in own.items()])
        raise _refusal("floating-point matrices weight_ih_l0 and weight_hh_l0", shapes)
    H = hidden.size(1) if projection is None else projection.size(-1)
    kind = next((each for each in CELL_KINDS.values() if hidden.size(0) == each.G * H), None)
    if kind is None or (projection is not None and "proj_size" not in kind.own):
        rows = [f"{each.G * H} rows (nn.{each.module.__name__})" for each in CELL_KINDS.values()]
        expected = f"weight_hh_l0 with {joined(rows, word='or')}"
        raise _refusal(expected, f"{hidden.size(0)} rows" + (" and a projection" if projection is not None else ""))
    settings: dict[str, Any] = {
        "num_layers": sum(_LAYER.fullmatch(name) is not None for name in own),
        "bias": "bias_ih_l0" in own,
        "bidirectional": "weight_ih_l0_reverse" in own,
        "batch_first": batch_first,
        "proj_size": 0 if projection is None else projection.size(0),
        "nonlinearity": choice("nonlinearity", nonlinearity, ("tanh", "relu")) if "nonlinearity" in kind.own else "",
    }
    # without memory of its own: no weights are drawn
    return _filled(kind.build(first.size(1), H, **settings, device="meta", dtype=first.dtype), own)


def _filled(module: nn.RNN | nn.GRU | nn.LSTM, own: Mapping[str, Tensor]) -> nn.RNN | nn.GRU | nn.LSTM:
    dtypes = {str(weight.dtype) for weight in own.values()}
    if len(dtypes) > 1:
        raise _refusal(f"weights of one dtype, {module.weight_ih_l0.dtype}", listed(sorted(dtypes)))
    try:
        module.load_state_dict({name: weight.detach().cpu().clone() for name, weight in own.items()}, assign=True)
    except RuntimeError as error:  # names or shapes
        expected = f"the weights of an nn.{module!r}"
        raise _refusal(expected, f"weights that do not fit: {quoted(' '.join(str(error).split()), 400)}") from None
    return module.requires_grad_(False).eval()


def _chosen(known: tuple[str, ...], prefix: str | None) -> str:
    if not known:
        expected = "the weights of an nn.RNN, nn.GRU or nn.LSTM: weight_ih_l0, weight_hh_l0, ..."
        raise _refusal(expected, "a state dict without them")
    shown = listed([quoted(name) for name in known])
    if prefix is None and len(known) > 1:
        got, fix = f"{len(known)}: {shown}", "choose one of them"
        raise PackvizError("prefix", expected="one recurrent layer", got=got, fix=fix)
    if prefix is not None and prefix not in known:
        fix = "choose one of these, including its dot"
        raise PackvizError("prefix", expected=f"one of {shown}", got=quoted(prefix), fix=fix)
    return known[0] if prefix is None else prefix


def _refusal(expected: str, got: str) -> PackvizError:
    return PackvizError("state", expected=expected, got=got, fix="save the layer's module.state_dict() unchanged")
