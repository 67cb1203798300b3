"""Export: the votes of a room as CSV, and questions as GIFT (Moodle) and QTI 1.2 (Canvas and others)."""

from __future__ import annotations

import csv
import io
import re
import zipfile
from collections.abc import Iterator, Sequence
from html import escape
from xml.etree import ElementTree

from classroom.question import Question
from classroom.state import State
from packviz.text import sequence_label

__all__ = ["answers_csv", "gift", "qti", "qti_archive"]

_FORMULA = ("=", "+", "-", "@", "\t", "\r")  # how a cell begins that a spreadsheet would run
_GIFT_SPECIAL = re.compile(r"([\\~=#{}:])")
_CODE = re.compile(r"`([^`]*)`")
_PACKAGE = "http://www.imsglobal.org/xsd/imscp_v1p1"
_ASSESSMENT = "assessment.xml"
_NAMESPACE = "http://www.imsglobal.org/xsd/ims_qtiasiv1p2"


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

    Moodle's format: https://docs.moodle.org/en/GIFT_format
    """
    return "\n".join(_gift(number, each) for number, each in enumerate(questions, 1))


def qti(questions: Sequence[Question]) -> str:
    """Return questions as one QTI 1.2 assessment: each is a choice, or an answer that is typed.

    Structure: IMS Question & Test Interoperability 1.2, ASI information model.
    """
    root = ElementTree.Element("questestinterop", {"xmlns": _NAMESPACE})
    assessment = ElementTree.SubElement(root, "assessment", {"ident": "packviz", "title": "packviz"})
    section = ElementTree.SubElement(assessment, "section", {"ident": "root_section"})
    for number, each in enumerate(questions, 1):
        section.append(_item(number, each))
    return _xml(root)


def qti_archive(questions: Sequence[Question]) -> bytes:
    """Return the assessment in a zip file with its manifest, as learning platforms import it."""
    manifest = ElementTree.Element("manifest", {"xmlns": _PACKAGE, "identifier": "packviz"})
    metadata = ElementTree.SubElement(manifest, "metadata")
    ElementTree.SubElement(metadata, "schema").text = "IMS Content"
    ElementTree.SubElement(metadata, "schemaversion").text = "1.1.3"
    ElementTree.SubElement(manifest, "organizations")
    resources = ElementTree.SubElement(manifest, "resources")
    about = {"identifier": "questions", "type": "imsqti_xmlv1p2", "href": _ASSESSMENT}
    ElementTree.SubElement(ElementTree.SubElement(resources, "resource", about), "file", {"href": _ASSESSMENT})
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as files:
        files.writestr("imsmanifest.xml", _xml(manifest))
        files.writestr(_ASSESSMENT, qti(questions))
    return archive.getvalue()


def _xml(root: ElementTree.Element) -> str:
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _plain(text: str) -> str:
    """Return a text that a spreadsheet takes for text: an apostrophe before what would be a formula."""
    number = text.lstrip("+-").replace(" ", "").isdigit()
    return f"'{text}" if text.startswith(_FORMULA) and not number else text


def _gift(number: int, asked: Question) -> str:
    head = f"::{number}. {_gift_text(asked.kind)}::[html]{_gift_text(_html(asked))}"
    if asked.form == "number":
        return f"{head}{{#={asked.answer}:0#{_feedback(asked, asked.solution)}}}\n"
    lines = [f"\t{sign}{_gift_text(answer)}#{_feedback(asked, answer)}" for sign, answer in _gift_answers(asked)]
    return "\n".join([f"{head}{{", *lines, "}", ""])


def _gift_answers(asked: Question) -> Iterator[tuple[str, str]]:
    """Yield the answers with their signs: of a choice all options; else the right answer, and wrong ones with 0 %."""
    if asked.form == "choice":
        yield from (("=" if option == asked.solution else "~", option) for option in asked.options)
        return
    yield from (("=", spelling) for spelling in _spellings(asked))
    yield from (("=%0%", answer) for answer in asked.reasons)


def _feedback(asked: Question, answer: str) -> str:
    right = answer in _spellings(asked)
    return _gift_text(_CODE.sub(r"\1", asked.why if right else asked.reason(answer)))


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
    parts = [f"<p>{_code_html(asked.prompt)}</p>"]
    if asked.rows:
        lines = (f"{sequence_label(b)}: {' '.join(row)}" for b, row in enumerate(asked.rows))
        parts.append(f"<pre>{'<br>'.join(map(escape, lines))}</pre>")
    if asked.settings:
        parts.append(f"<p><code>{escape(', '.join(asked.settings))}</code></p>")
    if asked.form == "cell":
        parts.append("<p>Type the letter of the sequence and the time step, for example: A, t = 0</p>")
    return "".join(parts)


def _code_html(text: str) -> str:
    return _CODE.sub(r"<code>\1</code>", escape(text))


def _item(number: int, asked: Question) -> ElementTree.Element:
    """Return one item: what is shown, how it is answered, and what each answer earns."""
    title = f"{number}. {asked.kind}"
    item = ElementTree.Element("item", {"ident": f"q{number}", "title": title})
    kind = "multiple_choice_question" if asked.form == "choice" else "short_answer_question"
    metadata = ElementTree.SubElement(ElementTree.SubElement(item, "itemmetadata"), "qtimetadata")
    for label, entry in (("question_type", kind), ("points_possible", "1")):
        field = ElementTree.SubElement(metadata, "qtimetadatafield")
        ElementTree.SubElement(field, "fieldlabel").text = label
        ElementTree.SubElement(field, "fieldentry").text = entry
    presentation = ElementTree.SubElement(item, "presentation")
    _material(presentation, _html(asked))
    if asked.form == "choice":
        response = ElementTree.SubElement(presentation, "response_lid", {"ident": "response", "rcardinality": "Single"})
        choices = ElementTree.SubElement(response, "render_choice")
        for i, option in enumerate(asked.options):
            labelled = ElementTree.SubElement(choices, "response_label", {"ident": f"a{i}"})
            _material(labelled, _code_html(option))
    else:
        response = ElementTree.SubElement(presentation, "response_str", {"ident": "response", "rcardinality": "Single"})
        ElementTree.SubElement(
            ElementTree.SubElement(response, "render_fib"), "response_label", {"ident": "answer", "rshuffle": "No"}
        )
    _processing(item, asked)
    return item


def _processing(item: ElementTree.Element, asked: Question) -> None:
    processing = ElementTree.SubElement(item, "resprocessing")
    outcomes = ElementTree.SubElement(processing, "outcomes")
    limits = {"maxvalue": "100", "minvalue": "0", "varname": "SCORE", "vartype": "Decimal"}
    ElementTree.SubElement(outcomes, "decvar", limits)
    choice = asked.form == "choice"
    wrong = [option for option in asked.options if option != asked.solution] if choice else list(asked.reasons)
    told = [(_spellings(asked), asked.why), *(([answer], asked.reason(answer)) for answer in wrong)]
    feedbacks = []
    for number, (answers, reason) in enumerate(told):
        right = number == 0
        if not right and not reason:
            continue
        condition = ElementTree.SubElement(processing, "respcondition", {"continue": "No"})
        variable = ElementTree.SubElement(ElementTree.SubElement(condition, "conditionvar"), "or")
        for answer in answers:
            given = f"a{asked.options.index(answer)}" if choice else answer
            ElementTree.SubElement(variable, "varequal", {"respident": "response"}).text = given
        if right:
            ElementTree.SubElement(condition, "setvar", {"action": "Set", "varname": "SCORE"}).text = "100"
        if reason:
            link = {"feedbacktype": "Response", "linkrefid": f"f{number}"}
            ElementTree.SubElement(condition, "displayfeedback", link)
            feedbacks.append((f"f{number}", reason))
    for ident, reason in feedbacks:
        shown = ElementTree.SubElement(item, "itemfeedback", {"ident": ident})
        _material(ElementTree.SubElement(shown, "flow_mat"), _code_html(reason))


def _material(parent: ElementTree.Element, html: str) -> None:
    material = ElementTree.SubElement(parent, "material")
    ElementTree.SubElement(material, "mattext", {"texttype": "text/html"}).text = html
