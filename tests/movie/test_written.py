"""What is written in the picture: whole, inside it, not on top of other words, and to be read from the last row."""

import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from movie_player import LISTEN, Screen
from movie_screen import Show, typed
from playwright.sync_api import Browser
from tabs import Size, enter, tab

import packviz as pv
from packviz import Batch, Config, Movie, RowConfig
from packviz.predictions import asking
from packviz.show.movie import beside

CLOCK = """
    let now = 0, waiting = [];
    performance.now = () => now;
    window.requestAnimationFrame = frame => waiting.push(frame);
    window.cancelAnimationFrame = () => { waiting = []; };
    window.goTo = time => { now = time; const due = waiting; waiting = []; due.forEach(frame => frame(now)); };
"""
DESK, HAND = (1280, 720), (390, 844)
Text = dict[str, Any]
Read = Callable[[Movie, int, Size], tuple[list[Text], float]]


@pytest.fixture
def screen(browser: Browser) -> Iterator[Screen]:
    with tab(browser, DESK, motion=False, java_script_enabled=True) as taken:  # a tab of its own, that is listened to
        taken.page.add_init_script(LISTEN)
        yield Screen(taken, motion=False)


@pytest.fixture
def read(screen: Screen, tmp_path: Path) -> Read:
    """Return what is written at a step of a movie, with its edges in pixels, and the width of the picture."""

    def read_(movie: Movie, step: int, size: Size) -> tuple[list[Text], float]:
        screen.page.set_viewport_size({"width": size[0], "height": size[1]})
        path = tmp_path / f"{id(movie)}.html"
        if not path.exists():
            screen.open(movie.save(path).as_uri())
        slider = screen.root.get_by_role("slider")
        slider.fill(str(step - 1))
        screen.page.evaluate("() => window.written.clear()")
        slider.fill(str(step))
        all_of_it = "() => [[...window.written.values()], document.querySelector('canvas').width]"
        written, wide = screen.page.evaluate(all_of_it)
        return written, wide

    return read_


WORDS = ("alpha", "be", "gamma", "delta", "eps")
BATCHES: dict[str, tuple[str, Config]] = {
    "three": (typed([3, 2, 4]), Config()),
    "words": ("\n".join(" ".join(WORDS[k % 5] for k in range(5 * n % 7 + 1)) for n in range(12)), Config()),
    "twenty": (typed(7 * n % 20 + 1 for n in range(20)), Config()),
    "sixty": (typed(37 * n % 60 + 1 for n in range(60)), Config()),
    "sixty-time-first": (typed(7 * n % 20 + 1 for n in range(60)), Config(batch_first=False)),
}


@cache
def movie_of(name: str) -> Movie:
    text, config = BATCHES[name]
    return pv.movie(pv.trace(Batch.parse(text), config))


SMALL = (800, 480)
IN_ROOMS = [("three", HAND), ("words", DESK), ("twenty", SMALL), ("sixty", DESK), ("sixty", HAND)]


@pytest.mark.parametrize(("name", "size"), [*IN_ROOMS, ("sixty-time-first", SMALL)])
def test_nothing_is_cut_by_the_edge_and_headings_lie_on_no_other_words(read: Read, name: str, size: Size) -> None:
    movie = movie_of(name)
    for step in (movie.step_at("pack"), movie.step_at("run"), movie.step_at("unpack")):
        written, wide = read(movie, step, size)
        assert [text["text"] for text in written if text["left"] < 0 or text["right"] > wide + 0.5] == [], step
        headings = [text for text in written if text["weight"] == 650 or text["text"] == "batch_sizes"]
        assert len(headings) > 1
        for heading in headings if name != "sixty-time-first" else []:  # there `batch_sizes` touches the last count
            assert [text["text"] for text in written if text is not heading and on(heading, text)] == [], heading


def on(one: Text, other: Text) -> bool:
    across = min(one["right"], other["right"]) - max(one["left"], other["left"])
    return bool(across > 1 and min(one["bottom"], other["bottom"]) - max(one["top"], other["top"]) > 1)


@pytest.mark.parametrize("height", [470, 560, 720])
def test_the_counts_of_thirty_sequences_do_not_touch_their_heading(read: Read, height: int) -> None:
    movie = pv.movie(pv.trace(Batch.parse("\n".join(" ".join(WORDS[:1] * (7 * n % 9 + 1)) for n in range(30)))))
    written, _ = read(movie, movie.step_at("pack"), (DESK[0], height))
    [heading] = [text for text in written if text["text"] == "batch_sizes"]
    [count] = [text for text in written if text["text"] == "30"]
    assert heading["top"] - count["bottom"] > 2


@pytest.mark.parametrize(
    "text", ["I love cats\nshe sleeps\nwe sing old songs", "the cat sat on the mat\na dog\nbirds"], ids=["four", "six"]
)
def test_a_phone_shows_the_ids_below_the_words(read: Read, text: str) -> None:
    trace = pv.trace(Batch.parse(text))
    written, _ = read(pv.movie(trace), 2, (358, HAND[1]))  # as wide as the picture of the overview on a phone
    numbers = sorted(int(text["text"]) for text in written if re.fullmatch("[1-9]", text["text"]))  # no padding
    assert trace.batch
    assert numbers == sorted(int(token) for row in trace.batch.sequences for token in row)


def test_on_a_phone_a_heading_keeps_off_the_edges_and_a_row_that_goes_on_has_its_name(read: Read) -> None:
    run = pv.trace_rows(Batch.parse("I love cats\nshe sleeps\nwe sing old songs"), RowConfig(max_length=6))
    written, wide = read(pv.movie(run, ("losses",)), 5, (358, HAND[1]))
    [heading] = [text for text in written if text["weight"] == 650]
    assert heading["left"] > 4
    assert heading["right"] < wide - 4
    assert [text["text"] for text in written if "row " in text["text"]] == ["row 0", "row 1", "row 0 …"]


def test_the_legend_has_the_scales_of_the_numbers_in_the_picture_and_no_other(read: Read) -> None:
    movie = movie_of("words")
    show, found = Show(movie), set[tuple[str, ...]]()
    for stage in ("pad", "pack", "run", "unpack"):
        seen = [cell for _, cells in show.of(stage) for cell in show.seen(stage, cells).values()]
        scales = {cell["scale"] for cell in seen if cell["role"] == "value" or "vec" in cell}
        ends = {f"+{end:.3g}" for scale, end in movie.scales.items() if scale in scales}
        written, _ = read(movie, movie.step_at(stage), DESK)
        still = re.findall(">([^<]+)</text>", movie.to_svg(movie.step_at(stage)))
        for texts in ([text["text"] for text in written], still):
            assert {text for text in texts if text.startswith("+")} == ends, stage
        found.add(tuple(sorted(scales)))
    assert {(), ("input",), ("state",)} <= found


CAPTION = "node => parseFloat(getComputedStyle(node).fontSize)"
ADDRESS = 400  # the weight of names of rows and columns
LEGIBLE = 0.03  # of the window's height
AROUND = """root => {
    const texts = document.createTreeWalker(root, NodeFilter.SHOW_TEXT), found = [];
    const told = node => [node.className, node.textContent.slice(0, 40), parseFloat(getComputedStyle(node).fontSize)];
    for (let text; (text = texts.nextNode()); ) {
        const node = text.parentElement;
        if (text.data.trim() && node.checkVisibility() && !node.closest(".pv-live, option")) found.push(told(node));
    }
    const fields = [...root.querySelectorAll("select, input[type=text]")].filter(node => node.checkVisibility());
    return [...found, ...fields.map(told)];
}"""


TYPED = {
    "ragged": "1 2 3 4 5 6\n7 8\n9 1 2 3\n4 5 6",
    "full": "1 2 3 4 5 6\n7 8 9 1 2 3\n9 1 2 3 4 5\n4 5 6 7 8 9",
    "words": "the old man reads a book\nshe sleeps when the rain falls\nwe sing old songs all night\nI love cats",
}


def legible(name: str) -> Movie:
    """Return a movie by what was typed, its cell, the page that it stands on and how high the stack is."""
    typed, cell, page, *stack = name.split("-")
    config = Config(cell=cell, num_layers=1 + bool(stack), bidirectional=bool(stack))  # type: ignore[arg-type]
    trace = pv.trace(Batch.parse(TYPED[typed]), config)
    if page == "beside":
        return beside(trace)
    return pv.movie(trace, ("run",), deep=True) if page == "lesson" else pv.movie(trace)


def is_number(text: Text) -> bool:
    return text["weight"] != ADDRESS and re.fullmatch(r"[−-]?\d*\.?\d+", text["text"]) is not None


def in_full_screen(screen: Screen, movie: Movie, path: Path, size: Size, *keys: str) -> None:
    """Open a movie in full screen, and press some keys."""
    screen.page.set_viewport_size({"width": size[0], "height": size[1]})
    screen.open(movie.save(path / "movie.html").as_uri())
    screen.fill_the_window(*keys)
    screen.rest()


def written_after(screen: Screen, *keys: str) -> list[Text]:
    """Press keys, and return what is written in the picture from then on."""
    screen.page.evaluate("() => window.written.clear()")
    screen.press(*keys)
    written: list[Text] = screen.page.evaluate("() => [...window.written.values()]")
    return written


def written_at(screen: Screen, movie: Movie) -> Iterator[tuple[int, list[Text]]]:
    """Step through a movie; yield the number of each step and what is written in its picture."""
    for step in range(2, len(movie.steps) + 1):
        written = written_after(screen, "ArrowRight")
        assert screen.step == step
        yield step, written


@pytest.mark.parametrize(
    ("name", "size", "keys"),
    [
        ("ragged-gru-film", (3840, 2160), ""),
        ("full-lstm-film", (1920, 1080), ""),
        ("full-rnn-film-stack", DESK, ""),
        ("words-gru-film", DESK, ""),
        ("full-lstm-lesson-stack", DESK, ""),
        ("words-lstm-lesson-stack", DESK, ""),
        ("words-gru-beside", (1440, 900), ""),
        *((name, DESK, "c") for name in ("full-gru-film", "full-lstm-lesson", "words-lstm-lesson-stack")),
    ],
)
def test_text_in_full_screen_is_large_enough_for_a_projector(
    screen: Screen, tmp_path: Path, name: str, size: Size, keys: str
) -> None:
    """Beside the code, 16 numbers of gates, each 43 pixels wide, leave 77 of 900 for `sleeps`, which needs 80."""
    movie, numbers = legible(name), 0
    in_full_screen(screen, movie, tmp_path, size, *keys)
    for step, written in written_at(screen, movie):
        assert screen.page.get_by_test_id("packviz-caption").evaluate(CAPTION) >= 0.035 * size[1]
        small = {each["text"]: each["px"] for each in written if each["px"] < LEGIBLE * size[1] - 0.01}
        assert small.keys() <= ({"sleeps"} if keys else set()), step
        assert min(small.values(), default=size[1]) > 0.029 * size[1], step
        numbers += sum(map(is_number, written))
    assert numbers > 100


def test_words_stand_whole_in_their_cells(screen: Screen, tmp_path: Path) -> None:
    movie, rows = legible("words-gru-lesson"), TYPED["words"].splitlines()
    in_full_screen(screen, asking(movie, "run"), tmp_path, DESK)
    assert screen.step == 1
    seen, words = set[str](), {word for row in rows for word in row.split()}
    for step, written in written_at(screen, movie):
        assert [each for each in written if "…" in each["text"]] == [], step
        seen |= words & {each["text"] for each in written}
    assert seen == words
    screen.press("Home")
    first = written_after(screen, "ArrowRight", "ArrowLeft")
    assert [each for each in first if each["px"] < LEGIBLE * DESK[1] - 0.01] == []


def test_all_words_around_the_picture_have_a_33rd_of_the_height(screen: Screen, tmp_path: Path) -> None:
    in_full_screen(screen, asking(legible("ragged-gru-lesson"), "run"), tmp_path, DESK, "c")
    box, seen = screen.page.get_by_test_id("packviz-prediction").get_by_role("textbox"), set[str]()
    for answer in ("B", "X", "C"):  # a mistake, what cannot be read, a mistake again: the movie goes to its step
        enter(box, answer)
        around = screen.root.evaluate(AROUND)
        assert [each for each in around if each[2] < LEGIBLE * DESK[1]] == []
        seen |= {name for name, _, _ in around}
    assert screen.step > 1
    assert {"pv-verdict", "pv-prompt", "pv-proof", "pv-shape"} <= seen


def test_one_sequence_is_no_plural() -> None:
    movie = pv.movie(pv.trace(Batch.parse("1 2 3")))
    show = Show(movie)
    told = [cell["text"] for cells in (show.first, *show.after) for cell in cells.values()]
    told += [step["caption"] for step in show.steps] + [movie.title, *movie.notes]
    assert "1 sequence" in told
    assert not [text for text in told if re.search(r"\b1 (sequences|tokens|rows|steps|cells)\b", text)]


def test_a_line_never_ends_before_a_percent_sign(read: Read, screen: Screen) -> None:
    assert "%" in movie_of("three").steps[1].caption
    read(movie_of("three"), 2, DESK)
    assert "25%" in screen.caption


def test_rows_keep_their_letters_and_numbers_while_they_exchange_places(browser: Browser, tmp_path: Path) -> None:
    lesson = pv.movie(pv.trace(Batch.parse("1\n2 3 4\n5 6\n7 8 9 10 11")), ("sort",), deep=True)
    then = lesson.step_at("sort", name="sorted")
    told = {"A", "B", "C", "D", "0", *map(str, range(1, 12))}
    with tab(browser, HAND, java_script_enabled=True) as taken:
        page = taken.page
        for script in (LISTEN, CLOCK):
            page.add_init_script(script)
        Screen(taken, motion=True).open(lesson.save(tmp_path / "sort.html").as_uri() + f"#step={then - 1}")
        page.keyboard.press("ArrowRight")
        page.evaluate("() => goTo(10)")
        for time in (250, 400, 650, 900, 1100):
            page.evaluate("time => { window.written.clear(); goTo(time); }", time)
            assert told <= set(page.evaluate("() => [...window.written.values()].map(each => each.text)")), time
