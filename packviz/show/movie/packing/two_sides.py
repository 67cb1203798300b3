"""Padded beside packed, numbers and layout: what both sides hold at every time step, and how far apart they are."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from math import isfinite
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_packed_sequence

from packviz.compute.determinism import exact_arithmetic
from packviz.compute.trace import Trace
from packviz.compute.verify import apart, differing
from packviz.facts.padded_run import layer_states
from packviz.inputs.tensors import valid_mask
from packviz.show.movie.layout import Box, Column, Grid, Margins, Place, Scene, above, beside, panel
from packviz.show.movie.marks import CodeLine, Step
from packviz.show.movie.packing.cells import UNIT
from packviz.show.movie.packing.facts import Window, rounded, stored
from packviz.show.movie.packing.view import View, once, shape
from packviz.show.movie.packing.words import STARTS, say
from packviz.text import two_digits

PADDED, PACKED = SIDES = ("padded", "packed")
UNPACKED = "unpacked output"  # the final heading of the packed output
OUTPUT_WIDTH = 1.2  # units of a state in the output, at most
GAP = 0.35  # units between what enters and h
STAGE = (690.0, 336.0)  # pixels of the picture beside the code
HAND = (366.0, 430.0)  # pixels of the picture above the code, on a phone
LINE = 14  # pixels of a line of text
LETTER = 7.0  # pixels of a letter of a heading, at least
LETTER_UNITS = 0.2  # units of such a letter if cells are large
WIDENED = 9  # iterations at most: a wider picture has smaller units, in which its headings are wider


@dataclass(frozen=True, eq=False)
class Side:
    """One of the two sides: its input and output grids, its states, and the positions of its rows.

    states: (B,T,P) the watched state after every time step. start: (B,P) the one before the first step shown.
    row: (B,) the row of each sequence. runs: (B,) for how many of the time steps shown each sequence has states.
    b, t: sequence and time step of all of these states.
    """

    name: str
    x: Grid
    out: Grid
    states: Tensor
    start: Tensor
    row: np.ndarray
    runs: np.ndarray
    b: np.ndarray
    t: np.ndarray


class Both(View):
    """A trace beside the same module over the padded grid; time runs across, whatever batch_first says."""

    def __init__(self, trace: Trace, layer: int, direction: int, window: Window) -> None:
        super().__init__(trace, layer, direction, window, transposed=False)
        with exact_arithmetic():  # [layer][direction] (B,T,P): torch's states at every cell of the grid, pads included
            self.padded = tuple(tuple(half.detach() for half in each) for each in layer_states(trace))
        self.ours, self.theirs = self.padded[layer][direction], self._held()  # (B,T,P) after every time step
        self.last = self.ours[:, 0 if direction else -1], self.watched.h_n  # (B,P) each: h_n of the two sides
        self.apart, self.last_apart = _farthest(self.ours, self.theirs), _farthest(*self.last)  # (B,T), (B,): of a unit
        self.same = _same(self.ours.flatten(0, 1), self.theirs.flatten(0, 1)).reshape(self.total)  # up to rounding
        self.last_same = _same(*self.last)
        self.last_heading = f"{self.final} {shape(*self.last[0].shape)}"  # of the final h: which row of h_n it is
        self.apart_somewhere = not (self.last_same.all() and self.same[:, : self.columns].all())
        before = self.watched.h_0.unsqueeze(1)
        earlier = (self.ours[:, 1:], before) if direction else (before, self.ours[:, :-1])
        self.moved = _farthest(self.ours, torch.cat(earlier, 1))  # (B,T) how far a step moved the padded side's state
        self.times = sorted(range(self.columns), reverse=bool(direction))  # in processing order
        self.with_outputs = not self.small  # otherwise they would be illegible
        self.output_width = min(self.cell_width, OUTPUT_WIDTH)
        self.state_width = max(8.0, len(self.shown) / 4) if self.small else self.units * UNIT
        self.input_width = self.text if self.small else self.cell_width
        self.lead_in = self.input_width + GAP  # from the left edge of what enters to h
        self.letter = self.text * (1.0 if self.total[0] <= 26 else 1.5)  # from the 27th on, labels have two letters
        self.h_lead = self.lead_in + (0.0 if self.small else self.letter + 0.2 * self.text)  # with room for its letters
        self.inset = 0.07 if len(self.shown) <= 5 else 0.18  # of an outline in its cells: more if others are close
        self._kept: dict[tuple[int | None, ...], int] = {}
        self.sides = (
            self._side(PADDED, self.columns, self.ours, self.place, np.full(self.total[0], self.columns)),
            self._side(PACKED, self.unpacked.columns, self.theirs, self.rank, np.minimum(self.lens, self.columns)),
        )
        self.home = tuple(replace(side, row=self.place) for side in self.sides)  # in the original order

    def _side(self, name: str, columns: int, states: Tensor, row: np.ndarray, runs: np.ndarray) -> Side:
        x = replace(self.grid, name=f"{name}x", transposed=False, below=0.0)
        out = Grid(f"{name}o", len(self.shown), columns, self.output_width, text=self.text)
        late = self.direction and self.columns < self.total[1]  # backward, the steps not shown come first
        rows, t = (self.ts < runs[self.ranked][:, None]).nonzero()
        start = states[:, self.columns] if late else self.watched.h_0
        return Side(name, x, out, states, start, row, runs, self.ranked[rows], t)

    def _held(self) -> Tensor:
        """Return the watched state that the packed side holds at each time step; a row that is not live keeps it."""
        states = self.trace.packed_sequence._replace(data=self.watched.h)
        unpacked, _ = pad_packed_sequence(states, batch_first=True, total_length=self.total[1])
        fed = valid_mask(self.trace.padded.lengths, self.total[1])
        resting = (self.watched.h_0 if self.direction else self.watched.h_n).unsqueeze(1)
        return torch.where(fed.unsqueeze(2), unpacked, resting)

    def rows_like(self, matrix: Tensor) -> np.ndarray:
        """Return the positions of these rows in the movie's numbers, where equal rows are stored once."""
        found = []
        for row in stored(rounded(matrix.flatten(0, -2))):
            if tuple(row) not in self._kept:
                self._kept[tuple(row)] = len(self.numbers)
                self.numbers.append(row)
            found.append(self._kept[tuple(row)])
        return np.array(found).reshape(matrix.shape[:-1])

    def below_rows(self, b: Column, t: Column) -> Column:
        """Return the positions in the movie's numbers of what enters a higher layer on the padded side."""
        halves = self.padded[self.layer - 1]
        each = torch.cat([half[..., : self.most // len(halves)] for half in halves], 2)
        start = self.rows("padded below", each[:, : self.columns].flatten(0, 1))
        return start + b * self.columns + t

    @cached_property
    def text(self) -> float:
        """Room for a line of text, in units: everything appears twice, so cells are smaller than elsewhere."""
        rows, wide = len(self.shown), self.columns * self.cell_width + self.state_width + 2
        out = self.columns * self.output_width if self.with_outputs else 0
        stacked = max(_line(wide + out, 7, 0), _line(2 * rows, 4, 1))
        return max(1.0, min(stacked, max(_line(2 * wide, 13, 0), _line(rows * (2 if out else 1), 4, 1))))

    def beside_h(self, y: Column) -> Place:
        """Return the place beside h of the padded side, for its distance from the packed one."""
        return Place(f"{PADDED}h", self.state_width + 0.25 * self.text, y)

    @once
    def heading(self, side: str, panel: str) -> str:
        """Return the heading of a side's panel: "x" for the input, "h", or "o" for the output."""
        if panel == "h":
            return f"h {shape(self.total[0], self.watched.h.shape[1])}"
        if panel == "o":
            half = f", {('forward', 'backward')[self.direction]}" if self.directions == 2 else ""
            part = f"{half} half" if half else ""
            which = part if self.layer == len(self.trace.layers) - 1 else f" of layer {self.layer}{half}"
            return f"{'out' if side == PADDED else 'output'}{which}"
        if self.layer:
            return f"{side.capitalize()}: output of layer {self.layer - 1}"
        if side == PADDED:
            return f"Padded: x {shape(*self.trace.padded.values.shape)}"
        return f"Packed: data {shape(*self.trace.packed.data.shape)}"

    @property
    def states(self) -> list[Tensor]:
        """The states of both sides."""
        return [*super().states, self.trace.h_0, *(half for layer in self.padded for half in layer)]


def _farthest(a: Tensor, b: Tensor) -> np.ndarray:
    """Return the largest distance along the last axis; 0 if identical, nan and infinity included."""
    return apart(a, b).amax(-1).numpy()


def _same(a: Tensor, b: Tensor) -> np.ndarray:
    """Return (rows,) whether a row of a and of b are equal up to rounding."""
    same = np.ones(len(a), dtype=bool)
    same[list(differing(a, b))] = False
    return same


def both_scene(both: Both) -> Scene:
    """Return the layout of the two sides: side by side or stacked."""
    shapes = ("xho", "xh/o", "xo/h", "x/h/o") if both.with_outputs else ("xh",)
    wide = [_joined(both, join, side, STAGE) for side in shapes for join in (above, beside)]
    return Scene(wide, [_joined(both, above, side, HAND) for side in shapes])


def _line(units: float, lines: float, axis: int) -> float:
    """Return the height in units of a line of text in a picture `units` plus `lines` lines wide or high."""
    return LINE * units / (STAGE[axis] - LINE * lines)


def _joined(both: Both, join: Callable[..., Box], shape: str, stage: tuple[float, float]) -> Box:
    """Return both sides with room for their headings: a letter takes more units in a larger picture."""
    letter = LETTER_UNITS
    for _again in range(WIDENED):
        box = _lined(both, join, shape, letter)
        wider = max(LETTER_UNITS, LETTER / min(stage[0] / box.width, stage[1] / box.height))
        if wider == letter:
            break
        letter = wider
    return box


def _lined(both: Both, join: Callable[..., Box], shape: str, letter: float) -> Box:
    """Return both sides, each with its panels arranged as the shape says: `/` begins a new line."""
    boxes = []
    for side in both.sides:
        lines = [beside(*_line_of(both, side, line, letter), gap=0.5) for line in shape.split("/")]
        boxes.append(above(*lines, gap=0.25 * both.text))
    return join(*boxes, gap=both.text * (0.3 if join is above else 1))


def _line_of(both: Both, side: Side, names: str, letter: float) -> Iterator[Box]:
    """Yield the panels of a line, each wide enough that its heading ends before the next one begins."""
    x, rows = both.text, float(len(both.shown))
    for name, following in zip(names, f"{names[1:]} ", strict=True):
        if name == "h":
            box = panel(f"{side.name}h", both.state_width, rows, Margins(both.h_lead, 1.65 * x, 2.7 * x, 0.1))
        else:
            grid = side.x if name == "x" else side.out
            width = max(grid.size[0], both.sides[0].out.size[0]) if name == "o" else grid.size[0]
            box = panel(grid.name, width, rows, Margins(both.letter + 0.2 * x, 1.65 * x, 0.2, 0.1))
        later = {"o": UNPACKED, "h": both.last_heading}.get(name, "")
        letters = 1 + max(map(len, [*(both.heading(either, name) for either in SIDES), later]))
        start, end = (both.h_lead if at == "h" else 0.0 for at in (name, following))
        yield box.at_least(start + letters * letter - end)


def far(distance: float) -> str:
    """Return a distance as written beside a row: two significant digits, or nan and inf."""
    return two_digits(float(distance)) if isfinite(distance) else str(float(distance))


def start_step(both: Both) -> Step:
    """Say what the two sides have in common before the first time step."""
    states, trace = both.kind.in_code("n"), both.trace
    caption = say("beside", "start", both, start=STARTS.get(both.initial_state, both.initial_state))
    lines = (
        CodeLine(f"out, {states} = {both.cell}(x)", _out_shape(both)),
        CodeLine("packed = pack_padded_sequence(…)", f"data {shape(*trace.packed.data.shape)}"),
        CodeLine(f"output, {states} = {both.cell}(packed)", f"data {shape(*trace.output.shape)}"),
    )
    return Step(caption, detail=lines)


def time_step(both: Both, t: int) -> Step:
    """Say what happens on both sides at a time step, and which rows enter the cell on each."""
    fed, idle = ([b for b in both.order if (t < both.lengths[b]) == live] for live in (True, False))
    pads, dropped = ([b for b in sorted(idle) if both.mask[b, t] == real] for real in (False, True))
    off = [b for b in range(both.total[0]) if not both.same[b, t]]
    farthest = _most_of(pads, both.moved[:, t]) if idle else _most_of(off, both.apart[:, t])
    distances = {"moved": far(both.moved[farthest, t]), "apart": far(both.apart[farthest, t])}
    rows = {"fed": fed, "idle": idle, "pads": pads, "dropped": dropped, "off": off}
    strays = [b for b in fed if not both.mask[b, t]]
    caption = say("beside", "step", both, t=t, strays=strays, farthest=farthest, **rows, **distances)
    size = both.batch_sizes[t] if t < len(both.batch_sizes) else 0
    start = both.offsets[t] if size else both.tokens
    name, data = (f"out{both.layer - 1}", f"output{both.layer - 1}.data") if both.layer else ("x", "data")
    column = f"{name}[:, {t}]" if both.batch_first else f"{name}[{t}]"
    lines = (
        CodeLine(f"padded: {column}", shape(both.total[0], both.entering)),
        CodeLine(f"packed: {data}[{start}:{start + size}]", shape(size, both.entering)),
    )
    return Step(caption, detail=lines, time=t, beats=3)


def outputs_step(both: Both) -> Step:
    """Say how the two outputs compare, where both have one and where only one does."""
    cells = [(b, t) for b, length in enumerate(both.lengths) for t in range(length)]
    rest = [(b, t) for b, length in enumerate(both.lengths) for t in range(length, both.total[1])]
    off = [at for at in cells if not both.same[at]]
    b, t = _most_of(off, both.apart) or (0, 0)
    known = {"cells": len(cells), "more": len(rest), "only_pads": not any(both.mask[at] for at in rest)}
    caption = say("beside", "outputs", both, off=off, b=b, t=t, apart=far(both.apart[b, t]), **known)
    unpacked = shape(*both.trace.unpacked.output.shape)
    lines = CodeLine("out", _out_shape(both)), CodeLine("pad_packed_sequence(output)", unpacked)
    return Step(caption, detail=lines, name="outputs")


def h_n_step(both: Both) -> Step:
    """Say which rows of h_n are equal on both sides, and how far apart the others are."""
    agree, differ = ([b for b in range(both.total[0]) if both.last_same[b] == same] for same in (True, False))
    farthest = _most_of(differ, both.last_apart)
    caption = say(
        "beside", "h_n", both, agree=agree, differ=differ, farthest=farthest, most=far(both.last_apart[farthest])
    )
    lines = [CodeLine(f"{side}: {both.final}", shape(*both.last[0].shape)) for side in SIDES]
    largest = CodeLine("their largest difference", far(max(both.last_apart.tolist())))
    return Step(caption, detail=(*lines, largest), name="h_n")


def _most_of(places: list[Any], distances: np.ndarray) -> Any:
    known = np.nan_to_num(distances, nan=np.inf, posinf=np.inf)
    return max(places, key=known.__getitem__, default=0)


def _out_shape(both: Both) -> str:
    (rows, columns), size = both.total, sum(half.shape[2] for half in both.padded[-1])
    return shape(rows, columns, size) if both.batch_first else shape(columns, rows, size)
