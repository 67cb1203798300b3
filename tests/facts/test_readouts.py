"""The six readouts: their code is run on torch's own results, and what each has seen is found by experiment."""

import random
from typing import Any, cast

import pytest
import torch
from facts_cases import alone
from random_runs import random_settings
from seeds import seeds
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence
from trace_cases import torch_run

from packviz import Batch, Config, Trace, trace, trace_module
from packviz.facts import readouts
from packviz.inputs.module import one_layer

KEYS = ("last_column", "last_valid", "h_n", "h_n_both", "mean", "max")
ONE_STATE = KEYS[:4]
Counts = dict[str, tuple[tuple[int, ...], ...]]


@pytest.fixture(scope="module", params=seeds(20))
def t(request: pytest.FixtureRequest) -> Trace:
    seed = request.param
    draw = random.Random(seed)
    B, most = draw.choice((1, 2, 4, 5)), draw.choice((1, 3, 5))
    lengths = [most] * B if draw.random() < 0.3 else [draw.randint(1, most) for _ in range(B)]
    torch.manual_seed(seed)
    batch = Batch.from_tensors([torch.randn(length, 2, dtype=torch.float64) for length in lengths])
    settings = random_settings(draw, seed) | {"nonlinearity": "tanh", "enforce_sorted": False}
    return trace(batch, Config(**settings, total_length=draw.choice((None, None, most + 2))))


def torchs_own(t: Trace, values: Tensor, module: nn.RNNBase | None = None) -> dict[str, Any]:
    """Return out, lens and h_n as a reader of PyTorch's documentation would get them; module: only the top layer."""
    module = t.module if module is None else module
    slots = slice(-module.num_layers * len(t.layers[0]), None)
    packed = pack_padded_sequence(values, t.padded.lengths, t.padded.batch_first, enforce_sorted=False)
    h_0, c_0 = t.h_0[slots], None if t.c_0 is None else t.c_0[slots]
    output, (h_n, *_) = torch_run(module, packed, h_0 if c_0 is None else (h_0, c_0))
    out, lens = pad_packed_sequence(output, t.padded.batch_first, t.padding_value, t.total_length)
    return {"torch": torch, "out": out, "lens": lens, "h_n": h_n}


def top_alone(t: Trace) -> tuple[nn.RNNBase, Tensor]:
    """Return the top layer as a module of its own, and the grid that enters it."""
    last = len(t.layers) - 1
    below = torch.cat([way.h for way in t.layers[last - 1]], 1) if last else t.packed.data
    grid, _ = pad_packed_sequence(t.packed_sequence._replace(data=below), t.padded.batch_first)
    return one_layer(t.module, last), grid


def read(code: str, names: dict[str, Any]) -> Tensor:
    names = dict(names)
    exec(code, names)
    return cast(Tensor, names["state"])


def test_the_code_of_each_readout_gives_its_values(t: Trace) -> None:
    names, found = torchs_own(t, t.padded.values), readouts(t)
    wanted = [alone(t, b)[1][0][-len(t.layers[0]) :].flatten() for b in range(len(t.padded.lengths))]
    assert tuple(readout.key for readout in found) == KEYS
    assert sum(readout.available for readout in found) == (6 if t.module.bidirectional else 5)
    assert not any(readout.right for readout in found) or not t.packed_is_pad.any()
    for readout in found:
        if readout.values is None:
            assert not readout.right
            continue
        assert torch.equal(read(readout.code, names), readout.values)
        assert readout.values.shape == (len(wanted), t.module.hidden_size * len(readout.halves))
        if readout.key in ONE_STATE:
            pairs = list(enumerate(zip(readout.values, wanted, strict=True)))
            right = [b for b, (one, own) in pairs if one.shape == own.shape and torch.allclose(one, own, 0, 1e-12)]
            assert readout.wrong == tuple(b for b, _ in pairs if b not in right), readout.key
            assert readout.right == (not readout.wrong)


def changes(t: Trace, values: Tensor, module: nn.RNNBase | None = None) -> Counts:
    """Touch each packed step in turn, and count for each sequence and half of each readout how many change it."""
    names, H, lengths = torchs_own(t, values, module), t.module.hidden_size, t.padded.lengths.tolist()
    taken = [readout for readout in readouts(t) if readout.available]
    found = {readout.key: [[0] * len(readout.halves) for _ in lengths] for readout in taken}
    for b, length in enumerate(lengths):
        for step in range(length):
            touched = values.clone()
            (touched[b, step] if t.padded.batch_first else touched[step, b]).add_(0.5)
            after = torchs_own(t, touched, module)
            for readout in taken:
                halves = zip(*(torch.split(read(readout.code, run), H, 1) for run in (names, after)), strict=True)
                for d, (old, new) in enumerate(halves):
                    found[readout.key][b][d] += int(not torch.equal(old[b], new[b]))
    return {key: tuple(map(tuple, counts)) for key, counts in found.items()}


def assert_found(found: Counts, told: Counts) -> None:
    at_most = found.pop("max"), told.pop("max")  # a step that is nowhere the largest is compared and leaves no trace
    assert all(f <= s for pair in zip(*at_most, strict=True) for f, s in zip(*pair, strict=True))
    assert found == told


def test_what_a_half_has_seen_is_what_changes_it(t: Trace) -> None:
    available = [readout for readout in readouts(t) if readout.available]
    assert_found(changes(t, t.padded.values), {readout.key: readout.seen for readout in available})
    top, grid = top_alone(t)
    assert_found(changes(t, grid, top), {readout.key: readout.steps for readout in available})


def test_the_numbers_stand_in_the_cells_that_are_named(t: Trace) -> None:
    grid = t.unpacked.output if t.padded.batch_first else t.unpacked.output.transpose(0, 1)
    H, pooled = t.module.hidden_size, {"mean": lambda rows: rows.mean(0), "max": lambda rows: rows.amax(0)}
    for readout in readouts(t):
        assert (readout.cells == ()) == (readout.values is None)
        for b, spots in enumerate(readout.cells):
            standing = [[grid[b, s.t, s.half * H : (s.half + 1) * H] for s in spots if s.half == d] for d in (0, 1)]
            halves = [torch.stack(rows) for rows in standing if rows]
            joined = torch.cat([pooled.get(readout.key, lambda rows: rows.squeeze(0))(rows) for rows in halves])
            assert readout.values is not None
            close = 0 if readout.key in ONE_STATE else 1e-12
            torch.testing.assert_close(joined, readout.values[b], rtol=close, atol=close)


def test_equal_numbers_are_no_proof_for_filler() -> None:
    """An RNN whose units are all dead gives zeros, as filler is: the last column is still not the last step."""
    module = nn.RNN(1, 2, nonlinearity="relu", batch_first=True)
    with torch.no_grad():
        for weights in module.parameters():
            weights.fill_(-1.0)
    t = trace_module(module, torch.ones(2, 3, 1), [3, 1])
    assert torch.equal(t.unpacked.output[:, -1], t.unpacked.last_valid)
    last_column, *_ = readouts(t)
    assert last_column.wrong == (1,)
