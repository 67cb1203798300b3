"""The default device, and the mode in which a module was built, change nothing."""

import ast
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from doctor_cases import pack, saved
from torch import nn
from torch.nn.utils.rnn import pad_packed_sequence

import packviz as pv
from packviz import doctor
from packviz.inputs.examples import EXAMPLES

LENGTHS, LAST = [5, 3, 2], torch.tensor([4, 2, 1])
X = torch.randn(3, 5, 2) * (torch.arange(5) < torch.tensor(LENGTHS)[:, None])[..., None]
MASK = torch.arange(5) < torch.tensor(LENGTHS)[:, None]
GRU = nn.GRU(2, 4, batch_first=True, bidirectional=True)
with torch.no_grad():
    OUTPUT = pad_packed_sequence(GRU(pack(X, LENGTHS))[0], batch_first=True)[0]
STATE, HX, TARGETS = OUTPUT[torch.arange(3), LAST], torch.zeros(2, 2, 4), pack(torch.ones(3, 5), [4, 3, 2])
FILE = saved({"x": X, "lengths": torch.tensor(LENGTHS)})


def watched() -> Any:
    with pv.watch(GRU) as seen:
        GRU(pack(X, [5, 5, 2]))
    return seen.findings


def summed(x: torch.Tensor, _: list[int]) -> torch.Tensor:
    """Return a result that depends on the number of pads."""
    return x.sum((1, 2)) + x.mean((1, 2))


WAYS: dict[str, Callable[[], Any]] = {
    "words": lambda: pv.Batch.parse("a b c\nd e").lengths,
    "numbers": lambda: pv.Batch.parse("1 2 3\n4 5").lengths,
    "tensors": lambda: pv.Batch.from_tensors(list(X)).lengths,
    "examples": lambda: [row.sum() for one in EXAMPLES if one.tensors is not None for row in one.tensors()],
    "trace": lambda: pv.trace(pv.Batch.parse("1 2 3\n4 5")).h_n,
    "trace_module": lambda: pv.trace_module(GRU, X, LENGTHS).h_n,
    "movie": lambda: pv.movie(pv.trace(pv.Batch.parse("1 2 3\n4 5")), deep=True).to_dict(),
    "lengths": lambda: pv.examine(GRU, X, [6, 3, 0]),
    "pads": lambda: pv.examine(X, [5, 5, 1], batch_first=True),
    "packed": lambda: pv.examine(pack(X, [5, 5, 2]), LENGTHS),
    "unpacked": lambda: pv.examine(GRU, X),
    "hx": lambda: pv.examine(GRU, X, LENGTHS, hx=HX),
    "state": lambda: pv.examine(GRU, X, LENGTHS, state=STATE),
    "mask": lambda: [pv.examine(X, LENGTHS, batch_first=True, mask=mask) for mask in (~MASK, MASK[:, :4])],
    "targets": lambda: pv.examine(X, LENGTHS, batch_first=True, targets=TARGETS),
    "output": lambda: pv.examine(
        X[:, :4], [3, 3, 2], batch_first=True, output=OUTPUT[:, :3], mask=torch.ones(3, 4, device="cpu")
    ),
    "watch": watched,
    "file": lambda: doctor.read_file("a.pt", FILE).tensors,
    "invariance": lambda: pv.check_invariance(summed, X, LENGTHS, batch_first=True, ignore="pads_differ"),
    "samples": lambda: pv.check_samples(lambda samples: [sum(one) for one in samples], [[1.0, 2.0], [3.0], [4.0, 5.0]]),
    "rows": lambda: pv.trace_rows(pv.Batch.parse("a b c\nd e")).output,
    "documents": lambda: pv.examine_rows(documents=[2, 1], position_ids=[0, 1, 2], cu_seqlens=[0, 2, 3]),
    "weights": lambda: doctor.module_from(GRU.state_dict()).state_dict(),
    "pasted": lambda: (doctor.read_tensor("[[1, 2], [3, 0]]"), doctor.padding_code("[[1, 2], [3]]")),
    "padding value": lambda: doctor.filler_of(X, LENGTHS, batch_first=True),
}


@pytest.fixture
def meta() -> Iterator[None]:
    torch.set_default_device("meta")
    yield
    torch.set_default_device(None)


EXPECTED = {name: way() for name, way in WAYS.items()}


@pytest.mark.usefixtures("meta")
@pytest.mark.parametrize("name", WAYS)
def test_another_default_device_changes_no_answer(name: str) -> None:
    got = WAYS[name]()
    if isinstance(got, dict | list) or not isinstance(EXPECTED[name], torch.Tensor):
        assert str(got) == str(EXPECTED[name])
    else:
        assert torch.equal(got, EXPECTED[name])


def test_a_module_that_was_built_in_inference_mode_is_examined_and_kept() -> None:
    with torch.inference_mode():
        layer = nn.GRU(2, 4, batch_first=True)
    x = torch.randn(2, 4, 2)
    with torch.no_grad(), pv.watch(layer) as seen:
        right = layer(x)[1]
    assert (seen.findings, pv.examine(layer, x, [4, 2])) == ((), ())
    torch.testing.assert_close(seen.calls[0].trace().h_n, right)


FACTORIES = {"arange", "as_tensor", "empty", "eye", "full", "linspace", "ones", "rand", "randint", "randn", "randperm"}
FACTORIES |= {"scalar_tensor", "tensor", "zeros"}
MADE = [path for path in Path(pv.__file__).parent.rglob("*.py") if "entries" not in path.parts]


@pytest.mark.parametrize("path", MADE, ids=lambda path: path.stem)
def test_every_tensor_is_made_on_a_named_device(path: Path) -> None:
    calls = [node for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Call)]
    made = [call for call in calls if ast.unparse(call.func) in {f"torch.{name}" for name in FACTORIES}]
    assert [call.lineno for call in made if "device" not in {each.arg for each in call.keywords}] == []
