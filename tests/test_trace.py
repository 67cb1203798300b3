"""A trace: what it holds, leaves alone and refuses, of a batch with its settings and of a module of one's own."""

import copy
import dataclasses
import pickle
import re
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, cast

import numpy as np
import pytest
import torch
from random_runs import random_run
from torch import Tensor, nn
from torch.nn.utils import prune
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence, pad_sequence
from trace_cases import random_case

import packviz as pv
from packviz.compute.record import Refusal
from packviz.compute.trace import trace, trace_module
from packviz.compute.verify import prove
from packviz.errors import PackvizError
from packviz.facts import compare
from packviz.facts.unit_arithmetic import unit_sum
from packviz.inputs.batch import Batch
from packviz.inputs.config import Config

UNSORTED = Batch.parse("1 2 3\n4 5\n6 7 8 9")
VECTORS = Batch.from_tensors([torch.randn(3, 2)])
WORDS = Batch.parse("on your mark\nget set\ngo")


@pytest.mark.parametrize(
    ("batch", "config", "says"),
    [
        (Batch.parse("1 2.5\n3"), Config(embedding_dim=2), r"2\.5 in sequence A, step 2"),
        (VECTORS, Config(embedding_dim=2), "embedding_dim: expected None for feature vectors"),
        (VECTORS, Config(padding_idx=0), "padding_idx: expected None without an embedding"),
        (UNSORTED, Config(padding_idx=0), "padding_idx: expected None without an embedding"),
        (Batch.parse("1 2\n9999999"), Config(embedding_dim=2), "10,000,000"),
        (WORDS, Config(embedding_dim=10**9), "10,000,000"),
        (UNSORTED, Config(hidden_size=10**8), "hidden_size"),
        (UNSORTED, Config(total_length=10**9), "1,000,000,000 numbers"),
        (UNSORTED, Config(total_length=3), "total_length: .*max sequence length being 4"),
        ("1 2 3", None, "batch: "),
        (UNSORTED, {"cell": "gru"}, "config: "),
    ],
)
def test_what_makes_no_sense_or_would_fill_the_memory_is_refused(batch: Any, config: Any, says: str) -> None:
    with pytest.raises(PackvizError, match=says):
        trace(batch, config)


def test_padding_on_the_left_packs_pads_and_says_so() -> None:
    t = trace(UNSORTED, Config(padding_side="left"))
    assert t.packed.data.squeeze(-1).tolist() == [6, 0, 0, 7, 1, 0, 8, 2, 9]
    assert t.packed_is_pad.tolist() == [False, True, True, False, False, True, False, False, False]
    assert t.notes == ("packing this batch keeps 3 pads and drops 3 tokens",)  # also where a page only pads it
    assert t.exact
    right = trace(UNSORTED)
    assert not right.packed_is_pad.any()
    assert right.notes == ()


@pytest.mark.parametrize("initial_state", ["zeros", "carried"])
def test_torchs_refusal_of_unsorted_lengths_is_recorded_as_torch_says_it(initial_state: Any) -> None:
    with pytest.raises(RuntimeError) as torchs:
        pack_padded_sequence(pad_sequence(list(UNSORTED.sequences)), UNSORTED.lengths)
    t = trace(UNSORTED, Config(enforce_sorted=True, initial_state=initial_state))
    assert isinstance(t, Refusal)
    assert t.error == str(torchs.value)
    assert t.padded.tokens.shape == (3, 4)
    assert not isinstance(trace(UNSORTED), Refusal)


@pytest.mark.parametrize("initial_state", ["zeros", "random", "learned", "carried"])
def test_torchs_random_numbers_go_on_as_if_nothing_had_happened(initial_state: Any) -> None:
    torch.manual_seed(5)
    before = torch.get_rng_state()
    trace(WORDS, Config(initial_state=initial_state, cell="lstm"))
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize("cell", ["rnn", "gru", "lstm"])
def test_a_new_word_changes_only_its_own_sequence(cell: Any) -> None:
    text = "I love cats\nshe sleeps\nwe sing old songs"
    before, after = (trace(Batch.parse(each), Config(cell=cell)) for each in (text, f"{text} today"))
    for one, other in zip(before.module.parameters(), after.module.parameters(), strict=True):
        assert torch.equal(one, other)
    assert torch.equal(before.h_n[:, :2], after.h_n[:, :2])


def test_neither_surrounding_switches_nor_defaults_change_the_numbers() -> None:
    plain = trace(WORDS, Config(cell="lstm")).output
    with torch.inference_mode(), torch.autocast("cpu"):
        assert torch.equal(trace(WORDS, Config(cell="lstm")).output, plain)
    torch.set_default_dtype(torch.float64)
    try:
        with torch.device("meta"):
            surrounded = trace(WORDS, Config(cell="lstm"))
    finally:
        torch.set_default_dtype(torch.float32)
    assert torch.equal(surrounded.output, plain)
    assert surrounded.exact


def test_a_trace_can_be_stored_and_copied() -> None:
    t = trace(WORDS, Config(cell="lstm", bidirectional=True))
    for again in (pickle.loads(pickle.dumps(t)), copy.deepcopy(t)):
        assert torch.equal(again.output, t.output)
        assert again.proof == t.proof
        assert list(again.layers[0][1].gates) == ["i", "f", "g", "o"]


def test_a_trace_is_frozen_and_its_proof_cannot_be_written() -> None:
    t = trace(UNSORTED)
    records = {t: "layers", t.packed: "data", t.sorted: "lengths", t.layers[0][0]: "rows", t.padded: "mask"}
    for record, name in records.items():
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(record, name, None)
    t.proof["output"] = 1.0
    assert t.exact


def test_many_threads_trace_as_one_alone_and_leave_nothing_behind() -> None:
    runs, shared = [random_run(seed) for seed in range(18)], [random_case(seed) for seed in range(6)]
    work = [
        *(partial(trace, run.batch, run.config) for run in runs),
        *(partial(trace_module, case.module, case.packed, hx=case.hx) for case in shared * 3),  # of one module, too
    ]
    alone = [each().output for each in work]
    onednn, random_state = torch.backends.mkldnn.enabled, torch.get_rng_state()
    with ThreadPoolExecutor(6) as pool:
        results = list(pool.map(lambda each: each(), work))
    assert all(result.exact for result in results)
    assert all(torch.equal(result.output, output) for result, output in zip(results, alone, strict=True))
    assert torch.backends.mkldnn.enabled == onednn
    assert torch.equal(torch.get_rng_state(), random_state)


B, T, F, H = 3, 5, 4, 6
LENGTHS = [3, 5, 2]


def drawn(kind: Any, **settings: Any) -> Any:
    torch.manual_seed(0)
    return kind(F, H, **{"batch_first": True, **settings})


gru, lstm = partial(drawn, nn.GRU), partial(drawn, nn.LSTM)


def grid(*shape: int) -> Tensor:
    return torch.randn(*(shape or (B, T, F)), generator=torch.Generator().manual_seed(1))


def packed(**fields: Any) -> PackedSequence:
    whole = pack_padded_sequence(grid(), LENGTHS, batch_first=True, enforce_sorted=False)
    return whole._replace(**fields)


def refusal(*args: Any, **settings: Any) -> PackvizError:
    with pytest.raises(PackvizError) as raised:
        trace_module(*args, **settings)
    return raised.value


def test_a_foreign_order_of_equal_lengths_is_kept() -> None:
    order = torch.tensor([1, 2, 0])
    given = PackedSequence(grid(6, F), torch.tensor([3, 3]), order, order.argsort())
    t = trace_module(gru(), given, hx=grid(1, 3, H))
    assert t.exact
    assert t.sorted.order.tolist() == [1, 2, 0]
    assert t.packed.sequence.tolist() == [1, 2, 0, 1, 2, 0]
    assert t.packed.timestep.tolist() == [0, 0, 0, 1, 1, 1]
    assert t.packed.last_rows.tolist() == [5, 3, 4]


@pytest.mark.parametrize("kind", [list, tuple, torch.tensor, np.array, partial(torch.tensor, dtype=torch.int32)])
def test_lengths_come_in_whatever_torch_takes(kind: Any) -> None:
    assert trace_module(gru(), grid(), kind(LENGTHS)).padded.lengths.tolist() == LENGTHS


HOOKED = gru()
HOOKED.register_forward_pre_hook(lambda *_: None)
HOOKED.register_forward_hook(lambda *_: None)


@pytest.mark.parametrize(("module", "lengths", "notes"), [
    (gru(), LENGTHS, ()),
    (gru(num_layers=2, dropout=0.5), LENGTHS, ("dropout 0.5 between layers is switched off, as in evaluation",)),
    (gru(), [3, 2, 1], ("x has 5 time steps, the longest length is 3: the columns after it are not packed",)),
    (HOOKED, LENGTHS, ("2 forward hooks of the module: not called in this run",)),
])  # fmt: skip
def test_how_a_run_differs_from_a_call_of_the_module_is_noted(module: Any, lengths: Any, notes: Any) -> None:
    t = trace_module(module.train(), grid(), lengths)
    assert t.notes == notes
    assert t.exact
    assert torch.equal(t.output, trace_module(module, grid(), lengths).output)


@pytest.mark.parametrize("where", ["valid", "pad"])
@pytest.mark.parametrize("what", [float("nan"), float("inf")])
def test_nan_and_infinity_run_through_and_are_exact(where: str, what: float) -> None:
    x = grid()
    x[0, 1 if where == "valid" else 4] = what
    for module in (gru(), lstm(bidirectional=True), nn.RNN(F, H, nonlinearity="relu", batch_first=True)):
        t = trace_module(module, x, LENGTHS, padding_value=what)
        assert t.exact, t.proof
        if what != what:
            assert bool(t.output.isnan().any()) == (where == "valid")


def test_half_precision_modules_are_traced() -> None:
    t = trace_module(gru(dtype=torch.bfloat16), grid().bfloat16(), LENGTHS)
    assert t.output.dtype == torch.bfloat16
    assert max(t.proof.values()) < 0.05


class Twice(nn.GRU):
    def forward(self, x: Any, hx: Any = None) -> Any:
        return super().forward(2 * x, hx)


def test_a_subclass_without_its_own_forward_is_run_as_torchs() -> None:
    torch.manual_seed(0)
    t = trace_module(type("Named", (nn.GRU,), {})(F, H, batch_first=True), grid(), LENGTHS)
    assert t.exact
    assert torch.equal(t.output, trace_module(gru(), grid(), LENGTHS).output)
    patched = gru()
    patched.forward = lambda x: (x, x)
    for module in (Twice(F, H, batch_first=True), patched):
        with pytest.raises(PackvizError, match="a forward of its own"):
            trace_module(module, grid(), LENGTHS)


@pytest.mark.parametrize("training", [True, False])
def test_the_module_is_left_as_it_was(training: bool) -> None:
    module = lstm(num_layers=2, dropout=0.3).train(training)
    fired: list[object] = []
    module.register_forward_hook(lambda *_: fired.append("after"))
    module.register_forward_pre_hook(lambda *_: fired.append("before"))
    before = copy.deepcopy(module.state_dict())
    versions, flat = [weight._version for weight in module.parameters()], list(module._flat_weights)
    attributes = set(vars(module))
    trace_module(module, grid(), LENGTHS)
    assert module.training is training
    assert fired == []
    assert all(torch.equal(before[name], weight) for name, weight in module.state_dict().items())
    assert versions == [weight._version for weight in module.parameters()]
    assert all(weight.grad is None and weight.requires_grad for weight in module.parameters())
    assert all(was is now for was, now in zip(flat, module._flat_weights, strict=True))
    assert set(vars(module)) == attributes


def test_the_record_shares_no_memory_with_the_input() -> None:
    x, lengths, hx = grid().requires_grad_(), torch.tensor(LENGTHS), grid(1, B, H)
    given = packed()
    from_grid, from_packed = trace_module(gru(), x, lengths, hx=hx), trace_module(gru(), given, hx=hx)
    assert x._version == lengths._version == hx._version == 0
    assert not from_grid.output.requires_grad
    assert not from_grid.padded.values.requires_grad
    kept = copy.deepcopy((from_grid.packed.data, from_grid.padded.values, from_grid.h_0))
    for tensor in (x.detach(), lengths, hx, *given):
        assert tensor is not None
        tensor.zero_()
    for got, want in zip((from_grid.packed.data, from_grid.padded.values, from_grid.h_0), kept, strict=True):
        assert torch.equal(got, want)
    assert from_grid.padded.lengths.tolist() == LENGTHS
    assert torch.equal(from_packed.packed.data, kept[0])
    assert torch.equal(from_packed.h_0, kept[2])


def test_a_later_change_of_the_weights_does_not_reach_the_record() -> None:
    module = lstm(num_layers=2, bidirectional=True)
    t = trace_module(module, grid(), LENGTHS)
    with torch.no_grad():
        (want, state), (padded, _) = module(packed()), module(grid())
        kept = copy.deepcopy(module.state_dict())
        for weight in module.parameters():
            weight.add_(1)
    shown = unit_sum(t, 3, 1, layer=1).gates[0].input_sum
    below = torch.cat([way.h for way in t.layers[0]], 1)[3]
    assert shown == pytest.approx(float(kept["weight_ih_l1"][1] @ below + kept["bias_ih_l1"][1]))
    assert torch.equal(t.module(t.packed_sequence)[0].data, want.data)
    assert {name: apart for name, apart in prove(t).items() if apart} == {}
    compared = compare(t)
    torch.testing.assert_close(compared.padded, padded)
    assert torch.equal(compared.readings[-1].packed.values, state[0][-1])


REPARAMETRIZED: dict[str, Any] = {
    "weight_norm": nn.utils.parametrizations.weight_norm,
    "spectral_norm": nn.utils.parametrizations.spectral_norm,
    "weight_norm by hooks": nn.utils.weight_norm,
    "spectral_norm by hooks": nn.utils.spectral_norm,
    "pruning": lambda module, name: cast(Any, prune).random_unstructured(module, name, 0.5),
}


@pytest.mark.filterwarnings("ignore:.*weight_norm.*:FutureWarning")
@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("kind", REPARAMETRIZED)
def test_reparametrized_weights_are_those_of_a_call_in_evaluation(kind: str, training: bool) -> None:
    module = gru()
    REPARAMETRIZED[kind](module, "weight_hh_l0")
    with torch.no_grad():
        for parameter in module.parameters():  # as after an optimizer step
            parameter.mul_(2).add_(0.1)
    module.train(training)
    kept, noise = {name: value.clone() for name, value in module.state_dict().items()}, torch.get_rng_state()
    t = trace_module(module, grid(), LENGTHS)
    pv.examine(module, grid(), LENGTHS, state=t.h_n[-1], enforce_sorted=False)
    assert all(torch.equal(kept[name], value) for name, value in module.state_dict().items())
    assert torch.equal(noise, torch.get_rng_state())
    assert module.training == training
    assert t.exact
    with torch.no_grad():
        assert torch.equal(t.output, module.eval()(packed())[0].data)
    assert not torch.equal(t.output, trace_module(gru(), grid(), LENGTHS).output)


def test_under_autocast_the_run_is_that_without_it_and_says_so() -> None:
    want = trace_module(lstm(), grid().bfloat16().float(), LENGTHS)
    with torch.autocast("cpu", torch.bfloat16):
        rows = packed(data=packed().data.bfloat16())
        runs = trace_module(lstm(), grid().bfloat16(), LENGTHS), trace_module(lstm(), rows)
    for t in runs:
        assert torch.equal(t.output, want.output)
        assert [note for note in t.notes if "autocast" in note]
    with pytest.raises(PackvizError):
        trace_module(lstm(), grid().bfloat16(), LENGTHS)


def given(x: Any = None, lengths: Any = LENGTHS, module: Any = None, **options: Any) -> Any:
    return module or gru(), grid() if x is None else x, lengths, {"enforce_sorted": False, **options}


def given_packed(**fields: Any) -> Any:
    return given(packed(**fields), None)


ON_META, CPU_ONLY = torch.ones(3, dtype=torch.int64, device="meta"), {"torch_says": "1D CPU int64"}
OTHER_INTEGERS = ([3.0, 5.0, 2.0], torch.tensor([3.0, 5.0, 2.0]), [True, True, True], torch.tensor([True] * 3))
NAN_LENGTHS = ([float("nan"), 2, 1], [float("inf"), 2, 1])
NO_LENGTHS: tuple[Any, ...] = ("3 5 2", {3, 5, 2}, [[3], [5, 2]], [3, None, 2], [2**70, 1, 1], [3, 5, 1j], object())
NO_LENGTHS += (1.5, 3, [], torch.tensor([3, 2, 1]).to_sparse())
WRONG_PAIRS: tuple[Any, ...] = ({}, torch.zeros(1, B, H), (torch.zeros(1, B, H), None))
WRONG_KINDS: tuple[Any, ...] = ((torch.zeros(1, B, H),) * 2, 0, "h", [])
JUDGED: list[tuple[Any, str, dict[str, str]]] = [  # by the rules of the doctor, too
    (given(lengths=[3, 5]), "lengths", {"got": "2 (torch packs 2 sequences without an error and drops sequence C)"}),
    (given(lengths=[5, 4, 3, 2], enforce_sorted=True), "lengths", {"got": "4", "torch_says": "but got 4"}),
    (given(lengths=[3, 2, -2]), "lengths", {"got": "-2 for sequence C", "torch_says": "all", "fix": "clamp(min=1)"}),
    (given(lengths=[3, 0, 2]), "lengths", {"got": "0 for sequence B"}),
    (given(lengths=[5, 2.9, 1.2]), "lengths", {"got": "2.9, 1.2 for sequences B and C (torch truncates them to [5, 2"}),
    *((given(lengths=lengths), "lengths", {"got": "torch converts them to ["}) for lengths in OTHER_INTEGERS),
    *((given(lengths=lengths), "lengths", {}) for lengths in NAN_LENGTHS),
    (given(lengths=ON_META, enforce_sorted=True), "lengths", {"got": "on meta", "fix": "lengths.cpu()"} | CPU_ONLY),
    (given(module=gru(batch_first=False)), "lengths", {"expected": "5 lengths, one for each", "fix": "batch_first"}),
    (given(torch.ones(T, F)), "x", {"fix": "x.unsqueeze(0)"}),
    (given(torch.ones(B, T)), "x", {"fix": "x.unsqueeze(-1)", "torch_says": "input must have 2 dimensions, got 1"}),
    (given(torch.ones(1, B, T, F)), "x", {"fix": "reshape it to that layout"}),
    (given(torch.ones(B, T, F).long()), "x", {"fix": "embed it first", "torch_says": "dtype (torch.int64) does not"}),
    (given(grid().double()), "x", {}),
    (given(torch.ones(B, T, F + 1)), "x", {"fix": f"input_size={F + 1}", "torch_says": "input_size. Expected 4, got"}),
    (given(torch.ones(B, 0, F)), "x", {"fix": "empty batch", "torch_says": "Cannot pack empty tensors."}),
    (given_packed(batch_sizes=torch.tensor([3, 1, 3, 2, 1])), "x.batch_sizes", {}),
    (given_packed(batch_sizes=torch.tensor([3, 3])), "x.batch_sizes", {}),
    (given_packed(sorted_indices=None), "x.sorted_indices", {}),
    (given_packed(sorted_indices=torch.tensor([1.0, 0, 2])), "x.sorted_indices", {}),
    *((given_packed(data=torch.zeros(10, *shape)), "x.data", {}) for shape in ((F, 1), (F + 1,))),
    *((given(hx=torch.zeros(*shape)), "hx", {"expected": "(1, 3, 6)"}) for shape in ((1, 2, H), (B, 1, H), (B, H))),
    (given(hx=torch.zeros(1, B, H).double()), "hx", {"expected": "h_0 in float32"}),
    *((given(hx=hx), "hx", {"expected": "one tensor h_0 for an nn.GRU"}) for hx in WRONG_KINDS),
    *((given(module=lstm(), hx=hx), "hx", {"expected": "a tuple (h_0, c_0)"}) for hx in WRONG_PAIRS),
    (given(module=lstm(proj_size=2), hx=(torch.zeros(1, B, 2),) * 2), "hx", {"expected": "c_0 of shape (1, 3, 6)"}),
]
REFUSED: list[tuple[Any, str, dict[str, str]]] = [
    *((given(lengths=lengths), "lengths", {}) for lengths in NO_LENGTHS),
    (given(lengths=None), "lengths", {"got": "every pad"}),
    (given(packed()), "lengths", {"expected": "None beside a PackedSequence"}),
    (given(module=nn.Linear(4, 4)), "module", {"fix": "nn.GRU("}),
    (given(module=nn.GRUCell(4, 4)), "module", {"fix": "give an nn.GRU;"}),
    (given(module=nn.GRU), "module", {"fix": "build one: nn.GRU(input_size, hidden_size)"}),
    (given(module=nn.Sequential(nn.Linear(4, 4), nn.LSTM(4, 4))), "module", {"fix": "module.1"}),
    (given(module=gru(device="meta")), "module", {"got": "on meta"}),
    (given([[1.0, 2.0]]), "x", {"fix": "torch.as_tensor"}),
    (given([torch.ones(3, F), torch.ones(2, F)]), "x", {"fix": "pad_sequence"}),
    (given(torch.ones(B, T, F).to_sparse()), "x", {"fix": "x.to_dense()"}),
    (given(torch.ones(B, T, F, device="meta")), "x", {"fix": "x.cpu()"}),
    (given_packed(batch_sizes=None), "x.batch_sizes", {}),
    (given_packed(unsorted_indices=[1, 0, 2]), "x.unsorted_indices", {}),
    *((given_packed(data=data), "x.data", {}) for data in (torch.zeros(10, F, device="meta"), None)),
    (given_packed(data=torch.tensor(1.0)), "x.batch_sizes", {}),
    *((given(total_length=width), "total_length", {"torch_says": f"={width} and max sequence"}) for width in (4, -1)),
    *((given(total_length=width), "total_length", {}) for width in (5.0, "9", True, [9])),
    *((given(padding_value=v), "padding_value", {}) for v in ("0", None, True, torch.tensor(0.0), 10**400, 3.5e38)),
]


@pytest.mark.parametrize(("made", "parameter", "parts"), JUDGED + REFUSED)
def test_what_cannot_be_run_is_refused_in_a_plain_sentence(made: Any, parameter: str, parts: dict[str, str]) -> None:
    module, x, lengths, options = made
    error = refusal(module, x, lengths, **options)
    assert error.parameter == parameter
    assert [field for field, part in parts.items() if part not in getattr(error, field)] == []
    assert str(error).startswith(f"{parameter}: expected ")
    assert str(error).endswith(".")
    assert "\n" not in str(error)


@pytest.mark.parametrize("made", [made for made, *_ in JUDGED])
def test_the_error_is_that_of_the_first_finding(made: Any) -> None:
    module, x, lengths, options = made
    findings = pv.examine(module, x, lengths, **options)
    first = next(finding.error for finding in findings if finding.error is not None)
    assert str(refusal(module, x, lengths, **options)) == str(first)
    found = findings[0].found
    assert set(re.findall(r"\d+", first.got.split(" (torch")[0])) <= set(re.findall(r"\d+", found))
    assert ("but got" in found, found[-1]) == (False, ".")  # it is a sentence of its own


@pytest.mark.parametrize("enforce_sorted", [False, True])
def test_what_torch_packs_without_an_error_is_told_with_the_refusal(enforce_sorted: bool) -> None:
    error = refusal(gru(), grid(), [6, 3, 2], enforce_sorted=enforce_sorted)
    assert error.expected == "lengths of at most T = 5"
    assert "6 for sequence A" in error.got
    torchs = pack_padded_sequence(grid(), torch.tensor([6, 3, 2]), True, enforce_sorted)  # no error
    assert f"{len(torchs.data)} rows" in error.got
    assert f"sum to {int(torchs.batch_sizes.sum())}" in error.got
    assert pack_padded_sequence(grid(), [3, 5], True, enforce_sorted=False).batch_sizes[0] == 2  # one is dropped
    assert pad_packed_sequence(pack_padded_sequence(grid(), torch.tensor([5, 2.9, 1.2]), True))[1].tolist() == [5, 2, 1]


def test_torch_is_not_asked_about_lstm_states_that_it_would_read_past() -> None:
    module, x = nn.LSTM(2, 64, batch_first=True), torch.randn(3, 3, 2)
    for state in (torch.zeros(1), torch.zeros(0), torch.zeros(1, 1, 1), torch.zeros(1, 3, 64, dtype=torch.float16)):
        assert "can crash the process" in refusal(module, x, [3, 3, 3], hx=(state, state)).got
