"""A movie in a notebook: its frame, what an untrusted notebook shows, the widget, and the example notebooks."""

import ast
import base64
import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from movie_player import Screen
from playwright.sync_api import Browser, expect
from tabs import Size, box_of, enter, tab

import packviz as pv
from packviz import Batch, Config
from packviz.predictions import asking
from packviz.show.movie import assets

MOVIE = pv.movie(pv.trace(Batch.parse("1 2 3\n4 5\n6 7 8 9")))
NOTEBOOKS = [Path(__file__).parents[2] / "docs" / f"{readers}.ipynb" for readers in ("engineers", "students")]
GROUNDS = ("color(srgb 1 1 1)", "oklch(0.2 0.02 250)")  # of a page, light and dark
HEARD = "window.heard = []; window.addEventListener('message', ({ data }) => window.heard.push(data.packviz))"
WIDGET = """async ([script, values, player, ground]) => {
    document.body.style.background = ground;
    const module = await import(URL.createObjectURL(new Blob([script], { type: "text/javascript" })));
    const heard = {};
    window.model = {
        widget_manager: { get_model: async (id) => ({ get: (name) => player[id][name] }) },
        get: (name) => values[name],
        set: (name, value) => { if (values[name] !== value) { values[name] = value; heard[`change:${name}`]?.(); } },
        save_changes: () => {}, on: (event, then) => { heard[event] = then; }, off: (event) => { delete heard[event]; },
    };
    const el = document.createElement("div");
    window.gone = await module.default.render({ model: window.model, el });
    document.body.append(el);
}"""


@pytest.mark.browser
@pytest.mark.parametrize(("size", "dark"), [((1200, 900), False), ((300, 700), True)])
def test_the_frame_of_a_notebook_fits_its_movie_and_the_page(
    browser: Browser, tmp_path: Path, size: Size, dark: bool
) -> None:
    with tab(browser, size, scheme="light" if dark else "dark") as opened:
        page, file = opened.page, tmp_path / "notebook.html"
        body = f"<body style='background:{GROUNDS[dark]}'><div>{asking(MOVIE, 'pack')._repr_html_()}</div>"
        file.write_text(f"<!doctype html><title>n</title>{body}", "utf-8")
        page.goto(file.as_uri())
        page.wait_for_selector("iframe")
        (frame,) = page.main_frame.child_frames
        frame.wait_for_selector(".pv canvas")
        expect(frame.locator(".pv")).to_have_attribute("data-theme", "dark" if dark else "light")
        page.wait_for_function("document.querySelector('iframe').style.height !== '560px'")
        assert 0 <= box_of(page.locator("iframe"))["height"] - box_of(frame.locator("main"))["height"] <= 1
        assert frame.evaluate("document.documentElement.scrollWidth <= innerWidth")
        expect(page.get_by_text("trust this notebook")).to_be_hidden()
        page.evaluate(HEARD)
        say = "told => document.querySelector('iframe').contentWindow.postMessage({ packviz: told }, '*')"
        page.evaluate(say, {})  # its step is known already
        page.wait_for_function("window.heard.some(({ step, height }) => step === 1 && height > 300)")
        page.evaluate(say, {"theme": "light" if dark else "dark", "step": 5})
        page.wait_for_function("window.heard.some(({ step }) => step === 5)")
        expect(frame.locator(".pv")).to_have_attribute("data-theme", "light" if dark else "dark")
        asked = frame.get_by_test_id("packviz-prediction")
        enter(asked.get_by_role("textbox"), "3;3;2;1")
        expect(asked.get_by_role("status")).to_contain_text("✓ Right.")
        assert opened.errors == []


def test_without_scripts_frames_and_styles_a_picture_and_a_line_are_left() -> None:
    """What an untrusted notebook and GitHub leave of it."""
    _, _, rest = MOVIE._repr_html_().partition("</iframe>")
    left = ElementTree.fromstring(f"<left>{rest}</left>")
    (image,), (line,) = left.iter("img"), left.iter("p")
    assert image.get("src", "").startswith("data:image/svg+xml;base64,")
    assert image.get("alt") == line.text
    assert (line.text or "").startswith(repr(MOVIE))
    large = pv.movie(pv.trace(Batch.parse("\n".join(["1 " * 60] * 40)), Config(hidden_size=8)))
    assert "<img" not in large.still()
    assert large.title in large.still()


@pytest.mark.parametrize("enforced", [False, True])
def test_a_trace_shows_its_packed_rows_or_where_torch_refused(enforced: bool) -> None:
    trace = pv.trace(Batch.parse("1 2 3\n4 5\n6 7 8 9"), Config(enforce_sorted=enforced))
    shown = ElementTree.fromstring(f"<shown>{getattr(trace, '_repr_html_')()}</shown>")  # noqa: B009
    (image,), (line,) = shown.iter("img"), shown.iter("p")
    assert line.text == repr(trace)
    picture = base64.b64decode(image.get("src", "").partition(",")[2]).decode()
    assert ("packed data (9, 1)" in picture) is not enforced
    assert ("must be sorted in decreasing order" in picture) is enforced


@pytest.mark.browser
@pytest.mark.parametrize("dark", [False, True])
def test_the_widget_and_its_model_share_step_and_picked_cell(browser: Browser, dark: bool) -> None:
    widget = MOVIE.widget(3)
    assert widget.step == 3
    assert widget.picked == {}
    with tab(browser, (900, 800), scheme="light" if dark else "dark") as opened:
        page = opened.page
        state = widget.get_state()
        page.evaluate(WIDGET, [widget._esm, state, {widget.player.model_id: widget.player.get_state()}, GROUNDS[dark]])
        player = page.get_by_test_id("packviz-player")
        expect(player).to_have_attribute("data-theme", "dark" if dark else "light")
        expect(player).to_have_attribute("data-step", "3")
        page.evaluate("window.model.set('step', 7)")
        expect(player).to_have_attribute("data-step", "7")
        page.keyboard.press("ArrowRight")  # the notebook's own: the player has not the focus
        expect(player).to_have_attribute("data-step", "7")
        player.focus()
        page.keyboard.press("ArrowRight")
        page.wait_for_function("window.model.get('step') === 8")
        screen = Screen(opened, motion=True)
        screen.rest()
        # The step and a cell that comes only in it, set in one breath: the cell is outlined once it is there.
        page.evaluate("window.model.set('step', 15); window.model.set('picked', { role: 'output' })")
        expect(player).to_have_attribute("data-step", "15")
        outlined = screen.picture()
        page.evaluate("window.model.set('picked', {})")
        assert screen.picture() != outlined
        spots = ((x, y) for y in range(10, 240, 25) for x in range(10, 300, 25))
        picked: dict[str, Any] = {}
        while not picked:
            x, y = next(spots)
            player.locator("canvas").click(position={"x": x, "y": y})
            picked = page.evaluate("window.model.get('picked')")
        assert picked["step"] == 15
        assert set(picked) == {"role", "seq", "k", "step", "token"}
        page.evaluate("window.gone()")
        expect(player).to_have_count(0)
        assert "Reduce of empty array" not in str(opened.errors)  # of players, none of which wants the key


@pytest.mark.browser
def test_a_widget_in_a_frame_does_not_look_for_a_page_again_and_again(browser: Browser) -> None:
    with tab(browser, (900, 800)) as opened:
        opened.page.set_content("<iframe srcdoc='<!doctype html><title>output</title>'></iframe>")
        (frame,) = opened.page.main_frame.child_frames
        frame.wait_for_load_state()
        frame.evaluate("""() => {
          window.asked = 0;
          const query = document.querySelector.bind(document);
          document.querySelector = (selector) => { window.asked += /pv-page/.test(selector); return query(selector); };
        }""")
        widget = MOVIE.widget()
        player = {widget.player.model_id: widget.player.get_state()}
        frame.evaluate(WIDGET, [widget._esm, widget.get_state(), player, GROUNDS[0]])
        frame.wait_for_selector(".pv canvas")
        opened.page.wait_for_timeout(700)
        assert frame.evaluate("window.asked") == 0


def test_widgets_share_one_player_and_carry_little_more_than_their_movie() -> None:
    first, second = MOVIE.widget(), MOVIE.widget()
    assert first.player is second.player
    assert (first.player.style, first.player.code) == assets()
    state = second.get_state()
    assert state["player"] == f"IPY_MODEL_{first.player.model_id}"
    assert len(json.dumps(state)) < len(state["movie"]) + 2_000
    first.player.close()
    assert MOVIE.widget().player is first.player is second.player
    assert not first.player.comm._closed  # a new one, for all of them


def test_a_widget_prints_on_one_line() -> None:
    widget = MOVIE.widget()
    told, _ = widget._repr_mimebundle_()
    assert told["text/plain"] == repr(MOVIE)
    assert told["text/html"] == MOVIE.still()
    assert "application/vnd.jupyter.widget-view+json" in told
    for wrong in (0, len(MOVIE.steps) + 1):
        with pytest.raises(pv.PackvizError):
            MOVIE.widget(wrong)
        with pytest.raises(pv.PackvizError):
            widget.step = wrong
    assert repr(widget) == f"MovieWidget({MOVIE!r})"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_cells_of_an_example_notebook_run_and_show_what_they_end_with(path: Path) -> None:
    notebook, names, shown = json.loads(path.read_text("utf-8")), dict[str, Any](), 0
    for cell in notebook["cells"]:
        if cell["cell_type"] != "code":
            continue
        assert cell["outputs"] == []  # they are made when it is read
        *body, last = ast.parse("".join(cell["source"])).body
        ends = isinstance(last, ast.Expr)
        exec(compile(ast.Module(body if ends else [*body, last], []), str(path), "exec"), names)
        value = eval(ast.unparse(last), names) if ends else None
        shown += value is not None
        assert "\n" not in repr(value) or hasattr(value, "_repr_html_") or isinstance(value, str)
    assert shown >= 3
