"""A padding value that occurs in the data: what is lost when lengths are counted from the padded grid."""

from __future__ import annotations

from dataclasses import dataclass

from packviz.compute.record import Trace
from packviz.facts.padded_run import pad_input
from packviz.text import joined, sequence_label

__all__ = ["PadCollision", "pad_collision"]

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
        both = zip(self.lengths, self.counted, strict=True)
        return tuple(b for b, (length, counted) in enumerate(both) if length != counted)

    @property
    def told(self) -> str:
        """Return what is lost, or why nothing is, in plain sentences."""
        if self.cells:
            return f"{self._found()} {self._miscounted()} {self._meaning()}"
        if self.wrong:
            return f"The grid is not padded with {self.pad:g} everywhere. {self._miscounted()} Keep the lengths."
        if self.words:
            return f"Nothing is lost: words have ids from 1 on, and no word has the id {self.pad:g}, which pads."
        what = "id" if self.ids else "value"
        return (
            f"Nothing is lost in this batch, by luck: no token is {self._pad()}. "
            f"The first one that is would be taken for a pad; no {what} is kept free for it."
        )

    def _pad(self) -> str:
        return f"{'id ' if self.ids else ''}{self.pad:g}"

    def _found(self) -> str:
        places = joined([f"{sequence_label(b)} at t = {t}" for b, t in self.cells], _NAMED)
        tokens = "1 real token equals" if len(self.cells) == 1 else f"{len(self.cells)} real tokens equal"
        return f"{tokens} the pad, {self._pad()}: {places}."

    def _miscounted(self) -> str:
        if not self.wrong:
            return f"{self.code} counts every length right all the same."
        counts = [f"{self.counted[b]} for {sequence_label(b)} (length {self.lengths[b]})" for b in self.wrong]
        return f"{self.code} counts {joined(counts, _NAMED)}."

    def _meaning(self) -> str:
        zeros = " With padding_idx such a token has a row of zeros as its embedding, and it is never trained."
        return f"The grid alone does not tell such a token from a pad: keep the lengths.{zeros if self.zeros else ''}"


def pad_collision(trace: Trace) -> PadCollision:
    """Find the real tokens that equal the value that pads, and what a count without them makes of the lengths.

    Works where torch refused the lengths, too: only the padded grid is read.
    """
    padded, pad = trace.padded, _pad_of(trace)
    differs = padded.tokens != pad  # (B, T) or (B, T, F)
    code = f"(x != {pad:g}).sum(1)"
    if differs.dim() == 3:
        differs, code = differs.any(2), f"(x != {pad:g}).any(2).sum(1)"
    ids = padded.embedding is not None
    return PadCollision(
        pad=pad,
        code=code,
        cells=tuple((b, t) for b, t in (padded.mask & ~differs).nonzero().tolist()),
        lengths=tuple(padded.lengths.tolist()),
        counted=tuple(differs.sum(1).tolist()),
        ids=ids,
        words=trace.batch is not None and trace.batch.kind == "words",
        zeros=ids and trace.config is not None and trace.config.padding_idx is not None,
    )


def _pad_of(trace: Trace) -> float:
    """Return what pads: by the settings, or what stands in every pad of a grid that came padded; else 0."""
    if trace.config is not None:
        return trace.config.pad_id if trace.padded.embedding is not None else trace.config.padding_value
    pad = pad_input(trace)
    return float(pad[0]) if bool((pad == pad[0]).all()) else 0.0
