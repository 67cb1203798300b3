"""Pictures of a movie: what stands in an SVG and where, as the data and the player have it; PNG, GIF and APNG."""

import json
import re
from base64 import b64decode
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from operator import sub
from pathlib import Path
from typing import Any, NamedTuple, cast
from xml.etree import ElementTree

import pytest
from movie_cases import BESIDE, ORDINARY, CaseMovie, over
from movie_player import Open
from movie_screen import Show
from PIL import Image
from playwright.sync_api import Browser

import packviz as pv
from packviz import Batch, Config
from packviz.show.movie import Movie, beside
from packviz.show.movie.format import Cell
from packviz.show.movie.frames import moments
from packviz.show.movie.stills import Picture
from packviz.show.theme import DARK, LIGHT, SEQUENCE_HUES, diverging
from packviz.text import sequence_label

Placed = tuple[Cell, "Rect | None"]
SVG = "{http://www.w3.org/2000/svg}"
MOVIE = pv.movie(pv.trace(Batch.parse("I love cats\nshe sleeps\nwe sing old songs"), Config(cell="lstm")))


def parts(movie: Movie, step: int | None = None, **how: Any) -> tuple[ElementTree.Element, dict[str, list[Any]]]:
    """Return an SVG, and the places of each of its texts: x and y."""
    root = ElementTree.fromstring(movie.to_svg(step, **how))
    texts: dict[str, list[Any]] = {}
    for node in root.iter(SVG + "text"):
        texts.setdefault(node.text or "", []).append((float(node.get("x", "")), float(node.get("y", ""))))
    return root, texts


LARGE: Any = {"width": 3000, "height": 3000}  # pixels in which nothing of these movies is too small to be read
LEGIBLE = 6  # pixels of the smallest text of a still


class Rect(NamedTuple):
    x: float
    y: float
    w: float
    h: float


def placed(movie: Movie, step: int, place: tuple[int, int] | None = None) -> list[Placed]:
    """Return the cells at the end of a step, each with its place in a large still; None if it is not seen.

    place: the width and height of a player in which a still has the same size as its cells have there.
    """
    width, height = LARGE["width"], LARGE["height"]
    frame = [frame for frame in moments(movie.to_dict()) if frame.step == step][-1]
    picture = Picture(movie.to_dict(), (width, height), LIGHT, step)
    there = f"""(() => {{
        const {{ painter, scale: large }} = still.laidOut("{frame.scene}", {width}, {height}),
            [place, scale] = {json.dumps(place)} ? [{json.dumps(place)}, 1] : [[painter.width, painter.height], large];
        painter.fit(...place);
        const seen = painter.looksAt({picture.drawn[0]}).map(({{ rect, alpha }}) => alpha ? rect : null);
        return seen.map((rect) => rect && ["x", "y", "w", "h"].map((side) => scale * rect[side]));
    }})()"""
    rects = (rect and Rect(*rect) for rect in picture.player.ask(there))
    return [*zip(frame.cells, rects, strict=True)]


def test_each_token_is_text_on_a_tile_in_the_hue_of_its_sequence() -> None:
    show = Show(MOVIE)
    for stage in ("pad", "pack", "run", "unpack"):
        step = MOVIE.step_at(stage)
        root, texts = parts(MOVIE, step, **LARGE)
        seen = [(cell, rect) for cell, rect in placed(MOVIE, step) if rect and cell.role == "token"]
        assert sorted(cell.text for cell, _ in seen) == sorted(
            cell["text"] for cell in show.seen(stage, show.after[step - 1]).values() if cell["role"] == "token"
        )
        tiles = [
            (*(float(node.get(name, "")) for name in ("x", "y", "width", "height")), node.get("fill"))
            for node in root.iter(SVG + "rect")
        ]
        for cell, (x, y, w, h) in seen:
            assert cell.seq is not None
            written = [*texts.get(cell.text, []), *(texts["ABC"[cell.seq]] if cell.p == "strip" else [])]
            assert any(x < left < x + w and y < top < y + h for left, top in written)
            near = [place for *place, fill in tiles if fill == SEQUENCE_HUES[cell.seq]]
            assert any(place == pytest.approx((x, y, w, h), abs=21) for place in near)


def test_the_last_picture_shows_what_the_player_does() -> None:
    trace = pv.trace(Batch.parse("3 1 4 1 5 9\n2 6 5 3\n5 8\n9"), Config(cell="lstm"))
    movie = pv.movie(trace)
    root, texts = parts(movie, theme="light")
    rows: dict[float, list[tuple[float, float]]] = {}
    for text, spots in texts.items():
        if re.fullmatch(r"−?\d\.\d\d", text):
            assert text != "−0.00"
            for x, y in spots:
                rows.setdefault(y, []).append((x, float(text.replace("−", "-"))))
    written = [[value for _, value in sorted(rows[y])] for y in sorted(rows)]
    assert trace.unpacked is not None
    last_valid = trace.unpacked.last_valid
    assert written == [pytest.approx(row, abs=0.00505) for row in last_valid.tolist()]  # two decimals of four
    boxes = [node.attrib for node in root.iter(SVG + "rect")]
    for b in range(4):  # its last step in `output data`, in `out` and beside it
        assert sum((box["fill"], box.get("stroke")) == ("none", SEQUENCE_HUES[b]) for box in boxes) == 3
    hatched = [node for node in root.iter(SVG + "path") if node.get("d", "").count("M") > 1]
    dashed = [box for box in boxes if box["fill"] == LIGHT.pad and "stroke-dasharray" in box]
    assert len(hatched) == len(dashed) == len(texts["0"]) == trace.padded.mask.logical_not().sum() == 11
    lettered, tiles = 0, list[tuple[str, list[float]]]()
    for node in root.iter():
        if node.tag == SVG + "rect" and node.get("fill") != "none":
            tiles.append((node.get("fill", ""), [float(node.get(name, "")) for name in ("x", "y", "width", "height")]))
        elif node.text in ("A", "B", "C", "D"):
            x, y, px = (float(node.get(name, "")) for name in ("x", "y", "font-size"))
            for point in (y - 0.36 * px, y + 0.36 * px):  # a capital stands on its color, from its top to its foot
                below = [fill for fill, (a, b, w, h) in tiles if a <= x <= a + w and b <= point <= b + h]
                assert below[-1] == SEQUENCE_HUES["ABCD".index(node.text)]
            lettered += 1
    assert lettered == 13 + 2 * 4


@over([*ORDINARY, *BESIDE][::4])
def test_every_picture_says_its_caption_the_proof_and_what_is_left_out(film: CaseMovie) -> None:
    movie = film.show.movie
    for step in {1, len(movie.steps) // 2 + 1, len(movie.steps)}:
        root, texts = parts(movie, step)
        said = " ".join(texts)
        caption = re.sub(r"[{}*]", "", movie.steps[step - 1].caption)
        for part in (caption, movie.proof, *movie.notes):
            assert re.sub(r"\s", "", part) in re.sub(r"\s", "", said)
        _, _, wide, high = map(float, root.get("viewBox", "").split())
        assert all(-1 <= x <= wide and -1 <= y <= high for spots in texts.values() for x, y in spots)


LEAVING = """() => {
    const box = (node) => node.getBoundingClientRect(), all = document.querySelector('svg');
    const tiles = [...all.querySelectorAll('rect')].map(box).filter((tile) => tile.width < 0.9 * box(all).width);
    return [...all.querySelectorAll('text')].filter((text) => {
        const { left, right, top, bottom } = box(text), x = (left + right) / 2, y = (top + bottom) / 2;
        const around = tiles.filter((tile) => tile.left <= x && x <= tile.right && tile.top <= y && y <= tile.bottom);
        const least = around.sort((one, other) => one.width - other.width)[0] ?? box(all);
        return left < least.left - 1 || right > least.right + 1;
    }).map((text) => text.textContent);
}"""


def test_a_long_or_wide_word_stays_in_its_cell(browser: Browser) -> None:
    text = "Donaudampfschifffahrtsgesellschaft love\nWWWWWWWWWWWWMMMMMMMM 漢字漢字漢字漢字\nwe 🙂🙂🙂🙂🙂🙂"
    batch, page, shortened = Batch.parse(text), browser.new_page(), 0
    for movie in (pv.movie(pv.trace(batch)), pv.movie(pv.trace_rows(batch))):
        for step in range(1, len(movie.steps) + 1, 3):
            svg = movie.to_svg(step)
            page.set_content(svg)
            assert page.evaluate(LEAVING) == []
            shortened += "…</text>" in svg
    page.close()
    assert shortened >= 3


def test_a_long_word_is_whole_in_two_lines_or_is_cut_and_the_others_keep_their_size() -> None:
    sizes, written = [], []
    for word in ("sleeps", "internationalisation", "internationalisation" * 3):
        batch = Batch.parse(f"I love cats\nshe {word} sleeps\nwe sing old songs")
        texts = {
            node.text: float(node.attrib["font-size"])
            for node in parts(pv.movie(pv.trace(batch), ("pad",)))[0].iter(SVG + "text")
        }
        sizes.append(texts["cats"])
        written.append({text: px for text, px in texts.items() if text and text.rstrip("-…") in word and len(text) > 2})
    assert len({*sizes}) == 1
    short, halved, cut = written
    assert short == {"sleeps": sizes[0]}
    assert [*halved] == ["internatio-", "nalisation"]
    assert len({*halved.values()}) == 1
    assert max(halved.values()) < sizes[0]
    ((begun, size),) = cut.items()
    assert begun.endswith("…")
    assert size == sizes[0]


def test_a_somewhat_longer_word_is_whole_where_it_fits() -> None:
    movie = pv.movie(pv.trace(Batch.parse("the supermarket closes\nyes\nwe went shopping yesterday afternoon")))
    for stage in ("pad", "embed"):
        nodes = parts(movie, movie.step_at(stage))[0].iter(SVG + "text")
        sizes = {node.text: node.attrib["font-size"] for node in nodes if node.text and len(node.text) > 8}
        assert sizes["supermarket"] == sizes["yesterday"] == sizes["afternoon"]


def test_below_a_long_row_the_packed_rows_are_on_one_line() -> None:
    long = "my little sister always wants to play outside with friends"
    movie = pv.movie(pv.trace(Batch.parse(f"{long}\nyes\nwe went home")))
    _, texts = parts(movie, movie.step_at("run"))
    assert len({y for n in range(5, 14) for _, y in texts[str(n)]}) == 1


def test_rows_too_low_for_their_letters_have_none() -> None:
    batch = Batch.parse("\n".join("1 2 3 4 5 6"[: 2 * (i % 4) + 5] for i in range(40)))
    assert not {sequence_label(b) for b in range(40)} & {*parts(pv.movie(pv.trace(batch), ("pad",)))[1]}


def test_no_text_of_a_visitor_becomes_markup() -> None:
    hostile = pv.movie(pv.trace(Batch.parse("<script>alert(1)</script> &amp; \"quotes'\n]]> x")))
    assert {node.tag for node in parts(hostile, 1)[0].iter()} <= {
        SVG + tag for tag in ("svg", "title", "rect", "text", "path")
    }
    assert "<script" not in hostile.to_svg(1)


def test_many_threads_draw_what_one_does() -> None:
    movies = [MOVIE, pv.movie(pv.trace_rows(Batch.parse("1 2\n3")))]
    alone = [movie.to_svg() for movie in movies]
    with ThreadPoolExecutor(6) as pool:
        assert [*pool.map(Movie.to_svg, movies * 20)] == alone * 20


def test_the_theme_decides_the_colours() -> None:
    for theme, palette, other in (("light", LIGHT, DARK), ("dark", DARK, LIGHT)):
        picture = MOVIE.to_svg(theme=theme)  # type: ignore[arg-type]
        assert palette.background in picture
        assert palette.quiet in picture
        assert other.quiet not in picture
        assert all(hue in picture for hue in SEQUENCE_HUES[:3])


@pytest.mark.parametrize("text", ["1 2 3\n4 5\n6 7 8 9", "\n".join("1 " * n for n in range(9, 40, 2))])
def test_every_number_is_whole_and_every_cell_in_the_picture(text: str) -> None:
    trace = pv.trace(Batch.parse(text), Config(cell="lstm", bidirectional=True))
    for movie in (pv.movie(trace, deep=True), beside(trace)):
        for step in sorted({movie.step_at(step.stage) for step in movie.steps} | {len(movie.steps)}):
            root, texts = parts(movie, step, **LARGE)
            _, _, wide, high = map(float, root.get("viewBox", "").split())
            numbers = 0
            for cell, rect in placed(movie, step):
                if rect and cell.role not in ("thread", "focus", "title", "note"):
                    assert -1 <= rect.x <= rect.x + rect.w <= wide + 1
                    assert -1 <= rect.y <= rect.y + rect.h <= high + 1
                if rect and cell.role == "value" and cell.v is not None and not cell.text and not cell.sub:
                    two, one = (f"{cell.v:z.{digits}f}".replace("-", "−") for digits in (2, 1))
                    forms = (two, two.replace("0.", ".", 1), one.replace("0.", ".", 1))  # in a narrow cell
                    there = [place for form in forms for place in texts.get(form, [])]
                    assert any(rect.x < x < rect.x + rect.w and rect.y < y < rect.y + rect.h for x, y in there), cell
                    numbers += 1
            assert numbers or movie.steps[step - 1].stage not in ("run", "beside")


@pytest.mark.parametrize(("width", "height", "said"), [(882, 400, "max of"), (882, 480, "max of"), (356, 600, "of")])
def test_what_is_said_beside_a_readout_is_clear_of_its_frame(width: int, height: int, said: str) -> None:
    trace = pv.trace(Batch.parse("1 2 3\n4 5\n6 7 8 9"), Config(num_layers=2, bidirectional=True))
    root, texts = parts(pv.movie(trace, ("unpack",), deep=True), width=width, height=height)
    framed = [node.attrib for node in root.iter(SVG + "rect") if node.get("stroke") == LIGHT.good]
    ends = [float(each["x"]) + float(each["width"]) for each in framed]
    assert max(ends) < min(x for n in (2, 3, 4) for x, _ in texts[f"{said} {n}"])


@pytest.mark.parametrize(("batch_first", "least"), [(True, 65), (False, 50)])
def test_the_output_of_both_directions_is_wide_beside_final_states_with_two_decimals(
    batch_first: bool, least: int
) -> None:
    config = Config(cell="lstm", bidirectional=True, batch_first=batch_first)
    movie = pv.movie(pv.trace(Batch.parse("I love cats\nshe sleeps\nwe sing old songs"), config))
    size = (882, 318)  # pixels of the picture on a small laptop
    cells = [(cell.p, rect) for cell, rect in placed(movie, len(movie.steps), size) if rect and cell.role == "output"]
    assert min(rect.w for panel, rect in cells if panel == "u") > least
    assert len({round(rect.y) for panel, rect in cells if panel == "out"}) == (1 if batch_first else 4)
    _, texts = parts(movie, width=size[0], height=size[1])
    assert "−0.04" in texts


@pytest.mark.parametrize("count", [3, 12, 40])
def test_a_caption_keeps_its_size_and_smaller_text_can_be_read(count: int) -> None:
    movie = pv.movie(pv.trace(Batch.parse("\n".join("1 " * n for n in range(1, count + 1)))))
    for width, height in ((960, 480), (500, 900), (2000, 300)):
        root, _ = parts(movie, movie.step_at("run"), width=width, height=height)
        _, _, wide, high = map(float, root.get("viewBox", "").split())
        assert (wide, high > height) == (width, True)
        sizes = {node.text: float(node.get("font-size", "")) for node in root.iter(SVG + "text")}
        assert min(sizes.values()) >= LEGIBLE
        first = re.sub(r"[{}*]", "", movie.steps[movie.step_at("run") - 1].caption)
        assert {size for text, size in sizes.items() if text and first.startswith(text) and " " in text} == {15}


def test_a_zero_is_as_large_as_the_numbers_beside_it() -> None:
    rows = pv.trace_rows(Batch.parse("I love cats\nshe sleeps\nwe sing old songs"))
    movie = pv.movie(rows, ("leak",))
    influence = movie.frame(len(movie.steps))["marks"].values()
    assert sum(mark["p"] == "influence" and mark["text"] == "0" for mark in influence if mark["shown"]) > 9
    root, _ = parts(movie, len(movie.steps), width=1042, height=507)
    texts = [(node.text or "", float(node.get("font-size", ""))) for node in root.iter(SVG + "text")]
    numbers = {size for text, size in texts if re.fullmatch(r"0?\.\d\d", text)}
    assert len(numbers) == 1
    assert [size for text, size in texts if text == "0"].count(*numbers) > 9


@pytest.mark.parametrize("size", [(1200, 700), (900, 420)])
def test_the_numbers_of_an_embedded_pad_are_seen_in_a_low_cell_too(
    open_page: Open, tmp_path: Path, size: tuple[int, int]
) -> None:
    """Else the text of its id, 0, would look like a vector of zeros."""
    trace = pv.trace(Batch.parse("I love cats\nshe sleeps\nwe sing old songs"))
    movie = beside(trace)
    number = float(trace.padded.values[1, 3, 0])
    red, green, blue = (int(diverging(number / movie.scales["input"], LIGHT)[at : at + 2], 16) for at in (1, 3, 5))
    screen = open_page(movie, "#step=2", size=size)
    there = screen.places()
    cells = [cell for cell, _ in placed(movie, 2)]
    pads = [rect for cell, rect in zip(cells, there, strict=True) if rect and cell.role == "pad"]
    assert len(pads) == 3
    painted = pixels(BytesIO(b64decode(screen.picture().partition(",")[2])))
    drawn = pixels(movie.save(tmp_path / "m.png", 2, **LARGE))
    still_pads = [[*rect] for cell, rect in placed(movie, 2) if rect and cell.role == "pad"]
    for image, rects in ((painted, pads), (drawn, still_pads)):
        for x, y, w, h in rects:
            got = cast("tuple[int, ...]", image.getpixel((int(x + w / 5), int(y + 0.7 * h))))
            assert max(map(abs, map(sub, got, (red, green, blue)))) <= 8, (x, y, got)


def test_a_pad_without_a_text_is_hatched_in_its_middle_too(open_page: Open, tmp_path: Path) -> None:
    movie = pv.movie(pv.trace_rows(Batch.parse("I love cats\nshe sleeps")), ("fill",))
    screen = open_page(movie, "#step=2")
    painted = pixels(BytesIO(b64decode(screen.picture().partition(",")[2])))
    cells = [cell for cell, _ in placed(movie, 2)]
    free = [rect for cell, rect in zip(cells, screen.places(), strict=True) if rect and cell.role == "pad"]
    in_still = [rect for cell, rect in placed(movie, 2) if rect and cell.role == "pad"]
    drawn = pixels(movie.save(tmp_path / "m.png", 2, **LARGE))
    assert len(free) == len(in_still) > 0
    for image, rects, wide in ((painted, free, 3), (drawn, in_still, 12)):
        for x, y, w, h in rects:
            at = int(x + w / 2), int(y + h / 2)
            middle = image.crop((at[0] - wide, at[1] - 2 * wide, at[0] + wide, at[1] + 2 * wide))
            assert len(middle.getcolors() or []) > 1, (x, y)


def test_a_shape_that_is_not_opaque_is_mixed_with_what_is_below_it(tmp_path: Path) -> None:
    """The lines of a hatch, at 42%: in SVG as opacity, in a PNG as the colour that this gives."""
    movie = pv.movie(pv.trace(Batch.parse("1 2 3\n4")), ("pad",))
    assert 'opacity="0.42"' in movie.to_svg()
    colours = {colour for _, colour in pixels(movie.save(tmp_path / "m.png", **LARGE)).getcolors(2**24) or ()}
    ground, line = (tuple(bytes.fromhex(colour[1:])) for colour in (LIGHT.pad, LIGHT.pad_hatch))
    mixed = [round(below + 0.42 * (above - below)) for below, above in zip(ground, line, strict=True)]
    assert any(max(map(abs, map(sub, colour, mixed))) <= 2 for colour in cast("set[tuple[int, ...]]", colours))


PLACE = """() => {
    const [{ picture }] = window[Symbol.for("packviz")].players;
    return [picture.width, picture.height];
}"""


def test_a_still_places_every_cell_where_the_player_does(open_page: Open) -> None:
    for movie in (MOVIE, beside(pv.trace(Batch.parse("1 2 3\n4 5"))), pv.movie(pv.trace_rows(Batch.parse("1 2\n3")))):
        screen, seen = open_page(movie, size=(1200, 800)), 0
        place = screen.page.evaluate(PLACE)
        for step in range(1, len(movie.steps) + 1):
            screen.press(*["ArrowRight"] * (step > 1))
            if movie.steps[step - 1].error:
                continue
            for (cell, here), there in zip(placed(movie, step, place), screen.places(), strict=True):
                assert (here is None) == (there is None), (step, cell)
                if here and there:
                    assert [*here] == pytest.approx([*there], abs=0.01), (step, cell)
                    seen += 1
        assert seen > 50


def test_a_mark_distinguishes_sequences_of_one_hue(open_page: Open) -> None:
    """At the corner of each cell: no mark up to ten sequences, one up to twenty, then two."""
    movie = pv.movie(pv.trace(Batch.parse("\n".join(["1 2 3"] * 23))), ("pad",))
    step, marked = len(movie.steps), set[int]()
    screen = open_page(movie, f"#step={step}", size=(1200, 1000))
    painted = pixels(BytesIO(b64decode(screen.picture().partition(",")[2])))
    for (cell, _), place in zip(placed(movie, step), screen.places(), strict=True):
        if not place or cell.role != "token" or cell.seq is None:
            continue
        x, y, w, h = place
        hue = Image.new("RGB", (1, 1), SEQUENCE_HUES[cell.seq % 10]).getpixel((0, 0))
        points = [(int(x + w - 3 - lap * (min(9.0, 0.28 * h) + 1) - 1.5), int(y + 4.5)) for lap in range(2)]
        marks = [painted.getpixel(point) != pytest.approx(hue, abs=40) for point in points]
        assert marks == [cell.seq >= 10 * (lap + 1) for lap in range(2)]
        marked.add(cell.seq // 10)
    assert marked == {0, 1, 2}


def pixels(file: Any) -> Image.Image:
    with Image.open(file) as picture:
        return picture.convert("RGB")


def test_the_suffix_of_a_file_says_what_it_is(tmp_path: Path) -> None:
    movie = pv.movie(pv.trace(Batch.parse("1 2\n3")), ("pack",))
    assert movie.save(tmp_path / "m.HTML").read_text("utf-8") == movie.to_html()
    assert movie.save(tmp_path / "m.html", 2).read_text("utf-8") == movie.to_html(2)
    assert movie.save(tmp_path / "m.svg", 2, theme="dark").read_text("utf-8") == movie.to_svg(2, theme="dark")
    frames = sum(len(step["frames"]) for step in movie.to_dict()["steps"])
    for scale in (1, 2.5):
        with Image.open(movie.save(tmp_path / "m.png", 1, width=400, height=300, scale=scale)) as shown:
            root, _ = parts(movie, 1, width=400, height=300)
            assert shown.size == tuple(round(scale * float(root.get(side, ""))) for side in ("width", "height"))
            assert len(shown.convert("RGB").getcolors(2**24) or ()) > 20
    for name in ("m.gif", "m.apng"):
        with Image.open(movie.save(tmp_path / name)) as moving:
            assert 1 < getattr(moving, "n_frames", 1) <= frames


def test_many_small_cells_can_be_saved_as_a_moving_picture(tmp_path: Path) -> None:
    batch = Batch.parse("\n".join(["1 " * 12] * 12))
    for movie in (pv.movie(pv.trace_rows(batch), ("attention",)), pv.movie(pv.trace(batch), ("run",))):
        with Image.open(movie.save(tmp_path / "m.gif")) as moving:
            assert getattr(moving, "n_frames", 1) > 1
