"""Widgets that are bound to the address: Streamlit writes their names into it, and each has one owner."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeVar

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from ui.state import text
from ui.state.address import fixed, has
from ui.state.names import NAMES, default
from ui.state.replaced import give, give_again, overtaken, write

T = TypeVar("T")


@contextmanager
def of_every_page() -> Iterator[None]:
    """Assign the widgets and containers drawn here to the app itself, as if app.py drew them.

    On the way to another page, by a link, Back or Forward, Streamlit first removes the values of the old page's widgets
    from the address. Those of the app stay, if the containers around them do, too.
    """
    context = get_script_run_ctx()
    assert context is not None
    with context.run_with_active_hash(context.pages_manager.main_script_hash):
        yield


def choice(
    name: str,
    options: Sequence[T],
    hint: str | None = None,
    *,
    label: str | None = None,
    first: Any = None,
    on_change: Callable[[], None] | None = None,
) -> T:
    """Offer a few options, one of them chosen. first: the default, if the table of names has none."""
    given: T = default(name) if first is None else first
    bindings = bound(name, hint, on_change)
    chosen: T = st.segmented_control(label or name, options, default=given, required=True, width="stretch", **bindings)
    return chosen


def switch(name: str, hint: str | None = None, *, label: str | None = None) -> bool:
    """Offer an on/off switch."""
    return st.toggle(label or name, default(name), **bound(name, hint))


def whole(name: str, least: int, most: int, hint: str, *, label: str | None = None) -> int | None:
    """Offer an integer; also None if that is the default."""
    bindings = bound(name, hint)
    chosen: int | None = st.number_input(label or name, least, most, default(name), 1, placeholder="None", **bindings)
    return chosen


def bound(
    name: str, hint: str | None = None, on_change: Callable[[], None] | None = None, *also: str
) -> dict[str, Any]:
    """Return the arguments common to all widgets: the key, the binding to the address, whether the link fixes it.

    also: other names that must not be fixed either if the widget is to be used.
    """
    is_fixed = fixed(name, *also)
    told = " ".join(filter(None, (hint, "The link fixes this setting."))) if is_fixed else hint
    changed = partial(_take, name, on_change)
    give_again(name)
    return {"key": name, "bind": "query-params", "help": told, "disabled": is_fixed, "on_change": changed}


def _take(name: str, then: Callable[[], None] | None) -> None:
    """Accept a widget's new value. The address that came with it may be an older one, without the value."""
    if overtaken(name):
        return
    if not has(name, st.session_state[name]):
        write(name)
    if then is not None:
        then()


def now(names: Iterable[str]) -> dict[str, object]:
    """Return the values that these settings have in the controls."""
    return {name: st.session_state.get(name, default(name)) for name in names}


def put(settings: Mapping[str, object]) -> None:
    """Put settings, by their names, into the controls, except those fixed by the link.

    A text of the visitor's own that is replaced can be restored.
    """
    for name, value in settings.items():
        if not fixed(name) and name == text.FIELD:
            text.put(str(value))
        elif not fixed(name):
            give(name, value)


def restore(settings: Mapping[str, object]) -> None:
    """Put settings back into the controls. With a text stands its choice: an example, or OWN."""
    put({name: value for name, value in settings.items() if name not in (text.FIELD, text.CHOICE)})
    if text.FIELD in settings and not fixed(text.FIELD):
        text.restore(settings[text.FIELD], settings.get(text.CHOICE, text.OWN))


def keep(names: Iterable[str] = tuple(NAMES)) -> None:
    """Keep the values of widgets of other pages: otherwise Back leads to an address that has lost them."""
    for name in names:
        if name in st.session_state:
            st.session_state[name] = st.session_state[name]
