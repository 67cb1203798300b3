"""Every stage at a desk and in a hand: no word is cut, every number and every letter is there, and large enough."""

import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from movie_player import LISTEN, Screen
from playwright.sync_api import Browser, expect
from tabs import Size, tab

import packviz as pv
from packviz import Batch, Config, Movie, RowConfig
from packviz.show.movie import beside

DESK, HAND = (1280, 720), (390, 844)
WORDS = "I love cats\nshe sleeps\nwe sing old songs"
LARGE = "\n".join("1 2 3 4 5 6 7 8"[: 2 * n] for n in (8, 5, 7, 2, 6, 3))
FAULTS = """() => {
    const [{ picture }] = window[Symbol.for("packviz")].players, written = [...window.written.values()];
    const { ratio, shown } = picture;
    const inside = ({ x, y, w, h }) => ({ left, right, top, bottom }) => {
        const [across, down] = [(left + right) / 2 / ratio, (top + bottom) / 2 / ratio];
        return across > x - 1 && across < x + w + 1 && down > y - 1 && down < y + h + 1;
    };
    const roles = ["value", "label", "token"];
    const cells = shown.filter(({ alpha, rect, state }) => alpha && rect && roles.includes(state.role));
    const missing = cells.filter(({ rect }) => !written.some(inside(rect)));
    const cut = (text) => text.endsWith("…") && !/^(row )?\\d+ …$/.test(text); // but the name of a row's next line
    const bad = written.filter(({ text, px }) => cut(text) || px < 11);
    window.written.clear();
    return [...bad.map(({ text }) => text), ...missing.map(({ state }) => `no text in a ${state.role} of ${state.p}`)];
}"""  # texts that are cut or small, and visible cells without a text


PAINT = 'window[Symbol.for("packviz")].players.forEach(({ picture }) => picture.paint());'


def packing(text: str, *stages: str, **settings: object) -> Movie:
    return pv.movie(pv.trace(Batch.parse(text), Config(**settings)), stages or None)  # type: ignore[arg-type]


def rows(*stages: str, **settings: object) -> Movie:
    return pv.movie(pv.trace_rows(Batch.parse(WORDS), RowConfig(**settings)), stages or None)  # type: ignore[arg-type]


MOVIES: dict[str, Callable[[], Movie]] = {
    "words": lambda: packing(WORDS),
    "run in numbers": lambda: pv.movie(pv.trace(Batch.parse(WORDS)), ("run",), deep=True),
    "large": lambda: packing(LARGE),
    "large lstm": lambda: packing(LARGE, "run", cell="lstm"),
    "both directions": lambda: packing(LARGE, "run", "unpack", bidirectional=True),
    "backward": lambda: packing(LARGE, "backward"),
    "beside": lambda: beside(pv.trace(Batch.parse(WORDS))),
    "rows": lambda: rows("two", "fill", "borders", max_length=10),
    "attention": lambda: rows("attention"),
    "leak": lambda: rows("leak", isolate=False),
    "gru over a row": lambda: rows("run", layer="gru", isolate=False),
    "losses": lambda: rows("losses", max_length=6),
}


def lstm() -> Movie:
    return pv.movie(pv.trace(Batch.parse(WORDS), Config(cell="lstm")), ("run",), deep=True)


@pytest.fixture
def listened(browser: Browser) -> Iterator[Screen]:
    """Open a tab of its own, in which everything that is written on the canvas is recorded."""
    with tab(browser, DESK, motion=False, java_script_enabled=True) as taken:
        taken.page.add_init_script(LISTEN)
        yield Screen(taken, motion=False)


@pytest.mark.parametrize(
    ("size", "keys"),
    [(DESK, ""), (DESK, "f"), (HAND, ""), (HAND, "f")],
    ids=["desk", "full screen", "hand", "hand in full screen"],
)
@pytest.mark.parametrize("name", MOVIES)
def test_no_word_number_or_letter_is_cut_or_missing(
    listened: Screen, tmp_path: Path, name: str, size: Size, keys: str
) -> None:
    movie = MOVIES[name]()
    page = listened.page
    page.set_viewport_size({"width": size[0], "height": size[1]})
    listened.open(movie.save(tmp_path / "movie.html").as_uri())
    if size == HAND and not keys:  # as high as the picture of a lesson is there
        page.add_style_tag(content=".pv { --packviz-height: 244px; }")
    if keys:
        listened.fill_the_window()
    listened.rest()
    page.evaluate("() => window.written.clear()")
    for step in range(2, len(movie.steps) + 1):
        listened.press("ArrowRight")
        assert page.evaluate(FAULTS) == [], step


@pytest.mark.parametrize(("size", "stage"), [(DESK, "run"), (HAND, "pack")])
def test_full_screen_has_every_word_of_the_page(listened: Screen, tmp_path: Path, size: Size, stage: str) -> None:
    shown, page = list[list[str]](), listened.page
    page.set_viewport_size({"width": size[0], "height": size[1]})
    listened.open(packing(WORDS, stage).save(tmp_path / "movie.html").as_uri())
    for in_full in (False, True):
        if in_full:
            listened.fill_the_window()
        listened.press("Home", "ArrowRight", "ArrowRight")
        listened.rest()
        page.evaluate(f"() => {{ window.written.clear(); {PAINT} }}")
        written = page.evaluate("() => [...window.written.values()].map(({ text }) => text)")
        shown.append(sorted(text for text in written if text in WORDS.split()))
    assert shown[0] == shown[1]
    assert len(shown[0]) > len(WORDS.split())  # in the grid and among the packed rows


PACKED = """() => {
    const [{ picture }] = window[Symbol.for("packviz")].players, { ratio, shown } = picture;
    const cells = shown.filter(({ alpha, rect, state }) => alpha && rect && state.role === "output");
    const above = cells.filter(({ state }) => state.p === "out");
    const letters = [...window.written.values()].filter(({ text, px }) => /^[A-Z]$/.test(text) && px >= 12);
    const inside = ({ x, y, w, h }) => ({ left, right, top, bottom }) => left > x * ratio && right < (x + w) * ratio
        && (top + bottom) / 2 > y * ratio && (top + bottom) / 2 < (y + h) * ratio;
    return above.map(({ rect }) => letters.filter(inside(rect)).map(({ text }) => text).join());
}"""  # the letters in the packed rows of the output


def test_on_a_phone_each_packed_row_of_the_output_has_its_letter(listened: Screen, tmp_path: Path) -> None:
    listened.page.set_viewport_size({"width": HAND[0], "height": HAND[1]})
    listened.open(packing(WORDS).save(tmp_path / "movie.html").as_uri())
    listened.page.add_style_tag(content=".pv { --packviz-height: 256px; width: 358px; }")  # of the overview
    listened.press("End")
    listened.rest()
    listened.page.evaluate(f"() => {{ window.written.clear(); {PAINT} }}")
    assert listened.page.evaluate(PACKED) == [*"CABCABCAC"]


NUMBERS = (
    """() => [...window.written.values()].filter(({ text }) => /^−?\\d?\\.\\d+$/.test(text)).map(({ px }) => px)"""
)


def test_names_beside_small_cells_are_larger_than_their_texts(listened: Screen, tmp_path: Path) -> None:
    names = {"t=2", "len 4", "r", "z", "n", "batch_sizes", "original order"}
    listened.open(packing(WORDS, "run").save(tmp_path / "movie.html").as_uri())
    listened.page.add_style_tag(content=".pv { --packviz-height: 327px; }")  # as on the overview
    listened.rest()
    listened.page.evaluate("() => window.written.clear()")
    listened.press("End")
    written = listened.page.evaluate("() => [...window.written.values()].map(({ text, px }) => [text, px])")
    assert {text: px for text, px in written if text in names} == dict.fromkeys(names, 15)


def test_rows_of_a_run_in_a_low_picture_are_29_pixels_high(listened: Screen, tmp_path: Path) -> None:
    listened.open(packing(WORDS, "run").save(tmp_path / "movie.html").as_uri())
    listened.page.add_style_tag(content=".pv { --packviz-height: 345px; }")  # as on the overview
    listened.rest()
    assert listened.page.evaluate("() => [...window[Symbol.for('packviz')].players][0].picture.standing.unit") > 29


SIZES = f"""() => {{
    window.written.clear();
    {PAINT}
    return [...window.written.values()].map(({{ text, px }}) => [text, px]);
}}"""  # the texts of a picture, each with its pixels


@pytest.mark.parametrize(
    ("size", "height", "least"), [(DESK, 327, 13), ((1440, 900), 507, 15)], ids=["projector", "laptop"]
)
def test_words_of_a_run_are_as_large_as_their_cells_allow(
    listened: Screen, tmp_path: Path, size: Size, height: int, least: int
) -> None:
    listened.page.set_viewport_size({"width": size[0], "height": size[1]})
    listened.open(packing(WORDS, "run").save(tmp_path / "movie.html").as_uri())
    listened.page.add_style_tag(content=f".pv {{ --packviz-height: {height}px; }}")  # of the overview
    listened.press("ArrowRight", "ArrowRight")
    listened.rest()
    written = listened.page.evaluate(SIZES)
    sizes = [px for text, px in written if text in WORDS.split()]
    assert max(sizes) >= least
    assert min(sizes) > 11
    assert "C" not in [text for text, px in written if px < least]  # no letter makes the packed rows' words smaller


COUNTS = f"""() => {{
    window.written.clear();
    {PAINT}
    const [{{ picture }}] = window[Symbol.for("packviz")].players, {{ ratio, shown }} = picture;
    const written = [...window.written.values()];
    return shown.filter(({{ state, alpha }}) => alpha && state.role === "count").map(({{ rect, state, v }}) => {{
        const within = ({{ text, top, bottom }}) =>
            text === state.text && top / ratio > rect.y - 4 && bottom / ratio < rect.y + rect.h + 4;
        return written.some(within);
    }});
}}"""  # whether each number of batch_sizes is in its row


def test_beside_a_low_turned_grid_each_batch_size_is_in_its_row(listened: Screen, tmp_path: Path) -> None:
    listened.open(packing(WORDS, "run", batch_first=False).save(tmp_path / "movie.html").as_uri())
    listened.page.add_style_tag(content=".pv { --packviz-height: 305px; }")  # as on the overview
    listened.rest()
    assert listened.page.evaluate(COUNTS) == [True] * 4


@pytest.mark.parametrize("stage", ["pad", "embed", "sort"])
@pytest.mark.parametrize(("size", "height"), [(HAND, 580), (DESK, 327)], ids=["hand", "desk"])
def test_the_zero_of_a_pad_is_no_larger_than_the_words_beside_it(
    listened: Screen, tmp_path: Path, stage: str, size: Size, height: int
) -> None:
    listened.page.set_viewport_size({"width": size[0], "height": size[1]})
    listened.open(packing(WORDS, stage).save(tmp_path / "movie.html").as_uri())
    listened.page.add_style_tag(content=f".pv {{ --packviz-height: {height}px; }}")
    listened.press("End")
    listened.rest()
    written = listened.page.evaluate(SIZES)
    zeros, words = ([px for text, px in written if text in some] for some in (["0"], WORDS.split()))
    assert len(zeros) == 3
    assert max(zeros) <= max(words) + 0.5


@pytest.mark.parametrize("stage", ["pad", "sort"])
def test_a_word_much_longer_than_the_others_is_whole_in_two_smaller_lines(
    listened: Screen, tmp_path: Path, stage: str
) -> None:
    words = "I love incomprehensibilities\nshe sleeps\nwe sing old songs"
    listened.open(packing(words, stage).save(tmp_path / "movie.html").as_uri())
    listened.rest()
    listened.page.evaluate(f"() => {{ window.written.clear(); {PAINT} }}")
    written = dict(listened.page.evaluate("() => [...window.written.values()].map(({ text, px }) => [text, px])"))
    long = lines("incomprehensibilities", 20)
    (usual,) = {written[word] for word in words.split() if word in written}
    (smaller,) = {written[half] for half in long}
    assert 11 <= smaller < usual  # READABLE in sizes.js


@pytest.mark.parametrize(("size", "whole"), [(HAND, False), ((1440, 900), True)], ids=["hand", "desk"])
def test_a_word_much_longer_than_short_ones_has_some_letters_or_all(
    listened: Screen, tmp_path: Path, size: Size, whole: bool
) -> None:
    listened.page.set_viewport_size({"width": size[0], "height": size[1]})
    listened.open(packing("a pneumonoultramicroscopic fish", "pad").save(tmp_path / "movie.html").as_uri())
    listened.page.add_style_tag(content=".pv { --packviz-height: 306px; }")  # of the overview
    listened.rest()
    written = {text for text, _ in listened.page.evaluate(SIZES)}
    begun = {text for text in written if text.startswith("pn")}
    assert begun == {lines("pneumonoultramicroscopic", 20)[0]} if whole else {text[-1] for text in begun} == {"…"}
    assert written >= set(lines("pneumonoultramicroscopic", 20)) or not whole


@pytest.mark.parametrize("stage", ["pad", "embed"])
def test_on_a_phone_long_words_are_whole_in_high_cells(listened: Screen, tmp_path: Path, stage: str) -> None:
    listened.page.set_viewport_size({"width": HAND[0], "height": HAND[1]})
    words = "internationalization unhappiness transformers\nthe transformers are big\nshe sleeps"
    listened.open(packing(words, stage).save(tmp_path / "movie.html").as_uri())
    listened.page.add_style_tag(content=".pv { --packviz-height: 560px; }")  # of the overview
    listened.rest()
    written = {text for text, _ in listened.page.evaluate(SIZES)}
    assert written >= {"internatio-", "nalization", "unhappiness", "transformers"}


UNEVEN = "a unfortunately we enormously complicated I internationalisation of will understand mommy it now ok"
IN_CELLS = """() => {
    const [{ picture }] = window[Symbol.for("packviz")].players, { ratio, shown } = picture;
    const cells = shown.filter(({ alpha, rect, state }) => alpha && rect && state.role === "token");
    return [...window.written.values()].flatMap(({ text, px, left, right, top, bottom }) => {
        const [x, y] = [(left + right) / 2 / ratio, (top + bottom) / 2 / ratio];
        const holds = ({ rect }) => x > rect.x && x < rect.x + rect.w && y > rect.y && y < rect.y + rect.h;
        const cell = /^[a-zA-Z]+[…-]?$/.test(text) && cells.find(holds);
        return cell ? [[text, px, left / ratio - cell.rect.x, cell.rect.x + cell.rect.w - right / ratio]] : [];
    });
}"""  # the words in cells, their sizes, and pixels that they leave free on either side


def lines(word: str, most: int) -> list[str]:
    """Return a word of more than so many letters in two lines."""
    half = (len(word) + 1) // 2
    return [f"{word[:half]}-", word[half:]] if len(word) > most else [word]


@pytest.mark.parametrize("text", ["123456789012 7\n3", "illilliltMWMWMWMW of\nshe sleeps now and then or never"])
def test_a_number_and_a_word_whose_end_is_wide_are_cut_in_one_line(listened: Screen, tmp_path: Path, text: str) -> None:
    listened.page.set_viewport_size({"width": HAND[0], "height": HAND[1]})
    listened.open(packing(text, "pad").save(tmp_path / "movie.html").as_uri())
    listened.rest()
    written = [each for each, _ in listened.page.evaluate(SIZES)]
    assert not [each for each in written if each.endswith("-")]


@pytest.mark.parametrize(
    ("size", "most"), [((914, 327), 10), ((1035, 490), 11), ((388, 300), 10)], ids=["laptop", "desk", "hand"]
)
def test_words_of_very_different_lengths_have_one_size_clear_of_the_edges(
    listened: Screen, tmp_path: Path, size: Size, most: int
) -> None:
    wide, high = size
    listened.page.set_viewport_size({"width": 1440 if wide > 400 else 390, "height": 900})
    listened.open(packing(f"{UNEVEN}\nshe sleeps\nwe sing", "pad").save(tmp_path / "movie.html").as_uri())
    listened.page.add_style_tag(
        content=f".pv {{ --packviz-height: {high}px; width: {wide}px; }}"
    )  # beside the settings
    listened.rest()
    listened.page.evaluate(f"() => {{ window.written.clear(); {PAINT} }}")
    words = [each for each in listened.page.evaluate(IN_CELLS) if each[0] not in "ABC"]
    shown = [each for word in f"{UNEVEN} she sleeps we sing".split() for each in lines(word, most)]
    assert sorted(text for text, *_ in words) == sorted(shown)
    assert len({px for _, px, _, _ in words}) == 1, words
    assert min(min(left, right) for _, _, left, right in words) > 3, words


@pytest.mark.parametrize("stage", ["pad", "embed", "sort"])
@pytest.mark.parametrize(
    ("size", "picture"),
    [(HAND, (358, 306)), (DESK, (1212, 345)), ((1440, 900), (1072, 507))],
    ids=["hand", "desk", "settings"],
)
def test_words_are_clear_of_the_lines_of_their_cells_and_have_one_size(
    listened: Screen, tmp_path: Path, stage: str, size: Size, picture: Size
) -> None:
    listened.page.set_viewport_size({"width": size[0], "height": size[1]})
    listened.open(packing(WORDS, stage).save(tmp_path / "movie.html").as_uri())
    wide, high = picture  # of the overview
    listened.page.add_style_tag(content=f".pv {{ --packviz-height: {high}px; width: {wide}px; }}")
    listened.rest()
    listened.page.evaluate(f"() => {{ window.written.clear(); {PAINT} }}")
    words = [each for each in listened.page.evaluate(IN_CELLS) if each[0] in WORDS.split()]
    assert len(words) == len(WORDS.split())
    assert len({px for _, px, *_ in words}) == 1, words
    assert min(min(left, right) for _, _, left, right, *_ in words) >= 2 + 3, (
        words
    )  # a line is 2 pixels inside its cell


HEADS = """() => {
    const [{ picture }] = window[Symbol.for("packviz")].players, { ctx, ratio, shown, theme } = picture;
    const fill = ctx.fillRect, plates = [], seen = shown.filter(({ alpha, rect }) => alpha && rect);
    const of = (role, x, y) => seen.find(({ rect, state }) => state.role === role && x > rect.x && x < rect.x + rect.w
        && y > rect.y && y < rect.y + rect.h)?.rect;
    ctx.fillRect = function (x, y, w, h) {
        const pad = this.fillStyle === theme.pad && of("pad", x + w / 2, y + h / 2);
        if (pad) plates.push(y - pad.y);
        fill.call(this, x, y, w, h);
    };
    window.written.clear();
    picture.paint();
    ctx.fillRect = fill;
    const words = [...window.written.values()].flatMap(({ text, px, left, right, top, bottom }) => {
        const cell = of("token", (left + right) / 2 / ratio, (top + bottom) / 2 / ratio);
        const tail = bottom / ratio + 0.2 * px; // that of a p
        return cell && text.length > 1 ? [[top / ratio - cell.y, cell.y + 0.42 * cell.h - tail]] : [];
    });
    return [words, plates];
}"""  # pixels above each word, and from tails to the stripes; and from the top of each pad to the plate behind its 0


@pytest.mark.parametrize("stage", ["embed", "sort"])
def test_words_and_zeros_above_numbers_are_clear_of_them_and_of_the_line(
    listened: Screen, tmp_path: Path, stage: str
) -> None:
    listened.open(packing(WORDS, stage).save(tmp_path / "movie.html").as_uri())
    listened.page.add_style_tag(content=".pv { --packviz-height: 345px; }")  # of the overview
    listened.press("End")
    listened.rest()
    words, plates = listened.page.evaluate(HEADS)
    assert len(words) == len(WORDS.split()) - 1  # and a word of one letter
    assert min(min(over, under) for over, under in words) > 1, words
    assert len(plates) == 3
    assert min(plates) > 3  # within its dashes


@pytest.mark.parametrize("name", ["attention", "losses"])
def test_numbers_on_a_phone_in_full_screen_are_large(listened: Screen, tmp_path: Path, name: str) -> None:
    movie = MOVIES[name]()
    listened.page.set_viewport_size({"width": HAND[0], "height": HAND[1]})
    listened.open(movie.save(tmp_path / "movie.html").as_uri())
    listened.fill_the_window()
    listened.rest()
    listened.press("End")
    listened.rest()
    listened.page.evaluate("() => window.written.clear()")
    listened.press("ArrowLeft")
    sizes = listened.page.evaluate(NUMBERS)
    assert len(sizes) > 2
    assert min(sizes) > 13  # on the page 11; 4% of the width are 15.6, if the picture need not scroll for it


def test_a_phone_writes_numbers_in_one_way_in_all_stages(listened: Screen, tmp_path: Path) -> None:
    listened.page.set_viewport_size({"width": HAND[0], "height": HAND[1]})
    movie = MOVIES["words"]()
    listened.open(movie.save(tmp_path / "movie.html").as_uri())
    for stage in ("unpack", "run"):
        listened.press("End", *["ArrowLeft"] * sum(step.stage == "unpack" for step in movie.steps if stage == "run"))
        listened.rest()
        listened.page.evaluate(f"() => {{ window.written.clear(); {PAINT} }}")
        texts = listened.page.evaluate("() => [...window.written.values()].map(({ text }) => text)")
        numbers = [text for text in texts if re.fullmatch(r"−?0?\.\d+", text)]
        assert len(numbers) >= 12, stage
        assert not [text for text in numbers if "0." in text], stage


@pytest.mark.parametrize("name", ["words", "run in numbers", "attention", "leak", "losses", "beside"])
def test_full_screen_on_a_phone_shows_the_whole_width_of_what_fits_on_the_page(
    listened: Screen, tmp_path: Path, name: str
) -> None:
    listened.page.set_viewport_size({"width": HAND[0], "height": HAND[1]})
    listened.open(MOVIES[name]().save(tmp_path / "movie.html").as_uri())
    listened.fill_the_window()
    while listened.step < int(listened.data("steps")):
        listened.press("ArrowRight")
        expect(listened.root.locator(".pv-stage")).not_to_have_attribute("data-wide", "")


BESIDE = """() => {
    const [{ picture }] = window[Symbol.for("packviz")].players, { ratio, shown } = picture;
    const found = [];
    for (const { text, left, right, top, bottom } of window.written.values()) {
        if (!/^−?\\d?\\.\\d+$/.test(text)) continue;
        const [x, y] = [(left + right) / 2 / ratio, (top + bottom) / 2 / ratio];
        const holds = ({ alpha, rect, state }) => alpha && rect && ["value", "output"].includes(state.role)
            && x > rect.x && x < rect.x + rect.w && y > rect.y && y < rect.y + rect.h;
        for (const { rect, vec } of shown.filter(holds)) {
            const edge = vec ? Math.min(3.5, 0.12 * rect.w) : 0, wide = (rect.w - 2 * edge) / (vec?.length ?? 1);
            const start = rect.x + edge + Math.floor((x - rect.x - edge) / wide) * wide;
            found.push(Math.min(left / ratio - start, start + wide - right / ratio));
        }
    }
    return found;
}"""  # pixels that each number leaves free on either side, in its cell or on its stripe


@pytest.mark.parametrize(
    ("film", "size", "clear"),
    [(MOVIES["leak"], DESK, 5), (MOVIES["words"], (1440, 900), 1.5), (lstm, (1240, 720), 4.5)],
)
def test_numbers_touch_neither_one_another_nor_a_line_around_them(
    listened: Screen, tmp_path: Path, film: Callable[[], Movie], size: Size, clear: float
) -> None:
    listened.page.set_viewport_size({"width": size[0], "height": size[1]})
    listened.open(film().save(tmp_path / "movie.html").as_uri())
    listened.page.add_style_tag(content=f".pv {{ --packviz-height: {size[1] - 400}px; }}")
    listened.rest()
    listened.press("End")
    listened.page.evaluate("() => window.written.clear()")
    listened.press("ArrowLeft", "ArrowRight")
    beside = listened.page.evaluate(BESIDE)
    assert len(beside) > 11
    assert min(beside) > clear


def faults_in_thirty(listened: Screen, tmp_path: Path, movie: Movie, height: int) -> dict[int, list[str]]:
    """Return what is wrong with the letters and words at each step of a movie, in a player so high."""
    listened.page.set_viewport_size({"width": 1440, "height": 900})
    listened.open(movie.save(tmp_path / "movie.html").as_uri())
    listened.page.add_style_tag(content=f".pv {{ --packviz-height: {height}px; }}")
    listened.rest()
    listened.page.evaluate("() => window.written.clear()")
    found: dict[int, list[str]] = {}
    for step in range(2, len(movie.steps) + 1):
        listened.press("ArrowRight")
        found[step] = listened.page.evaluate(FAULTS)
    return found


def test_each_row_of_thirty_sequences_has_its_letters(listened: Screen, tmp_path: Path) -> None:
    words = ["one", "two", "three", "four"]
    movie = packing("\n".join(" ".join(words[: 1 + i % 4]) for i in range(30)), "pack")
    assert not any(faults_in_thirty(listened, tmp_path, movie, 640).values())


def test_each_of_thirty_sequences_has_its_letter_in_the_picture_of_the_overview(
    listened: Screen, tmp_path: Path
) -> None:
    movie = packing("\n".join(" ".join("abcd"[: 1 + i % 4]) for i in range(30)))
    faults = faults_in_thirty(listened, tmp_path, movie, 485)
    assert {step: each for step, found in faults.items() if (each := [one for one in found if "label" in one])} == {}


LINES = """() => {
    const [{ picture }] = window[Symbol.for("packviz")].players, { ctx } = picture, drawn = ctx.lineTo;
    let lines = 0;
    ctx.lineTo = function (x, y) { lines += 1; drawn.call(this, x, y); };
    picture.paint();
    ctx.lineTo = drawn;
    const words = picture.shown.filter(({ state, rect }) => state.role === "token" && rect);
    return [lines, Math.max(...words.map(({ rect }) => rect.h))];
}"""  # how many lines are drawn, and pixels of the highest word


def test_cells_too_low_for_their_words_have_no_marks_either(listened: Screen, tmp_path: Path) -> None:
    listened.open(packing("\n".join(["1 2"] * 40)).save(tmp_path / "movie.html").as_uri())
    found = {}
    for height in (470, 900):
        listened.page.set_viewport_size({"width": 1440, "height": height + 200})
        listened.page.add_style_tag(content=f".pv {{ --packviz-height: {height}px; }}")
        listened.rest()
        lines, high = listened.page.evaluate(LINES)
        found[high > 13] = lines
    assert found[True] > found[False] == 0


OVER = """() => {
    const [{ picture }] = window[Symbol.for("packviz")].players, { ratio, shown } = picture;
    window.written.clear();
    picture.paint();
    const lengths = [...window.written.values()].filter(({ text }) => text.startsWith("len "));
    const cells = shown.filter(({ alpha, rect, state }) => alpha && rect && ["token", "pad"].includes(state.role));
    const over = ({ left, right, top, bottom }) => cells.some(({ rect: { x, y, w, h } }) =>
        left / ratio < x + w && right / ratio > x && top / ratio < y + h && bottom / ratio > y);
    return [lengths.length, lengths.filter(over).length];
}"""  # how many lengths are written, and how many of them over cells


def test_lengths_higher_than_their_rows_keep_off_the_rows_beside_them(listened: Screen, tmp_path: Path) -> None:
    text = "\n".join(" ".join(["one", "two", "three", "four"][: 1 + 3 * i % 4]) for i in range(40))
    listened.page.set_viewport_size({"width": 1280, "height": 720})
    listened.open(packing(text, "pad").save(tmp_path / "movie.html").as_uri())
    listened.page.add_style_tag(content=".pv { --packviz-height: 305px; }")
    listened.rest()
    lengths, over = listened.page.evaluate(OVER)
    assert (lengths > 9, over) == (True, 0)


HEADED = """() => {
    const written = [...window.written.values()], { bottom } = written.find(({ text }) => /^45 sequences/.test(text));
    return written.filter(({ text }) => /^t=/.test(text)).map(({ top }) => top - bottom);
}"""  # pixels from the heading to the time steps below it


def test_on_a_phone_on_its_side_the_heading_of_many_rows_is_clear_of_their_time_steps(
    listened: Screen, tmp_path: Path
) -> None:
    listened.page.set_viewport_size({"width": 844, "height": 390})
    text = "\n".join(["I love cats", "she sleeps", "we sing old songs"] * 15)
    listened.open(packing(text, "pad").save(tmp_path / "movie.html").as_uri())
    listened.page.add_style_tag(content=".pv { --packviz-height: 190px; }")
    listened.rest()
    listened.page.evaluate(f"() => {{ window.written.clear(); {PAINT} }}")
    spaces = listened.page.evaluate(HEADED)
    assert len(spaces) == 4
    assert min(spaces) >= 4  # room for tails, such as that of q


NAMED = """() => {
    const written = [...window.written.values()], at = ({ left, right, top, bottom }) => [left, right, top, bottom];
    const of = (said) => written.filter(said).map(at);
    return [of(({ weight }) => weight === 650), of(({ text }) => /^(t=)?\\d$/.test(text))];
}"""  # where headings are, and time steps and addresses


def test_names_of_low_packed_rows_are_clear_of_the_headings(listened: Screen, tmp_path: Path) -> None:
    trace = pv.trace(Batch.parse("10 20 30\n40\n50 60\n70 80 90"), Config(cell="lstm"))
    listened.open(pv.movie(trace, ("run",), deep=True).save(tmp_path / "movie.html").as_uri())
    listened.page.add_style_tag(content=".pv { --packviz-height: 308px; width: 1212px; }")  # of an answer in the quiz
    listened.press("ArrowRight", "ArrowRight")
    listened.rest()
    listened.page.evaluate(f"() => {{ window.written.clear(); {PAINT} }}")
    headings, names = listened.page.evaluate(NAMED)
    assert len(names) == 12
    spaces = [
        max(top - below, above - bottom)
        for left, right, above, below in headings
        for start, end, top, bottom in names
        if start < right and end > left
    ]
    assert min(spaces) >= 4  # room for tails, such as that of p


PANELS = """() => {
    const [{ picture }] = window[Symbol.for("packviz")].players, { view } = picture.standing;
    const lines = new Set(Object.values(view.at).map(([, y]) => Math.round(y)));
    return [Object.keys(view.at), lines.size, picture.standing.room - picture.width];
}"""  # the panels in the picture, how many lines they have, and how far it scrolls


def test_a_phone_shows_an_lstm_in_four_lines_below_the_packed_rows(listened: Screen, tmp_path: Path) -> None:
    listened.page.set_viewport_size({"width": HAND[0], "height": HAND[1]})
    listened.open(lstm().save(tmp_path / "movie.html").as_uri())
    listened.page.add_style_tag(content=".pv { --packviz-height: 404px; }")  # as in the app, with a question
    listened.press("ArrowRight")
    listened.rest()
    panels, lines, further = listened.page.evaluate(PANELS)
    assert {"strip", "cell", *(f"gate:{gate}" for gate in "ifgoc"), "h", "hn"} <= set(panels)
    assert (lines, further) == (5, 0)


@pytest.mark.parametrize("height", [306, 580])
def test_a_phone_shows_the_packed_rows_that_a_run_reads(listened: Screen, tmp_path: Path, height: int) -> None:
    listened.page.set_viewport_size({"width": HAND[0], "height": HAND[1]})
    listened.open(packing(WORDS, "run").save(tmp_path / "movie.html").as_uri())
    listened.page.add_style_tag(content=f".pv {{ --packviz-height: {height}px; width: 358px; }}")  # of the overview
    listened.press("ArrowRight")
    listened.rest()
    listened.page.evaluate(f"() => {{ window.written.clear(); {PAINT} }}")
    panels, _, further = listened.page.evaluate(PANELS)
    assert {"strip", "cell", "h", "hn"} <= set(panels)
    assert ("x" in panels, further) == (height > 306, 0)
    assert listened.page.evaluate(FAULTS) == []


LONG = "I like a long walk in the old park with my dog when the sun is up and no one is there\nshe sleeps\nI sing"
STATES = """() => {
    const [{ picture }] = window[Symbol.for("packviz")].players, { width, shown } = picture;
    const seen = shown.filter(({ alpha, rect, state }) => alpha && rect && state.role === "value" && state.p === "h");
    return [seen.length, Math.min(...seen.map(({ rect }) => rect.h)), seen.every(({ rect }) => rect.w >= 22)];
}"""  # how many numbers of h are shown, how high the lowest is, and whether all have room for two decimals


@pytest.mark.parametrize(("size", "height", "least"), [(DESK, 305, 19), (HAND, 308, 15)], ids=["desk", "hand"])
def test_the_states_of_a_long_run_are_large_enough_to_read(
    listened: Screen, tmp_path: Path, size: Size, height: int, least: int
) -> None:
    movie = packing(LONG, "run")
    listened.page.set_viewport_size({"width": size[0], "height": size[1]})
    listened.open(movie.save(tmp_path / "movie.html").as_uri())
    listened.page.add_style_tag(content=f".pv {{ --packviz-height: {height}px; }}")  # of the overview
    listened.press("End")
    listened.rest()
    shown, lowest, wide = listened.page.evaluate(STATES)
    assert (shown, lowest >= least, wide) == (12, True, True), lowest


def test_the_words_of_a_run_of_fourteen_steps_are_large_enough_to_read(listened: Screen, tmp_path: Path) -> None:
    words = "the quick brown fox jumps over the lazy dog while seven cats look on"
    listened.page.set_viewport_size({"width": 1440, "height": 900})
    listened.open(packing(f"{words}\nshe sleeps\nwe sing old songs", "run").save(tmp_path / "movie.html").as_uri())
    listened.page.add_style_tag(content=".pv { --packviz-height: 507px; }")  # of the overview
    listened.rest()
    written = [px for text, px in listened.page.evaluate(SIZES) if text in words.split()]
    assert len(written) >= 14
    assert min(written) >= 13


CUT = """() => {
    const [{ program }] = window[Symbol.for("packviz")].players, { bottom } = program.root.getBoundingClientRect();
    const { bottom: top } = program.root.querySelector("h2").getBoundingClientRect(); // the heading stays
    const [code, detail] = program.root.querySelectorAll("ol");
    const lines = [...code.querySelectorAll("code, .pv-shape")].flatMap((node) => [...node.getClientRects()]);
    const statement = code.querySelector("[aria-current]").getBoundingClientRect();
    const [last] = [...detail.children].slice(-1).map((node) => node.getBoundingClientRect());
    return {
        cut: lines.filter((line) => line.top < top - 2 && line.bottom > top + 2).length,
        hidden: statement.top < top - 1 || Math.max(statement.bottom, last?.bottom ?? 0) > bottom,
    };
}"""  # the lines of code cut below the heading, and whether the statement or a line of this step is out of view


@pytest.mark.parametrize("cell", ["gru", "lstm"])
@pytest.mark.parametrize("height", [270, 345])  # the overview at 1280 by 720 has 345
def test_beside_a_low_picture_the_code_that_runs_is_in_view_below_a_whole_line(
    listened: Screen, tmp_path: Path, cell: str, height: int
) -> None:
    listened.open(packing(WORDS, cell=cell).save(tmp_path / "movie.html").as_uri())
    listened.page.add_style_tag(content=f".pv {{ --packviz-height: {height}px; }}")
    listened.rest()
    scrolled, stage = set[int](), ""
    while listened.step < int(listened.data("steps")):
        listened.press("ArrowRight")
        assert listened.page.evaluate(CUT) == {"cut": 0, "hidden": False}, listened.step
        more, was = listened.root.locator(".pv-code[data-more]").count(), stage
        stage = listened.data("stage")
        ran = was == stage == "unpack"  # not at its first step
        expect(listened.page.get_by_test_id("packviz-proof")).to_be_visible(visible=ran and not more)
        if listened.root.locator(".pv-code").evaluate("code => code.scrollTop"):
            scrolled.add(listened.step)
    assert len(scrolled) > 2 if height < 345 else not scrolled


ROWS = """() => {
    const [{ program }] = window[Symbol.for("packviz")].players;
    return [...program.root.querySelector("ol").children].map((line) => {
        const [code, shape] = [...line.children].map((node) => node.getBoundingClientRect());
        return shape.bottom - code.bottom;
    });
}"""  # pixels from the last line of each statement down to its shape


@pytest.mark.parametrize("wide", [1072, 1100, 1212])  # of the overview at 1440 pixels, beside the settings, and at 1280
def test_shapes_are_beside_their_code_not_below_it(listened: Screen, tmp_path: Path, wide: int) -> None:
    listened.page.set_viewport_size({"width": 1440, "height": 900})
    listened.open(packing(WORDS).save(tmp_path / "movie.html").as_uri())
    listened.page.add_style_tag(content=f".pv {{ --packviz-height: 507px; width: {wide}px; }}")
    listened.press("End")
    listened.rest()
    first, *_ = listened.page.evaluate(ROWS)  # the longest one
    assert first < 8


def test_no_line_is_blank_for_a_shape_that_is_not_there_yet(listened: Screen, tmp_path: Path) -> None:
    listened.open(packing(WORDS).save(tmp_path / "movie.html").as_uri())
    listened.page.add_style_tag(content=".pv { width: 900px; }")  # no shape has room beside the first statement
    heights = "[...document.querySelectorAll('.pv-code li')].map((line) => line.getBoundingClientRect().height)"
    before = listened.page.evaluate(heights)
    listened.press("End")
    after = listened.page.evaluate(heights)
    assert before[0] < after[0] - 10
    assert before[3] == before[1]  # one line each


def test_a_row_with_pads_has_all_words_and_letters_beside_the_settings(listened: Screen, tmp_path: Path) -> None:
    movie = rows("borders", max_length=12)
    listened.open(movie.save(tmp_path / "movie.html").as_uri())
    listened.page.add_style_tag(content=".pv { --packviz-height: 300px; width: 924px; }")  # as in the app then
    listened.rest()
    for step in range(2, len(movie.steps) + 1):
        listened.press("ArrowRight")
        assert listened.page.evaluate(FAULTS) == [], step


@pytest.mark.parametrize(("size", "lines"), [(DESK, 1), (HAND, 2)])
def test_the_row_of_borders_has_every_word(listened: Screen, tmp_path: Path, size: Size, lines: int) -> None:
    page = listened.page
    page.set_viewport_size({"width": size[0], "height": size[1]})
    listened.open(rows("borders").save(tmp_path / "movie.html").as_uri())
    listened.rest()
    page.evaluate(f"() => {{ window.written.clear(); {PAINT} }}")
    written = page.evaluate("() => [...window.written.values()]")
    words = [each for each in written if each["text"] in WORDS.split()]
    assert sorted(each["text"] for each in words) == sorted(WORDS.split())  # each once
    assert len({round(each["top"]) for each in words}) == lines  # above cells that are too narrow
    for one, other in pairwise(sorted(words, key=lambda each: (round(each["top"]), each["left"]))):
        assert round(one["top"]) != round(other["top"]) or one["right"] < other["left"], (one, other)


TIES = """() => {
    const [{ picture }] = window[Symbol.for("packviz")].players, seen = picture.shown.filter(({ rect }) => rect);
    const words = seen.filter(({ state }) => state.role === "token" && state.p === "lines");
    return seen.filter(({ state }) => state.role === "thread").map(({ rect: { x, y, h }, state }) => {
        const cell = words.find(({ rect }) => x > rect.x && x < rect.x + rect.w);
        return [cell.state.text, cell.state.seq === state.seq, h > 2, Math.round(y + h - cell.rect.y)];
    });
}"""  # of each line from a word: its cell's word, whether it has its hue, and pixels by which it misses the cell


def test_on_a_phone_each_word_above_the_row_is_tied_to_its_cell(listened: Screen, tmp_path: Path) -> None:
    listened.page.set_viewport_size({"width": HAND[0], "height": HAND[1]})
    listened.open(rows("borders").save(tmp_path / "movie.html").as_uri())
    listened.rest()
    ties = listened.page.evaluate(TIES)
    assert sorted(text for text, *_ in ties) == sorted(WORDS.split())
    assert {tuple(each) for _, *each in ties} == {(True, True, 0)}


COVERED = """() => {
    const [{ picture }] = window[Symbol.for("packviz")].players, { ratio, shown } = picture;
    window.written.clear();
    picture.paint();
    const cells = shown.filter(({ alpha, rect, state }) => alpha && rect && ["token", "vector"].includes(state.role));
    const texts = [...window.written.values()].filter(({ text }) => /^[A-Z]{1,2}$|^GRU|^h/.test(text));
    const over = ({ left, right, top, bottom }) => cells.some(({ rect: { x, y, w, h } }) =>
        left / ratio < x + w && right / ratio > x && top / ratio < y + h && bottom / ratio > y);
    const letters = texts.filter(({ text }) => /^[A-Z]{1,2}$/.test(text)).map(({ left, right }) => (left + right) / 2);
    return [letters.length, new Set(letters.map(Math.round)).size, texts.filter(over).map(({ text }) => text)];
}"""  # the letters in a run, in how many columns they are, and which letters and headings are over cells


@pytest.mark.parametrize(
    ("size", "height", "expected"), [(HAND, 522, (0, 0)), (DESK, 305, (0, 0)), ((1440, 900), 640, (120, 3))]
)
def test_all_of_forty_states_have_their_letters_in_one_column_or_none_has(
    listened: Screen, tmp_path: Path, size: Size, height: int, expected: tuple[int, int]
) -> None:
    movie = packing("\n".join(" ".join("abcdef"[: 1 + 7 * i % 6]) for i in range(64)), "run")
    listened.page.set_viewport_size({"width": size[0], "height": size[1]})
    listened.open(movie.save(tmp_path / "movie.html").as_uri())
    listened.page.add_style_tag(content=f".pv {{ --packviz-height: {height}px; }}")  # of the overview
    for _ in range(4):
        listened.press("ArrowRight")
    listened.rest()
    letters, columns, over = listened.page.evaluate(COVERED)
    assert (letters, columns, over) == (*expected, [])


def test_a_word_is_at_least_as_large_as_the_letter_in_its_cell(listened: Screen, tmp_path: Path) -> None:
    listened.page.set_viewport_size({"width": DESK[0], "height": DESK[1]})
    listened.open(rows("fill").save(tmp_path / "movie.html").as_uri())
    listened.press("End")
    listened.rest()
    written = listened.page.evaluate(
        f"() => {{ window.written.clear(); {PAINT} return [...window.written.values()]; }}"
    )
    words = [
        each["px"] for each in written if each["weight"] != 400 and each["text"] in WORDS.split()
    ]  # not the faded ones
    letters = [each["px"] for each in written if each["weight"] == 600 and each["text"] in "ABC"]
    assert len(words) == len(letters) == len(WORDS.split())
    assert min(words) >= max(letters)
