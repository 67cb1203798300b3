"""How a movie shows a trace: where everything stands, and what it is called."""

from dataclasses import dataclass, replace
from functools import cached_property
from math import sqrt

from packviz.show.movie.facts import MAX_TIME_STEPS
from packviz.show.movie.figures import Figures, number
from packviz.show.movie.model import Stage
from packviz.show.movie.places import Grid, Strip
from packviz.text import sequence_label

__all__ = ["Plan"]

WORDY = 40  # tokens up to which a packed row has room for its word
STRIP_WIDTH = 1.6  # units that it then has, at most
MARKED = 64  # tokens up to which every packed row has its address below it
STACKED = 1.5  # units that a cell of two halves has at most, one half above the other
LONGEST = 40  # characters of a word
REFUSAL = 3.2  # units below the grid for what torch says when it refuses


@dataclass(frozen=True)
class Plan(Figures):
    """The facts and numbers of a trace, with their places and names.

    transposed: whether time goes down, as x of (T,B,F) has it. deep: the stages that are shown with all their whys.
    """

    transposed: bool
    deep: frozenset[Stage] = frozenset()

    @cached_property
    def out(self) -> Strip:
        """The packed output, aligned with the packed rows."""
        return replace(self.strip, name="out", height=1.0 if self.small else 1.5, marks=False)

    @cached_property
    def unpacked(self) -> Grid:
        """The unpacked output."""
        axis = 1 if self.batch_first else 0
        columns = min(self.trace.unpacked.output.shape[axis], MAX_TIME_STEPS)
        stacked = self.directions == 2  # wide cells would lay their two halves side by side
        width = min(self.cell_width, STACKED) if stacked else self.cell_width
        return Grid("u", len(self.shown), columns, width, self.transposed, self.text)

    @cached_property
    def grid(self) -> Grid:
        """The padded grid."""
        below = REFUSAL if self.refused else 0.0
        return Grid("x", len(self.shown), self.columns, self.cell_width, self.transposed, self.text, below)

    @cached_property
    def strip(self) -> Strip:
        """The packed rows."""
        width = min(self.cell_width, STRIP_WIDTH) if self.tokens <= WORDY and not self.small else 1.0
        return Strip(
            "strip",
            [len(rows) for rows in self.alive],
            width,
            marks=not self.small and self.tokens <= MARKED,
            text=self.text,
        )

    @cached_property
    def cell_width(self) -> float:
        """Width of a token: words need room, and many rows make flat cells."""
        if self.small:
            rows, columns = len(self.shown), self.columns
            return max(1.0, min(6.0, 0.9 * rows / columns))
        texts = self.trace.batch.texts if self.trace.batch else ()
        longest = max((len(text) for row in texts for text in row), default=1)
        room = 1.5 * len(self.shown) / self.columns  # a wide picture has room for wide cells
        return min(max(2.4, min(room, 4.0)), max(1.0, 0.27 * longest + 0.25))

    @cached_property
    def text(self) -> float:
        """Room for a line of text, in units: cells may be smaller than text can be."""
        wide = self.columns * self.cell_width
        return max(1.0, len(self.shown) / 15, wide / 34, sqrt(self.tokens) / 7)

    @cached_property
    def upright(self) -> "Plan":
        """The same with time going across, as one writes sequences."""
        return replace(self, transposed=False)

    @cached_property
    def pad_text(self) -> str:
        """What stands in the padding; `…` where a grid of one's own holds different numbers there."""
        if self.trace.batch:
            return number(self.pad_id)
        pads = self.trace.padded.grid[~self.trace.padded.mask].flatten()
        return number(float(pads[0])) if len(pads) and bool((pads == pads[0]).all()) else "…"

    @cached_property
    def _ids(self) -> list[list[float]]:
        tokens = self.trace.padded.tokens
        return (tokens[..., 0] if tokens.dim() == 3 else tokens).tolist()

    def texts(self, b: int, t: int) -> tuple[str, str]:
        """Return what was typed there, and the id that stands for it where that is something else."""
        if self.raw_vectors:
            return f"{self.label(b)}{t - self.lead(b)}", ""
        typed = number(self._ids[b][t]) if self.features == 1 or self.trace.batch else ""
        batch = self.trace.batch
        if batch is None or batch.kind == "vectors":
            return typed, ""
        text = batch.texts[b][t - self.lead(b)]
        text = text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
        return text, typed if batch.kind == "words" else ""

    def listed(self, values: list[int]) -> str:
        """Return numbers as Python lists them, the middle left out where there are many."""
        if len(values) > 12:
            return f"[{', '.join(map(str, values[:8]))}, … {values[-1]}]"
        return str(values)

    def label(self, b: int) -> str:
        """Return the letter of a sequence."""
        return sequence_label(b)

    def chips(self, sequences: list[int]) -> str:
        """Return the letters of some sequences as the caption shows them: `{A}, {B} and {C}`."""
        chips = ["{" + self.label(b) + "}" for b in sequences]
        if len(chips) > 6:
            return f"{chips[0]}, {chips[1]}, … {chips[-1]} ({len(chips)} sequences)"
        return " and ".join(filter(None, (", ".join(chips[:-1]), chips[-1]))) if chips else "none"
