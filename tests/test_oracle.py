"""PyTorch is the judge: the trace beside plain calls of nn.RNN, nn.GRU and nn.LSTM, bit for bit."""

import random
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from seeds import all_of_them, many, seeds
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence
from torch.utils._python_dispatch import TorchDispatchMode
from trace_cases import COUNTS, KINDS, SIZES, Case, random_case, random_lengths, torch_run

from packviz.compute.record import Trace
from packviz.compute.trace import trace, trace_module
from packviz.compute.verify import distance
from packviz.inputs.batch import Batch
from packviz.inputs.config import Config

BLOCKS, PER_BLOCK = 10, many(60)  # 600 random cases for trace_module, and as many for trace


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
        assert_as_torch(t, case)


def assert_as_torch(t: Trace, case: Case) -> None:
    packed = case.packed
    output, state = torch_run(case.module, packed, case.hx)
    for ours, theirs in zip(t.packed_sequence, packed, strict=True):
        assert distance(ours, theirs) == 0 if theirs is not None else ours is None
    assert torch.equal(t.output, output.data)
    assert torch.equal(t.h_n, state[0])
    assert distance(t.c_n, state[1]) == 0 if len(state) == 2 else t.c_n is None
    unpacked, lengths = pad_packed_sequence(output, case.module.batch_first)
    assert torch.equal(t.unpacked.output, unpacked)
    assert t.unpacked.lengths.tolist() == lengths.tolist() == case.lengths


def test_every_config_gives_the_numbers_of_a_plain_script(block: range) -> None:
    for seed in block:
        batch = random_batch(seed)
        config = random_config(seed, batch)
        t = trace(batch, config)
        assert t.exact, (seed, config, t.proof)
        plain = plain_script(batch, config)
        ours = (t.padded.values, t.packed.data, t.h_0, t.output, t.h_n, t.unpacked.output)
        assert all(torch.equal(*pair) for pair in zip(ours, plain, strict=True)), (seed, config)


def random_batch(seed: int) -> Batch:
    draw, generator = random.Random(f"batch {seed}"), torch.Generator().manual_seed(seed)
    lengths = random_lengths(draw, draw.choice(COUNTS), draw.randint(1, 8))
    kind = draw.choice(("words", "numbers", "vectors"))
    if kind == "words":
        lines = [" ".join(draw.choice("abcdefg") for _ in range(length)) for length in lengths]
        return Batch.parse("\n".join(lines), kind="words")
    dtype = draw.choice((torch.float32, torch.float64))
    shape = (draw.choice(SIZES),) if kind == "vectors" else ()
    return Batch.from_tensors([torch.randn(length, *shape, dtype=dtype, generator=generator) for length in lengths])


def random_config(seed: int, batch: Batch) -> Config:
    draw = random.Random(f"config {seed}")
    words, lengths = batch.kind == "words", batch.lengths.tolist()
    return Config(
        cell=draw.choice(("rnn", "gru", "lstm")),
        hidden_size=draw.choice(SIZES),
        num_layers=draw.choice((1, 1, 2, 3, 4)),
        bidirectional=draw.random() < 0.5,
        bias=draw.random() < 0.8,
        nonlinearity=draw.choice(("tanh", "relu")),
        batch_first=draw.random() < 0.5,
        enforce_sorted=draw.random() < 0.5 and lengths == sorted(lengths, reverse=True),
        padding_value=draw.choice((0.0, -100.0, 0.1)),
        padding_side=draw.choice(("right", "right", "left")),
        total_length=draw.choice((None, None, 9)),
        initial_state=draw.choice(("zeros", "random", "learned", "carried")),
        embedding_dim=draw.choice((None, 1, 5)) if words else None,
        padding_idx=draw.choice((None, 0, 2, 11)) if words else None,
        seed=seed,
    )


def plain_script(batch: Batch, config: Config) -> tuple[Tensor, ...]:
    """Do what trace() promises to do, as a reader of PyTorch's documentation would write it down."""
    sequences, dtype = list(batch.sequences), batch.sequences[0].dtype
    dtype = dtype if dtype.is_floating_point else torch.float32
    torch.manual_seed(config.seed)
    if batch.kind == "words":
        V = max(len(batch.vocabulary), (config.padding_idx or 0) + 1)
        embedding = nn.Embedding(V, config.embedding_dim or 4, padding_idx=config.padding_idx)
    F = (config.embedding_dim or 4) if batch.kind == "words" else sequences[0].size(1) if batch.kind == "vectors" else 1
    cell = {"rnn": nn.RNN, "gru": nn.GRU, "lstm": nn.LSTM}[config.cell]
    module = cell(
        F,
        config.hidden_size,
        config.num_layers,
        bias=config.bias,
        batch_first=config.batch_first,
        bidirectional=config.bidirectional,
        dtype=dtype,
        **({"nonlinearity": config.nonlinearity} if config.cell == "rnn" else {}),
    )
    hx = plain_state(config, len(sequences), dtype)
    filler = (config.padding_idx or 0) if batch.kind == "words" else config.padding_value
    x = pad_sequence(sequences, config.batch_first, filler, config.padding_side)
    x = embedding(x).detach() if batch.kind == "words" else x if batch.kind == "vectors" else x.unsqueeze(-1)
    lengths = torch.tensor([len(sequence) for sequence in sequences])
    packed = pack_padded_sequence(x, lengths, config.batch_first, config.enforce_sorted)
    if config.initial_state == "carried":
        hx = tuple(torch_run(module, packed, None)[1])
    output, state = torch_run(module, packed, (hx[0], hx[1]) if config.cell == "lstm" else hx[0])
    unpacked, _ = pad_packed_sequence(output, config.batch_first, config.padding_value, config.total_length)
    return x, packed.data, hx[0], output.data, state[0], unpacked


def plain_state(config: Config, B: int, dtype: torch.dtype) -> tuple[Tensor, ...]:
    slots, H = config.num_layers * (2 if config.bidirectional else 1), config.hidden_size
    if config.initial_state in ("zeros", "carried"):
        return torch.zeros(slots, B, H, dtype=dtype), torch.zeros(slots, B, H, dtype=dtype)
    return tuple(
        torch.randn(slots, B, H, dtype=dtype)
        if config.initial_state == "random"
        else (torch.randn(slots, 1, H, dtype=dtype) * 0.1).expand(slots, B, H).contiguous()
        for _ in range(2 if config.cell == "lstm" else 1)
    )


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


@all_of_them
def test_all_kinds_of_modules_are_among_the_random_ones() -> None:
    modules = [random_case(seed).module for seed in range(BLOCKS * PER_BLOCK)]
    assert {module.mode for module in modules} == {"RNN_TANH", "RNN_RELU", "GRU", "LSTM"}
    assert sum(module.proj_size > 0 for module in modules) > len(modules) / len(KINDS) / 2
    assert {(module.num_layers, module.bidirectional, module.bias) for module in modules} >= {
        (layers, both, bias) for layers in (1, 2, 3, 4) for both in (False, True) for bias in (False, True)
    }
