"""The address: every name in it with its owner and default, the widgets bound to it, and the one place that writes it.

Bound widgets write their names through Streamlit; in the browser the player writes its step, and the quiz its round.
Everything else that changes the address goes through `write` and `write_all`.
"""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, Literal, TypeVar
from urllib.parse import quote_plus

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from packviz.inputs.config import Config
from packviz.inputs.examples import EXAMPLES
from packviz.inputs.limits import LIMITS
from packviz.inputs.row_config import RowConfig
from packviz.teach.questions import GROUPS
from packviz.text import listed, quoted, visible
from ui.state.replaced import drawn, overtaken
from ui.state.visit import visit

T = TypeVar("T")
Owner = Literal["controls", "player", "questions", "doctor", "quiz", "lab", "class", "share", "Streamlit"]

MAX_LENGTH = 8_000  # characters of a text in a link
_NAMED: tuple[Owner, ...] = ("controls", "player", "share")  # whose names are reported if they are ignored

PARTS = ("sidebar", "code", "menu")  # that a link may hide
THEMES = ("automatic", "light", "dark")  # automatic: as in the browser

_PACKING, _ROWS = asdict(Config()), asdict(RowConfig())
# the settings of a RowConfig, each with its name here: those that a Config or the player also has begin with row_
ROW_NAMES = {name: f"row_{name}" if name in (*_PACKING, "layer") else name for name in _ROWS}

NAMES: Mapping[str, tuple[Owner, Any]] = {
    "example": ("controls", EXAMPLES[0].key),
    "sequences": ("controls", None),  # the text of the example
    "read_as": ("controls", "auto"),
    "layer": ("controls", None),  # the top one
    "direction": ("controls", "forward"),
    "watched_head": ("controls", 0),
    **{name: ("controls", value) for name, value in _PACKING.items()},
    **{ROW_NAMES[name]: ("controls", value) for name, value in _ROWS.items()},
    "step": ("player", 1),
    "search": ("questions", ""),
    "group": ("questions", GROUPS[0]),
    "entry": ("questions", ""),
    "given": ("doctor", "a batch"),  # or rows, or a file
    "rows": ("doctor", "position_ids: 0 1 2 0 1 0 0 0\nattention_mask: 1 1 1 1 1 0 0 0"),
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
    "question": ("quiz", 1),  # the first question of the round; in a lesson the player writes it
    "train_task": ("lab", "vowels"),
    "train_readouts": ("lab", None),  # all of them
    "train_pads": ("lab", None),  # all of them
    "train_seeds": ("lab", 3),
    "train_both": ("lab", False),
    "job": ("lab", None),  # the key of the visitor's long work, by which it is found again
    "room": ("class", None),
    "view": ("class", None),  # projector
    "presenter": ("class", False),
    "hide": ("share", ""),
    "lock": ("share", ""),
    "theme": ("share", THEMES[0]),  # ui/server/theme.js has Streamlit follow it
    "embed": ("Streamlit", None),
    "embed_options": ("Streamlit", None),
}

_NUMBERS = (  # whose widget is a number input
    *("hidden_size", "num_layers", "embedding_dim", "padding_idx", "total_length", "seed", "train_seeds"),
    *("padding_value", "x_padding_value", "file_padding_value"),
    *("max_length", "num_heads", "kernel_size", "row_num_layers", "row_embedding_dim", "row_seed"),
)

SETTINGS = ("all", *(name for name, (owner, _) in NAMES.items() if owner == "controls"))  # that a link may fix


@dataclass
class Link:
    """What the address asked for when the visitor arrived; None before that."""

    asked: Mapping[str, str] | None = None


def default(name: str) -> Any:
    """Return the value of a name that the address does not mention."""
    return NAMES[name][1]


def changed(settings: Mapping[str, object]) -> dict[str, str]:
    """Return the query for these settings: those that differ from the defaults."""
    return {name: str(value) for name, value in settings.items() if value != default(name)}


def write(name: str, value: str) -> None:
    """Put one name into the address, or remove it if the value is its default."""
    if value != default(name):
        st.query_params[name] = value
    else:
        st.query_params.pop(name, None)


def write_all(**values: object) -> None:
    """Set the address to these values and nothing else, in one step."""
    wanted = changed(values)
    if st.query_params.to_dict() != wanted:
        st.query_params.from_dict(wanted)


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
    told = " ".join(filter(None, (hint, "Fixed by the link."))) if is_fixed else hint
    changed = partial(_take, name, on_change)
    drawn(name)
    return {"key": name, "bind": "query-params", "help": told, "disabled": is_fixed, "on_change": changed}


def _take(name: str, then: Callable[[], None] | None) -> None:
    """Accept a widget's new value. The app may have written the address after the browser put the value there."""
    if overtaken(name):
        return
    if (value := st.session_state[name]) != default(name) and name not in st.query_params:
        st.session_state[name] = value  # this writes it again
    if then is not None:
        then()


def remember() -> None:
    """Remember what the link asks for when a visitor arrives: Streamlit drops values that its widgets refuse."""
    if visit(Link).asked is not None:
        return
    visit(Link).asked = {name: raw[: LIMITS.characters] for name, raw in st.query_params.to_dict().items()}
    endless = [name for name, raw in asked().items() if name in _NUMBERS and math.isinf(_as_number(raw) or 0.0)]
    for name in endless:  # Streamlit's number input fails on these before it checks its bounds
        del st.query_params[name]
    if endless:
        st.rerun()


def keep(names: Iterable[str] = tuple(NAMES)) -> None:
    """Keep the values of widgets of other pages: otherwise Back leads to an address that has lost them."""
    for name in names:
        if name in st.session_state:
            st.session_state[name] = st.session_state[name]


def asked() -> Mapping[str, str]:
    """Return what the link asked for, name by name."""
    return visit(Link).asked or {}


def touched(settings: Iterable[str]) -> bool:
    """Return whether the link names or locks any of these settings, or another page has given them a value."""
    return bool(locked()) or any(name in asked() or name in st.session_state for name in settings)


def hidden() -> tuple[str, ...]:
    """Return the parts that the link hides; they stay hidden on all pages."""
    return tuple(part for part in asked().get("hide", "").split(",") if part in PARTS)


def locked() -> tuple[str, ...]:
    """Return the settings that the link fixes, on all pages. "all": every setting."""
    return tuple(name for name in asked().get("lock", "").split(",") if name in SETTINGS)


def fixed(*names: str) -> bool:
    """Return whether the link fixes one of these settings, so that no control can change it."""
    return bool({"all", *names} & set(locked()))


def theme() -> str:
    """Return the theme that the link asks for."""
    raw = asked().get("theme", "")
    return raw if raw in THEMES else THEMES[0]


def view() -> Mapping[str, str]:
    """Return how pages are shown, by the names in the address."""
    return {"hide": ",".join(hidden()), "lock": ",".join(locked()), "theme": theme()}


def ordinal(given: Mapping[str, str], name: str, most: int = 10**9) -> int | None:
    """Return the number from 1 to `most` that an address gives for a name; None if it is missing or invalid."""
    raw = given.get(name, "")
    number = int(raw) if re.fullmatch("[0-9]{1,10}", raw) else 0
    return number if 1 <= number <= most else None


def unmet(asked: Mapping[str, str], shown: Mapping[str, object]) -> str | None:
    """Return one line about the requests of a link that the controls and the player (`shown`) did not apply."""
    others = {name: raw for name, raw in asked.items() if NAMES.get(name, ("controls",))[0] in _NAMED}
    missing = [_told(name, raw, shown) for name, raw in others.items() if not _shows(shown, name, raw)]
    return f"Ignored from the link: {listed(missing)}." if missing else None


def warning(text: str) -> str | None:
    """Return a warning if the text makes the link too long for some servers and messengers."""
    size = len(quote_plus(text))
    told = (
        f"With this text, the link to this page is {size / 1000:.0f} kB long. Some servers and messengers cut it off."
    )
    return told if size > MAX_LENGTH else None


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
    instead = "not available with these settings" if name in NAMES else "no such setting"
    if name in shown:
        instead = f"using {quoted(str(shown[name]) or 'none')}"
    return f"{visible(name[:24])} = {quoted(raw)} ({instead})"
