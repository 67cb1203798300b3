"""The entries of the questions run once or anew, and their batches as torch itself pads and packs them."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import TypeVar

import pytest
import torch
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_sequence

from packviz.charts import Panel
from packviz.config import Config
from packviz.questions.answer import Answer, answer
from packviz.questions.model import Entry, Outcome

Key = TypeVar("Key", bound=Hashable)

UNEVEN = ([2, 1, 3], [1, 4, 2, 2], [3, 1, 5], [1, 2])  # lengths; 1 2 3 is the batch of the texts

answered = cache(answer)  # an entry that is run once for all tests that only read what it said


def asking(entries: Mapping[Key, Entry]) -> Callable[..., Answer]:
    """Return what runs one of the entries anew: as it is, or with another batch, config or settings of its config."""

    def asked(key: Key, batch: str | None = None, config: Config | None = None, **settings: object) -> Answer:
        entry = entries[key]
        config = replace(config or entry.config, **settings)
        return answer(replace(entry, batch=entry.batch if batch is None else batch, config=config))

    return asked


def verdicts(
    entries: Mapping[str, Entry], expected: Mapping[str, str], run: Callable[[Entry], Answer] = answer
) -> Callable[[str], None]:
    """Return the test that the verdict on each entry is the expected one."""

    @pytest.mark.parametrize("key", expected)
    def test(key: str) -> None:
        assert run(entries[key]).outcome.verdict == expected[key]

    return test


def unfailing(entries: Mapping[str, Entry]) -> Callable[[str], None]:
    """Return the test that no entry's fixed program fails."""

    @pytest.mark.parametrize("key", entries)
    def test(key: str) -> None:
        assert answered(entries[key]).fixed.error is None

    return test


def unlisted(done: Answer) -> list[str]:
    """Return the errors that no message of the entry names: that of its fixed program, whatever it is, is one."""
    errors = [done.fixed.error, None if done.broken.error in done.entry.messages else done.broken.error]
    return [error for error in errors if error is not None]


def unheard(done: Answer) -> list[str]:
    """Return the messages of the entry that its broken program does not raise and that are not told either."""
    return [each for each in done.entry.messages if each != done.broken.error and each not in done.outcome.told]


def panels_of(outcome: Outcome) -> tuple[Panel, ...]:
    assert outcome.chart is not None
    (panels,) = outcome.chart.of
    return panels


def typed(lengths: Sequence[int]) -> str:
    """Return what is typed for sequences of these lengths: 1 2 3 and on, then 4 5 6 and on."""
    return "\n".join(" ".join(str(3 * b + t + 1) for t in range(n)) for b, n in enumerate(lengths))


def sequences_of(batch: str) -> list[Tensor]:
    """Return the sequences of a batch of numbers, each (length,), made without packviz."""
    return [torch.tensor([float(token) for token in line.split()]) for line in batch.splitlines()]


def grid_of(sequences: list[Tensor]) -> Tensor:
    """Return sequences (length,) as x (B, T, 1)."""
    return pad_sequence(sequences, batch_first=True).unsqueeze(-1)


def packed_by_torch(sequences: list[Tensor]) -> PackedSequence:
    lengths = torch.tensor([len(sequence) for sequence in sequences])
    return pack_padded_sequence(grid_of(sequences), lengths, batch_first=True, enforce_sorted=False)


def padded(lengths: Sequence[int]) -> Tensor:
    """Return the batch that is typed for these lengths as x (B, T, 1)."""
    return grid_of(sequences_of(typed(lengths)))


def packed_of(lengths: Sequence[int]) -> PackedSequence:
    return packed_by_torch(sequences_of(typed(lengths)))


def pads_of(lengths: Sequence[int]) -> set[tuple[int, int]]:
    """Return (row, column) of the pads of a batch of these lengths."""
    return {(b, t) for b, n in enumerate(lengths) for t in range(n, max(lengths))}
