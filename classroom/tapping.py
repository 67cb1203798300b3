"""Tapping: a prediction that is answered by a tap on a token of the batch."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from classroom.refusal import RefusedError
from packviz.compute.record import Trace
from packviz.teach.predictions import Prediction
from packviz.teach.predictions.kind import Facts
from packviz.text import filled, sequence_label

_WORDS = tomllib.loads(Path(__file__).with_name("tapping.toml").read_text(encoding="utf-8"))
KINDS = ("packed_row", "packed_token")  # that can be asked like this

_IN_ROW = re.compile(r"in row (\d+) of")  # of the prompt of packed_token
Cell = tuple[int, int]  # a sequence b and a time step t


@dataclass(frozen=True)
class Tap:
    """Hold a question that is answered by a cell. lengths: of the sequences. reasons: by the answer from `read`."""

    prompt: str
    answer: Cell
    why: str
    reasons: Mapping[str, str]
    lengths: tuple[int, ...]

    def read(self, given: object) -> str:
        """Return a cell, given as [b, t], as a text such as "B, t = 2"; raises RefusedError for what is no token."""
        match given:
            case [int(b), int(t)] if not {bool} & {type(b), type(t)} and 0 <= b < len(self.lengths):
                if 0 <= t < self.lengths[b]:
                    return _spelled((b, t))
        raise RefusedError(
            400, "`answer` must be the token that was tapped, [sequence, time step], both counted from 0."
        )


def tapped(made: Trace, asked: Prediction) -> Tap:
    """Ask which token is in the packed row that a prediction is about; raises RefusedError for other kinds."""
    if asked.key not in KINDS:
        raise RefusedError(400, f"Only {' and '.join(KINDS)} can be answered by a tap.")
    if made.packed_is_pad.any():
        raise RefusedError(
            400, "Padding is packed here, too, so some rows are not tokens. Choose padding_side='right'."
        )
    facts = Facts(made)
    n = _row(asked)
    right = made.packed.origins[n]
    tokens = [(b, t) for b in range(facts.B) for t in range(facts.lengths[b])]
    by_sorted = [(b, t) for b in facts.order for t in range(facts.lengths[b])]
    timestep = right[1]
    usual: dict[str, Cell] = {
        "by_sequence": tokens[n],
        "by_sorted_sequence": by_sorted[n],
        "unsorted": (n - facts.offsets[timestep], timestep),
        "nobody_ends": (facts.order[n % facts.B], n // facts.B),
        "from_one": made.packed.origins[n - 1] if n else right,
    }
    names = {"n": n, "t": timestep, "name": sequence_label(right[0]), "start": facts.offsets[timestep]}
    names |= {"row": facts.rank[right[0]], "size": facts.batch_sizes[timestep]}
    reasons: dict[str, str] = {}
    for key, cell in usual.items():
        if cell != right and cell[1] < facts.lengths[cell[0]]:
            reasons.setdefault(_spelled(cell), filled(_WORDS[key], {**names, "given": _spelled(cell)}))
    return Tap(filled(_WORDS["prompt"], names), right, filled(_WORDS["why"], names), reasons, tuple(facts.lengths))


def _row(asked: Prediction) -> int:
    """Return the packed row that a prediction is about: the answer of packed_row, in the words of packed_token."""
    if asked.key == "packed_row":
        return int(asked.answer[0])
    found = _IN_ROW.search(asked.prompt)
    assert found is not None
    return int(found[1])


def _spelled(cell: Cell) -> str:
    return f"{sequence_label(cell[0])}, t = {cell[1]}"
