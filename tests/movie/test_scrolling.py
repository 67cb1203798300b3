"""A picture wider than a phone scrolls: what stays at its edge covers nothing else, and a saved picture is whole."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from movie_player import LISTEN, Screen
from playwright.sync_api import Browser
from tabs import tab

import packviz as pv
from packviz import Batch, Movie, RowConfig
from packviz.show.movie import beside
from packviz.show.movie.marks import Stage

PHONE = (390, 844)
WORDS = "I love cats\nshe sleeps\nwe sing old songs"
LONG = (
    "Everybody adores marsupials\nshe understands\nwe remember beautiful songs"  # so many long words that none is cut
)
NAMES = ("token", "in the row", "alone", "difference")  # of the lines of a row
PLACE = """() => {
    const [{ picture }] = window[Symbol.for("packviz")].players, { place } = picture.pan;
    window.written.clear();
    picture.paint();
    const written = [...window.written.values()].map(({ text, left, right, top, bottom }) =>
        [text, ...[left, right, top, bottom].map((each) => each / picture.ratio)]);
    return [written, place.scrollLeft, place.scrollLeft + place.clientWidth];
}"""  # what is written, and what part of the picture is in its place
GO = """left => {
    const [{ picture: { pan } }] = window[Symbol.for("packviz")].players;
    pan.go(left, false);
    return pan.place.scrollLeft;
}"""

Text = tuple[str, float, float, float, float]  # the text, left, right, top, bottom
MOVIES: dict[str, Callable[[], Movie]] = {
    "leak": lambda: pv.movie(pv.trace_rows(Batch.parse(LONG), RowConfig()), ("leak",)),
    "beside": lambda: beside(pv.trace(Batch.parse(LONG))),
}
HEIGHTS = {"leak": 290, "beside": 340}  # of pictures that are wider than a phone


@pytest.fixture
def show(browser: Browser, tmp_path: Path) -> Iterator[Callable[[str], Screen]]:
    """Open a movie on a phone, where everything that is written on the canvas is recorded."""
    with tab(browser, PHONE, motion=False, java_script_enabled=True, has_touch=True, is_mobile=True) as taken:
        taken.page.add_init_script(LISTEN)
        screen = Screen(taken, motion=False)

        def open_(name: str) -> Screen:
            screen.open(MOVIES[name]().save(tmp_path / "movie.html").as_uri())
            taken.page.add_style_tag(content=f".pv {{ --packviz-height: {HEIGHTS[name]}px; }}")
            screen.rest()
            return screen

        yield open_


def written(screen: Screen) -> tuple[list[Text], float]:
    """Return what can be seen of what is written, and how far the picture is scrolled."""
    screen.rest()
    texts, left, right = screen.page.evaluate(PLACE)
    return [tuple(text) for text in texts if text[2] > left and text[1] < right], left


def is_number(text: str) -> bool:
    return text.strip("−.0123456789") == ""


@pytest.mark.parametrize("name", MOVIES)
def test_what_stays_at_the_edge_covers_no_number(show: Callable[[str], Screen], name: str) -> None:
    screen, spoke = show(name), 0
    for _ in range(int(screen.data("steps"))):
        texts, left = written(screen)
        heads = [text for text in texts if text[0] in (*"ABC", *NAMES) and text[1] < left + 9]
        for head in heads if left else []:
            spoke += 1
            level = [text for text in texts if is_number(text[0]) and text[3] < head[4] and text[4] > head[3]]
            assert [text[0] for text in level if text[1] < head[2]] == [], (screen.step, head)
        screen.press("ArrowRight")
    assert spoke > 3


def test_names_of_lines_stay_beside_their_own_row_only(show: Callable[[str], Screen]) -> None:
    screen = show("leak")
    assert set(NAMES) <= {text[0] for text in written(screen)[0]}
    screen.press("ArrowRight")
    texts, left = written(screen)
    assert left > 0
    assert set(NAMES) <= {text[0] for text in texts}
    for _ in range(4):  # to the influence of all documents
        screen.press("ArrowRight")
    texts, left = written(screen)
    assert not set(NAMES) & {text[0] for text in texts}
    numbers = [text for text in texts if is_number(text[0]) and text[0][0] != "−"]  # not of the legend
    assert len([text for text in numbers if left < text[1] and text[2] < left + PHONE[0]]) >= 9 * 9
    letters = [text for text in texts if text[0] in "ABC" and text[1] > left]
    assert sorted(text[0] for text in letters) == [*"AABBCC"]  # of the columns, and of the rows at the edge


@pytest.mark.parametrize("name", MOVIES)
def test_a_saved_picture_is_the_same_wherever_it_is_scrolled(show: Callable[[str], Screen], name: str) -> None:
    screen = show(name)
    screen.press("End")
    screen.rest()
    saved = []
    for left in (0, 5000):
        assert bool(screen.page.evaluate(GO, left)) == bool(left)
        screen.button("Save this picture").click()
        with screen.page.expect_download() as started:
            screen.button("PNG, picture only").click()
        saved.append(Path(started.value.path()).read_bytes())
    assert saved[0] == saved[1]


def test_the_legend_stays_in_sight_with_its_colors(show: Callable[[str], Screen]) -> None:
    screen = show("beside")
    screen.press("ArrowRight")  # the first step has no x
    screen.rest()
    boxes = """left => {
        const [{ picture }] = window[Symbol.for("packviz")].players, found = [];
        const stroke = picture.ctx.strokeRect;
        picture.pan.go(left, false);
        picture.ctx.strokeRect = function (x, y, w, h) {
            found.push([x + this.getTransform().e / picture.ratio - picture.pan.place.scrollLeft, w]);
            stroke.call(this, x, y, w, h);
        };
        picture.paint();
        picture.ctx.strokeRect = stroke;
        return found;
    }"""
    for left in (0, 5000):
        found = screen.page.evaluate(boxes, left)
        assert len(found) == 2  # of x, and of h and the gates
        assert all(x > 0 and w > 20 and x + w < PHONE[0] - 64 for x, w in found)  # beside the buttons, which scroll


SEEN = """() => {
    const [player] = window[Symbol.for("packviz")].players, { place } = player.picture.pan, left = place.scrollLeft;
    const inside = ({ x, w }) => x >= left - 5 && x + w <= left + place.clientWidth + 5;
    const now = player.picture.looksAt(player.end).filter(({ alpha, state }) => alpha && state.role === "focus");
    const beyond = player.picture.looksAt(player.end).filter(({ alpha, rect, state }) =>
        alpha && state.role === "axis" && state.p === "x" && rect.x + rect.w > left + place.clientWidth);
    return [now.map(({ rect }) => inside(rect)), beyond.map(({ state }) => state.text.slice(2))];
}"""  # whether the current time step is in sight, and which ones follow beyond the right edge


@pytest.fixture
def long_row(browser: Browser, tmp_path: Path) -> Iterator[Screen]:
    """A picture on a desktop that is wider than its place: the words of a long sequence need that."""
    words = "\n".join([" ".join(["sun", "dog", "sky"][t % 3] for t in range(34)), "she sleeps"])
    with tab(browser, (1280, 720), motion=False) as taken:
        screen = Screen(taken, motion=False)
        screen.open(pv.movie(pv.trace(Batch.parse(words))).save(tmp_path / "movie.html").as_uri())
        screen.rest()
        yield screen


def test_a_button_names_the_time_steps_that_are_out_of_sight(long_row: Screen) -> None:
    _, beyond = long_row.page.evaluate(SEEN)
    assert beyond[-1] == "33"
    right = long_row.button("Scroll the picture to the right")
    assert right.inner_text() == f"t = {beyond[0]} … 33 ›"
    right.click()
    long_row.page.wait_for_function("() => document.querySelector('.pv-scroll-right').hidden")
    assert long_row.button("Scroll the picture to the left").inner_text().startswith("‹ t = 0 … ")


def test_the_current_time_step_is_in_sight_also_after_a_jump(long_row: Screen) -> None:
    jump = "step => [...window[Symbol.for('packviz')].players][0].go(step)"
    spoke = 0
    for step in (30, 12, 35, 8, 36, 20):
        long_row.page.evaluate(jump, step)
        long_row.rest()
        now, _ = long_row.page.evaluate(SEEN)
        spoke += len(now)
        assert all(now), step
    assert spoke == 6


@pytest.mark.parametrize("stage", ["pad", "pack"])
def test_a_sentence_of_forty_words_scrolls_and_has_all_of_them(browser: Browser, tmp_path: Path, stage: Stage) -> None:
    words = [f"{word}{'ing' * (t % 3)}" for t, word in enumerate(["look", "truth", "walk", "one"] * 10)]
    movie = pv.movie(pv.trace(Batch.parse(f"{' '.join(words)}\nshe sleeps")), (stage,))
    with tab(browser, (1280, 720), motion=False, java_script_enabled=True) as taken:
        taken.page.add_init_script(LISTEN)
        screen = Screen(taken, motion=False)
        screen.open(movie.save(tmp_path / "movie.html").as_uri())
        taken.page.add_style_tag(content=".pv { --packviz-height: 326px; }")  # of the overview
        screen.press("ArrowRight")
        screen.rest()
        texts, left, right = taken.page.evaluate(PLACE)
        assert right - left < max(end for _, _, end, *_ in texts)
        assert {text for text, *_ in texts} >= {*words}
