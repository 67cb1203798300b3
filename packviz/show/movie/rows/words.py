"""The captions of rows: a stage chooses sentences of captions.toml, by name, and passes what fills their blanks."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from packviz.show.movie.once import once
from packviz.show.movie.rows.view import RowsView
from packviz.text import joined, sentences, sequence_label

WIDEST = 2.6  # units: the maximum width of a token's cell
_WRITE = sentences(Path(__file__).with_name("captions.toml"))


def say(*keys: str, **values: Any) -> str:
    """Return sentences of captions.toml, one after another; values: what fills in their blanks."""
    return _WRITE(*keys, chip=chip, chips=chips, **values)


def chip(b: int) -> str:
    """Return the letter of a sequence in the form used in captions."""
    return "{" + sequence_label(b) + "}"


def chips(sequences: Sequence[int]) -> str:
    """Return the letters of sequences in the form used in captions: `{A}, {B} and {C}`."""
    return joined([chip(b) for b in sequences], 4)


@once
def width(view: RowsView, least: float) -> float:
    """Return the width of a token's cell in units: as its longest word needs it, at least this."""
    longest = max(map(len, texts(view).tolist()))
    return min(max(least, 0.27 * longest + 0.25), WIDEST)


def texts(view: RowsView) -> np.ndarray:
    """Return the text of each token shown, as typed; a letter and a number for vectors."""
    typed = view.trace.batch.texts
    names = [
        typed[b][t] if typed[b] else f"{sequence_label(b)}{t}"
        for b, t in zip(view.b.tolist(), view.t.tolist(), strict=True)
    ]
    return np.array(names, dtype=object)
