"""Files read in a process of their own: the same tensors come back, and what ends that process ends no other."""

import io
import pickle
import threading
import time
import zipfile
from collections.abc import Callable

import numpy as np
import pytest
import torch
from doctor_cases import sound
from safetensors.torch import save
from test_doctor_files import npy, npz, saved

from packviz.doctor import MAX_BYTES, Loaded, files, read_file, read_isolated
from packviz.errors import PackvizError


def same(one: Loaded, other: Loaded) -> bool:
    def flat(loaded: Loaded) -> dict[str, torch.Tensor | None]:
        fields = {f"{name}/{n}": part for name, packed in loaded.packed.items() for n, part in enumerate(packed)}
        return {**loaded.tensors, **fields}

    ours, theirs = flat(one), flat(other)
    pairs = [(ours[name], theirs[name]) for name in ours]
    return list(ours) == list(theirs) and all(
        one is other or (one.dtype == other.dtype and torch.equal(one, other))  # type: ignore[union-attr, arg-type]
        for one, other in pairs
    )


def test_a_good_file_of_each_format_gives_what_it_gives_in_this_process() -> None:
    x = torch.randn(3, 4, 2)
    named = {"x": x, "half": x.bfloat16(), "flag": x > 0, "none": torch.zeros(0, 3), "one": torch.tensor(7)}
    batch = {"packed": sound(7).packed, "turned": x.transpose(0, 1), "wave": torch.view_as_complex(x.clone()).conj()}
    for name, data in (
        ("x.npy", npy(x.numpy().astype(">f8"))),
        ("x.npz", npz(True, x=x.numpy(), lengths=np.array([4, 2, 1]))),
        ("x.safetensors", save(named)),
        ("x.pt", saved({**named, **batch})),
        ("ä\0\ud800.PTH", saved(x, _use_new_zipfile_serialization=False)),
    ):
        assert same(read_isolated(data, name), read_file(name, data))
    assert torch.equal(read_file("x.pt", saved(batch)).tensors["wave"], torch.view_as_complex(x).conj())


def test_a_file_without_pickles_is_read_without_torch() -> None:
    read_isolated(npy(np.zeros(3)), "x.npy", memory=150 * 2**20)  # too little to import torch
    read_isolated(save({"x": torch.zeros(3)}), "x.safetensors", memory=150 * 2**20)
    with pytest.raises(PackvizError):
        read_isolated(saved(torch.zeros(3)), "x.pt", memory=150 * 2**20)


def test_the_same_files_are_refused_with_the_same_words() -> None:
    for name, data in (("x.csv", b"1"), ("x.npy", b"x"), ("x.pt", saved({"a": 1})), ("x.pt", b"0" * (MAX_BYTES + 1))):
        with pytest.raises(PackvizError) as here:
            read_file(name, data)
        with pytest.raises(PackvizError) as there:
            read_isolated(data, name)
        assert str(here.value) == str(there.value)


def pickled(content: bytes) -> bytes:
    """Return a file as torch.save writes it, with these operations as its pickle."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("archive/data.pkl", pickle.PROTO + b"\x02" + content + pickle.STOP)
        archive.writestr("archive/version", "3\n")
    return stream.getvalue()


def as_key(content: bytes) -> bytes:
    """Return the pickle of a dict with one key: whoever builds it takes the key's hash."""
    return pickle.EMPTY_DICT + content + pickle.NONE + pickle.SETITEM


def greedy() -> bytes:  # bytearray(3 GB), which the unpickler for weights allows
    size = pickle.LONG1 + b"\x05" + (3 * 10**9).to_bytes(5, "little")
    return pickled(pickle.GLOBAL + b"builtins\nbytearray\n" + size + pickle.TUPLE1 + pickle.REDUCE)


def endless() -> bytes:  # a tuple of a tuple of ... twice each: 2^60 steps to its hash
    twice = b"".join(pickle.BINPUT + bytes([n]) + pickle.BINGET + bytes([n]) + pickle.TUPLE2 for n in range(60))
    return pickled(as_key(pickle.EMPTY_TUPLE + twice))


def deadly() -> bytes:  # a tuple so deep that its hash overflows the stack
    return pickled(as_key(pickle.EMPTY_TUPLE + pickle.TUPLE1 * 1_000_000))


@pytest.mark.parametrize(
    ("data", "seconds", "says"),
    [
        (greedy, 20, "fits into the memory"),
        (endless, 4, "takes longer|ended the process"),
        (deadly, 20, "ended the process"),
    ],
)
def test_a_file_that_takes_too_much_ends_only_the_process_that_reads_it(
    data: Callable[[], bytes], seconds: int, says: str
) -> None:
    started = time.perf_counter()
    with pytest.raises(PackvizError, match=says):
        read_isolated(data(), "x.pt", seconds=seconds)
    assert time.perf_counter() - started < seconds + 5


def test_only_a_few_files_are_read_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "_READERS", threading.BoundedSemaphore(1))
    with files._READERS, pytest.raises(PackvizError, match="still being read"):
        read_isolated(npy(np.zeros(3)), "x.npy", seconds=1)
    assert read_isolated(npy(np.zeros(3)), "x.npy").tensors["x"].shape == (3,)
