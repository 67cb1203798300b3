"""Tapping: a prediction that is answered by a tap on a token of the batch."""

from __future__ import annotations

import tomllib
from pathlib import Path

from classroom.question import Question, cell_name
from classroom.state import RefusedError
from packviz.compute.record import Refusal, Trace
from packviz.teach.predictions import Prediction
from packviz.teach.predictions.kind import Facts
from packviz.text import filled, sequence_label

_WORDS = tomllib.loads(Path(__file__).with_name("tapping.toml").read_text(encoding="utf-8"))
KINDS = ("packed_row", "packed_token")  # that can be asked like this


def tapped(made: Trace | Refusal, asked: Prediction) -> Question:
    """Ask which token is in the packed row that a prediction is about; raises RefusedError for other kinds."""
    if asked.key not in KINDS:
        raise RefusedError(400, f"Only {' and '.join(KINDS)} can be answered by a tap.")
    if made.packed_is_pad.any():
        raise RefusedError(
            400, "Padding is packed here, too, so some rows are not tokens. Choose padding_side='right'."
        )
    facts = Facts(made)
    if asked.key == "packed_row":
        n = int(asked.answer[0])
    else:
        assert asked.moment.timestep is not None
        n = made.packed.origins.index((facts.letters.index(str(asked.answer[0])), asked.moment.timestep))
    right = b, t = made.packed.origins[n]
    start, row = facts.offsets[t], facts.rank[b]
    usual = {
        "by_sequence": [(b, t) for b in range(facts.B) for t in range(facts.lengths[b])][n],
        "by_sorted_sequence": [(b, t) for b in facts.order for t in range(facts.lengths[b])][n],
        "unsorted": (n - start, t),
        "nobody_ends": (facts.order[n % facts.B], n // facts.B),
        "from_one": made.packed.origins[n - 1] if n else right,
    }
    names = {"n": n, "t": t, "name": sequence_label(b), "start": start, "row": row, "size": facts.batch_sizes[t]}
    reasons: dict[str, str] = {}
    for key, cell in usual.items():
        if cell != right and cell[1] < facts.lengths[cell[0]]:
            given = cell_name(*cell)
            reasons.setdefault(given, filled(_WORDS[key], {**names, "given": given}))
    prompt, why = filled(_WORDS["prompt"], names), filled(_WORDS["why"], names)
    lengths = tuple(facts.lengths)
    return Question(asked.key, prompt, "cell", [b, t], cell_name(b, t), why, reasons, lengths=lengths)
