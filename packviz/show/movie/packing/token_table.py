"""The tokens shown, by their numbers: where each comes from, and its texts."""

import re

import numpy as np

from packviz.show.movie.once import once
from packviz.show.movie.packing import inputs, packed_rows
from packviz.show.movie.packing.view import NOBODY, View
from packviz.show.movie.written import number
from packviz.text import sequence_label

LONGEST = 40  # characters of a word

Cells = tuple[np.ndarray, np.ndarray]  # sequence and time step of each


def _cells(view: View, where: np.ndarray) -> Cells:
    steps, rows = where[view.ranked, : view.columns].T.nonzero()
    return view.ranked[rows], steps


@once
def _tokens(view: View) -> Cells:
    return _cells(view, view.mask)


@once
def pads(view: View) -> Cells:
    """Return sequence and time step of each pad."""
    return _cells(view, ~view.mask)


def sequence(view: View) -> np.ndarray:
    """Return the sequence of each token; its number is its index here."""
    return _tokens(view)[0]


def time_step(view: View) -> np.ndarray:
    """Return the time step of each token."""
    return _tokens(view)[1]


@once
def packed_row(view: View) -> np.ndarray:
    """Return the packed row of each token, -1 if it was not packed."""
    found: np.ndarray = packed_rows.row_at(view)[_tokens(view)]
    return found


@once
def numbered(view: View) -> np.ndarray:
    """Return (B, T): the number of the token at each place, or -1."""
    numbers = np.full(view.total, NOBODY)
    numbers[_tokens(view)] = np.arange(len(sequence(view)))
    return numbers


@once
def _texts(view: View) -> tuple[list[str], list[str]]:
    """Return for each token its text as typed, and its id if that differs."""
    b, t = _tokens(view)
    places = list(zip(b.tolist(), (t - inputs.leads(view)[b]).tolist(), strict=True))
    nothing = [""] * len(places)
    trace, named = view.trace, any(view.trace.texts)
    typed, words = nothing, trace.texts
    if inputs.raw_vectors(view):
        return [_short(words[b][t]) if named else f"{sequence_label(b)}{t}" for b, t in places], nothing
    if inputs.features(view) == 1 or trace.batch:
        tokens = trace.padded.tokens
        ids = (tokens[..., 0] if tokens.dim() == 3 else tokens).numpy()
        typed = [number(each) for each in ids[_tokens(view)].tolist()]
    if not named:
        return typed, nothing
    known = trace.batch is None or trace.batch.kind == "words"
    return [_short(words[b][t]) for b, t in places], typed if known else nothing


@once
def texts(view: View) -> np.ndarray:
    """Return the text of each token as typed; a negative number has a real minus, as all numbers in cells."""
    return np.array([re.sub(r"^-(?=[.\d])", "−", text) for text in _texts(view)[0]], dtype=object)


@once
def subtexts(view: View) -> np.ndarray | str:
    """Return the id of each token; nothing if that is the text as typed."""
    return np.array(_texts(view)[1], dtype=object) if any(_texts(view)[1]) else ""


def said(view: View) -> list[str]:
    """Return the text quoted in the tooltip of each token; nothing for vectors."""
    if inputs.raw_vectors(view) and not any(view.trace.texts):
        return []
    return [f"{text} (id {sub})" if sub else text for text, sub in zip(*_texts(view), strict=True)]


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
