"""The cost of computing on one thread, without a server: tracing, movies, examining, and packing itself."""

import gc
import json
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from statistics import median
from typing import get_args

import torch
from torch import nn
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence

import packviz as pv
from bench.report import Measured
from packviz import Batch, Config
from packviz.compute.record import Start
from packviz.compute.recurrence import run_layers
from packviz.compute.stages import locate, pad
from packviz.compute.trace import record
from packviz.inputs.cell_kinds import Cell
from packviz.inputs.module import zero_state
from packviz.inputs.tensors import valid_mask
from packviz.lab.cost import Measurement, Setup, draw_lengths, measure
from packviz.lab.cost.measuring import Lap, Stopwatch, in_turns
from packviz.lab.cost.setup import Work

Kind = type[nn.RNN] | type[nn.GRU] | type[nn.LSTM]
MODULES: tuple[Kind, ...] = (nn.RNN, nn.GRU, nn.LSTM)
RUNS = 200  # alternating, so that both sides see the same load on the machine
MOVIES: tuple[
    tuple[int, int, Cell, float, float], ...
] = (  # sequences, longest length, cell, and the targets: the ratio to a trace, and kB
    (3, 4, "gru", 3, 16),
    (6, 8, "lstm", 4, 35),
    (20, 20, "gru", 7, 120),
    (60, 60, "gru", 12, 600),
)
WATCHED_RUNS = 20
WATCHED: tuple[tuple[Kind, int, int, int, int], ...] = (  # B, T, F, and calls per step
    (nn.LSTM, 32, 100, 64, 1),
    (nn.GRU, 8, 20, 16, 1),
    (nn.GRU, 8, 1, 32, 50),
)
EXAMINED = ((3, 5, 4, 4), (32, 100, 64, 64))  # B, T, F, H
FILLS = (0.1, 0.5, 1.0)


@contextmanager
def undisturbed() -> Iterator[None]:
    """Limit torch to one thread, without gradients and without garbage collection."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    gc.collect()
    gc.disable()
    try:
        with torch.no_grad():
            yield
    finally:
        gc.enable()
        torch.set_num_threads(threads)


def rounds(works: Iterable[Work], runs: int) -> list[list[Lap]]:
    """Return the times of each function in alternating rounds; freeing the results is not timed."""
    named = {str(i): work for i, work in enumerate(works)}
    with undisturbed():
        return [[*laps.values()] for laps in in_turns(named, runs, around=nullcontext, watch=Stopwatch())]


def fastest(*works: Work, runs: int = RUNS) -> list[float]:
    """Return the fastest run of each function, in ms."""
    return [1000 * min(lap.wall for lap in laps) for laps in zip(*rounds(works, runs), strict=True)]


def _ratio(what: str, costs: Sequence[float], target: float | None = None, runs: int = RUNS) -> Measured:
    ours, theirs = costs
    how = f"{ours:,.3g} ms ÷ {theirs:,.3g} ms, the fastest of {runs} alternating runs each"
    return Measured(what, ours / theirs, how, at_most=target)


def trace_cost() -> list[Measured]:
    """Recorded forward ÷ torch's packed forward, over 100 sequences, with torch's default switches."""
    return [line for kind in MODULES for line in _recorded(kind)]


def _recorded(kind: Kind) -> Iterator[Measured]:
    padded = pad(Batch.example("hundred").sequences)  # 818 tokens, 200 features
    values, lengths = padded.values, padded.lengths
    torch.manual_seed(0)
    module = kind(values.size(2), 128, batch_first=True)
    start, state = Start(None, None, module, padded), zero_state(module, len(lengths), torch.float32)

    def pack() -> PackedSequence:
        return pack_padded_sequence(values, lengths, batch_first=True, enforce_sorted=False)

    def our_way() -> object:
        done = record(start, pack(), state)
        return done, done.h_n, done.unpacked

    packed, rows = pack(), locate(pack())
    forward = fastest(lambda: run_layers(module, rows, *state), lambda: module(packed))
    whole = fastest(our_way, lambda: pad_packed_sequence(module(pack())[0], batch_first=True))
    yield _ratio(f"{kind.__name__}: recorded forward ÷ torch's packed forward", forward, 1.3)
    yield _ratio(f"{kind.__name__}: trace without proof ÷ torch's pack, forward, unpack", whole)


def movie_cost() -> list[Measured]:
    """`movie(t).to_dict()` ÷ `trace(...)`, and the movie's size as JSON."""
    return [line for case in MOVIES for line in _shown(*case)]


def _shown(rows: int, longest: int, cell: Cell, traces: float, kilobytes: float) -> Iterator[Measured]:
    draw = random.Random(0)
    lengths = [longest, *(draw.randint(1, longest) for _ in range(rows - 1))]
    batch = Batch.parse("\n".join(" ".join(str(k % 10) for k in range(length)) for length in lengths))
    config, name = Config(cell=cell), f"{rows} × {longest} {cell.upper()}"
    seen = pv.trace(batch, config)
    costs = fastest(lambda: pv.movie(seen).to_dict(), lambda: pv.trace(batch, config), runs=5)
    size = len(json.dumps(pv.movie(seen).to_dict(), separators=(",", ":"), ensure_ascii=False).encode()) / 1000
    yield _ratio(f"movie(t).to_dict() ÷ trace(...), {name}", costs, traces, runs=5)
    yield Measured(f"kB of the movie as JSON, {name}", size, "without spaces", at_most=kilobytes)


def doctor() -> list[Measured]:
    """Examining a sound batch, padded with lengths and packed, ÷ one forward of its module."""
    return [line for size in EXAMINED for kind in MODULES for line in _examined(kind, *size)]


def _examined(kind: Kind, B: int, T: int, F: int, H: int) -> Iterator[Measured]:
    module, x, lengths = _drawn(kind, B, T, F, H)
    packed = pack_padded_sequence(x, lengths, batch_first=True)
    with_lengths = fastest(lambda: pv.examine(module, x, lengths), lambda: module(x))
    as_packed = fastest(lambda: pv.examine(module, packed), lambda: module(packed))
    name = f"{kind.__name__} {B} × {T} × {F}: examine"
    yield _ratio(f"{name}(module, x, lengths) ÷ its padded forward", with_lengths, 1.0)
    yield _ratio(f"{name}(module, packed) ÷ its packed forward", as_packed, 1.0)


def _drawn(kind: Kind, B: int, T: int, F: int, H: int) -> tuple[nn.RNNBase, torch.Tensor, torch.Tensor]:
    """Return a module, a sound batch (B, T, F) for it, and its lengths, the longest first."""
    torch.manual_seed(0)
    module, lengths = kind(F, H, batch_first=True), torch.linspace(T, max(T // 4, 1), B).long()
    return module, torch.randn(B, T, F) * valid_mask(lengths, T).unsqueeze(2), lengths


def watching() -> Iterator[Measured]:
    """Training steps that are watched, or have a bare forward hook, ÷ the same steps without, alternating."""
    for kind, B, T, F, calls in WATCHED:
        module, x, lengths = _drawn(kind, B, T, F, 64)
        step = partial(_trained, module, x, lengths, calls)
        ways = nullcontext, partial(_watched, module), partial(module.register_forward_hook, lambda *_: None)
        taken = [
            [lap.cpu for lap in laps] for laps in rounds((partial(_five, step, way) for way in ways), WATCHED_RUNS)
        ]
        watched, hooked = (median(one[n] / one[0] for one in taken) for n in (1, 2))
        bare = 1000 * median(one[0] for one in taken)
        how = f"{bare:,.3g} ms of CPU time not watched; with a bare forward hook {hooked:.2f}"
        what = f"{calls} calls of one step" if calls > 1 else f"{B} × {T} × {F}, packed"
        named = f"5 training steps, {kind.__name__}, {what}: watched ÷ not, median of {WATCHED_RUNS} pairs"
        yield Measured(named, watched, how, at_most=1.3)  # torch calls the mode for each of its functions


def _five(step: Callable[[], None], way: Callable[[], AbstractContextManager[object]]) -> None:
    """Take five steps in a context, including its opening and closing."""
    with way():
        for _ in range(5):
            step()


@contextmanager
def _watched(module: nn.RNNBase) -> Iterator[None]:
    with pv.watch(module, keep=0) as seen:
        yield
    assert not seen.findings, seen


def _trained(module: nn.RNNBase, x: torch.Tensor, lengths: torch.Tensor, calls: int) -> None:
    """Run forward and backward: over a packed batch, or many times over its first step, as a decoder does."""
    with torch.enable_grad():
        if calls == 1:
            output = module(pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False))[0].data
        else:
            state = None
            for _ in range(calls):
                output, state = module(x[:, :1], state)
        output.sum().backward()


def fills() -> Iterator[Measured]:
    """Packed ÷ padded time for the three cells and three shares of fill: module(x), and pack, module, unpack."""
    for cell in get_args(Cell):
        for fill in FILLS:
            for backward in (False, True):
                setup = Setup(cell, 64, 64, backward=backward, threads=1)
                yield _packed_by_padded(measure(setup, draw_lengths(32, 100, fill), 41))


def _packed_by_padded(done: Measurement) -> Measured:
    padded, packed = done.padded, done.packed
    runs = "forward and backward" if done.setup.backward else "forward"
    how = (
        f"{packed.median:.2f} ms ÷ {padded.median:.2f} ms, medians of {done.rounds} alternating runs; "
        f"the fastest: {min(packed.times):.2f} ms ÷ {min(padded.times):.2f} ms"
    )
    busy = f"; busy machine: {'; '.join(done.reasons)}" if done.busy else ""
    what = f"{done.setup.name}: packed ÷ padded, {runs}, fill {100 * done.fill:.0f}%"
    return Measured(what, done.ratio, f"{how}{busy}")
