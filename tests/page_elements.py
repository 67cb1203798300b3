"""The elements of an HTML page, and the movie that it carries."""

import base64
import gzip
import json
from dataclasses import dataclass
from html.parser import HTMLParser
from typing import Any

__all__ = ["Element", "carried", "elements_of"]


@dataclass
class Element:
    """A tag with its attributes, and the text after it up to the next tag that opens."""

    tag: str
    given: dict[str, str]
    text: str = ""


class _Parser(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=False)
        self.found = [Element("", {})]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append(Element(tag, {name: value or "" for name, value in attrs}))

    def handle_data(self, data: str) -> None:
        self.found[-1].text += data


def elements_of(page: str, tag: str = "") -> list[Element]:
    """Return the elements of a page, all of them or those with one tag."""
    parser = _Parser()
    parser.feed(page)
    parser.close()
    return [each for each in parser.found[1:] if tag in ("", each.tag)]


def carried(page: str) -> Any:
    """Return the movie that a page carries."""
    (script,) = [each for each in elements_of(page, "script") if each.given.get("id") == "movie"]
    return json.loads(gzip.decompress(base64.b64decode(script.text)))
