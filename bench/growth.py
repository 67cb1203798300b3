"""What a trace and its movie cost at 1, 10 and 100 times the tokens."""

import gc
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, is_dataclass

import torch

from bench.report import Line, at_most
from packviz.compute.trace import Trace, trace
from packviz.inputs.batch import Batch
from packviz.inputs.config import Config
from packviz.show.movie import movie

__all__ = ["Size", "bytes_of", "growth", "measure"]

TIMES = (1, 10, 100)
CONFIG = Config(cell="gru", hidden_size=128)
ROUNDS = 3
FILE = at_most(1.0)  # MB of a movie's file, offline


@dataclass(frozen=True)
class Size:
    """What one batch costs: seconds and bytes of its trace, bytes of its movie's file."""

    tokens: int
    seconds: float
    bytes: int
    file: int

    @property
    def microseconds(self) -> float:
        """Return the time of the trace, by token."""
        return 1e6 * self.seconds / self.tokens

    @property
    def kilobytes(self) -> float:
        """Return the memory of the trace, by token."""
        return self.bytes / self.tokens / 1e3


def growth() -> list[Line]:
    """Trace and film the batch of 100 sequences, then ten and a hundred such batches at once."""
    sizes = [measure(times) for times in TIMES]
    first = sizes[0]
    return [line for size in sizes for line in _lines(size, first)]


def measure(times: int) -> Size:
    """Trace and film `times` copies of the batch at once, on one thread."""
    batch = Batch.from_tensors(list(Batch.example("hundred").sequences) * times)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        seconds, done = min((_timed(batch) for _ in range(ROUNDS)), key=lambda timed: timed[0])
    finally:
        torch.set_num_threads(threads)
    return Size(int(batch.lengths.sum()), seconds, bytes_of(done), len(movie(done).to_html().encode()))


def bytes_of(traced: Trace) -> int:
    """Return the memory of all tensors in a trace, each counted once; its batch and module are not its own."""
    stored = {
        tensor.untyped_storage()
        for name, part in vars(traced).items()
        if name not in ("batch", "module")
        for tensor in _tensors(part)
    }
    return sum({storage.data_ptr(): storage.nbytes() for storage in stored}.values())


def _timed(batch: Batch) -> tuple[float, Trace]:
    gc.collect()
    began = time.perf_counter()
    done = trace(batch, CONFIG)
    return time.perf_counter() - began, done


def _tensors(part: object) -> Iterator[torch.Tensor]:
    if isinstance(part, torch.Tensor):
        yield part
    elif is_dataclass(part):
        for each in vars(part).values():
            yield from _tensors(each)
    elif isinstance(part, Mapping):
        yield from _tensors(tuple(part.values()))
    elif isinstance(part, tuple):
        for each in part:
            yield from _tensors(each)


def _lines(size: Size, first: Size) -> Iterator[Line]:
    at = f"{size.tokens:,} tokens"
    how = f"{size.seconds * 1e3:,.0f} ms with the proof, best of {ROUNDS}"
    yield Line(
        f"trace, µs a token, {at}", size.microseconds, None, f"{how}{_share(size.microseconds, first.microseconds)}"
    )
    how = f"{size.bytes / 1e6:,.1f} MB of tensors"
    yield Line(f"trace, kB a token, {at}", size.kilobytes, None, f"{how}{_share(size.kilobytes, first.kilobytes)}")
    yield Line(f"movie's file, MB, {at}", size.file / 1e6, FILE, "one HTML file, the player in it")


def _share(now: float, first: float) -> str:
    return "" if now == first else f"; {now / first:.2f} times that of the smallest batch"
