"""The small pictures of the quiz: the ragged rows of a batch, and how the ten questions stand."""

from collections.abc import Sequence
from html import escape

import streamlit as st

from packviz.inputs.batch import sequence_label
from packviz.teach.quiz import Mark, Question
from packviz.theme import DARK, LIGHT, SEQUENCE_HUES, hue, text_on

__all__ = ["batch", "marks", "settings"]

_SIGNS: dict[Mark, str] = {"open": "", "first": "✓", "second": "½", "missed": "✗"}
_TOLD: dict[Mark, str] = {
    "open": "open",
    "first": "right at the first try, 2 points",
    "second": "right at the second try, 1 point",
    "missed": "not found, 0 points",
}


def batch(question: Question, *, small: bool = False) -> None:
    """Show the sequences as they came: ragged rows, each with its letter and in its colour."""
    rows = "".join(_row(b, texts) for b, texts in enumerate(question.batch.texts))
    size = "quiz-batch small" if small else "quiz-batch"
    st.html(f'<table class="{size}" aria-label="The batch">{rows}</table>', width="content" if small else "stretch")


def settings(question: Question) -> None:
    """Show the settings that matter, in a line."""
    st.markdown(" ".join(f"`{setting}`" for setting in question.settings))


def marks(standing: Sequence[Mark], at: int) -> None:
    """Show how each question stands, and at which one we are."""
    palette = DARK if st.context.theme.type == "dark" else LIGHT
    colors: dict[Mark, str] = {
        "open": palette.line,
        "first": palette.good,
        "second": palette.good,
        "missed": palette.wrong,
    }
    items = "".join(_mark(i, mark, colors[mark], now=i == at) for i, mark in enumerate(standing))
    st.html(f'<ol class="quiz-marks" aria-label="How the questions stand">{items}</ol>')


def _row(b: int, texts: Sequence[str]) -> str:
    color = SEQUENCE_HUES[hue(b)[0]]
    style = f"background:{color};color:{text_on(color)}"
    cells = "".join(f'<td style="{style}">{escape(text)}</td>' for text in texts)
    return f'<tr><th scope="row">{sequence_label(b)}</th>{cells}</tr>'


def _mark(i: int, mark: Mark, color: str, *, now: bool) -> str:
    told, here = f"Question {i + 1}: {_TOLD[mark]}", ' aria-current="step"' if now else ""
    sign = f'<span aria-hidden="true">{_SIGNS[mark] or i + 1}</span>'
    return f'<li title="{told}" aria-label="{told}" class="{mark}" style="--mark:{color}"{here}>{sign}</li>'
