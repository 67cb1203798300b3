"""The first visit: a movie, paused on its first step, with an invitation; no errors, no requests to other hosts."""

import re
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Browser, expect
from tabs import Scheme, Size, box_of, until
from visits import LAPTOP, PHONE, PROJECTOR, Open

from packviz.compute.trace import trace
from packviz.facts.why_pack import FinalState, final_state
from packviz.inputs.batch import Batch
from packviz.show.movie import TERMS
from packviz.show.theme import DARK, LIGHT, Palette, diverging
from ui.parts.controls import LABEL
from ui.parts.why import _table


@pytest.mark.check
def test_the_first_page_is_a_paused_movie_with_few_words(visit: Open, address: str) -> None:
    seen = visit(None, size=LAPTOP)
    until(
        seen.page, lambda: len(seen.words) <= 45
    )  # on a busy machine what is below the player comes before its full height
    assert len(seen.words) > 20, " ".join(seen.words)
    expect(seen.page.get_by_test_id("stSidebar")).not_to_be_in_viewport()
    expect(seen.main.locator(".st-key-why")).to_contain_text("“she sleeps”")
    seen.page.set_viewport_size({"width": PROJECTOR[0], "height": PROJECTOR[1]})
    seen.page.wait_for_timeout(700)
    assert seen.data("step") == "1"
    assert seen.page.url == f"{address}/"
    assert seen.player.get_by_role("button").filter(has_text=re.compile("Play|Watch")).count() == 1
    expect(seen.player).to_be_in_viewport(ratio=1)
    assert box_of(seen.player)["width"] > 0.6 * PROJECTOR[0]
    steps = int(seen.data("steps"))
    for key, step in (("ArrowRight", steps), ("ArrowLeft", 1)):
        seen.press(*[key] * (steps + 2))
        assert seen.data("step") == str(step)
        expect(seen.main.get_by_text("All numbers of this stage")).to_be_visible()
    seen.press("End")
    expect(seen.player.get_by_role("button", name="Do I need packing?")).to_be_visible()
    seen.player.get_by_role("button", name="Lesson 1: padding").click()
    seen.page.wait_for_url(f"{address}/padding")
    seen.settle()
    seen.press("End")
    seen.player.get_by_role("button", name="Next lesson: sorting").click()
    seen.page.wait_for_url(f"{address}/sorting")


LINE = 17.5  # pixels of a line of the caption on a phone on its side
SHADES = "cells => cells.map(cell => getComputedStyle(cell).backgroundColor)"


@pytest.mark.parametrize(("scheme", "palette"), [("light", LIGHT), ("dark", DARK)])
def test_one_sees_that_the_padded_state_is_another(visit: Open, scheme: Scheme, palette: Palette) -> None:
    seen = visit(None, scheme=scheme)
    why = seen.main.locator(".st-key-why")
    states = why.locator(".state")
    numbers, shades = [], []
    for state in states.all():
        numbers.append([float(number.replace("−", "-")) for number in state.inner_text().split()])
        shades.append(state.locator("> *").evaluate_all(SHADES))
    alone, padded, packed = numbers
    assert alone == packed != padded
    assert shades[0] == shades[2] != shades[1]
    ends = alone.index(min(alone)), padded.index(min(padded))  # the bluest cells
    nearest = [diverging(state[at], palette) for state, at in zip((alone, padded), ends, strict=True)]
    for shade, state, at in zip(nearest, shades, ends, strict=False):
        drawn = [int(channel) for channel in re.findall(r"\d+", state[at])]
        assert max(abs(a - b) for a, b in zip(bytes.fromhex(shade[1:]), drawn, strict=True)) <= 3  # rounded numbers
    far = [abs(a - b) for a, b in zip(alone, padded, strict=True)]
    off = max(far)
    framed = "cells => cells.map(cell => getComputedStyle(cell).boxShadow !== 'none')"
    furthest = [each == off for each in far]
    assert states.locator("> *").evaluate_all(framed) == [*furthest, *furthest, *[False] * 4]
    assert [each.inner_text() for each in why.locator("td.wrong, td.good").all()] == [
        "✓",
        f"✗ {off:.2f}",
        "✓ 0.00",
    ]
    assert why.get_by_role("columnheader").all_inner_texts()[-1] == "Largest difference"
    assert len({(box_of(state)["x"], box_of(state)["width"]) for state in states.all()}) == 1
    expect(why.get_by_role("img", name="from −1 to 1")).to_be_visible()  # where a tanh is


@pytest.mark.parametrize("path", ["", "what_leaks"])
def test_on_a_phone_a_link_to_a_step_shows_its_picture_as_play_does(visit: Open, path: str) -> None:
    seen = visit({"step": "4"}, path=path, size=PHONE, has_touch=True, is_mobile=True)
    stage = seen.player.locator(".pv-stage")
    expect(stage).to_be_in_viewport(ratio=0.99)
    linked = box_of(stage)["height"]
    seen.player.get_by_role("button", name="Step back").tap()
    seen.player.get_by_role("button", name="Step forward").tap()
    assert linked == pytest.approx(box_of(stage)["height"], abs=2)
    first = visit(None, path=path, size=PHONE, has_touch=True, is_mobile=True)  # it begins at the top of its page
    assert first.page.evaluate("document.querySelector('.stMain').scrollTop") == 0


def test_the_difference_leads_to_the_padded_run_of_what_was_typed(visit: Open, address: str) -> None:
    seen = visit(None)
    seen.type("a b c\nd e")
    expect(seen.main.locator(".why")).to_contain_text("“d e”")
    seen.main.get_by_role("link", name="✗").click()
    seen.page.wait_for_url(f"{address}/compare?*")
    seen.settle()
    expect(seen.player).to_contain_text("Padding changes the final state of")
    assert seen.query["sequences"] == "a b c\nd e"


def test_with_ctrl_the_difference_opens_the_same_batch_in_a_tab_of_its_own(visit: Open, address: str) -> None:
    seen = visit(None)
    seen.type("a b c\nd e")
    expect(seen.main.locator(".why")).to_contain_text("“d e”")
    with seen.page.context.expect_page() as opened:
        seen.main.get_by_role("link", name="✗").click(modifiers=["ControlOrMeta"])
    tab = opened.value
    tab.wait_for_url(f"{address}/compare?*")
    assert parse_qs(urlsplit(tab.url).query)["sequences"] == ["a b c\nd e"]
    tab.close()
    assert "compare" not in seen.page.url


def test_terms_beside_the_text_say_what_they_mean(visit: Open) -> None:
    seen = visit(None)
    meaning = seen.page.get_by_role("tooltip")
    for place, term in (("heading", "padding"), ("heading", "RNN"), ("heading", "packing"), ("why", "final state")):
        seen.main.locator(f".st-key-{place} [data-term]", has_text=term).hover()  # once it is marked as a term
        expect(meaning).to_have_text(TERMS[term])


@pytest.mark.parametrize(
    ("broken", "told"),
    [
        ("CanvasRenderingContext2D.prototype.roundRect = undefined", "This step could not be drawn: "),
        ("delete Element.prototype.replaceChildren", "The picture could not be shown: "),
    ],
    ids=["no drawing", "no player at all"],
)
def test_a_picture_that_fails_says_why_and_the_page_goes_on(
    browser: Browser, address: str, broken: str, told: str
) -> None:
    page = browser.new_page(viewport={"width": PROJECTOR[0], "height": PROJECTOR[1]})
    page.add_init_script(broken)
    page.goto(f"{address}/packing")
    expect(page.locator(".pv").get_by_role("alert")).to_contain_text(told, timeout=30_000)
    expect(page.get_by_role("button", name="equal lengths")).to_be_visible(timeout=30_000)
    page.close()


@pytest.mark.parametrize("size", [LAPTOP, PROJECTOR, PHONE], ids=["laptop", "projector", "phone"])
def test_a_changed_word_changes_the_movie_and_the_table(visit: Open, size: Size) -> None:
    seen = visit(None, size=size)
    text = seen.page.get_by_label(LABEL)  # without opening anything
    for there in (text, seen.player.locator(".pv-stage"), seen.player.get_by_role("button", name="Play")):
        expect(there).to_be_in_viewport(ratio=1)
    text.press("Control+End")
    text.press_sequentially(" well\nyes")
    expect(seen.player).to_have_attribute("aria-label", re.compile("4 sequences"))
    for read in ("1 token", "1 token, 4 pads"):  # of the new line, the shortest
        expect(seen.main.locator(".st-key-why").get_by_role("img", name=read, exact=True).first).to_be_visible()
    expect(text).to_be_focused()


CELLS = """() => {
    const [{ end, picture }] = window[Symbol.for("packviz")].players;
    const cells = picture.looksAt(end).filter(({ rect, state }) => rect && ["token", "pad"].includes(state.role));
    return Math.min(...cells.map(({ rect }) => rect.h));
}"""  # the least height of a cell


@pytest.mark.parametrize(
    ("size", "motion", "least"),
    [(PHONE, True, {"pack": 35, "run": 20}), ((360, 740), False, {"pack": 28, "run": 16})],
    ids=["phone", "small phone"],
)
def test_on_a_phone_a_movie_that_plays_fills_the_window(
    visit: Open, size: Size, motion: bool, least: dict[str, float]
) -> None:
    seen = visit(None, size=size, has_touch=True, is_mobile=True, motion=motion)
    play, stage = seen.player.get_by_role("button", name=re.compile("Play|Pause")), seen.player.locator(".pv-stage")
    before, height = box_of(play), box_of(stage)["height"]
    x, y = before["x"] + before["width"] / 2, before["y"] + before["height"] / 2
    seen.page.touchscreen.tap(x, y)
    expect(seen.player).to_have_attribute("data-step", "2")
    until(seen.page, lambda: box_of(seen.player)["y"] < 62)  # below the bar
    seen.page.touchscreen.tap(x, y)  # Pause is where Play was
    seen.settle()
    for step in range(2, int(seen.data("steps")) + 1):
        expect(seen.player).to_have_attribute("data-step", str(step))
        assert box_of(seen.player)["y"] < 62
        assert box_of(play) == pytest.approx(before, abs=1)
        for whole in (stage, seen.page.get_by_test_id("packviz-caption"), play):
            expect(whole).to_be_in_viewport(ratio=1)
        if wanted := least.get(seen.data("stage")):
            assert seen.page.evaluate(CELLS) > wanted
        seen.player.get_by_role("button", name="Step forward").tap(force=True)  # disabled at the end
    seen.main.evaluate("main => main.scrollTo(0, 0)")
    seen.page.get_by_label(LABEL).fill("we sing\nyes")
    expect(seen.player).to_have_attribute("aria-label", re.compile("2 sequences"))
    assert box_of(stage)["height"] < height + 60  # all of it is seen below the text, as at first
    expect(stage).to_be_in_viewport(ratio=1)


FITS = """() => {
    const [{ picture, movie }] = window[Symbol.for("packviz")].players;
    return [picture.height, ...Object.keys(movie.scenes).filter((scene) => !picture.view(scene).fits)];
}"""  # the height of the picture, and the scenes whose texts have no room in it


def test_on_a_low_phone_a_link_to_a_step_shows_a_picture_whose_texts_have_room(visit: Open) -> None:
    seen = visit("step=12&example=sentences", size=(360, 640), has_touch=True, is_mobile=True)
    height, *crowded = seen.page.evaluate(FITS)
    assert height > 300  # of 640: the link leads to the picture, as Play does
    assert crowded == []


FRAMED = """([slider, caption]) => {
    const framed = [slider, slider.parentElement].find((node) => getComputedStyle(node).outlineStyle !== "none");
    const { outlineWidth, outlineOffset } = getComputedStyle(framed), { top } = framed.getBoundingClientRect();
    return top - parseFloat(outlineWidth) - parseFloat(outlineOffset) - caption.getBoundingClientRect().bottom;
}"""  # pixels from the caption to the frame of the slider in focus


def test_on_a_phone_the_frame_around_the_slider_in_focus_is_below_the_caption(visit: Open) -> None:
    seen = visit("step=12", size=PHONE, has_touch=True, is_mobile=True)
    slider, caption = seen.player.get_by_role("slider", name="Step"), seen.page.get_by_test_id("packviz-caption")
    seen.page.keyboard.press("Tab")
    slider.focus()
    nodes = [each.element_handle() for each in (slider, caption)]
    assert seen.page.evaluate(FRAMED, nodes) >= 0


def test_a_phone_on_its_side_shows_cells_and_a_line_at_first_and_then_all_of_the_player(visit: Open) -> None:
    seen = visit(None, size=(844, 390), has_touch=True, is_mobile=True)
    play, stage = seen.player.get_by_role("button", name=re.compile("Play|Pause")), seen.player.locator(".pv-stage")
    before = box_of(play)
    caption = seen.page.get_by_test_id("packviz-caption")
    assert box_of(caption)["y"] + LINE <= before["y"]
    assert seen.page.evaluate(CELLS) > 15
    play.tap()
    until(seen.page, lambda: box_of(seen.player)["y"] < 62)
    assert box_of(play) == pytest.approx({**before, "width": box_of(play)["width"]}, abs=1)
    for whole in (stage, caption, play):
        expect(whole).to_be_in_viewport(ratio=1)
    until(seen.page, lambda: seen.page.evaluate(CELLS) > 40)


def test_on_a_phone_a_scrolled_page_stays_where_it_is(visit: Open) -> None:
    seen = visit(None, size=PHONE, has_touch=True, is_mobile=True)
    seen.main.evaluate("main => main.scrollTo(0, 40)")
    stage, before = seen.player.locator(".pv-stage"), box_of(seen.player)
    seen.player.get_by_role("button", name="Step forward").tap()
    seen.settle()
    assert seen.data("step") == "2"
    assert (box_of(seen.player)["y"], seen.main.evaluate("main => main.scrollTop")) == (before["y"], 40)
    expect(stage).to_be_in_viewport(ratio=1)


@pytest.mark.parametrize(("width", "lines"), [(800, 1), (768, 1), (660, 1), (600, 2), (390, 2)])
def test_no_button_of_the_controls_is_alone_in_a_line(visit: Open, width: int, lines: int) -> None:
    transport = visit(None, size=(width, 900)).player.locator(".pv-transport")
    buttons = transport.locator("button:visible, select")
    assert len({box_of(each)["y"] for each in buttons.all()}) == 1
    scrub = transport.locator(".pv-scrub")
    assert lines == 1 + (box_of(scrub)["y"] + box_of(scrub)["height"] < box_of(buttons.first)["y"])


HEIGHTS = """
    window.heights = new Set();
    const look = () => {
        const seen = %s;
        if (seen) window.heights.add(seen.getBoundingClientRect().top);
        requestAnimationFrame(look);
    };
    look();
"""  # where something is in each frame


@pytest.mark.parametrize("page", ["quiz", "class", "packing"])
def test_share_does_not_move_while_a_page_loads(visit: Open, page: str) -> None:
    seen = visit(path=page, script=HEIGHTS % "document.querySelector('.st-key-share button')")
    assert len(seen.page.evaluate("[...window.heights]")) == 1


SIZES = """() => {
    const all = [...document.querySelectorAll('.why :is(th, td, th *, td *)')];
    const cells = all.filter((e) => e.innerText && !e.children.length);
    const cut = cells.filter((e) => e.clientWidth && e.scrollWidth > e.clientWidth + 1).map((e) => e.innerText);
    return [Math.min(...cells.map((e) => parseFloat(getComputedStyle(e).fontSize))), cut];
}"""  # of the smallest text in the table, and the texts that have no room


@pytest.mark.parametrize("size", [(360, 740), PHONE, (844, 390)], ids=str)
def test_the_table_is_legible_on_a_phone(visit: Open, size: Size) -> None:
    seen = visit(None, size=size)
    expect(seen.main.locator(".st-key-why").get_by_role("table")).to_be_visible()
    smallest, cut = seen.page.evaluate(SIZES)
    assert smallest >= 12
    assert cut == []


WITHIN = """() => {
    const [why, player, first] = [".why", ".st-key-player-all", ".st-key-first textarea"].map((some) =>
        document.querySelector(some).getBoundingClientRect());
    return [player.right - why.right, why.left - first.right];
}"""  # pixels from the table to the right margin of the page, and from the text to it


@pytest.mark.parametrize("text", ["a b c d e f g h\nshe sleeps\nwe", "she sleeps\n" + "go " * 64], ids=["8", "64"])
def test_the_table_stays_inside_the_page_beside_the_settings(visit: Open, text: str) -> None:
    seen = visit(None)
    seen.type(text)
    expect(seen.sidebar).to_be_visible()
    for width in (1440, 1366, 1280, 1152, 1024):
        seen.page.set_viewport_size({"width": width, "height": 720})
        seen.settle()
        expect(seen.main.locator(".st-key-why .wrong")).to_be_in_viewport(ratio=1)
        right, left = seen.page.evaluate(WITHIN)
        assert min(right, left) >= 0, (width, right, left)


@pytest.mark.parametrize(
    "size", [LAPTOP, PHONE, (360, 740), (844, 390)], ids=["laptop", "phone", "small", "on its side"]
)
def test_the_table_beside_the_text_comes_without_moving_the_player(visit: Open, size: Size) -> None:
    seen = visit(
        None, size=size, script=HEIGHTS % "[...(window[Symbol.for('packviz')]?.players ?? [])][0]?.picture.root"
    )
    expect(seen.main.locator(".st-key-why").get_by_role("table")).to_be_visible()
    assert len(seen.page.evaluate("[...window.heights]")) == 1


def test_the_headings_of_all_pages_begin_at_one_height(visit: Open) -> None:
    tops = [box_of(visit(path=page).main.locator("h1"))["y"] for page in ("quiz", "class", "doctor", "do_i_need_it")]
    assert len(set(tops)) == 1


@pytest.mark.parametrize("page", ["cost", "quiz"])
def test_on_a_phone_buttons_and_fields_are_44_pixels_high(visit: Open, page: str) -> None:
    main = visit(path=page, size=PHONE, has_touch=True, is_mobile=True).main
    fields = main.locator(":is(button, input[type=text]):visible:not([aria-label^='Help'])")
    expect(fields.nth(4)).to_be_visible()
    assert min(box_of(each)["height"] for each in fields.all()) >= 44


def test_tokens_have_one_width_however_a_sequence_is_run() -> None:
    batch = Batch.parse("\n".join(" ".join(["word"] * count) for count in (23, 6)))
    found = final_state(trace(batch))
    assert isinstance(found, FinalState)
    tokens = [re.findall(r'<i style="--n:(\d+)"', row) for row in _table(found, 1.0, ()).split("<tr>")[2:]]
    assert tokens == [["1"] * 6] * 3  # one by one, beside 17 pads, too


def test_the_table_names_its_sequence_and_a_tensor_has_no_words() -> None:
    batch = Batch.parse("I love cats\nshe sleeps\nwe sing old songs")
    found = final_state(trace(batch))
    assert isinstance(found, FinalState)
    assert '<span title="she sleeps">“she sleeps”</span>' in _table(found, 1.0, batch.texts[found.b])
    assert "<span>Sequence</span>" in _table(found, 1.0, ())


def test_on_a_phone_the_programs_of_do_i_need_it_are_as_wide_as_the_page(visit: Open) -> None:
    main = visit(path="do_i_need_it", size=PHONE, has_touch=True, is_mobile=True).main
    expect(main.get_by_text("What works")).to_be_visible()
    expect(main.locator("td a")).to_have_count(6)  # each row links to the lesson that shows it
    beyond = "codes => codes.map(code => code.scrollWidth - code.clientWidth)"
    assert max(main.locator(".stCode:visible").evaluate_all(beyond)) <= 2


@pytest.mark.parametrize("size", [LAPTOP, PHONE], ids=["laptop", "phone"])
def test_a_field_shows_a_list_of_nine_numbers_also_beside_show_me(visit: Open, size: Size) -> None:
    seen = visit(path="borders", size=size, **({"has_touch": True, "is_mobile": True} if size is PHONE else {}))
    field = seen.player.get_by_role("textbox")
    field.fill(", ".join("012345678"))
    field.press("Enter")
    expect(seen.player.get_by_role("button", name="Show me")).to_be_visible()
    assert field.evaluate("field => field.scrollWidth - field.clientWidth") == 0


@pytest.mark.parametrize("size", [LAPTOP, PROJECTOR], ids=["laptop", "projector"])
@pytest.mark.parametrize(("path", "changed"), [("", "cell"), ("packing", "cell"), ("filling_rows", "max_length")])
def test_a_changed_setting_does_not_move_the_player(visit: Open, path: str, changed: str, size: Size) -> None:
    value = {"cell": "lstm", "max_length": "5"}[changed]
    before, after = visit(path=path, size=size), visit({changed: value}, path=path, size=size)
    expect(after.main.get_by_role("button", name=f"{changed} = {value}")).to_be_visible()
    assert box_of(after.player)["y"] == pytest.approx(box_of(before.player)["y"], abs=1)


def test_on_a_projector_all_lines_of_the_code_are_seen_with_what_torch_confirms(visit: Open) -> None:
    seen = visit(None, size=PROJECTOR, motion=False)
    code = seen.player.locator(".pv-code")
    seen.press("End")
    expect(code.locator(".pv-proof")).to_be_in_viewport(ratio=1)
    assert code.evaluate("code => [code.scrollTop, code.scrollHeight - code.clientHeight]") == [0, 0]
    assert box_of(seen.player.locator(".pv-stage"))["height"] >= 340
