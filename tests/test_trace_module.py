import copy
import subprocess
import sys
import threading
from typing import Any, cast

import pytest
import torch
from torch import Tensor, nn
from torch.nn.utils import prune
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pack_sequence, pad_packed_sequence
from trace_cases import random_case

import packviz as pv
from packviz.compute.trace import trace_module
from packviz.compute.verify import distance, prove
from packviz.errors import PackvizError
from packviz.facts import compare
from packviz.facts.unit_arithmetic import unit_sum

B, T, F, H = 3, 5, 4, 6
LENGTHS = [3, 5, 2]


def gru(**settings: Any) -> nn.GRU:
    torch.manual_seed(0)
    return nn.GRU(F, H, **{"batch_first": True, **settings})


def lstm(**settings: Any) -> nn.LSTM:
    torch.manual_seed(0)
    return nn.LSTM(F, H, **{"batch_first": True, **settings})


def grid(*shape: int) -> Tensor:
    return torch.randn(*(shape or (B, T, F)), generator=torch.Generator().manual_seed(1))


def packed(**fields: Any) -> PackedSequence:
    whole = pack_padded_sequence(grid(), LENGTHS, batch_first=True, enforce_sorted=False)
    return whole._replace(**fields)


def refusal(*args: Any, **settings: Any) -> PackvizError:
    with pytest.raises(PackvizError) as raised:
        trace_module(*args, **settings)
    return raised.value


# What it returns


def test_a_padded_tensor_and_its_packed_sequence_give_the_same_record() -> None:
    padded, given = trace_module(gru(), grid(), LENGTHS), trace_module(gru(), packed())
    assert padded.exact
    assert given.exact
    for name in ("output", "h_n"):
        assert torch.equal(getattr(padded, name), getattr(given, name))
    for name in ("data", "batch_sizes", "sequence", "timestep"):
        assert torch.equal(getattr(padded.packed, name), getattr(given.packed, name))
    assert given.padded.lengths.tolist() == LENGTHS
    assert torch.equal(given.padded.mask, padded.padded.mask)
    assert torch.equal(given.padded.values, padded.padded.values * padded.padded.mask.unsqueeze(-1))


def test_a_packed_sequence_without_indices_is_in_order_already() -> None:
    t = trace_module(gru(), pack_sequence([grid(4, F), grid(2, F)]))
    assert t.exact
    assert t.sorted.sorted_indices is None
    assert t.packed.sequence.tolist() == [0, 1, 0, 1, 0, 0]


def test_a_foreign_order_of_equal_lengths_is_kept() -> None:
    order = torch.tensor([1, 2, 0])
    given = PackedSequence(grid(6, F), torch.tensor([3, 3]), order, order.argsort())
    t = trace_module(gru(), given, hx=grid(1, 3, H))
    assert t.exact
    assert t.sorted.order.tolist() == [1, 2, 0]


def test_batch_and_config_are_none_and_the_module_is_the_users_own() -> None:
    module = gru()
    t = trace_module(module, grid(), LENGTHS, padding_value=-1, total_length=7)
    assert t.batch is None
    assert t.config is None
    assert type(t.module) is nn.GRU
    assert all(torch.equal(weight, module.state_dict()[name]) for name, weight in t.module.state_dict().items())
    assert (t.padding_value, t.total_length) == (-1.0, 7)
    assert t.unpacked.output.shape == (B, 7, H)
    assert (t.unpacked.output[0, 3:] == -1).all()


@pytest.mark.parametrize(
    "lengths", [LENGTHS, tuple(LENGTHS), torch.tensor(LENGTHS), torch.tensor(LENGTHS, dtype=torch.int32)], ids=str
)
def test_lengths_come_in_whatever_torch_takes(lengths: Any) -> None:
    assert trace_module(gru(), grid(), lengths).padded.lengths.tolist() == LENGTHS


def test_lengths_may_be_a_numpy_array() -> None:
    assert trace_module(gru(), grid(), torch.tensor(LENGTHS).numpy()).exact  # type: ignore[arg-type]


def test_the_initial_state_is_given_and_returned_in_the_order_of_x() -> None:
    h_0, c_0 = grid(2, B, H), grid(2, B, H) * 2
    t = trace_module(lstm(num_layers=2), grid(), LENGTHS, hx=(h_0, c_0))
    assert torch.equal(t.h_0, h_0)
    assert distance(t.c_0, c_0) == distance(t.layers[1][0].c_0, c_0[1]) == 0
    alone = trace_module(lstm(num_layers=2), grid()[1:2], [5], hx=(h_0[:, 1:2].clone(), c_0[:, 1:2].clone()))
    torch.testing.assert_close(t.h_n[:, 1:2], alone.h_n)


def test_a_projection_is_traced() -> None:
    t = trace_module(lstm(proj_size=2, bidirectional=True), grid(), LENGTHS)
    assert t.exact
    assert t.output.shape == (sum(LENGTHS), 4)
    assert t.h_n.shape == (2, B, 2)
    assert t.c_n is not None
    assert t.c_n.shape == (2, B, H)


def test_dropout_is_switched_off_and_said_so() -> None:
    module = gru(num_layers=2, dropout=0.5).train()
    t = trace_module(module, grid(), LENGTHS)
    assert t.notes == ("dropout 0.5 between layers is switched off, as in evaluation",)
    assert t.exact
    assert module.training
    assert torch.equal(t.output, trace_module(module, grid(), LENGTHS).output)


def test_columns_that_no_length_reaches_are_named() -> None:
    t = trace_module(gru(), grid(), [3, 2, 1])
    assert t.notes == ("x has 5 time steps, the longest length is 3: the columns after it are not packed",)
    assert t.unpacked.output.shape == (B, 3, H)
    assert t.exact


def test_unsorted_lengths_where_they_must_be_sorted_are_recorded_as_torchs_refusal() -> None:
    t = trace_module(gru(), grid(), LENGTHS, enforce_sorted=True)
    assert str(t.error).startswith("`lengths` array must be sorted in decreasing order")
    assert t.padded.lengths.tolist() == LENGTHS
    with pytest.raises(PackvizError, match="enforce_sorted=False"):
        t.output  # noqa: B018


@pytest.mark.parametrize("where", ["valid", "pad"])
@pytest.mark.parametrize("what", [float("nan"), float("inf")])
def test_nan_and_infinity_run_through_and_are_exact(where: str, what: float) -> None:
    x = grid()
    x[0, 1 if where == "valid" else 4] = what
    for module in (gru(), lstm(bidirectional=True), nn.RNN(F, H, nonlinearity="relu", batch_first=True)):
        t = trace_module(module, x, LENGTHS)
        assert t.exact, t.proof
        if what != what:
            assert bool(t.output.isnan().any()) == (where == "valid")


@pytest.mark.parametrize("padding_value", [float("nan"), float("inf")])
def test_the_filler_of_the_unpacked_output_may_be_nan(padding_value: float) -> None:
    assert trace_module(gru(), grid(), LENGTHS, padding_value=padding_value).exact


# What it leaves alone


class Named(nn.GRU):
    """A subclass that torch runs as its own GRU."""


class Twice(nn.GRU):
    def forward(self, x: Any, hx: Any = None) -> Any:
        return super().forward(2 * x, hx)


def test_a_subclass_without_a_forward_of_its_own_is_run_as_torchs_module() -> None:
    torch.manual_seed(0)
    t = trace_module(Named(F, H, batch_first=True), grid(), LENGTHS)
    assert t.exact
    assert torch.equal(t.output, trace_module(gru(), grid(), LENGTHS).output)


def test_a_forward_of_its_own_is_refused() -> None:
    patched = gru()
    patched.forward = lambda x: (x, x)  # type: ignore[method-assign, assignment]
    for module in (Twice(F, H, batch_first=True), patched):
        with pytest.raises(PackvizError, match="a forward of its own"):
            trace_module(module, grid(), LENGTHS)


def test_hooks_that_are_not_called_are_named() -> None:
    module = gru()
    assert trace_module(module, grid(), LENGTHS).notes == ()
    module.register_forward_pre_hook(lambda *_: None)
    module.register_forward_hook(lambda *_: None)
    (note,) = trace_module(module, grid(), LENGTHS).notes
    assert note.startswith("2 forward hooks of the module: not called")


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


def test_input_state_and_lengths_are_left_as_they_were() -> None:
    x, lengths, hx = grid().requires_grad_(), torch.tensor(LENGTHS), grid(1, B, H)
    t = trace_module(gru(), x, lengths, hx=hx)
    assert x._version == lengths._version == hx._version == 0
    assert not t.output.requires_grad
    assert not t.padded.values.requires_grad


def test_a_later_change_of_the_input_does_not_reach_the_record() -> None:
    x, lengths, hx = grid(), torch.tensor(LENGTHS), grid(1, B, H)
    given = packed()
    from_grid, from_packed = trace_module(gru(), x, lengths, hx=hx), trace_module(gru(), given, hx=hx)
    kept = from_grid.packed.data.clone(), from_grid.padded.values.clone(), from_grid.h_0.clone()
    for tensor in (x, lengths, hx, *given):
        assert tensor is not None
        tensor.zero_()
    assert torch.equal(from_grid.packed.data, kept[0])
    assert torch.equal(from_grid.padded.values, kept[1])
    assert torch.equal(from_grid.h_0, kept[2])
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
    shown = unit_sum(t, 3, 1, layer=1).gates[0].terms[0]
    assert shown.weight == float(kept["weight_ih_l1"][1, 0])
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
        runs = [
            trace_module(lstm(), grid().bfloat16(), LENGTHS),
            trace_module(lstm(), packed()._replace(data=packed().data.bfloat16())),
        ]
    for t in runs:
        assert torch.equal(t.output, want.output)
        assert [note for note in t.notes if "autocast" in note]
    with pytest.raises(PackvizError):
        trace_module(lstm(), grid().bfloat16(), LENGTHS)


def test_a_module_without_one_of_its_weights_is_refused() -> None:
    module = gru()
    del module.weight_hh_l0
    with pytest.raises(PackvizError, match="weights that do not fit"):
        trace_module(module, grid(), LENGTHS)


def test_threads_share_one_module() -> None:
    cases = [random_case(seed) for seed in range(24)]
    exact: list[bool] = []

    def run(first: int) -> None:
        for case in cases[first::6]:
            t = trace_module(case.module, case.x, case.lengths, enforce_sorted=case.enforce_sorted, hx=case.hx)
            exact.append(t.exact)

    onednn = torch.backends.mkldnn.enabled
    threads = [threading.Thread(target=run, args=(first % 6,)) for first in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert exact == [True] * 48
    assert torch.backends.mkldnn.enabled == onednn


# Lengths


@pytest.mark.parametrize("enforce_sorted", [False, True])
def test_lengths_longer_than_T_are_refused_because_torch_packs_nonsense(enforce_sorted: bool) -> None:
    error = refusal(gru(), grid(), [6, 3, 2], enforce_sorted=enforce_sorted)
    assert error.expected == "lengths of at most T = 5"
    assert "6 for sequence A" in error.came
    torchs = pack_padded_sequence(grid(), torch.tensor([6, 3, 2]), True, enforce_sorted)  # no error
    assert f"{len(torchs.data)} rows" in error.came
    assert f"sum to {int(torchs.batch_sizes.sum())}" in error.came


def test_fewer_lengths_than_sequences_are_refused_because_torch_drops_the_others() -> None:
    error = refusal(gru(), grid(), [3, 5])
    assert error.expected == "3 lengths, one for each sequence"
    assert error.came == "2 (torch packs 2 sequences without an error and drops sequence C)"
    assert error.torch_says is None
    assert pack_padded_sequence(grid(), [3, 5], True, enforce_sorted=False).batch_sizes[0] == 2  # no error


def test_fewer_sorted_lengths_are_refused_with_torchs_message() -> None:
    assert refusal(gru(), grid(), [5, 3], enforce_sorted=True).torch_says == (
        "Expected `len(lengths)` to be equal to batch_size, but got 2 (batch_size=3)"
    )


@pytest.mark.parametrize("enforce_sorted", [False, True])
def test_more_lengths_than_sequences_are_refused_with_torchs_message(enforce_sorted: bool) -> None:
    error = refusal(gru(), grid(), [5, 4, 3, 2], enforce_sorted=enforce_sorted)
    assert error.came == "4"
    assert error.torch_says


@pytest.mark.parametrize("enforce_sorted", [False, True])
@pytest.mark.parametrize("length", [0, -2])
def test_lengths_below_one_are_refused_with_torchs_message(length: int, enforce_sorted: bool) -> None:
    error = refusal(gru(), grid(), [3, 2, length], enforce_sorted=enforce_sorted)
    assert error.came == f"{length} for sequence C"
    assert str(error.torch_says).startswith("Length of all samples has to be greater than 0")
    assert "clamp(min=1)" in error.mend


@pytest.mark.parametrize("lengths", [[5, 2.9, 1.2], torch.tensor([5, 2.9, 1.2])])
def test_broken_lengths_are_refused_because_torch_cuts_them_silently(lengths: Any) -> None:
    error = refusal(gru(), grid(), lengths)
    assert error.came == "2.9, 1.2 for sequences B and C (torch truncates them to [5, 2, 1] without an error)"
    torchs = pack_padded_sequence(grid(), lengths, True)  # no error
    assert pad_packed_sequence(torchs)[1].tolist() == [5, 2, 1]


@pytest.mark.parametrize(
    "lengths",
    [[3.0, 5.0, 2.0], torch.tensor([3.0, 5.0, 2.0]), [True, True, True], torch.tensor([True] * 3)],
)
def test_lengths_of_another_kind_than_whole_numbers_are_refused(lengths: Any) -> None:
    assert "torch converts them to [" in refusal(gru(), grid(), lengths).came


@pytest.mark.parametrize(
    "lengths", ["3 5 2", {3, 5, 2}, [[3], [5, 2]], [3, None, 2], [2**70, 1, 1], [3, 5, 1j], object(), 1.5, 3]
)
def test_lengths_that_are_no_lengths_are_refused(lengths: Any) -> None:
    assert refusal(gru(), grid(), lengths).parameter == "lengths"


def test_two_dimensional_lengths_are_refused_with_torchs_message() -> None:
    error = refusal(gru(), grid(), torch.tensor([[3], [5], [2]]), enforce_sorted=True)
    assert error.came == "an int64 tensor of shape (3, 1)"
    assert "but got 2D cpu Long tensor" in str(error.torch_says)
    assert error.mend == "give 3 lengths in one row"


def test_lengths_on_another_device_are_refused_with_torchs_message() -> None:
    error = refusal(gru(), grid(), torch.ones(3, dtype=torch.int64, device="meta"), enforce_sorted=True)
    assert error.came.endswith("on meta")
    assert "1D CPU int64 tensor" in str(error.torch_says)
    assert error.mend == "copy it with lengths.cpu()"


def test_a_padded_tensor_needs_lengths() -> None:
    assert "every pad" in refusal(gru(), grid()).came


def test_a_packed_sequence_has_its_own_lengths() -> None:
    assert refusal(gru(), packed(), LENGTHS).expected == "None beside a PackedSequence"


def test_no_lengths_at_all_are_refused() -> None:
    assert refusal(gru(), grid(), []).came == "0"


# The module


@pytest.mark.parametrize(
    ("module", "hint"),
    [
        (nn.Linear(4, 4), "nn.GRU("),
        (nn.GRUCell(4, 4), "give an nn.GRU;"),
        (nn.GRU, "build one: nn.GRU(input_size, hidden_size)"),
        (nn.Sequential(nn.Linear(4, 4), nn.LSTM(4, 4)), "module.1"),
        (None, "nn.GRU("),
        ("gru", "nn.GRU("),
    ],
)
def test_anything_else_than_a_recurrent_module_is_refused(module: object, hint: str) -> None:
    error = refusal(module, grid(), LENGTHS)
    assert error.parameter == "module"
    assert hint in error.mend


def test_a_module_on_another_device_is_refused() -> None:
    assert "on meta" in refusal(gru(device="meta"), grid(), LENGTHS).came


def test_a_module_of_two_dtypes_is_refused() -> None:
    module = gru()
    module.bias_hh_l0 = nn.Parameter(module.state_dict()["bias_hh_l0"].double())
    assert "float32 and float64" in refusal(module, grid(), LENGTHS).came


def test_half_precision_modules_are_traced() -> None:
    t = trace_module(gru(dtype=torch.bfloat16), grid().bfloat16(), LENGTHS)
    assert t.output.dtype == torch.bfloat16
    assert max(t.proof.values()) < 0.05


# x


@pytest.mark.parametrize(
    ("x", "hint"),
    [
        ([[1.0, 2.0]], "torch.as_tensor"),
        ([torch.ones(3, F), torch.ones(2, F)], "pad_sequence"),
        (torch.ones(B, T, F).numpy(), "torch.as_tensor"),
        (torch.ones(T, F), "x.unsqueeze(0)"),
        (torch.ones(B, T), "x.unsqueeze(-1)"),
        (torch.ones(B), "three dimensions"),
        (torch.ones(1, B, T, F), "three dimensions"),
        (torch.ones(B, T, F).to_sparse(), "x.to_dense()"),
        (torch.ones(B, T, F, device="meta"), "x.cpu()"),
        (torch.ones(B, T, F).double(), "x.to(torch.float32)"),
        (torch.ones(B, T, F).long(), "embed it first"),
        (torch.ones(B, T, F + 1), f"input_size={F + 1}"),
        (torch.ones(0, T, F), "empty batch"),
        (torch.ones(B, 0, F), "empty batch"),
        (None, "torch.as_tensor"),
    ],
)
def test_an_x_that_the_module_cannot_run_is_refused(x: object, hint: str) -> None:
    error = refusal(gru(), x, LENGTHS)
    assert error.parameter == "x"
    assert hint in error.mend


@pytest.mark.filterwarnings("ignore")  # torch announces that both kinds may change or go
def test_quantized_and_nested_tensors_are_refused() -> None:
    quantized = torch.quantize_per_tensor(torch.ones(B, T, F), 0.1, 0, torch.qint8)
    assert "dequantize" in refusal(gru(), quantized, LENGTHS).mend
    nested = torch.nested.nested_tensor([torch.ones(3, F), torch.ones(2, F)])
    assert "to_padded_tensor" in refusal(gru(), nested, [3, 2]).mend


@pytest.mark.parametrize(
    ("x", "says"),
    [
        (torch.ones(B, T, F).double(), "RNN input dtype (torch.float64) does not match weight dtype (torch.float32)"),
        (torch.ones(B, T, F).long(), "RNN input dtype (torch.int64) does not match weight dtype (torch.float32)"),
        (torch.ones(B, T, F + 1), "input.size(-1) must be equal to input_size. Expected 4, got 5"),
        (torch.ones(B, 0, F), "Cannot pack empty tensors."),
        (torch.ones(B, T), "input must have 2 dimensions, got 1"),
        (torch.ones(B, T, F, 1), "input must have 2 dimensions, got 3"),
    ],
)
def test_torchs_own_words_about_x_are_quoted(x: Tensor, says: str) -> None:
    assert str(refusal(gru(), x, LENGTHS).torch_says).startswith(says)


def test_a_grid_laid_out_the_other_way_round_is_found_by_its_lengths() -> None:
    error = refusal(gru(batch_first=False), grid(), LENGTHS)
    assert error.expected == "5 lengths, one for each sequence"
    assert "batch_first" in error.mend


# hx


@pytest.mark.parametrize(
    ("hx", "expected"),
    [
        (torch.zeros(1, 2, H), "h_0 of shape (1, 3, 6)"),
        (torch.zeros(1, 4, H), "h_0 of shape (1, 3, 6)"),
        (torch.zeros(B, 1, H), "h_0 of shape (1, 3, 6)"),
        (torch.zeros(B, H), "h_0 of shape (1, 3, 6)"),
        (torch.zeros(1, B, H).double(), "h_0 in float32"),
        (torch.zeros(1, B, H, device="meta"), "h_0 as a dense tensor on the CPU"),
        ((torch.zeros(1, B, H), torch.zeros(1, B, H)), "one tensor h_0 for a GRU"),
        (0, "one tensor h_0 for a GRU"),
    ],
)
def test_a_state_that_does_not_fit_a_gru_is_refused(hx: object, expected: str) -> None:
    error = refusal(gru(), grid(), LENGTHS, hx=hx)
    assert error.parameter == "hx"
    assert error.expected.startswith(expected)


@pytest.mark.parametrize(
    ("hx", "expected"),
    [
        (torch.zeros(1, B, 2), "a tuple (h_0, c_0)"),
        ((torch.zeros(1, B, 2),), "a tuple (h_0, c_0)"),
        ((torch.zeros(1, B, 2), None), "a tuple (h_0, c_0)"),
        ((torch.zeros(1, B, H), torch.zeros(1, B, H)), "h_0 of shape (1, 3, 2)"),
        ((torch.zeros(1, B, 2), torch.zeros(1, B, 2)), "c_0 of shape (1, 3, 6)"),
    ],
)
def test_a_state_that_does_not_fit_a_projected_lstm_is_refused(hx: object, expected: str) -> None:
    assert refusal(lstm(proj_size=2), grid(), LENGTHS, hx=hx).expected.startswith(expected)


def test_torchs_own_words_about_the_state_are_quoted() -> None:
    sorted_lengths = refusal(gru(), grid(), [5, 3, 2], enforce_sorted=True, hx=torch.zeros(1, 2, H))
    assert sorted_lengths.torch_says == "Expected hidden size (1, 3, 6), got [1, 2, 6]"
    assert "out of DATA bounds" in str(refusal(gru(), grid(), LENGTHS, hx=torch.zeros(1, 2, H)).torch_says)
    assert refusal(gru(), grid(), LENGTHS, hx=torch.zeros(1, 4, H)).torch_says is None  # it takes the first three rows


# A PackedSequence from outside

BAD_BATCH_SIZES = {
    "zero": [3, 0, 2],
    "negative": [3, -1],
    "growing": [3, 1, 3],
    "empty": [],
    "too few": [3, 3, 1],
    "too many": [3, 3, 3, 3],
}


@pytest.mark.parametrize("sizes", BAD_BATCH_SIZES.values(), ids=BAD_BATCH_SIZES)
def test_batch_sizes_that_can_abort_the_process_are_refused(sizes: list[int]) -> None:
    error = refusal(gru(), PackedSequence(grid(10, F), torch.tensor(sizes, dtype=torch.int64)))
    assert error.parameter == "x.batch_sizes"
    if sizes == sorted(sizes, reverse=True) and sizes and min(sizes) > 0:  # only their sum is wrong
        assert error.came.startswith(f"a sum of {sum(sizes)}")
    else:
        assert "abort" in error.came


@pytest.mark.parametrize(
    "batch_sizes",
    [
        torch.tensor([3.0, 3, 2, 1, 1]),
        torch.tensor([3, 3, 2, 1, 1], dtype=torch.int32),
        torch.tensor([[10]]),
        [3, 3, 2, 1, 1],
        None,
    ],
    ids=str,
)
def test_batch_sizes_are_one_dimensional_int64(batch_sizes: object) -> None:
    error = refusal(gru(), packed(batch_sizes=batch_sizes))
    assert error.expected == "a 1-D int64 tensor on the CPU"


def test_no_bad_packed_sequence_reaches_torch() -> None:
    code = (
        "import torch, packviz; from torch.nn.utils.rnn import PackedSequence\n"
        f"for sizes in {[*BAD_BATCH_SIZES.values(), [4, 1, 2, 1]]}:\n"
        "    for rows in (0, 1, 5, 8, 10):\n"
        "        packed = PackedSequence(torch.randn(rows, 4), torch.tensor(sizes))\n"
        "        try: packviz.trace_module(torch.nn.GRU(4, 6), packed)\n"
        "        except packviz.PackvizError: print('refused')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.count("refused")) == (0, 35), done.stderr


@pytest.mark.parametrize(
    ("fields", "parameter"),
    [
        ({"sorted_indices": None}, "x.sorted_indices"),
        ({"unsorted_indices": None}, "x.unsorted_indices"),
        ({"sorted_indices": torch.tensor([1, 0])}, "x.sorted_indices"),
        ({"sorted_indices": torch.tensor([1, 0, 0])}, "x.sorted_indices"),
        ({"sorted_indices": torch.tensor([1, 0, 3])}, "x.sorted_indices"),
        ({"sorted_indices": torch.tensor([1, 0, -1])}, "x.sorted_indices"),
        ({"sorted_indices": torch.tensor([1.0, 0, 2])}, "x.sorted_indices"),
        ({"unsorted_indices": torch.tensor([0, 1, 2])}, "x.unsorted_indices"),
        ({"unsorted_indices": [1, 0, 2]}, "x.unsorted_indices"),
        ({"data": torch.zeros(10)}, "x.data"),
        ({"data": torch.zeros(10, F, 1)}, "x.data"),
        ({"data": torch.zeros(10, F + 1)}, "x.data"),
        ({"data": torch.zeros(10, F).double()}, "x.data"),
        ({"data": torch.zeros(10, F, device="meta")}, "x.data"),
        ({"data": None}, "x.data"),
        ({"data": torch.tensor(1.0)}, "x.batch_sizes"),
    ],
    ids=str,
)
def test_fields_that_do_not_fit_each_other_are_refused(fields: dict[str, object], parameter: str) -> None:
    assert refusal(gru(), packed(**fields)).parameter == parameter


def test_a_packed_sequence_without_features_is_told_how_to_get_them() -> None:
    assert "unsqueeze" in refusal(gru(), pack_sequence([torch.ones(3), torch.ones(2)])).mend


# The unpacked output


@pytest.mark.parametrize("total_length", [4, 0, -1])
def test_a_total_length_that_is_too_small_is_refused_with_torchs_message(total_length: int) -> None:
    error = refusal(gru(), grid(), LENGTHS, total_length=total_length)
    assert f"got total_length={total_length} and max sequence length being 5" in str(error.torch_says)


@pytest.mark.parametrize("total_length", [5.0, "9", True, [9]])
def test_a_total_length_is_a_whole_number(total_length: object) -> None:
    assert refusal(gru(), grid(), LENGTHS, total_length=total_length).parameter == "total_length"


@pytest.mark.parametrize("padding_value", ["0", None, True, torch.tensor(0.0), 10**400, 3.5e38])
def test_a_padding_value_is_a_number(padding_value: object) -> None:
    assert refusal(gru(), grid(), LENGTHS, padding_value=padding_value).parameter == "padding_value"


def test_every_refusal_is_one_or_two_plain_sentences() -> None:
    for error in (refusal(gru(), grid(), [6, 3, 2]), refusal(gru(), grid(), [3, 5]), refusal(None, grid())):
        assert str(error).startswith(f"{error.parameter}: expected ")
        assert str(error).endswith(".")
        assert "\n" not in str(error)


@pytest.mark.parametrize(
    ("given", "options"),
    [
        ((grid(), [6, 3, 2]), {}),
        ((grid(), [3, 5]), {}),
        ((grid(), [3, 0, 2]), {}),
        ((grid(), [3, 2.5, 2]), {}),
        ((grid().transpose(0, 1), LENGTHS), {}),
        ((grid().double(), LENGTHS), {}),
        ((grid()[..., 0], LENGTHS), {}),
        ((torch.ones(B, 0, F), LENGTHS), {}),
        ((packed(batch_sizes=torch.tensor([3, 1, 3, 2, 1])),), {}),
        ((packed(batch_sizes=torch.tensor([3, 3])),), {}),
        ((packed(sorted_indices=None),), {}),
        ((packed(data=torch.zeros(10, F + 1)),), {}),
        ((grid(), LENGTHS), {"hx": torch.zeros(1, 2, H)}),
        ((packed(),), {"hx": (torch.zeros(1, B, H),)}),
    ],
)
@pytest.mark.parametrize("module", [gru(), lstm()], ids=["GRU", "LSTM"])
def test_the_error_is_that_of_the_first_finding(module: nn.RNNBase, given: Any, options: Any) -> None:
    findings = pv.examine(module, *given, enforce_sorted=False, **options)
    first = next(finding.error for finding in findings if finding.error is not None)
    assert str(refusal(module, *given, **options)) == str(first)
    assert first.came.split(" (torch")[0] in findings[0].found
