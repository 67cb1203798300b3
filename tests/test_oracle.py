"""PyTorch is the judge: the trace beside plain calls of nn.RNN, nn.GRU and nn.LSTM, bit for bit; faults are found."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
import torch
from random_runs import random_run, torchs
from seeds import many, seeds
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_packed_sequence
from torch.utils._python_dispatch import TorchDispatchMode
from trace_cases import random_case, torch_run

from packviz.compute.record import Trace
from packviz.compute.trace import trace, trace_module
from packviz.compute.verify import distance, prove

BLOCKS, PER_BLOCK = 10, many(30)  # 300 random cases for trace_module, and as many for trace


@pytest.fixture(params=range(BLOCKS))
def block(request: pytest.FixtureRequest) -> Iterator[range]:
    """Give each block its seeds and one thread; the last one two, for torch divides the work otherwise then."""
    before = torch.get_num_threads()
    torch.set_num_threads(2 if request.param == BLOCKS - 1 else 1)
    yield range(request.param * PER_BLOCK, (request.param + 1) * PER_BLOCK)
    torch.set_num_threads(before)


def test_every_module_is_traced_to_the_last_bit(block: range) -> None:
    for seed in block:
        case = random_case(seed)
        if seed % 3:
            t = trace_module(case.module, case.x, case.lengths, enforce_sorted=case.enforce_sorted, hx=case.hx)
        else:
            t = trace_module(case.module, case.packed, hx=case.hx)
        assert t.exact, (seed, t.proof)
        output, (h_n, *c_n) = torch_run(case.module, case.packed, case.hx)
        unpacked, lengths = pad_packed_sequence(output, case.module.batch_first)
        ours = (*t.packed_sequence, t.output, t.h_n, t.c_n, t.unpacked.output)
        theirs = (*case.packed, output.data, h_n, c_n[0] if c_n else None, unpacked)
        for our, their in zip(ours, theirs, strict=True):
            assert distance(our, their) == 0 if their is not None else our is None, seed
        assert t.unpacked.lengths.tolist() == lengths.tolist() == case.lengths


def test_every_config_gives_the_numbers_of_a_plain_script(block: range) -> None:
    for seed in block:
        run = random_run(seed)
        t, own = trace(run.batch, run.config), torchs(run)
        assert t.exact, (seed, run.config, t.proof)
        ours = {"x": t.padded.values, "data": t.packed.data, "h_0": t.h_0, "output": t.output, "h_n": t.h_n}
        ours["unpacked"] = t.unpacked.output
        assert [name for name, theirs in own.items() if not torch.equal(ours[name], theirs)] == [], (seed, run.config)


class Overheard(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Keep what every activation function returns while a module runs."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.heard: list[Tensor] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        if func.overloadpacket._qualified_op_name in ("aten::sigmoid_", "aten::tanh_", "aten::tanh"):
            self.heard.append(result.clone())
        return result


@pytest.mark.parametrize(("kind", "heard"), [("gru", "r z n"), ("lstm", "i f g o tanh(c)")])
@pytest.mark.parametrize("seed", seeds(12))
def test_the_gates_are_those_inside_torchs_own_run(kind: str, heard: str, seed: int) -> None:
    torch.manual_seed(seed)
    lengths = [5, 2, 5, 1, 4, 3] if seed % 2 else [4, 4, 4]
    cell = nn.GRU if kind == "gru" else nn.LSTM
    module = cell(3, 2 + seed, bidirectional=seed % 3 == 0, num_layers=1 + seed % 2, batch_first=True)
    x = torch.randn(len(lengths), 5, 3)
    t = trace_module(module, x, lengths)
    with Overheard() as overheard:
        torch_run(module, t.packed_sequence, None)
    answers = iter(overheard.heard)
    for layer in t.layers:
        for direction in layer:
            recorded = {**direction.gates, "tanh(c)": direction.h if direction.c is None else direction.c.tanh()}
            for k in range(direction.steps):
                rows = direction.step(k).rows
                assert all(torch.equal(recorded[name][rows], next(answers)) for name in heard.split())
    assert next(answers, None) is None


NAN, INF, ONES = float("nan"), float("inf"), torch.ones(2)


@pytest.mark.parametrize(("ours", "theirs", "apart"), [
    (torch.tensor([1.0, 2.0]), torch.tensor([1.0, 2.5]), 0.5),
    (torch.tensor([1.0, -3.0]), torch.tensor([2.0, 3.0]), 6.0),
    (torch.tensor([NAN, 1.0]), torch.tensor([NAN, 1.0]), 0.0),
    (torch.tensor([INF, -INF]), torch.tensor([INF, -INF]), 0.0),
    (torch.tensor([0.0]), torch.tensor([-0.0]), 0.0),
    (torch.tensor([INF]), torch.tensor([-INF]), INF),
    (torch.tensor([]), torch.tensor([]), 0.0),
    (torch.tensor([NAN]), torch.tensor([1.0]), NAN),  # never zero
    (torch.tensor([1.0]), torch.tensor([NAN]), NAN),
    (torch.tensor([NAN, INF]), torch.tensor([1.0, INF]), NAN),
    (ONES, torch.ones(1, 2), INF),  # another shape, another dtype, no tensor
    (ONES, ONES.double(), INF),
    (None, ONES, INF),
], ids=str)  # fmt: skip
def test_distance_is_that_of_the_pair_that_is_furthest_apart(ours: Tensor | None, theirs: Tensor, apart: float) -> None:
    assert distance(ours, theirs) == pytest.approx(apart, abs=0, rel=0, nan_ok=True)


def lstm_trace() -> Trace:
    torch.manual_seed(0)
    return trace_module(nn.LSTM(3, 4, 2, bidirectional=True, batch_first=True), torch.randn(3, 5, 3), [3, 5, 1])


@pytest.mark.parametrize("name", ["output", "h_n", "c_n", "unpacked", "last_valid"])
def test_one_wrong_number_is_found(name: str) -> None:
    t = lstm_trace()
    unpacked = {"unpacked": t.unpacked.output, "last_valid": t.unpacked.last_valid}  # made before a source is spoiled
    part: Tensor = unpacked[name] if name in unpacked else getattr(t, name)
    part.view(-1)[5].add_(0.25)
    assert {key: apart for key, apart in prove(t).items() if apart} == {name: pytest.approx(0.25)}


def test_a_row_that_claims_a_wrong_origin_is_found() -> None:
    t = lstm_trace()
    assert prove(replace(t, packed=replace(t.packed, sequence=t.packed.sequence.flip(0))))["data"] > 0
