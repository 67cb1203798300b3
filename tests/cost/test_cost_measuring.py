"""Measurements by scripted clocks: medians, spread, turns, stopping, a busy machine. No test asks the real time."""

import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from itertools import product
from statistics import median

import numpy as np
import pytest
import torch
from cost_cases import LENGTHS, SMALL, measured, scripted
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from packviz.compute.determinism import exact_arithmetic
from packviz.errors import PackvizError
from packviz.lab.cost import Setup, Timing, devices, measure, verdict
from packviz.lab.cost.machine_load import Strain, strain
from packviz.lab.cost.measuring import run_setup
from packviz.lab.cost.setup import build_rig
from packviz.lab.cost.timing import Lap, Stopwatch, in_turns, switches

SLOW, FAST = [8.0, 9.0, 8.5, 8.0, 9.5, 8.2, 8.8], [4.0, 4.5, 4.1, 4.2, 4.4, 4.0, 4.3]


def mkldnn_enabled() -> bool:
    enabled: bool = torch._C._get_mkldnn_enabled()
    return enabled


# What is run


@pytest.mark.parametrize(("cell", "both", "layers"), [*product(("rnn", "gru", "lstm"), (False, True), (1, 2))])
def test_both_sides_run_the_same_weights_on_the_same_input(cell: str, both: bool, layers: int) -> None:
    setup = Setup(cell, 3, 5, layers, both)
    kind = {"rnn": nn.RNN, "gru": nn.GRU, "lstm": nn.LSTM}[cell]
    torch.manual_seed(setup.seed)
    module = kind(3, 5, layers, batch_first=True, bidirectional=both)
    lengths = torch.tensor(LENGTHS)
    x = torch.randn(3, 4, 3) * (torch.arange(4) < lengths[:, None]).unsqueeze(-1)
    packed = pack_padded_sequence(x, lengths, True, enforce_sorted=False)
    rig = build_rig(setup, LENGTHS)
    with torch.no_grad(), torch.backends.mkldnn.flags(enabled=False, allow_tf32=None):
        output = module(packed)[0]
        assert torch.equal(rig.padded()[0], module(x)[0])
        assert torch.equal(rig.packed()[0], pad_packed_sequence(output, True)[0])
        assert torch.equal(rig.alone()[0], output.data)


@pytest.mark.parametrize("cell", ["rnn", "gru", "lstm"])
def test_backward_computes_the_same_gradients_of_all_weights_on_all_sides(cell: str) -> None:
    rig = build_rig(Setup(cell, 3, 5, 2, backward=True), LENGTHS)
    padded, packed, alone = (way()[1:] for way in (rig.padded, rig.packed, rig.alone))
    assert len(padded) == len(list(rig.module.parameters()))
    for one, two, three in zip(padded, packed, alone, strict=True):
        assert float(one.abs().max()) > 0
        torch.testing.assert_close(one, two, rtol=1e-4, atol=1e-5)
        torch.testing.assert_close(two, three, rtol=1e-4, atol=1e-5)
    assert all(parameter.grad is None for parameter in rig.module.parameters())


def test_the_random_numbers_of_torch_stay_as_they_are() -> None:
    before = torch.get_rng_state()
    list(measure(LENGTHS, "gru", 2, 3, repeats=1))
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize(
    ("wrong", "of"),
    [
        ({"cell": "cnn"}, "cell"),
        ({"features": 0}, "features"),
        ({"hidden_size": 2.5}, "hidden_size"),
        ({"hidden_size": 100_000}, "hidden_size"),
        ({"threads": 0}, "threads"),
        ({"device": "abacus"}, "device"),
        ({"repeats": 0}, "repeats"),
        ({"lengths": [3, 0]}, "lengths"),
        ({"lengths": [1_000_000] * 1000, "hidden_size": 1, "features": 1}, "hidden_size"),
    ],
)
def test_what_cannot_be_run_is_refused_at_once(wrong: dict, of: str) -> None:
    with pytest.raises(PackvizError, match=of):
        measure(**{"lengths": LENGTHS, "features": 2, "hidden_size": 3} | wrong)


def test_cuda_is_offered_where_torch_has_it() -> None:
    assert devices() == (("cpu", "cuda") if torch.cuda.is_available() else ("cpu",))


@pytest.mark.parametrize(("cell", "gates"), [("rnn", 1), ("gru", 3), ("lstm", 4)])
@pytest.mark.parametrize(("layers", "both"), [(1, False), (3, True)])
def test_work_is_two_for_each_weight_of_a_matrix_and_cell(cell: str, gates: int, layers: int, both: bool) -> None:
    kind = {"rnn": nn.RNN, "gru": nn.GRU, "lstm": nn.LSTM}[cell]
    module = kind(7, 5, layers, bidirectional=both)
    weights = sum(parameter.numel() for parameter in module.parameters() if parameter.dim() == 2)
    assert Setup(cell, 7, 5, layers, both).work(11) == 2 * weights * 11
    assert module.weight_ih_l0.size(0) == gates * 5


# How it is timed


@pytest.mark.parametrize("seed", range(40))
def test_median_and_quartiles_are_numpys(seed: int) -> None:
    draw = random.Random(seed)
    times = [draw.expovariate(1.0) for _ in range(draw.randint(1, 30))]
    timing = Timing(tuple(times))
    assert [timing.low, timing.median, timing.high] == pytest.approx(np.percentile(times, [25, 50, 75]).tolist())
    assert timing.fastest == min(times)


@pytest.mark.parametrize("seed", range(20))
def test_each_side_gets_its_own_times_in_ms_and_the_first_runs_do_not_count(seed: int) -> None:
    draw = random.Random(seed)
    rounds = draw.randint(1, 9)
    script = [draw.uniform(0.001, 0.1) for _ in range(4 * (rounds + 1))]
    *partial, last = run_setup(SMALL, LENGTHS, rounds, watch=scripted(script))
    turns = [script[i : i + 4] for i in range(4, len(script), 4)]
    for side, timing in enumerate((last.padded, last.packed, last.alone)):
        assert timing.times == pytest.approx([1e3 * turn[side] for turn in turns])
    assert last.ratio == pytest.approx(median(t[1] for t in turns) / median(t[0] for t in turns))
    assert [result.rounds for result in partial] == list(range(1, rounds))
    assert [result.finished for result in (*partial, last)] == [False] * (rounds - 1) + [True]
    assert (last.rounds, last.planned) == (rounds, rounds)
    assert last.fill == pytest.approx(7 / 12)


def test_runs_take_turns_inside_their_switches_and_wait_for_the_device() -> None:
    seen: list[str] = []

    @contextmanager
    def around() -> Iterator[None]:
        seen.append("(")
        yield
        seen.append(")")

    works = {name: lambda name=name: seen.append(name) for name in "AB"}
    rounds = in_turns(works, 2, around=around, watch=scripted([]), sync=lambda: seen.append("."))
    assert [list(laps) for laps in rounds] == [["A", "B"]] * 2
    assert "".join(seen) == "(.A.)(.B.)" * 3


@pytest.mark.parametrize(("seconds", "rounds"), [(0.0, 6), (10.0, 9), (16.5, 16), (100.0, 20), (None, 20)])
def test_no_round_begins_when_the_time_is_over_and_there_are_six(seconds: float | None, rounds: int) -> None:
    at = 0.0

    def work() -> None:
        nonlocal at
        at += 1.0

    watch = Stopwatch(lambda: at, lambda: at, lambda: None, 2)
    done = list(in_turns({"A": work}, 20, around=nullcontext, seconds=seconds, watch=watch))
    assert len(done) == rounds
    assert all(laps == {"A": Lap(1.0, 1.0)} for laps in done)


def test_closing_stops_the_runs() -> None:
    runs = measure(LENGTHS, "gru", 2, 3, repeats=10**9)
    assert not next(runs).finished
    runs.close()
    assert list(runs) == []


@pytest.mark.parametrize("onednn", [True, False])
@pytest.mark.parametrize("backward", [True, False])
def test_a_run_has_its_switches_and_leaves_them_as_they_were(onednn: bool, backward: bool) -> None:
    before = mkldnn_enabled(), torch.get_num_threads(), torch.is_grad_enabled()
    during = []

    def fail() -> None:
        with switches(Setup("gru", 2, 3, backward=backward, onednn=onednn, threads=1)):
            during.append((mkldnn_enabled(), torch.get_num_threads(), torch.is_grad_enabled()))
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert during == [(onednn, 1, backward)]
    assert (mkldnn_enabled(), torch.get_num_threads(), torch.is_grad_enabled()) == before


def test_a_trace_elsewhere_waits_for_one_run_and_not_for_the_measurement() -> None:
    entered = threading.Event()

    def elsewhere() -> None:
        with exact_arithmetic():
            entered.set()

    thread = threading.Thread(target=elsewhere)
    with switches(SMALL):
        thread.start()
        assert not entered.wait(0.2)
    assert entered.wait(30)
    thread.join()
    runs = measure(LENGTHS, "gru", 2, 3, repeats=5)
    next(runs)
    entered.clear()
    thread = threading.Thread(target=elsewhere)
    thread.start()
    assert entered.wait(30)
    thread.join()


# What it says


def test_a_clear_difference_is_told_with_its_ratio() -> None:
    told = verdict(measured(FAST, [2 * ms for ms in FAST]))
    assert told == "Here packing takes 2.0 times as long as padding (GRU, fill 58 %)."
    assert verdict(measured(SLOW, FAST)) == "Here packing takes 49 % of the time that padding takes (GRU, fill 58 %)."


@pytest.mark.parametrize("packed", [FAST, FAST[::-1], [ms + 0.1 for ms in FAST], [1.0, 9.0, 1.0, 9.0, 1.0, 9.0, 9.0]])
def test_where_the_spreads_overlap_no_difference_is_told(packed: list[float]) -> None:
    done = measured(FAST, packed)
    assert not done.differs
    assert "there is no difference that this measurement can show" in verdict(done)


@pytest.mark.parametrize(("rounds", "differs"), [(1, False), (3, False), (5, False), (6, True), (7, True)])
def test_a_difference_takes_six_rounds(rounds: int, differs: bool) -> None:
    done = measured(FAST[:rounds], SLOW[:rounds])
    assert done.differs is differs
    assert ("too few" in verdict(done)) is (rounds < 6)


def test_two_sides_that_are_alike_rarely_differ() -> None:
    draw = random.Random(0)
    alike = [measured(*([draw.gauss(10, 1) for _ in range(7)] for _ in range(2))) for _ in range(300)]
    assert sum(done.differs for done in alike) <= 0.05 * len(alike)


def test_the_way_it_was_run_is_told() -> None:
    setup = Setup("lstm", 2, 3, backward=True, onednn=False)
    *_, last = run_setup(setup, LENGTHS, 2)
    assert "(LSTM, fill 58 %, forward with backward, oneDNN off)" in verdict(last)


# A busy machine


def test_a_quiet_machine_is_not_called_busy() -> None:
    done = measured(FAST, SLOW)
    assert not done.busy
    assert "busy" not in verdict(done)


@pytest.mark.parametrize(
    ("machine", "told"),
    [
        ({"share": 0.5}, "only 50 % of the time"),
        ({"load": 6.0}, "6.0 tasks at once wanted the 2 processors"),
        ({"load": 1.5, "cores": 1}, "1.5 tasks at once wanted the one processor"),
    ],
)
def test_a_measurement_on_a_busy_machine_says_so(machine: dict, told: str) -> None:
    done = measured(FAST, SLOW, **machine)
    assert done.busy
    assert told in verdict(done)
    assert "The machine was busy meanwhile" in verdict(done)


def test_a_fixed_piece_of_work_that_takes_longer_at_times_is_a_sign() -> None:
    watch, steady = scripted([]), [Lap(1.0, 1.0)] * 5
    calm = strain(steady, steady, watch)
    assert (calm.busy, calm.share, calm.swing) == (False, 1.0, 1.0)
    swinging = strain(steady, [Lap(1.0, 1.0), Lap(2.0, 2.0), Lap(3.0, 3.0)], watch)
    assert swinging.reasons == ("the same small piece of work took 2.0 times as long as at its best",)


def test_a_thread_that_waits_for_a_device_is_not_called_kept_from_its_processor() -> None:
    laps = [Lap(1.0, 0.1)]
    assert strain(laps, laps, scripted([])).busy
    assert strain(laps, laps, scripted([]), waits=True).share is None
    assert not strain(laps, laps, scripted([]), waits=True).busy


def test_the_load_is_shared_by_all_processors_and_may_be_unknown() -> None:
    assert Strain(1.0, 6.0, 4, 1.0).busy
    assert not Strain(1.0, 6.0, 8, 1.0).busy
    assert not Strain(1.0, None, 1, 1.0).busy
