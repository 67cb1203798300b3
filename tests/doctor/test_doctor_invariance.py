"""check_invariance(): models in which padding or neighbours leak are found, and right ones are clean."""

import re
import threading
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
import torch
from doctor_cases import on_the_left, pack
from seeds import seeds
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence

import packviz as pv
from packviz import testing
from packviz.doctor.influence_picture import Checked

LENGTHS = [6, 9, 4, 7, 2]
B, T, F, H = len(LENGTHS), 9, 3, 4
Model = Callable[["Parts", Tensor, Any], object]


class Parts(nn.Module):
    """The layers that the models below run; the way they run them is a function."""

    def __init__(self, way: Model, **settings: Any) -> None:
        super().__init__()
        self.way = way
        cell = settings.pop("cell", nn.GRU)
        self.rnn = cell(F, H, **{"batch_first": True, **settings})
        self.embedding, self.score = nn.Embedding(20, F), nn.Linear(H, 1)
        self.second, self.norm = nn.LSTM(H, H, batch_first=True), nn.BatchNorm1d(F)
        self.strided, self.wide = nn.Conv1d(F, F, 2, stride=2), nn.Conv1d(F, F, 3, padding=1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # torch.jit.script is deprecated
            self.scripted = torch.jit.script(nn.BatchNorm1d(F))
            norm = nn.BatchNorm1d(F).eval()
            self.traced = torch.jit.trace(norm, torch.randn(2, F, 3))  # type: ignore[no-untyped-call]
        self.kept: Tensor | None = None

    def by_function(self, x: Tensor) -> Tensor:
        return nn.functional.batch_norm(x, self.norm.running_mean, self.norm.running_var, training=self.training)

    def forward(self, x: Tensor, lengths: Any) -> object:
        return self.way(self, x, torch.as_tensor(lengths))


def unpacked(rows: PackedSequence) -> Tensor:
    return pad_packed_sequence(rows, batch_first=True)[0]


def outputs(m: Parts, x: Tensor, lengths: Tensor) -> Tensor:
    return unpacked(m.rnn(pack(x, lengths))[0])


def in_order(m: Parts, x: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
    """Return h_n of the batch sorted by hand, and the order."""
    order = lengths.argsort(descending=True)
    return m.rnn(pack_padded_sequence(x[order], lengths[order], batch_first=True))[1][-1], order


def mask(x: Tensor, lengths: Tensor) -> Tensor:
    return (torch.arange(x.size(1)) < lengths[:, None]).unsqueeze(2)


def attended(m: Parts, x: Tensor, lengths: Tensor, *, masked: bool) -> Any:
    output = outputs(m, x, lengths)
    scores = m.score(output)
    if masked:
        scores = scores.masked_fill(~mask(output, lengths), float("-inf"))
    return (scores.softmax(1) * output).sum(1)


def carried(m: Parts, x: Tensor, lengths: Tensor) -> Tensor:
    output, m.kept = m.rnn(pack(x, lengths), m.kept if m.kept is not None and m.kept.size(1) == len(x) else None)
    return unpacked(output)


def over_time(part: Callable[[Parts], Any]) -> Model:
    return lambda m, x, n: m.rnn(pack(part(m)(x.transpose(1, 2)).transpose(1, 2), n))[1]


COUNTED = "Batch normalization counts the pads"
WRONG: dict[str, tuple[Model, dict[str, Any], str]] = {  # what is wrong, and a word of what is said of it
    "not packed": (lambda m, x, _: m.rnn(x)[1], {}, "reads pads"),
    "not packed, both ways": (lambda m, x, _: m.rnn(x)[0], {"bidirectional": True}, "reads pads"),
    "h_n.view": (lambda m, x, n: m.rnn(pack(x, n))[1].view(len(x), -1), {"bidirectional": True}, "Sequences are mixed"),
    "never unsorted": (lambda m, x, n: in_order(m, x, n)[0], {}, "another sequence: the batch was sorted"),
    "unsorted with sort_idx": (lambda m, x, n: in_order(m, x, n)[0][in_order(m, x, n)[1]], {}, "the batch was sorted"),
    "batch_first left out": (lambda m, x, _: m.rnn(x)[0][:, -1], {"batch_first": False}, "Sequences are mixed"),
    "batch_first left out, h_n": (lambda m, x, _: m.rnn(x)[1][-1], {"batch_first": False}, "in its shape"),
    "unpacked at once": (lambda m, x, n: m.second(outputs(m, x, n))[1], {}, "over it without packing"),
    "state carried over": (carried, {}, "keeps something"),
    "mean over all steps": (lambda m, x, n: outputs(m, x, n).mean(1), {}, "Steps after"),
    "maximum over all steps": (lambda m, x, n: outputs(m, x, n).amax(1), {}, "Steps after"),
    "output[:, -1]": (lambda m, x, n: outputs(m, x, n)[:, -1], {}, "read at its end"),
    "attention without mask": (lambda m, x, n: attended(m, x, n, masked=False), {}, "attended to"),
    "pads in batch statistics": (over_time(lambda m: m.norm), {}, COUNTED),
    "in those of a scripted normalization": (over_time(lambda m: m.scripted), {}, COUNTED),
    "in those of a traced one, whose mode is fixed": (over_time(lambda m: m.traced), {}, COUNTED),
    "in those of a function": (over_time(lambda m: m.by_function), {}, COUNTED),
    "convolution over pads": (over_time(lambda m: m.wide), {}, "other values in the pads"),
    "dropout in evaluation": (lambda m, x, n: nn.functional.dropout(m.rnn(pack(x, n))[1]), {}, "random numbers"),
    "a list, not packed": (lambda m, x, _: list(m.rnn(x)[1][-1]), {}, "reads pads"),
    "layers in a list, not packed": (lambda m, x, _: [m.rnn(x)[1][-1] * k for k in range(1, B + 1)], {}, "reads pads"),
    "loss over pads": (lambda m, x, _: m.rnn(x)[0].pow(2).mean(), {}, "more pads"),
}
RIGHT: dict[str, tuple[Model, dict[str, Any]]] = {
    "packed": (lambda m, x, n: m.rnn(pack(x, n)), {}),
    "RNN": (lambda m, x, n: m.rnn(pack(x, n)), {"cell": nn.RNN}),
    "LSTM, three layers, both ways": (
        lambda m, x, n: m.rnn(pack(x, n)),
        {"cell": nn.LSTM, "num_layers": 3, "bidirectional": True, "dropout": 0.5},
    ),
    "as a dict": (lambda m, x, n: dict(zip(("output", "state"), m.rnn(pack(x, n)), strict=True)), {}),
    "unpacked, with lengths": (lambda m, x, n: pad_packed_sequence(m.rnn(pack(x, n))[0], batch_first=True), {}),
    "in full width": (
        lambda m, x, n: pad_packed_sequence(m.rnn(pack(x, n))[0], batch_first=True, total_length=x.size(1))[0],
        {},
    ),
    "time first": (lambda m, x, n: pad_packed_sequence(m.rnn(pack(x, n))[0])[0], {}),
    "not packed, read at lengths - 1": (lambda m, x, n: m.rnn(x)[0][torch.arange(len(x)), n - 1], {}),
    "not packed, every output": (lambda m, x, _: m.rnn(x)[0], {}),
    "sorted and put back": (lambda m, x, n: in_order(m, x, n)[0][in_order(m, x, n)[1].argsort()], {}),
    "attention with mask": (lambda m, x, n: attended(m, x, n, masked=True), {}),
    "batch statistics of tokens": (
        lambda m, x, n: m.rnn(rows._replace(data=m.norm(rows.data)))[1] if (rows := pack(x, n)) else None,
        {},
    ),
    "convolution over masked x": (lambda m, x, n: over_time(lambda m: m.wide)(m, x * mask(x, n), n), {}),
    "strided convolution with its lengths": (
        lambda m, x, n: m.rnn(pack(m.strided(x.transpose(1, 2)).transpose(1, 2), n // 2)),
        {},
    ),
    "masked mean": (lambda m, x, n: (m.rnn(x)[0] * mask(x, n)).sum(1) / n[:, None], {}),
    "a list of every sequence's own": (
        lambda m, x, n: [row[:k] for row, k in zip(outputs(m, x, n), n.tolist(), strict=True)],
        {},
    ),
    "a list of as many layers as sequences": (lambda m, x, n: [outputs(m, x, n) * k for k in range(1, B + 1)], {}),
    "a list of final states": (lambda m, x, n: list(m.rnn(pack(x, n))[1][-1]), {}),
    "all tokens in one dimension": (lambda m, x, n: m.score(m.rnn(x)[0][mask(x, n)[:, :, 0]]), {}),
    "sparse": (lambda m, x, n: m.rnn(pack(x, n))[1].relu().to_sparse(), {}),
    "loss over tokens": (lambda m, x, n: m.rnn(pack(x, n))[0].data.pow(2).mean(), {}),
}


def batch(seed: int) -> Tensor:
    torch.manual_seed(seed)
    return torch.randn(B, T, F) * mask(torch.empty(B, T), torch.tensor(LENGTHS))


def checked(model: Any, x: Tensor, lengths: Any = LENGTHS, **told: Any) -> Checked:
    return pv.check_invariance(model, x, lengths, **{"batch_first": True, **told})


@pytest.mark.parametrize("name", WRONG)
def test_a_model_in_which_padding_or_neighbours_leak_is_found_and_told_why(name: str) -> None:
    way, settings, word = WRONG[name]
    for seed in seeds(3):
        x = batch(seed)
        found = checked(Parts(way, **settings), x)
        assert found.wrong, seed
        assert word in str(found), seed


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_model_is_clean(name: str) -> None:
    way, settings = RIGHT[name]
    for seed in seeds(2):
        x = batch(seed)
        found = checked(Parts(way, **settings), x)
        assert found == (), (seed, str(found))
    even = batch(0)[:3] * mask(torch.empty(3, T), torch.tensor([4, 4, 4]))  # of one length, in a wider grid
    assert checked(Parts(way, **settings), even, [4, 4, 4]) == ()


def test_left_padding_under_a_maximum_is_found() -> None:
    lengths, rnn = torch.tensor(LENGTHS), nn.GRU(F, H, batch_first=True)

    def maximum(m: nn.GRU, x: Tensor, _: Tensor) -> Any:
        return m(x)[0].amax(1)

    def repaired(m: nn.GRU, x: Tensor, lengths: Tensor) -> Tensor:
        shifted = torch.stack([row.roll(int(n) - len(row), 0) for row, n in zip(x, lengths, strict=True)])
        output = unpacked(m(pack(shifted, lengths))[0])
        return output.masked_fill(~mask(output, lengths), float("-inf")).amax(1)

    for seed in seeds(3):
        x = on_the_left(batch(seed), LENGTHS)
        assert "reads pads" in str(checked(rnn, x, lengths, padding_side="left", call=maximum).wrong)
        assert checked(rnn, x, lengths, padding_side="left", call=repaired) == ()
        with pytest.raises(pv.PackvizError, match="padding_side='left'"):
            checked(rnn, x, lengths, call=maximum)


def test_what_was_made_in_inference_mode_is_checked_and_left_as_it_was() -> None:
    with torch.inference_mode():
        model, x = Parts(WRONG["pads in batch statistics"][0]), batch(0)
    before = {name: value.clone() for name, value in model.state_dict().items()}
    found = checked(model, x)
    assert [one.key for one in found] == ["batch_norm_pads"]
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())
    with torch.inference_mode():
        assert checked(model, x) == found


def test_it_says_which_sequence_and_step_first_differ_and_by_how_much() -> None:
    def spoilt(x: Tensor, _: list[int]) -> Tensor:
        output = x.clone()
        if len(x) > 1:
            output[3, 5, 1] += 0.25
        return output

    alone, order = checked(spoilt, batch(0))  # row 3 is wrong, whose it may be
    assert (alone.key, alone.sequences, alone.timesteps) == ("alone_differs", (3,), (5,))
    assert (order.key, order.sequences, "output by up to 0.25" in alone.found) == ("order_differs", (3,), True)


def test_outputs_are_named_in_the_order_in_which_the_model_returns_them() -> None:
    names = "hgfedcba"
    found = checked(lambda x, _: {name: x.mean(1) for name in names}, batch(0))
    named = [re.findall(r"output\['(\w)'\]", one.found) for one in found]
    assert named == [[*names]] * 3


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
def test_rounding_is_no_difference_and_a_leak_is_one_in_every_dtype(dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    wide, lengths = nn.GRU(64, 96, 2, batch_first=True).to(dtype), torch.randint(1, 60, (24,))
    x = torch.randn(24, 60, 64, dtype=dtype) * mask(torch.empty(24, 60), lengths)
    right = checked(wide, x, lengths, call=lambda m, x, n: m(pack(x, n)))
    wrong = checked(wide, x, lengths, call=lambda m, x, _: m(x)[1])
    assert (right, bool(wrong.wrong)) == ((), True)


def test_other_layouts_and_sorted_lengths_are_checked_too() -> None:
    rnn, embedding, lengths = nn.LSTM(F, H), nn.Embedding(20, F, padding_idx=0), torch.tensor([5, 3, 2])
    ids = torch.tensor([[3, 9, 4, 7, 5], [8, 2, 6, 0, 0], [1, 9, 0, 0, 0]])

    def by_value(_: object, x: Tensor, _lengths: Tensor) -> object:
        return rnn(pack_padded_sequence(embedding(x), (x != 0).sum(0)))

    def from_left(_: object, x: Tensor, _lengths: Tensor) -> object:
        return (embedding(x) * (x != 0).unsqueeze(2)).cumsum(0)

    found = pv.check_invariance(rnn, ids.T, lengths, call=by_value)
    assert {"pads_differ"} == {one.key for one in found.wrong}
    assert "give padding_value" in str(found)
    (sorted_only,) = pv.check_invariance(rnn, ids.T, lengths, call=by_value, padding_value=0)
    assert (sorted_only.key, sorted_only.severity) == ("variation_fails", "note")
    assert "decreasing order" in sorted_only.found
    left, told = on_the_left(ids, [5, 3, 2]), dict[str, Any](padding_side="left", padding_value=0)
    assert pv.check_invariance(rnn, left.T, lengths, call=from_left, **told) == ()
    assert pv.check_invariance(rnn, left.T, lengths, call=lambda m, x, _: m(embedding(x) + 1)[1], **told).wrong


def test_a_result_that_loses_the_dimension_of_one_sequence_is_a_note() -> None:
    model = Parts(lambda m, x, n: m.rnn(pack(x, n))[1].squeeze())
    (note,) = checked(model, batch(0))
    assert (note.key, note.severity) == ("alone_fails", "note")
    assert "output is (4,)" in note.found


def test_the_model_and_the_random_numbers_are_as_before() -> None:
    model = Parts(carried, dropout=0.5, num_layers=2)
    model.norm.eval()
    before, x = {name: value.clone() for name, value in model.state_dict().items()}, batch(0)
    state, drawn = torch.get_rng_state(), str(np.random.get_state())
    checked(model, x)
    checked(model.forward, x)
    checked(lambda x, _: x + np.random.rand(), x)
    assert torch.equal(state, torch.get_rng_state())
    assert str(np.random.get_state()) == drawn
    assert (model.training, model.norm.training, model.kept) == (True, False, None)
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())


@pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated")
def test_a_scripted_model_and_complex_numbers_are_checked() -> None:
    scripted = torch.jit.script(nn.Sequential(nn.Linear(F, H), nn.Dropout()))
    found = checked(scripted, batch(0), call=lambda m, x, _: m(x).sum(1))
    assert ("alone_differs" in [one.key for one in found], scripted.training) == (True, True)
    right, wrong = (
        checked(lambda x, n, of=of: torch.complex(x[:, 0], of(x, n)), batch(0))
        for of in (lambda x, _: x[:, 1], lambda x, _: x.mean(1))
    )
    assert (right, bool(wrong.wrong)) == ((), True)


@pytest.mark.parametrize("lengths", [[2, 5], [5, 2], [2, 5, 4], [3, 9, 5, 4], [1, 2, 3]])
def test_another_order_is_another_one_for_every_batch(lengths: list[int]) -> None:
    x = batch(0)[: len(lengths), : max(lengths)] * mask(torch.empty(len(lengths), max(lengths)), torch.tensor(lengths))
    first = Parts(lambda _, x, _n: x[0].sum())
    assert "order_differs" in [one.key for one in checked(first, x, lengths).wrong]
    never_put_back = Parts(WRONG["never unsorted"][0])
    assert checked(never_put_back, x, lengths).wrong


def test_a_model_of_fixed_batch_size_is_compared_in_other_orders() -> None:
    def fixed(m: Parts, x: Tensor, n: Tensor) -> Tensor:
        return outputs(m, x, n).reshape(B, T * H).reshape(B, T, H)

    def constant(m: Parts, x: Tensor, _: Tensor) -> Tensor:
        return outputs(m, x.reshape(B, T, F), torch.tensor(LENGTHS))

    right, wrong = checked(Parts(fixed), batch(0)), checked(Parts(constant), batch(0))
    assert [one.key for one in right] == ["alone_fails", "alone_fails"][: len(right)]
    assert not right.wrong
    assert "order_differs" in [one.key for one in wrong.wrong]


def test_a_check_that_compared_nothing_fails() -> None:
    calls = iter(range(2))
    found = checked(lambda x, _: x[:, 0] + next(calls) * 0, batch(0))
    assert ("nothing_compared", "error") in [(one.key, one.severity) for one in found]
    calls = iter(range(2))
    with pytest.raises(AssertionError, match="Nothing could be compared"):
        testing.assert_invariant(lambda x, _: x[:, 0] + next(calls) * 0, batch(0), LENGTHS, batch_first=True)


def test_a_right_model_with_two_inputs_of_a_batch_is_not_called_wrong() -> None:
    lengths, other = [4, 2, 5], batch(1)[:3]
    x = batch(0)[:3, :5] * mask(torch.empty(3, 5), torch.tensor(lengths))

    def call(m: Parts, x: Tensor, n: Any) -> Tensor:
        both = m.rnn(pack(x, torch.as_tensor(n)))[1][-1], m.rnn(pack(other, torch.tensor([3, 9, 6])))[1][-1]
        return torch.cat(both, 1)

    found = checked(Parts(RIGHT["packed"][0]), x, lengths, call=call)
    assert [(one.key, one.severity) for one in found] == [("alone_fails", "note"), ("others_kept", "note")]
    assert "check_samples" in found[1].found
    wrong = checked(Parts(RIGHT["packed"][0]), x, lengths, call=lambda m, x, n: call(m, x, n) + x.mean((1, 2))[:, None])
    assert wrong.wrong


@pytest.mark.parametrize("other", [torch.randn(3, H), torch.randn(3, 1)])
def test_a_second_input_that_one_sequence_broadcasts_with_is_not_called_wrong(other: Tensor) -> None:
    lengths = [2, 5, 4]

    def call(m: Parts, x: Tensor, n: Any) -> Tensor:
        result: Tensor = m.rnn(pack(x, torch.as_tensor(n)))[1][-1] + other
        return result

    found = checked(Parts(RIGHT["packed"][0]), torch.randn(3, 5, F), lengths, call=call)
    assert [(one.key, one.severity) for one in found] == [("alone_fails", "note"), ("others_kept", "note")]
    whole = checked(lambda x, _: x.mean((0, 1)).new_ones(3), torch.randn(3, 5, F), lengths)  # as long as the batch
    assert whole == ()


def test_a_traced_model_with_fixed_lengths_is_wrong() -> None:
    rnn = nn.GRU(F, H, batch_first=True)

    class Fixed(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.rnn = rnn

        def forward(self, x: Tensor, lengths: Tensor) -> Tensor:
            return self.rnn(pack_padded_sequence(x, lengths.tolist(), True, enforce_sorted=False))[1][-1]  # type: ignore[no-any-return]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        traced = torch.jit.trace(Fixed(), (batch(0), torch.tensor(LENGTHS)))  # type: ignore[no-untyped-call]
    found = checked(traced, batch(0), torch.tensor(LENGTHS))
    assert "order_differs" in [one.key for one in found.wrong]
    notes = [one.found for one in found if one.key == "alone_fails"]
    assert notes
    assert "RuntimeError: index out of range" in notes[0]
    assert all("operation failed" not in one for one in notes)


def test_a_model_checked_in_several_threads_stays_in_training() -> None:
    model, seen, done = Parts(WRONG["pads in batch statistics"][0]), set[bool](), threading.Event()
    before = {name: value.clone() for name, value in model.state_dict().items()}

    def look() -> None:
        while not done.is_set():
            seen.update(one.training for one in (model, model.rnn))

    with ThreadPoolExecutor(5) as pool:
        looking = pool.submit(look)
        found = [*pool.map(lambda _: checked(model, batch(0)), range(8))]
        done.set()
        looking.result()
    assert {tuple(one.key for one in each) for each in found} == {("batch_norm_pads",)}
    assert seen == {True}
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())


def test_a_fill_value_does_not_hide_a_leak() -> None:
    def filled(_: object, x: Tensor, _n: Tensor) -> Tensor:
        means = x.mean((1, 2))
        return torch.stack([means, torch.full_like(means, -1e9)], 1)

    assert checked(Parts(filled), batch(0)).wrong


def test_the_cause_fits_the_pattern() -> None:
    def row(m: Parts, x: Tensor, n: Tensor) -> list[Tensor]:
        whole = torch.cat([one[:k] for one, k in zip(x, n.tolist(), strict=True)])
        return list(torch.split(m.rnn(whole[None])[0][0], n.tolist()))

    ones = Parts(lambda m, x, n: outputs(m, x, n).sum(1) / x.size(1))
    assert "The number of pads matters, not their values" in str(checked(ones, batch(0)))
    assert "a state or a mask runs over the borders" in str(checked(Parts(row), batch(0)))
    statistics = Parts(lambda _, x, n: (x * mask(x, n)) / (x * mask(x, n)).abs().max())
    assert "A sequence without pads differs, too" in str(checked(statistics, batch(0)))


def test_the_picture_shows_who_differs_in_another_batch_alone() -> None:
    found = checked(Parts(WRONG["output[:, -1]"][0]), batch(0))
    assert "another batch: A changes by" in found.svg()
    assert "another batch: B does not change" in found.svg()  # the longest
    assert "changed: A" not in found.svg()  # no sequence was given other values


@pytest.mark.parametrize(
    ("given", "told", "parameter"),
    [
        ((Parts, [1.0]), {}, "batch"),
        ((Parts, torch.zeros(T, B, F)), {}, "lengths"),
        ((Parts, torch.zeros(B, T, F), [*LENGTHS[1:], 0]), {}, "lengths"),
        ((Parts, torch.zeros(B, T, F).to_sparse()), {}, "batch"),
        ((Parts, torch.zeros(B, T, F, device="meta")), {}, "batch"),
        ((Parts, torch.zeros(1, T, F), [3]), {}, "batch"),
        ((None, torch.zeros(B, T, F)), {}, "model"),
        ((len, torch.zeros(B, T, F)), {"call": 5}, "call"),
        ((len, torch.zeros(B, T, F)), {"call": lambda *_: None}, "model"),
        ((len, torch.zeros(B, T, F)), {"call": lambda _, x, _n: x.to("meta")}, "model"),
        ((len, torch.zeros(B, T, F)), {"padding_side": "middle"}, "padding_side"),
        ((len, torch.zeros(B, T, F)), {"tolerance": float("nan")}, "tolerance"),
    ],
)
def test_what_cannot_be_checked_is_refused(given: Any, told: Any, parameter: str) -> None:
    with pytest.raises(pv.PackvizError) as refused:
        checked(*given, **told)
    assert refused.value.parameter == parameter


def test_a_model_that_takes_something_else_is_called_through_call() -> None:
    with pytest.raises(TypeError) as raised:
        checked(nn.Linear(F, H), batch(0))
    assert "give call=" in raised.value.__notes__[0]
    assert checked(nn.Linear(F, H), batch(0), call=lambda m, x, _: m(x)) == ()
