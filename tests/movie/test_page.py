"""One page that carries its movie: complete, harmless, small, and without a word to any other host."""

import json
import re
import subprocess
import sys
import textwrap

import pytest
from page_elements import carried, elements_of

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


@pytest.fixture(scope="module")
def hostile() -> pv.Movie:
    return pv.movie(pv.trace(Batch.parse("\n".join(f"{word} x" for word in HOSTILE), kind="words")))


def test_no_word_can_end_the_script_that_carries_it(hostile: pv.Movie) -> None:
    page = hostile.to_html()
    assert [script.given.get("type") for script in elements_of(page, "script")] == ["text/plain", "module"]
    assert carried(page) == json.loads(json.dumps(hostile.to_dict()))
    assert "alert(1)" not in page


def test_the_player_makes_no_html_of_what_it_is_given() -> None:
    _, script = assets()
    assert not re.findall(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function", script)


def test_the_page_says_what_it_is_and_allows_itself_to_load_nothing(hostile: pv.Movie) -> None:
    page = hostile.to_html()
    assert elements_of(page, "title")[0].text.startswith(hostile.title)
    assert elements_of(page, "html")[0].given["lang"] == "en"
    told = [each.given for each in elements_of(page, "meta")]
    assert {"charset": "utf-8"} in told
    assert [each for each in told if "width=device-width" in each.get("content", "")]
    (policy,) = [each["content"] for each in told if each.get("http-equiv") == "Content-Security-Policy"]
    assert "default-src 'none'" in [directive.strip() for directive in policy.split(";")]
    assert not any(word in policy for word in ("http", "*", "unsafe-eval"))


def test_a_notebook_gets_the_page_in_a_frame_of_its_own(hostile: pv.Movie) -> None:
    (frame,) = elements_of(hostile._repr_html_(), "iframe")
    assert frame.given["srcdoc"].replace(" data-fit", "", 1) == hostile.to_html()  # the parser has undone the escapes
    assert "allow-scripts" in frame.given["sandbox"]
    assert "allow-same-origin" not in frame.given["sandbox"]


def colours(selector: str) -> dict[str, str]:
    css, _ = assets()
    found = re.search(rf"(?:^|[{{}}]){re.escape(selector)}\{{([^{{}}]*)\}}", css)
    assert found, selector
    return dict(re.findall(r"--pv-([\w-]+):\s*([^;]+)", found[1]))


@pytest.mark.parametrize(("selector", "palette"), [(".pv", LIGHT), (".pv[data-theme=dark]", DARK)])
def test_the_style_sheet_has_the_colours_of_the_theme_and_its_hues_once(selector: str, palette: Palette) -> None:
    named = colours(selector)
    for name in ("background", "surface", "text", "quiet", "line", "pad", "pad_hatch", "now", "good", "wrong"):
        assert named[name.replace("_", "-")] == getattr(palette, name), name
    assert tuple(named["diverging"].split(", ")) == palette.diverging
    assert named.get("hues") == (", ".join(SEQUENCE_HUES) if palette is LIGHT else None)


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
