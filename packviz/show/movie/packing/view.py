"""How a movie shows a trace: the places and names of everything."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from math import sqrt
from typing import Any, Concatenate, ParamSpec, TypeVar

import numpy as np

from packviz.compute.record import Traced
from packviz.show.movie.layout import Grid, Strip
from packviz.show.movie.packing.facts import Facts, Window, number
from packviz.text import counted, sequence_label

WORDY = 40  # up to this many tokens, packed rows have room for their words
STRIP_WIDTH = 1.6  # units: the maximum width of such a row
MARKED = 64  # up to this many tokens, every packed row has its address below it
STACKED = 1.5  # units: the maximum width of a cell with one half above the other
TALL = 1.5  # units of a packed row: the letter of its sequence is above its token
LONGEST = 40  # characters of a word
REFUSAL = 3.2  # units below the grid for torch's message when it refuses


def listed(values: list[int]) -> str:
    """Return numbers like a Python list, with the middle left out if there are many."""
    return f"[{', '.join(map(str, values[:8]))}, … {values[-1]}]" if len(values) > 12 else str(values)


Made = TypeVar("Made")
P = ParamSpec("P")
V = TypeVar("V", bound="View")


def shape(*sizes: int) -> str:
    """Return sizes as torch prints a shape: `(3, 4)`, `(3,)`."""
    return f"({sizes[0]},)" if len(sizes) == 1 else f"({', '.join(map(str, sizes))})"


class View(Facts):
    """The facts and numbers of a trace, with their places and names.

    transposed: whether time runs down, as in x of (T,B,F). deep: the stages shown with full explanations.
    """

    def __init__(
        self,
        trace: Traced,
        layer: int,
        direction: int,
        window: Window,
        *,
        transposed: bool,
        deep: frozenset[str] = frozenset(),
    ) -> None:
        super().__init__(trace, layer, direction, window)
        self.transposed, self.deep = transposed, deep
        self.made: dict[object, Any] = {}  # the cache of `once`
        self.title = f"{counted(self.total[0], 'sequence')}, {counted(self.tokens, 'token')}, {self.cell.upper()}"
        self.named = any(trace.texts)  # whether the tokens have texts
        self.letters = np.array([sequence_label(b) for b in self.shown], dtype=object)  # in original order
        self.letters_ranked: np.ndarray = self.letters[self.place[self.ranked]]  # in sorted order

    @cached_property
    def final(self) -> str:
        """The name of the final states: the row of h_n, with the last one counted from the end."""
        row = self.layer * self.directions + self.direction
        return f"h_n[{-1 if row == len(self.trace.h_n) - 1 else row}]"

    @cached_property
    def out(self) -> Strip:
        """The packed output, aligned with the packed rows."""
        return replace(self.strip, name="out", height=1.0 if self.small else TALL, marks=False)

    @cached_property
    def unpacked(self) -> Grid:
        """The unpacked output."""
        columns = min(self.width_out, self.window.steps)
        stacked = self.directions == 2  # wide cells would have their two halves side by side
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
        marked = not self.small and self.tokens <= MARKED
        height = TALL if marked else 1.0
        return Strip("strip", [len(rows) for rows in self.live], width, height, marks=marked, text=self.text)

    @cached_property
    def cell_width(self) -> float:
        """Width of a token: words need room, and many rows make flat cells."""
        if self.small:
            return max(1.0, min(6.0, 0.9 * len(self.shown) / self.columns))
        room = 1.5 * len(self.shown) / self.columns  # wide pictures have room for wide cells
        return min(max(2.4, min(room, 4.0)), self.word_width)

    @cached_property
    def word_width(self) -> float:
        """Width of the longest token."""
        return max(1.0, 0.27 * max((len(text) for row in self.trace.texts for text in row), default=1) + 0.25)

    @cached_property
    def text(self) -> float:
        """Room for a line of text, in units: cells may be smaller than legible text."""
        wide = self.columns * self.cell_width
        return max(1.0, len(self.shown) / 15, wide / 34, sqrt(len(self.token_b)) / 7)

    @cached_property
    def pad_text(self) -> str:
        """The text of the pads; `…` if a user's own grid holds different numbers there."""
        if self.trace.batch:
            return number(self.pad_id)
        pads = self.trace.padded.grid[~self.trace.padded.mask].flatten()
        return number(float(pads[0])) if len(pads) and bool((pads == pads[0]).all()) else "…"

    @cached_property
    def _texts(self) -> tuple[list[str], list[str]]:
        """For each token its text as typed, and its id if that differs."""
        places = list(zip(self.token_b.tolist(), (self.token_t - self.leads[self.token_b]).tolist(), strict=True))
        nothing = [""] * len(places)
        batch, typed, texts = self.trace.batch, nothing, self.trace.texts
        if self.raw_vectors:
            return [_short(texts[b][t]) if self.named else f"{sequence_label(b)}{t}" for b, t in places], nothing
        if self.features == 1 or batch:
            tokens = self.trace.padded.tokens
            ids = (tokens[..., 0] if tokens.dim() == 3 else tokens).numpy()
            typed = [number(each) for each in ids[self.token_b, self.token_t].tolist()]
        if not self.named:
            return typed, nothing
        return [_short(texts[b][t]) for b, t in places], typed if batch is None or batch.kind == "words" else nothing

    @cached_property
    def token_text(self) -> np.ndarray:
        """The text of each token as typed."""
        return np.array(self._texts[0], dtype=object)

    @cached_property
    def token_sub(self) -> np.ndarray | str:
        """The id of each token; nothing if that is the text as typed."""
        return np.array(self._texts[1], dtype=object) if any(self._texts[1]) else ""

    @property
    def said(self) -> list[str]:
        """The text quoted in the tooltip of each token; nothing for vectors."""
        if self.raw_vectors and not self.named:
            return []
        return [f"{text} (id {sub})" if sub else text for text, sub in zip(*self._texts, strict=True)]

    def chips(self, sequences: Sequence[int]) -> str:
        """Return the letters of some sequences in the form used in captions: `{A}, {B} and {C}`."""
        count = len(sequences)
        ends = (*sequences[:2], sequences[-1]) if count > 6 else sequences
        chips = ["{" + sequence_label(b) + "}" for b in ends]
        if count > 6:
            return f"{chips[0]}, {chips[1]}, … {chips[2]} ({count} sequences)"
        return " and ".join(filter(None, (", ".join(chips[:-1]), chips[-1]))) if chips else "none"


def once(make: Callable[Concatenate[V, P], Made]) -> Callable[Concatenate[V, P], Made]:
    """Cache a function of the view; cached parts of frames need not be compared."""

    def kept(view: V, /, *args: P.args, **kwargs: P.kwargs) -> Made:
        key = (make, args, *kwargs.items()) if kwargs else (make, args)
        found: Made
        try:
            found = view.made[key]
        except KeyError:
            found = view.made[key] = make(view, *args, **kwargs)
        return found

    return kept


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
