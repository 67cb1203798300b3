"""Any movie as one Plotly figure with frames: for Dash, a report, or a notebook that cannot show the player."""

from collections.abc import Mapping
from statistics import fmean
from typing import Any

import plotly.graph_objects as go

from packviz.charts.geometry import looks
from packviz.charts.layers import layered
from packviz.charts.page import BAR, Page
from packviz.charts.template import drawn
from packviz.theme import LIGHT, Palette

__all__ = ["film"]

BEAT, DWELL, READING = 700, 800, 26  # ms: a motion, a rest, and for each letter of a caption


def film(movie: Mapping[str, Any], palette: Palette = LIGHT, *, width: int = 1200, height: int = 680) -> go.Figure:
    """Return a movie (`Movie.to_dict()`) as a figure with one frame a step, a play button and a slider.

    width, height: pixels of the figure; where it is not much wider than high, panels stand above one another.

    Every cell is a bar: of what Plotly moves smoothly, only bars are rectangles. Each has the same id in every frame,
    each trace the same uid, and no frame lacks a point, so the first transition is as smooth as the others. Frames
    ask for `redraw`: without it bars move but keep their colours. Write it with `write_html(path, auto_play=False)`:
    plotly.py otherwise plays all frames at once as the page opens, and what is pressed meanwhile jumps.

    `layout.meta["alt"]` says in one sentence what is shown, `layout.meta["captions"]` what is said at each step.
    What the player can and this cannot: a step is one motion, without the beats within it; threads and dashed
    outlines, which are lines, come and go at once; it does not adapt to the window; its controls have no keys.
    Beyond 400 tokens cells have no stripes, and steps follow without motion.
    """
    page = Page(movie, palette, width, height)
    frames = [page.marks(k, frame) for k, frame in enumerate(looks(movie))]
    data, changes = layered(frames, palette)
    captions = [_spoken(step["caption"]) for step in movie["steps"]]
    alt = f"{movie['title']}, in {len(frames)} steps. {captions[0]}"
    shown = [{"name": str(k + 1), "data": change, "traces": list(range(len(data)))} for k, change in enumerate(changes)]
    return drawn(data, _layout(page, captions), alt, palette, frames=shown, captions=captions)


def _spoken(text: str) -> str:
    """Return a caption without its marks, as one says it."""
    return text.replace("**", "").replace("{", "").replace("}", "")


def _layout(page: Page, captions: list[str]) -> dict[str, Any]:
    axis = {"visible": False, "fixedrange": True, "automargin": False}
    motion = 0 if page.many else BEAT
    rest = DWELL + READING * fmean(map(len, captions))
    moves = {"mode": "immediate", "transition": {"duration": motion, "easing": "cubic-in-out"}}
    return {
        "width": page.width,
        "height": page.height,
        "barmode": "overlay",
        "showlegend": False,
        "hovermode": "closest",
        "dragmode": False,
        "plot_bgcolor": page.palette.background,
        "paper_bgcolor": page.palette.background,
        "margin": {"l": 0, "r": 0, "t": 0, "b": BAR, "pad": 0},
        "xaxis": axis | {"range": [0, page.width]},
        "yaxis": axis | {"range": [page.height - BAR, 0]},
        "updatemenus": [_buttons(page, len(captions), moves, motion + rest)],
        "sliders": [_slider(page, moves)],
    }


def _buttons(page: Page, steps: int, moves: dict[str, Any], lasts: float) -> dict[str, Any]:
    play = moves | {"fromcurrent": True, "frame": {"duration": round(lasts), "redraw": True}}
    pause = {"mode": "immediate", "frame": {"duration": 0, "redraw": True}, "transition": {"duration": 0}}
    names = [str(k + 1) for k in range(steps)]
    return {
        "type": "buttons",
        "direction": "left",
        "showactive": False,
        "x": 0,
        "y": 0,
        "xanchor": "left",
        "yanchor": "top",
        "pad": {"l": 14, "t": 26},
        "bgcolor": page.palette.surface,
        "bordercolor": page.palette.line,
        "font": {"color": page.palette.text},
        "buttons": [
            {"label": "Play", "method": "animate", "args": [names[1:] or names, play]},
            {"label": "Pause", "method": "animate", "args": [[None], pause]},
        ],
    }


def _slider(page: Page, moves: dict[str, Any]) -> dict[str, Any]:
    go_there = moves | {"frame": {"duration": moves["transition"]["duration"], "redraw": True}}
    steps = page.movie["steps"]
    return {
        "active": 0,
        "x": 150 / page.width,
        "len": 1 - 190 / page.width,
        "y": 0,
        "pad": {"t": 6, "b": 8},
        "currentvalue": {"prefix": "Step ", "suffix": f" of {len(steps)}", "font": {"color": page.palette.text}},
        "font": {"color": page.palette.quiet},
        "bgcolor": page.palette.surface,
        "bordercolor": page.palette.line,
        "activebgcolor": page.palette.now,
        "transition": moves["transition"],
        "steps": [
            {"label": f"{k + 1} {step['stage'].capitalize()}", "method": "animate", "args": [[str(k + 1)], go_there]}
            for k, step in enumerate(steps)
        ],
    }
