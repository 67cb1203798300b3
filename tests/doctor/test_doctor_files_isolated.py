"""Files read in a process of their own: the same tensors come back, and what ends that process ends no other."""

import errno
import io
import os
import pickle
import re
import socket
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import torch
from doctor_cases import npy, npz, saved, sound
from safetensors.torch import save

from packviz.doctor import MAX_BYTES, files, opening, read_file, read_isolated
from packviz.errors import PackvizError

pytestmark = pytest.mark.slow

PATIENCE = 60  # seconds: on a busy machine, importing torch alone takes that long


@pytest.fixture(scope="module")
def side_by_side() -> Iterator[ThreadPoolExecutor]:
    """Run as many calls at once as may be: a process that imports torch takes seconds to start."""
    with ThreadPoolExecutor(files.MAX_READERS) as pool:
        yield pool


def test_a_good_file_of_each_format_gives_what_it_gives_in_this_process(side_by_side: ThreadPoolExecutor) -> None:
    x = torch.randn(3, 4, 2)
    named = {"x": x, "half": x.bfloat16(), "flag": x > 0, "none": torch.zeros(0, 3), "one": torch.tensor(7)}
    batch = {"packed": sound(5).packed, "turned": x.transpose(0, 1), "wave": torch.view_as_complex(x.clone()).conj()}
    good = {
        "x.pt": saved({**named, **batch}),
        "ä\0\ud800.NPY": npy(x.numpy().astype(">f8")),
        "x.npz": npz(True, x=x.numpy(), lengths=np.array([4, 2, 1])),
        "x.safetensors": save(named),
    }
    there = side_by_side.map(lambda name: read_isolated(name, good[name], seconds=PATIENCE), good)
    for (name, data), theirs in zip(good.items(), there, strict=True):
        ours = read_file(name, data)
        assert [*theirs.tensors, *theirs.packed] == [*ours.tensors, *ours.packed]
        torch.testing.assert_close([theirs.tensors, theirs.packed], [ours.tensors, ours.packed], rtol=0, atol=0)
    assert torch.equal(read_file("x.pt", saved(batch)).tensors["wave"], torch.view_as_complex(x).conj())


def refusal(call: Callable[[], object]) -> str:
    with pytest.raises(PackvizError) as refused:
        call()
    return str(refused.value)


def test_a_file_without_pickles_is_read_without_torch(side_by_side: ThreadPoolExecutor) -> None:
    little = 150 * 2**20  # bytes of memory: too few to import torch
    runs = [
        side_by_side.submit(read_isolated, name, data, memory=little, seconds=PATIENCE)
        for name, data in (("x.npy", npy(np.zeros(3))), ("x.safetensors", save({"x": torch.zeros(3)})))
    ]
    told = refusal(lambda: read_isolated("x.pt", saved(torch.zeros(3)), memory=little, seconds=PATIENCE))
    assert "fits into memory" in told or "ended the process" in told  # torch's own code may give up before Python does
    assert [list(run.result().tensors) for run in runs] == [["x"], ["x"]]


def test_the_same_files_are_refused_with_the_same_words(side_by_side: ThreadPoolExecutor) -> None:
    bad = [("x.csv", b"1"), ("x.npy", b"x"), ("x.npz", npz(x=np.array(["a"]))), ("x.pt", b"0" * (MAX_BYTES + 1))]
    there = side_by_side.map(lambda each: refusal(lambda: read_isolated(*each, seconds=PATIENCE)), bad)
    assert list(there) == [refusal(lambda each=each: read_file(*each)) for each in bad]  # type: ignore[misc]


def pickled(content: bytes) -> bytes:
    """Return a file as torch.save writes it, with these operations as its pickle."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("archive/data.pkl", pickle.PROTO + b"\x02" + content + pickle.STOP)
        archive.writestr("archive/version", "3\n")
    return stream.getvalue()


def as_key(content: bytes) -> bytes:
    """Return the pickle of a dict with one key: building it takes the key's hash."""
    return pickle.EMPTY_DICT + content + pickle.NONE + pickle.SETITEM


def greedy() -> bytes:  # bytearray(3 GB), which the unpickler for weights allows
    size = pickle.LONG1 + b"\x05" + (3 * 10**9).to_bytes(5, "little")
    return pickled(pickle.GLOBAL + b"builtins\nbytearray\n" + size + pickle.TUPLE1 + pickle.REDUCE)


def endless() -> bytes:  # a tuple of a tuple of ... twice each: 2^60 steps to its hash
    twice = b"".join(pickle.BINPUT + bytes([n]) + pickle.BINGET + bytes([n]) + pickle.TUPLE2 for n in range(60))
    return pickled(as_key(pickle.EMPTY_TUPLE + twice))


def deadly() -> bytes:  # a tuple so deep that its hash overflows the stack
    return pickled(as_key(pickle.EMPTY_TUPLE + pickle.TUPLE1 * 1_000_000))


def test_a_file_that_takes_too_much_ends_only_the_process_that_reads_it(side_by_side: ThreadPoolExecutor) -> None:
    def attempt(given: tuple[Callable[[], bytes], int, str]) -> None:
        data, seconds, says = given
        started = time.perf_counter()
        with pytest.raises(PackvizError, match=says):
            read_isolated("x.pt", data(), seconds=seconds)
        assert time.perf_counter() - started < seconds + 20  # a busy machine needs a while to end a process

    cases = (
        (endless, 2, "takes longer|ended the process"),
        (greedy, PATIENCE, "fits into memory"),
        (deadly, PATIENCE, "ended the process"),
    )
    assert list(side_by_side.map(attempt, cases)) == [None] * 3


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_the_process_gets_no_secrets_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REDIS_URL", "redis://:secret@here")
    with ThreadPoolExecutor(1) as pool:
        reading = pool.submit(read_isolated, "x.pt", endless(), seconds=5)
        while not reading.done() and not (found := environments()):
            time.sleep(0.01)
        assert isinstance(reading.exception(), PackvizError)
    assert "OMP_NUM_THREADS=1" in found[0]
    assert "secret" not in "".join(found)


def environments() -> list[str]:
    """Return the environments of the processes that read files for this one."""
    own = Path(f"/proc/{os.getpid()}/task")
    children = [pid for each in own.glob("*/children") for pid in each.read_text().split()]
    readers = [pid for pid in children if opening.__file__ in Path(f"/proc/{pid}/cmdline").read_text()]
    return [Path(f"/proc/{pid}/environ").read_text() for pid in readers]


@pytest.mark.parametrize(
    "act",
    [
        "import socket; socket.create_connection(('127.0.0.1', {port}), 5)",
        "import subprocess; subprocess.run(['true'])",
        "import os; os.system('true')",
    ],
)
def test_a_confined_process_has_no_network_and_no_programs(act: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        code = f"import sys; from packviz.doctor.opening import confine; confine(2**30, 20); {act}"
        code = code.replace("{port}", str(server.getsockname()[1]))
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "PermissionError: reading a file needs no" in done.stderr


CONNECT = """
import ctypes, os, socket, struct
libc = ctypes.CDLL(None, use_errno=True)
there = struct.pack("=HH4s8x", socket.AF_INET, socket.htons({port}), bytes([127, 0, 0, 1]))
failed = libc.connect(libc.socket(socket.AF_INET, socket.SOCK_STREAM, 0), there, len(there))
print(os.strerror(ctypes.get_errno()) if failed else "connected")
"""  # by the system alone: Python does not see it, and so cannot refuse
UNSHARE = """
import ctypes
unshare = ctypes.CDLL(None).unshare
print(unshare(0x10000000 | 0x40000000) == 0 or unshare(0x40000000) == 0)
"""  # CLONE_NEWUSER and CLONE_NEWNET of <sched.h>


def printed(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux gives a process a network of its own")
def test_a_confined_process_has_a_network_without_connections() -> None:
    if printed(UNSHARE) != "True":
        pytest.skip("this kernel refuses a process a network of its own")
    confined = "from packviz.doctor.opening import confine; confine(2**30, 20)"
    with socket.create_server(("127.0.0.1", 0)) as server:
        connect = CONNECT.replace("{port}", str(server.getsockname()[1]))
        assert printed(connect) == "connected"
        assert printed(connect.replace("libc =", f"{confined}\nlibc =", 1)) == os.strerror(errno.ENETUNREACH)


@pytest.mark.parametrize("zipped", [True, False])
def test_a_saved_module_is_refused_with_our_advice_alone(zipped: bool) -> None:
    stream = io.BytesIO()
    torch.save(torch.nn.GRU(3, 4), stream, _use_new_zipfile_serialization=zipped)
    told = refusal(lambda: read_file("x.pt", stream.getvalue()))
    assert told.endswith("Save the weights alone: torch.save(module.state_dict(), ...).")
    assert not re.search("weights_only|safe_globals|Re-running", told)


def test_a_pickle_that_runs_code_is_refused_without_torchs_advice() -> None:
    stream = io.BytesIO()
    torch.save({"x": Runs()}, stream)
    told = refusal(lambda: read_file("x.pt", stream.getvalue()))
    assert not re.search("weights_only|safe_globals|Re-running", told)


class Runs:
    """An object whose pickle calls a function."""

    def __reduce__(self) -> tuple[object, ...]:
        return os.system, ("true",)


def test_only_a_few_files_are_read_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "_READERS", threading.BoundedSemaphore(1))
    with files._READERS, pytest.raises(PackvizError, match="files at a time"):
        read_isolated("x.npy", npy(np.zeros(3)), seconds=0)
    assert read_isolated("x.npy", npy(np.zeros(3)), seconds=PATIENCE).tensors["x"].shape == (3,)
