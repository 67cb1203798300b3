"""What the link that opened the app asks for, and which of it cannot be had."""

import math
from collections.abc import Mapping
from urllib.parse import quote_plus

import streamlit as st

from packviz.text import quoted, visible

__all__ = ["LONGEST", "OF_OTHER_PAGES", "asked", "first_step", "remember", "unmet", "warning"]

LONGEST = 8_000  # characters of a text in a link

# What pages without these controls ask for: the widgets whose values are kept, and an entry's name.
OF_OTHER_PAGES = (
    "search",
    "group",
    "x",
    "lengths",
    "x_batch_first",
    "x_enforce_sorted",
    "x_padding_value",
    "level",
    "round",
)
_IGNORED = {"embed", "embed_options", "entry", "said", *OF_OTHER_PAGES}
_MOST_NAMED = 4


def remember() -> None:
    """Keep what the link asks for when a visitor comes: Streamlit drops from it what its widgets refuse."""
    if "link" in st.session_state:
        return
    st.session_state["link"] = st.query_params.to_dict()
    endless = [name for name, raw in asked().items() if name != "sequences" and _is_endless(raw)]
    for name in endless:  # Streamlit's number input fails on them, before it looks at its bounds
        del st.query_params[name]
    if endless:
        st.rerun()


def asked() -> Mapping[str, str]:
    """Return what the link asks for, name by name."""
    link: Mapping[str, str] = st.session_state.get("link", {})
    return link


def first_step(steps: int, place: str) -> int:
    """Return the step that the link asks for, within the movie; 1 where it asks for none, or for nonsense.

    place: where the movie stands; a link that opens one page says nothing about the steps of the next.
    """
    here = st.session_state.setdefault("first place", place) == place
    raw = asked().get("step", "") if here else ""
    return min(max(int(raw), 1), steps) if raw.isascii() and raw.isdigit() and len(raw) < 10 else 1


def unmet(asked: Mapping[str, str], shown: Mapping[str, object]) -> str | None:
    """Return one line about what the link asks for and the controls, `shown`, do not show."""
    others = {name: raw for name, raw in asked.items() if name not in _IGNORED}
    missing = [_told(name, raw, shown) for name, raw in others.items() if not _shows(shown, name, raw)]
    if not missing:
        return None
    more = f" and {len(missing) - _MOST_NAMED} more" if len(missing) > _MOST_NAMED else ""
    return f"This link asks for what is not to be had here: {', '.join(missing[:_MOST_NAMED])}{more}."


def warning(text: str) -> str | None:
    """Return a line for a text that makes a link which is too long for some of its ways."""
    size = len(quote_plus(text))
    if size <= LONGEST:
        return None
    return f"The link to this page is {size / 1000:.0f} kB long with this text: some servers and messengers cut it off."


def _shows(shown: Mapping[str, object], name: str, raw: str) -> bool:
    if name not in shown:
        return False
    value = shown[name]
    if isinstance(value, bool) or value is None:
        return raw.lower() == ("" if value is None else str(value).lower())
    if isinstance(value, int | float):
        return _as_number(raw) == value
    return raw.replace("\r\n", "\n") == value


def _is_endless(raw: str) -> bool:
    return math.isinf(_as_number(raw) or 0.0)


def _as_number(raw: str) -> float | None:
    try:
        return float(raw)
    except ValueError:
        return None


def _told(name: str, raw: str, shown: Mapping[str, object]) -> str:
    instead = f"it is {quoted(str(shown[name]))}" if name in shown else "there is no such setting now"
    return f"{visible(name[:24])} = {quoted(raw)} ({instead})"
