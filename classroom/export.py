"""Export: the votes of a room as CSV, and questions as GIFT (Moodle) and QTI 1.2 (Canvas and others)."""

from __future__ import annotations

import csv
import io
import re
import zipfile
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path

from classroom.question import Question
from classroom.state import State
from packviz.text import html, markup

_FORMULA = ("=", "+", "-", "@", "\t", "\r")  # how a cell begins that a spreadsheet would run
_GIFT_SPECIAL = re.compile(r"([\\~=#{}:])")
_HERE = Path(__file__).parent
_RIGHT = "correct_fb"  # the feedback to a right answer
_TYPED = "short_answer_question"
_QTI_TYPES = {"choice": "multiple_choice_question", "number": "numerical_question"}  # Canvas's names, by form


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
    """Return a text that a spreadsheet takes for text: an apostrophe before what would be a formula."""
    number = text.lstrip("+-").replace(" ", "").isdigit()
    return f"'{text}" if text.startswith(_FORMULA) and not number else text


def _gift(number: int, asked: Question) -> str:
    head = f"::{number}. {_gift_text(asked.kind)}::[html]{_gift_text(_html(asked))}"
    opening = "{#" if asked.form == "number" else "{"
    lines = [f"\t{sign}{_gift_text(answer)}#{_gift_text(why)}" for sign, answer, why in _gift_answers(asked)]
    return "\n".join([f"{head}{opening}", *lines, "}", ""])


def _gift_answers(asked: Question) -> Iterator[tuple[str, str, str]]:
    """Yield the answers with their signs and the feedback: of a choice all options, else those that may be typed.

    Moodle takes options and feedback for HTML, as the text is, and what is typed for plain text.
    """
    why = html(asked.why)
    if asked.form == "choice":
        for option in asked.options:
            told = html(option).replace("%", "&#37;")  # at its beginning it would be a weight
            right = option == asked.solution
            yield ("=", told, why) if right else ("~", told, html(asked.reason(option)))
        return
    yield from (("=", spelling, why) for spelling in _spellings(asked))
    for answer, reason in asked.reasons.items():
        if asked.form != "number" or answer.lstrip("-").isdigit():
            yield "=%0%", answer, html(reason)


def _gift_text(text: str) -> str:
    """Return a text in which GIFT's special characters are plain ones, on one line."""
    return _GIFT_SPECIAL.sub(r"\\\1", " ".join(text.split()))


def _spellings(asked: Question) -> list[str]:
    """Return the ways in which the right answer is usually typed: with spaces, and with commas."""
    if asked.form == "choice" or " " not in asked.solution or asked.form == "cell":
        return [asked.solution]
    return [asked.solution, asked.solution.replace(" ", ", "), asked.solution.replace(" ", ",")]


def _html(asked: Question) -> str:
    """Return the prompt as HTML, with the batch and the settings that it is about."""
    return markup(_HERE / "question.html", asked=asked)


def _conditions(asked: Question) -> Iterator[tuple[str | None, str, str]]:
    """Yield answers, None for any other one, with the name and the text of their feedback, "" where there is none.

    Canvas takes every text that is compared with a typed answer for a right one, so that the usual wrong answers stand
    in the feedback to all wrong ones.
    """
    why = html(asked.why)
    if asked.form == "choice":
        for i, option in enumerate(asked.options):
            if option != asked.solution and (reason := asked.reason(option)):
                yield f"a{i}", f"a{i}_fb", html(reason)
        yield f"a{asked.options.index(asked.solution)}", _RIGHT, why
        return
    yield from ((spelling, _RIGHT, why) for spelling in _spellings(asked))
    if asked.reasons:
        usual = (f"<li>{escape(answer)}: {html(reason)}</li>" for answer, reason in asked.reasons.items())
        yield None, "general_incorrect_fb", f"<p>Usual mistakes:</p><ul>{''.join(usual)}</ul>"
