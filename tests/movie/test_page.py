"""One page that carries its movie: complete, harmless, small, and without a word to any other host."""

import base64
import gzip
import json
import re
import subprocess
import sys
import textwrap
from html.parser import HTMLParser
from typing import Any

import pytest

import packviz as pv
from packviz import Batch
from packviz.show.movie import assets
from packviz.show.theme import DARK, LIGHT, SEQUENCE_HUES, Palette

HOSTILE = [
    "</script><script>alert(1)</script>",
    "<!--<script>",
    "]]>",
    "${movie}",
    "$title",
    "{A}",
    "**strong**",
    "🙂‍🙂",
    "שלום",
    "\u202eevil\u202c",
    "\x00\x1b[31m\x07",
    "\u2028\u2029",
    "\\u003c/script>",
    "'\"&amp;",
]


class Elements(HTMLParser):
    """The elements of a page, each with its attributes and its text."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=False)
        self.found: list[tuple[str, dict[str, str | None], str]] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs), ""))

    def handle_data(self, data: str) -> None:
        if self.found:
            tag, attributes, text = self.found[-1]
            self.found[-1] = tag, attributes, text + data

    def all_of(self, tag: str) -> list[tuple[dict[str, str | None], str]]:
        return [(attributes, text) for name, attributes, text in self.found if name == tag]


def carried(page: str) -> Any:
    """Return the movie that a page carries."""
    ((_, text),) = [found for found in Elements(page).all_of("script") if found[0].get("id") == "movie"]
    return json.loads(gzip.decompress(base64.b64decode(text)))


@pytest.fixture(scope="module")
def hostile() -> pv.Movie:
    return pv.movie(pv.trace(Batch.parse("\n".join(f"{word} x" for word in HOSTILE), kind="words")))


def test_no_word_can_end_the_script_that_carries_it(hostile: pv.Movie) -> None:
    scripts = Elements(hostile.to_html()).all_of("script")
    assert [attributes.get("type") for attributes, _ in scripts] == ["text/plain", "module"]
    assert carried(hostile.to_html()) == json.loads(json.dumps(hostile.to_dict()))
    assert "alert(1)" not in hostile.to_html()


def test_the_player_makes_no_html_of_what_it_is_given() -> None:
    _, script = assets()
    assert not re.findall(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function", script)


def test_the_page_allows_itself_to_load_nothing() -> None:
    page = pv.movie(pv.trace(Batch.parse("1 2\n3"))).to_html()
    (policy,) = [
        attributes["content"] or ""
        for attributes, _ in Elements(page).all_of("meta")
        if attributes.get("http-equiv") == "Content-Security-Policy"
    ]
    assert "default-src 'none'" in [directive.strip() for directive in policy.split(";")]
    assert not any(word in policy for word in ("http", "*", "unsafe-eval"))


def test_the_page_says_what_it_is() -> None:
    movie = pv.movie(pv.trace(Batch.parse("1 2\n3")))
    elements = Elements(movie.to_html())
    assert elements.all_of("title")[0][1].startswith(movie.title)
    assert elements.all_of("html")[0][0]["lang"] == "en"
    assert any(attributes.get("charset") == "utf-8" for attributes, _ in elements.all_of("meta"))
    assert any("width=device-width" in (attributes.get("content") or "") for attributes, _ in elements.all_of("meta"))


def test_a_notebook_gets_the_page_in_a_frame_of_its_own(hostile: pv.Movie) -> None:
    ((attributes, _),) = Elements(hostile._repr_html_()).all_of("iframe")
    assert (attributes["srcdoc"] or "").replace(
        " data-fit", "", 1
    ) == hostile.to_html()  # the parser has undone the escapes
    assert "allow-scripts" in (attributes["sandbox"] or "")
    assert "allow-same-origin" not in (attributes["sandbox"] or "")


def colours(selector: str) -> dict[str, str]:
    css, _ = assets()
    found = re.search(rf"^ *{re.escape(selector)} \{{(.*?)^ *\}}", css, re.MULTILINE | re.DOTALL)
    assert found, selector
    return dict(re.findall(r"--pv-([\w-]+):\s*([^;]+);", found[1]))


@pytest.mark.parametrize(
    ("selector", "palette"), [(".pv", LIGHT), ('.pv[data-theme="dark"]', DARK)], ids=["light", "dark"]
)
def test_the_style_sheet_has_the_colours_of_the_theme(selector: str, palette: Palette) -> None:
    named = colours(selector)
    for name in ("background", "surface", "text", "quiet", "line", "pad", "pad_hatch", "now", "good", "wrong"):
        assert named[name.replace("_", "-")] == getattr(palette, name), name
    assert tuple(named["diverging"].split(", ")) == palette.diverging


def test_the_style_sheet_has_the_hues_of_the_theme_once() -> None:
    assert tuple(colours(".pv")["hues"].split(", ")) == SEQUENCE_HUES
    assert "hues" not in colours('.pv[data-theme="dark"]')


@pytest.mark.slow
def test_no_movie_imports_torch_dynamo() -> None:
    """It takes over a second; in a fresh process, since others may have imported it here."""
    told = """
        import sys, torch, packviz as pv
        at_first = {"torch._dynamo", "torch.distributed.tensor"} & set(sys.modules)
        for text in ("1 2 3\\n4 5\\n6 7 8 9", "a b\\nc"):
            pv.movie(pv.trace(pv.Batch.parse(text), pv.Config(cell="lstm")), deep=True).to_html()
        print({"torch._dynamo", "torch.distributed.tensor"} & set(sys.modules) - at_first)"""
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(told)], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
