"""The spellings of the borders of one row: position_ids, seq_idx, cu_seqlens and the mask."""

from dataclasses import dataclass
from functools import cached_property
from math import ceil

import numpy as np
from torch import Tensor

from packviz.inputs.borders import Lengths, find_documents
from packviz.inputs.documents import cu_seqlens_of, document_mask_of
from packviz.show.movie.layout import Place
from packviz.show.movie.marks import Marks, marks
from packviz.show.movie.rows.through import shown_row
from packviz.show.movie.rows.view import RowsView
from packviz.show.movie.rows.words import texts, width
from packviz.text import sequence_label

MAX_CELLS = 32  # of the row that are shown: the mask has the square of it
PHONE, LETTER, GAP = 340, 7.8, 6  # pixels: a row on a phone, a letter there, and what is between two words
MAX_WORDED = 3  # lines of words above a row
NAME = 0.75  # units of a line's name above it
TIED = 0.85  # where the line from a word to its cell begins, as a share of the word's own line,
ASIDE = 0.3  # and of the width of its cell
LINES = ("row", "position_ids", "seq_idx", "cu_seqlens")


@dataclass(frozen=True, eq=False)
class Spelled:
    """One row, that with the most documents shown, and the spellings of its borders.

    view: the run. row: its number. lengths: of its documents. sequences: which sequence each of them is. shown: how
    many of its cells are shown.
    """

    view: RowsView
    row: int
    lengths: Lengths
    sequences: tuple[int, ...]
    shown: int

    @property
    def tokens(self) -> int:
        """Return how many cells hold a token."""
        return sum(self.lengths)

    @property
    def pads(self) -> int:
        """Return how many cells are padding."""
        return self.view.trace.rows.max_length - self.tokens

    @property
    def position_ids(self) -> Tensor:
        """Return (C,), 0 at pads."""
        return self.view.trace.position_ids[self.row]

    @property
    def seq_idx(self) -> Tensor:
        """Return (C,): the number of the document of each cell, -1 at pads."""
        return self.view.trace.document_ids[self.row]

    @cached_property
    def cu_seqlens(self) -> list[int]:
        """Return the D + 1 offsets."""
        offsets: list[int] = cu_seqlens_of(self.lengths).tolist()
        return offsets

    @cached_property
    def mask(self) -> Tensor:
        """Return (C, C) bool: which query (row) may read which key (column) if the documents are kept apart."""
        width, causal = self.view.trace.rows.max_length, self.view.trace.config.causal
        return document_mask_of(self.lengths, width, causal=causal)

    @cached_property
    def found(self) -> dict[str, Lengths]:
        """Return what find_documents reads from each of the spellings."""
        return {
            "position_ids": find_documents(position_ids=self.position_ids),
            "seq_idx": find_documents(seq_idx=self.seq_idx),
            "cu_seqlens": find_documents(cu_seqlens=self.cu_seqlens),
            "the mask": find_documents(attention_mask=self.mask),
        }

    @cached_property
    def wide(self) -> float:
        """Return the width of a cell, in units."""
        return width(self.view, 1.4) if self.shown <= MAX_CELLS // 2 else 1.0

    @cached_property
    def text(self) -> float:
        """Return the room for a line of text, in units: cells of a long row are smaller than legible text."""
        return max(1.0, self.shown / 16)

    @cached_property
    def worded(self) -> int:
        """Return how many lines the words take above the row where its cells are too narrow for them; 0 if too many."""
        longest = max(map(len, texts(self.view).tolist()))
        lines = ceil((LETTER * longest + GAP) * self.shown / PHONE)
        return lines if 1 < lines <= MAX_WORDED else 0

    @property
    def pitch(self) -> float:
        """Return the units from one line of the picture to the next."""
        return 1.0 + NAME * self.text

    @cached_property
    def begins(self) -> np.ndarray:
        """Return the cells shown at which a document begins."""
        begins = np.array(self.cu_seqlens[:-1])
        return begins[begins < self.shown]

    @property
    def letters(self) -> np.ndarray:
        """Return the letters of their documents."""
        return np.array([sequence_label(b) for b in self.sequences], dtype=object)[: len(self.begins)]

    def at(self, cells: np.ndarray, line: str) -> Place:
        """Return the places of cells in one of the lines of the picture."""
        return Place("lines", cells * self.wide, np.full(len(cells), LINES.index(line) * self.pitch))


def spelled(view: RowsView) -> Spelled:
    """Return the row that is shown."""
    rows = view.trace.rows
    row = shown_row(view)
    shown = min(rows.max_length, view.steps, MAX_CELLS)
    return Spelled(view, row, rows.lengths[row], tuple(b for b, _, _ in rows.rows[row]), shown)


def words_above(it: Spelled, here: np.ndarray) -> tuple[Marks, Marks]:
    """Return the words of some tokens, above their cells on several lines by turns, each with a line to its cell."""
    cells, words = it.view.column[here], texts(it.view)[here]
    line = NAME * it.text
    place = Place("words", cells * it.wide, cells % it.worded * line)
    down = (it.worded - cells % it.worded - TIED) * line
    ties = marks(
        "spelled tie", "thread", place.moved(ASIDE * it.wide, TIED * line), cells, owned=False,
        seq=it.view.b[here], w=0.0, h=down,
    )  # fmt: skip
    return ties, marks("spelled word", "note", place, cells, owned=False, text=words, h=line)
