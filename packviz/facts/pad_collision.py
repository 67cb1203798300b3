"""What pads a batch: tokens that equal it, what is lost when lengths are counted without it, and its embedding."""

from __future__ import annotations

from dataclasses import dataclass

from packviz.compute.record import Trace
from packviz.facts.padded_run import pad_input
from packviz.text import joined, sequence_label

__all__ = ["PadCollision", "PadRow", "pad_collision", "pad_row"]

_NAMED = 5  # tokens and sequences that a sentence names at most


@dataclass(frozen=True)
class PadCollision:
    """Hold what a count of cells that are not padding would make of a batch.

    pad      what pads the grid: padding_value, with an embedding the id of the pad
    code     the count, as one would write it for a grid x, batch first
    cells    the real tokens (b, t) that equal the pad; for vectors those of which every feature does; t is the column
             of the padded grid
    lengths  the true lengths, B of them
    counted  what the code counts instead
    ids      whether the tokens are ids that are looked up in an embedding
    words    whether these ids were given to words, from 1 on
    zeros    whether the pad's row of the embedding is zeros that are never trained (padding_idx)
    """

    pad: float
    code: str
    cells: tuple[tuple[int, int], ...]
    lengths: tuple[int, ...]
    counted: tuple[int, ...]
    ids: bool
    words: bool
    zeros: bool

    @property
    def wrong(self) -> tuple[int, ...]:
        """Return the sequences whose length is counted wrong."""
        return tuple(b for b, length in enumerate(self.lengths) if length != self.counted[b])

    @property
    def told(self) -> str:
        """Return what is lost, or why nothing is, in plain sentences."""
        counts = [f"{self.counted[b]} for {sequence_label(b)} (length {self.lengths[b]})" for b in self.wrong]
        miscounted = f"{self.code} counts {joined(counts, _NAMED)}."
        pad, what = f"id {self.pad:g}" if self.ids else f"{self.pad:g}", "id" if self.ids else "value"
        if self.cells:
            places = joined([f"{sequence_label(b)} at t = {t}" for b, t in self.cells], _NAMED)
            tokens = "1 real token equals" if len(self.cells) == 1 else f"{len(self.cells)} real tokens equal"
            zeros = " With padding_idx such a token has a row of zeros as its embedding, and it is never trained."
            return (
                f"{tokens} the pad, {pad}: {places}. "
                f"{miscounted if self.wrong else f'{self.code} still counts every length right.'} "
                f"The grid alone does not tell such a token from a pad: keep the lengths.{zeros if self.zeros else ''}"
            )
        if self.wrong:
            return f"The grid is not padded with {self.pad:g} everywhere. {miscounted} Keep the lengths."
        if self.words:
            return f"Nothing is lost: words have ids from 1 on, and no word has the id {self.pad:g}, which pads."
        return (
            f"Nothing is lost in this batch, by luck: no token is {pad}. "
            f"The first one that is would be taken for a pad; no {what} is kept free for it."
        )


def pad_collision(trace: Trace) -> PadCollision:
    """Find the real tokens that equal the value that pads, and what a count without them makes of the lengths.

    What pads is known from the settings; for a module of your own it is what fills every pad of its grid, and 0 is
    assumed where there is no such value. Works where torch refused the lengths, too.
    """
    padded, config = trace.padded, trace.config
    ids = padded.embedding is not None
    if config is not None:
        pad = config.pad_id if ids else config.padding_value
    else:
        features = pad_input(trace).tolist()
        pad = features[0] if len(set(features)) == 1 else 0.0
    differs, code = padded.tokens != pad, f"(x != {pad:g}).sum(1)"  # (B, T) or (B, T, F)
    if differs.dim() == 3:
        differs, code = differs.any(2), f"(x != {pad:g}).any(2).sum(1)"
    return PadCollision(
        pad,
        code,
        cells=tuple((b, t) for b, t in (padded.mask & ~differs).nonzero().tolist()),
        lengths=tuple(padded.lengths.tolist()),
        counted=tuple(differs.sum(1).tolist()),
        ids=ids,
        words=trace.batch is not None and trace.batch.kind == "words",
        zeros=ids and config is not None and config.padding_idx is not None,
    )


@dataclass(frozen=True)
class PadRow:
    """Hold the embedding of the id that pads: the row, E numbers, and padding_idx, which makes it zeros."""

    id: int
    row: tuple[float, ...]
    padding_idx: int | None

    @property
    def told(self) -> str:
        """Return what the row is and why, in plain sentences."""
        if self.padding_idx is None:
            return f"padding_idx is None: row {self.id}, the input at a pad, is random and trained like any other."
        return (
            f"padding_idx = {self.padding_idx}: row {self.id} is zeros and is never trained. "
            "A pad enters the cell as a vector of zeros, which still moves h."
        )


def pad_row(trace: Trace) -> PadRow | None:
    """Return the embedding of the id that pads; None where the trace has no embedding."""
    if trace.padded.embedding is None or trace.config is None:
        return None
    return PadRow(trace.config.pad_id, tuple(pad_input(trace).tolist()), trace.config.padding_idx)
