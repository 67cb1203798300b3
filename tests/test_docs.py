"""The documentation is built without a warning, and every link in it leads somewhere."""

from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from make_site import build
from page_elements import elements_of
from playwright.sync_api import Browser
from tabs import Scheme, tab, violations

from packviz.teach.questions import ENTRIES

pytestmark = pytest.mark.slow


class Page:
    """What a page links to, what it loads, and the places in it."""

    def __init__(self, path: Path) -> None:
        found = elements_of(path.read_text("utf-8"))
        hints = ("canonical", "next", "prev")
        loading = [each.given for each in found if each.tag != "a" and each.given.get("rel") not in hints]
        self.links = [each.given["href"] for each in found if each.tag == "a" and "href" in each.given]
        self.loaded = [given[name] for given in loading for name in ("src", "href") if name in given]
        self.places = {"", *(each.given.get(name, "") for each in found for name in ("id", "name"))}


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


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["lecture-hall", "teachers", "reference", "pack", "batch-sizes-are-not-lengths"])
def test_a_page_of_the_site_is_accessible(browser: Browser, site: dict[Path, Page], name: str, scheme: Scheme) -> None:
    (path,) = (path for path in site if path.stem == name)
    with tab(browser, (1280, 720), scheme=scheme) as there:
        there.page.goto(path.as_uri())
        assert violations(there.page) == []
