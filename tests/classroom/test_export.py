"""The exports: Moodle and other platforms read the same questions, including special characters."""

import csv
import io
import re
import zipfile
from html import unescape
from typing import Any
from xml.etree import ElementTree

import pytest

from classroom import events, questions, specs
from classroom.export import answers_csv, gift, qti, qti_archive
from classroom.question import Question
from classroom.state import State

ODD = 'Is {x = 1} ~ 50 % # of a:b \\ <b>&"?'
SPECS: list[dict[str, Any]] = [
    {
        "prompt": ODD,
        "options": ["a = b", "~{c}", "%50%<i>"],
        "answer": 1,
        "reasons": ["no: # 1 -> <b>", "", ""],
        "why": "x=1",
    },
    {"kind": "batch_sizes", "sequences": "1 2 3\n4\n5 6"},
    {"kind": "pad_count", "sequences": "1 2 3\n4\n5 6"},
    {"kind": "alive", "sequences": "<b> = {x}\n: # ~ \\\nc"},
    {"kind": "packed_row", "sequences": "1 2 3\n4\n5 6", "tap": True},
    {"kind": "last_column", "sequences": "1 2 3\n4\n5 6"},
    {"kind": "cu_seqlens", "sequences": "1 2 3\n4\n5 6"},
    {"kind": "keys_read", "sequences": "1 2 3\n4\n5 6", "settings": {"isolate": False}},
    {"kind": "changed_documents", "sequences": "<b> = {x}\n: # ~ \\\nc"},
    {"kind": "last_label", "sequences": "1 2 3\n4\n5 6"},
    {"kind": "dropped_tokens", "sequences": "1 2 3\n4\n5 6", "settings": {"max_length": 2}, "tap": True},
]
XML = "{http://www.imsglobal.org/xsd/ims_qtiasiv1p2}"


@pytest.fixture(scope="module")
def asked() -> list[Question]:
    return [questions.question(specs.checked(spec)) for spec in SPECS]


def parsed(text: str) -> list[tuple[str, str, list[tuple[str, str, str]]]]:
    """Read GIFT as Moodle does: title, text, and (sign, answer, feedback).

    A backslash takes one character. After "~" two percent signs are a weight, and "->" is of a question that matches.
    """
    found = []
    for block in re.split(r"\n\n", text.strip()):
        plain = re.sub(r"\\(.)", lambda match: chr(0xE000 + ord(match[1])), block, flags=re.DOTALL)
        whole = re.fullmatch(r"::([^:]*)::\[html\]([^{}]*)\{#?\n([^{}]*)\}", plain, flags=re.DOTALL)
        assert whole is not None, block
        assert "->" not in whole[3]
        assert not re.search(r"~%[^%]*%", whole[3])
        parts = re.findall(r"(=%0%|[=~])([^=~#]*)#([^=~#]*)", whole[3])
        answers = [(sign, _back(answer).strip(), _back(why).strip()) for sign, answer, why in parts]
        found.append((_back(whole[1]), _back(whole[2]), answers))
    return found


def _back(text: str) -> str:
    return re.sub("[\ue000-\ue0ff]", lambda match: chr(ord(match[0]) - 0xE000), text)


def test_gift_has_every_question_with_its_special_characters(asked: list[Question]) -> None:
    read = parsed(gift(asked))
    assert len(read) == len(asked)
    own = read[0]
    assert own[1] == "<p>Is {x = 1} ~ 50 % # of a:b \\ &lt;b&gt;&amp;&quot;?</p>"
    assert [(sign, unescape(answer), unescape(why)) for sign, answer, why in own[2]] == [
        ("~", "a = b", "no: # 1 -> <b>"),
        ("=", "~{c}", "x=1"),
        ("~", "%50%<i>", ""),
    ]
    assert own[2][2][1] == "&#37;50&#37;&lt;i&gt;"  # options are HTML, as the text is
    for question, (_, _, answers) in zip(asked, read, strict=True):
        right = [answer for sign, answer, _ in answers if sign == "="]
        if question.form != "choice":
            assert right[0] == question.solution  # typed answers are plain text
            assert {answer for sign, answer, _ in answers if sign == "=%0%"} == set(question.reasons)
            assert question.form != "number" or all(answer.isdigit() for _, answer, _ in answers)
    assert "<pre>A: &lt;b&gt; = {x}<br>B: : # ~ \\<br>C: c</pre>" in read[3][1]


@pytest.mark.parametrize(
    ("answer", "written"), [(0.5, "0.5"), (-1.5, "-1.5"), (1e20, "1e+20"), (-3, "-3"), (0, "0"), (-0.0, "0")]
)
def test_every_number_is_a_right_answer_in_gift(answer: float, written: str) -> None:
    own = questions.question(specs.checked({"prompt": "How much?", "kind": "number", "answer": answer}))
    assert parsed(gift([own]))[0][2] == [("=", written, "")]


@pytest.mark.parametrize(
    ("kind", "answer", "written"),
    [
        ("number", "-1.5", "-1.5"),
        ("number", "-1e-7", "-1e-07"),
        ("text", "-1 +2", "-1 +2"),
        ("text", "+1.5", "+1.5"),
        ("text", "-1+2", "'-1+2"),
        ("text", "- 3", "'- 3"),
        ("text", "=1", "'=1"),
        ("text", "-inf", "'-inf"),
        ("text", "@sum", "'@sum"),
    ],
)
def test_in_csv_only_a_formula_gets_an_apostrophe(kind: str, answer: str, written: str) -> None:
    spec = {"prompt": "How much?", "kind": kind}
    state, own = State("CODE"), questions.question(specs.checked(spec))
    state.apply(events.opened([spec], plan=False)[0])
    joined, token = events.join(state, None)
    for event in (*joined, *events.act(state, "open", question=spec, index=0)):
        state.apply(event)
    state.apply(*events.vote(state, token, 1, 1, answer, own, None))
    (row,) = csv.DictReader(answers_csv(state, [own]).splitlines())
    assert row["answer"] == written


def test_qti_has_the_required_structure_and_every_reference_has_a_target(asked: list[Question]) -> None:
    root = ElementTree.fromstring(qti(asked))
    assert root.tag == f"{XML}questestinterop"
    items = root.findall(f"{XML}assessment/{XML}section/{XML}item")
    assert len(items) == len(asked)
    for question, item in zip(asked, items, strict=True):
        parts = [child.tag.removeprefix(XML) for child in item]
        assert parts == ["itemmetadata", "presentation", "resprocessing"] + ["itemfeedback"] * (len(parts) - 3)
        responses = [each for each in item.find(f"{XML}presentation") or () if each.tag.startswith(f"{XML}response_")]
        assert [each.get("ident") for each in responses] == ["response1"]
        labels = [each.get("ident") for each in responses[0].iter(f"{XML}response_label")]
        feedback = {each.get("ident") for each in item.findall(f"{XML}itemfeedback")}
        linked = [each.get("linkrefid") for each in item.iter(f"{XML}displayfeedback")]
        assert set(linked) == feedback
        scored = [each for each in item.iter(f"{XML}respcondition") if each.find(f"{XML}setvar") is not None]
        assert {each.findtext(f"{XML}setvar") for each in scored} == {"100"}
        right = [each.text for condition in scored for each in condition.iter(f"{XML}varequal")]
        compared = [each for each in item.iter() if each.get("respident")]
        assert {each.get("respident") for each in compared} == {"response1"}
        if question.form == "choice":
            assert labels == [f"a{i}" for i in range(len(question.options))]
            assert right == [f"a{question.options.index(question.solution)}"]
        else:
            assert question.solution in right
            assert {each.text for each in compared} == set(right)  # Canvas takes all that is compared for right
            wrong = next((e for e in item.iter(f"{XML}itemfeedback") if e.get("ident") == "general_incorrect_fb"), None)
            assert wrong is not None
            assert all(answer in _told(wrong) for answer in question.reasons)
        for condition in item.iter(f"{XML}respcondition"):
            order = [child.tag.removeprefix(XML) for child in condition]
            assert order == [name for name in ("conditionvar", "setvar", "displayfeedback") if name in order]
    assert _told(items[0]).startswith("<p>Is {x = 1} ~ 50 % # of a:b \\ &lt;b&gt;")


def test_the_manifest_names_the_file_in_the_archive(asked: list[Question]) -> None:
    with zipfile.ZipFile(io.BytesIO(qti_archive(asked))) as files:
        manifest = ElementTree.fromstring(files.read("imsmanifest.xml"))
        resource = manifest.find(".//{*}resource")
        assert resource is not None
        assert resource.get("type") == "imsqti_xmlv1p2"
        href = resource.get("href")
        assert href is not None
        assert files.read(href).decode() == qti(asked)
        assert set(files.namelist()) == {"imsmanifest.xml", href}


def _told(element: ElementTree.Element) -> str:
    return next(element.iter(f"{XML}mattext")).text or ""
