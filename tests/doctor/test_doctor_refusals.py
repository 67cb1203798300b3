"""What cannot be examined is refused with one kind of error; nothing crashes, hangs or fills the memory."""

import io
import zipfile
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence

import packviz as pv
from packviz.doctor import read_file, read_tensor
from packviz.errors import PackvizError

X = torch.ones(3, 4, 2)
LENGTHS = [4, 2, 1]
PACKED = pack_padded_sequence(X, LENGTHS, batch_first=True)
ODD: dict[str, Callable[[], Any]] = {
    "a list": lambda: [1, 2],
    "sparse": lambda: torch.ones(3, 4).to_sparse(),
    "nested": lambda: torch.nested.nested_tensor([torch.ones(4), torch.ones(2)]),
    "quantized": lambda: torch.quantize_per_tensor(torch.ones(3, 4), 1.0, 0, torch.qint8),
    "float8": lambda: torch.ones(3, 4).to(torch.float8_e5m2),
    "meta": lambda: torch.ones(3, 4, device="meta"),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("odd", [odd for odd in ODD if odd != "meta"])
def test_x_without_numbers_to_compute_with_is_refused(odd: str) -> None:
    with pytest.raises(PackvizError, match="x: expected"):
        pv.examine(ODD[odd](), LENGTHS, batch_first=True)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["mask", "targets", "output", "state", "ids"])
@pytest.mark.parametrize("odd", ODD)
def test_what_stands_beside_x_is_refused_where_it_holds_no_numbers(odd: str, name: str) -> None:
    with pytest.raises(PackvizError, match=f"{name}: expected"):
        pv.examine(X, LENGTHS, batch_first=True, **{name: ODD[odd]()})


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("odd", ["sparse", "nested", "quantized"])
def test_lengths_without_numbers_are_refused(odd: str) -> None:
    calls: list[Callable[[], object]] = [
        lambda: pv.examine(X, ODD[odd](), batch_first=True),
        lambda: pv.examine(X, LENGTHS, target_lengths=ODD[odd](), batch_first=True),
        lambda: pv.examine(PACKED, ODD[odd]()),
    ]
    for call in calls:
        with pytest.raises(PackvizError, match="lengths: expected"):
            call()


def test_numbers_that_would_fill_the_memory_or_take_forever_are_not_tried() -> None:
    assert [one.key for one in pv.examine(torch.zeros(0, 10**15), [1])] == ["empty_batch"]
    (finding,) = pv.examine(X, LENGTHS, target_lengths=[10**15, 2, 1], batch_first=True)
    assert "was not asked" in finding.torch_does
    with pytest.raises(PackvizError, match="at most"):
        pv.examine(torch.zeros(1, 1).expand(10**5, 10**5), [1])
    wide = torch.cat([torch.tensor([20_000]), torch.ones(20_000, dtype=torch.int64)])
    with pytest.raises(PackvizError, match="unpacked"):
        pv.examine(PackedSequence(torch.zeros(40_000), wide))
    long = PackedSequence(torch.zeros(200_000), torch.ones(400_000, dtype=torch.int64))
    assert [one.timesteps for one in pv.examine(long)] == [(200_000,)]


def test_a_packed_lstm_is_not_run_on_more_features_than_it_has_weights_for() -> None:
    module = nn.LSTM(1, 3, batch_first=True)
    (finding,) = pv.examine(module, torch.ones(3, 4, 1_000), [4, 4, 4])
    assert finding.key == "features"
    assert "was not asked" in finding.torch_does


def test_nan_in_the_pads_is_not_taken_for_data_that_were_left_out() -> None:
    x = torch.ones(3, 4, 2)
    x[1, 2:], x[2, 1:] = 0, 0
    x[2, 2, 0] = torch.nan
    assert [one.key for one in pv.examine(x, LENGTHS, batch_first=True)] == ["nan_in_pads"]


def broken_deflate() -> bytes:
    stream, array = io.BytesIO(), io.BytesIO()
    np.save(array, np.arange(500))
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.npy", array.getvalue())
    data = bytearray(stream.getvalue())
    data[60] ^= 0xFF
    return bytes(data)


def broken_name() -> bytes:
    stream = io.BytesIO()
    torch.save(torch.zeros(3), stream)
    data = stream.getvalue()
    return data[: data.rindex(b"PK\1\2") + 46] + b"\xff" + data[data.rindex(b"PK\1\2") + 47 :]


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.npz", broken_deflate),
        ("a.pt", broken_name),
        ("a.npy", lambda: b"\x93NUMPY\x01\x00" + (5_001).to_bytes(2, "little") + b"[" * 5_000 + b"\n"),
    ],
)
def test_a_damaged_file_is_refused(name: str, data: Callable[[], bytes]) -> None:
    with pytest.raises(PackvizError, match="file: expected"):
        read_file(name, data())


def test_text_that_is_too_deep_for_the_parser_is_refused() -> None:
    with pytest.raises(PackvizError, match="text: expected"):
        read_tensor("- " * 100_000 + "1")


def test_watching_never_stands_in_the_way_of_the_layer(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise RuntimeError("a tensor of some other kind")

    monkeypatch.setattr("packviz.doctor.watching.examine", refuse)
    module, x = nn.GRU(2, 3), torch.ones(3, 4, 2)
    with pv.watch(module) as watched:
        output, _ = module(x)
    assert torch.equal(output, module(x)[0])
    assert watched.calls == 1


def test_the_batch_and_its_lengths_are_given_in_their_places_or_by_name() -> None:
    module, wrong = nn.GRU(2, 3, batch_first=True), [5, 4, 4]
    by_place = pv.examine(module, X, wrong)
    assert [finding.key for finding in by_place] == ["length_over_T"]
    assert pv.examine(module, x=X, lengths=wrong) == pv.examine(module, X, lengths=wrong) == by_place
    assert pv.examine(X, wrong, batch_first=True) == pv.examine(X, lengths=wrong, batch_first=True) == by_place
    with pytest.raises(TypeError, match="lengths once"):
        pv.examine(X, [4, 4, 4], wrong)
    with pytest.raises(TypeError, match="paddding"):
        pv.examine(X, wrong, paddding_value=0.0)  # type: ignore[call-arg]
