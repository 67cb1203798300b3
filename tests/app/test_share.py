"""The share panel: a link to what is on the screen, as a QR code, a frame and a file; and what a link hides."""

import base64
import gzip
import json
import re
from math import ceil
from pathlib import Path
from typing import Any, cast
from urllib.parse import parse_qs, parse_qsl, urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect
from streamlit.testing.v1 import AppTest
from tabs import box_of, tab, until
from visits import PHONE, PROJECTOR, Open, Visit

import packviz as pv
from pages import opened, press, texts
from ui.parts import network
from ui.parts.qr import qr_code
from ui.parts.share import frame, frame_of_file, link
from ui.state.names import PARTS, SETTINGS

HERE = "https://class.example/base/packing?cell=lstm&sequences=on+your+mark%0Aget+set&step=3"


def query(url: str) -> dict[str, str]:
    return dict(parse_qsl(urlsplit(url).query, keep_blank_values=True))


def test_a_link_is_the_address_with_the_chosen_options_and_no_others() -> None:
    assert link(HERE) == HERE
    assert query(link(HERE, step=False)) == {name: value for name, value in query(HERE).items() if name != "step"}
    shown = {"hide": "menu,code", "theme": "dark"}
    assert query(link(HERE, hidden=["menu", "code"], theme="dark")) == query(HERE) | shown
    hidden = f"{HERE}&hide=menu&theme=dark&embed=true&embed_options=dark_theme#top"
    assert link(hidden) == HERE
    assert query(link(hidden, hidden=["sidebar"]))["hide"] == "sidebar"


def test_a_frame_holds_the_link_escaped() -> None:
    told = frame('https://class.example/?sequences="><script>').partition("\n")[0]
    assert re.findall("[<>]", told) == ["<", ">", "<", ">"]
    source = re.findall('src="([^"]*)"', frame(link(HERE)))[0].replace("&amp;", "&")
    assert query(source) == query(HERE) | {"embed": "true"}
    assert frame("https://class.example/").count("?embed=true") == 1


@pytest.mark.parametrize("page", ["packing", "quiz"])
def test_parts_that_a_link_cannot_hide_are_named(page: str) -> None:
    told = "hide = 'menu,walls' (using 'menu'), theme = 'pink' (using 'automatic')"
    assert f"Ignored from the link: {told}." in texts(opened(page, {"hide": "menu,walls", "theme": "pink"}))
    assert "Ignored" not in texts(opened(page, {"hide": ",".join(PARTS), "theme": "dark"}))


def controls(app: AppTest, *, fixed: bool = False) -> set[str]:
    """Return the keys of the settings' controls. fixed: only of those that cannot be changed."""
    shown = [each for kind in ("text_area", "button_group", "number_input", "toggle") for each in app.get(kind)]
    return {str(each.key) for each in shown if cast(Any, each).disabled or not fixed} & set(SETTINGS)


def test_a_link_fixes_settings_and_no_control_changes_them() -> None:
    asked = {"lock": "cell,sequences", "cell": "rnn", "sequences": "1 2\n3 4 5", "hidden_size": 3}
    to_try = {each.label: each.disabled for each in opened("running", asked).button}
    assert (to_try["an LSTM instead"], to_try["two layers (num_layers)"]) == (True, False)
    app = opened("start", asked)
    assert "The link fixes cell and sequences." in texts(app)
    assert controls(app, fixed=True) == {"cell", "sequences", "example"}
    taken_back = {each.label: each for each in app.button}
    assert taken_back["cell = rnn · fixed"].disabled
    taken_back["hidden_size = 3 ✕"].click().run()
    assert app.number_input(key="hidden_size").value == 4
    assert app.text_area(key="sequences").value == "1 2\n3 4 5"
    assert [each.value for each in app.button_group if each.key == "cell"] == ["rnn"]
    assert "Ignored" not in texts(app)


def test_a_link_may_fix_all_settings() -> None:
    app = opened("cost", {"lock": "all", "cell": "rnn"})
    assert "The link fixes all settings." in texts(app)
    assert controls(app, fixed=True) == controls(app) >= {"cell", "seed", "sequences"}
    assert "lock = 'walls' (using 'none')" in texts(opened("cost", {"lock": "walls"}))


def test_a_link_to_a_quiz_question_opens_it() -> None:
    app = opened("quiz", {"round": 77, "question": 9})
    for at in (9, 10, 1, 2):
        assert f"**Question {at} of 10**" in texts(app)
        press(app, "Show me", "Next")
    assert "**Question 3 of 10**" in texts(app)
    assert "**Question 1 of 10**" in texts(opened("quiz", {"round": 77, "question": "99"}))
    assert query(link(f"{HERE}&question=4", question=7))["question"] == "7"


def talk(page: Page, folder: Path, html: str, content: str) -> None:
    """Check, in a page of another origin, that the frame is as high as its content, and sends and receives steps."""
    lesson = folder / "lesson.html"
    lesson.write_text(f"<!doctype html><h1>A course</h1>{html}", "utf-8")
    page.goto(lesson.as_uri())
    framed, frame_itself = page.frame_locator("iframe"), page.locator("iframe")
    player = framed.get_by_test_id("packviz-player")
    player.wait_for()

    def high() -> int:
        return int(frame_itself.get_attribute("height") or 0)

    for width in (1000, 300):
        page.set_viewport_size({"width": width, "height": 800})
        until(page, lambda: ceil(box_of(framed.locator(content))["height"]) == high() > 300)
        wide = framed.locator("html").evaluate("html => [html.scrollWidth, innerWidth]")
        assert wide[0] <= wide[1]
    page.evaluate("""() => {
      addEventListener("message", ({ data }) => { document.title = `step ${data.packviz.step}`; });
      document.querySelector("iframe").contentWindow.postMessage({ packviz: { step: 4 } }, "*");
    }""")
    expect(player).to_have_attribute("data-step", "4")
    expect(page).to_have_title("step 4")
    page.evaluate("document.querySelector('iframe').contentWindow.postMessage({ packviz: { step: 'x' } }, '*')")
    framed.get_by_role("button", name="Step forward").click()
    expect(page).to_have_title("step 5")


def test_a_frame_sizes_itself_and_accepts_a_step(browser: Browser, address: str, tmp_path: Path) -> None:
    name = "packviz-packing.html"
    pv.movie(pv.trace(pv.Batch.parse("1 2 3 4 5 6\n7 8")), stages=("pack",)).save(tmp_path / name)
    page = frame(f"{address}/packing?example=unsorted&hide=menu,sidebar")
    for told, content in ((page, ".stMainBlockContainer"), (frame_of_file(name), "main.pv-page")):
        with tab(browser, PROJECTOR) as taken:
            talk(taken.page, tmp_path, told, content)
            assert taken.errors == []


def test_a_page_that_arrives_after_its_script_also_reports_its_height(browser: Browser) -> None:
    script = (Path(pv.__file__).parent / "show/movie/player.js").read_text("utf-8")
    page = '<main class="pv-page" data-fit style="height: 432px"></main>'
    start = f"""<script type="module">
      const file = new Blob([{json.dumps(script)}], {{ type: "text/javascript" }});
      (await import(URL.createObjectURL(file))).framed();
    </script>"""
    late = f"<script>setTimeout(() => {{ document.body.innerHTML = `{page}`; }}, 500)</script>"
    with tab(browser, PROJECTOR) as taken:
        taken.page.evaluate(
            """srcdoc => {
              addEventListener("message", ({ data }) => { document.title = `${data.packviz.height} pixels`; });
              document.body.append(Object.assign(document.createElement("iframe"), { srcdoc }));
            }""",
            f"<body>{start}{late}",
        )
        expect(taken.page).to_have_title("432 pixels")


def open_panel(visited: Visit) -> None:
    visited.main.get_by_role("button", name="Share").click()
    visited.page.get_by_role("img", name="QR code of the link").wait_for()
    visited.settle()


def shared(visited: Visit) -> str:
    return visited.page.get_by_label("Link to this page").input_value()


def in_the_code(visited: Visit, link: str) -> bool:
    """Return whether the QR code in the panel is that of a link, and visible."""
    image = visited.page.get_by_role("img", name="QR code of the link")
    expect(image).to_have_attribute("src", qr_code(link))
    return bool(image.evaluate("image => image.decode().then(() => image.naturalWidth > 20)"))


def test_a_local_address_is_shared_as_others_can_open_it(monkeypatch: pytest.MonkeyPatch) -> None:
    here = "http://127.0.0.1:8501/packing?cell=lstm"
    monkeypatch.setattr(network, "_own_address", lambda: "192.0.2.7")
    assert network.for_others(here) == "http://192.0.2.7:8501/packing?cell=lstm"
    assert network.for_others(HERE) == HERE
    monkeypatch.setattr(network, "_own_address", lambda: "")
    assert network.for_others(here) == here


def test_the_panel_shares_the_step_on_screen_and_what_was_chosen(visit: Open) -> None:
    visited = visit({"cell": "lstm"}, path="packing")
    prompt = visited.page.locator(".pv-prompt")
    first = prompt.inner_text()
    visited.page.get_by_role("button", name="Another").click()
    second = prompt.inner_text()
    assert second != first
    visited.press("ArrowRight", "ArrowRight")
    open_panel(visited)
    assert query(shared(visited)) == query(visited.page.url) | {"question": "2"}
    assert urlsplit(shared(visited)).netloc == urlsplit(network.for_others(visited.page.url)).netloc
    expect(visited.page.get_by_text("The link opens on every device in your local network")).to_be_visible()
    expect(visited.page.get_by_role("button", name="+ Add this step")).to_be_in_viewport(ratio=1)
    assert in_the_code(visited, shared(visited))
    assert query(shared(visited))["step"] == "3"
    panel = visited.page.locator(".st-key-sharing")
    visited.unfold("What the link opens, hides and fixes", panel)
    settings = panel.get_by_role("combobox", name="Lock settings")
    settings.scroll_into_view_if_needed()
    settings.click()
    settings.fill("cell")
    visited.page.get_by_role("option", name="cell", exact=True).wait_for()
    settings.press("Enter")
    visited.settle()
    panel.get_by_text("Link to this page, as it is now").click()  # Escape might close the panel, too
    for choice in ("sidebar", "code", "menu", "dark"):
        visited.click(panel.get_by_role("radio", name=choice).or_(panel.get_by_role("button", name=choice)))
    chosen = shared(visited)
    shown = {"cell": "lstm", "example": "unsorted", "step": "3", "question": "2"}
    assert query(chosen) == shown | {"hide": "sidebar,code,menu", "lock": "cell", "theme": "dark"}
    assert in_the_code(visited, chosen)
    visited.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    panel.get_by_role("button", name="Copy").first.click()
    expect(panel.get_by_role("button", name="Copied")).to_be_visible()
    assert visited.page.evaluate("navigator.clipboard.readText()") == chosen
    with visited.page.expect_download() as download:
        panel.get_by_role("button", name="The movie as a file").click()
    page = download.value.path().read_text("utf-8")
    assert download.value.suggested_filename == "packviz-packing.html"
    assert 'id="movie"' in page
    visited = visit(chosen.partition("?")[2], path="packing")
    assert visited.data("step") == "3"
    assert visited.data("theme") == "dark"
    assert visited.data("code") == "off"
    expect(visited.page.locator(".pv-prompt")).to_have_text(second)  # the question of the link is asked first
    for part in ("stHeader", "stTopNav", "stExpandSidebarButton"):
        expect(visited.page.get_by_test_id(part)).to_be_hidden()
    visited.page.locator(".st-key-onward a").click()
    visited.page.wait_for_url("**/running*")
    visited.settle()
    expect(visited.page.get_by_test_id("stHeader")).to_be_hidden()
    assert visited.data("theme") == "dark"
    open_panel(visited)
    told = parse_qs(urlsplit(shared(visited)).query)
    assert (told["hide"], told["theme"]) == (["sidebar,code,menu"], ["dark"])


def test_a_page_without_a_batch_offers_no_settings_to_lock(visit: Open) -> None:
    visited = visit(path="do_i_need_it")
    open_panel(visited)
    panel = visited.page.locator(".st-key-sharing")
    visited.unfold("What the link opens, hides and fixes", panel)
    expect(panel.get_by_text("Colors")).to_be_visible()
    expect(panel.get_by_role("combobox", name="Lock settings")).to_have_count(0)


def test_a_long_link_has_no_qr_code_and_says_so_on_a_phone(visit: Open) -> None:
    text = "\n".join(["1 2 3 4 5 6 7 8 9"] * 40)
    visited = visit({"sequences": text, "example": "own"}, path="sorting", size=PHONE)
    visited.main.get_by_role("button", name="Share").click()
    expect(visited.page.get_by_text("too long for a QR code")).to_be_visible()
    box = box_of(visited.page.locator(".st-key-sharing"))
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= PHONE[0]
    assert query(shared(visited))["sequences"] == text


def test_a_lesson_on_rows_is_shared_with_its_settings_and_its_step(visit: Open) -> None:
    asked = {"strategy": "wrapped", "max_length": "5", "step": "3"}
    visited = visit(asked, path="filling_rows")
    assert (visited.data("stage"), visited.data("step")) == ("fill", "3")
    open_panel(visited)
    assert asked.items() <= query(shared(visited)).items()
    with visited.page.expect_download() as saved:
        visited.page.locator(".st-key-sharing").get_by_role("button", name="The movie as a file").click()
    movie = saved.value.path().read_text("utf-8").partition('id="movie">')[2].partition("<")[0]
    assert b"rows of 5, wrapped" in gzip.decompress(base64.b64decode(movie))
    visited.page.keyboard.press("Escape")
    visited.press("End")
    visited.click(visited.player.get_by_role("button", name="Next lesson: document borders"))
    visited.page.wait_for_url("**/borders*")
    visited.settle()
    assert visited.data("stage") == "borders"
    assert visited.query["strategy"] == "wrapped"


SEEN = """() => {
    window.overlaps = [];
    const words = () => [...document.querySelectorAll(".stMain :is(h1, p, label):not(.st-key-corner *)")];
    const boxes = (node) => {
        const range = document.createRange();
        range.selectNodeContents(node);
        return [...range.getClientRects()];
    };
    const look = () => {
        const button = document.querySelector(".st-key-corner button")?.getBoundingClientRect();
        const over = ({ left, right, top, bottom }) =>
            right > button.left && left < button.right && bottom > button.top + 1 && top < button.bottom - 1;
        if (button) window.overlaps.push(words().filter((each) => boxes(each).some(over)).length);
        requestAnimationFrame(look);
    };
    look();
}"""  # in each frame while the page loads, how many texts the button lies over


@pytest.mark.parametrize("path", ["", "doctor", "running"])
@pytest.mark.parametrize("touch", [False, True])
def test_share_lies_over_no_text_while_the_page_loads(visit: Open, path: str, touch: bool) -> None:
    seen = visit(path=path, script=f"({SEEN})()", has_touch=touch, is_mobile=touch)
    seen.page.wait_for_function("window.overlaps.length > 10")
    assert seen.page.evaluate("Math.max(...window.overlaps)") == 0
    expect(seen.main).to_have_css("scrollbar-gutter", "stable")  # nothing moves when a scroll bar appears
