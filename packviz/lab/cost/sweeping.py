"""sweep(): many quick measurements over fill, batch size, length and hidden size, as they come."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import cast

import torch
from torch import Tensor

from packviz.errors import PackvizError
from packviz.inputs.config import Cell
from packviz.lab.cost.measuring import Measurement, run_setup
from packviz.lab.cost.setup import MAX_BYTES, Setup
from packviz.lab.cost.timing import Stopwatch
from packviz.text import shown
from packviz.validate import integer, is_number

__all__ = ["Point", "Setting", "draw_lengths", "plan_sweep", "reachable", "sweep"]

FILLS = (0.05, 0.1, 0.25, 0.5, 0.75, 1.0)
MAX_SETTINGS = 1000
MAX_WORK = 2 * 10**9  # of one padded forward run: a point of a sweep is quick


@dataclass(frozen=True)
class Setting:
    """Hold one place of a sweep: how it is run, and a batch of B sequences, the longest T, with a share of fill."""

    setup: Setup
    batch_size: int
    steps: int
    fill: float

    @property
    def hidden_size(self) -> int:
        """Return H."""
        return self.setup.hidden_size

    @property
    def lengths(self) -> Tensor:
        """Return (B,) int64, drawn from the setup's seed."""
        return draw_lengths(self.batch_size, self.steps, self.fill, self.setup.seed)


@dataclass(frozen=True)
class Point:
    """Hold one finished place of a sweep: number 1 to total."""

    setting: Setting
    measurement: Measurement
    number: int
    total: int

    @property
    def padded_ms(self) -> float:
        """Return the median of the padded runs in ms."""
        return self.measurement.padded.median

    @property
    def packed_ms(self) -> float:
        """Return the median of pack, module and unpack in ms."""
        return self.measurement.packed.median

    @property
    def ratio(self) -> float:
        """Return packed ÷ padded."""
        return self.measurement.ratio

    @property
    def differs(self) -> bool:
        """Return whether the runs show a difference."""
        return self.measurement.differs

    @property
    def busy(self) -> bool:
        """Return whether the machine was busy with something else."""
        return self.measurement.busy


def plan_sweep(
    cells: Sequence[Cell] = ("lstm",),
    fills: Sequence[float] = FILLS,
    batch_sizes: Sequence[int] = (8, 16, 32, 64),
    steps: Sequence[int] = (50,),
    hidden_sizes: Sequence[int] = (64,),
    *,
    features: int = 32,
    backward: bool = False,
    onednn: bool = True,
    threads: int | None = None,
    device: str = "cpu",
    seed: int = 0,
) -> list[Setting]:
    """Return every combination that can be: a small batch with one long sequence cannot be nearly empty.

    fills: shares from above 0.0 to 1.0. Raises PackvizError for what is no size or share, for more than 1,000
    combinations, and for one that would not be quick.
    """
    if (many := len(cells) * len(fills) * len(batch_sizes) * len(steps) * len(hidden_sizes)) > MAX_SETTINGS:
        expected, mend = f"at most {MAX_SETTINGS:,} combinations", "choose fewer values"
        raise PackvizError("sweep", expected=expected, came=f"{many:,}", mend=mend)
    planned = []
    for cell, H, T, B, fill in product(cells, hidden_sizes, steps, batch_sizes, fills):
        setup = Setup(cell, features, H, backward=backward, onednn=onednn, threads=threads, device=device, seed=seed)
        if reachable(B, T, fill):
            _check_quick(setup, B * T)
            planned.append(Setting(setup, B, T, fill))
    return planned


def sweep(
    settings: Iterable[Setting],
    *,
    repeats: int = 7,
    seconds: float = 0.2,
    watch: Stopwatch | None = None,
) -> Generator[Point, None, None]:
    """Yield a point for each setting, in their order; close the generator to stop.

    seconds: time after which a point gets no new round, once it has six.
    """
    planned = list(settings)
    for number, setting in enumerate(planned, 1):
        done: Measurement | None = None
        for done in run_setup(setting.setup, setting.lengths, repeats, seconds=seconds, alone=False, watch=watch):  # noqa: B007
            pass
        yield Point(setting, cast(Measurement, done), number, len(planned))


def reachable(batch_size: int, steps: int, fill: float) -> bool:
    """Return whether B lengths from 1 to T, the longest T, can fill this share of the grid, to the nearest cell.

    Raises PackvizError for what is no size or share.
    """
    integer("batch_size", batch_size, 1, mend="choose 1 or more")
    integer("steps", steps, 1, mend="choose 1 or more")
    if not is_number(fill) or not 0 < fill <= 1:
        raise PackvizError("fill", expected="a share above 0.0, up to 1.0", came=shown(fill), mend="choose 0.05 to 1.0")
    return steps + batch_size - 1 <= round(fill * batch_size * steps)


def draw_lengths(batch_size: int, steps: int, fill: float, seed: int = 0) -> Tensor:
    """Draw (B,) int64 lengths from 1 to T: the longest is T, and their sum the share of B·T, to the nearest cell.

    They are spread evenly around their mean, in no order. Where the share is too small for one sequence of T, all
    others are 1. The same seed gives the same lengths.
    """
    reachable(batch_size, steps, fill)
    generator = torch.Generator("cpu").manual_seed(seed)
    others = batch_size - 1
    wanted = min(max(round(fill * batch_size * steps) - steps, others), others * steps)
    drawn = torch.empty(0, dtype=torch.int64, device="cpu")
    if others:
        mean = wanted / others
        reach = min(mean - 1, steps - mean)
        shares = torch.rand(others, generator=generator, dtype=torch.float64, device="cpu")
        drawn = (mean + reach * (2 * shares - 1)).round().to(torch.int64).clamp(1, steps)
    lengths = torch.cat((_mended(drawn, wanted, steps, generator), torch.tensor([steps], device="cpu")))
    return lengths[torch.randperm(batch_size, generator=generator, device="cpu")]


def _mended(drawn: Tensor, wanted: int, steps: int, generator: torch.Generator) -> Tensor:
    """Return the lengths, some of them longer or shorter by a few steps, so that their sum is the one wanted."""
    lengths = drawn.clone()
    while missing := wanted - int(lengths.sum()):
        sign = 1 if missing > 0 else -1
        room = ((lengths < steps) if sign > 0 else (lengths > 1)).nonzero().flatten()
        order = torch.randperm(len(room), generator=generator, device="cpu")
        lengths[room[order[: abs(missing)]]] += sign
    return lengths


def _check_quick(setup: Setup, cells: int) -> None:
    work = setup.work(cells)
    if work > MAX_WORK or setup.nbytes(cells) > MAX_BYTES:
        raise PackvizError(
            "sweep",
            expected=f"at most {MAX_WORK / 1e9:g} GFLOPs in each run",
            came=f"{work / 1e9:,.1f} GFLOPs ({setup.name}, {cells:,} cells, hidden size {setup.hidden_size})",
            mend="choose smaller batches, shorter sequences or a smaller hidden size",
        )
