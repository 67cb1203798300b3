"""Tapping: a prediction that is answered by a tap on a token of the batch."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from classroom.question import Question, cell_name
from classroom.state import RefusedError
from packviz.compute.record import Trace
from packviz.compute.row_record import RowsTrace
from packviz.teach.predictions import Prediction
from packviz.teach.predictions.facts import Facts
from packviz.teach.predictions.row_facts import RowFacts
from packviz.text import filled, sequence_label

_WORDS = tomllib.loads(Path(__file__).with_name("tapping.toml").read_text(encoding="utf-8"))
_AT_A_STEP = ("final_step", "final_backward", "gradient_enters")  # at which time step of a sequence
TAPPED_KINDS = ("packed_row", "packed_token", *_AT_A_STEP, "row_token", "dropped_tokens")  # that can be asked like this

Cell = tuple[int, int]  # sequence, place in it


@dataclass(frozen=True)
class _Asked:
    """What is asked: the table of its words, the token, usual mistakes by name, and the values in the words."""

    words: str
    right: Cell
    usual: Mapping[str, Cell]
    names: Mapping[str, object]


def tapped(made: Any, asked: Prediction) -> Question:
    """Ask for the token that a prediction is about; raises RefusedError if it is about no single token."""
    if asked.key not in TAPPED_KINDS:
        raise RefusedError(400, f"Only {', '.join(TAPPED_KINDS[:-1])} and {TAPPED_KINDS[-1]} can be answered by a tap.")
    if isinstance(made, Trace) and made.packed_is_pad.any():
        raise RefusedError(
            400, "Padding is packed here, too, so some rows are not tokens. Choose padding_side='right'."
        )
    if asked.key in _AT_A_STEP:
        return _at_a_step(made, asked)
    found = _of_packing(made, asked) if isinstance(made, Trace) else _of_rows(made, asked)
    lengths, (b, t) = tuple(made.batch.lengths.tolist()), found.right
    names = {**found.names, "t": t, "name": sequence_label(b)}
    reasons: dict[str, str] = {}
    for key, cell in found.usual.items():
        if cell != found.right and cell[1] < lengths[cell[0]]:
            given = cell_name(*cell)
            words = _WORDS[found.words][key.partition(" ")[0]]
            reasons.setdefault(given, filled(words, {**names, "given": given}))
    prompt, why = (filled(_WORDS[found.words][key], names) for key in ("prompt", "why"))
    return Question(asked.key, prompt, "cell", [b, t], cell_name(b, t), why, reasons, lengths=lengths)


def _at_a_step(made: Trace, asked: Prediction) -> Question:
    """Ask for the token of a sequence at the time step that is the answer."""
    lengths, b, t = tuple(Facts(made).lengths), asked.place, int(asked.answer[0])
    name, words = sequence_label(b), _WORDS["step"]
    reasons = {
        cell_name(other, length - 1): filled(words["another"], {"other": sequence_label(other), "name": name})
        for other, length in enumerate(lengths)
        if other != b
    }
    reasons |= {cell_name(b, at): slip.reason for slip in asked.slips if (at := int(slip.answer[0])) < lengths[b]}
    prompt = f"{asked.prompt} {filled(words['prompt'], {'name': name})}"
    return Question(asked.key, prompt, "cell", [b, t], cell_name(b, t), asked.why, reasons, lengths=lengths)


def _of_packing(made: Trace, asked: Prediction) -> _Asked:
    """Return the question for the token in one row of the packed data."""
    facts, n = Facts(made), asked.place
    right = b, t = made.packed.origins[n]
    start, row = facts.offsets[t], facts.rank[b]
    usual = {
        "by_sequence": [(b, t) for b in range(facts.B) for t in range(facts.lengths[b])][n],
        "by_sorted_sequence": [(b, t) for b in facts.order for t in range(facts.lengths[b])][n],
        "unsorted": (n - start, t),
        "nobody_ends": (facts.order[n % facts.B], n // facts.B),
        "from_one": made.packed.origins[n - 1] if n else right,
    }
    return _Asked("packed", right, usual, {"n": n, "start": start, "row": row, "size": facts.batch_sizes[t]})


def _of_rows(made: RowsTrace, asked: Prediction) -> _Asked:
    """Return the question for the token in one cell of a row of all sequences, or for the one that is in no row."""
    facts, n = RowFacts(made), asked.place
    if asked.key == "row_token":
        right = b, _ = facts.places[n]
        usual = {
            "by_step": facts.by_step[n],
            "longest_first": facts.longest_first[n],
            "from_one": facts.places[n - 1] if n else right,
        }
        return _Asked("row", right, usual, {"n": n, "begins": sum(facts.lengths[:b])})
    if asked.answer != (1,):
        raise RefusedError(
            400, "A dropped token can be tapped only if exactly one token is dropped. Choose another max_length."
        )
    ((b, t, _),) = facts.dropped
    usual = {"first": (b, 0), "kept": (b, t - 1)}
    usual |= {f"last {other}": (other, length - 1) for other, length in enumerate(facts.lengths) if other != b}
    return _Asked("dropped", (b, t), usual, {"C": facts.C, "strategy": facts.strategy, "length": facts.lengths[b]})
