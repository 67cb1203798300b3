"""What only the numbers tell: planted in random batches it is found, and its repair leads back."""

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch
from doctor_cases import Sound, found, repaired, sound
from seeds import many, seeds
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_sequence

import packviz as pv
from packviz.doctor import filler_of
from packviz.errors import PackvizError

Plant = Callable[[random.Random, Sound], Sound | None]


def cut(draw: random.Random, case: Sound) -> Sound | None:
    long = [b for b, length in enumerate(case.lengths) if length > 1]
    ends = {b: draw.randint(1, case.lengths[b] - 1) for b in draw.sample(long, draw.randint(1, len(long)))}
    return replace(case, lengths=[ends.get(b, length) for b, length in enumerate(case.lengths)])


def taken_in(draw: random.Random, case: Sound) -> Sound | None:
    T = case.grid.size(1)
    short = [b for b, length in enumerate(case.lengths) if length < T]
    longer = {b: draw.randint(case.lengths[b] + 1, T) for b in draw.sample(short, draw.randint(1, len(short)))}
    return replace(case, lengths=[longer.get(b, length) for b, length in enumerate(case.lengths)])


def on_the_left(_: random.Random, case: Sound) -> Sound | None:
    missing = [case.grid.size(1) - length for length in case.lengths]
    rolled = torch.stack([row.roll(n, 0) for row, n in zip(case.grid, missing, strict=True)])
    return case.laid_out(rolled) if sum(missing) > 1 else None


ELSEWHERE = {"lengths_order", "batch_first", "left_padded", "viewed"}  # several explanations may fit
EVIDENT = {"module": False, "pad": 0.0}
SOURCES = [{**EVIDENT, "source": source} for source in ("normal", "ids from 1", "zeros inside")]
PLANTED: list[tuple[Plant, set[str], dict[str, Any], float]] = [  # and the share of batches in which it must be found
    *((cut, {"tokens_dropped", "zero_counted_out", *ELSEWHERE}, fixed, 0.3) for fixed in SOURCES),
    *((taken_in, {"pads_packed"}, fixed, 0.13) for fixed in SOURCES[:2]),
    *((on_the_left, ELSEWHERE, fixed, 0.13) for fixed in SOURCES[:2]),
    (on_the_left, ELSEWHERE, {**SOURCES[0], "module": True}, 0.13),
]


@pytest.mark.parametrize(("plant", "keys", "fixed", "share"), PLANTED)
def test_what_the_numbers_tell_is_found_and_repaired(
    plant: Plant, keys: set[str], fixed: dict[str, Any], share: float
) -> None:
    spoke = 0
    for seed in seeds(50):
        case, draw = sound(seed, **fixed), random.Random(seed)
        if len(set(case.lengths)) == 1:
            continue
        wrong = plant(draw, case)
        if wrong is None:
            continue
        findings = wrong.findings(enforce_sorted=False)
        assert {one.key for one in findings} & keys, seed
        finding = found(findings, findings[0].key)
        spoke += finding.key in keys
        names = {"x": wrong.x, "lengths": wrong.lengths, "batch_first": wrong.batch_first}
        after = repaired(finding, **names, enforce_sorted=False)
        mended = replace(wrong, **{name: after[name] for name in names})
        if not case.options:  # a state would be of the wrong size where sequences were left out
            assert finding.key not in mended.keys(enforce_sorted=after["enforce_sorted"])
        if plant is taken_in:
            assert torch.as_tensor(mended.lengths).tolist() == case.lengths
    assert spoke >= share * many(50)


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


@pytest.mark.parametrize("seed", seeds(15))
def test_the_padding_value_of_pad_sequence_is_found(seed: int) -> None:
    draw = random.Random(seed)
    lengths = [draw.randint(1, 6) for _ in range(draw.randint(2, 5))]
    batch_first, value = draw.random() < 0.5, draw.choice([0.0, -100.0, 1.0, 0.5])
    shape = () if draw.random() < 0.5 else (3,)
    x = pad_sequence([torch.randn(n, *shape) for n in lengths], batch_first, value)
    pads = sum(max(lengths) - n for n in lengths)
    assert filler_of(x, lengths, batch_first=batch_first) == (value if pads > 1 else 0.0)
