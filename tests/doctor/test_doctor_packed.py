"""Packed sequences whose fields do not fit each other, and packed sequences that belong to other lengths."""

import random
import subprocess
import sys
from typing import Any

import pytest
import torch
from doctor_cases import found, repaired, sound, unpacked
from seeds import many
from torch import nn
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence

import packviz as pv

MANY = many(50)


@pytest.mark.parametrize(
    ("sizes", "key", "steps"),
    [
        (torch.tensor([3, 1, 3]), "batch_sizes_grow", (2,)),
        (torch.tensor([1, 2, 3]), "batch_sizes_grow", (1, 2)),
        (torch.tensor([3, 0, 2]), "batch_sizes_below_1", (1,)),
        (torch.tensor([3, -1]), "batch_sizes_below_1", (1,)),
        (torch.tensor([2.0, 1.0]), "batch_sizes_kind", ()),
        (torch.tensor([[2, 1]]), "batch_sizes_kind", ()),
        (torch.tensor([2, 1], dtype=torch.int32), "batch_sizes_kind", ()),
        (torch.zeros(0, dtype=torch.int64), "batch_sizes_empty", ()),
    ],
    ids=str,
)
def test_batch_sizes_on_which_torch_aborts_are_found_and_not_run(
    sizes: torch.Tensor, key: str, steps: tuple[int, ...]
) -> None:
    wrong = PackedSequence(torch.randn(3, 2), sizes)
    finding = found(pv.examine(wrong), key)
    assert (finding.timesteps, finding.severity) == (steps, "error")
    assert "not asked" in finding.torch_does
    assert found(pv.examine(nn.GRU(2, 3), wrong), key) == finding


def test_such_batch_sizes_do_abort_the_process() -> None:
    code = (
        "import torch; from torch.nn.utils.rnn import *; "
        "pad_packed_sequence(PackedSequence(torch.zeros(7, 2), torch.tensor([3, 1, 3])))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert done.returncode < 0


def test_batch_sizes_that_do_not_sum_to_the_rows_are_found_with_torchs_answer() -> None:
    for seed in range(MANY):
        draw = random.Random(seed)
        case = sound(seed, F=2)
        packed = case.packed
        rows = len(packed.data)
        other = draw.choice([n for n in range(1, rows + 4) if n != rows])
        wrong = PackedSequence(torch.randn(other, *packed.data.shape[1:]), packed.batch_sizes)
        finding = found(pv.examine(wrong), "rows_differ")
        assert f"sum of {rows}" in finding.found
        if other < rows:
            with pytest.raises(RuntimeError) as said:
                pad_packed_sequence(PackedSequence(*wrong[:2]))
            assert str(said.value) in finding.torch_does
            assert finding.severity == "error"
            (t,) = finding.timesteps
            assert packed.batch_sizes[:t].sum() <= other < packed.batch_sizes[: t + 1].sum()
        else:
            _, lengths = pad_packed_sequence(wrong)
            assert str(lengths.tolist()[:3])[1:-1] in finding.torch_does
            assert finding.severity == "silent"
        names = {"x": case.x, "lengths": case.lengths, "batch_first": case.batch_first, "packed": wrong}
        assert pv.examine(repaired(finding, **names)["packed"]) == ()


def test_a_grid_that_would_fill_the_memory_is_not_unpacked() -> None:
    finding = found(pv.examine(PackedSequence(torch.randn(3, 2), torch.tensor([10**9, 10**9]))), "rows_differ")
    assert "was not asked" in finding.torch_does


def test_a_packed_sequence_that_does_not_fit_the_lengths_is_found() -> None:
    seen = 0
    for seed in range(MANY):
        draw, case = random.Random(seed), sound(seed)
        packed = pack_padded_sequence(case.x, case.lengths, case.batch_first, enforce_sorted=False)
        b, more = draw.randrange(len(case.lengths)), draw.choice((1, 2))
        longer = [n + (i == b) * more for i, n in enumerate(case.lengths)]
        finding = found(pv.examine(packed, longer), "packed_lengths_differ")
        assert finding.sequences == (b,)
        assert pv.examine(packed, repaired(finding, packed=packed, lengths=longer)["lengths"]) == ()
        lost = PackedSequence(packed.data, packed.batch_sizes)  # rebuilt without its indices
        assert pv.examine(lost) == ()  # nothing shows it but the lengths
        if case.lengths == sorted(case.lengths, reverse=True):
            assert pv.examine(lost, case.lengths) == ()
            continue
        seen += 1
        (finding,) = pv.examine(lost, case.lengths)
        _, torchs = unpacked(lost)
        assert finding.key == "indices_lost"
        assert list(finding.sequences) == [b for b, n in enumerate(case.lengths) if n != torchs[b]]
        assert f"[{torchs[0]}, {torchs[1]}" in finding.torch_does
        again = repaired(finding, packed=lost, lengths=case.lengths)["packed"]
        assert unpacked(again)[1] == case.lengths
    assert seen > 0.1 * MANY


def test_indices_that_are_not_each_others_inverse_are_found() -> None:
    seen = 0
    for seed in range(MANY):
        draw = random.Random(seed)
        case = sound(seed)
        packed: Any = pack_padded_sequence(case.x, case.lengths, case.batch_first, enforce_sorted=False)
        forth = packed.sorted_indices
        B = len(forth)
        other = torch.tensor(draw.sample(range(B), B))
        wrong = packed._replace(unsorted_indices=other)
        if torch.equal(other, packed.unsorted_indices):
            assert pv.examine(wrong) == ()
            continue
        seen += 1
        finding = found(pv.examine(wrong), "indices_not_inverse")
        assert finding.severity == "silent"
        assert str(unpacked(wrong)[1][:2])[1:-1] in finding.torch_does
        assert torch.equal(repaired(finding, packed=wrong)["packed"].unsorted_indices, packed.unsorted_indices)
        for field in ("sorted_indices", "unsorted_indices"):
            halved = packed._replace(**{field: None})
            again = repaired(found(pv.examine(halved), "indices_missing"), packed=halved)["packed"]
            assert all(torch.equal(one, two) for one, two in zip(again, packed, strict=True))
            broken = packed._replace(**{field: torch.zeros(B, dtype=torch.int64)})
            if B > 1:
                again = repaired(found(pv.examine(broken), "indices_no_permutation"), packed=broken)["packed"]
                assert torch.equal(again.sorted_indices, forth)
    assert seen > 0.25 * MANY


def test_indices_beyond_the_batch_are_found_with_torchs_message() -> None:
    packed = pack_padded_sequence(torch.ones(2, 3, 1), [1, 3], True, enforce_sorted=False)
    wrong = packed._replace(unsorted_indices=torch.tensor([0, 7]))
    finding = found(pv.examine(wrong), "indices_no_permutation")
    with pytest.raises((IndexError, RuntimeError)) as said:
        pad_packed_sequence(wrong)
    assert str(said.value) in finding.torch_does
