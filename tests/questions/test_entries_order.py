"""Ordering, sort, unsort: the verdicts of the entries, and torch itself as the judge of what they tell."""

from dataclasses import replace
from itertools import permutations

import entry_cases
import pytest
import torch
from entry_cases import panels_of, sequences_of, verdicts
from torch import Tensor, nn
from torch.nn.utils.rnn import (
    PackedSequence,
    pack_padded_sequence,
    pack_sequence,
    pad_packed_sequence,
)

from packviz.questions.answer import Answer, answer
from packviz.questions.entries import order

ENTRIES = {entry.key: entry for entry in order.ENTRIES}
EXPECTED = {
    "must-be-sorted": "depends",  # 11: with enforce_sorted=True alone
    "only-not-checked": "false",  # 12: torch sorts, whatever the docstring of pack_sequence says
    "unsort-by-hand": "false",  # 13: output and h_n come back in the original order
    "order-after-unpacking": "false",  # 14
    "unsorted-indices": "depends",  # 15: the inverse; the same permutation where rows change places in pairs
    "order-of-h-0": "false",  # 16: original order in, original order out
    "rows-of-h-0": "depends",  # 16: too few rows are refused; too many are not, which the row does not say
    "order-dropped": "false",  # 17
    "ties": "depends",  # 18: not from 17 equal lengths on
    "zip-inputs-and-targets": "depends",  # 19: with the same lengths alone
}
LENGTHS = list(permutations((1, 2, 3)))
each_order = pytest.mark.parametrize("lengths", LENGTHS, ids=str)


def typed(lengths: tuple[int, ...]) -> str:
    """Return sequences of these lengths: 11 12 13, then 21 and so on."""
    return "\n".join(" ".join(str(10 * (b + 1) + t + 1) for t in range(n)) for b, n in enumerate(lengths))


def tensors(lengths: tuple[int, ...]) -> list[Tensor]:
    return sequences_of(typed(lengths))


def packed_by_torch(lengths: tuple[int, ...]) -> PackedSequence:
    return entry_cases.packed_by_torch(tensors(lengths))


def asked(key: str, lengths: tuple[int, ...] | None = None) -> Answer:
    entry = ENTRIES[key]
    return answer(entry if lengths is None else replace(entry, batch=typed(lengths)))


def longest_first(lengths: tuple[int, ...]) -> bool:
    return list(lengths) == sorted(lengths, reverse=True)


def test_every_row_of_the_group_is_answered() -> None:
    assert set(ENTRIES) == set(EXPECTED)
    assert {row for entry in ENTRIES.values() for row in entry.rows} == set(range(11, 20))


test_the_verdict_is_the_checked_one = verdicts(ENTRIES, EXPECTED)


@each_order
def test_torch_asks_for_sorted_lengths_only_where_it_is_told_to_and_they_are_not(lengths: tuple[int, ...]) -> None:
    done = asked("must-be-sorted", lengths)
    assert done.outcome.verdict == ("false" if longest_first(lengths) else "depends")
    assert done.outcome.cases["with enforce_sorted=False"] is False


def test_the_message_about_the_order_is_torchs_own() -> None:
    with pytest.raises(RuntimeError) as raised:
        pack_sequence(tensors((2, 1, 3)))
    assert ENTRIES["must-be-sorted"].messages == (f"RuntimeError: {raised.value}",)


@each_order
def test_the_marked_tokens_are_those_below_the_first_batch_sizes_rows(lengths: tuple[int, ...]) -> None:
    sizes = packed_by_torch(lengths).batch_sizes.tolist()
    below = {(b, t) for b, n in enumerate(lengths) for t in range(n) if b >= sizes[t]}
    given, in_order = panels_of(asked("must-be-sorted", lengths).outcome)
    assert given.wrong == below
    assert bool(below) is not longest_first(lengths)
    assert in_order.rows == tuple("ABC"[b] for b in packed_by_torch(lengths).sorted_indices)


@each_order
def test_enforce_sorted_false_sorts(lengths: tuple[int, ...]) -> None:
    done = asked("only-not-checked", lengths)
    data = pack_sequence(tensors(lengths), enforce_sorted=False).data
    kept = data[: len(lengths)].tolist() == [11, 21, 31]
    assert kept is longest_first(lengths)
    assert done.outcome.verdict == ("true" if kept else "false")
    assert str(data[: len(lengths)].tolist()) in done.outcome.told


def test_the_docstrings_are_quoted_from_torch() -> None:
    told = asked("only-not-checked").outcome.told
    for call in (pack_sequence, pack_padded_sequence):
        words = " ".join((call.__doc__ or "").split())
        (sentence,) = [part for part in told.split('"') if part.startswith("If ``False``") and part in words]
        assert told.index(f"`{call.__name__}`") < told.index(sentence)
        told = told.replace(f'"{sentence}"', "")


def test_a_docstring_that_says_nothing_is_not_quoted() -> None:
    entry = ENTRIES["only-not-checked"]
    silent = replace(entry, broken=entry.broken.replace("pack_sequence.__doc__", "''"))
    assert "`pack_sequence` does not say what `False` does" in answer(silent).outcome.told


@each_order
def test_results_come_back_as_given(lengths: tuple[int, ...]) -> None:
    done = asked("unsort-by-hand", lengths)
    alone = torch.stack([done.fixed["gru"](s.view(1, -1, 1))[1][0, 0] for s in tensors(lengths)])
    torch.testing.assert_close(done.fixed.value, alone.detach(), atol=1e-5, rtol=0)
    assert done.outcome.verdict == "false"


def test_results_that_did_not_come_back_would_be_found() -> None:
    entry = ENTRIES["unsort-by-hand"]
    sorted_state = replace(entry, fixed=entry.fixed.replace("h_n[0]", "h_n[0, packed.sorted_indices]"))
    assert answer(sorted_state).outcome.cases == {"for the output": False, "for h_n": True}


def test_states_put_back_twice_are_marked() -> None:
    *right, twice = panels_of(asked("unsort-by-hand").outcome)
    assert [panel.wrong for panel in right] == [frozenset()] * 2
    moved = [b for b, place in enumerate(packed_by_torch((2, 1, 3)).unsorted_indices) if place != b]
    assert {b for b, _ in twice.wrong} == set(moved)


@each_order
def test_unpacked_rows_stand_as_given(lengths: tuple[int, ...]) -> None:
    done = asked("order-after-unpacking", lengths)
    output, unpacked = pad_packed_sequence(packed_by_torch(lengths), batch_first=True)
    assert unpacked.tolist() == list(lengths)
    assert output[:, 0, 0].tolist() == [11, 21, 31]
    assert done.outcome.verdict == ("true" if longest_first(lengths) else "false")
    assert done.fixed.value.tolist() == [10 * (b + 1) + n for b, n in enumerate(lengths)]


@each_order
def test_sorting_twice_undoes_the_sort_only_where_the_indices_are_their_own_inverse(lengths: tuple[int, ...]) -> None:
    packed = packed_by_torch(lengths)
    own_inverse = torch.equal(packed.sorted_indices, packed.unsorted_indices)
    done = asked("unsorted-indices", lengths)
    assert done.outcome.cases[f"for the lengths {list(lengths)}"] is own_inverse
    assert done.outcome.verdict == ("true" if own_inverse else "depends")
    assert torch.equal(packed.unsorted_indices, packed.sorted_indices.argsort())
    assert done.fixed.value.tolist() == list(lengths)


@each_order
def test_h_0_and_h_n_stand_as_given(lengths: tuple[int, ...]) -> None:
    done = asked("order-of-h-0", lengths)
    gru, h_0 = done.fixed["gru"], done.fixed["h_0"]
    alone = [gru(s.view(1, -1, 1), h_0[:, b : b + 1])[1][0, 0] for b, s in enumerate(tensors(lengths))]
    torch.testing.assert_close(done.fixed.value, torch.stack(alone).detach(), atol=1e-5, rtol=0)
    assert done.outcome.verdict == ("true" if longest_first(lengths) else "false")


@pytest.mark.parametrize("kind", [nn.RNN, nn.GRU])
@pytest.mark.parametrize("lengths", LENGTHS, ids=str)
def test_too_few_rows_of_h_0_are_refused_and_too_many_are_cut(
    kind: type[nn.RNN | nn.GRU], lengths: tuple[int, ...]
) -> None:
    """The list of questions knows the message for too few rows; that a row too many is not noticed is new."""
    packed, module = packed_by_torch(lengths), kind(1, 4)
    with pytest.raises(RuntimeError) as raised:
        module(packed, torch.zeros(1, 2, 4))
    assert ENTRIES["rows-of-h-0"].messages[0] == f"RuntimeError: {raised.value}"
    h_0 = torch.randn(1, 4, 4)
    assert torch.equal(module(packed, h_0)[1], module(packed, h_0[:, :3])[1])


def test_a_row_too_many_is_noticed_with_enforce_sorted() -> None:
    x = torch.zeros(2, 3, 1)
    packed = pack_padded_sequence(x, torch.tensor([3, 1]), batch_first=True)
    with pytest.raises(RuntimeError, match="Expected hidden size"):
        nn.GRU(1, 4)(packed, torch.zeros(1, 3, 4))
    cases = asked("rows-of-h-0").outcome.cases
    longest_first = pack_padded_sequence(torch.zeros(3, 3, 1), torch.tensor([3, 2, 1]), batch_first=True)
    with pytest.raises(RuntimeError) as raised:
        nn.GRU(1, 4)(longest_first, torch.zeros(1, 2, 4))
    assert ENTRIES["rows-of-h-0"].messages[1] == f"RuntimeError: {raised.value}"
    assert [name for name, refused in cases.items() if not refused] == ["with 4 rows and enforce_sorted=False"]


@each_order
def test_rows_without_their_indices_stay_longest_first(lengths: tuple[int, ...]) -> None:
    packed = packed_by_torch(lengths)
    dropped, _ = pad_packed_sequence(PackedSequence(packed.data, packed.batch_sizes), batch_first=True)
    kept, _ = pad_packed_sequence(packed, batch_first=True)
    done = asked("order-dropped", lengths)
    assert torch.equal(dropped, kept[packed.sorted_indices])
    assert done.outcome.verdict == ("true" if longest_first(lengths) else "false")
    right, wrong = panels_of(done.outcome)
    assert wrong.wrong == {(b, t) for b, t, _ in (dropped != kept).nonzero().tolist()}
    assert wrong.texts == tuple(tuple(f"{10 * number:g}" for number in row) for row in dropped.squeeze(2).tolist())
    assert wrong.rows == tuple(right.rows[b] for b in packed.sorted_indices)


def test_the_indices_are_kept_by_each_way_that_is_told() -> None:
    packed = packed_by_torch((2, 1, 3))
    for changed in (packed._replace(data=10 * packed.data), PackedSequence(10 * packed.data, *packed[1:])):
        assert torch.equal(changed.sorted_indices, packed.sorted_indices)
        assert torch.equal(changed.unsorted_indices, packed.unsorted_indices)
    assert "and so does `PackedSequence(data, *packed[1:])`" in asked("order-dropped").outcome.told


def test_torch_keeps_the_order_of_up_to_16_equal_lengths_and_not_of_17() -> None:
    kept = {}
    for n in range(2, 65):
        packed = pack_padded_sequence(torch.zeros(1, n), torch.ones(n, dtype=torch.int64), enforce_sorted=False)
        kept[n] = packed.sorted_indices.tolist() == list(range(n))
    first = min(n for n, as_they_came in kept.items() if not as_they_came)
    cases = asked("ties").outcome.cases
    assert cases == {f"for 2 to {first - 1} equal lengths": True, f"for {first} equal lengths": False}


def test_the_seventeen_letters_stand_as_torch_packs_them() -> None:
    packed = pack_padded_sequence(torch.arange(17.0)[None], torch.ones(17, dtype=torch.int64), enforce_sorted=False)
    done = asked("ties")
    _, shown = panels_of(done.outcome)
    assert [b for line in shown.owners for b in line] == packed.sorted_indices.tolist() == done.broken.value
    assert done.fixed.value == list(range(17))


@each_order
def test_rows_of_targets_fit_only_where_both_were_packed_with_the_same_lengths(lengths: tuple[int, ...]) -> None:
    of_targets = (1, 3, 2)  # as in the program
    inputs, targets = packed_by_torch(lengths).data.flatten(), packed_by_torch(of_targets).data.flatten()
    fit = torch.equal(inputs // 10, targets // 10)
    done = asked("zip-inputs-and-targets", lengths)
    assert done.outcome.cases == {"for targets of other lengths": fit, "for targets of the same lengths": True}
    assert fit is (lengths == of_targets)
    _, own, same = panels_of(done.outcome)
    assert own.wrong == {(0, n) for n in (inputs // 10 != targets // 10).nonzero().flatten().tolist()}
    assert not same.wrong
