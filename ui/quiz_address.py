"""Where a quiz is: the level and the number of its round in the address, and how far one is in it in the browser."""

from random import SystemRandom

import streamlit as st

from packviz.teach.quiz import LAST_ROUND, LEVELS

__all__ = ["begin", "chosen", "last", "progress", "write"]

_ROUND = "Ten questions have a number. Read it out, or share the link: everybody gets the same ten."
_LEVEL, _NUMBER = "quiz level", "quiz number"  # the widgets; the address is what they follow

# The address names the round, so that a link is a round for everybody. How far somebody is in it stays in the browser,
# in a cookie for the latest few rounds: the server gets it with the page, and when it was itself started anew.
_COOKIE, _MAX_KEPT = "packviz_quiz", 5
_write = st.components.v2.component(
    "packviz_quiz_address",
    js="""export default function ({ data }) {
  const url = new URL(window.location.href), before = url.href;
  if (!/\\/quiz\\/?$/.test(url.pathname)) return;
  for (const [name, value] of Object.entries({ level: data.level, round: data.round, said: "" })) {
    if (value) url.searchParams.set(name, value);
    else url.searchParams.delete(name);
  }
  if (url.href !== before) window.history.replaceState(window.history.state, "", url);

  const kept = document.cookie.split("; ").find((each) => each.startsWith(`${data.cookie}=`)) ?? "";
  const others = kept.split("=").pop().split(".").filter((each) => each && !each.startsWith(`${data.name}_`));
  const all = data.kept ? [`${data.name}_${data.kept}`, ...others] : others;
  document.cookie = `${data.cookie}=${all.slice(0, data.most).join(".")}; path=/; SameSite=Lax`;
}
""",
)


def chosen() -> tuple[int, int]:
    """Draw the level and the number of the round as the address has them; what it lacks is as it was there last."""
    there: tuple[int, int] | None = st.session_state.get("last round")
    level, number = _in_address("level", len(LEVELS)), _in_address("round", LAST_ROUND)
    if number is None and there is not None:
        level, number = level or there[0], there[1]
    level, number = level or 1, number or _any_round()
    st.session_state["last round"] = level, number
    for key, value in ((_LEVEL, level), (_NUMBER, number)):
        if st.session_state.get(key) != value:
            st.session_state[key] = value
    st.segmented_control("level", tuple(LEVELS), required=True, key=_LEVEL, on_change=_go, width="stretch")
    st.number_input("round", 1, LAST_ROUND, None, 1, key=_NUMBER, on_change=_go, help=_ROUND)
    return level, number


def last() -> tuple[int, int]:
    """Return the level and the number of the round on the screen."""
    place: tuple[int, int] = st.session_state["last round"]
    return place


def begin(level: int | None = None) -> None:
    """Go to another round, of another level if one is given."""
    _show(level or last()[0], _any_round())


def progress(level: int, number: int) -> str:
    """Return how far the browser says that somebody is in a round; "" if it has kept nothing of it."""
    rounds = (each.partition("_") for each in st.context.cookies.get(_COOKIE, "").split("."))
    return next((kept for name, _, kept in rounds if name == f"{level}-{number}"), "")


def write(level: int, number: int, how_far: str) -> None:
    """Have the address name the round, and the browser keep how far one is in it; how_far: "" at its start."""
    place = {"level": str(level) if level > 1 else "", "round": str(number), "name": f"{level}-{number}"}
    keeping: dict[str, object] = {"kept": how_far, "cookie": _COOKIE, "most": _MAX_KEPT}
    _write(key="quiz-address", data=place | keeping, height=0)


def _go() -> None:
    """Follow the widgets; an emptied number stays what it was."""
    level, number = last()
    _show(st.session_state[_LEVEL] or level, st.session_state[_NUMBER] or number)


def _show(level: int, number: int) -> None:
    st.query_params.from_dict({**({"level": str(level)} if level > 1 else {}), "round": str(number)})


def _in_address(name: str, most: int) -> int | None:
    raw = st.query_params.get(name, "")
    good = raw.isascii() and raw.isdigit() and len(raw) < 9 and 1 <= int(raw) <= most
    return int(raw) if good else None


def _any_round() -> int:
    return SystemRandom().randint(1, LAST_ROUND)
