"""Markdown of teachers, a slide or a prompt, as safe HTML in which no picture is loaded from elsewhere."""

from __future__ import annotations

import base64
import re
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
from packviz.text import html

PICTURE = re.compile(r"data:(image/(?:png|jpeg|gif|webp));base64,([A-Za-z0-9+/=]+)")  # linear: no part repeats another
_OWN = "packviz:picture"  # stands for the picture in what is rendered, until it is known where it is
_ATTRIBUTES = {  # of MathML: LaTeX can also set a style, a class and an id
    "accent", "columnalign", "columnlines", "columnspacing", "columnspan", "depth", "display", "displaystyle",
    "fence", "form", "height", "linebreak", "linethickness", "lspace", "mathbackground", "mathcolor", "mathsize",
    "mathvariant", "maxsize", "minsize", "movablelimits", "notation", "rowlines", "rowspacing", "rspace",
    "scriptlevel", "separator", "stretchy", "voffset", "width", "xmlns",
}  # fmt: skip


def picture(text: str) -> tuple[str, bytes] | None:
    """Return the type and the bytes of the picture in a text; None if it has none."""
    found = PICTURE.search(text)
    return found and (found[1], base64.b64decode(found[2]))


def without_picture(text: str, path: str) -> str:
    """Return Markdown with the path of its picture in place of the picture itself."""
    return PICTURE.sub(path, text)


def rendered(text: str, path: str) -> str:
    """Return Markdown as HTML. path: where its picture is; every other picture is left out, but for its description."""
    return _rendered(without_picture(text, _OWN)).replace(f'<img src="{_OWN}"', f'<img src="{escape(path)}"')


@lru_cache(maxsize=128)
def _rendered(text: str) -> str:
    return str(_MARKDOWN.render(text))


def slide_html(text: str) -> str:
    """Return Markdown as HTML with its own picture in it."""
    found = PICTURE.search(text)
    return rendered(text, found[0] if found else "")


def prompt_html(asked: Question) -> str:
    """Return the prompt of a question as HTML: that of a teacher's own is Markdown, which may have a picture."""
    return slide_html(asked.prompt) if asked.kind == "own" else f"<p>{html(asked.prompt)}</p>"


def _image(renderer: RendererHTML, tokens: Sequence[Token], i: int, _options: object, env: Mapping[str, Any]) -> str:
    about = escape(renderer.renderInlineAsText(tokens[i].children or [], _options, env))  # type: ignore[arg-type]
    return f'<img src="{_OWN}" alt="{about}">' if tokens[i].attrGet("src") == _OWN else f"<em>{about}</em>"


def _math(text: str, options: Mapping[str, Any]) -> str:
    """Return LaTeX as MathML, without links and styles. The library leaves entities, which would become tags."""
    try:
        made = convert_to_element(text, display="block" if options.get("display_mode") else "inline")
    except Exception:  # the library raises a dozen kinds: what is not LaTeX is shown as it was typed
        return f"<code>{escape(text)}</code>"
    for element in made.iter():
        element.text = element.text and unescape(element.text)
        for name in set(element.attrib) - _ATTRIBUTES:
            del element.attrib[name]
    return tostring(made, encoding="unicode")


_MARKDOWN = (
    MarkdownIt("commonmark", {"html": False}).enable("table").use(dollarmath_plugin, allow_labels=False, renderer=_math)
)
_MARKDOWN.add_render_rule("image", _image)
