"""On paper a lesson is a handout: its text without its buttons, and the picture drawn for the sheet."""

import io
from urllib.error import HTTPError
from urllib.parse import urlencode, urlsplit
from urllib.request import urlopen

import pytest
from playwright.sync_api import Page, expect
from pypdf import PdfReader
from tabs import box_of
from visits import PROJECTOR, Open

from packviz.teach.quiz import questions

SHEET = 720  # pixels across A4 within its margins, and a little


def test_a_lesson_is_printed_as_a_handout_with_what_is_unfolded(visit: Open) -> None:
    visited = visit({"step": 4}, path="packing", scheme="dark")
    page, canvas = visited.page, visited.player.locator("canvas")
    before = canvas.evaluate("canvas => [canvas.width, canvas.clientWidth]")
    page.emulate_media(media="print", color_scheme="dark")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    visited.settle()
    width, shown = canvas.evaluate("canvas => [canvas.width, canvas.clientWidth]")
    assert 500 < shown <= SHEET
    assert width >= shown  # drawn anew, not squeezed
    assert visited.data("theme") == "light"
    for gone in ("stHeader", "stSidebar"):
        expect(page.get_by_test_id(gone)).to_be_hidden()
    for gone in ("Share", "Check", "Play"):
        expect(page.get_by_role("button", name=gone)).to_have_count(0)
    expect(visited.player.locator(".pv-caption")).to_be_visible()
    main = box_of(visited.main)
    assert main["height"] > PROJECTOR[1]  # all of it stands on the sheets: nothing is left to scroll within
    assert page.evaluate("document.documentElement.scrollHeight") >= main["height"]
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    page.emulate_media(media="screen", color_scheme="dark")
    visited.settle()
    assert canvas.evaluate("canvas => [canvas.width, canvas.clientWidth]") == before
    assert visited.data("theme") == "dark"
    visited.main.get_by_role("button", name="equal lengths").wait_for()
    folded = visited.main.get_by_test_id("stExpander").locator("summary").all_inner_texts()
    visited.unfold("A PackedSequence in Python")
    visited.main.get_by_text("isinstance").first.wait_for()
    visited.settle()  # the code is drawn once more, in colours
    on = sheets(visited.page)
    printed = plain(" ".join(on))
    assert ["Pack it yourself" in sheet for sheet in on] == ["sorted grid is data[0]" in sheet for sheet in on]
    assert len(folded) >= 3
    for title in map(str.splitlines, folded):
        assert (plain(title[-1]) in printed) == (title[-1] == "A PackedSequence in Python")
    assert "isinstance" in printed
    assert plain("This page with its movie: http") in printed
    assert f":{urlsplit(page.url).port}/packing" in printed
    expect(page.locator("#packviz-handout")).to_be_hidden()


def test_a_handout_has_the_qr_code_of_its_address(address: str) -> None:
    with urlopen(f"{address}/handout?{urlencode({'link': 'http://127.0.0.1/packing?sequences=<b>'})}") as answer:
        told = answer.read().decode()
    assert "/packing?sequences=&lt;b&gt;</p><svg" in told
    with urlopen(f"{address}/handout?link=javascript:x") as answer:
        assert answer.status == 204


@pytest.mark.parametrize("link", ["http://[", "http://localhost:99999/"])
def test_a_handout_of_an_invalid_address_is_refused(address: str, link: str) -> None:
    with pytest.raises(HTTPError) as refused:
        urlopen(f"{address}/handout?{urlencode({'link': link})}")
    assert (refused.value.code, refused.value.read()) == (400, b"The link is not a valid address.")
    refused.value.close()


def sheets(page: Page) -> list[str]:
    """Print a page on A4; return the text of each sheet, its words with one space between them."""
    page.emulate_media(media="print")  # as printing is, unless another test has chosen the screen for this tab
    printed = PdfReader(io.BytesIO(page.pdf(format="A4")))
    page.emulate_media(media="screen")
    return [" ".join(each.extract_text().split()) for each in printed.pages]


def plain(text: str) -> str:
    return "".join(text.replace("`", "").replace("\ufb01", "fi").split())


def test_a_round_is_printed_as_a_worksheet_with_solutions(visit: Open) -> None:
    asked = questions(3, 77)
    visited = visit({"level": 3, "round": 77}, path="quiz", scheme="dark")
    visited.main.get_by_role("button", name="Share").click()
    visited.page.get_by_role("link", name="This round as a worksheet").click()
    visited.page.get_by_role("heading", name="Solutions").wait_for()
    expect(visited.page.get_by_label("Link to this page")).to_have_count(0)  # the panel that led here is closed
    visited.settle()
    printed = sheets(visited.page)
    begins = next((i for i, sheet in enumerate(printed) if "Solutions" in sheet), -1)
    assert begins >= 1, printed
    tasks, solutions = plain(" ".join(printed[:begins])), plain(" ".join(printed[begins:]))
    at = 0
    for i, question in enumerate(asked, 1):
        at = tasks.index(plain(f"{i}. {question.prediction.prompt}"), at)
        for choice in question.prediction.choices:
            assert plain(choice) in tasks[at:]
        for row in question.batch.texts:
            assert plain("".join(row)).replace("-", "−") in tasks[at:]
        solution = question.prediction.solution.removesuffix(".")
        assert plain(f"{i}. {solution}. {question.prediction.why}") in solutions
        assert plain(question.prediction.why) not in tasks
    for clicked in ("Share", "Back to the quiz", "Learn"):
        assert clicked not in " ".join(printed)
