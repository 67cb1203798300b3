"""Markdown of teachers, a slide or a prompt, as safe HTML in which no picture is loaded from elsewhere."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from functools import lru_cache
from html import escape, unescape
from typing import Any
from xml.etree.ElementTree import tostring

from latex2mathml.converter import convert_to_element
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from mdit_py_plugins.dollarmath import dollarmath_plugin

from classroom.question import Question
from classroom.specs import PICTURE
from packviz.text import html


def picture(text: str) -> tuple[str, bytes] | None:
    """Return the type and the bytes of the picture in a text; None if it has none."""
    found = PICTURE.search(text)
    return found and (found[1], base64.b64decode(found[2]))


def without_picture(text: str, path: str) -> str:
    """Return Markdown with the path of its picture in place of the picture itself."""
    return PICTURE.sub(path, text)


@lru_cache(maxsize=64)
def rendered(text: str, path: str) -> str:
    """Return Markdown as HTML. path: where its picture is; every other picture is left out, but for its description."""
    return str(_MARKDOWN.render(text, {"picture": path}))


def slide_html(text: str) -> str:
    """Return Markdown as HTML with its own picture in it."""
    found = PICTURE.search(text)
    return rendered(text, found[0] if found else "")


def prompt_html(asked: Question) -> str:
    """Return the prompt of a question as HTML: that of a teacher's own is Markdown, which may have a picture."""
    return slide_html(asked.prompt) if asked.kind == "own" else f"<p>{html(asked.prompt)}</p>"


def _image(renderer: RendererHTML, tokens: Sequence[Token], i: int, _options: object, env: Mapping[str, Any]) -> str:
    about = escape(renderer.renderInlineAsText(tokens[i].children or [], _options, env))  # type: ignore[arg-type]
    own = tokens[i].attrGet("src") == env["picture"]
    return f'<img src="{escape(env["picture"])}" alt="{about}">' if own else f"<em>{about}</em>"


def _math(text: str, options: Mapping[str, Any]) -> str:
    """Return LaTeX as MathML, without links. The library leaves entities in its texts, which would become tags."""
    try:
        made = convert_to_element(text, display="block" if options.get("display_mode") else "inline")
    except Exception:  # the library has a dozen for what is no LaTeX: it is shown as it was typed
        return f"<code>{escape(text)}</code>"
    for element in made.iter():
        element.text = element.text and unescape(element.text)
        element.attrib.pop("href", None)
    return tostring(made, encoding="unicode")


_MARKDOWN = MarkdownIt("commonmark", {"html": False}).enable("table").use(dollarmath_plugin, renderer=_math)
_MARKDOWN.add_render_rule("image", _image)
