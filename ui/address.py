"""The address: every name in it with its owner and default, the widgets that follow it, and the one place that writes.

Bound widgets write their names through Streamlit; the player writes its step, and the quiz the round that it shows, in
the browser. All else that changes the address goes through `write` and `write_all`.
"""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields
from functools import partial
from typing import Any, Literal, TypeVar
from urllib.parse import quote_plus

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from packviz.inputs.config import Config
from packviz.inputs.examples import EXAMPLES
from packviz.teach.questions import GROUPS
from packviz.text import listed, quoted, visible
from ui.replaced import drawn, overtaken
from ui.visit import visit

T = TypeVar("T")
Owner = Literal["controls", "player", "questions", "doctor", "quiz", "lab", "class", "share", "Streamlit"]

MAX_LENGTH = 8_000  # characters of a text in a link
_NAMED: tuple[Owner, ...] = ("controls", "player", "share")  # whose names are told where they are not met

_RENAMED = {"naive": "last column", "last_valid": "last valid"}  # readouts in older links

PARTS = ("sidebar", "code", "menu")  # that a link may hide
THEMES = ("automatic", "light", "dark")  # automatic: as the browser has it

NAMES: Mapping[str, tuple[Owner, Any]] = {
    "example": ("controls", EXAMPLES[0].key),
    "sequences": ("controls", None),  # the text of the example
    "read_as": ("controls", "auto"),
    "layer": ("controls", None),  # the top one
    "direction": ("controls", "forward"),
    **{each.name: ("controls", each.default) for each in fields(Config)},
    "step": ("player", 1),
    "search": ("questions", ""),
    "group": ("questions", GROUPS[0]),
    "entry": ("questions", ""),
    "x": ("doctor", "[[1, 2, 3, 4], [5, 6, 7, 0], [8, 9, 0, 0]]"),
    "lengths": ("doctor", "5, 3, 2"),
    "x_batch_first": ("doctor", True),
    "x_enforce_sorted": ("doctor", True),
    "x_padding_value": ("doctor", None),  # assumed
    "file_batch_first": ("doctor", True),
    "file_enforce_sorted": ("doctor", False),
    "file_padding_value": ("doctor", None),
    "level": ("quiz", 1),
    "round": ("quiz", None),  # a random one
    "worksheet": ("quiz", False),
    "question": ("quiz", 1),  # where the round begins; in a lesson the player writes it
    "said": ("quiz", None),  # in links from before the browser kept the answers
    "train_task": ("lab", "vowels"),
    "train_readouts": ("lab", None),  # all of them
    "train_pads": ("lab", None),  # all of them
    "train_seeds": ("lab", 3),
    "train_both": ("lab", False),
    "job": ("lab", None),  # the key of what is computed for the visitor, who finds it again by this
    "room": ("class", None),
    "view": ("class", None),  # projector
    "hide": ("share", ""),
    "lock": ("share", ""),
    "theme": ("share", THEMES[0]),  # ui/theme.js has Streamlit follow it
    "embed": ("Streamlit", None),
    "embed_options": ("Streamlit", None),
}

SETTINGS = ("all", *(name for name, (owner, _) in NAMES.items() if owner == "controls"))  # that a link may fix


def default(name: str) -> Any:
    """Return the value of a name that the address does not mention."""
    return NAMES[name][1]


def changed(settings: Mapping[str, object]) -> dict[str, str]:
    """Return an address that asks for these settings: those that are not the defaults."""
    return {name: str(value) for name, value in settings.items() if value != default(name)}


def write(name: str, value: str) -> None:
    """Put one name into the address, or take it out if the value is its default."""
    if value != default(name):
        st.query_params[name] = value
    else:
        st.query_params.pop(name, None)


def write_all(**values: object) -> None:
    """Make the address ask for these values and nothing else, in one step."""
    wanted = changed(values)
    if st.query_params.to_dict() != wanted:
        st.query_params.from_dict(wanted)


@contextmanager
def of_every_page() -> Iterator[None]:
    """Give the widgets and containers drawn here to the app itself, as if app.py drew them.

    When another page comes, by a link, Back or Forward, Streamlit first removes from the address what belongs to the
    widgets of the page that is left. What belongs to the app stays, if the containers around it do, too.
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
    """Let one of a few options be chosen. first: the default, where the table of names has none."""
    given: T = default(name) if first is None else first
    chosen: T = st.segmented_control(
        label or name, options, default=given, required=True, width="stretch", **_bound(name, hint, on_change)
    )
    return chosen


def switch(name: str, hint: str | None = None, *, label: str | None = None) -> bool:
    """Let something be switched on or off."""
    return st.toggle(label or name, default(name), **_bound(name, hint))


def whole(name: str, least: int, most: int, hint: str) -> int | None:
    """Let an integer be chosen; None, too, where that is the default."""
    chosen: int | None = st.number_input(name, least, most, default(name), 1, placeholder="None", **_bound(name, hint))
    return chosen


def number(name: str, most: float, hint: str) -> float:
    """Let a number of at most `most` either way be chosen."""
    chosen: float = st.number_input(name, -most, most, default(name), 1.0, "%g", **_bound(name, hint))
    return chosen


def _bound(name: str, hint: str | None, on_change: Callable[[], None] | None = None) -> dict[str, Any]:
    """Return what every widget is given: its key, that the address follows it, and whether the link fixes it."""
    is_fixed = fixed(name)
    told = " ".join(filter(None, (hint, "Fixed by the link."))) if is_fixed else hint
    changed = partial(_take, name, on_change)
    drawn(name)
    return {"key": name, "bind": "query-params", "help": told, "disabled": is_fixed, "on_change": changed}


def _take(name: str, then: Callable[[], None] | None) -> None:
    """Take what was chosen in a widget. The app may have written the address after the browser had put it there."""
    if overtaken(name):
        return
    if (value := st.session_state[name]) != default(name) and name not in st.query_params:
        st.session_state[name] = value  # which writes it again
    if then is not None:
        then()


def remember() -> None:
    """Keep what the link asks for when a visitor comes: Streamlit drops from it what its widgets refuse."""
    if visit().link is not None:
        return
    visit().link = st.query_params.to_dict()
    endless = [name for name, raw in asked().items() if name != "sequences" and math.isinf(_as_number(raw) or 0.0)]
    for name in endless:  # Streamlit's number input fails on them, before it looks at its bounds
        del st.query_params[name]
    readouts = st.query_params.get_all("train_readouts")
    renamed = [_RENAMED.get(each, each) for each in readouts]
    if renamed != readouts:
        st.query_params["train_readouts"] = renamed
    if endless or renamed != readouts:
        st.rerun()


def keep() -> None:
    """Hold on to what the widgets of other pages ask for: without it, Back leads to an address that has lost it."""
    for name in NAMES:
        if name in st.session_state:
            st.session_state[name] = st.session_state[name]


def asked() -> Mapping[str, str]:
    """Return what the link asked for, name by name."""
    return visit().link or {}


def touched(settings: Iterable[str]) -> bool:
    """Return whether the link names or locks any of these settings, or another page has given them a value."""
    return bool(locked()) or any(name in asked() or name in st.session_state for name in settings)


def hidden() -> tuple[str, ...]:
    """Return the parts of all pages that the link hides; they stay hidden on the way through the app."""
    return tuple(part for part in asked().get("hide", "").split(",") if part in PARTS)


def locked() -> tuple[str, ...]:
    """Return the settings that the link fixes; they stay so on the way through the app. "all": every one of them."""
    return tuple(name for name in asked().get("lock", "").split(",") if name in SETTINGS)


def fixed(*names: str) -> bool:
    """Return whether the link fixes one of these settings: no control changes it, only another address."""
    return bool({"all", *names} & set(locked()))


def theme() -> str:
    """Return the colours that the link asks for."""
    raw = asked().get("theme", "")
    return raw if raw in THEMES else THEMES[0]


def view() -> Mapping[str, str]:
    """Return how all pages are shown, by its names in the address."""
    return {"hide": ",".join(hidden()), "lock": ",".join(locked()), "theme": theme()}


def ordinal(given: Mapping[str, str], name: str, most: int = 10**9) -> int | None:
    """Return the number from 1 to `most` that an address gives to a name; None for nothing, and for nonsense."""
    raw = given.get(name, "")
    number = int(raw) if re.fullmatch("[0-9]{1,10}", raw) else 0
    return number if 1 <= number <= most else None


def unmet(asked: Mapping[str, str], shown: Mapping[str, object]) -> str | None:
    """Return one line about what a link asks for and the controls and the player, `shown`, do not show."""
    others = {name: raw for name, raw in asked.items() if NAMES.get(name, ("controls",))[0] in _NAMED}
    missing = [_told(name, raw, shown) for name, raw in others.items() if not _shows(shown, name, raw)]
    return f"Ignored from the link: {listed(missing)}." if missing else None


def warning(text: str) -> str | None:
    """Return a line about a text that makes the link too long for some servers and messengers."""
    size = len(quote_plus(text))
    if size <= MAX_LENGTH:
        return None
    return (
        f"With this text, the link to this page is {size / 1000:.0f} kB long. Some servers and messengers cut it off."
    )


def _shows(shown: Mapping[str, object], name: str, raw: str) -> bool:
    if name not in shown:
        return False
    value = shown[name]
    if isinstance(value, bool) or value is None:
        return raw.lower() == ("" if value is None else str(value).lower())
    if isinstance(value, int | float):
        return _as_number(raw) == value
    return raw.replace("\r\n", "\n") == value


def _as_number(raw: str) -> float | None:
    try:
        return float(raw)
    except ValueError:
        return None


def _told(name: str, raw: str, shown: Mapping[str, object]) -> str:
    instead = f"using {quoted(str(shown[name]) or 'none')}" if name in shown else "no such setting"
    return f"{visible(name[:24])} = {quoted(raw)} ({instead})"
