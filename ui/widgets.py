"""One widget of each kind: its name is its label, its key and its name in the URL."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

__all__ = ["choice", "maybe_whole", "number", "of_every_page", "switch", "whole"]

T = TypeVar("T")


@contextmanager
def of_every_page() -> Iterator[None]:
    """Give the widgets and containers drawn here to the app itself, as if app.py drew them.

    When another page comes, by a link, Back or Forward, Streamlit first strikes from the address what belongs to the
    widgets of the page that is left. What belongs to the app stays, if the containers around it do, too.
    """
    context = get_script_run_ctx()
    assert context is not None
    with context.run_with_active_hash(context.pages_manager.main_script_hash):
        yield


def choice(name: str, options: Sequence[T], default: T, hint: str | None = None, *, label: str | None = None) -> T:
    """Let one of a few options be chosen."""
    shown = label or name
    return st.segmented_control(
        shown, options, default=default, required=True, key=name, help=hint, bind="query-params", width="stretch"
    )


def switch(name: str, default: bool, hint: str) -> bool:
    """Let something be switched on or off."""
    return st.toggle(name, default, name, hint, bind="query-params")


def whole(name: str, default: int, least: int, most: int, hint: str) -> int:
    """Let a whole number be chosen."""
    return st.number_input(name, least, most, default, 1, key=name, help=hint, bind="query-params")


def maybe_whole(name: str, least: int, most: int, hint: str) -> int | None:
    """Let a whole number be chosen, or none."""
    return st.number_input(name, least, most, None, 1, key=name, help=hint, bind="query-params", placeholder="None")


def number(name: str, default: float, most: float, hint: str) -> float:
    """Let a number of at most `most` either way be chosen."""
    return st.number_input(name, -most, most, default, 1.0, "%g", key=name, help=hint, bind="query-params")
