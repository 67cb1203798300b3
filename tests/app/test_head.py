"""Every page is served under its own title, with what a chat shows of a link: a description and a picture."""

import re
from html import unescape
from urllib.parse import quote_plus
from urllib.request import Request, urlopen

import pytest

from packviz.teach.questions import ENTRIES, PAGES
from ui.head import told

ADDRESSES = ["", *(page.address for page in PAGES), "questions"]


def served(url: str, **headers: str) -> dict[str, str]:
    """Return the title and the tags of a page as it is served."""
    with urlopen(Request(url, headers=headers)) as answer:
        assert int(answer.headers["Content-Length"]) > 0
        assert answer.headers["ETag"] is None
        page = answer.read().decode("utf-8")
    tags = dict(re.findall(r'<meta (?:name|property)="([^"]+)" content="([^"]*)">', page))
    titles = re.findall(r"<title>(.*?)</title>", page, re.DOTALL)
    assert len(titles) == 1
    return {"title": unescape(titles[0]), **{name: unescape(text) for name, text in tags.items()}}


def test_every_page_has_a_title_and_a_description_of_its_own(address: str) -> None:
    pages = [served(f"{address}/{name}", **{"Accept-Encoding": "gzip"}) for name in ADDRESSES]
    assert not any("Streamlit" in page["title"] for page in pages)
    assert all(page["title"].endswith(" · packviz") for page in pages)
    for name in ("title", "description", "og:title", "og:description"):
        assert len({page[name] for page in pages}) == len(ADDRESSES) - 1, name  # the first page has two addresses
    assert all(page["og:title"] == page["title"] and page["og:description"] == page["description"] for page in pages)


def test_the_preview_is_a_picture_at_the_host_that_was_asked(address: str) -> None:
    page = served(f"{address}/packing?cell=lstm", Host="class.example:8080")
    assert page["og:image"] == "http://class.example:8080/preview.png"
    assert page["twitter:card"] == "summary_large_image"
    behind = served(f"{address}/packing", Host="class.example", **{"X-Forwarded-Proto": "https"})
    assert behind["og:image"] == "https://class.example/preview.png"
    with urlopen(f"{address}/preview.png") as answer:
        picture = answer.read()
        assert answer.headers["Content-Type"] == "image/png"
    assert len(picture) < 150_000
    assert (int.from_bytes(picture[16:20]), int.from_bytes(picture[20:24])) == (1200, 630)


def test_a_link_says_which_batch_it_carries_and_what_is_in_it_stays_text(address: str) -> None:
    sequences = '<script>alert(1)</script>\n"quoted" & go'
    page = served(f"{address}/packing?sequences={quote_plus(sequences)}")
    assert page["description"].startswith('The batch <script>alert(1)</script> / "quoted" & go. ')
    with urlopen(f"{address}/packing?sequences={quote_plus(sequences)}") as answer:
        assert b"<script>alert" not in answer.read()


@pytest.mark.parametrize("query", ["sequences=" + "a" * 5000, "sequences=%00%ff%0A%0A", "sequences", "a&" * 300])
def test_no_link_makes_a_long_or_broken_head(address: str, query: str) -> None:
    page = served(f"{address}/packing?{query}")
    assert len(page["description"]) <= 200


@pytest.mark.parametrize("path", ["Packing", "packing/", "PACKING/", "/packing"])
def test_an_address_in_capitals_or_with_a_slash_behind_it_leads_to_its_page(address: str, path: str) -> None:
    with urlopen(f"{address}/{path}?cell=lstm") as answer:
        assert answer.url == f"{address}/packing?cell=lstm"
        assert answer.status == 200


def test_no_address_leads_to_another_host(address: str) -> None:
    with urlopen(f"{address}//other.example/Packing") as answer:
        assert answer.url == f"{address}/other.example/packing"


def test_a_question_and_a_round_have_their_own_titles() -> None:
    entry = ENTRIES[3]
    assert told("/questions", f"entry={entry.key}")[0] == f"{entry.question} · packviz"
    assert "Round 77" in told("/quiz", "round=77")[0]
    assert told("/quiz", "round=x") == told("/quiz", "")
