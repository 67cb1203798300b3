"""watch(): findings with the layer's name, in training too; no hook stays, whatever happens."""

import copy
import io
import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest
import torch
from doctor_cases import on_the_left, pack, repaired
from seeds import seeds
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence, pad_sequence

import packviz as pv
from packviz.doctor.watching import _plainly_sound
from packviz.rules.pads import padded_grid


class Tagger(nn.Module):
    def __init__(self, trouble: str) -> None:
        super().__init__()
        self.trouble = trouble
        self.embedding = nn.Embedding(9, 4, padding_idx=0)
        self.encoder = nn.ModuleDict({"lstm": nn.LSTM(4, 5, batch_first=True)})
        self.top = nn.GRU(5, 2)

    def forward(self, ids: Tensor, lengths: list[int]) -> Any:
        x = self.embedding(ids)
        if self.trouble == "nan":
            x = x * float("nan")
        if self.trouble == "dtype":
            x = x.double()
        packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        hx = (torch.zeros(1, 9, 5), torch.zeros(1, 9, 5)) if self.trouble == "state" else None
        output, _ = self.encoder["lstm"](packed, hx=hx)
        if self.trouble == "lost":
            output = PackedSequence(output.data, output.batch_sizes[:-1])
        return self.top(output)[1].sum()


def run_and_fail(model: Tagger) -> None:
    model(IDS, [2, 4])
    raise RuntimeError("torch takes such a state without a word")


IDS = torch.tensor([[1, 2, 0, 0], [3, 4, 5, 6]])


@pytest.mark.parametrize(
    ("trouble", "lengths", "expected"),
    [
        ("", [2, 4], []),
        ("pads", [4, 4], [("encoder.lstm", "pads_packed", 3)]),
        (
            "nan",
            [2, 4],
            [("encoder.lstm", "nan_in_data", 3), ("encoder.lstm", "nan_in_pads", 3), ("top", "nan_in_data", 3)],
        ),
        ("lost", [2, 4], [("top", "rows_differ", 3)]),
    ],
)
def test_findings_carry_the_layers_name_and_how_often_they_came(
    trouble: str, lengths: list[int], expected: list[tuple[str, str, int]]
) -> None:
    torch.manual_seed(0)
    model = Tagger(trouble)
    with pv.watch(model) as watched:
        for _ in range(3):
            model(IDS, lengths).backward()
    assert [(one.layer, one.key, one.times) for one in watched.findings] == expected
    assert watched.seen == 6
    assert all(f"in {layer}" in str(watched) and key for layer, key, _ in expected)
    assert ("nothing found" in str(watched)) == (not expected)


@pytest.mark.parametrize(("trouble", "key"), [("dtype", "data_dtype"), ("state", "hx_shape")])
def test_a_call_that_fails_is_examined_and_leaves_no_hook(trouble: str, key: str) -> None:
    model = Tagger(trouble)
    layers = [model.encoder["lstm"], model.top]
    with pytest.raises((RuntimeError, ValueError)), pv.watch(model) as watched:
        run_and_fail(model)
    assert [(one.layer, one.key) for one in watched.findings][:1] == [("encoder.lstm", key)]
    assert not any(layer._forward_hooks or layer._forward_pre_hooks for layer in layers)
    before = watched.seen
    with pytest.raises((RuntimeError, ValueError)):
        run_and_fail(model)
    assert watched.seen == before


def test_an_output_that_is_not_finite_points_at_the_weights() -> None:
    module = nn.RNN(2, 3)
    with torch.no_grad():
        module.get_parameter("weight_hh_l0")[0, 0] = float("nan")
    with pv.watch(module) as watched:
        module(torch.ones(4, 1, 2))
    (finding,) = watched.findings
    assert (finding.key, finding.layer, "weight_hh_l0" in finding.where) == ("nan_in_output", "", True)


def test_watching_leaves_results_and_random_numbers_untouched() -> None:
    results = []
    for watched in (False, True):
        torch.manual_seed(3)
        model = nn.Sequential(nn.GRU(4, 3, 2, dropout=0.5))
        x = pack_padded_sequence(torch.cat([torch.randn(5, 1, 4), torch.zeros(5, 1, 4)]), [10])
        if watched:
            with pv.watch(model) as seen:
                output = model(x)[0].data
            assert seen.findings
        else:
            output = model(x)[0].data
        results.append((output.detach(), torch.rand(2)))
    assert all(torch.equal(one, other) for one, other in zip(*results, strict=True))


LENGTHS, T, F, H = [3, 5, 2], 5, 2, 4
torch.manual_seed(0)
SEQUENCES = [torch.randn(length, F) for length in LENGTHS]
X = pad_sequence(SEQUENCES, batch_first=True)
LEFT = on_the_left(X, LENGTHS)
GRU, BOTH = nn.GRU(F, H, batch_first=True), nn.GRU(F, H, batch_first=True, bidirectional=True)


def run(layer: nn.GRU, x: Tensor) -> object:
    return layer(x)


def pad_and_pack(layer: nn.GRU, _: Tensor) -> object:
    x = pad_sequence(SEQUENCES, batch_first=True, padding_value=SEQUENCES[0][0, 0].item())
    return layer(pack(x, [2, 4, 1]))


# what is done with which batch and which layer, and watched how
AROUND: dict[str, tuple[Callable[[Any, Tensor], object], Tensor, nn.GRU, dict[str, Any]]] = {
    "pads_packed": (lambda layer, x: layer(pack(x, [5, 5, 2])), X, GRU, {}),
    "tokens_dropped": (lambda layer, x: layer(pack(x, [2, 4, 1])), X, GRU, {}),
    "left_padded": (lambda layer, x: layer(pack(x, LENGTHS)), LEFT, GRU, {}),
    "lengths_order": (lambda layer, x: layer(pack(x, [5, 3, 2])), X, GRU, {}),
    "padded_lengths": (pad_and_pack, X, GRU, {}),
    "unpacked": (run, X, GRU, {}),
    "unpacked, both ways": (run, X, BOTH, {"padding_value": 0.0}),
    "left_padded, not packed": (run, LEFT, GRU, {"padding_value": 0.0}),
    "left_padded, not packed, both ways": (run, LEFT, BOTH, {"padding_value": 0.0}),
    "unpacked_otherwise": (lambda layer, x: pad_packed_sequence(layer(pack(x, LENGTHS))[0]), X, GRU, {}),
}


@pytest.mark.parametrize("name", AROUND)
def test_watch_finds_what_is_wrong_in_a_call_and_repairs_it(name: str) -> None:
    act, x, layer, settings = AROUND[name]
    with torch.no_grad():
        right, final = layer(pack(X, LENGTHS))
        with pv.watch(nn.Sequential(layer), **settings) as watched:
            given: Any = act(layer, x)
    (finding,) = watched.findings
    assert finding.key == name.partition(",")[0]
    certain = "padding_value" in settings or name in ("left_padded", "lengths_order", "padded_lengths")
    assert (finding.severity == "silent") == certain or finding.key == "tokens_dropped"
    if finding.key == "unpacked_otherwise":
        assert torch.equal(repaired(finding, output=given[0])["output"], pad_packed_sequence(right, True)[0])
        return
    after = repaired(finding, x=x, lengths=[5, 4, 3], batch_first=True, module=layer)
    with torch.no_grad():
        again = layer(after["packed"] if "packed" in after else pack(after["x"], after["lengths"]))[1]
    torch.testing.assert_close(again, final)


def test_a_right_use_of_all_three_functions_is_not_found() -> None:
    with pv.watch(nn.Sequential(GRU, BOTH)) as watched:
        for x, first in ((X, True), (X.transpose(0, 1), False), (pad_sequence(SEQUENCES, padding_value=7.0), False)):
            output, state = GRU(pack(x, LENGTHS, first))
            pad_packed_sequence(output, first)
            GRU(torch.randn(3, 1, F), state)
            GRU(torch.cat([torch.zeros(3, 1, F), X[:, :2]], 1))  # a decoder's first input
            BOTH(output._replace(data=output.data[:, :F]))
    assert (watched.findings, watched.seen) == ((), 12)


def _run_packed(gru: nn.GRU, x: Tensor, lengths: list[int]) -> None:
    gru(pack_padded_sequence(x, lengths, enforce_sorted=False))


@pytest.mark.parametrize("run", [
    lambda gru: gru(torch.randn(5, 3, 2)),
    lambda gru: _run_packed(gru, torch.randn(5, 3, 2), [5, 5, 5]),
    lambda gru: _run_packed(gru, torch.randn(5, 3, 2), [2, 5, 3]),
    partial(lambda packed, gru: gru(packed), pack_padded_sequence(torch.randn(5, 3, 2), [5, 4, 4])),
], ids=["grid", "equal lengths", "packed", "packed before"])  # fmt: skip
@pytest.mark.filterwarnings("ignore:dropout option")
def test_what_is_wrong_with_a_layer_is_found_in_its_first_sound_call(run: Callable[[nn.GRU], Any]) -> None:
    gru = nn.GRU(2, 3, dropout=0.5)
    with pv.watch(gru) as watched:
        run(gru)
        run(gru)
    assert [finding.key for finding in watched.findings] == ["dropout_one_layer"]


def test_packing_in_other_threads_is_not_observed() -> None:
    def run(wrong: bool) -> list[str]:
        with pv.watch(nn.Sequential(layer := nn.GRU(F, H, batch_first=True))) as watched:
            for _ in range(20):
                layer(pack(X, [5, 5, 2] if wrong else LENGTHS))
        return [one.key for one in watched.findings]

    with ThreadPoolExecutor(4) as threads:
        assert [*threads.map(run, [True, False] * 4)] == [["pads_packed"], []] * 4


def test_after_an_exception_packing_is_no_longer_observed() -> None:
    with pytest.raises(KeyError), pv.watch(GRU) as outer, pv.watch(BOTH) as inner:
        raise KeyError
    pad_packed_sequence(pack(X, LENGTHS), batch_first=False)  # a finding, if it were observed
    assert (outer.findings, inner.findings) == ((), ())


def test_threads_that_watch_one_model_never_raise_into_its_forward() -> None:
    layer = nn.GRU(F, H, batch_first=True)

    def run(_: int) -> None:
        for _ in range(200):
            with pv.watch(layer):
                layer(X)

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(run, range(4)))  # raises what a forward raised
    assert layer._forward_hooks == {}


def test_a_hook_that_is_being_removed_does_nothing() -> None:
    layer = nn.GRU(F, H, batch_first=True)
    with pv.watch(layer) as watched:
        (handle,) = layer._forward_hooks_with_kwargs
        layer._forward_hooks_with_kwargs.clear()  # as at the moment in which a thread removes it
        layer(X)
        layer._forward_hooks_with_kwargs[handle] = True
        layer(X)
    assert watched.seen == 1


def test_a_copy_of_a_watched_model_has_no_hooks() -> None:
    model, stream = nn.Sequential(nn.GRU(F, H, batch_first=True)), io.BytesIO()
    with pv.watch(model) as watched:
        torch.save(model, stream)
        stream.seek(0)
        for twin in (torch.load(stream, weights_only=False), copy.deepcopy(model)):
            assert torch.equal(twin(X)[0], model[0](X)[0])
        model(pack(X, [5, 5, 2]))
    assert watched.seen == 3
    stream = io.BytesIO()
    torch.save(watched, stream)
    stream.seek(0)
    again = torch.load(stream, weights_only=False)
    assert again.findings == watched.findings != ()
    assert torch.equal(again.calls[0].trace().h_n, watched.calls[0].trace().h_n)


def test_tensors_without_numbers_are_watched_without_a_word() -> None:
    with pv.watch(layer := nn.LSTM(F, H, device="meta")) as watched:
        layer(X.to("meta"))
    assert (watched.seen, watched.findings) == (1, ())


@pytest.mark.parametrize("cell", [nn.RNN, nn.GRU, nn.LSTM])
def test_a_kept_call_can_be_filmed_with_the_weights_that_it_had(cell: Any) -> None:
    layer = cell(F, H, bidirectional=True)
    optimizer = torch.optim.SGD(layer.parameters(), 0.5)
    results = []
    with pv.watch(layer, keep=3) as watched:
        for given in (pack(X, LENGTHS), X.transpose(0, 1).contiguous(), X[0].clone(), X[0].clone()):
            output, _ = layer(given)
            values = output.data if isinstance(output, PackedSequence) else output
            results.append(values.detach())
            values.sum().backward()
            optimizer.step()
            with torch.no_grad():
                (given.data if isinstance(given, PackedSequence) else given).add_(1.0)
    packed, padded, single = watched.calls  # however many there are
    assert watched.seen == 4
    torch.testing.assert_close(packed.trace().output, results[0])
    torch.testing.assert_close(padded.trace().unpacked.output, results[1])
    torch.testing.assert_close(single.trace().unpacked.output[:, 0], results[2])
    assert packed.movie(stages=("run",)).to_dict()["format"]


def test_calls_can_be_sampled_and_findings_ignored() -> None:
    with pv.watch(GRU, every=3, ignore="pads_packed") as watched:
        for _ in range(7):
            GRU(X)
            GRU(pack(X, [5, 5, 2]))
    assert [(one.key, one.times) for one in watched.findings] == [("unpacked", 3)]
    with pv.watch(GRU) as watched:
        for _ in range(40):
            GRU(X)
    assert [(one.key, one.times) for one in watched.findings] == [("unpacked", 8 + 2)]  # the 17th and the 33rd
    for name, wrong in {"ignore": "pad_packed", "padding_value": "0", "every": 0}.items():
        told: Any = {name: wrong}
        with pytest.raises(pv.PackvizError, match=name), pv.watch(GRU, **told):
            pass


class Padder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.GRU(F, H, batch_first=True)

    def forward(self, sequences: list[Tensor], lengths: Tensor) -> Tensor:
        x = pad_sequence(sequences, batch_first=True)
        packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        return pad_packed_sequence(self.layer(packed)[0], batch_first=True)[0]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated")
def test_other_models_are_scripted_and_compiled_while_somebody_watches() -> None:
    from torch._dynamo import trace_rules  # takes seconds: not at the head of the file

    model, lengths = Padder(), torch.tensor(LENGTHS)
    right = model(SEQUENCES, lengths)

    def check_compiled() -> None:
        torch._dynamo.reset()
        for backend in ("eager", "aot_eager"):
            pad = torch.compile(lambda *sequences: pad_sequence(sequences), backend=backend, fullgraph=True)
            assert torch.equal(pad(*SEQUENCES), X.transpose(0, 1))
            assert torch.equal(torch.compile(model, backend=backend)(SEQUENCES, lengths), right)

    trace_rules.get_torch_obj_rule_map.cache_clear()  # as in a process in which nothing has been compiled yet
    with pv.watch(GRU) as watched:
        scripted = torch.jit.script(model)
        assert torch.equal(scripted(SEQUENCES, lengths), right)
        check_compiled()
    check_compiled()
    with pv.watch(GRU):
        check_compiled()
    assert torch.equal(torch.jit.script(model)(SEQUENCES, lengths), right)
    assert (watched.findings, "saw no call" in str(watched)) == ((), True)
    with pv.watch(model), pytest.raises(AttributeError, match="before watch"):
        torch.jit.script(model)


@pytest.mark.slow
def test_dynamo_does_not_trace_the_hooks() -> None:
    model = nn.Sequential(nn.Linear(F, F, bias=False), layer := nn.GRU(F, H, batch_first=True))
    torch._dynamo.reset()
    compiled = torch.compile(model, backend="eager")
    with pv.watch(model) as watched:
        for _ in range(3):
            compiled(X)
    assert (watched.seen, [(one.key, one.times) for one in watched.findings]) == (3, [("unpacked", 3)])
    assert layer._forward_hooks == {}


def drawn(seed: int) -> tuple[nn.GRU, Tensor, list[int], float | None]:
    """Return a layer, x (B, T, F) for it that may have pads, lengths, and a padding_value that may be theirs."""
    draw, _ = random.Random(seed), torch.manual_seed(seed)
    layer = nn.GRU(draw.randint(1, 3), 2, batch_first=draw.random() < 0.5)
    B, T = draw.randint(1, 4), draw.randint(1, 4)
    shape = (B, T, layer.input_size)
    x = torch.randint(-1, 3, shape).float() if draw.random() < 0.5 else torch.randn(shape)
    lengths = [draw.randint(1, T) for _ in range(B)]
    number = draw.choice((0.0, 7.0, float("nan"), float("inf")))
    if draw.random() < 0.7:
        x[torch.arange(T) >= torch.tensor(lengths)[:, None]] = number
    return layer, x, [T] * B if draw.random() < 0.3 else lengths, draw.choice((None, 0.0, 7.0))


def test_the_quick_look_passes_over_nothing_that_the_rules_find() -> None:
    passed = [0, 0]
    for seed in seeds(400):
        layer, x, lengths, pad = drawn(seed)
        grid = x if layer.batch_first else x.transpose(0, 1)
        ways: tuple[Tensor | PackedSequence, ...] = grid, pack(x, lengths)
        for way, given in enumerate(ways):
            if bool(x.isfinite().all()) and _plainly_sound(layer, given, None, None, pad):
                passed[way] += 1
                assert pv.examine(layer, given, padding_value=pad) == (), (seed, x, pad)
    assert 0 < min(passed) <= max(passed) < len(seeds(400))


def test_what_is_not_kept_of_a_padded_x_shows_nothing_more_than_its_packed_data() -> None:
    passed = 0
    for seed in seeds(400):
        _, x, lengths, pad = drawn(seed)
        if not padded_grid(x, lengths, pad).shows_more_than_packed:
            passed += 1
            padded = pv.examine(x, lengths, batch_first=True, enforce_sorted=False, padding_value=pad)
            packed = pv.examine(pack(x, lengths), padding_value=pad)
            assert [one.key for one in padded] == [one.key for one in packed], (seed, x, lengths, pad)
    assert passed > 0
