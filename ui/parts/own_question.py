"""What a teacher writes: a question of one's own and a slide, each with a preview of what the class will see."""

from base64 import b64encode
from typing import Any

import streamlit as st

from classroom.slide import slide_html
from classroom.specs import (
    MAX_OPTION,
    MAX_OPTIONS,
    MAX_PICTURE,
    MAX_PROMPT,
    MAX_QUESTION,
    MAX_SLIDE,
    checked_item,
)
from classroom.state import RefusedError
from packviz.text import html, sequence_label
from ui.parts.rendered import rendered

_KINDS = {"choice": "One of several options", "number": "A number", "text": "A short text"}
_SHOWN = {"list": "As a list", "words": "As counted words"}
_TEXTS = "Nobody but you sees them before you show the answer. Words such as *the* and *of* are not counted."
_PICTURES = ("png", "jpg", "jpeg", "gif", "webp")
_MARKDOWN = (
    "You can write Markdown: `code`, blocks of code between lines of ```` ``` ````, **bold**, lists, and math as $h_t$."
)


def own_question() -> tuple[dict[str, Any], str]:
    """Let the teacher write a question; return its spec, and what is still missing or wrong; "" for nothing."""
    kind = st.segmented_control(
        "Answered by", [*_KINDS], default="choice", required=True, format_func=_KINDS.__getitem__, key="class form"
    )
    prompt = st.text_area("Question", key="class prompt", height=100, max_chars=MAX_QUESTION, help=_MARKDOWN)
    spec: dict[str, Any] = {"prompt": prompt + _picture("class prompt picture"), "kind": kind}
    missing = [] if prompt.strip() else ["the question"]
    if kind == "choice":
        more, lacking = _choice()
        missing += lacking
    else:
        more = _number() if kind == "number" else _text()
    if missing:
        return spec | more, f"Still missing: {' and '.join(missing)}."
    return _checked(spec | more)


def own_slide() -> tuple[dict[str, Any], str]:
    """Let the teacher write a slide; return its spec, and what is still missing or wrong; "" for nothing."""
    text = st.text_area("Slide", key="class slide text", height=160, max_chars=MAX_SLIDE, help=_MARKDOWN)
    spec = {"slide": text + _picture("class slide picture")}
    return _checked(spec) if text.strip() else (spec, "Still missing: the text of the slide.")


def preview(spec: dict[str, Any]) -> None:
    """Show a slide or a question of the teacher's own as the class will see it."""
    st.markdown("**Preview**")
    with st.container(border=True, key="class-preview"):
        rendered(slide_html(spec.get("slide") or spec["prompt"]), "class preview")
        if "options" in spec:
            options = "".join(f"<li>{html(option)}</li>" for option in spec["options"])
            st.html(f'<ol class="class-options">{options}</ol>')


def _checked(spec: dict[str, Any]) -> tuple[dict[str, Any], str]:
    try:
        return checked_item(spec), ""
    except RefusedError as refusal:
        return spec, f"⚠ {refusal.sentence}"


def _choice() -> tuple[dict[str, Any], list[str]]:
    """Let the teacher write the options, each with a reason; return this part of the spec, and what is missing."""
    options, reasons = list[str](), list[str]()
    for i in range(MAX_OPTIONS):
        left, right = st.columns([2, 3])
        letter = sequence_label(i)
        option = left.text_input(f"Option {letter}", key=f"class option {i}", max_chars=MAX_OPTION)
        reason = right.text_input(
            f"Why {letter} is right or wrong (shown with the answer)", key=f"class reason {i}", max_chars=MAX_PROMPT
        )
        if option.strip():
            options.append(option.strip())
            reasons.append(reason.strip())
        elif i > 0:  # the next row comes once this one is filled
            break
    spec: dict[str, Any] = {"options": options}
    missing = [] if len(options) > 1 else ["two options"]
    if not st.toggle("One option is right", value=True, key="class judged"):
        return spec | {"reasons": reasons}, missing
    right_one = st.selectbox("Right answer", options, index=None, key="class right")
    if right_one is None:
        return spec, [*missing, "the right answer"]
    answer = options.index(right_one)
    why = reasons[answer]
    reasons[answer] = ""
    return spec | {"answer": answer, "reasons": reasons, "why": why}, missing


def _number() -> dict[str, Any]:
    right = st.number_input("Right answer; leave it empty to collect estimates", value=None, key="class number")
    return {} if right is None else {"answer": int(right) if right == int(right) else right, **_why()}


def _text() -> dict[str, Any]:
    right = st.text_input("Right answer; leave it empty to collect texts", key="class text", max_chars=MAX_OPTION)
    if right.strip():
        return {"answer": right.strip(), **_why()}
    shown = st.segmented_control(
        "The texts are shown", [*_SHOWN], default="list", required=True, format_func=_SHOWN.__getitem__,
        key="class shown", help=_TEXTS,
    )  # fmt: skip
    return {"shown": shown} if shown != "list" else {}


def _why() -> dict[str, str]:
    why = st.text_input("Why it is right (shown with the answer)", key="class why", max_chars=MAX_PROMPT)
    return {"why": why} if why.strip() else {}


def _picture(key: str) -> str:
    """Let the teacher add a picture; return it as Markdown."""
    label = f"Picture (PNG, JPEG, GIF or WebP, at most {MAX_PICTURE // 1000} kB)"
    file = st.file_uploader(label, _PICTURES, key=key, max_upload_size=1)
    if file is None:
        return ""
    about = st.text_input("What the picture shows, for those who cannot see it", key=f"{key} about", max_chars=200)
    data = b64encode(file.getvalue()[: MAX_PICTURE + 1]).decode()
    kind = "jpeg" if file.name.lower().endswith(("jpg", "jpeg")) else file.name.rpartition(".")[2].lower()
    told = "".join(each for each in about if each not in "[]\\")
    return f"\n\n![{told}](data:image/{kind};base64,{data})"
