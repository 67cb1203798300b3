"""Packed beside padded, in ms, for the three cells and three shares of fill: what packing costs on this machine."""

from typing import get_args

from bench.report import Line
from packviz.inputs.config import Cell
from packviz.lab.cost import Measurement, Setup, draw_lengths, measure

__all__ = ["fills"]

FILLS = (0.1, 0.5, 1.0)
BATCH, STEPS, FEATURES, HIDDEN = 32, 100, 64, 64
ROUNDS = 41


def fills() -> list[Line]:
    """Time module(x) and pack, module, unpack in turns on one thread, forward, and forward with backward."""
    return [
        _line(_measured(cell, fill, backward))
        for cell in get_args(Cell)
        for fill in FILLS
        for backward in (False, True)
    ]


def _measured(cell: Cell, fill: float, backward: bool) -> Measurement:
    setup = Setup(cell, FEATURES, HIDDEN, backward=backward, threads=1)
    return measure(setup, draw_lengths(BATCH, STEPS, fill), ROUNDS)


def _line(done: Measurement) -> Line:
    padded, packed = done.padded, done.packed
    runs = "forward and backward" if done.setup.backward else "forward"
    how = (
        f"{packed.median:.2f} ms ÷ {padded.median:.2f} ms, medians of {done.rounds} runs in turns; "
        f"the fastest: {packed.fastest:.2f} ms ÷ {padded.fastest:.2f} ms"
    )
    busy = f"; busy machine: {'; '.join(done.reasons)}" if done.busy else ""
    what = f"{done.setup.name}: packed ÷ padded, {runs}, fill {100 * done.fill:.0f} %"
    return Line(what, done.ratio, None, f"{how}{busy}")
