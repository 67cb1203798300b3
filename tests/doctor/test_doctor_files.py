"""Uploaded files: opened without running anything in them, within their size; weights become modules again."""

import io
import pickle
import random
import zipfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from doctor_cases import npy, npz, objects, saved, sound
from safetensors.torch import save
from seeds import seeds
from torch import nn
from trace_cases import random_module

from packviz.__main__ import main
from packviz.doctor import MAX_BYTES, module_from, read_file, recurrent_prefixes
from packviz.errors import PackvizError
from packviz.inputs.torch_answers import filtered


def test_every_kind_of_file_gives_its_tensors_back() -> None:
    x, lengths = torch.randn(3, 4, 2), torch.tensor([4, 2, 1])
    named = {"x": x, "lengths": lengths}
    arrays: dict[str, Any] = {name: value.numpy() for name, value in named.items()}
    for name, data in (
        ("a.npz", npz(**arrays)),
        ("a.npz", npz(True, **arrays)),
        ("a.pt", saved(named)),
        ("b.PTH", saved(named)),
        ("a.pt", saved(named, _use_new_zipfile_serialization=False)),
        ("a.safetensors", save(named)),
    ):
        loaded = read_file(name, data)
        torch.testing.assert_close(loaded.tensors, named, rtol=0, atol=0)
        assert loaded.packed == {}
    assert torch.equal(read_file("my batch.npy", npy(x.numpy())).tensors["my batch"], x)
    assert torch.equal(read_file("x.npy", npy(x.numpy().astype(">f4"))).tensors["x"], x)
    assert torch.equal(read_file("x.pt", saved(x)).tensors["x"], x)
    assert torch.equal(read_file("x.pt", saved([x, (x + 1, 3)])).tensors["1.0"], x + 1)


def test_a_packed_sequence_that_was_saved_is_loaded() -> None:
    packed = sound(5).packed
    loaded = read_file("batch.pt", saved({"inputs": packed, "epoch": 3, "model": {"w": torch.ones(2)}}))
    assert list(loaded.tensors) == ["model.w"]
    torch.testing.assert_close(loaded.packed, {"inputs": packed}, rtol=0, atol=0)


RAGGED = [np.random.randn(length, 2).astype(kind) for length, kind in ((3, "<f4"), (5, "<f4"), (2, "<f4"))]


ROWS: dict[str, Any] = {f"row{b}": row for b, row in enumerate(RAGGED)}


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("rows.npz", npz(**ROWS)),
        ("rows.npz", npz(rows=objects(*RAGGED))),
        ("rows.npy", npy(objects(*RAGGED), allow_pickle=True)),
        ("rows.npy", npy(objects(*(np.asfortranarray(row.astype(">f4")) for row in RAGGED)), allow_pickle=True)),
        ("rows.pt", saved([torch.from_numpy(row) for row in RAGGED])),
    ],
)
def test_sequences_of_different_lengths_are_read_padded_and_examined(
    name: str, data: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    loaded = read_file(name, data)
    assert loaded.is_ragged
    torch.testing.assert_close([*loaded.tensors.values()], [torch.from_numpy(row) for row in RAGGED], rtol=0, atol=0)
    file = tmp_path / name
    file.write_bytes(data)
    assert main(["examine", str(file)]) == 0
    assert "3 sequences, one tensor each: padded to x (3, 5, 2)" in capsys.readouterr().out
    assert main(["examine", str(file), "--lengths", "3,3,2", "--no-enforce-sorted"]) == 0
    assert "2 steps beyond the lengths look like tokens" in capsys.readouterr().out
    assert main(["examine", str(file), "--lengths", "6,5,2"]) == 1


def test_tensors_of_one_length_or_beside_an_x_are_not_taken_for_sequences() -> None:
    each: list[dict[str, Any]] = [{"a": RAGGED[0], "b": RAGGED[0]}, {"a": RAGGED[0], "b": RAGGED[1][:, 0]}]
    for named in (*each, {"a": RAGGED[0]}):
        assert not read_file("a.npz", npz(**named)).is_ragged


class Evil:
    ran = False

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return exec, ("Evil.ran = True",)


def deflated(data: bytes) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as new:
        for part in old.infolist():
            new.writestr(part.filename, old.read(part))
    return stream.getvalue()


@pytest.mark.parametrize(
    ("name", "data", "part"),
    [
        ("x.npy", npy(objects(np.zeros(2), object()), allow_pickle=True), "object"),
        ("x.npy", npy(objects(objects(np.zeros(2))), allow_pickle=True), "not one of numbers"),
        ("a.npy", b"\x93NUMPY\x01\x00" + (5_001).to_bytes(2, "little") + b"[" * 5_000 + b"\n", "cannot be opened"),
        ("x.csv", b"1,2", "'.csv'"),
        ("x", b"1,2", "without an ending"),
        ("x.npy", b"nothing of the kind", "cannot be opened"),
        ("x.npy", b"", "cannot be opened"),
        ("x.npy", npy(np.array([Evil()], dtype=object), allow_pickle=True), "object"),
        ("x.npy", npy(np.array(["a"])), "not numeric"),
        ("x.npy", pickle.dumps(Evil()), "cannot be opened"),
        ("x.npz", npz(x=np.array([Evil()], dtype=object)), "object"),
        ("x.npz", npz(True, x=np.zeros(MAX_BYTES // 4)), "when unpacked"),
        ("x.pt", saved({"a": Evil()}), "exec"),
        ("x.pt", saved({"a": Evil()}, _use_new_zipfile_serialization=False), "could run code"),
        ("x.pt", b"", "cannot be opened"),
        ("x.pt", deflated(saved(torch.zeros(100))), "compress"),
        ("x.pt", saved(torch.zeros(1).expand(MAX_BYTES)), "MiB of tensors"),
        ("x.pt", saved({"epoch": 3}), "without tensors"),
        ("x.safetensors", b"\xff" * 20, "cannot be opened"),
        ("x.safetensors", b"", "cannot be opened"),
        ("x.pt", b"\0" * (MAX_BYTES + 1), "64.0 MiB"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_cannot_be_opened_safely_is_refused(name: str, data: bytes, part: str) -> None:
    with pytest.raises(PackvizError) as refused:
        read_file(name, data)
    assert part in str(refused.value)
    assert not Evil.ran


@pytest.mark.filterwarnings("ignore:LSTM with projections")
def test_a_module_built_from_its_weights_computes_the_same() -> None:
    for seed in seeds(100):
        draw = random.Random(seed)
        torch.manual_seed(seed)
        dtype = draw.choice((torch.float32, torch.float64))
        module = random_module(draw, draw.choice((1, 3, 8)), dtype)
        model = nn.ModuleDict({"head": nn.Linear(2, 2), "encoder": nn.ModuleDict({"rnn": module})})
        prefix = draw.choice(("", "encoder.rnn."))
        state = module.state_dict() if not prefix else model.state_dict()
        assert recurrent_prefixes(state) == (prefix,)
        loaded = read_file("w.safetensors", save(dict(state))) if seed % 3 else read_file("w.pt", saved(state))
        assert loaded.prefixes == (prefix,)
        nonlinearity: Any = getattr(module, "nonlinearity", "tanh")
        again = module_from(loaded.tensors, batch_first=module.batch_first, nonlinearity=nonlinearity)
        assert repr(again) == repr(module)
        x = torch.randn(4, 5, module.input_size, dtype=dtype)
        torch.testing.assert_close(again.state_dict(), module.state_dict(), rtol=0, atol=0)
        with torch.no_grad():  # kernels choose by alignment: the last bit
            torch.testing.assert_close(again(x), module.eval()(x), rtol=1e-5, atol=1e-6)


def changed(**others: torch.Tensor | None) -> dict[str, torch.Tensor]:
    state = {**nn.LSTM(3, 4, 2).state_dict(), **others}
    return {name: weight for name, weight in state.items() if weight is not None}


@pytest.mark.parametrize(
    "state",
    [
        {},
        {"weight": torch.zeros(2, 2)},
        changed(weight_hh_l0=None),
        changed(bias_hh_l1=None),
        changed(weight_ih_l1=torch.zeros(16, 5)),
        changed(weight_hh_l0=torch.zeros(20, 4)),
        changed(weight_hh_l0=torch.zeros(15, 4)),
        changed(weight_ih_l0=torch.zeros(3)),
        changed(weight_ih_l7=torch.zeros(16, 4)),
        changed(weight_ih_l0=torch.zeros(16, 3, dtype=torch.float64)),
        changed(weight_ih_l0_reverse=torch.zeros(16, 3)),
        changed(weight_hr_l0=torch.zeros(2, 4)),
    ],
)
def test_weights_that_make_no_module_are_refused(state: dict[str, torch.Tensor]) -> None:
    with pytest.raises(PackvizError):
        module_from(state)


def test_the_prefix_chooses_among_several_layers() -> None:
    model = nn.ModuleDict({"a": nn.GRU(2, 3), "b": nn.RNN(4, 5, bidirectional=True)})
    state = model.state_dict()
    assert recurrent_prefixes(state) == ("a.", "b.")
    assert repr(module_from(state, "b.")) == repr(model["b"])
    with pytest.raises(PackvizError, match=r"'a\.', 'b\.'"):
        module_from(state)
    with pytest.raises(PackvizError, match=r"'c\.'"):
        module_from(state, "c.")


def test_reading_a_file_waits_for_no_other_question_to_torch() -> None:
    data = npy(np.zeros(3))
    with ThreadPoolExecutor(1) as thread, filtered("ignore"):  # as while an examine() asks torch
        loaded = thread.submit(read_file, "x.npy", data).result(timeout=30)
    assert loaded.tensors["x"].shape == (3,)
