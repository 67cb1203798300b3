"""Export: the votes of a room as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from classroom.state import State

__all__ = ["answers_csv"]

_FORMULA = ("=", "+", "-", "@", "\t", "\r")  # how a cell begins that a spreadsheet would run


def answers_csv(state: State, prompts: Sequence[str]) -> str:
    """Return one line for each vote that counts: name, question, round, answer, right, seconds.

    prompts: of the questions that were asked.
    """
    text = io.StringIO()
    lines = csv.writer(text)
    lines.writerow(("name", "question", "round", "answer", "right", "seconds"))
    for prompt, asked in zip(prompts, state.asked, strict=True):
        for number, votes in enumerate(asked.votes, 1):
            for token, vote in votes.items():
                told = "yes" if vote.right else "no"
                name = _plain(state.phones[token].name)
                lines.writerow((name, _plain(prompt), number, _plain(vote.read), told, round(vote.seconds, 1)))
    return text.getvalue()


def _plain(text: str) -> str:
    """Return a text that a spreadsheet takes for text: an apostrophe before what would be a formula."""
    number = text.lstrip("+-").replace(" ", "").isdigit()
    return f"'{text}" if text.startswith(_FORMULA) and not number else text
