"""The film: the movie's own places, colours and words as Plotly frames, and in a browser they move."""

import html
import re
from pathlib import Path
from typing import Any

import plotly.graph_objects as go
import pytest
from movie_screen import Show, rect_of
from playwright.sync_api import Browser

import packviz as pv
from packviz import Batch, Config
from packviz.charts import film
from packviz.theme import DARK, LIGHT, SEQUENCE_HUES, diverging

BATCHES = {
    "forum": ("1 2 3\n4 5\n6", Config()),
    "unsorted": ("1 2 3\n4 5\n6 7 8 9", Config()),
    "words": ("on your mark\nget set\ngo", Config(cell="lstm", bidirectional=True)),
    "one token": ("7", Config(cell="rnn")),
    "time first, left": ("1 2 3\n4\n5 6", Config(batch_first=False, padding_side="left")),
    "refused": ("1 2\n3 4 5\n6", Config(enforce_sorted=True)),
    "twelve": ("\n".join("1 2" for _ in range(12)), Config()),
}
MOVIES = {name: pv.movie(pv.trace(Batch.parse(text), config)) for name, (text, config) in BATCHES.items()}
each = pytest.mark.parametrize("name", MOVIES)


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


@each
def test_there_is_one_frame_a_step(name: str) -> None:
    figure = MOVIES[name].to_plotly()
    assert [frame.name for frame in figure.frames] == [str(k + 1) for k in range(len(MOVIES[name].steps))]


@each
def test_the_first_frame_is_what_is_there_already(name: str) -> None:
    figure = film(MOVIES[name].to_dict())
    for trace, change in zip(figure.data, figure.frames[0].data, strict=True):
        there, first = flat(trace.to_plotly_json()), flat(change.to_plotly_json())
        assert all(list(there[key]) == list(column) for key, column in first.items())


@each
def test_every_frame_has_every_point_and_no_id_comes_twice(name: str) -> None:
    figure = film(MOVIES[name].to_dict())
    for frame in figure.frames:
        assert frame.traces == tuple(range(len(figure.data)))
        for trace, change in zip(figure.data, frame.data, strict=True):
            assert change.ids is None
            assert len(set(trace.ids)) == len(trace.ids)
            assert {len(column) for column in flat(change.to_plotly_json()).values()} <= {len(trace.ids)}


@each
@pytest.mark.parametrize("size", [(1200, 680), (390, 760)])
def test_cells_stand_where_the_movie_has_them(name: str, size: tuple[int, int]) -> None:
    movie = MOVIES[name]
    show = Show(movie)
    for k, layers in enumerate(frames_of(film(movie.to_dict(), width=size[0], height=size[1]))):
        views = [v for kind in ("wide", "tall") for v in movie.to_dict()["scenes"][scene_of(show.steps[k])][kind]]
        misses = [placed_amiss(view, show.after[k], layers["tokens"]) for view in views]
        assert min(misses) < 0.4, (k, misses)


def scene_of(step: dict[str, Any]) -> str:
    return step.get("scene", step["stage"])


def placed_amiss(view: dict[str, Any], cells: dict[str, Any], drawn: dict[str, Any]) -> float:
    """Return the largest distance in pixels between tokens and their places, after the best shift and scale."""
    pairs = []
    for name, cell in cells.items():
        box = rect_of(view, cell)
        if cell["role"] != "token":
            continue
        shown = bool(drawn.get(name, {"marker.opacity": 0})["marker.opacity"])
        if shown != (cell["shown"] and box is not None):
            return float("inf")
        if shown and box is not None:
            mark = drawn[name]
            pairs.append(((box[0] + box[2]) / 2, (box[1] + box[3]) / 2, box[3] - box[1], mark))
    if not pairs:
        return 0.0
    spots = [(a, b, mark["x"], mark["base"] + mark["y"] / 2) for a, b, _, mark in pairs]
    (x, y, left, top), *rest = spots
    far = max(spots, key=lambda spot: abs(spot[0] - x) + abs(spot[1] - y))
    away = abs(far[0] - x) + abs(far[1] - y)
    unit = (abs(far[2] - left) + abs(far[3] - top)) / away if away else 0.0
    return max((abs(px - left - (a - x) * unit) + abs(py - top - (b - y) * unit) for a, b, px, py in rest), default=0.0)


@each
@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_tokens_have_their_sequences_hue_in_every_frame(name: str, palette: Any) -> None:
    movie = MOVIES[name]
    own = {cell.id: SEQUENCE_HUES[cell.sequence % 10] for cell in movie.cells if cell.role == "token"}
    for layers in frames_of(movie.to_plotly(palette)):
        shown = {key: mark for key, mark in layers["tokens"].items() if key in own and mark["marker.opacity"]}
        assert {key: mark["marker.color"] for key, mark in shown.items()} == {key: own[key] for key in shown}


@each
def test_numbers_have_the_colour_of_the_theme_on_the_movies_scale(name: str) -> None:
    movie, show = MOVIES[name], Show(MOVIES[name])
    for k, layers in enumerate(frames_of(movie.to_plotly(DARK))):
        for key, mark in layers.get("numbers", {}).items():
            cell = show.after[k].get(key, {"role": ""})
            if cell["role"] == "value" and mark["marker.opacity"] and not cell["text"]:
                assert mark["marker.color"] == diverging(cell["v"] / movie.scales[cell["scale"]], DARK)


@each
def test_every_caption_is_said_in_its_frame(name: str) -> None:
    figure = MOVIES[name].to_plotly()
    said = [re.sub(r"[{}]|\*\*", "", step.caption) for step in MOVIES[name].steps]
    assert list(figure.layout.meta["captions"]) == said
    shown = [layers["words"]["caption"]["text"] for layers in frames_of(figure)]
    assert [html.unescape(re.sub(r"<[^>]*>", "", text.replace("<br>", " "))) for text in shown] == said


@each
def test_there_are_a_play_button_and_a_slider_over_all_steps(name: str) -> None:
    figure = MOVIES[name].to_plotly()
    assert [button.label for button in figure.layout.updatemenus[0].buttons] == ["Play", "Pause"]
    stages = [f"{k + 1} {step.stage.capitalize()}" for k, step in enumerate(MOVIES[name].steps)]
    assert [step.label for step in figure.layout.sliders[0].steps] == stages
    assert [step.args[0] for step in figure.layout.sliders[0].steps] == [(frame.name,) for frame in figure.frames]


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
    words = frames_of(MOVIES["refused"].to_plotly())[-1]["words"]
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
