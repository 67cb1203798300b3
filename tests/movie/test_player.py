"""The player in a real browser: steering, stopping anywhere, saying where it is, and never being wrong."""

import re
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
import torch
from movie_player import LISTEN, Open, Screen, plain
from movie_screen import Show, tokens
from playwright.sync_api import Browser, expect
from tabs import Scheme, Size, box_of, tab, until
from torch import nn

import packviz as pv
from packviz import Batch, Config, Movie
from packviz.errors import PackvizError
from packviz.show.theme import DARK, LIGHT, Palette


def tips(movie: Movie) -> set[str]:
    return {token["tip"] for token in tokens(movie)}


def first_step(movie: Movie, stage: str) -> int:
    return next(i for i, step in enumerate(movie.steps, 1) if step.stage == stage)


def test_it_opens_on_the_first_step(screen: Screen, movie: Movie) -> None:
    live, button = screen.page.get_by_role("status"), screen.button("Play")
    assert (screen.step, int(screen.data("steps")), int(screen.data("cells"))) == (1, len(movie.steps), len(movie.ids))
    assert screen.painted >= 1
    assert movie.title in screen.page.title()
    expect(screen.page.get_by_test_id("packviz-prediction")).to_be_hidden()  # nothing is asked
    for control in screen.root.locator("button, input, select").filter(visible=True).all():
        assert (control.get_attribute("aria-label") or control.inner_text()).strip()
    assert screen.page.evaluate("document.scrollingElement.scrollHeight") <= 720  # all of it is on the first screen
    expect(live).to_have_attribute("aria-live", "polite")
    expect(button).to_have_text("Play")  # the only button that says so
    place = box_of(button)
    button.click()
    assert screen.step == 2
    expect(button).to_be_hidden()
    assert box_of(screen.button("Pause")) == place  # it goes on by itself


def test_the_proof_stands_beside_the_last_stage_when_all_of_it_has_run(screen: Screen, movie: Movie) -> None:
    proof = screen.page.get_by_test_id("packviz-proof")
    expect(proof).to_be_hidden()
    screen.press("End")
    expect(proof).to_contain_text(movie.proof)


def test_buttons_and_the_slider_go_to_a_step(screen: Screen, movie: Movie) -> None:
    for name, step in (("Step forward", 2), ("Step forward", 3), ("Step back", 2), ("Last step", len(movie.steps))):
        screen.button(name).click()
        assert screen.step == step
    slider = screen.page.get_by_role("slider", name="Step")
    slider.fill("7")
    assert screen.step == 7
    slider.press("ArrowRight")
    assert screen.step == 8


def test_it_goes_no_further_than_its_ends(screen: Screen, movie: Movie) -> None:
    for key, step, name in (("End", len(movie.steps), "Step forward"), ("Home", 1, "Step back")):
        screen.press(key, "ArrowLeft" if step == 1 else "ArrowRight")
        assert screen.step == step
        expect(screen.button(name)).to_be_disabled()


def test_every_step_is_announced_with_its_caption(screen: Screen, movie: Movie) -> None:
    last, live = len(movie.steps), screen.page.get_by_role("status")
    there = list(range(2, last + 1))
    for key, steps in (("ArrowRight", there), ("ArrowLeft", [*there[-2::-1], 1])):
        for step in steps:
            screen.press(key)
            caption = plain(movie.steps[step - 1].caption)
            assert (screen.step, screen.data("stage")) == (step, movie.steps[step - 1].stage)
            assert screen.caption == caption
            expect(live).to_have_text(caption)
            name = screen.page.get_by_role("img").get_attribute("aria-label") or ""
            assert f"Step {step} of {last}" in name
            assert caption in name


def test_a_statement_of_two_stages_has_its_shape_only_in_the_second(screen: Screen, movie: Movie) -> None:
    packed = screen.root.locator(".pv-code > ol").first.locator("li", has_text="pack_padded_sequence(").first
    for step, told in enumerate(movie.steps, 1):
        screen.press("ArrowRight" if step > 1 else "Home")
        expect(packed.locator(".pv-shape")).to_be_visible(visible=told.stage in ("pack", "run", "unpack"))


def test_a_tip_names_the_packed_row_only_once_tokens_are_packed(screen: Screen) -> None:
    for digit, stage in enumerate(["pad", "sort", "pack", "run"], 1):
        screen.press(str(digit), ".")
        assert ("packed row" in screen.tip[0]) == (stage in ("pack", "run"))


def test_digits_and_clicks_go_to_the_stages_and_the_line_of_code_is_marked(screen: Screen, movie: Movie) -> None:
    rail, data = screen.page.get_by_role("navigation", name="Stages"), movie.to_dict()
    for digit, stage in enumerate(["pad", "sort", "pack", "run", "unpack"], 1):
        screen.press(str(digit))
        assert (screen.step, screen.data("stage")) == (first_step(movie, stage), stage)
        text, shape = data["code"][data["lines"][stage]]
        marked = screen.root.locator(".pv-code [aria-current]")
        expect(marked.locator("code")).to_have_text(text)
        expect(marked).to_contain_text(shape)
    screen.press("9")
    assert screen.data("stage") == "unpack"
    rail.get_by_role("button", name="Run").click()
    assert screen.step == first_step(movie, "run")
    expect(rail.locator("[aria-current]")).to_have_text("4 Run")


def test_the_space_bar_stops_the_play_and_so_does_hiding_the_page(screen: Screen) -> None:
    screen.press(" ", " ")
    play, pause = (screen.button(name) for name in ("Play", "Pause"))
    expect(play).to_be_visible()
    step = screen.step
    screen.page.wait_for_timeout(1200)
    assert screen.step == step == 2
    screen.press(" ")
    expect(pause).to_be_visible()
    screen.page.evaluate("Object.defineProperty(document, 'hidden', { value: true })")
    screen.page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    expect(play).to_be_visible()


@pytest.fixture
def still_clock(open_page: Open) -> Callable[[Movie, bool], Screen]:
    """Open a movie in a tab of its own, whose clock stands still."""

    def open_(movie: Movie, motion: bool) -> Screen:
        screen = open_page(movie, motion=motion, java_script_enabled=True)
        screen.page.clock.install()
        screen.page.clock.pause_at(9e9)
        return screen

    return open_


StillClock = Callable[[Movie, bool], Screen]


@pytest.mark.parametrize("motion", [False, True], ids=["reduced motion", "motion"])
def test_a_step_lasts_as_long_as_its_caption_takes_to_read(still_clock: StillClock, motion: bool) -> None:
    movie = pv.movie(pv.trace(Batch.parse("1 2\n3 4 5")), ("pad", "sort"))
    screen = still_clock(movie, motion)
    screen.press(" ")
    for i, played in enumerate(movie.steps[1:-1], 2):
        assert screen.step == i
        held = moved = 0
        painted = screen.painted
        while screen.step == i:
            if screen.painted != painted:
                moved, painted = held, screen.painted
            screen.page.clock.run_for(125)
            held += 125
        words = [word for word in plain(played.caption).split() if re.search(r"\w", word)]
        reading = min(6000, max(2200, 250 * len(words)))
        assert reading - 125 <= held <= max(reading, moved + 800) + 250
        assert held - moved >= 800
        assert bool(moved) == motion


def test_no_step_lasts_longer_than_six_seconds_however_many_columns_move(still_clock: StillClock) -> None:
    movie = pv.movie(pv.trace(Batch.parse(" ".join(map(str, range(1, 26))) + "\n1 2 3")), ("run", "unpack"))
    flight = max(range(len(movie.steps)), key=lambda i: movie.steps[i].beats) + 1
    assert movie.steps[flight - 1].beats > 9
    screen = still_clock(movie, True)
    screen.press("End", *["ArrowLeft"] * (len(movie.steps) - flight + 1), " ")
    held = 0
    while screen.step == flight:
        screen.page.clock.run_for(125)
        held += 125
    assert 4000 < held <= 6250


@pytest.mark.parametrize("motion", [False, True], ids=["reduced motion", "motion"])
def test_the_play_ends_as_soon_as_its_last_step_stands_still(still_clock: StillClock, motion: bool) -> None:
    movie = pv.movie(pv.trace(Batch.parse("1 2\n3 4 5")), ("pad", "sort"))
    screen = still_clock(movie, motion)
    screen.press("End", "ArrowLeft", " ")
    screen.page.clock.run_for(4000)
    assert screen.step == len(movie.steps)
    expect(screen.button("Play")).to_be_visible()
    screen.button("1 Pad").click()
    screen.page.clock.run_for(20_000)
    assert screen.step == 1


@pytest.mark.parametrize("way", ["key", "stage", "slider"])
def test_a_step_during_the_play_pauses_it(still_clock: StillClock, movie: Movie, way: str) -> None:
    screen = still_clock(movie, False)
    screen.press(" ")
    expect(screen.button("Pause")).to_be_visible()
    if way == "key":
        screen.press("ArrowRight")
    elif way == "stage":
        screen.button("3 Pack").click()
    else:
        screen.page.get_by_role("slider", name="Step").fill("4")
    expect(screen.button("Play")).to_be_visible()
    step = screen.step
    assert step > 2
    screen.page.clock.run_for(20_000)
    assert screen.step == step


def test_the_overview_plays_in_about_75_seconds() -> None:
    movie = pv.movie(pv.trace(Batch.parse("the cat sleeps\nbirds sing\na dog runs home")))
    assert 65 <= sum(min(6, max(2.2, len(plain(step.caption).split()) / 4)) for step in movie.steps[:-1]) <= 85


def test_a_step_looks_the_same_from_either_side(screen: Screen, movie: Movie) -> None:
    steps = len(movie.steps) - 1
    forward, before = [screen.picture()], screen.painted
    for _ in movie.steps[1:]:
        screen.press("ArrowRight")
        forward.append(screen.picture())
    screen.rest()
    assert screen.step == 1 + steps
    assert steps <= screen.painted - before <= 2 * steps
    backward = [forward[-1]]
    for _ in movie.steps[1:]:
        screen.press("ArrowLeft")
        backward.append(screen.picture())
    assert forward == backward[::-1]
    alike = [i for i, (one, other) in enumerate(pairwise(forward), 2) if one == other]
    assert [i for i in alike if any(Show(movie).steps[i - 1]["frames"])] == []


def test_motion_ends_right_after_a_press_or_a_new_size(open_page: Open, movie: Movie) -> None:
    screen, pack = open_page(movie, motion=True), first_step(movie, "pack")
    for _ in movie.steps[1:]:
        screen.press("ArrowRight")
        screen.page.wait_for_timeout(70)
    assert screen.step == len(movie.steps)
    screen.press("ArrowLeft", "ArrowLeft")
    screen.page.wait_for_timeout(50)
    screen.press("3")
    screen.page.wait_for_timeout(50)
    screen.press("ArrowRight")
    assert screen.step == pack + 1
    assert screen.picture() == open_page(movie, f"#step={pack + 1}").picture()
    before = screen.painted
    screen.press("ArrowRight")
    screen.rest()
    assert screen.painted - before > 6
    screen.press("ArrowRight")
    screen.page.wait_for_timeout(100)
    screen.page.set_viewport_size({"width": 900, "height": 700})
    assert screen.picture() == open_page(movie, f"#step={pack + 3}", size=(900, 700)).picture()


def test_an_address_opens_on_its_step_and_follows_to_another(open_page: Open, screen: Screen, movie: Movie) -> None:
    for at, step in (("9", 9), ("999", len(movie.steps)), ("-3", 1), ("nonsense", 1), ("2.6", 3)):
        screen.page.goto(f"{screen.address}#step={at}")
        screen.page.reload()
        expect(screen.root).to_have_attribute("data-step", str(step))
        assert screen.caption == plain(movie.steps[step - 1].caption)
    screen.press("4", "ArrowRight")
    assert screen.page.url == f"{screen.address}#step={screen.step}"
    assert open_page(movie, f"#step={screen.step}").picture() == screen.picture()


def test_pointing_tells_addresses_hidden_numbers_and_the_filler(open_page: Open, movie: Movie) -> None:
    screen = open_page(movie, f"#step={movie.step_at('pack')}")
    assert tips(movie) <= screen.sweep()
    assert all("(rows of earlier time steps)" in tip for tip in tips(movie))
    screen.press("End")
    told = screen.sweep()
    assert any("0 fills the row" in line for line in told)
    assert tips(movie) <= told
    screen.page.get_by_role("slider", name="Step").fill(str(movie.step_at("run")))
    run = screen.sweep()
    shown = {f"h_n, unit {name[-1]}" for name in movie.ids if name.startswith("hn:")}
    assert shown <= {line.split(":")[0] for line in run}


def test_what_is_not_a_number_is_told_as_such(open_page: Open) -> None:
    x = torch.full((2, 2, 1), float("nan"))
    movie = pv.movie(pv.trace_module(nn.GRU(1, 2, batch_first=True), x, [2, 1]), ("run",))
    told = open_page(movie, "#step=999").sweep()
    assert {"h, unit 0: nan", "h_n, unit 1: nan", "n: [nan, nan]"} <= told
    assert not any(line.endswith(": 0") for line in told)


def test_the_keyboard_walks_through_the_tokens_in_packed_order(open_page: Open, movie: Movie) -> None:
    screen = open_page(movie, f"#step={movie.step_at('pack')}", motion=True)
    in_order = [token["tip"] for token in sorted(tokens(movie), key=lambda token: token["n"])]
    calm, walked = screen.picture(), []
    for _ in in_order:
        screen.press(".")
        walked.append(screen.tip[0])
        expect(screen.page.get_by_role("status")).to_have_text(walked[-1])
    assert walked == in_order
    screen.press(",")
    assert screen.tip[0] == in_order[-2]
    assert screen.picture() != calm
    screen.press("Escape")
    assert screen.picture() == calm
    assert screen.tip == []
    screen.press(".")
    assert screen.tip
    screen.press("ArrowRight")
    assert screen.tip == []
    screen.press(".")  # while the next step still moves
    assert screen.tip


def test_the_choices_of_a_saved_picture_have_room_for_their_words(screen: Screen) -> None:
    screen.button("Save this picture").click()
    for what in ("PNG with caption", "PNG, picture only"):
        expect(screen.button(what)).to_be_in_viewport(ratio=1)
        assert screen.button(what).evaluate("node => node.scrollWidth <= node.clientWidth")
        assert box_of(screen.button(what))["width"] > 100


def test_the_picture_can_be_saved(open_page: Open, movie: Movie) -> None:
    screen = open_page(movie, "#step=6")
    before = screen.picture()
    high = []
    for what in ("PNG with caption", "PNG, picture only"):
        screen.button("Save this picture").click()
        with screen.page.expect_download() as started:
            screen.button(what).click()
        assert started.value.suggested_filename == "packviz-step-6.png"
        picture = Path(started.value.path()).read_bytes()
        assert picture.startswith(b"\x89PNG\r\n\x1a\n")
        high.append(int.from_bytes(picture[20:24]))
        expect(screen.button(what)).to_be_hidden()
    assert screen.picture() == before
    canvas = box_of(screen.root.locator("canvas"))
    assert high[1] < high[0]
    assert high[1] < 2 * canvas["height"] - 20  # the empty room around the picture is cut off


def test_a_map_shows_which_layer_and_direction_the_run_shows(open_page: Open, movie: Movie) -> None:
    expect(open_page(movie).root.get_by_role("group", name="Shown layer")).to_be_hidden()
    config = Config(num_layers=2, bidirectional=True)
    deep = pv.movie(pv.trace(Batch.parse("1 2 3\n4 5"), config), layer=0, direction=1)
    shown = open_page(deep).root.get_by_role("group", name="Shown layer")
    names = ["Layer 0 forward", "Layer 0 backward", "Layer 1 forward", "Layer 1 backward"]
    assert [button.get_attribute("aria-label") for button in shown.get_by_role("button").all()] == names
    expect(shown.get_by_role("button", pressed=True)).to_have_attribute("aria-label", "Layer 0 backward")
    expect(shown).to_have_text("Shown:layer 0→ forward← backwardlayer 1→ forward← backward", use_inner_text=False)
    expect(shown.get_by_role("button", disabled=True)).to_have_count(3)  # a file has no other run to show


def test_without_the_full_screen_api_the_player_fills_the_window(screen: Screen) -> None:
    screen.page.evaluate("delete Element.prototype.requestFullscreen")  # as on an iPhone
    button, code = screen.button("Full screen"), screen.root.locator(".pv-code")
    sign = button.inner_html()
    for way_out in ("Escape", "f", "the button"):
        button.click()
        expect(screen.root).to_have_css("position", "fixed")
        assert box_of(screen.root) == {"x": 0, "y": 0, "width": 1280, "height": 720}
        expect(button).to_have_attribute("aria-label", "Leave full screen")
        expect(button).to_have_attribute("title", "Leave full screen (F)")
        assert button.inner_html() != sign
        button.click() if way_out == "the button" else screen.press(way_out)
        expect(screen.root).not_to_have_css("position", "fixed")
        expect(button).to_have_attribute("aria-label", "Full screen")
        assert button.inner_html() == sign
    screen.press("c", "ArrowRight")
    expect(code).to_be_hidden()
    screen.button("Show the code").click()
    expect(code).to_be_visible()
    word = screen.root.locator(".pv-tocode").get_by_text("Code")
    for keys, visible in (("f", False), ("c", True), ("fc", False)):  # in full screen the picture has its room
        screen.press(*keys)
        expect(code).to_be_visible(visible=visible)
        expect(word).to_be_visible(visible=keys == "f")  # there its button says what is missing


@pytest.mark.parametrize("size", [(390, 844), (844, 390)], ids=["upright", "on its side"])
def test_the_way_out_of_full_screen_is_in_sight_on_a_phone(open_page: Open, movie: Movie, size: Size) -> None:
    screen = open_page(movie, size=size, has_touch=True, is_mobile=True)
    screen.fill_the_window("End")
    out = screen.button("Leave full screen")
    expect(out).to_be_in_viewport(ratio=1)
    out.tap()
    expect(screen.button("Leave full screen")).to_have_count(0)
    expect(screen.root).not_to_have_attribute("data-full", "")


@pytest.mark.parametrize("size", [(320, 568), (320, 640), (360, 740), (390, 844), (412, 915)])
def test_in_full_screen_a_phone_has_all_buttons_in_one_row(open_page: Open, movie: Movie, size: Size) -> None:
    screen = open_page(movie, size=size, has_touch=True, is_mobile=True)
    screen.fill_the_window()
    buttons = screen.root.locator(".pv-transport > :is(button, select):visible").all()
    boxes = [box_of(button) for button in buttons]
    assert len(boxes) > 5
    assert len({round(box["y"]) for box in boxes}) == 1
    assert max(box["x"] + box["width"] for box in boxes) <= size[0]


UNCOVERED = """root => {
    const [stage, bar] = [".pv-stage", ".pv-transport"].map((name) => root.querySelector(name).getBoundingClientRect());
    return stage.top >= 0 && stage.bottom <= bar.top + 1;
}"""  # whether all of the picture is in sight, above the controls


@pytest.mark.parametrize("name", ["Step forward", "Play"])
def test_on_a_phone_on_its_side_who_uses_the_controls_sees_the_whole_picture(
    open_page: Open, movie: Movie, name: str
) -> None:
    screen = open_page(movie, size=(844, 390), has_touch=True, is_mobile=True)
    screen.root.evaluate("root => { root.parentNode.style.paddingTop = '170px'; }")
    assert not screen.root.evaluate(UNCOVERED)
    screen.button(name).tap()
    until(screen.page, lambda: bool(screen.root.evaluate(UNCOVERED)))


@pytest.mark.parametrize("text", ["1\n2 3\n4 5\n6", "ready\non your mark"])
def test_a_refusal_is_shown_in_torchs_own_words_below_all_cells(open_page: Open, text: str) -> None:
    movie = pv.movie(pv.trace(Batch.parse(text), Config(enforce_sorted=True)))
    screen = open_page(movie)
    said = screen.root.locator(".pv-error")
    expect(said).to_be_hidden()
    screen.press("End")
    expect(said).to_be_visible()
    expect(said).to_have_text(movie.steps[-1].error)
    screen.rest()
    places = screen.places()
    assert max(place[1] + place[3] for place in places if place) < said.evaluate("said => said.offsetTop")
    screen.press("ArrowLeft")
    expect(said).to_be_hidden()


def test_hostile_words_are_text_and_nothing_else(open_page: Open) -> None:
    words = ["</script><script>alert(1)</script>", "<img/src=x/onerror=alert(1)>", "שלום", "🙂", "\x07\x00bell"]
    movie = pv.movie(pv.trace(Batch.parse("\n".join(f"{word} go" for word in words), kind="words")))
    screen = open_page(movie, f"#step={movie.step_at('pack')}")
    assert tips(movie) <= screen.sweep()
    screen.press("End")
    assert screen.page.locator("script").count() == 2
    assert screen.page.locator("img").count() == 0


def test_light_and_dark_follow_the_reader_at_once(open_page: Open, movie: Movie) -> None:
    screen = open_page(movie, "#step=6")
    schemes: tuple[tuple[Scheme, Palette], ...] = (("dark", DARK), ("light", LIGHT))
    for scheme, palette in schemes:
        screen.page.emulate_media(color_scheme=scheme)
        expect(screen.root).to_have_attribute("data-theme", scheme)
        from_the_start = open_page(movie, "#step=6", scheme=scheme)
        assert screen.picture() == from_the_start.picture()
        read = "canvas => [...canvas.getContext('2d').getImageData(1, 1, 1, 1).data]"
        corner = from_the_start.root.locator("canvas").evaluate(read)
        assert "#" + bytes(corner[:3]).hex() == palette.background


def test_nothing_flows_over_the_side(screen: Screen) -> None:
    for width, height in ((390, 844), (320, 568), (1280, 720)):
        screen.page.set_viewport_size({"width": width, "height": height})
        for key in "12345":
            screen.press(key)
            assert screen.page.evaluate("document.scrollingElement.scrollWidth") <= width
            edges = screen.edges()
            assert len(edges) > 8
            assert all(left >= 0 and right <= width + 0.5 for left, right in edges)


@pytest.mark.parametrize(
    ("size", "keys"), [((1440, 900), "f5"), ((1280, 720), "f5"), ((1280, 720), "5"), ((390, 844), "5")]
)
def test_a_run_shows_batch_sizes_in_full_screen_and_on_a_phone_too(open_page: Open, size: Size, keys: str) -> None:
    batch = Batch.parse("she sleeps\nwe often dream\nyes\nlong words everywhere here", kind="words")
    words = pv.movie(pv.trace(batch))
    screen = open_page(words, size=size)
    screen.press(*keys, "ArrowRight")
    screen.rest()
    there = screen.places()
    bars = [place for name, place in zip(words.ids, there, strict=True) if name.startswith("count:")]
    assert len(bars) == len([bar for bar in bars if bar]) == 4


def test_a_long_caption_leaves_the_controls_in_the_window(open_page: Open) -> None:
    run = pv.trace_rows(pv.Batch.parse("1 2 3\n4 5\n6 7 8 9"), pv.RowConfig(max_length=9))
    screen = open_page(pv.movie(run, ("leak",)), size=(900, 640))
    screen.press("End")
    box = box_of(screen.button("Step back"))
    assert box["y"] + box["height"] <= 640


@pytest.mark.parametrize(("size", "above"), [((390, 844), 375), ((924, 720), 346)], ids=["phone", "desk"])
def test_a_long_caption_is_whole_above_the_controls(open_page: Open, size: Size, above: int) -> None:
    movie = pv.movie(pv.trace_rows(pv.Batch.parse("1 2 3\n4 5\n6 7 8 9"), pv.RowConfig()), ("leak",))
    long = movie.steps[-1]._replace(caption="A caption may have many words. " * 8)
    screen = open_page(replace(movie, steps=(*movie.steps[:-1], long)), size=size)
    screen.page.add_style_tag(content=f"body {{ padding-top: {above}px; }}")  # as the texts of a lesson
    screen.page.evaluate("() => dispatchEvent(new Event('resize'))")
    screen.press("End")
    screen.rest()
    expect(screen.button("Step back")).to_be_in_viewport(ratio=1)
    assert box_of(screen.root.locator(".pv-stage"))["height"] >= 200
    caption = screen.page.get_by_test_id("packviz-caption")
    assert caption.evaluate("node => node.scrollHeight <= node.clientHeight")


def test_in_full_screen_the_picture_has_at_least_half_of_the_height(open_page: Open, movie: Movie) -> None:
    lesson = pv.movie(pv.trace(Batch.parse("1 2 3\n4 5\n6 7 8 9"), Config(cell="lstm")), ("run",), deep=True)
    for shown in (movie, lesson):
        screen = open_page(shown, "#step=4")
        screen.press("f")
        expect(screen.root).to_have_attribute("data-full", "")
        for width, height in ((1280, 720), (731, 411), (640, 360), (390, 844), (844, 390)):
            screen.page.set_viewport_size({"width": width, "height": height})
            for key in ("ArrowRight", "ArrowRight", "ArrowLeft", "ArrowLeft"):
                screen.press(key)
                picture = box_of(screen.root.locator("canvas"))
                assert picture["height"] >= height / 2
                assert picture["y"] + picture["height"] <= height
                expect(screen.button("Step forward")).to_be_in_viewport(ratio=1)


def test_a_step_that_cannot_be_drawn_says_so_and_the_others_go_on(open_page: Open, movie: Movie) -> None:
    screen = open_page(movie, motion=True)
    said = screen.root.get_by_role("alert")
    expect(said).to_be_hidden()
    screen.page.evaluate(
        "() => { const brush = CanvasRenderingContext2D.prototype; window.kept = brush.fillText;"
        "brush.fillText = () => { throw new Error('no ink'); }; }"
    )
    for step in (2, 3):
        screen.press("ArrowRight")
        expect(said).to_contain_text("This step could not be drawn: no ink.")
        assert (screen.step, screen.caption) == (step, plain(movie.steps[step - 1].caption))
    assert screen.tab.errors
    screen.tab.errors.clear()
    screen.page.evaluate("() => { CanvasRenderingContext2D.prototype.fillText = window.kept; }")
    screen.press("ArrowRight")
    expect(said).to_be_hidden()
    assert screen.picture() == open_page(movie, "#step=4", motion=True).picture()


def test_a_screen_with_finer_pixels_gets_a_finer_picture(open_page: Open, movie: Movie) -> None:
    screen = open_page(movie, device_scale_factor=1)
    canvas = screen.root.locator("canvas")
    width = int(canvas.get_attribute("width") or "")
    metrics = {"width": 0, "height": 0, "deviceScaleFactor": 2, "mobile": False}  # 0: as it is
    screen.page.context.new_cdp_session(screen.page).send("Emulation.setDeviceMetricsOverride", metrics)
    expect(canvas).to_have_attribute("width", str(2 * width))


def test_on_a_phone_buttons_keep_their_places(open_page: Open, movie: Movie) -> None:
    screen = open_page(movie, size=(360, 844), has_touch=True, is_mobile=True)
    buttons = [screen.button(name) for name in ("Step forward", "Full screen")]
    places = set()
    for _ in movie.steps:
        places.add(tuple(box["y"] for button in buttons if (box := button.bounding_box())))
        screen.press("ArrowRight")
    ((forward, full),) = places
    assert forward == full
    screen.page.get_by_role("slider", name="Step").fill("6")
    term, meaning = screen.root.locator(".pv-caption abbr").first, screen.root.get_by_role("tooltip")
    expect(meaning).to_be_hidden()
    term.tap()
    expect(meaning).to_be_visible()
    expect(meaning).to_contain_text("how many sequences have a token")
    box = box_of(meaning)
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 360
    screen.root.locator("canvas").tap()
    expect(meaning).to_be_hidden()


TAPPED = """node => {
    const { left, top, width, height } = node.getBoundingClientRect(), x = left + width / 2, y = top + height / 2;
    const hit = (way) => {
        let n = 0;
        while (n < 60 && node.contains(document.elementFromPoint(x, y + way * n))) n += 1;
        return n;
    };
    return hit(1) + hit(-1) - 1;
}"""  # pixels from top to bottom in which a finger hits it


@pytest.mark.parametrize("full", [False, True])
def test_what_a_finger_taps_is_44_pixels_high(open_page: Open, movie: Movie, full: bool) -> None:
    screen = open_page(movie, size=(390, 844), has_touch=True, is_mobile=True)
    if full:
        screen.fill_the_window()
    stages = screen.root.get_by_role("navigation").get_by_role("button").all()
    found = [node.evaluate(TAPPED) for node in stages]
    found.append(screen.button("Play").evaluate(TAPPED))
    screen.press("ArrowRight")
    found += [node.evaluate(TAPPED) for node in (screen.root.get_by_role("slider"), screen.button("Step forward"))]
    assert len(found) > 6
    assert min(found) >= 40  # some of them share a few pixels with a neighbour


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("width", [390, 320])
def test_on_a_phone_the_six_stages_are_on_one_line(open_page: Open, width: int, full: bool) -> None:
    screen = open_page(
        pv.movie(pv.trace(Batch.example("sentences"))), size=(width, 700), has_touch=True, is_mobile=True
    )
    if full:
        screen.fill_the_window()
    screen.press("End")
    tops = """rail => [...rail.querySelectorAll("button")].map(each => each.getBoundingClientRect().top)"""
    found = screen.root.get_by_role("navigation").evaluate(tops)
    assert (len(found), len(set(found))) == (6, 1)


def test_what_a_finger_taps_is_named_until_it_taps_elsewhere(open_page: Open, movie: Movie) -> None:
    screen = open_page(movie, size=(390, 844), has_touch=True, is_mobile=True)
    spot = screen.page.evaluate("""() => {
        const [{ picture }] = window[Symbol.for("packviz")].players;
        const { x, y, w, h } = picture.shown.find(({ state, rect }) => state.role === "token" && rect).rect;
        return { x: x + w / 2, y: y + h / 2 };
    }""")
    tip = screen.root.locator(".pv-tip")
    screen.root.locator("canvas").tap(position=spot)
    expect(tip).to_contain_text("time step 0")
    screen.page.wait_for_timeout(300)
    expect(tip).to_be_visible()
    screen.root.locator(".pv-caption").tap()
    expect(tip).to_be_hidden()


def test_a_page_opens_on_the_step_that_it_was_saved_with(browser: Browser, tmp_path: Path) -> None:
    movie = pv.movie(pv.trace(Batch.parse("1 2 3\n4 5\n6")))
    with tab(browser, (900, 800)) as opened:
        opened.page.goto(movie.save(tmp_path / "later.html", step=3).as_uri())
        expect(opened.page.get_by_test_id("packviz-player")).to_have_attribute("data-step", "3")
    with pytest.raises(PackvizError, match=r"^step: "):
        movie.save(tmp_path / "later.html", step=9999)


def test_in_motion_no_number_is_written_that_torch_did_not_compute(browser: Browser, tmp_path: Path) -> None:
    movie = pv.movie(pv.trace(Batch.parse("I love cats\nshe sleeps\nwe sing old songs")), ("run",))
    numbers = (
        """() => [...window.written.values()].map(({ text }) => text).filter((text) => /^−?\\d*\\.\\d+$/.test(text))"""
    )
    with tab(browser, (1280, 720), java_script_enabled=True) as taken:
        taken.page.add_init_script(LISTEN)
        screen = Screen(taken, motion=True)
        screen.open(movie.save(tmp_path / "movie.html").as_uri() + "#step=2")
        screen.rest()
        screen.press("ArrowRight")
        screen.rest()
        moving = {*screen.page.evaluate(numbers)}
    marks = [mark for step in (2, 3) for mark in movie.frame(step)["marks"].values()]
    true = {v for mark in marks for v in (mark.get("v"), *(mark.get("vec") or ())) if v is not None}
    true |= {-end for end in movie.scales.values()}  # in the legend
    assert len(moving) > 20
    assert moving <= {f"{v:.2f}".replace("-0.00", "0.00").replace("-", "−") for v in true}
