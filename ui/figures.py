"""Charts in the app: built once for all visitors, in the colours of the page, with their text alternative."""

from collections.abc import Callable
from typing import Any

import streamlit as st

from packviz.theme import DARK, LIGHT
from ui.kept import kept
from ui.requests import Request
from ui.runs import Shown

__all__ = ["figure", "fresh"]

Draw = Callable[..., Any]


def figure(shown: Shown, draw: Draw, *of: Any, key: str, **chosen: Any) -> None:
    """Draw a chart of packviz.charts in light or dark, and say in words what it shows.

    of: what the chart is drawn of; all of it follows from the request of `shown`, and from `chosen`.
    """
    dark = st.context.theme.type == "dark"
    _show(_drawn(shown.request, draw.__name__, dark, tuple(chosen.items()), draw, of), key)


def fresh(draw: Draw, *of: Any, key: str, **chosen: Any) -> str:
    """Draw a chart that is not kept: of what has just been measured, or is small; return what it says in words."""
    chart = draw(*of, palette=DARK if st.context.theme.type == "dark" else LIGHT, **chosen)
    _show(chart, key)
    alt: str = chart.layout.meta["alt"]
    return alt


def _show(chart: Any, key: str) -> None:
    config = {"displaylogo": False, "displayModeBar": False}
    st.plotly_chart(chart, theme=None, key=key, alt=chart.layout.meta["alt"], config=config)


@kept
def _drawn(
    request: Request,  # noqa: ARG001
    name: str,  # noqa: ARG001
    dark: bool,
    chosen: tuple[tuple[str, Any], ...],
    _draw: Draw,
    _of: tuple[Any, ...],
) -> Any:
    return _draw(*_of, **dict(chosen), palette=DARK if dark else LIGHT)
