"""Each kind of wrong lengths, planted in random batches, is found, with its place, torch's own answer and a repair."""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
import torch
from doctor_cases import Sound, found, repaired, sound, unpacked
from seeds import all_of_them, many, seeds
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence

import packviz as pv
from packviz.errors import PackvizError

SPREAD = [12, 3, 5, 9, 2, 7, 12, 4]


@dataclass(frozen=True)
class Trouble:
    """What is wrong with a batch: the finding's key, and what is known of it.

    at     t for each b of the finding, or the list of b
    says   torch's answer, or part of it; severity: None where that of torch's answer is not known beforehand
    also   the findings that may come beside it, or in its place where it fits another explanation as well
    right  the batch without the trouble, where the repair leads back to it; else it leads to no finding
    """

    key: str
    case: Sound
    at: Any = None
    says: str | None = None
    severity: str = "silent"
    also: set[str] = field(default_factory=set)
    instead: set[str] = field(default_factory=set)
    options: dict[str, Any] = field(default_factory=dict)
    right: Sound | None = None


def torch_says(case: Sound, lengths: object, enforce_sorted: bool = False) -> str | None:
    try:
        pack_padded_sequence(case.x, lengths, case.batch_first, enforce_sorted)  # type: ignore[arg-type]
    except (RuntimeError, IndexError) as error:
        return str(error).splitlines()[0]
    return None


def with_lengths(case: Sound, lengths: object) -> Sound:
    return replace(case, lengths=lengths)  # type: ignore[arg-type]


def changed(case: Sound, b: int, length: float) -> Sound:
    return with_lengths(case, [length if i == b else n for i, n in enumerate(case.lengths)])


def turned(case: Sound) -> Sound:
    return replace(case, x=case.x.transpose(0, 1))


def alike_after(grid: Tensor, lengths: list[int]) -> bool:
    """Tell whether the cells after the lengths are all the same: then they may well be the padding value."""
    after = grid[torch.arange(grid.size(1)) >= torch.tensor(lengths).unsqueeze(1)]
    return bool((after == after[:1]).all())


def over_T(draw: random.Random, case: Sound) -> Iterator[Trouble]:
    b, T = draw.randrange(len(case.lengths)), case.grid.size(1)
    wrong = changed(case, b, T + draw.randint(1, 4))
    packed = pack_padded_sequence(case.x, wrong.lengths, case.batch_first, enforce_sorted=False)
    rows, total = len(packed.data), int(packed.batch_sizes.sum())
    assert rows != total
    says = f"packs {rows} rows without an error, with batch_sizes that sum to {total}"
    yield Trouble("length_over_T", wrong, {b: T}, says)


def below_1(draw: random.Random, case: Sound) -> Iterator[Trouble]:
    for length, key in ((0, "zero_length"), (-3, "negative_length")):
        b = draw.randrange(len(case.lengths))
        wrong = changed(case, b, length)
        if len(case.lengths) > 1:
            yield Trouble(key, wrong, [b], torch_says(wrong, wrong.lengths), "error")


def fractional(draw: random.Random, case: Sound) -> Iterator[Trouble]:
    if max(case.lengths) > 1 or case.grid.size(1) == 1:  # else they may be shares of T
        yield Trouble("float_lengths", with_lengths(case, [float(n) for n in case.lengths]), [], severity="note")
        b = draw.randrange(len(case.lengths))
        cut = [n - 0.25 * (i == b) for i, n in enumerate(case.lengths)]
        also = {"zero_length"} if case.lengths[b] == 1 else {"tokens_dropped", "pads_packed"}
        yield Trouble("float_lengths", with_lengths(case, torch.tensor(cut)), [b], also=also)


def shares(_: random.Random, case: Sound) -> Iterator[Trouble]:
    case = case.laid_out(case.grid[:, : max(case.lengths)])
    for dtype in (torch.float32, torch.float64, torch.float16):
        given = (torch.tensor(case.lengths) / max(case.lengths)).to(dtype)
        if bool((given < 1).any()):
            says = torch_says(case, given)
            severity = "error" if says else "silent"
            yield Trouble("relative_lengths", with_lengths(case, given), [], says, severity, right=case)


def elsewhere(_: random.Random, case: Sound) -> Iterator[Trouble]:
    for key, given in (
        ("lengths_device", torch.tensor(case.lengths, device="meta")),
        ("lengths_dim", torch.tensor(case.lengths).unsqueeze(1)),
    ):
        says = torch_says(case, given, enforce_sorted=True)
        assert says is not None
        assert "1D CPU int64" in says
        yield Trouble(key, with_lengths(case, given), [], says, "error", options={"enforce_sorted": True})


def wrong_count(draw: random.Random, case: Sound) -> Iterator[Trouble]:
    B, number = len(case.lengths), draw.randint(1, len(case.lengths) + 2)
    if number not in (B, case.grid.size(1)):
        sort = draw.random() < 0.5
        says = torch_says(case, [1] * number, sort)
        severity, options = "error" if says else "silent", {"enforce_sorted": sort}
        wrong = with_lengths(case, [1] * number)
        yield Trouble("wrong_count", wrong, list(range(number, B)), says, severity, options=options)


def unsorted(draw: random.Random, case: Sound) -> Iterator[Trouble]:
    lengths = [draw.randint(1, max(case.lengths)) for _ in case.lengths]
    says, wrong = torch_says(case, lengths, enforce_sorted=True), with_lengths(case, lengths)
    keys = wrong.keys(enforce_sorted=True)
    assert ("unsorted" in keys) == (says is not None)
    assert "unsorted" not in wrong.keys(enforce_sorted=False)
    if says:
        first = next(b for b in range(1, len(lengths)) if lengths[b] > lengths[b - 1])
        options = {"enforce_sorted": True}
        yield Trouble("unsorted", wrong, [first], says, "error", also={*keys}, options=options)


def other_layout(_: random.Random, case: Sound) -> Iterator[Trouble]:
    if len(case.lengths) != case.grid.size(1):
        wrong = turned(case)
        says = torch_says(wrong, case.lengths, case.enforce_sorted)
        options = {"enforce_sorted": case.enforce_sorted}
        yield Trouble("batch_first", wrong, [], says, "error" if says else "silent", options=options)


def square(draw: random.Random, case: Sound) -> Iterator[Trouble]:
    B = draw.choice((2, 3, 4, 5, 8))
    lengths = [B, *(draw.randint(1, B) for _ in range(B - 1))]
    source = draw.choice(("normal", "whole numbers") if case.module else ("normal", "ids from 1", "whole numbers"))
    case = sound(draw.randrange(10**6), module=case.module is not None, source=source, lengths=lengths, pad=0.0)
    if case.grid.size(1) == B and not alike_after(turned(case).grid, case.lengths):
        yield Trouble("batch_first", turned(case))


ELSEWHERE = {"lengths_order", "batch_first", "left_padded", "viewed"}


def cut(draw: random.Random, case: Sound) -> Iterator[Trouble]:
    long = [b for b, length in enumerate(case.lengths) if length > 1]
    ends = {b: draw.randint(1, case.lengths[b] - 1) for b in draw.sample(long, draw.randint(1, len(long)))}
    wrong = with_lengths(case, [ends.get(b, length) for b, length in enumerate(case.lengths)])
    findings = wrong.findings(enforce_sorted=False)
    if findings[0].key not in ELSEWHERE:
        assert {one.key for one in findings} <= {"tokens_dropped", "zero_counted_out"}
        assert {b: t for one in findings for b, t in zip(one.sequences, one.timesteps, strict=True)} == ends
        key, zeros = findings[0].key, any(not step.any() for sequence in case.sequences for step in sequence)
        assert zeros or [one.key for one in findings] == ["tokens_dropped"]
        severity = "note" if key == "tokens_dropped" and case.x.dim() == 3 else "silent"
        yield Trouble(key, wrong, severity=severity, also={"tokens_dropped", "zero_counted_out"})


def dropped(draw: random.Random, case: Sound) -> Iterator[Trouble]:
    b = draw.choice([b for b, length in enumerate(case.lengths) if length > 1])
    wrong = changed(case, b, case.lengths[b] - 1)
    values, kept = unpacked(pack_padded_sequence(case.x, wrong.lengths, case.batch_first, enforce_sorted=False))
    assert kept == wrong.lengths
    gone = case.grid[b, kept[b]]
    assert not (values[b] == gone).all(-1).any()
    severity = "note" if gone.dim() else "silent"
    says = f"{gone.flatten()[0].item():.6g}"
    yield Trouble("tokens_dropped", wrong, {b: kept[b]}, says, severity, instead=ELSEWHERE)


def taken_in(draw: random.Random, case: Sound) -> Iterator[Trouble]:
    T = case.grid.size(1)
    short = [b for b, length in enumerate(case.lengths) if length < T]
    longer = {b: draw.randint(case.lengths[b] + 1, T) for b in draw.sample(short, draw.randint(1, len(short)))}
    wrong = with_lengths(case, [longer.get(b, length) for b, length in enumerate(case.lengths)])
    told: list[tuple[dict[str, Any], Any]] = [({}, "note"), ({"padding_value": 0.0}, "silent")]
    for named, severity in told:
        at = {b: case.lengths[b] for b in longer}
        yield Trouble("pads_packed", wrong, at, severity=severity, options=named, right=case)
        packed = pack_padded_sequence(case.x, wrong.lengths, case.batch_first, enforce_sorted=False)
        (again,) = pv.examine(packed, **named)
        assert ("Assumed: a pad is 0, since" in again.found) == (not named)
        assert (again.key, dict(zip(again.sequences, again.timesteps, strict=True))) == ("pads_packed", at)
        assert pv.examine(repaired(again, packed=packed)["packed"], **named) == ()


def shuffled(draw: random.Random, case: Sound) -> Iterator[Trouble]:
    lengths = draw.sample(case.lengths, len(case.lengths))
    if lengths != case.lengths and not alike_after(case.grid, lengths):
        at = [b for b, length in enumerate(lengths) if length != case.lengths[b]]
        yield Trouble("lengths_order", with_lengths(case, lengths), at, instead=ELSEWHERE - {"lengths_order"})


def on_the_left(_: random.Random, case: Sound) -> Iterator[Trouble]:
    missing = [case.grid.size(1) - length for length in case.lengths]
    if sum(missing) > 1:
        rolled = torch.stack([row.roll(n, 0) for row, n in zip(case.grid, missing, strict=True)])
        at = [b for b, n in enumerate(missing) if n]
        yield Trouble("left_padded", case.laid_out(rolled), at, instead={"viewed", "batch_first"}, right=case)


def counted_on_the_left(_: random.Random, case: Sound) -> Iterator[Trouble]:
    T = case.grid.size(1)
    rolled = torch.stack([row.roll(T - n, 0) for row, n in zip(case.grid, case.lengths, strict=True)])
    wrong = with_lengths(case.laid_out(rolled), [T] * len(case.lengths))
    yield Trouble("left_padded", wrong, [b for b, n in enumerate(case.lengths) if n < T], severity="note", right=case)


def viewed(_: random.Random, case: Sound) -> Iterator[Trouble]:
    B, T = case.grid.shape[:2]
    wrong = replace(case, x=case.x.transpose(0, 1).contiguous().view(case.x.shape))
    if B != T and min(B, T) > 1 and not alike_after(wrong.grid, case.lengths):
        for named in ({}, {"padding_value": 0.0}):
            yield Trouble("viewed", wrong, options=named, right=case)


def not_finite(draw: random.Random, case: Sound) -> Iterator[Trouble]:
    b = draw.choice([b for b, length in enumerate(case.lengths) if length < case.grid.size(1)])
    inside, after = draw.randrange(case.lengths[b]), draw.randrange(case.lengths[b], case.grid.size(1))
    for key, t in (("nan_in_data", inside), ("nan_in_pads", after)):
        spoilt = case.grid.clone()
        spoilt[b, t, 1] = draw.choice((float("nan"), float("inf"), -float("inf")))
        wrong = case.laid_out(spoilt)
        yield Trouble(key, wrong, {b: t}, options={"enforce_sorted": case.enforce_sorted})
        assert bool(wrong.packed.data.isfinite().all()) == (key == "nan_in_pads")
        if key == "nan_in_data":
            (there,) = pv.examine(wrong.packed)
            assert (there.key, there.sequences, there.timesteps) == (key, (b,), (t,))


Plant = Callable[[random.Random, Sound], Iterator[Trouble]]
EVIDENT = {"module": False, "pad": 0.0}
SOURCES = [{**EVIDENT, "source": source} for source in ("normal", "ids from 1", "zeros inside")]
PLANTED: list[tuple[Plant, dict[str, Any], float]] = [  # and how often in a case it must have spoken
    (over_T, {}, 1),
    (below_1, {"F": 2}, 0.8),
    (fractional, {}, 1),
    (shares, {"T": 9, "B": 5}, 1),
    (elsewhere, {}, 2),
    (wrong_count, {}, 0.3),
    (unsorted, {"module": False}, 0.33),
    (other_layout, {"F": 3}, 0.5),
    (square, {"module": False}, 0.33),
    (square, {"module": True}, 0.33),
    *((plant, fixed, 0.067) for plant in (cut, viewed) for fixed in SOURCES),
    *((plant, fixed, 0.13) for plant in (taken_in, on_the_left) for fixed in SOURCES[:2]),
    (on_the_left, {**SOURCES[0], "module": True}, 0.13),
    (dropped, {**SOURCES[0], "F": 2}, 0.2),
    (dropped, {**SOURCES[0], "F": 2, "module": True}, 0.2),
    (shuffled, SOURCES[0], 0.067),
    (counted_on_the_left, {**SOURCES[0], "lengths": SPREAD}, 1),
    (not_finite, {**SOURCES[0], "F": 3}, 0.4),
    (not_finite, {**SOURCES[0], "F": 3, "module": True}, 0.4),
]
UNEVEN = (cut, dropped, taken_in, shuffled, on_the_left, viewed, not_finite)


@pytest.mark.parametrize(("plant", "fixed", "share"), PLANTED)
def test_a_planted_trouble_is_found_placed_explained_and_repaired(
    plant: Plant, fixed: dict[str, Any], share: float
) -> None:
    spoke = 0
    for seed in seeds(50):
        case = sound(seed, **fixed)
        if plant in UNEVEN and len(set(case.lengths)) == 1:
            continue
        for trouble in plant(random.Random(seed), case):
            spoke += found_and_repaired(trouble)
    assert spoke >= share * many(50)


def found_and_repaired(trouble: Trouble) -> bool:
    case, options = trouble.case, {"enforce_sorted": False, **trouble.options}
    findings = case.findings(**options)
    if {one.key for one in findings} & trouble.instead:
        return False
    finding = found(findings, trouble.key)
    if not case.options and finding.severity != "error":
        assert {one.key for one in findings} <= {trouble.key, "unsorted", *trouble.also}
    assert finding.severity == trouble.severity
    if isinstance(trouble.at, dict):
        assert dict(zip(finding.sequences, finding.timesteps, strict=True)) == trouble.at
    elif trouble.at is not None:
        assert list(finding.sequences) == trouble.at
    assert (trouble.says or "") in finding.torch_does
    assert finding.torch_does.startswith("raises") == (trouble.severity == "error")
    names = {"x": case.x, "lengths": case.lengths, "batch_first": case.batch_first}
    after = repaired(finding, **names, enforce_sorted=options["enforce_sorted"])
    mended = replace(case, **{name: after[name] for name in names})
    if trouble.right is not None:
        assert torch.equal(mended.x, trouble.right.x)
        assert torch.as_tensor(mended.lengths).tolist() == trouble.right.lengths
    elif not case.options:  # a state would be of the wrong size where sequences were left out
        assert trouble.key not in mended.keys(**{**trouble.options, "enforce_sorted": after["enforce_sorted"]})
    return True


@all_of_them
def test_pads_that_also_stand_inside_the_sequences_are_found_where_they_are_told() -> None:
    spoke = 0
    for seed in seeds(50):
        case = sound(seed, module=False, source="ids with 0", pad=0.0, lengths=SPREAD)
        inside = sum(int((sequence == 0).sum()) for sequence in case.sequences)
        short = [b for b in range(8) if case.lengths[b] < 12]
        wrong = with_lengths(case, [12] * 8)
        finding = found(wrong.findings(enforce_sorted=False, padding_value=0.0), "pads_packed")
        assert (list(finding.sequences), finding.severity) == (short, "note" if inside else "silent")
        assert list(finding.timesteps) == [case.lengths[b] for b in short]
        assert bool(wrong.findings(enforce_sorted=False)) == (not inside)
        spoke += inside > 0
    assert 0.1 < spoke / many(50) < 0.95


@all_of_them
def test_lengths_counted_past_a_real_zero_are_told_from_short_ones() -> None:
    seen = 0
    for seed in seeds(150):
        case = sound(seed, module=False, source="ids with 0", pad=0.0, B=5)
        lengths = (case.grid != 0).sum(1).clamp(min=1).tolist()
        ends = [int((row != 0).nonzero().max()) + 1 if row.any() else 0 for row in case.grid]
        wrong = {b: lengths[b] for b in range(5) if ends[b] > lengths[b]}
        if wrong and any(0 < end < case.grid.size(1) for end in ends):
            planted = with_lengths(case, lengths)
            if planted.findings(enforce_sorted=False):
                seen += found_and_repaired(Trouble("zero_counted_out", planted, wrong, instead=ELSEWHERE))
    assert seen > 0.13 * many(150)


def test_an_empty_batch_and_one_of_one_dimension_are_found_with_torchs_message() -> None:
    for shape in ((0, 3), (3, 0), (0, 0), (0, 3, 2), (3, 0, 2)):
        (finding,) = pv.examine(torch.zeros(shape), [1] * shape[0], batch_first=True)
        assert (finding.key, finding.torch_does.startswith("raises RuntimeError")) == ("empty_batch", True)
        with pytest.raises(StopIteration):
            repaired(finding, x=torch.zeros(shape))
    (finding,) = pv.examine(torch.zeros(3), [3])
    with pytest.raises(IndexError) as said:
        pack_padded_sequence(torch.zeros(3), [1] * 3)
    assert (finding.key, str(said.value) in finding.torch_does) == ("one_dimension", True)
    assert pv.examine(repaired(finding, x=torch.arange(3.0))["x"], [3]) == ()


@pytest.mark.parametrize(
    "call",
    [
        lambda: pv.examine("x", [1]),  # type: ignore[arg-type]
        lambda: pv.examine(torch.zeros(2, 3), ["a"], batch_first=True),  # type: ignore[arg-type]
        lambda: pv.examine(torch.zeros(2, 3), [10**30, 1], batch_first=True),
        lambda: pv.examine(torch.zeros(2, 3).to_sparse(), [1, 1]),
        lambda: pv.examine(torch.nn.Linear(2, 3), torch.zeros(2, 3)),
        lambda: pv.examine(torch.zeros(2, 2), torch.zeros(2, dtype=torch.complex64)),
        lambda: pv.examine(PackedSequence(None, torch.tensor([1]))),  # type: ignore[arg-type]
        lambda: pv.watch(3).__enter__(),  # type: ignore[arg-type]
    ],
)
def test_what_is_not_a_batch_is_refused(call: Callable[[], object]) -> None:
    with pytest.raises(PackvizError):
        call()


def test_lengths_that_would_fill_the_memory_are_not_tried() -> None:
    finding = found(pv.examine(torch.zeros(2, 3), [10**12, 1], batch_first=True), "length_over_T")
    assert "was not asked" in finding.torch_does
