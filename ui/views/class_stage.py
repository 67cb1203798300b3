"""What a class sees: the question, how many have voted, the answers and the movie; the view for the projector."""

import gzip
from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

import streamlit as st

from classroom.phases import VOTING, Phase
from classroom.question import PublicQuestion
from classroom.rooms import rooms
from classroom.seen import Seen
from classroom.state import RefusedError
from packviz.text import html, markup
from ui.parts.network import for_others
from ui.parts.player import clip
from ui.parts.qr import qr_code
from ui.parts.quiz_views import batch
from ui.parts.rendered import rendered
from ui.parts.status import announce

_BARS = Path(__file__).with_name("class_bars.html")
LOOK = 0.7  # seconds between two looks at a room
_FITS = 450  # characters that fit the projector in full size
_OTHERS = "others"  # the label of answers that are counted together
_COMMON = 3  # the most frequent wrong answers, whose reasons fit on the projector

_SENTENCES: Mapping[Phase, str] = {
    "lobby": "Read the question. The vote opens in a moment.",
    "vote": "Vote on your phone, on your own.",
    "closed": "The vote is closed.",
    "talk": "Explain your answer to your neighbor. Then there is a second vote.",
    "reveal": "The answer, as PyTorch computed it",
}


@st.fragment(run_every=LOOK)
def projector(code: str) -> None:
    """Show a room as everybody may see it, in large type."""
    with st.container(key="projector"):
        try:
            seen = rooms.call(rooms.snapshot(code, None))
        except RefusedError as refusal:
            over = f"No class has the code {code} now." if refusal.status == 404 else refusal.sentence
            st.html(f'<p class="class-prompt">{escape(over)}</p>')
            return
        link = escape(as_spoken(join_link(seen["code"])))
        if seen["kind"] is None:
            stage(seen)
            st.html(f'<p class="class-count">{counted_votes(seen)}</p>')
        else:
            place = f"{link} · {escape(seen['code'])}"
            st.html(f'<p class="class-corner"><span>{counted_votes(seen)}</span><span>{place}</span></p>')
            stage(seen)


def counted_votes(seen: Seen) -> str:
    joined, voted = seen["joined"], seen["voted"]
    return f"<b>{voted}</b> of {joined} voted" if seen["phase"] in VOTING else f"<b>{joined}</b> joined"


def stage(seen: Seen, *, first: dict[int, int] | None = None) -> None:
    """Show the question, and the answer once it is shown.

    first: by the number of what is shown, the step at which the teacher's own movie begins; None to follow the
    teacher's step.
    """
    if seen["shown"] is None:
        link = join_link(seen["code"])
        spoken = as_spoken(link)
        place = f'<p class="class-address" style="--letters: {len(spoken)}">{escape(spoken)}</p>'
        code = f'<p class="class-code">{escape(seen["code"])}</p>'
        st.html(f'<div class="class-join">{qr(link)}<div><p>Join at</p>{place}<p>with the code</p>{code}</div></div>')
    elif seen["question"] is None:
        _item(seen, seen["shown"], first)
    else:
        _question(seen, seen["question"], seen["shown"], first)
    if seen["wonder"]:
        st.html(f'<p class="class-wonder">{escape(seen["wonder"])}</p>')


def _item(seen: Seen, number: int, first: dict[int, int] | None) -> None:
    """Show a slide, or the movie of a step of the plan."""
    announce("A slide" if seen["kind"] == "slide" else "A movie", "class", number=number)
    if seen["kind"] == "slide":
        with st.container(key="class-slide"):
            rendered(seen["html"], f"class {seen['code']} slide {number}")
    else:
        _movie(seen, number, first)


def _question(seen: Seen, asked: PublicQuestion, number: int, first: dict[int, int] | None) -> None:
    """Show a question, and its answer once that is shown."""
    own = asked["kind"] == "own"
    fit = _fit(asked["prompt"], *asked.get("options", ()))
    told = _told(seen, asked)
    with st.container(key="class-question"):
        st.html(f'<p class="class-told">{told}</p>')
        if own:
            st.html(f"<style>:root {{ --fit: {fit:.2f} }}</style>")
            with st.container(key="class-prompt"):
                rendered(asked["html"], f"class {seen['code']} prompt {number}")
        else:
            st.markdown(asked["prompt"])
    announce(told, "class", number=number)
    if seen["phase"] == "reveal":
        _revealed(seen, asked, number, first)
        return
    with st.container(horizontal=True, key="class-asked"):
        if asked.get("rows"):
            with st.container(key="class-batch"):
                batch(asked["rows"], asked["settings"])
        if asked.get("options"):
            options = "".join(f"<li>{html(option)}</li>" for option in asked["options"])
            st.html(f'<ol class="class-options" style="--fit: {fit:.2f}">{options}</ol>')


def _told(seen: Seen, asked: PublicQuestion) -> str:
    """Return what the class reads above the question."""
    match seen["phase"], seen["round"]:
        case "vote", 2:
            return "Vote again."
        case "reveal", _ if asked["kind"] == "own":  # PyTorch did not compute it
            return "What the class says" if asked.get("poll") else "The answer"
    return _SENTENCES[seen["phase"]]


def _revealed(seen: Seen, asked: PublicQuestion, number: int, first: dict[int, int] | None) -> None:
    """Show the movie at the step of the answer, and next to it how often each answer was given."""
    if not seen["movie"]:
        st.html(bars(seen, asked))
        return
    with st.container(horizontal=True, key="class-answer"):
        _movie(seen, number, first)
        st.html(bars(seen, asked))


def _movie(seen: Seen, number: int, first: dict[int, int] | None) -> None:
    film = rooms.call(rooms.film(seen["code"], None, number))
    now = seen["step"] or 1
    step = now if first is None else first.setdefault(number, now)
    with st.container(key="class-movie"):
        clip(gzip.decompress(film.data), step, f"class {seen['code']} {number}", large=True)


def _fit(*texts: str) -> float:
    """Return the font scale at which all texts fit the projector."""
    return float(min(1, (_FITS / sum(map(len, texts))) ** 0.6))


def bars(seen: Seen, asked: PublicQuestion) -> str:
    """Return the answers with their counts before and after the discussion, and the reasons, as HTML."""
    if not seen["bars"]:  # a poll without options
        return "<p>Nobody has answered.</p>"
    if asked.get("collects"):
        return _texts(seen)
    sides: tuple[Literal["before", "after"], ...] = ("before", "after") if seen["rounds"] == 2 else ("before",)
    most = max(1, *(bar[side] for bar in seen["bars"] for side in sides))
    told = [bar for bar in seen["bars"] if bar["reason"] and not bar["right"]]
    rare = sorted(told, key=lambda bar: -bar["before"] - bar["after"])[_COMMON:]
    longest = max(len(bar["answer"] or _OTHERS) for bar in seen["bars"])
    fit = _fit(*(f"{bar['answer']} {bar['reason']}" for bar in seen["bars"]))
    lettered = bool(asked.get("options"))
    return markup(
        _BARS, bars=seen["bars"], sides=sides, most=most, rare=rare, longest=longest, fit=fit, others=_OTHERS,
        lettered=lettered,
    )  # fmt: skip


def _texts(seen: Seen) -> str:
    """Return the texts or the words that were collected, those of several students first and larger, as HTML."""
    found = [(bar["answer"] or _OTHERS, max(bar["before"], bar["after"])) for bar in seen["bars"]]
    items = "".join(
        f'<li style="--many: {min(many, 5)}">{escape(text)}{f" <b>×{many}</b>" if many > 1 else ""}</li>'
        for text, many in found
    )
    return f'<ul class="class-texts" aria-label="Answers">{items}</ul>'


def join_link(code: str) -> str:
    """Return the link that phones join with: they cannot reach this machine as localhost."""
    here = urlsplit(for_others(st.context.url or "http://localhost:8501/"))
    return f"{here.scheme}://{here.netloc}/join/{code}"


def as_spoken(link: str) -> str:
    """Return a link as one would read it aloud."""
    return link.partition("://")[2].rpartition("/")[0]


def qr(link: str) -> str:
    return f'<img class="class-qr" alt="QR code of {escape(link)}" src="{qr_code(link)}">'
