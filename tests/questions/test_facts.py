"""The facts behind the entries, torch as the judge: verdicts on other batches, of a torch that differs."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, cast

import pytest
import torch
from entry_cases import ALL, UNEVEN, asked, changed, key_of, told, typed
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pack_sequence, pad_packed_sequence, pad_sequence

from packviz.teach.questions import running
from packviz.teach.questions.panels import numbers
from packviz.teach.questions.running import FAILED, OTHERWISE

EQUAL = "1 2 3\n4 5 6\n7 8 9"


@pytest.mark.parametrize(("key", "batch", "verdict"), [
    ("time-major", "3\n5\n7", "true"),  # one token each: in time is one after the other
    ("batch-sizes-are-not-lengths", "1 2 3\n4 5\n6", "true"),  # 3, 2, 1 by chance
    ("len-of-packed", "1 2\n3\n4 5 6\n7 8", "depends"),  # four sequences
    ("must-be-sorted", "1 2 3\n4 5\n6", "false"),
    ("only-not-checked", "1 2 3\n4 5\n6", "true"),
    ("unsorted-indices", "1\n2 3", "true"),  # two rows change places: their own inverse
    ("longest-column", "7\n1 2 3 4\n5 6", "false"),  # the first sequence is not the longest
    ("zero-is-an-id", "4 0 6 8\n0 2 9\n3 0", "false"),
    ("lengths-too-small", "1 2 3\n4", "true"),  # a length that becomes 0 is noticed
    ("empty-batch", "1 2 3 4\n5\n6", "depends"),  # there is one longer than 3
    ("no-feature-axis", "5", "depends"),  # the LSTM takes one number for one feature
    ("last-column", EQUAL, "true"),
    ("bidirectional-last-output", "1\n-2\n3", "true"),  # one token is the whole sequence
    ("bidirectional-zero-padding", EQUAL, "true"),
    ("batch-dependence", EQUAL, "true"),
    ("carry-state", "1 2 3\n1 2 3", "depends"),
    ("left-padding-packed", EQUAL, "true"),
    ("zeros-at-the-pads", "1 2\n3\n4 5 6 7", "depends"),
    ("packing-or-ignore-index", "1 2\n3 4\n5 7", "true"),
    ("three-means", "1 2\n3 4", "true"),
    ("three-means", "2 2 2\n2", "depends"),
    ("three-means", "1\n2 3", "false"),
    ("inverse", EQUAL, "depends"),  # only the wider T is lost
    ("packed-into-data-parallel", "1 2\n3 4", "depends"),  # a half ends with a time step
    ("worth-it", EQUAL, "false"),
    ("gradient-of-a-pad", EQUAL, "false"),  # there is none
    ("gradient-enters", EQUAL, "true"),
    ("nested-tensor", "1 2 3", "depends"),  # one sequence lies alike in both
], ids=key_of)  # fmt: skip
def test_another_batch_gives_the_verdict_of_that_batch(key: str, batch: str, verdict: str) -> None:
    assert asked(key, batch).verdict == verdict


@pytest.mark.parametrize("lengths", UNEVEN, ids=str)
@pytest.mark.parametrize("key", ["why-pack", "must-i-pack", "is-padding-bad", "still-need-a-mask", "how-to-unpack"])
def test_the_first_questions_have_the_same_answer_for_every_uneven_batch(key: str, lengths: list[int]) -> None:
    batch = typed(sorted(lengths, reverse=True))  # some programs pack with enforce_sorted=True
    assert asked(key, batch).cases == asked(key).cases


@pytest.mark.parametrize("key", ["why-pack", "must-i-pack"])
def test_nothing_differs_where_nothing_is_padded(key: str) -> None:
    done = asked(key, EQUAL)
    assert all(done.cases.values())
    assert done.explanation == OTHERWISE


@pytest.mark.parametrize(("key", "settings", "verdict"), [
    ("output-or-h-n", {"num_layers": 1}, "true"),
    ("order-of-h-n", {"num_layers": 1}, "true"),
    ("packing-or-ignore-index", {"bidirectional": True}, "false"),
    ("bidirectional-last-output", {"hidden_size": 3, "seed": 5}, "depends"),
    ("batch-first-of-h-n", {"num_layers": 3, "bidirectional": True}, "false"),
], ids=key_of)  # fmt: skip
def test_other_settings_give_the_verdict_of_those(key: str, settings: dict[str, Any], verdict: str) -> None:
    assert asked(key, **settings).verdict == verdict


@pytest.mark.parametrize(("key", "program", "old", "new", "verdict"), [
    ("unsort-by-hand", "right", "h_n[0]", "h_n[0, packed.sorted_indices]", "depends"),
    ("batch-sizes-counted", "right", "", "[2, 2], [2, 1]", "depends"),
    ("reversed-input", "wrong", "_, h_n", ALL["reversed-input"].right.partition("_, h_n")[0] + "_, h_n", "true"),
    ("left-padding-option", "right", 'padding_side="left"', 'padding_side="right"', "true"),
    ("left-padding-option", "right", '"left"', '"top"', "true"),
    ("packing-logits-and-targets", "right", "< lengths", "<= lengths", "true"),
    ("collate-returns-packed", "wrong", 'tuple(field.to("cpu") for field in batch)', "batch", "true"),
    ("lengths-in-a-column", "wrong", "x, column,", "x, column.flatten(),", "depends"),
    ("gradient-of-a-pad", "right", "gru(packed)", "gru(x)", "depends"),
    ("gradient-enters", "wrong", "output[:, -1]", "output", "depends"),
    ("vanishing-gradients", "right", "gru(packed)", "gru(x)", "depends"),
    ("dropout-of-one-layer", "wrong", "(1, 3, dropout", "(1, 3, 2, dropout", "true"),
], ids=key_of)  # fmt: skip
def test_a_program_that_did_something_else_would_turn_the_verdict(
    key: str, program: str, old: str, new: str, verdict: str
) -> None:
    done = changed(key, program, old, new)
    assert done.verdict == verdict
    assert done.explanation == OTHERWISE


def judged(lines: str) -> running.EntryResult:
    return running.answer(replace(ALL["why-pack"], judge=f"{ALL['why-pack'].judge}\n{lines}"))


@pytest.mark.parametrize("lines", ["assert False", "torch.ones(2) @ torch.ones(3)", 'wrong["never_defined"]'])
def test_another_torch_is_no_mistake_of_the_judging_block(lines: str, caplog: pytest.LogCaptureFixture) -> None:
    done = judged(lines)
    assert (done.explanation, done.is_explained, done.failure) == (OTHERWISE, False, "")
    assert caplog.records == []


def test_a_mistake_in_a_judging_block_is_told_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    done = judged("never_defined")
    assert (done.explanation, done.is_explained) == (FAILED, False)
    (record,) = caplog.records
    assert "why-pack.md failed" in record.getMessage()
    assert "Traceback" in record.getMessage()
    assert "NameError: name 'never_defined'" in record.getMessage()


def test_a_torch_that_sorted_stably_would_be_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    sort, same = torch.sort, ALL["ties"].batch  # a batch that is given is run anew
    assert asked("ties", same).verdict != "true"
    monkeypatch.setattr(torch, "sort", lambda values, **given: sort(values, stable=True, **given))
    assert asked("ties", same).verdict == "true"


SIX = [torch.tensor(row) for row in ([1.0, 2.0], [3.0], [4.0, 5.0, 6.0])]  # a batch of several entries


def first_places(B: int) -> str:
    """Return where torch puts the first four of B sequences of equal length."""
    indices = pack_sequence([torch.ones(1)] * B, enforce_sorted=False).sorted_indices
    return str(cast(Tensor, indices)[:4].tolist())


X = pad_sequence(SIX, batch_first=True).unsqueeze(-1)
PACKED = pack_padded_sequence(X, torch.tensor([2, 1, 3]), batch_first=True, enforce_sorted=False)


def module(kind: Any = nn.GRU, hidden: int = 4, **settings: Any) -> Any:
    torch.manual_seed(settings.pop("seed", 0))
    return kind(1, hidden, batch_first=True, **settings).requires_grad_(False)


def rnn_of(numbers: list[float]) -> float:
    """Return the first unit of the final state of the RNN that the program makes after its GRU."""
    module()
    rnn = nn.RNN(1, 2, batch_first=True).requires_grad_(False)
    return float(rnn(torch.tensor(numbers).float()[None, :, None])[1][0, 0, 0])


def two(number: object) -> str:
    return f"{float(number):.2g}"  # type: ignore[arg-type]


def refused(call: Callable[[], object]) -> str:
    try:
        call()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    raise AssertionError("nothing was raised")


def written(values: Tensor) -> str:
    return f"[{', '.join(f'{value:g}' for value in values.flatten().tolist())}]"


def sizes_of(lengths: list[int]) -> list[int]:
    sizes: list[int] = pack_padded_sequence(torch.zeros(len(lengths), max(lengths)), lengths, True).batch_sizes.tolist()
    return sizes


def gone_back(made: nn.RNNBase, numbers: Sequence[Sequence[float]], *, packed: bool) -> Tensor:
    """Return the gradient (B, T) of the sum of the final states by the input of a module."""
    x = pad_sequence([torch.tensor(row) for row in numbers], batch_first=True).unsqueeze(-1).requires_grad_()
    lengths = torch.tensor([len(row) for row in numbers])
    torch.autograd.backward(made(pack_padded_sequence(x, lengths, True) if packed else x)[1].sum())
    assert x.grad is not None
    return x.grad[:, :, 0]


def largest_at_pads() -> Tensor:
    numbers = [[1.0, -1, 2, 1], [3.0, 1], [2.0]]
    grid = gone_back(module(), numbers, packed=False)
    return torch.stack([grid[1, 2:].abs().max(), grid[2, 1:].abs().max()]).max()


def grown() -> Tensor:
    """Return how much an RNN with four times its recurrent weights makes a gradient grow on its way through pads."""
    numbers = [[1.0, -1, 2, 1, 3, 1, -2, 1, 2, -1, 1, 2], [3.0, 1], [2.0]]
    rnn = module(nn.RNN)
    rnn.weight_hh_l0.mul_(4)
    padded, packed = (gone_back(rnn, numbers, packed=each)[range(3), [11, 1, 0]] for each in (False, True))
    return (padded / packed).abs().max()


def hundred() -> PackedSequence:
    live = [100] * 5 + [99, 77, 58, 35, 25, 11, 5, 3, 2, 2, 1]
    return pack_padded_sequence(torch.zeros(100, 16, 200), [sum(n > b for n in live) for b in range(100)], True)


# What an explanation says, found out here with torch alone.
TOLD: list[tuple[str, Callable[[], str]]] = [
    ("time-major", lambda: written(torch.tensor([1.0, 4.0, 6.0]))),
    ("what-is-a-packed-sequence", lambda: written(PACKED.data)),
    ("a-row-a-token", lambda: f"becomes {tuple(hundred().data.shape)}: {hundred().batch_sizes.sum()} is the sum"),
    ("pointwise-on-data", lambda: f"a tuple of {len(PACKED * 2)} fields"),
    ("no-size", lambda: refused(lambda: cast(Any, PACKED).batch_sizes())),
    ("unsorted-indices", lambda: f"`r` = {cast(Tensor, PACKED.unsorted_indices).tolist()}"),
    ("ties", lambda: first_places(17)),
    ("rows-of-h-0", lambda: refused(lambda: module()(X, torch.ones(1, 2, 4)))),
    ("lengths-on-the-cpu-alone", lambda: refused(lambda: module()(cast(Any, PACKED).to("meta")))),
    ("lengths-in-a-column", lambda: refused(lambda: pack_padded_sequence(X, torch.ones(3, 1).long(), True, False))),
    ("empty-batch", lambda: refused(lambda: pack_sequence([]))),
    ("no-feature-axis", lambda: refused(lambda: module(nn.LSTM, 2)(pack_sequence([torch.ones(2), torch.ones(1)])))),
    ("list-as-input", lambda: refused(lambda: pack_padded_sequence(cast(Any, SIX), [2, 1, 3], enforce_sorted=False))),
    ("must-i-pack", lambda: two((module()(X)[1] - module()(PACKED)[1]).abs().max())),
    ("gradient-of-a-pad", lambda: f"get a gradient, up to {two(largest_at_pads())}"),
    ("gradient-enters", lambda: f"are {sizes_of([4, 2, 1])[::-1]}: these are the `batch_sizes`"),
    ("vanishing-gradients", lambda: f"grows up to {two(grown())} times"),
    ("last-valid-input", lambda: f"{rnn_of([1, 0, 0]):.4f} instead of {rnn_of([1]):.4f}"),
]  # fmt: skip


@pytest.mark.parametrize(("key", "says"), TOLD, ids=[key for key, _ in TOLD])
def test_what_is_said_is_what_torch_does(key: str, says: Callable[[], str]) -> None:
    assert says() in told(asked(key))


@pytest.mark.parametrize("lengths", UNEVEN, ids=str)
def test_numbers_in_programs_are_torchs_own_for_other_lengths(lengths: list[int]) -> None:
    batch = typed(lengths)
    sequences = [torch.tensor([float(token) for token in line.split()]) for line in batch.splitlines()]
    x = pad_sequence(sequences, batch_first=True).unsqueeze(-1)
    packed = pack_padded_sequence(x, torch.tensor(lengths), batch_first=True, enforce_sorted=False)
    output, h_n = module()(packed)
    assert torch.equal(asked("pack-one-way-or-the-other", batch).right.value, packed.data.flatten())
    indices = asked("no-size", batch).right["packed"].unsorted_indices
    assert torch.equal(indices, cast(Tensor, packed.unsorted_indices))
    for key in ("unsort-by-hand", "read-the-last-output", "cells-on-packed"):
        torch.testing.assert_close(asked(key, batch).right.value, h_n[0], atol=1e-6, rtol=0)
    unpacked, _ = pad_packed_sequence(output, batch_first=True)
    torch.testing.assert_close(asked("how-to-unpack", batch).right["unpacked"].detach(), unpacked, atol=1e-6, rtol=0)
    sizes = asked("batch-sizes-counted", batch).right.value
    assert sizes == ([sum(n > t for n in lengths) for t in range(max(lengths))],) * 2


ASKING = """import time
from threading import Event, Thread
from packviz.inputs.torch_answers import ask

inside = Event()
other = Thread(target=ask, args=(lambda: (inside.set(), time.sleep(0.4)),))
other.start()
inside.wait(0.2)
"""


def test_warnings_are_shown_again_after_programs_that_hide_them() -> None:
    shown, filters = warnings.showwarning, [*warnings.filters]
    changed("inverse", "wrong", "", ASKING).wrong["other"].join()
    assert warnings.showwarning is shown
    assert warnings.filters == filters


def test_a_number_that_rounds_to_zero_has_no_sign() -> None:
    assert numbers("h", torch.tensor([[-0.004, -0.006]])).texts == (("0.00", "−0.01"),)
    assert running.written(-0.0) == "0"
