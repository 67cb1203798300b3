"""Export: the votes of a room as CSV, and questions as GIFT (Moodle) and QTI 1.2 (Canvas and others)."""

from __future__ import annotations

import csv
import io
import re
import zipfile
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from html import escape
from pathlib import Path

from classroom.question import Question
from classroom.slide import prompt_html, without_picture
from classroom.state import State
from packviz.text import html, markup

_FORMULA = ("=", "+", "-", "@", "\t", "\r")  # the beginnings of cells that a spreadsheet would run
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?(e[+-]?\d+)?", re.ASCII)  # as classroom/question.py writes it
_GIFT_SPECIAL = re.compile(r"([\\~=#{}:])")
_HERE = Path(__file__).parent
_RIGHT = "correct_fb"  # the feedback to a right answer
_TYPED = "short_answer_question"
_QTI_TYPES = {"choice": "multiple_choice_question", "number": "numerical_question"}  # Canvas's names, by form


_COLUMNS = ("name", "question", "round", "answer", "right", "seconds")
_MORE = ("number", "batch", "settings", "right answer", "time", "confidence")


def answers_csv(state: State, questions: Sequence[Question]) -> str:
    """Return one line for each vote that counts. questions: those that were asked."""
    text = io.StringIO()
    lines = csv.writer(text)
    lines.writerow((*_COLUMNS, *_MORE))
    for number, (asked, votes_of) in enumerate(zip(questions, state.asked, strict=True), 1):
        batch, settings = " / ".join(map(" ".join, asked.rows)), ", ".join(asked.settings)
        for round_, votes in enumerate(votes_of.counted, 1):
            for token, vote in votes.items():
                told = {True: "yes", False: "no", None: ""}[vote.right]
                texts = (
                    state.phones[token].name,
                    without_picture(asked.prompt, "picture"),
                    vote.read,
                    batch,
                    settings,
                    asked.solution,
                )
                name, prompt, read, batch_, settings_, solution = map(_plain, texts)
                at = datetime.fromtimestamp(vote.at, UTC).isoformat(" ", "seconds")
                line = (name, prompt, round_, read, told, round(vote.seconds, 1))
                lines.writerow((*line, number, batch_, settings_, solution, at, vote.confidence or ""))
    return text.getvalue()


def gift(questions: Sequence[Question]) -> str:
    """Return questions as Moodle's GIFT: a choice, a number, or a short answer, with the reasons as feedback.

    Moodle's format: https://docs.moodle.org/en/GIFT_format, and question/format/gift/format.php in moodle/moodle.
    """
    return "\n".join(_gift(number, each) for number, each in enumerate(questions, 1))


def qti(questions: Sequence[Question]) -> str:
    """Return questions as one QTI 1.2 assessment: each is a choice, or an answer that is typed.

    Structure: IMS Question & Test Interoperability 1.2, ASI information model, as Canvas imports it: what it compares
    with and which feedback it shows follow gems/plugins/qti_exporter in instructure/canvas-lms.
    """
    items = [(each, _QTI_TYPES.get(each.form, _TYPED), _html(each), [*_conditions(each)]) for each in questions]
    return markup(_HERE / "assessment.xml", items=items)


def qti_archive(questions: Sequence[Question]) -> bytes:
    """Return the assessment in a zip file with its manifest, as learning platforms import it."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as files:
        files.write(_HERE / "imsmanifest.xml", "imsmanifest.xml")
        files.writestr("assessment.xml", qti(questions))
    return archive.getvalue()


def _plain(text: str) -> str:
    """Return a text that no spreadsheet runs: with an apostrophe before it if it looks like a formula."""
    return f"'{text}" if text.startswith(_FORMULA) and not all(map(_NUMBER.fullmatch, text.split())) else text


def _gift(number: int, asked: Question) -> str:
    """Return a question. Moodle takes its options and feedback for HTML, and what is typed for plain text."""
    opening = "{#" if asked.form == "number" else "{"
    lines = [f"::{number}. {_gift_text(asked.kind)}::[html]{_gift_text(_html(asked))}{opening}"]
    for answer, right, told in _answers(asked):
        if asked.form == "choice":
            sign = "=" if right else "~"
            answer = html(answer).replace("%", "&#37;")  # at its beginning it would be a weight
        else:
            sign = "=" if right else "=%0%"
        if asked.form != "number" or _NUMBER.fullmatch(answer):
            lines.append(f"\t{sign}{_gift_text(answer)}#{_gift_text(told)}")
    return "\n".join([*lines, "}", ""])


def _gift_text(text: str) -> str:
    """Return a text in which GIFT's special characters are plain ones, on one line."""
    return _GIFT_SPECIAL.sub(r"\\\1", " ".join(text.split()))


def _answers(asked: Question) -> Iterator[tuple[str, bool, str]]:
    """Yield answers, whether each is right, and the feedback as HTML: all options, or what is usually typed."""
    answers = asked.options
    if not answers:
        right = asked.solution
        commas = asked.form != "cell" and " " in right
        spellings = (right, right.replace(" ", ", "), right.replace(" ", ",")) if commas else (right,)
        yield from ((each, True, html(asked.why)) for each in spellings)
        answers = tuple(asked.reasons)
    yield from ((each, asked.is_right(each), html(asked.reason(each))) for each in answers)


def _html(asked: Question) -> str:
    """Return the prompt as HTML, with the batch and the settings that it is about."""
    return markup(_HERE / "question.html", asked=asked, prompt=prompt_html(asked))


def _conditions(asked: Question) -> Iterator[tuple[str | None, str, str]]:
    """Yield answers, None for any other one, with the name and the text of their feedback, "" if there is none.

    Canvas accepts every text that is compared with a typed answer as right, so the usual wrong answers are in the
    feedback to all wrong ones.
    """
    if asked.form == "choice":
        for i, (_, right, told) in enumerate(_answers(asked)):
            if right or told:
                yield f"a{i}", _RIGHT if right else f"a{i}_fb", told
        return
    yield from ((answer, _RIGHT, told) for answer, right, told in _answers(asked) if right)
    if asked.reasons:
        usual = (f"<li>{escape(answer)}: {html(reason)}</li>" for answer, reason in asked.reasons.items())
        yield None, "general_incorrect_fb", f"<p>Usual mistakes:</p><ul>{''.join(usual)}</ul>"
