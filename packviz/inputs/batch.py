"""Batch: sequences of words, numbers or feature vectors, before anything is done to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import get_args

import torch
from torch import Tensor

from packviz.errors import PackvizError
from packviz.inputs.examples import example
from packviz.inputs.parsing import Kind, Parsed, ReadAs, parse
from packviz.inputs.tensors import checked_sequences, zero_length_refusal
from packviz.text import counted, percent, sequence_label, shown, visible
from packviz.validate import choice, integer

__all__ = ["PAD_TEXT", "Batch", "Kind", "ReadAs", "sequence_label"]

PAD_TEXT = "<pad>"


@dataclass(frozen=True, eq=False, repr=False)
class Batch:
    """B sequences of different lengths.

    kind        "words", "numbers" or "vectors"
    sequences   B tensors. words: (len,) int64, ids in order of first use from 1; numbers: (len,) float32 (float64 and
                int64 if given as such tensors); vectors: (len, F) floating
    texts       the text of each cell: the word, or the number as typed; () for each sequence of vectors
    vocabulary  words: the word of each id, "<pad>" at 0; else (). Invisible characters are replaced by
                visible symbols, here and in `texts`; different words keep different ids
    notes       remarks on how a text was read, such as which lines were ignored
    """

    kind: Kind
    sequences: tuple[Tensor, ...]
    texts: tuple[tuple[str, ...], ...]
    vocabulary: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @classmethod
    def parse(
        cls, text: str, *, kind: ReadAs = "auto", max_sequences: int | None = None, max_steps: int | None = None
    ) -> Batch:
        r"""Read a batch from text: one sequence per line, a Python or JSON list of lists, or Python code with tensors.

        kind "auto" reads numbers if no token is a word, words otherwise; "words" and "numbers" force one reading.
        There is no limit unless one is given. Python code is parsed, never run.
        Raises PackvizError, with the position, for anything that cannot be read.

        >>> Batch.parse("1 2 3\n4 5\n6").summary
        '3 sequences, 6 tokens, 33% padding'
        """
        if not isinstance(text, str):
            fix = "give one sequence per line, or use Batch.from_tensors for tensors"
            raise PackvizError("text", expected="a str", got=shown(text), fix=fix)
        choice("kind", kind, get_args(ReadAs))
        limits = [
            None if limit is None else integer(name, limit, 1, or_none=True, fix="leave it out for no limit")
            for name, limit in (("max_sequences", max_sequences), ("max_steps", max_steps))
        ]
        parsed = parse(text, kind, *limits)
        if 0 in parsed.lengths:
            raise zero_length_refusal("text", parsed.lengths, parsed.place(parsed.lengths.index(0)))
        if parsed.kind == "words":
            return _of_words(parsed)
        flat = torch.tensor([float(token) for row in parsed.rows for token in row], dtype=torch.float32, device="cpu")
        notes = (*parsed.notes, *_rounded(parsed, flat))
        if parsed.kind == "numbers":
            return cls("numbers", torch.split(flat, parsed.lengths), parsed.rows, notes=notes)
        vectors = flat.view(-1, parsed.features)  # (N, F)
        return cls("vectors", torch.split(vectors, parsed.lengths), ((),) * len(parsed.rows), notes=notes)

    @classmethod
    def from_tensors(cls, tensors: Sequence[Tensor]) -> Batch:
        """Take sequences as tensors: all (len,), or all (len, F), each of at least one step.

        They are copied, without gradients, on their own device. Integers become int64, half precision and vectors of
        integers become float32; float32 and float64 stay as they are, and a mixture of both becomes float64.
        Raises PackvizError for anything else, and for values that are not finite.
        """
        sequences = checked_sequences(tensors)
        if sequences[0].dim() == 2:
            return cls("vectors", sequences, ((),) * len(sequences))
        return cls("numbers", sequences, tuple(tuple(f"{x:.6g}" for x in sequence.tolist()) for sequence in sequences))

    @classmethod
    def example(cls, key: str) -> Batch:
        """Return a built-in batch by its key in EXAMPLES; raises PackvizError for an unknown key."""
        chosen = example(key)
        return cls.parse(chosen.text or "") if chosen.tensors is None else cls.from_tensors(chosen.tensors())

    @property
    def lengths(self) -> Tensor:
        """Return the number of steps of each sequence, (B,) int64."""
        return torch.tensor([len(sequence) for sequence in self.sequences], dtype=torch.int64, device="cpu")

    @property
    def padding_share(self) -> float:
        """Return the share of the padded grid, B x T, that is padding."""
        lengths = self.lengths
        return 1.0 - int(lengths.sum()) / (len(lengths) * int(lengths.max()))

    @property
    def summary(self) -> str:
        """Return the batch on one line: "3 sequences, 9 tokens, 25% padding"."""
        counts = (counted(len(self.sequences), "sequence"), counted(int(self.lengths.sum()), "token"))
        return f"{', '.join(counts)}, {percent(self.padding_share)} padding"

    def __repr__(self) -> str:
        return f"Batch({self.kind}: {self.summary})"

    def label(self, b: int) -> str:
        """Return the letter of sequence b."""
        return sequence_label(b)


def _rounded(parsed: Parsed, flat: Tensor) -> tuple[str, ...]:
    """Return the remark on the first integer that float32 does not hold, if there is one; flat: the numbers, (N,)."""
    for token, held in zip((token for row in parsed.rows for token in row), flat.tolist(), strict=True):
        if token.lstrip("+-").isdigit() and (typed := Decimal(token)) != held:  # int() takes no more than 4,300 zeros
            return (f"{typed} is rounded to {held:.0f}, because float32 holds not every integer above 2**24.",)
    return ()


def _of_words(parsed: Parsed) -> Batch:
    words = dict.fromkeys(word for row in parsed.rows for word in row)
    ids = {word: i for i, word in enumerate(words, 1)}
    seen = {word: visible(word) for word in words}
    flat = torch.tensor([ids[word] for row in parsed.rows for word in row], dtype=torch.int64, device="cpu")
    texts = tuple(tuple(seen[word] for word in row) for row in parsed.rows)
    return Batch("words", torch.split(flat, parsed.lengths), texts, (PAD_TEXT, *seen.values()), parsed.notes)
