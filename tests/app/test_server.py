"""The server: warm, bounded, and sending each page with a title, a preview and links to the first picture's files."""

import asyncio
import gzip
import json
import random
import re
import subprocess
import sys
import tomllib
from email.message import Message
from html import unescape
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import quote_plus
from urllib.request import Request, urlopen

import pytest
from playwright.sync_api import expect
from streamlit import config
from visits import Open

from bench.visitors import visitor
from packviz.teach.pages import PAGES
from packviz.teach.questions import ENTRIES
from ui.parts import player
from ui.server.head import ELEMENTS, FOR_AN_EDIT, needed, title_and_description
from ui.server.sessions import AWAY, EVERY
from ui.server.static import FOLDER

ROOT = Path(__file__).parents[2]
SETTINGS = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text("utf-8"))
OPTIONS = [
    f"{section}.{name}"
    for section, values in SETTINGS.items()
    for name, value in values.items()
    if not isinstance(value, dict)
]


def got(url: str, **headers: str) -> tuple[bytes, Message]:
    """Return what is served at an address, and its headers."""
    with urlopen(Request(url, headers=headers)) as answer:
        return answer.read(), answer.headers


def test_streamlit_knows_every_setting() -> None:
    assert set(OPTIONS) <= set(config.get_config_options())
    assert SETTINGS["runner"]["postScriptGC"] is False
    assert config.get_config_options()["runner.postScriptGC"].default_val is True
    assert SETTINGS["client"]["allowedOrigins"] == []
    assert config.get_config_options()["client.allowedOrigins"].default_val
    assert SETTINGS["server"]["disconnectedSessionTTL"] >= AWAY + 2 * EVERY


@pytest.mark.slow
def test_the_process_is_warm_before_it_serves() -> None:
    code = """
import asyncio, gc, sys
import torch
from streamlit import config
from streamlit.runtime.pages_manager import PagesManager
from ui.server.warm import warm

async def serve():
    config.set_option("server.headless", True)
    async with warm(None):
        print(gc.get_freeze_count(), torch.get_num_threads(), "pandas" in sys.modules)
        print(PagesManager.uses_pages_directory)
        x, before = torch.zeros(1, 2, 2), set(sys.modules)
        torch.nn.MultiheadAttention(2, 1)(x, x, x, key_padding_mask=torch.zeros(2, 1, dtype=torch.bool))
        print(len(set(sys.modules) - before))  # hundreds, if it is the first one

asyncio.run(serve())
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    ready, warm, runs_pages, imported = done.stdout.splitlines()
    assert ready.startswith("packviz is ready: http://localhost:")
    frozen, threads, pandas = warm.split()
    assert int(frozen) > 100_000
    assert (threads, pandas) == ("1", "True")
    assert imported == "0"
    assert runs_pages == "False"  # None until something decides: without app.py, the first deep link has no menu


def test_the_page_names_the_files_that_the_first_picture_needs(address: str) -> None:
    files = needed()
    assert {name.removeprefix("static/js/").partition(".")[0] for name in files} >= {"player", *ELEMENTS}
    named = got(f"{address}/overview")[0].decode("utf-8")
    head = named.partition("</head>")[0]
    assert re.findall(r'(?:from|import) "\./([^"]+)"', head) == files
    (later,) = re.findall(r'import\("\./([^"]+)"\)', head)
    assert later.startswith(f"static/js/{FOR_AN_EDIT}.")
    assert head.index('src="./static/js/index.') < head.index(f'from "./{files[0]}"')  # after Streamlit's own script
    for file in (*files, later):
        assert "javascript" in got(f"{address}/{file}")[1]["Content-Type"]


@pytest.mark.parametrize("kind", ["js", "css"])
def test_streamlits_files_are_sent_compressed_and_unchanged(address: str, kind: str) -> None:
    file = max((FOLDER / "static" / kind).glob("index.*"), key=lambda each: each.stat().st_size)
    url, original = f"{address}/static/{kind}/{file.name}", file.read_bytes()
    sent, headers = got(url, **{"Accept-Encoding": "gzip"})
    assert gzip.decompress(sent) == original
    assert len(sent) < len(original) / 2.5
    assert int(headers["Content-Length"]) == len(sent)
    plain, others = got(url)  # a client that does not accept gzip gets what Streamlit sends
    assert (plain, others["Content-Encoding"]) == (original, None)
    for name in ("Cache-Control", "Content-Type"):
        assert headers[name].split(";")[0] == others[name].split(";")[0]


async def test_an_edit_reruns_one_fragment_and_sends_no_code(address: str) -> None:
    async with visitor(address, "packing") as here:
        await here.look()
        await here.edit("1 2 3\n4 5")  # instead of an example: the text is one's own now, and the examples say so
        before = here.received
        await here.edit("1 2 3\n4 5 6")
        movie = len(json.dumps(here.picture, separators=(",", ":")))
        assert movie < here.received - before < movie + 8_000
        assert [len(fragments) for fragments in here.runs] == [0, 1, 2, 1]


def test_the_browser_fetches_the_player_once_and_keeps_it(visit: Open) -> None:
    here = visit(path="packing")
    asked: list[str] = []
    here.page.on("request", lambda request: asked.append(request.url))
    here.type("1 2 3\n4 5")
    here.go_to("Running")
    expect(here.player).to_have_count(1)
    assert not [url for url in asked if "player" in url]


def test_the_player_is_served_beside_every_page_and_may_be_cached(address: str) -> None:
    code, headers = got(f"{address}/{player.NAME}")
    assert got(f"{address}/behind/a/proxy/{player.NAME}")[0] == code
    assert headers.get_all("Cache-Control") == ["public, max-age=31536000, immutable"]
    zipped, headers = got(f"{address}/{player.NAME}", **{"Accept-Encoding": "gzip"})
    assert (gzip.decompress(zipped), headers["Content-Encoding"]) == (code, "gzip")


def test_there_are_no_metrics_unless_they_are_turned_on(address: str) -> None:
    with pytest.raises(HTTPError, match="404"):
        got(f"{address}/metrics")


@pytest.mark.slow
async def test_each_visitor_gets_a_picture_of_each_batch_they_type(address: str) -> None:
    async def work(number: int) -> int:
        drawn = random.Random(number)
        async with visitor(address, "padding" if number % 2 else "") as each:
            await each.look()
            for _ in range(5):
                lengths = [drawn.randint(1, 6) for _ in range(drawn.randint(2, 5))]
                await each.edit("\n".join(" ".join(str(drawn.randint(0, 99)) for _ in range(n)) for n in lengths))
                assert each.lengths == lengths
            return each.received

    assert min(await asyncio.gather(*map(work, range(6)))) > 10_000


def test_an_unknown_address_says_so_and_keeps_the_batch(address: str) -> None:
    with pytest.raises(HTTPError) as none:
        got(f"{address}/pading?sequences=1+2")
    assert none.value.code == 404
    said = unescape(none.value.read().decode())
    assert "packviz has no page at this address." in said
    assert 'Did you mean <a href="/padding?sequences=1+2">Padding</a>?' in said
    named = re.findall(r'<dd>|<a href="/(\w+)\?sequences=1\+2">', said)
    assert {page.address for page in PAGES[1:]} <= {*named}
    menus = re.findall("<dt>(.*)</dt>", said)
    assert len({*menus}) == len(menus) == len({page.group for page in PAGES})


@pytest.mark.parametrize("path", ["nonsense", "a/b/c", "x" * 3000, "%3Cb%3Ehello"])
def test_an_address_like_no_page_is_no_suggestion(address: str, path: str) -> None:
    with pytest.raises(HTTPError) as none:
        got(f"{address}/{path}")
    said = none.value.read().decode()
    assert "Did you mean" not in said
    assert "<b>" not in said


ADDRESSES = ["", *(page.address for page in PAGES)]


def served(url: str, **headers: str) -> dict[str, str]:
    """Return the title and the tags of a page as it is served."""
    sent, answered = got(url, **headers)
    assert int(answered["Content-Length"]) == len(sent)
    assert answered["ETag"] is None
    page = sent.decode("utf-8")
    tags = dict(re.findall(r'<meta (?:name|property)="([^"]+)" content="([^"]*)">', page))
    titles = re.findall(r"<title>(.*?)</title>", page, re.DOTALL)
    assert len(titles) == 1
    return {"title": unescape(titles[0]), **{name: unescape(text) for name, text in tags.items()}}


def test_every_page_has_its_own_title_and_description(address: str) -> None:
    pages = [served(f"{address}/{name}", **{"Accept-Encoding": "gzip"}) for name in ADDRESSES]
    assert not any("Streamlit" in page["title"] for page in pages)
    assert all(page["title"].endswith(" · packviz") for page in pages)
    for name in ("title", "description", "og:title", "og:description"):
        assert len({page[name] for page in pages}) == len(ADDRESSES) - 1, name  # the first page has two addresses
    assert all(page["og:title"] == page["title"] and page["og:description"] == page["description"] for page in pages)


def test_the_preview_is_an_image_on_the_requested_host(address: str) -> None:
    page = served(f"{address}/packing?cell=lstm", Host="class.example:8080")
    assert page["og:image"] == "http://class.example:8080/preview.png"
    assert page["twitter:card"] == "summary_large_image"
    behind = served(f"{address}/packing", Host="class.example", **{"X-Forwarded-Proto": "https"})
    assert behind["og:image"] == "https://class.example/preview.png"
    picture, headers = got(f"{address}/preview.png")
    assert headers["Content-Type"] == "image/png"
    assert len(picture) < 150_000
    assert (int.from_bytes(picture[16:20]), int.from_bytes(picture[20:24])) == (1200, 630)


def test_a_links_description_names_its_batch_as_plain_text(address: str) -> None:
    sequences = '<script>alert(1)</script>\n"quoted" & go'
    page = served(f"{address}/packing?sequences={quote_plus(sequences)}")
    assert page["description"].startswith('The batch <script>alert(1)</script> / "quoted" & go. ')
    assert b"<script>alert" not in got(f"{address}/packing?sequences={quote_plus(sequences)}")[0]


@pytest.mark.parametrize("query", ["sequences=" + "a" * 5000, "sequences=%00%ff%0A%0A", "sequences", "a&" * 300])
def test_no_link_makes_a_long_or_broken_head(address: str, query: str) -> None:
    page = served(f"{address}/packing?{query}")
    assert len(page["description"]) <= 200


@pytest.mark.parametrize("path", ["Packing", "packing/", "PACKING/", "/packing", "/other.example/Packing"])
def test_an_address_in_capitals_leads_to_its_page_on_this_host(address: str, path: str) -> None:
    with urlopen(f"{address}/{path}?cell=lstm") as answer:
        assert answer.url == f"{address}/{path.strip('/').lower()}?cell=lstm"
        assert answer.status == 200


@pytest.mark.parametrize("name", ["start", "start/", "Start"])
def test_the_first_pages_own_name_leads_to_the_root(address: str, name: str) -> None:
    """Streamlit knows the first page only at the root: elsewhere it says "Page not found" above it."""
    with urlopen(f"{address}/{name}?cell=lstm") as answer:
        assert answer.url == f"{address}/?cell=lstm"


def test_a_question_and_a_round_have_their_own_titles() -> None:
    entry = ENTRIES[3]
    assert title_and_description("/questions", {"entry": entry.key})[0] == f"{entry.question} · packviz"
    assert "Round 77" in title_and_description("/quiz", {"round": "77"})[0]
    assert title_and_description("/quiz", {"round": "x"}) == title_and_description("/quiz", {})
