"""The exports: what Moodle and other platforms read is what was asked, special characters and all."""

from __future__ import annotations

import io
import re
import zipfile
from typing import Any
from xml.etree import ElementTree

import pytest

from classroom import questions
from classroom.export import gift, qti, qti_archive
from classroom.question import Question

ODD = 'Is {x = 1} ~ 50 % # of a:b \\ <b>&"?'
SPECS: list[dict[str, Any]] = [
    {"prompt": ODD, "options": ["a = b", "~{c}", "<i>"], "answer": 1, "reasons": ["no: # 1", "", ""], "why": "x=1"},
    {"kind": "batch_sizes", "sequences": "1 2 3\n4\n5 6"},
    {"kind": "pad_count", "sequences": "1 2 3\n4\n5 6"},
    {"kind": "alive", "sequences": "<b> = {x}\n: # ~ \\\nc"},
    {"kind": "packed_row", "sequences": "1 2 3\n4\n5 6", "tap": True},
    {"kind": "last_column", "sequences": "1 2 3\n4\n5 6"},
]
XML = "{http://www.imsglobal.org/xsd/ims_qtiasiv1p2}"


@pytest.fixture(scope="module")
def asked() -> list[Question]:
    return [questions.question(questions.checked(spec)) for spec in SPECS]


def parsed(text: str) -> list[tuple[str, str, list[tuple[str, str, str]]]]:
    """Read GIFT by its documented rules: title, text, and (sign, answer, feedback); a backslash takes one character."""
    found = []
    for block in re.split(r"\n\n", text.strip()):
        plain = re.sub(r"\\(.)", lambda match: chr(0xE000 + ord(match[1])), block, flags=re.DOTALL)
        whole = re.fullmatch(r"::([^:]*)::\[html\]([^{}]*)\{([^{}]*)\}", plain, flags=re.DOTALL)
        assert whole is not None, block
        parts = re.findall(r"(=%0%|[=~])([^=~#]*)#([^=~#]*)", whole[3])
        back = [
            tuple(re.sub("[\ue000-\ue0ff]", lambda m: chr(ord(m[0]) - 0xE000), each) for each in row) for row in parts
        ]
        title, told = (re.sub("[\ue000-\ue0ff]", lambda m: chr(ord(m[0]) - 0xE000), whole[i]) for i in (1, 2))
        found.append((title, told, [(sign, answer.strip(), why.strip()) for sign, answer, why in back]))
    return found


def test_gift_says_what_was_asked_with_every_special_character_in_its_place(asked: list[Question]) -> None:
    read = parsed(gift(asked))
    assert len(read) == len(asked)
    own = read[0]
    assert own[1] == "<p>Is {x = 1} ~ 50 % # of a:b \\ &lt;b&gt;&amp;&quot;?</p>"
    assert own[2] == [("~", "a = b", "no: # 1"), ("=", "~{c}", "x=1"), ("~", "<i>", "")]
    for question, (_, _, answers) in zip(asked, read, strict=True):
        right = [answer for sign, answer, _ in answers if sign == "="]
        assert right[0].removesuffix(":0") == question.solution
        if question.form not in ("choice", "number"):
            assert {answer for sign, answer, _ in answers if sign == "=%0%"} == set(question.reasons)
    assert "<pre>A: &lt;b&gt; = {x}<br>B: : # ~ \\<br>C: c</pre>" in read[3][1]


def test_qti_has_its_structure_and_each_reference_its_target(asked: list[Question]) -> None:
    root = ElementTree.fromstring(qti(asked))
    assert root.tag == f"{XML}questestinterop"
    items = root.findall(f"{XML}assessment/{XML}section/{XML}item")
    assert len(items) == len(asked)
    for question, item in zip(asked, items, strict=True):
        parts = [child.tag.removeprefix(XML) for child in item]
        assert parts == ["itemmetadata", "presentation", "resprocessing"] + ["itemfeedback"] * (len(parts) - 3)
        responses = [each for each in item.find(f"{XML}presentation") or () if each.tag.startswith(f"{XML}response_")]
        assert [each.get("ident") for each in responses] == ["response"]
        labels = [each.get("ident") for each in responses[0].iter(f"{XML}response_label")]
        feedback = {each.get("ident") for each in item.findall(f"{XML}itemfeedback")}
        linked = [each.get("linkrefid") for each in item.iter(f"{XML}displayfeedback")]
        assert sorted(linked, key=str) == sorted(feedback, key=str)
        scored = [each for each in item.iter(f"{XML}respcondition") if each.find(f"{XML}setvar") is not None]
        assert [each.findtext(f"{XML}setvar") for each in scored] == ["100"]
        right = [each.text for each in scored[0].iter(f"{XML}varequal")]
        assert {each.get("respident") for each in item.iter(f"{XML}varequal")} == {"response"}
        if question.form == "choice":
            assert labels == [f"a{i}" for i in range(len(question.options))]
            assert right == [f"a{question.options.index(question.solution)}"]
        else:
            assert question.solution in right
        for condition in item.iter(f"{XML}respcondition"):
            order = [child.tag.removeprefix(XML) for child in condition]
            assert order == [name for name in ("conditionvar", "setvar", "displayfeedback") if name in order]
    assert _told(items[0]).startswith("<p>Is {x = 1} ~ 50 % # of a:b \\ &lt;b&gt;")


def test_the_archive_names_the_file_that_is_in_it(asked: list[Question]) -> None:
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
