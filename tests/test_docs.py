"""The documentation is built without a warning, and every link in it leads somewhere."""

from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from make_site import build

from packviz.teach.questions import ENTRIES

pytestmark = pytest.mark.slow


class Page(HTMLParser):
    """Collects what a page links to, what it loads, and the places in it."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links, self.loaded, self.places = list[str](), list[str](), {""}
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.places |= {given.get("id", ""), given.get("name", "")}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        elif given.get("rel") not in ("canonical", "next", "prev"):
            self.loaded += [given[name] for name in ("src", "href") if name in given]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> dict[Path, Page]:
    """Return the pages of the site, with one question in twenty and those to which a page links."""
    built = build(tmp_path_factory.mktemp("docs") / "docs", ENTRIES[::20])
    return {path: Page(path) for path in built.rglob("*.html") if "movies" not in path.parts}


def test_every_link_leads_to_a_page_of_the_site_and_to_a_place_in_it(site: dict[Path, Page]) -> None:
    assert len(site) > 40
    missing = []
    for path, page in site.items():
        for link in page.links + page.loaded:
            parts = urlsplit(link)
            if parts.scheme or path.name == "404.html":
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            places = site[target].places if target in site else {"", parts.fragment}
            if not target.is_file() or unquote(parts.fragment) not in places:
                missing.append(f"{path.name}: {link}")
    assert missing == []


def test_nothing_is_loaded_from_elsewhere(site: dict[Path, Page]) -> None:
    loaded = [link for page in site.values() for link in page.loaded]
    assert loaded
    assert [link for link in loaded if urlsplit(link).scheme not in ("", "data")] == []


def test_questions_are_text_that_a_search_engine_can_read(site: dict[Path, Page]) -> None:
    asked = {path.stem: path for path in site if path.parent.name == "questions"}
    text = asked["batch-sizes-are-not-lengths"].read_text("utf-8")
    assert "batch_sizes" in text
    assert '<meta name="description"' in text
    assert "[3, 2, 1, 1]" in text
