"""One loss, many numbers: without a mask, with one, with packed targets, with ignore_index; and the gradients."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import isfinite
from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.nn.utils.rnn import pad_packed_sequence

from packviz.compute.determinism import exact_arithmetic
from packviz.compute.record import Trace
from packviz.compute.verify import tolerance_of
from packviz.facts.gradients import Gradient, PadRowGradient, gradients
from packviz.facts.padded_run import run_padded
from packviz.facts.task import LOSSES, PAD_CLASS, Cells, Task, draw_task
from packviz.text import counted, two_digits
from packviz.validate import integer

__all__ = ["Loss", "Losses", "losses"]

Side = Literal["padded", "packed"]


@dataclass(frozen=True)
class Loss:
    """Hold one loss: its key, the side whose output it is taken of, the line that computes it, and its value.

    The keys: unmasked; masked, the mean over tokens; ignore_index; sequence_mean, the mean over sequences of each
    one's mean; naive, zeros at the pads and a mean over all cells; packed_targets, on the packed side only.
    """

    key: str
    side: Side
    code: str
    value: float


@dataclass(frozen=True)
class Losses:
    """Hold the losses of one head on both outputs, and the gradients of three of them.

    losses     by side and key
    gradients  one for each parameter: padded without a mask and with one, each beside packed
    pad_row    the gradient of the embedding row that pads; None without an embedding
    pads       how many cells of the grid are pads, and how many there are
    packed_pads   how many packed rows are pads, as after padding on the left
    tolerance  up to where two numbers are called equal
    """

    losses: tuple[Loss, ...]
    gradients: tuple[Gradient, ...]
    pad_row: PadRowGradient | None
    pads: int
    cells: int
    packed_pads: int
    tolerance: float

    def value(self, side: Side, key: str) -> float:
        """Return one loss. Raises KeyError where there is none of that name."""
        return {(loss.side, loss.key): loss.value for loss in self.losses}[side, key]

    @property
    def agree(self) -> bool:
        """Return whether packed targets, ignore_index and the masked token mean are equal on the packed output."""
        return self._spread() <= self.tolerance * max(1.0, abs(self.value("packed", "masked")))

    @property
    def verdicts(self) -> tuple[str, ...]:
        """Return what the numbers say, in plain sentences."""
        return (self._agreement(), self._unmasked(), self._means(), *self._gradients(), *self._row())

    def _spread(self) -> float:
        values = [self.value("packed", key) for key in ("packed_targets", "ignore_index", "masked")]
        return max(values) - min(values)

    def _agreement(self) -> str:
        names = "Packed targets, ignore_index and the masked token mean"
        if not isfinite(self._spread()):
            return f"{names} are not all finite: the numbers of this run have grown too large."
        if self.agree:
            one = f"{self.value('packed', 'masked'):.4f}"
            return f"{names} are one number, {one} (largest difference {two_digits(self._spread())})."
        return f"{names} are not the same: they are up to {two_digits(self._spread())} apart."

    def _unmasked(self) -> str:
        loss, masked = self.value("padded", "unmasked"), self.value("padded", "masked")
        if not self.pads:
            return f"Without a mask the loss is {loss:.4f}: there is no pad that a mask could leave out."
        are = "is a pad, and its" if self.pads == 1 else "are pads, and their"
        return (
            f"Without a mask the padded loss is {loss:.4f}, with one {masked:.4f}: {self.pads} of the {self.cells} "
            f"cells {are} target is class {PAD_CLASS}."
        )

    def _means(self) -> str:
        token, sequence, naive = (self.value("packed", key) for key in ("masked", "sequence_mean", "naive"))
        cells = "the one cell" if self.cells == 1 else f"all {self.cells} cells"
        zeros = f" with zeros at the pad{'' if self.pads == 1 else 's'}" if self.pads else ""
        return (
            f"The same losses have three means: {token:.4f} over tokens, {sequence:.4f} over sequences, {naive:.4f} "
            f"over {cells}{zeros}."
        )

    def _gradients(self) -> Iterator[str]:
        if overflowed := [row.name for row in self.gradients if not isfinite(row.size)]:
            count = counted(len(self.gradients), "gradient")
            are = "is" if len(overflowed) == 1 else "are"
            yield f"Packed, {len(overflowed)} of {count} {are} not finite: nothing can be compared with them."
            return
        yield _told("with a mask", [(row.name, row.masked, row.same_masked) for row in self.gradients])
        yield _told("without a mask", [(row.name, row.unmasked, row.same_unmasked) for row in self.gradients])
        if self.packed_pads:
            rows = counted(self.packed_pads, "packed row")
            yield f"{rows} {'is a pad' if self.packed_pads == 1 else 'are pads'}: the packed side trains on padding."

    def _row(self) -> Iterator[str]:
        row = self.pad_row
        if row is None:
            return
        unmasked, masked, packed = map(two_digits, (row.unmasked, row.masked, row.packed))
        yield (
            f"The gradient of the pad's embedding row {row.id} has the norm {unmasked} padded without a mask, "
            f"{masked} with one, and {packed} packed."
        )
        if row.padding_idx is not None:
            yield f"padding_idx={row.padding_idx}: torch gives this row no gradient."
        elif row.is_token:
            yield f"A real token has the id {row.id}, too, and trains this row."


def losses(trace: Trace, seed: int = 0) -> Losses:
    """Put a seeded linear head and seeded targets on both outputs, and let torch compute losses and gradients.

    Raises PackvizError for a seed that is none, and where torch refused to pack the lengths.
    """
    seed = integer("seed", seed, 0, 2**63 - 1)
    pads = trace.packed_is_pad
    with exact_arithmetic():
        task = draw_task(trace, seed)
        tolerance = tolerance_of(task.weight.dtype)
        values = (*_padded(trace, task), *_packed(trace, task))
        with torch.enable_grad():
            rows, pad_row = gradients(trace, task, tolerance)
    return Losses(values, rows, pad_row, int((~task.real).sum()), task.real.numel(), int(pads.sum()), tolerance)


def _padded(trace: Trace, task: Task) -> Iterator[Loss]:
    output, *_ = run_padded(trace)
    yield from _each("padded", F.linear(output, task.weight, task.bias), task, task.real)


def _packed(trace: Trace, task: Task) -> Iterator[Loss]:
    packed, T = trace.packed_sequence._replace(data=trace.output), task.real.size(1)
    output, _ = pad_packed_sequence(packed, True, trace.padding_value, T)
    yield from _each("packed", F.linear(output, task.weight, task.bias), task, task.valid)
    target = task.target[trace.packed.sequence, trace.packed.timestep]  # (N,): by the rows of this very run
    loss = F.cross_entropy(F.linear(packed.data, task.weight, task.bias), target)
    yield Loss("packed_targets", "packed", "F.cross_entropy(head(output.data), packed_target.data)", float(loss))


def _each(side: Side, logits: Tensor, task: Task, mask: Tensor) -> Iterator[Loss]:
    cells = Cells(logits, task.target, mask)
    for key, (code, of) in LOSSES.items():
        yield Loss(key, side, code, float(of(cells)))


def _told(how: str, rows: list[tuple[str, float, bool]]) -> str:
    """Say of all parameters whether their padded gradients are the packed ones."""
    off = [(name, distance) for name, distance, same in rows if not same]
    if not off:
        most = max(distance for _, distance, _ in rows)
        return f"Padded {how}, every gradient is the packed one (largest difference {two_digits(most)})."
    name, most = max(off, key=lambda pair: pair[1])
    differ = f"differs from packed: {name}" if len(off) == 1 else f"differ from packed, most of all {name}"
    return f"Padded {how}, {len(off)} of {counted(len(rows), 'gradient')} {differ}, by up to {two_digits(most)}."
