"""The numbers of a run over rows that the questions about rows need, and what runs over its rows, in words."""

import tomllib
from collections import Counter
from collections.abc import Iterator
from functools import cache, cached_property
from itertools import accumulate
from pathlib import Path
from typing import Any

import torch
from torch.nn.utils.rnn import pack_sequence

from packviz.compute import runs
from packviz.compute.rows import RowsTrace
from packviz.facts.row_leaks import fullest
from packviz.facts.token_losses import TokenLosses, losses_in_rows
from packviz.inputs.documents import NO_LABEL
from packviz.inputs.row_config import RowConfig
from packviz.show.movie.about import Asked
from packviz.teach.predictions.kind import Draft, Subject
from packviz.text import counted, filled, sequence_label, with_article

MAX_TOKENS = 40  # of a row that is asked about: the question names its documents, and the gradient reaches its end
MAX_PIECES = 6
_SHOWN = Asked()  # how many sequences and tokens of each a movie shows
WORDS: dict[str, Any] = tomllib.loads(Path(__file__).with_name("rows.toml").read_text(encoding="utf-8"))


class RowFacts:
    """The numbers of a run over rows.

    B, N          the sequences, and the sum of their lengths
    lengths       B numbers, in the original order of the sequences
    R, C          the rows, and the cells of each
    strategy, layer, kernel_size, num_layers, isolate, causal, reset_positions, shift_labels
                  the settings of these names
    runs          what runs over the rows, in words
    dropped       the pieces that are in no row
    ranked        by kind, the ordered questions about this run, cached when first asked
    """

    def __init__(self, trace: RowsTrace) -> None:
        self.trace, config = trace, trace.config
        self.lengths: list[int] = trace.batch.lengths.tolist()
        self.B, self.N = len(self.lengths), sum(self.lengths)
        self.letters = tuple(map(sequence_label, range(self.B)))
        self.rows, self.dropped = trace.rows.rows, trace.rows.dropped
        self.R, self.C = len(self.rows), trace.rows.max_length
        self.strategy, self.layer, self.shift_labels = config.strategy, config.layer, config.shift_labels
        self.kernel_size, self.num_layers = config.kernel_size, config.num_layers
        self.isolate, self.causal, self.reset_positions = config.isolate, config.causal, config.reset_positions
        self.runs = _runs(config)
        self.ranked: dict[str, list[Draft]] = {}
        self.influence = cache(lambda r: trace.influence_in(r) > 0)  # (C, C) bool: whether output q depends on token k

    def n(self, r: int) -> int:
        """Return the tokens in row r."""
        return sum(self.trace.rows.lengths[r])

    def short(self, r: int) -> bool:
        """Return whether row r can be asked about."""
        return len(self.rows[r]) <= MAX_PIECES and self.n(r) <= MAX_TOKENS

    @cached_property
    def equally_full(self) -> set[int]:
        """Return the rows that were as full as another one when best fit chose one of them."""
        if self.strategy not in ("bfd", "bfd_split"):
            return set()
        placed = [(stop - start, b, start, r) for r, row in enumerate(self.rows) for b, start, stop in row]
        held, tied = [0] * self.R, set[int]()
        for length, _, _, r in sorted(placed, key=lambda each: (-each[0], each[1:])):  # as they were placed
            alike = [other for other in range(self.R) if held[other] == held[r]]
            if held[r] and len(alike) > 1:
                tied.update(alike)
            held[r] += length
        return tied

    @cached_property
    def watched(self) -> list[int]:
        """Return the row whose borders and outputs a movie shows; nothing if it is too long to be asked about."""
        r = fullest(self.trace)
        return [r] if self.short(r) else []

    @cached_property
    def queried(self) -> list[int]:
        """Return the rows that can be asked about, of those whose queries a movie shows."""
        ends = accumulate(map(self.n, range(self.R)))
        shown = [r for r, end in enumerate(ends) if end <= _SHOWN.steps and r < _SHOWN.sequences]
        return [r for r in shown if self.short(r)]

    def pieces(self, r: int) -> list[tuple[int, int, int]]:
        """Return for each piece in row r its sequence, its first cell and its length."""
        return [(b, at, stop - start) for at, (b, start, stop) in self.trace.rows.placed(r)]

    def held(self, r: int) -> str:
        """Return what row r holds, in words."""
        pieces = list[str]()
        for b, start, stop in self.rows[r]:
            what = str(stop - start) if pieces else counted(stop - start, "token")  # "5 tokens", then only numbers
            if stop - start < self.lengths[b]:
                what = f"token {start}" if stop - start == 1 else f"tokens {start} to {stop - 1}"
            pieces.append(f"{self.letters[b]} ({what})")
        return ", ".join([*pieces[:-1], f"then {pieces[-1]}" if len(pieces) > 1 else pieces[-1]])

    def in_words(self, r: int) -> dict[str, object]:
        """Return what the texts of every question about one row need."""
        return {"r": r, "n": self.n(r), "held": self.held(r), "runs": self.runs}

    @cached_property
    def places(self) -> list[tuple[int, int]]:
        """Return the sequence and the place in it of each token, if the sequences stand in one row in their order."""
        return [(b, t) for b, length in enumerate(self.lengths) for t in range(length)]

    @cached_property
    def longest_first(self) -> list[tuple[int, int]]:
        """Return the same if the longest sequence comes first."""
        order = sorted(range(self.B), key=lambda b: -self.lengths[b])
        return [(b, t) for b in order for t in range(self.lengths[b])]

    @cached_property
    def by_step(self) -> list[tuple[int, int]]:
        """Return the same in the order of a PackedSequence."""
        numbers = torch.split(torch.arange(self.N, device="cpu"), self.lengths)
        return [self.places[n] for n in pack_sequence(list(numbers), enforce_sorted=False).data.tolist()]

    @cached_property
    def targets(self) -> list[tuple[int, int, int, int]]:
        """Return of each sequence that is one piece with a label: sequence, row, piece and how many labels it has."""
        pieces = [(b, r, d) for r, row in enumerate(self.rows) for d, (b, _, _) in enumerate(row)]
        often = Counter(b for b, _, _ in pieces)
        labelled = self.trace.labels != NO_LABEL
        counts = [int(labelled[r][self.trace.document_ids[r] == d].sum()) for _, r, d in pieces]
        return [(*at, count) for at, count in zip(pieces, counts, strict=True) if count and often[at[0]] == 1]

    @cached_property
    def losses(self) -> TokenLosses:
        """Return the losses of the run, and what they weigh."""
        return losses_in_rows(self.trace)

    @property
    def shown(self) -> list[int]:
        """The cells of the row of all sequences that a movie shows."""
        return [n for n, (b, t) in enumerate(self.places) if b < _SHOWN.sequences and t < _SHOWN.steps]


def _runs(config: RowConfig) -> str:
    """Return what runs over the rows, in words."""
    isolated = "_isolated" if config.isolate else ""
    if config.layer == "attention":
        key = f"attention{isolated}{'_causal' if config.causal else ''}"
    elif config.layer == "conv":
        key = f"{'conv' if config.num_layers == 1 else 'convs'}{isolated}"
    else:
        key = f"recurrent{isolated}"
    module = with_article(config.layer.upper())
    known = {
        "module": module[0].upper() + module[1:],
        "kernel_size": config.kernel_size,
        "num_layers": config.num_layers,
    }
    return filled(WORDS["runs"][key], known)


def ends(facts: RowFacts) -> Iterator[tuple[int, int]]:
    """Yield row and number of the documents whose last token is the last of its sequence, without a piece beside it."""
    for r in facts.watched:
        sequences = [b for b, _, _ in facts.rows[r]]
        if len(set(sequences)) == len(sequences):
            yield from ((r, d) for d, (b, _, stop) in enumerate(facts.rows[r]) if stop == facts.lengths[b])


def code_of(trace: RowsTrace) -> dict[str, str]:
    """Return the settings as code, by name: the layer, how several rows are filled, and what is not the default."""
    config = trace.config
    shown: dict[str, object] = {"layer": config.layer}
    if config.max_length is not None:
        shown |= {"max_length": config.max_length, "strategy": config.strategy}
    shown |= runs.ROWS_RUN.changed(config)
    return {name: f"{name}={value!r}" for name, value in shown.items() if name != "seed"}


_FIX = "Choose a smaller max_length, or several short sequences that stand in one row."
ROW_QUESTIONS = Subject(runs.ROWS_RUN, RowFacts, code_of, WORDS, _FIX)
