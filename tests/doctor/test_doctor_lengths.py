"""Each kind of wrong lengths, planted in random batches, is found, with its place, torch's own word and a repair."""

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch
from doctor_cases import Sound, found, repaired, sound, unpacked
from seeds import all_of_them, many, seeds
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence

import packviz as pv
from packviz.errors import PackvizError

MANY = many(50)


def cases(start: int = 0, **fixed: Any) -> list[tuple[random.Random, Sound]]:
    return [(random.Random(seed), sound(seed, **fixed)) for seed in range(start, start + MANY)]


def torch_says(case: Sound, lengths: object, enforce_sorted: bool | None = None) -> str | None:
    given = case.enforce_sorted if enforce_sorted is None else enforce_sorted
    try:
        pack_padded_sequence(case.x, lengths, case.batch_first, given)  # type: ignore[arg-type]
    except (RuntimeError, IndexError) as error:
        return str(error).splitlines()[0]
    return None


def examined(case: Sound, lengths: object, **options: Any) -> tuple[pv.doctor.Finding, ...]:  # type: ignore[name-defined]
    return replace(case, lengths=lengths).findings(**options)  # type: ignore[arg-type]


def mended(case: Sound, finding: Any, lengths: object) -> list[str]:
    """Return the keys that are found after the repair."""
    names = {"x": case.x, "lengths": lengths, "batch_first": case.batch_first, "enforce_sorted": case.enforce_sorted}
    after = repaired(finding, **names)
    if case.module is None:
        findings = pv.examine(after["x"], after["lengths"], batch_first=after["batch_first"], enforce_sorted=False)
    else:
        findings = pv.examine(case.module, after["x"], after["lengths"], enforce_sorted=after["enforce_sorted"])
    return [one.key for one in findings]


def test_lengths_over_T_make_torch_pack_an_inconsistent_object() -> None:
    for draw, case in cases():
        b, T = draw.randrange(len(case.lengths)), case.grid.size(1)
        lengths = list(case.lengths)
        lengths[b] = T + draw.randint(1, 4)
        finding = found(examined(case, lengths), "length_over_T")
        assert (finding.sequences, finding.timesteps, finding.severity) == ((b,), (T,), "silent")
        packed = pack_padded_sequence(case.x, lengths, case.batch_first, enforce_sorted=False)
        assert len(packed.data) != packed.batch_sizes.sum()
        assert f"packs {len(packed.data)} rows" in finding.torch_does
        assert f"sum to {int(packed.batch_sizes.sum())}" in finding.torch_does
        assert "length_over_T" not in mended(case, finding, lengths)


@pytest.mark.parametrize(("value", "key"), [(0, "zero_length"), (-3, "negative_length")])
def test_a_length_below_1_is_found_with_torchs_message(value: int, key: str) -> None:
    for draw, case in cases(F=2):
        b = draw.randrange(len(case.lengths))
        lengths = list(case.lengths)
        lengths[b] = value
        finding = found(examined(case, torch.tensor(lengths)), key)
        assert (finding.sequences, finding.severity) == ((b,), "error")
        says = torch_says(case, lengths, enforce_sorted=False)
        assert says is not None
        assert says in finding.torch_does
        if len(lengths) > 1 and "hx" not in case.options:
            assert key not in mended(case, finding, lengths)


def test_lengths_that_are_not_whole_are_cut_without_a_word() -> None:
    for draw, case in cases():
        if max(case.lengths) == 1 < case.grid.size(1):
            continue  # then they may be shares of T
        b = draw.randrange(len(case.lengths))
        lengths = [float(length) for length in case.lengths]
        whole = found(examined(case, lengths), "float_lengths")
        assert whole.severity == "note"
        assert mended(case, whole, lengths) == []
        lengths[b] -= 0.25
        finding = found(examined(case, torch.tensor(lengths), enforce_sorted=False), "float_lengths")
        assert (finding.sequences, finding.severity) == ((b,), "silent")
        assert "float_lengths" not in mended(case, finding, lengths)


def test_relative_lengths_are_found_and_multiplied_by_T() -> None:
    for dtype in (torch.float32, torch.float64, torch.float16):
        for _, case in cases(T=9, B=5):
            T = max(case.lengths)
            case = case.laid_out(case.grid[:, :T])
            shares = (torch.tensor(case.lengths) / T).to(dtype)
            if bool((shares == 1).all()):
                continue
            (finding,) = [one for one in examined(case, shares, enforce_sorted=False) if "length" in one.key]
            assert finding.key == "relative_lengths"
            says = torch_says(case, shares, enforce_sorted=False)
            assert (says in finding.torch_does) if says else ("without a word" in finding.torch_does)
            after = repaired(finding, x=case.x, lengths=shares)
            assert after["lengths"].tolist() == case.lengths
            assert after["x"] is case.x
            assert mended(case, finding, shares) == (["unsorted"] if says_unsorted(case) else [])


def says_unsorted(case: Sound) -> bool:
    return case.module is not None and case.enforce_sorted and case.lengths != sorted(case.lengths, reverse=True)


@pytest.mark.parametrize("told", [False, True])
@pytest.mark.parametrize("source", ["normal", "ids from 1", "zeros inside"])
def test_a_view_in_the_place_of_a_transpose_is_named_and_undone(source: str, told: bool) -> None:
    spoke = 0
    for _, case in evident(source, module=False):
        B, T = case.grid.shape[:2]
        if B == T or T == 1 or B == 1:
            continue
        other = case.x.transpose(0, 1).contiguous()
        viewed = replace(case, x=other.view(case.x.shape))
        named = {"padding_value": 0.0} if told else {}
        findings = viewed.findings(enforce_sorted=False, **named)
        if alike_after(viewed.grid, case.lengths):  # by chance, what stands after the lengths is all the same
            continue
        spoke += 1
        (finding,) = findings
        assert (finding.key, finding.severity) == ("viewed", "silent")
        assert torch.equal(repaired(finding, x=viewed.x)["x"], case.x)
    assert spoke > 0.067 * MANY


def test_lengths_on_another_device_are_found_with_torchs_message() -> None:
    for _, case in cases()[:50]:
        lengths = torch.tensor(case.lengths, device="meta")
        finding = found(examined(case, lengths), "lengths_device")
        says = torch_says(case, lengths)
        assert says is not None
        assert ("1D CPU int64" in says) == case.enforce_sorted
        assert says in finding.torch_does
        assert "lengths_device" not in mended(case, finding, lengths)


def test_lengths_in_two_dimensions_are_found_with_torchs_message() -> None:
    for _, case in cases()[:50]:
        lengths = torch.tensor(case.lengths).unsqueeze(1)
        finding = found(examined(case, lengths, enforce_sorted=True), "lengths_dim")
        says = torch_says(case, lengths, enforce_sorted=True)
        assert says is not None
        assert says in finding.torch_does
        assert mended(case, finding, lengths) == []


def test_too_few_lengths_drop_sequences_silently_only_where_torch_sorts() -> None:
    severities = set()
    for draw, case in cases():
        B, T = len(case.lengths), case.grid.size(1)
        number = draw.randint(1, B + 2)
        if number in (B, T):
            continue
        lengths = [1] * number
        finding = found(examined(case, lengths), "wrong_count")
        says = torch_says(case, lengths)
        severities.add((finding.severity, number < B))
        assert finding.sequences == tuple(range(number, B))
        assert (says in finding.torch_does) if says else ("without an error" in finding.torch_does)
        assert finding.severity == ("error" if says else "silent")
        assert "wrong_count" not in mended(case, finding, lengths)
    assert severities >= {("error", True), ("error", False), ("silent", True)}


def test_lengths_that_do_not_decrease_are_refused_where_they_must() -> None:
    seen = 0
    for draw, case in cases(module=False):
        lengths = [draw.randint(1, max(case.lengths)) for _ in case.lengths]
        keys = [finding.key for finding in examined(case, lengths, enforce_sorted=True)]
        says = torch_says(case, lengths, enforce_sorted=True)
        assert ("unsorted" in keys) == (says is not None)
        assert "unsorted" not in [finding.key for finding in examined(case, lengths, enforce_sorted=False)]
        if says:
            seen += 1
            finding = found(examined(case, lengths, enforce_sorted=True), "unsorted")
            assert says in finding.torch_does
            (b,) = finding.sequences
            assert lengths[b] > lengths[b - 1]
            assert repaired(finding)["enforce_sorted"] is False
    assert seen > 0.33 * MANY


def evident(source: str, start: int = 0, **fixed: Any) -> list[tuple[random.Random, Sound]]:
    """Return batches of different lengths whose pads are zeros, and whose data end with something else."""
    chosen = []
    for draw, case in cases(start, source=source, pad=0.0, **fixed):
        if len(set(case.lengths)) > 1:
            chosen.append((draw, case))
    assert len(chosen) > 0.2 * MANY
    return chosen


def alike_after(grid: torch.Tensor, lengths: list[int]) -> bool:
    """Tell whether the cells after the lengths are all the same: then they may well be the padding value."""
    after = grid[torch.arange(grid.size(1)) >= torch.tensor(lengths).unsqueeze(1)]
    return bool((after == after[:1]).all())


SOURCES = ("normal", "ids from 1", "zeros inside")


@pytest.mark.parametrize("source", SOURCES)
def test_steps_that_the_lengths_leave_out_are_found_and_placed(source: str) -> None:
    spoke = 0
    for draw, case in evident(source, module=False):
        long = [b for b, length in enumerate(case.lengths) if length > 1]
        cut = {b: draw.randint(1, case.lengths[b] - 1) for b in draw.sample(long, draw.randint(1, len(long)))}
        lengths = [cut.get(b, length) for b, length in enumerate(case.lengths)]
        findings = examined(case, lengths, enforce_sorted=False)
        if [finding.key for finding in findings] in (["lengths_order"], ["batch_first"], ["left_padded"], ["viewed"]):
            continue  # cut so that they fit another explanation as well
        if source == "zeros inside":
            assert {finding.key for finding in findings} <= {"tokens_dropped", "zero_counted_out"}
        else:
            (finding,) = findings
            assert finding.key == "tokens_dropped"
        places = {b: t for one in findings for b, t in zip(one.sequences, one.timesteps, strict=True)}
        assert places == cut
        spoke += 1
        after = mended(case, findings[0], lengths)
        assert after == []
    assert spoke > 0.067 * MANY


@pytest.mark.parametrize("module", [False, True])
def test_dropped_steps_are_those_that_torch_does_not_pack(module: bool) -> None:
    for draw, case in evident("normal", module=module, F=2):
        b = draw.choice([b for b, length in enumerate(case.lengths) if length > 1])
        lengths = list(case.lengths)
        lengths[b] -= 1
        finding = found(examined(case, lengths, enforce_sorted=False), "tokens_dropped")
        assert (finding.sequences, finding.timesteps) == ((b,), (lengths[b],))
        values, kept = unpacked(pack_padded_sequence(case.x, lengths, case.batch_first, enforce_sorted=False))
        assert kept == lengths
        gone = case.grid[b, lengths[b]]
        assert not (values[b] == gone).all(-1).any()
        assert f"{gone[0].item():.6g}" in finding.torch_does


@pytest.mark.parametrize("told", [False, True])
@pytest.mark.parametrize("source", ["normal", "ids from 1"])
def test_pads_packed_as_data_are_found_and_placed(source: str, told: bool) -> None:
    for draw, case in evident(source, module=False):
        T = case.grid.size(1)
        short = [b for b, length in enumerate(case.lengths) if length < T]
        longer = {b: draw.randint(case.lengths[b] + 1, T) for b in draw.sample(short, draw.randint(1, len(short)))}
        lengths = [longer.get(b, length) for b, length in enumerate(case.lengths)]
        named = {"padding_value": 0.0} if told else {}
        findings = examined(case, lengths, enforce_sorted=False, **named)
        finding = found(findings, "pads_packed")
        assert finding.severity == ("silent" if told else "note")
        assert ("Assumed: a pad is 0" in finding.found) != told
        assert dict(zip(finding.sequences, finding.timesteps, strict=True)) == {b: case.lengths[b] for b in longer}
        packed = pack_padded_sequence(case.x, lengths, case.batch_first, enforce_sorted=False)
        (again,) = pv.examine(packed, **named)
        assert (again.key, again.sequences, again.timesteps) == ("pads_packed", finding.sequences, finding.timesteps)
        assert mended(case, finding, lengths) == []
        assert pv.examine(repaired(again, packed=packed)["packed"], **named) == ()


@all_of_them
def test_pads_that_also_stand_inside_the_sequences_are_found_where_they_are_told() -> None:
    spoke = 0
    for seed in seeds(50):
        case = sound(seed, module=False, source="ids with 0", pad=0.0, lengths=[12, 3, 5, 9, 2, 7, 12, 4])
        inside = sum(int((sequence == 0).sum()) for sequence in case.sequences)
        short = [b for b in range(8) if case.lengths[b] < 12]
        finding = found(examined(case, [12] * 8, enforce_sorted=False, padding_value=0.0), "pads_packed")
        assert (list(finding.sequences), finding.severity) == (short, "note" if inside else "silent")
        assert list(finding.timesteps) == [case.lengths[b] for b in short]
        assert bool(examined(case, [12] * 8, enforce_sorted=False)) == (not inside)
        spoke += inside > 0
    assert 0.1 < spoke / many(50) < 0.95


@all_of_them
def test_lengths_counted_past_a_real_zero_are_told_from_short_ones() -> None:
    seen = 0
    for seed in range(3 * MANY):
        case = sound(seed, module=False, source="ids with 0", pad=0.0, B=5)
        lengths = (case.grid != 0).sum(1).clamp(min=1).tolist()
        ends = [int((row != 0).nonzero().max()) + 1 if row.any() else 0 for row in case.grid]
        wrong = [b for b in range(5) if ends[b] > lengths[b]]
        if not wrong or all(length == case.grid.size(1) for length in ends):
            continue
        findings = examined(case, lengths, enforce_sorted=False)
        if findings and findings[0].key in ("batch_first", "left_padded", "lengths_order"):
            continue
        if not any(end < case.grid.size(1) for end in ends if end):
            continue
        if not findings:
            continue
        seen += 1
        finding = found(findings, "zero_counted_out")
        assert list(finding.sequences) == wrong
        assert list(finding.timesteps) == [lengths[b] for b in wrong]
        assert mended(case, finding, lengths) == []
    assert seen > 0.4 * MANY


def test_lengths_in_another_order_than_the_sequences_are_found() -> None:
    spoke = 0
    for draw, case in evident("normal", module=False):
        lengths = draw.sample(case.lengths, len(case.lengths))
        if lengths == case.lengths or alike_after(case.grid, lengths):
            continue
        findings = examined(case, lengths, enforce_sorted=False)
        if findings[0].key in ("batch_first", "left_padded", "viewed"):
            continue  # so small that they fit another explanation as well
        spoke += 1
        finding = found(findings, "lengths_order")
        assert list(finding.sequences) == [b for b, length in enumerate(lengths) if length != case.lengths[b]]
        assert mended(case, finding, lengths) == []
    assert spoke > 0.067 * MANY


@pytest.mark.parametrize(("source", "module"), [("normal", False), ("normal", True), ("ids from 1", False)])
def test_padding_on_the_left_is_found(source: str, module: bool) -> None:
    spoke = 0
    for _, case in evident(source, module=module):
        T = case.grid.size(1)
        missing = [T - length for length in case.lengths]
        if sum(missing) < 2:
            continue
        left = case.laid_out(torch.stack([row.roll(n, 0) for row, n in zip(case.grid, missing, strict=True)]))
        findings = left.findings(enforce_sorted=False)
        if [one.key for one in findings] == ["viewed"]:
            continue
        spoke += 1
        finding = found(findings, "left_padded")
        assert list(finding.sequences) == [b for b, n in enumerate(missing) if n]
        after = repaired(finding, x=left.x, lengths=left.lengths)
        assert torch.equal(after["x"], case.x)
        assert after["lengths"].tolist() == case.lengths
    assert spoke > 0.13 * MANY


def test_padding_on_the_left_that_is_counted_as_steps_is_found() -> None:
    for seed in seeds(50):
        case = sound(seed, module=False, source="normal", pad=0.0, lengths=[12, 3, 5, 9, 2, 7, 12, 4])
        T = case.grid.size(1)
        left = case.laid_out(torch.stack([row.roll(T - n, 0) for row, n in zip(case.grid, case.lengths, strict=True)]))
        finding = found(replace(left, lengths=[T] * 8).findings(), "left_padded")
        after = repaired(finding, x=left.x, lengths=left.lengths)
        assert torch.equal(after["x"], case.x)


def test_the_other_layout_is_found_by_the_number_of_lengths() -> None:
    seen = set()
    for _, case in cases(F=3):
        B, T = case.grid.shape[:2]
        if B == T or max(case.lengths) > T:
            continue
        turned = replace(case, x=case.x.transpose(0, 1))
        finding = found(turned.findings(), "batch_first")
        says = torch_says(turned, case.lengths)
        seen.add(finding.severity)
        assert finding.severity == ("error" if says else "silent")
        assert says is None or says in finding.torch_does
        assert mended(turned, finding, case.lengths) == []
    assert seen == {"error", "silent"}


@pytest.mark.parametrize("source", ["normal", "ids from 1", "whole numbers"])
@pytest.mark.parametrize("module", [False, True])
def test_the_other_layout_of_a_square_batch_is_found_by_its_pads(source: str, module: bool) -> None:
    seen = 0
    for seed in range(MANY):
        if module and source.startswith("ids"):
            return
        draw = random.Random(seed)
        B = draw.choice((2, 3, 4, 5, 8))
        lengths = [B, *(draw.randint(1, B) for _ in range(B - 1))]
        case = sound(seed, module=module, source=source, lengths=lengths, pad=0.0)
        if case.grid.size(1) != B:
            continue
        turned = replace(case, x=case.x.transpose(0, 1))
        real = (case.grid != 0).reshape(B, B, -1).any(-1)
        ends_well = bool(real[range(B), torch.tensor(case.lengths) - 1].all())
        keys = turned.keys(enforce_sorted=False)
        if not ends_well or alike_after(turned.grid, case.lengths):
            continue
        seen += 1
        assert keys == ["batch_first"]
        assert mended(turned, found(turned.findings(enforce_sorted=False), "batch_first"), case.lengths) == []
    assert seen > 0.33 * MANY


def test_an_empty_batch_is_found_with_torchs_message() -> None:
    for shape in ((0, 3), (3, 0), (0, 0), (0, 3, 2), (3, 0, 2)):
        (finding,) = pv.examine(torch.zeros(shape), [1] * shape[0], batch_first=True)
        assert finding.key == "empty_batch"
        assert finding.torch_does.startswith("raises RuntimeError")
        with pytest.raises(StopIteration):
            repaired(finding, x=torch.zeros(shape))


def test_a_tensor_of_one_dimension_is_found_with_torchs_message() -> None:
    (finding,) = pv.examine(torch.zeros(3), [3])
    assert finding.key == "one_dimension"
    with pytest.raises(IndexError) as said:
        pack_padded_sequence(torch.zeros(3), [1] * 3)
    assert str(said.value) in finding.torch_does
    after = repaired(finding, x=torch.arange(3.0))
    assert pv.examine(after["x"], [3]) == ()


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_numbers_that_are_not_finite_are_found_in_data_and_in_pads(value: float) -> None:
    for draw, case in evident("normal", F=3):
        grid = case.grid.clone()
        T = grid.size(1)
        b = draw.choice([b for b, length in enumerate(case.lengths) if length < T])
        inside, after = draw.randrange(case.lengths[b]), draw.randrange(case.lengths[b], T)
        for key, t in (("nan_in_data", inside), ("nan_in_pads", after)):
            spoilt = grid.clone()
            spoilt[b, t, 1] = value
            findings = case.laid_out(spoilt).findings()
            finding = found(findings, key)
            assert (finding.sequences, finding.timesteps, finding.severity) == ((b,), (t,), "silent")
            names = repaired(finding, x=case.laid_out(spoilt).x, lengths=case.lengths)
            assert not {"nan_in_data", "nan_in_pads"} & set(replace(case, x=names["x"]).keys())
            packed = replace(case.laid_out(spoilt)).packed
            assert bool(packed.data.isfinite().all()) == (key == "nan_in_pads")
            if key == "nan_in_data":
                (there,) = pv.examine(packed)
                assert (there.key, there.sequences, there.timesteps) == (key, (b,), (t,))


Call = Callable[[], object]


@pytest.mark.parametrize(
    "call",
    [
        lambda: pv.examine("x", [1]),  # type: ignore[call-overload]
        lambda: pv.examine(torch.zeros(2, 3), ["a"], batch_first=True),  # type: ignore[list-item]
        lambda: pv.examine(torch.zeros(2, 3), [10**30, 1], batch_first=True),
        lambda: pv.examine(torch.zeros(2, 3).to_sparse(), [1, 1]),
        lambda: pv.examine(torch.nn.Linear(2, 3), torch.zeros(2, 3)),
        lambda: pv.examine(torch.zeros(2, 2), torch.zeros(2, dtype=torch.complex64)),
        lambda: pv.examine(PackedSequence(None, torch.tensor([1]))),  # type: ignore[arg-type]
        lambda: pv.watch(3).__enter__(),  # type: ignore[arg-type]
    ],
)
def test_what_is_no_batch_at_all_is_refused(call: Call) -> None:
    with pytest.raises(PackvizError):
        call()


def test_lengths_that_would_fill_the_memory_are_not_tried() -> None:
    finding = found(pv.examine(torch.zeros(2, 3), [10**12, 1], batch_first=True), "length_over_T")
    assert "was not asked" in finding.torch_does
