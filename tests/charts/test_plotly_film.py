"""The film: the movie's own places, colours and words as Plotly frames, and in a browser they move."""

import html
import re
from collections.abc import Iterator
from functools import cache
from math import isnan
from pathlib import Path
from typing import Any, get_args

import plotly.graph_objects as go
import pytest
from movie_screen import Show, rect_of
from playwright.sync_api import Browser

import packviz as pv
from packviz import Batch, Config
from packviz.charts import film
from packviz.charts.brush import Brush
from packviz.movie import STAGES, beside
from packviz.movie.model import Role
from packviz.theme import DARK, LIGHT, SEQUENCE_HUES, Palette, diverging, mix

BATCHES = {
    "forum": ("1 2 3\n4 5\n6", Config()),
    "unsorted": ("1 2 3\n4 5\n6 7 8 9", Config()),
    "words": ("on your mark\nget set\ngo", Config(cell="lstm", bidirectional=True)),
    "one token": ("7", Config(cell="rnn")),
    "time first, left": ("1 2 3\n4\n5 6", Config(batch_first=False, padding_side="left")),
    "refused": ("1 2\n3 4 5\n6", Config(enforce_sorted=True)),
    "twelve": ("\n".join("1 2" for _ in range(12)), Config()),
}
DEEP = {
    **{name: BATCHES[name] for name in ("unsorted", "words", "one token", "time first, left", "refused")},
    "sorted, enforced": ("1 2 3\n4 5\n6", Config(enforce_sorted=True)),
    "LSTM, two layers": ("1 2 3\n4 5 6 7\n8", Config(cell="lstm", num_layers=2, bidirectional=True)),
    "left, wider": ("on your mark\ngo\nget set", Config(padding_side="left", total_length=5)),
}
TRACES = {name: pv.trace(Batch.parse(text), config) for name, (text, config) in (BATCHES | DEEP).items()}
MOVIES = {
    **{name: pv.movie(TRACES[name]) for name in BATCHES},
    **{f"deep, {name}": pv.movie(TRACES[name], deep=True) for name in DEEP},
    **{f"deep, only {stage}": pv.movie(TRACES["words"], [stage], deep=True) for stage in STAGES},
    "beside": beside(TRACES["unsorted"]),
    "beside, backward": beside(TRACES["LSTM, two layers"], direction=1),
}
each = pytest.mark.parametrize("name", MOVIES)
each_deep = pytest.mark.parametrize("name", [name for name in MOVIES if name not in BATCHES])
PALETTES = {"light": LIGHT, "dark": DARK}
both = pytest.mark.parametrize("light", PALETTES)


@cache
def figure_of(name: str, light: str = "light") -> go.Figure:
    return MOVIES[name].to_plotly(PALETTES[light])


@cache
def told(name: str, light: str = "light") -> list[dict[str, dict[str, dict[str, Any]]]]:
    return frames_of(figure_of(name, light))


@cache
def show_of(name: str) -> Show:
    return Show(MOVIES[name])


def frames_of(figure: go.Figure) -> list[dict[str, dict[str, dict[str, Any]]]]:
    """Return, for each frame, layer -> id -> what stands there, with what the first traces hold for good."""
    frames = []
    for frame in figure.frames:
        layers = {}
        for i, change in zip(frame.traces, frame.data, strict=True):
            base = flat(figure.data[i].to_plotly_json())
            base |= flat(change.to_plotly_json())
            lists = {key: list(value) for key, value in base.items() if key != "ids" and len(value) == len(base["ids"])}
            layers[figure.data[i].name] = {
                name: {key: value[n] for key, value in lists.items()} for n, name in enumerate(base["ids"])
            }
        frames.append(layers)
    return frames


def flat(tree: dict[str, Any], before: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in tree.items():
        if isinstance(value, dict):
            found |= flat(value, f"{before}{key}.")
        elif not isinstance(value, str | int | float | bool | None):
            found[before + key] = value
    return found


def alike(one: Any, other: Any) -> bool:
    return one == other or (one != one and other != other)


def lined(trace: Any) -> bool:
    return trace.type == "scatter" and trace.mode == "lines"


def test_every_role_of_a_movie_has_a_painter() -> None:
    brush = Brush(MOVIES["forum"].to_dict(), LIGHT, 40.0, [])
    assert set(brush.painters) == set(get_args(Role))
    assert {cell.role for movie in MOVIES.values() for cell in movie.cells} == set(get_args(Role))


@each
def test_there_is_one_frame_a_step(name: str) -> None:
    figure = figure_of(name)
    assert [frame.name for frame in figure.frames] == [str(k + 1) for k in range(len(MOVIES[name].steps))]


@each
def test_the_first_frame_is_what_is_there_already(name: str) -> None:
    figure = figure_of(name)
    for trace, change in zip(figure.data, figure.frames[0].data, strict=True):
        there, first = flat(trace.to_plotly_json()), flat(change.to_plotly_json())
        assert all(alike(a, b) for key in first for a, b in zip(there[key], first[key], strict=True))


@each
def test_every_frame_has_every_point_and_no_id_comes_twice(name: str) -> None:
    figure = figure_of(name)
    for frame in figure.frames:
        assert frame.traces == tuple(range(len(figure.data)))
        for trace, change in zip(figure.data, frame.data, strict=True):
            assert change.ids is None
            assert len(set(trace.ids)) == len(trace.ids)
            assert {len(column) for column in flat(change.to_plotly_json()).values()} <= {len(trace.ids)}


@pytest.mark.parametrize(
    ("name", "size"), [*((name, (1200, 680)) for name in MOVIES), *((name, (390, 760)) for name in BATCHES)]
)
def test_cells_stand_where_the_movie_has_them(name: str, size: tuple[int, int]) -> None:
    show = show_of(name)
    for k, layers in enumerate(frames_of(film(show.data, width=size[0], height=size[1]))):
        views = [v for kind in ("wide", "tall") for v in show.data["scenes"][scene_of(show.steps[k])][kind]]
        misses = [placed_amiss(view, show.after[k], layers) for view in views]
        assert min(misses) < 0.4, (k, misses)


def scene_of(step: dict[str, Any]) -> str:
    return step.get("scene", step["stage"])


Spot = tuple[float, float]
SOLID = {"token": ("tokens", ""), "flag": ("ground", ""), "mark": ("rings", "/around")}


def spots_of(cell: dict[str, Any], layers: dict[str, Any]) -> list[Spot]:
    """Return where a cell is drawn: the middle of a tile, the two ends of a thread; nothing where it is hidden."""
    if cell["role"] == "thread":
        lines = [layer for name, layer in layers.items() if name.startswith("threads") and f"{cell['id']}/0" in layer]
        ends = [line[f"{cell['id']}/{i}"] for line in lines for i in (0, 16)]
        return [(end["x"], end["y"]) for end in ends if not isnan(end["x"])]
    layer, slot = SOLID[cell["role"]]
    mark = layers.get(layer, {}).get(cell["id"] + slot)
    return [(mark["x"], mark["base"] + mark["y"] / 2)] if mark and mark["marker.opacity"] else []


def wanted(view: dict[str, Any], cell: dict[str, Any]) -> list[Spot]:
    """Return the same in the units of a view."""
    box = rect_of(view, cell)
    if not cell["shown"] or box is None:
        return []
    left, top, right, bottom = box
    return [(left, top), (right, bottom)] if cell["role"] == "thread" else [((left + right) / 2, (top + bottom) / 2)]


def placed_amiss(view: dict[str, Any], cells: dict[str, Any], layers: dict[str, Any]) -> float:
    """Return the largest distance in pixels between cells and their places, after the best shift and scale."""
    pairs = []
    for cell in cells.values():
        if cell["role"] in {*SOLID, "thread"}:
            places, drawn = wanted(view, cell), spots_of(cell, layers)
            if len(places) != len(drawn):
                return float("inf")
            pairs += [(*place, *spot) for place, spot in zip(places, drawn, strict=True)]
    if not pairs:
        return 0.0
    (x, y, left, top), *rest = pairs
    far = max(pairs, key=lambda pair: abs(pair[0] - x) + abs(pair[1] - y))
    away = abs(far[0] - x) + abs(far[1] - y)
    unit = (abs(far[2] - left) + abs(far[3] - top)) / away if away else 0.0
    return max((abs(px - left - (a - x) * unit) + abs(py - top - (b - y) * unit) for a, b, px, py in rest), default=0.0)


def seen_in(name: str, light: str, *roles: str) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Yield each cell of these roles with the layers of its frame, wherever its panel is shown too."""
    for cells, layers in zip(show_of(name).after, told(name, light), strict=True):
        for cell in cells.values():
            if cell["role"] in roles and cell["shown"]:
                yield cell, layers


@each
@both
def test_tokens_have_their_sequences_hue_in_every_frame(name: str, light: str) -> None:
    movie = MOVIES[name]
    own = {cell.id: SEQUENCE_HUES[cell.sequence % 10] for cell in movie.cells if cell.role == "token"}
    for layers in told(name, light):
        shown = {key: mark for key, mark in layers["tokens"].items() if key in own and mark["marker.opacity"]}
        assert {key: mark["marker.color"] for key, mark in shown.items()} == {key: own[key] for key in shown}


@each_deep
@both
def test_a_thread_has_the_edge_colour_of_its_sequence(name: str, light: str) -> None:
    colors = {trace.name: trace.line.color for trace in figure_of(name, light).data if lined(trace)}
    for cell, layers in seen_in(name, light, "thread"):
        [layer] = [layer for layer, points in layers.items() if f"{cell['id']}/0" in points]
        assert colors[layer] == mix(SEQUENCE_HUES[cell["seq"] % 10], PALETTES[light].text, 0.35)


@each_deep
@both
def test_an_outline_has_the_colour_of_its_tone_and_is_dashed_where_wrong(name: str, light: str) -> None:
    palette = PALETTES[light]
    lines = {trace.name: trace.line for trace in figure_of(name, light).data if lined(trace)}
    for cell, layers in seen_in(name, light, "mark"):
        edge = layers["rings"].get(f"{cell['id']}/tone", {"marker.opacity": 0})
        knots = [layers.get("wrongs", {}).get(f"{cell['id']}/{i}", {"x": float("nan")}) for i in range(5)]
        dashed = not any(isnan(knot["x"]) for knot in knots)
        if not layers["rings"].get(f"{cell['id']}/around", {}).get("marker.opacity"):
            continue  # its panel is not shown
        assert (dashed, bool(edge["marker.opacity"])) == ((True, False) if cell["tone"] == "wrong" else (False, True))
        if dashed:
            assert (lines["wrongs"].color, lines["wrongs"].dash) == (palette.wrong, "6px,3px")
        else:
            assert edge["marker.line.color"] == getattr(palette, cell["tone"] or "now")


@each_deep
@both
def test_a_flag_is_tinted_where_true_and_looks_like_padding_where_false(name: str, light: str) -> None:
    palette: Palette = PALETTES[light]
    for cell, layers in seen_in(name, light, "flag"):
        tint = mix(palette.background, SEQUENCE_HUES[cell["seq"] % 10], 0.3)
        tile = layers["ground"][cell["id"]]
        assert tile["marker.color"] == (tint if cell["text"] == "True" else palette.pad)
        assert layers["words"][cell["id"]]["text"] in ("<b>True</b>", "<b>T</b>", "False", "F")


@each_deep
@both
def test_a_remark_has_the_colour_of_its_tone(name: str, light: str) -> None:
    palette = PALETTES[light]
    for cell, layers in seen_in(name, light, "note"):
        word = layers["words"].get(cell["id"])
        if word and word["text"].strip("\u00a0"):
            assert word["textfont.color"] == getattr(palette, cell["tone"] or "quiet")


@each
def test_numbers_have_the_colour_of_the_theme_on_the_movies_scale(name: str) -> None:
    movie, show = MOVIES[name], show_of(name)
    for k, layers in enumerate(told(name, "dark")):
        for key, mark in layers.get("numbers", {}).items():
            cell = show.after[k].get(key, {"role": ""})
            if cell["role"] == "value" and mark["marker.opacity"] and not cell["text"]:
                assert mark["marker.color"] == diverging(cell["v"] / movie.scales[cell["scale"]], DARK)


@each
def test_every_caption_is_said_in_its_frame(name: str) -> None:
    figure = figure_of(name)
    said = [re.sub(r"[{}]|\*\*", "", step.caption) for step in MOVIES[name].steps]
    assert list(figure.layout.meta["captions"]) == said
    shown = [layers["words"]["caption"]["text"] for layers in told(name)]
    assert [html.unescape(re.sub(r"<[^>]*>", "", text.replace("<br>", " "))) for text in shown] == said


@each
def test_there_are_a_play_button_and_a_slider_over_all_steps(name: str) -> None:
    figure = figure_of(name)
    assert [button.label for button in figure.layout.updatemenus[0].buttons] == ["Play", "Pause"]
    stages = [f"{k + 1} {step.stage.capitalize()}" for k, step in enumerate(MOVIES[name].steps)]
    assert [step.label for step in figure.layout.sliders[0].steps] == stages
    assert [step.args[0] for step in figure.layout.sliders[0].steps] == [(frame.name,) for frame in figure.frames]


@each
def test_what_happens_within_a_line_of_code_stays_in_its_column_and_loses_no_letter(name: str) -> None:
    for step, layers in zip(show_of(name).steps, told(name), strict=True):
        for i, (code, shape) in enumerate(step.get("detail", ())):
            rows = layers["words"][f"detail:{i}"]["text"].split("<br>")
            rows = [html.unescape(re.sub(r"<[^>]*>", "", row)) for row in rows]
            assert max(map(len, rows)) <= 42
            assert layers["words"][f"detail:{i}"]["y"] + len(rows) * 16.5 <= 600  # below stands the slider
            assert re.sub(r"\s", "", "".join(rows)) == re.sub(r"\s", "", code + (f"→{shape}" if shape else ""))


def test_what_was_typed_is_never_markup() -> None:
    typed = ["<b>x</b>", "<a href='javascript:alert(1)'>", "$x^2$", "&lt;i&gt;", "<br>"]
    figure = pv.movie(pv.trace(Batch.parse("\n".join(f"{word} y" for word in typed), kind="words"))).to_plotly()
    texts = [text for layers in frames_of(figure) for layer in layers.values() for mark in layer.values()
             for key, text in mark.items() if key in ("text", "hovertext")]  # fmt: skip
    tags = {tag for text in texts for tag in re.findall(r"<[^>]*>", text)}
    assert all(re.fullmatch(r"</?b>|<br>|</span>|<span style=\"color:#[0-9a-f]{6}\">", tag) for tag in tags), tags
    assert not any("$" in text for text in texts)
    assert any("&lt;b&gt;x&lt;/b&gt;" in text for text in texts)


def test_the_error_of_torch_is_shown_where_it_refuses() -> None:
    words = told("refused")[-1]["words"]
    assert "enforce_sorted" in words["error"]["text"]


POSITIONS = """async () => {
    const chart = document.querySelector(".js-plotly-plot"), seen = [];
    const at = () => [...chart.querySelectorAll(".trace.bars")[1].querySelectorAll(".point path")].map(node => {
        const box = node.getBoundingClientRect();
        return Math.round(box.x + box.width / 2) + ":" + Math.round(box.y); });
    seen.push(at());
    const [step] = chart.layout.sliders[0].steps.filter(step => step.label.endsWith("Pack"));
    Plotly.animate(chart, step.args[0], step.args[1]);
    const start = performance.now();
    while (performance.now() - start < 4000) { await new Promise(requestAnimationFrame); seen.push(at()); }
    return seen;
}"""


def test_the_very_first_transition_moves_and_does_not_jump(browser: Browser, tmp_path: Path) -> None:
    path, noise = tmp_path / "film.html", []
    MOVIES["unsorted"].to_plotly().write_html(path, include_plotlyjs=True, auto_play=False)
    page = browser.new_page()
    page.on("pageerror", lambda error: noise.append(str(error)))
    page.on("console", lambda message: noise.append(message.text) if message.type in ("error", "warning") else None)
    page.goto(path.as_uri())
    page.locator(".trace.bars .point path").first.wait_for(state="attached")
    seen = page.evaluate(POSITIONS)
    page.close()
    moved = [i for i, (a, b) in enumerate(zip(seen[0], seen[-1], strict=True)) if a != b]
    assert moved
    for i in moved[:1]:
        between = {frame[i] for frame in seen} - {seen[0][i], seen[-1][i]}
        assert len(between) >= 2
    assert noise == []
