"""What recording costs: packviz beside torch's own packed run of the same module on the same batch, one thread."""

import gc
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence

from bench.report import Line, Target, at_most
from packviz.compute.record import Start, Trace
from packviz.compute.recurrence import run_layers
from packviz.compute.stages import locate, pad
from packviz.compute.trace import record
from packviz.inputs.batch import Batch
from packviz.inputs.module import zero_state

__all__ = ["fastest", "trace_cost", "undisturbed"]

HIDDEN, BATCH = 128, "hundred"  # 100 sequences, 818 tokens, 200 features
ROUNDS, RUNS = 5, 40  # in each round the two sides take turns, so that both meet the same neighbours on the machine
COST = at_most(1.3)

Cell = type[nn.RNN] | type[nn.GRU] | type[nn.LSTM]


def trace_cost() -> list[Line]:
    """Time the RNN, the GRU and the LSTM, without gradients, torch with its default switches."""
    with undisturbed():
        return [line for cell in (nn.RNN, nn.GRU, nn.LSTM) for line in _lines(cell)]


@contextmanager
def undisturbed() -> Iterator[None]:
    """Keep torch to one thread, without gradients, and let no garbage be collected meanwhile."""
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


def fastest(ours: Callable[[], object], theirs: Callable[[], object]) -> tuple[float, float]:
    """Return the seconds of the fastest run of each, taken in turns."""
    times = [(_seconds(ours), _seconds(theirs)) for _ in range(ROUNDS * RUNS)]
    return min(mine for mine, _ in times), min(yours for _, yours in times)


def _seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    result = work()
    seconds = time.perf_counter() - began
    del result  # what is kept is given back outside the measured time, on both sides
    return seconds


def _lines(cell: Cell) -> Iterator[Line]:
    start, state, packed = _prepared(cell)
    values, lengths, rows = start.padded.values, start.padded.lengths, locate(packed)

    def pack() -> PackedSequence:
        return pack_padded_sequence(values, lengths, batch_first=True, enforce_sorted=False)

    def our_way() -> tuple[Trace, Tensor, object]:
        done = record(start, pack(), state)
        return done, done.h_n, done.unpacked

    def torchs_way() -> tuple[Tensor, Tensor]:
        output, _ = start.module(pack())
        return pad_packed_sequence(output, batch_first=True)

    forward = fastest(lambda: run_layers(start.module, rows, *state), lambda: start.module(packed))
    whole = fastest(our_way, torchs_way)
    alone = whole[0], forward[1]
    name = cell.__name__
    yield _line(f"{name}: recorded forward ÷ torch's packed forward", forward, COST)
    yield _line(f"{name}: trace without proof ÷ torch's pack, forward, unpack", whole, None)
    yield _line(f"{name}: trace without proof ÷ torch's packed forward alone", alone, None)


def _line(what: str, seconds: tuple[float, float], target: Target | None) -> Line:
    ours, theirs = seconds
    return Line(
        what, ours / theirs, target, f"{ours * 1e3:.2f} ms, {theirs * 1e3:.2f} ms; {ROUNDS} × {RUNS} runs in turns"
    )


def _prepared(cell: Cell) -> tuple[Start, tuple[Tensor, Tensor | None], PackedSequence]:
    batch = Batch.example(BATCH)
    padded = pad(batch.sequences)
    torch.manual_seed(0)
    module = cell(padded.values.size(2), HIDDEN, batch_first=True)
    packed = pack_padded_sequence(padded.values, padded.lengths, batch_first=True, enforce_sorted=False)
    return Start(None, None, module, padded), zero_state(module, len(padded.lengths), torch.float32), packed
