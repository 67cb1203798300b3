"""The address: what a link asks for, and what is written into it.

Bound widgets write their names through Streamlit; in the browser the player writes its step and its question, the quiz
its round, the teacher's page its room, which it also removes, and theme.js the options of a frame. Everything else that
changes the address goes through `write` and `write_all`.
"""

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from urllib.parse import quote_plus

import streamlit as st

from packviz.inputs.limits import LIMITS
from packviz.text import listed, quoted, visible
from ui.state.names import NAMES, NUMBERS, PANEL, PARTS, PLAYER, SETTINGS, SHARE, SOURCE, THEMES, changed, default
from ui.state.visit import visit

MAX_LENGTH = 8_000  # characters of a text in a link
_NAMED = (SOURCE, PANEL, PLAYER, SHARE)  # the owners whose names are reported if they are ignored


@dataclass
class Link:
    """What the address asked for when the visitor arrived; None before that."""

    asked: Mapping[str, str] | None = None


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


def remember() -> None:
    """Remember what the link asks for when a visitor arrives: Streamlit drops values that its widgets refuse."""
    if visit(Link).asked is not None:
        return
    visit(Link).asked = {name: raw[: LIMITS.characters] for name, raw in st.query_params.to_dict().items()}
    endless = [name for name, raw in asked().items() if name in NUMBERS and math.isinf(_as_number(raw) or 0.0)]
    for name in endless:  # Streamlit's number input fails on these before it checks its bounds
        del st.query_params[name]
    if endless:
        st.rerun()


def asked() -> Mapping[str, str]:
    """Return what the link asked for, name by name."""
    return visit(Link).asked or {}


def touched(settings: Iterable[str]) -> bool:
    """Return whether the link names or locks any of these settings, or another page has given them a value."""
    named = asked()
    return bool(locked()) or any(name in named or name in st.session_state for name in settings)


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
    others = {name: raw for name, raw in asked.items() if NAMES.get(name, (PANEL,))[0] in _NAMED}
    bad = {name: raw for name, raw in others.items() if name not in shown or not _says(raw, shown[name])}
    missing = [_why_ignored(name, raw, shown) for name, raw in bad.items()]
    return f"Ignored from the link: {listed(missing)}." if missing else None


def warning(text: str) -> str | None:
    """Return a warning if the text makes the link too long for some servers and messengers."""
    size = len(quote_plus(text))
    told = (
        f"With this text, the link to this page is {size / 1000:.0f} kB long. Some servers and messengers cut it off."
    )
    return told if size > MAX_LENGTH else None


def cut(name: str, shown: str, most: int) -> str | None:
    """Return a line about a text in the link of which a field takes only the beginning, as long as it shows that."""
    text = asked().get(name, "")
    told = f"The link has a text of {len(text):,} characters here. Only the first {most:,} are read."
    return told if shown == text[:most] != text else None


def has(name: str, value: object) -> bool:
    """Return whether the address has this value of a name; a default is not in it."""
    raw = st.query_params.get(name)
    return raw is None if value == default(name) else raw is not None and _says(raw, value)


def _says(raw: str, value: object) -> bool:
    """Return whether this is a value as an address has it."""
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


def _why_ignored(name: str, raw: str, shown: Mapping[str, object]) -> str:
    instead = "not available with these settings" if name in NAMES else "no such setting"
    if name in shown:
        instead = f"using {quoted(str(shown[name]) or 'none')}"
    return f"{visible(name[:24])} = {quoted(raw)} ({instead})"
