"""What only the numbers tell: planted in random batches it is found and repaired; else nothing is found."""

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch
from doctor_cases import Sound, found, on_the_left, repaired, sound
from seeds import many, seeds
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence, pad_sequence

import packviz as pv
from packviz.doctor import filler_of
from packviz.errors import PackvizError


@pytest.mark.parametrize("chunk", range(4))
def test_a_sound_batch_yields_no_finding(chunk: int) -> None:
    each = many(100)
    for seed in range(chunk * each, (chunk + 1) * each):
        case = sound(seed)
        assert case.findings() == (), seed
        if seed % 2:
            assert case.findings(**beside(case, random.Random(seed))) == (), seed
        else:
            assert pv.examine(case.packed) == pv.examine(case.packed, torch.tensor(case.lengths)) == (), seed
            assert case.module is None or pv.examine(case.module, case.packed, **case.options) == (), seed


def beside(case: Sound, draw: random.Random) -> dict[str, object]:
    """Return a sound mask, targets, output and state, some of them."""
    B, T = case.grid.shape[:2]
    mask = torch.arange(T) < torch.tensor(case.lengths).unsqueeze(1)
    masks = [mask, mask.float(), mask.int().unsqueeze(-1)]
    if not case.batch_first:
        masks.append(mask.T)
    targets = pack_padded_sequence(torch.zeros(B, max(case.lengths)), case.lengths, True, enforce_sorted=False)
    given: dict[str, object] = {"mask": draw.choice(masks), "targets": targets, "target_lengths": case.lengths}
    if case.module is None:
        return given
    with torch.no_grad():
        packed, state = case.module(case.packed, case.options.get("hx"))
    output, _ = pad_packed_sequence(packed, case.batch_first, total_length=T)
    h_n = state[0] if isinstance(state, tuple) else state
    last = torch.cat(list(h_n[-2 if case.module.bidirectional else -1 :]), 1)
    return {**given, "output": output, "state": last}


@pytest.mark.parametrize("told", [False, True])
def test_pads_of_any_constant_value_are_sound(told: bool) -> None:
    for seed, pad in enumerate((0.0, -1.0, 7.0, float("-inf"), float("nan"))):
        case = sound(seed + 50, module=False, source="normal", pad=pad, T=6, B=4)
        keys = case.keys(**({"padding_value": pad} if told else {}))
        assert keys == ([] if told or abs(pad) < 9 else ["nan_in_pads"] * bool(min(case.lengths) < case.grid.size(1)))


def test_pads_that_were_embedded_or_computed_by_an_earlier_layer_are_sound() -> None:
    for seed in seeds(60):
        case = sound(seed, module=False, source="ids from 1")
        torch.manual_seed(seed)
        embedding = nn.Embedding(501, 4, padding_idx=0 if seed % 2 else None)
        x = embedding(case.x.clamp(min=0))
        assert replace(case, x=x).findings() == replace(case, x=x).findings(ids=case.x, padding_value=case.pad) == ()
        case = sound(seed, module=False, source="normal")
        mask = torch.arange(case.grid.size(1)) < torch.tensor(case.lengths).unsqueeze(1)
        spoilt = torch.where(mask.unsqueeze(-1), case.grid, torch.randn_like(case.grid))
        assert case.laid_out(spoilt).findings() == (), seed


def piano_roll(steps: int) -> Tensor:
    """Return (steps, 12) of 0 and 1: notes that are held, with silence between them and a bar of silence at the end."""
    roll = torch.zeros(steps, 12)
    for start in range(0, steps - 4, 3):
        roll[start : start + random.randint(1, 4), random.randrange(12)] = 1
    return roll


def purchases(steps: int) -> Tensor:
    """Return (steps, 1), purchases in each week; some customers have stopped buying."""
    bought = torch.poisson(torch.full((steps, 1), 1.5))
    bought[0] = 1
    bought[random.randint(2, steps) :] = 0
    return bought


@pytest.mark.parametrize("kind", [piano_roll, purchases])
def test_real_zeros_at_the_end_are_a_note_at_most(kind: Callable[[int], Tensor]) -> None:
    ends = 0
    for seed in seeds(40):
        random.seed(seed)
        torch.manual_seed(seed)
        sequences = [kind(random.randint(12, 30)) for _ in range(8)]
        lengths = [len(sequence) for sequence in sequences]
        x = pad_sequence(sequences, batch_first=True)
        ends += any(not sequence[-1].any() for sequence in sequences)
        packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        rnn = nn.GRU(x.size(2), 3, batch_first=True)
        with pv.watch(rnn) as seen:
            rnn(packed)
        findings = [*pv.examine(x, lengths, batch_first=True, enforce_sorted=False), *seen.findings]
        assert {finding.severity for finding in findings} <= {"note"}, seed
    assert ends > 0.9 * many(40)


def test_what_may_be_real_is_a_note_that_says_what_is_assumed() -> None:
    spoke = [0, 0]
    for seed in seeds(60):
        case = sound(seed, module=False, source="normal", pad=0.0, F=3)
        grid = case.grid.clone()
        grid[seed % len(case.lengths), case.lengths[seed % len(case.lengths)] - 1] = 0
        with torch.no_grad():
            convolution = nn.Conv1d(3, 4, 3, padding=1, bias=False, dtype=grid.dtype)
            computed = convolution(case.grid.transpose(1, 2)).transpose(1, 2)
        for n, (given, key) in enumerate(((grid, "pads_packed"), (computed, "tokens_dropped"))):
            for finding in case.laid_out(given).findings():
                spoke[n] += 1
                assert (finding.key, finding.severity) == (key, "note")
                assert "Pads are assumed to be 0: give padding_value if they are not." in finding.found
                assert n == 0 or "If an earlier layer computed" in finding.found
    assert min(spoke) > 0.2 * many(60)
    (order,) = pv.examine(torch.tensor([[7, 0, 0], [1, 2, 3], [4, 5, 6]]), [3, 3, 1], batch_first=True)
    assert (order.key, "Pads are assumed to be 0" in order.found) == ("lengths_order", True)


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


def moved(_: random.Random, case: Sound) -> Sound | None:
    pads = sum(case.grid.size(1) - length for length in case.lengths)
    return case.laid_out(on_the_left(case.grid, case.lengths)) if pads > 1 else None


ELSEWHERE = {"lengths_order", "batch_first", "left_padded"}  # several explanations may fit
EVIDENT = {"module": False, "pad": 0.0}
SOURCES = [{**EVIDENT, "source": source} for source in ("normal", "ids from 1", "zeros inside")]
PLANTED: list[tuple[Plant, set[str], dict[str, Any], float]] = [  # and the share of batches in which it must be found
    *((cut, {"tokens_dropped", "zero_counted_out", *ELSEWHERE}, fixed, 0.3) for fixed in SOURCES),
    *((taken_in, {"pads_packed"}, fixed, 0.13) for fixed in SOURCES[:2]),
    *((moved, ELSEWHERE, fixed, 0.13) for fixed in SOURCES[:2]),
    (moved, ELSEWHERE, {**SOURCES[0], "module": True}, 0.13),
]


@pytest.mark.parametrize(("plant", "keys", "fixed", "share"), PLANTED)
def test_what_the_numbers_tell_is_found_and_repaired(
    plant: Plant, keys: set[str], fixed: dict[str, Any], share: float
) -> None:
    spoke = 0
    for seed in seeds(50):
        case = sound(seed, **fixed)
        wrong = plant(random.Random(seed), case) if len(set(case.lengths)) > 1 else None
        if wrong is None:
            continue
        # a single number is a pad only if padding_value or the lengths say so
        is_known = wrong.grid[0, 0].numel() > 1 or min(wrong.lengths) < wrong.grid.size(1)
        named: dict[str, Any] = {"enforce_sorted": False} | ({} if is_known else {"padding_value": wrong.pad})
        findings = wrong.findings(**named)
        assert {one.key for one in findings} & keys, seed
        finding = found(findings, findings[0].key)
        spoke += finding.key in keys
        names = {"x": wrong.x, "lengths": wrong.lengths, "batch_first": wrong.batch_first}
        after = repaired(finding, **names, enforce_sorted=False)
        mended = replace(wrong, **{name: after[name] for name in names})
        if not case.options:  # a state would be of the wrong size if sequences were left out
            assert finding.key not in mended.keys(**{**named, "enforce_sorted": after["enforce_sorted"]})
        if plant is taken_in:
            assert torch.as_tensor(mended.lengths).tolist() == case.lengths
    assert spoke >= share * many(50)


def test_an_empty_batch_is_found_with_torchs_message() -> None:
    for shape in ((0, 3), (3, 0), (0, 0), (0, 3, 2), (3, 0, 2)):
        (finding,) = pv.examine(torch.zeros(shape), [1] * shape[0], batch_first=True)
        assert (finding.key, finding.torch_does.startswith("raises RuntimeError")) == ("empty_batch", True)
        with pytest.raises(StopIteration):
            repaired(finding, x=torch.zeros(shape))


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
