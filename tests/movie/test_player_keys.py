"""Which keys steer the player, from where, and which player they steer."""

import re

from movie_player import Open, Screen
from playwright.sync_api import expect
from tabs import box_of

from packviz import Movie
from packviz.show.movie import assets

ADD = """html => {
    document.querySelector("#beside")?.remove();
    const beside = document.createElement("div");
    beside.id = "beside";
    beside.innerHTML = html;
    Object.assign(beside.style, { position: "fixed", left: "0", top: "0", zIndex: 10, background: "white" });
    document.body.append(beside);
    beside.firstElementChild.addEventListener("keydown", ({ key }) => beside.dataset.heard = key);
}"""
NEED_NO_ARROWS = (
    '<a href="#step=1" onclick="return false">Packing</a>',
    "<button>Check</button>",
    '<div tabindex="0">an empty spot</div>',
    '<label><input type="checkbox"> bidirectional</label>',
    '<div role="radiogroup"><button role="radio" aria-checked="true">unsorted</button></div>',
    "<p>text that takes no focus</p>",
)
NEED_ARROWS = (
    "<input>",
    "<textarea></textarea>",
    '<input type="number" value="3">',
    '<input type="range">',
    '<input type="radio" checked>',
    "<select><option>1</option><option>2</option></select>",
    '<div contenteditable="true">text</div>',
    '<div role="combobox" tabindex="0">a</div>',
    '<div role="menu"><button role="menuitem">a</button></div>',
    '<div role="tablist"><button role="tab">a</button></div>',
    '<canvas role="grid" tabindex="0" width="9" height="9"></canvas>',
)
MOUNT = """async ([code, movie]) => {
    document.querySelector(".pv-page").hidden = true;
    for (let i = 0; i < 2; i++) {
        const host = document.createElement("div");
        host.style = "height: 600px";
        document.body.append(host);
        const { mount } = await import(URL.createObjectURL(new Blob([code], { type: "text/javascript" })));
        mount(host, movie);
    }
}"""


def test_the_keys_step_whatever_was_clicked_that_does_not_need_them_itself(screen: Screen) -> None:
    keys = {"ArrowRight": 2, "PageDown": 3, "ArrowLeft": 2, "PageUp": 1, "End": 17, "Home": 1}
    for html in NEED_NO_ARROWS:
        screen.page.evaluate(ADD, html)
        screen.page.locator("#beside *").last.click()
        for key, step in keys.items():
            screen.press(key)
            assert screen.step == step, (html, key)
        assert screen.page.locator("#beside").get_attribute("data-heard") is None
    focusable = "input, textarea, select, [tabindex], button, [contenteditable]"
    for html in NEED_ARROWS:
        screen.page.evaluate(ADD, html)
        screen.page.mouse.click(600, 300)
        screen.page.locator("#beside").locator(focusable).last.focus()
        screen.press("ArrowRight", "PageDown", "End", "b")
        assert screen.step == 1, html
        assert screen.page.locator("#beside").get_attribute("data-heard"), html


def test_keys_scroll_the_page_if_the_picture_is_out_of_sight(open_page: Open, movie: Movie) -> None:
    screen = open_page(movie, bypass_csp=True)
    screen.page.evaluate("document.body.style.paddingBottom = '5000px'; scrollTo(0, 1500)")
    screen.press("PageDown")
    screen.page.wait_for_function("scrollY > 1500")
    screen.press("3")
    assert screen.step == 1
    screen.press("ArrowRight")
    assert screen.step == 2


def test_b_blanks_the_picture_until_b_or_a_step(open_page: Open, movie: Movie) -> None:
    screen = open_page(movie, "#step=4")
    blank = screen.root.locator(".pv-blank")
    expect(blank).to_be_hidden()
    for key, step in (("b", 4), ("ArrowRight", 5), ("PageUp", 4), ("End", 17), ("ArrowRight", 17), ("3", 5)):
        screen.press("b")
        expect(blank).to_be_visible()
        screen.press(key)
        expect(blank).to_be_hidden()
        assert screen.step == step, key
    screen.press("b")
    blank.click()
    expect(blank).to_be_hidden()
    screen.press(".")
    expect(blank).to_be_hidden()
    assert screen.tip
    screen.press("f")
    expect(screen.root).to_have_attribute("data-full", "")
    screen.press("PageDown", ".")  # as a remote means it
    expect(blank).to_be_visible()
    assert screen.tip == []
    box = box_of(blank)
    assert (box["width"], box["height"]) == (1280, 720)
    screen.press("PageDown")
    expect(blank).to_be_hidden()
    assert screen.step == 7


def test_of_two_players_a_key_moves_one(open_page: Open, movie: Movie) -> None:
    screen = open_page(movie, bypass_csp=True)
    _, script = assets()
    screen.page.evaluate(MOUNT, [script, movie.to_dict()])
    players = [screen.page.get_by_test_id("packviz-player").nth(i) for i in (1, 2)]

    def steps(key: str) -> list[int]:
        screen.press(key)
        return [int(player.get_attribute("data-step") or "") for player in players]

    assert steps("ArrowRight") == [2, 1]  # the one in view
    players[1].locator("canvas").click()
    screen.page.evaluate("document.activeElement.blur()")
    assert steps("PageDown") == [2, 2]  # the one used last
    players[0].focus()
    assert steps("ArrowRight") == [3, 2]  # the one with the focus
    players[0].evaluate("player => player.blur()")
    screen.page.evaluate("scrollTo(0, document.body.scrollHeight)")
    players[0].evaluate("player => player.parentElement.style.marginBottom = '2000px'")
    players[1].scroll_into_view_if_needed()
    assert steps("ArrowRight") == [3, 3]  # the one used last is out of sight


def test_two_players_share_no_id(open_page: Open, movie: Movie) -> None:
    screen = open_page(movie, bypass_csp=True)
    _, script = assets()
    screen.page.evaluate(MOUNT, [script, movie.to_dict()])
    ids = screen.page.locator(".pv [id]").evaluate_all("nodes => nodes.map(node => node.id)")
    assert len(set(ids)) == len(ids) >= 2


def test_the_keys_are_listed_by_a_key_and_by_a_button(screen: Screen) -> None:
    keys = screen.root.get_by_role("group", name="Keys")
    for by_key in (True, False):
        screen.press("?") if by_key else screen.button("Keys").click()
        expect(keys).to_be_in_viewport(ratio=1)
        expect(keys).to_contain_text("hide the picture")
        screen.press("Escape")
        expect(keys).to_be_hidden()
    screen.button("Keys").click()
    screen.press("ArrowRight")
    assert screen.step == 2


def test_space_plays_after_a_click_on_a_stage(screen: Screen) -> None:
    screen.root.locator(".pv-stages button").last.click()
    before = screen.step
    screen.press("Space")
    expect(screen.button("Pause")).to_be_visible()
    assert before > 1


def test_a_touch_screen_names_no_keys(open_page: Open, movie: Movie) -> None:
    screen = open_page(movie, size=(390, 844), has_touch=True, is_mobile=True)
    expect(screen.button("Play")).to_be_visible()
    titles = screen.root.locator("button[title]").evaluate_all("nodes => nodes.map(node => node.title)")
    assert "Step forward" in titles
    assert [title for title in titles if "(" in title] == []
    expect(screen.button("Keys")).to_be_hidden()
    screen.button("Play").tap(timeout=3000)  # nothing lies over it
    assert screen.step == 2


def test_single_keys_can_be_switched_off_for_good(open_page: Open, movie: Movie) -> None:
    screen = open_page(movie, locale="en-US")  # a context of its own: a tab of earlier tests may still be clearing
    switch = screen.root.get_by_role("checkbox", name="Single-key shortcuts")
    full = screen.button("Full screen")
    screen.press("?")
    expect(full).to_have_attribute("title", "Full screen (F)")
    expect(switch).to_be_checked()
    switch.uncheck()
    for _ in range(2):
        expect(switch).not_to_be_checked()
        expect(full).to_have_attribute("title", "Full screen")
        expect(screen.button("3 Pack")).to_have_attribute("title", "Pack")
        screen.press("3", "b", ".", "f")
        assert screen.step == 1
        assert screen.tip == []
        expect(screen.root.locator(".pv-blank")).to_be_hidden()
        expect(screen.root).not_to_have_attribute("data-full", "")
        screen.press("ArrowRight")
        expect(screen.page).to_have_url(re.compile("#step=2$"))  # on a busy machine the keys are heard later
        screen.press("PageDown", "Home")
        expect(screen.page).to_have_url(re.compile("#step=1$"))
        for _ in range(5):  # Chromium keeps it later, which no page can see: after 100 ms 1 of 100 reloads found it on
            screen.page.wait_for_timeout(500)
            screen.page.reload()
            screen.button("Keys").click()
            if not switch.is_checked():
                break
    expect(switch).not_to_be_checked()
    screen.press("ArrowRight")
    assert screen.step == 2
    switch.check()
    screen.press("3")
    assert screen.data("stage") == "pack"


def test_full_screen_without_its_api_keeps_tab_inside_and_opens_the_code(open_page: Open, movie: Movie) -> None:
    screen = open_page(movie, size=(844, 390))
    screen.page.evaluate(ADD, "<button>outside</button>")
    screen.page.evaluate("() => { delete Element.prototype.requestFullscreen; }")
    full, outside = screen.root.get_by_role("button", name="Full screen"), screen.page.locator("#beside button")
    full.click()
    focused = set()
    for _ in range(30):
        screen.press("Tab")
        focused.add(
            screen.root.evaluate("root => root.contains(document.activeElement) || document.activeElement.tagName")
        )
    assert focused <= {True, "BODY"}
    code = screen.root.get_by_role("region", name="The code")
    expect(code).to_be_hidden()
    screen.root.get_by_role("button", name="Show the code").click()
    expect(code).to_be_in_viewport()
    full.click()
    outside.focus()
    expect(outside).to_be_focused()


def test_the_picture_keeps_its_share_of_the_window(open_page: Open, movie: Movie) -> None:
    screen = open_page(movie, bypass_csp=True)
    mount = MOUNT.replace("i < 2", "i < 1").replace('host.style = "height: 600px";', "")
    screen.page.evaluate(mount, [assets()[1], movie.to_dict()])
    screen.page.add_style_tag(content=".pv { --pv-height: calc(100vh - var(--pv-above) - 178px) !important; }")
    screen.page.evaluate("() => document.querySelectorAll('.pv')[1].before(document.createElement('hr'))")
    for height in (0, 120, 40):
        screen.page.evaluate("px => { document.querySelector('hr').style = `height: ${px}px; margin: 0`; }", height)
        above = screen.page.evaluate("document.querySelectorAll('.pv')[1].getBoundingClientRect().top")
        screen.page.wait_for_function(
            "px => Math.abs(document.querySelectorAll('canvas')[1].clientHeight - (innerHeight - px - 178)) <= 1",
            arg=above,
        )
