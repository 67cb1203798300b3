"""The way back, beside torch's autograd through the packed module and beside a textbook run without packing."""

import copy
import pickle
import random
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, get_args

import pytest
import torch
import torch.nn.functional as F
from seeds import many
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence
from trace_cases import Case, made, random_case

from packviz import Batch, Config, Trace, trace_module
from packviz.compute.backward import Gradients, On
from packviz.compute.trace import trace

BLOCKS, PER_BLOCK = 10, many(50)  # 500 random modules
CLOSE = {torch.float32: 1e-6, torch.float64: 1e-12}  # the largest distance, relative to the tensor's largest value


def traced(case: Case) -> Trace:
    t: Trace = trace_module(case.module, case.x, case.lengths, enforce_sorted=case.enforce_sorted, hx=case.hx)
    return t


def relative(ours: Tensor, theirs: Tensor) -> float:
    assert ours.shape == theirs.shape
    assert ours.dtype == theirs.dtype
    apart = float((ours - theirs).abs().max())
    return apart and apart / float(theirs.abs().max())


def of_torch(case: Case, on: str, upstream: Tensor) -> dict[str, Tensor]:
    """Return the gradients of data, of the initial state and of the weights, as anybody would ask autograd for them."""
    module, packed = copy.deepcopy(case.module), case.packed
    data = packed.data.clone().requires_grad_()
    hx = case.hx if case.hx is not None else module(packed)[1]
    state = [(part if case.hx is not None else torch.zeros_like(part)).detach().clone().requires_grad_()
             for part in (hx if isinstance(hx, tuple) else (hx,))]  # fmt: skip
    with torch.backends.mkldnn.flags(enabled=False, allow_tf32=None):
        given = tuple(state) if len(state) == 2 else state[0]
        output, after = module(packed._replace(data=data), given)
    h_n = after[0] if isinstance(after, tuple) else after
    last_valid = torch.cat([*h_n[-2 if module.bidirectional else -1 :]], 1)
    (output.data if on == "output" else last_valid).backward(upstream)
    named = {"data": data, **dict(zip(("h_0", "c_0"), state, strict=False)), **dict(module.named_parameters())}
    return {name: leaf.grad for name, leaf in named.items() if leaf.grad is not None}


def random_upstream(t: Trace, on: str) -> Tensor:
    return torch.randn_like(t.output if on == "output" else t.unpacked.last_valid)


@pytest.mark.parametrize("block", range(BLOCKS))
def test_the_gradients_are_those_of_autograd_through_the_module(
    block: int, record_property: Callable[[str, object], None]
) -> None:
    largest = dict.fromkeys(CLOSE, 0.0)
    for seed in range(block * PER_BLOCK, (block + 1) * PER_BLOCK):
        case = random_case(seed)
        t, on = traced(case), random.Random(seed).choice(get_args(On))
        upstream = random_upstream(t, on)
        g, theirs = t.backward(on, upstream), of_torch(case, on, upstream)
        ours = {"data": g.data, "h_0": g.h_0, **({} if g.c_0 is None else {"c_0": g.c_0}), **g.weights}
        assert ours.keys() == theirs.keys()
        for name in ours.keys() & {"h_0", "c_0"}:
            assert torch.equal(torch.stack([getattr(each, name) for layer in g.layers for each in layer]), ours[name])
        assert g.proof["forward"] == 0.0, seed
        apart = max(relative(ours[name], each) for name, each in theirs.items())
        assert apart <= CLOSE[g.data.dtype], (seed, apart)
        largest[g.data.dtype] = max(largest[g.data.dtype], apart)
    print("largest relative distance:", largest)
    record_property("largest relative distance", str(largest))


def textbook(t: Trace, b: int, x: Tensor) -> Iterator[tuple[int, int, int, dict[str, Tensor]]]:
    """Run one sequence x (length, F) by the textbook; yield layer, direction, step, and what it computed."""
    module, D = t.module, len(t.layers[0])
    for layer in range(len(t.layers)):
        outputs = []
        for d in range(D):
            end = f"_l{layer}" + "_reverse" * d
            w = {name[: -len(end)]: weight for name, weight in module.named_parameters() if name.endswith(end)}
            h = t.h_0[layer * D + d, b]
            c = None if t.c_0 is None else t.c_0[layer * D + d, b]
            steps: dict[int, Tensor] = {}
            for step in reversed(range(len(x))) if d else range(len(x)):
                own = one_step(module.mode, w, x[step], h, c)
                for tensor in own.values():
                    tensor.retain_grad()
                h, c = own["h"], own.get("c")
                steps[step] = h
                yield layer, d, step, own
            outputs.append(torch.stack([steps[step] for step in range(len(x))]))
        x = torch.cat(outputs, 1)


def one_step(mode: str, w: Mapping[str, Tensor], x: Tensor, h: Tensor, c: Tensor | None) -> dict[str, Tensor]:
    a, b = F.linear(x, w["weight_ih"], w.get("bias_ih")), F.linear(h, w["weight_hh"], w.get("bias_hh"))
    if mode == "GRU":
        (a_r, a_z, a_n), (b_r, b_z, b_n) = a.chunk(3), b.chunk(3)
        r, z = torch.sigmoid(a_r + b_r), torch.sigmoid(a_z + b_z)
        n = torch.tanh(a_n + r * b_n)
        return {"r": r, "z": z, "n": n, "h": (1 - z) * n + z * h}
    if mode == "LSTM":
        assert c is not None
        i, f, g, o = (a + b).chunk(4)
        i, f, g, o = torch.sigmoid(i), torch.sigmoid(f), torch.tanh(g), torch.sigmoid(o)
        c = f * c + i * g
        h = o * torch.tanh(c)
        return {"i": i, "f": f, "g": g, "o": o, "c": c, "h": F.linear(h, w["weight_hr"]) if "weight_hr" in w else h}
    return {"h": torch.relu(a + b) if mode == "RNN_RELU" else torch.tanh(a + b)}


@pytest.mark.parametrize("seed", [seed for seed in range(60) if random_case(seed).x.dtype == torch.float64][: many(20)])
def test_states_and_gates_have_the_gradients_of_the_textbook_run(seed: int) -> None:
    """Autograd with retain_grad, sequence by sequence, without padding and packing."""
    t = traced(random_case(seed))
    for weight in t.module.parameters():
        weight.requires_grad_()  # of the trace's own copy
    upstream = random_upstream(t, "output")
    g, D = t.backward("output", upstream), len(t.layers[0])
    seen = 0
    for b in range(len(t.padded.lengths)):
        rows = (t.packed.sequence == b).nonzero().flatten()  # in the order of time
        runs = list(textbook(t, b, t.packed.data[rows]))
        top = [own["h"] @ up for layer, d, step, own in runs if layer == len(t.layers) - 1
               for up in [upstream[rows[step]].chunk(D)[d]]]  # fmt: skip
        torch.autograd.backward(torch.stack(top).sum())
        for layer, d, step, own in runs:
            found = g.layers[layer][d]
            assert found.rows.keys() == own.keys()
            for name, tensor in own.items():
                assert tensor.grad is not None
                assert torch.allclose(found.rows[name][rows[step]], tensor.grad, rtol=1e-9, atol=1e-11), (name, step)
                seen += 1
    assert seen >= len(t.output)


WORDS = Batch.parse("on your mark\nget set\ngo")


@pytest.mark.parametrize("cell", ["rnn", "gru", "lstm"])
def test_a_step_of_a_state_changes_the_loss_as_its_gradient_says(cell: Any) -> None:
    """Finite differences: h_0 of B, and the first token of C, moved a little in float64."""
    torch.manual_seed(0)
    module = {"rnn": nn.RNN, "gru": nn.GRU, "lstm": nn.LSTM}[cell](2, 3, 2, bidirectional=True, dtype=torch.float64)
    packed = pack_padded_sequence(torch.randn(4, 3, 2, dtype=torch.float64), [2, 4, 1], enforce_sorted=False)
    g = trace_module(module, packed).backward()

    def loss(moved: Tensor) -> float:
        return float(trace_module(module, packed._replace(data=moved)).unpacked.last_valid.sum())

    for n, f in ((0, 0), (2, 1), (6, 0)):
        step = torch.zeros_like(packed.data)
        step[n, f] = 1e-6
        slope = (loss(packed.data + step) - loss(packed.data - step)) / 2e-6
        assert float(g.data[n, f]) == pytest.approx(slope, rel=1e-7, abs=1e-9)


def test_a_loss_on_one_final_state_reaches_no_other_sequence() -> None:
    t = made(cell="lstm", num_layers=2, bidirectional=True, hidden_size=3)
    upstream = torch.zeros_like(t.unpacked.last_valid)
    upstream[1] = 1.0
    g = t.backward(upstream=upstream)
    own = t.packed.sequence == 1
    assert g.data[own].any(1).all()
    for part in (g.data, *(rows for layer in g.layers for each in layer for rows in each.rows.values())):
        assert not part[~own].any()
    assert g.c_0 is not None
    for start in (g.h_0, g.c_0):
        assert start[:, 1].any(1).all()
        assert not start[:, [0, 2]].any()


def test_without_upstream_the_loss_is_the_sum() -> None:
    t = made(cell="gru")
    for on in get_args(On):
        assert torch.equal(t.backward(on).data, t.backward(on, torch.ones_like(random_upstream(t, on))).data)
    assert torch.equal(t.backward().data, t.backward("last_valid").data)


def test_with_an_embedding_data_has_the_gradient_of_the_vectors() -> None:
    t = trace(WORDS, Config(cell="gru", embedding_dim=3))
    assert t.padded.embedding is not None
    table = t.padded.embedding.clone().requires_grad_()
    vectors = F.embedding(t.padded.tokens, table)
    packed = pack_padded_sequence(vectors, t.padded.lengths, True, enforce_sorted=False)
    (theirs,) = torch.autograd.grad(t.module(packed, t.h_0)[1].sum(), table)
    tokens = t.padded.tokens[t.packed.sequence, t.packed.timestep]
    ours = torch.zeros_like(table).index_add(0, tokens, t.backward().data)
    assert torch.allclose(ours, theirs, rtol=0, atol=1e-6)


def same(one: Gradients, other: Gradients) -> bool:
    return torch.equal(one.data, other.data) and all(
        torch.equal(weight, other.weights[name]) for name, weight in one.weights.items()
    )


def test_what_surrounds_the_call_does_not_change_the_numbers() -> None:
    plain = trace(WORDS, Config(cell="lstm")).backward()
    t = trace(WORDS, Config(cell="lstm"))
    with torch.no_grad():
        assert same(t.backward(), plain)
    with torch.inference_mode(), torch.autocast("cpu"):
        assert same(t.backward(), plain)
        inside = trace(WORDS, Config(cell="lstm"))
        assert same(inside.backward(), plain)
    assert same(inside.backward("last_valid", torch.ones(3, 4)), plain)
    torch.set_default_dtype(torch.float64)
    try:
        with torch.device("meta"):
            assert same(t.backward(), plain)
    finally:
        torch.set_default_dtype(torch.float32)


def test_module_switches_and_random_numbers_are_left_as_they_were() -> None:
    case = random_case(3)
    case.module.train()
    t = traced(case)
    before, onednn = torch.get_rng_state(), torch.backends.mkldnn.enabled
    upstream = torch.ones_like(t.unpacked.last_valid, requires_grad=True)
    g = t.backward(upstream=upstream)
    upstream.detach().zero_()
    assert case.module.training
    assert torch.is_grad_enabled()
    assert torch.equal(torch.get_rng_state(), before)
    assert torch.backends.mkldnn.enabled == onednn
    for weight in (*case.module.parameters(), *t.module.parameters(), upstream):
        assert weight.grad is None
    assert g.upstream.all()
    assert not any(part.requires_grad for part in (g.data, g.h_0, g.upstream, *g.weights.values(), t.output))


def test_many_threads_go_back_as_one_alone() -> None:
    runs = [traced(random_case(seed)) for seed in range(8)] * 3
    alone = [t.backward() for t in runs]
    with ThreadPoolExecutor(6) as pool:
        results = list(pool.map(lambda t: t.backward(), runs))
    assert all(same(one, other) for one, other in zip(results, alone, strict=True))


def test_gradients_can_be_stored_and_copied() -> None:
    g = made(cell="lstm").backward()
    for again in (pickle.loads(pickle.dumps(g)), copy.deepcopy(g)):
        assert same(again, g)
        assert again.proof == g.proof
        assert list(again.layers[0][0].gates) == ["i", "f", "g", "o"]


def test_the_forward_that_overflows_is_still_the_recorded_one() -> None:
    t: Trace = trace_module(nn.RNN(1, 2, nonlinearity="relu"), torch.full((3, 2, 1), 3e38), [3, 1])
    g = t.backward()
    assert g.proof["forward"] == 0.0
    assert g.exact
