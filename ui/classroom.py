"""The teacher's page of a class, and the view for the projector: a question, its votes, and torch's answer.

What is secret before the answer is shown stands in one panel that the teacher opens; all else may be projected.
"""

import gzip
import socket
from collections.abc import Callable, Mapping
from functools import partial
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import streamlit as st

from classroom.refusal import RefusedError
from classroom.rooms import rooms
from packviz.teach.quiz import LAST_ROUND, LEVELS
from packviz.text import counted
from ui import address
from ui.class_questions import from_the_list, new_question
from ui.lesson import apart
from ui.plan_view import plan_view
from ui.player import clip
from ui.qr import qr_code, svg
from ui.quiz_views import batch
from ui.status import announce
from ui.visit import visit

__all__ = ["classroom"]

_HERE = Path(__file__).parent
_LOOK = 0.7  # seconds between two looks at the votes

Seen = Mapping[str, Any]  # a snapshot of a room: classroom/__init__.py

_mount = st.components.v2.component(
    "packviz_class",
    html='<div class="cover" hidden></div>',
    css=".cover { position: fixed; inset: 0; z-index: 10000000; background: black; }\n",
    js=(_HERE / "classroom.js").read_text("utf-8"),
)

# What the teacher can do now: by phase and round, the natural next action first; with the label of its button.
_ACTIONS: Mapping[tuple[str, int], tuple[tuple[str, str], ...]] = {
    ("lobby", 1): (("open", "Open the vote"),),
    ("vote", 1): (("close", "Close the vote"),),
    ("closed", 1): (("talk", "Let them talk"), ("reveal", "Show the answer")),
    ("talk", 1): (("reopen", "Vote again"), ("reveal", "Show the answer")),
    ("vote", 2): (("close", "Close the vote"),),
    ("closed", 2): (("reveal", "Show the answer"),),
    ("reveal", 1): (("next", "Next question"), ("twin", "The same with other numbers")),
    ("reveal", 2): (("next", "Next question"), ("twin", "The same with other numbers")),
}
_TOLD = {
    "lobby": "Read the question. The vote opens in a moment.",
    "vote": "Vote on your phone, on your own.",
    "vote 2": "Vote again.",
    "closed": "The vote is closed.",
    "talk": "Explain your answer to your neighbour. Then there is a second vote.",
    "reveal": "The answer, as PyTorch computed it",
}


def classroom() -> None:
    """Show the class: how to open a room, the open room, or the projector's view of it."""
    st.html(_HERE / "classroom.css")
    if st.query_params.get("view") == "projector":
        _mount(key="class", data={"code": ""})
        _projector(st.query_params.get("room", ""))
        return
    apart("Ask your class", "")
    room = visit().room
    seen = _seen(*room) if room else None
    revealed = seen is not None and seen["phase"] == "reveal"
    code, host = room if room and seen else ("", "")
    data = {"code": code, "host": host, "revealed": revealed, "forget": visit().room_is_over}
    visit().room_is_over = False
    with st.container(key="class-keys"):
        _mount(key="class", data=data, on_known_change=_come_back, on_key_change=_turn)
    if seen is None:
        _begin()
    else:
        _room(seen)
    plan_view(None if seen is None else _ask)


def _begin() -> None:
    """Say what a class is, and open a room."""
    count = len(visit().plan)
    with st.container(border=True):
        st.markdown(
            "Your students vote on their phones, without accounts: alone, then again after talking to a neighbour. "
            "Then everyone sees what PyTorch does, step by step. Predicting first is what makes a demonstration teach."
        )
        st.button(
            f"Open a room with {counted(count, 'question')}" if count else "Open a room",
            type="primary", on_click=_open,
        )  # fmt: skip
        if visit().room_problem:
            st.text(f"⚠ {visit().room_problem}")


def _open() -> None:
    specs = [item.asks for item in visit().plan if item.asks is not None]
    try:
        visit().room, visit().room_problem = rooms.call(rooms.create(specs)), ""
    except RefusedError as refusal:
        visit().room_problem = refusal.sentence


def _come_back() -> None:
    """Take up the room that the browser knows, after a reload or a restart of the server."""
    known = st.session_state["class"]["known"]
    try:
        if rooms.call(rooms.snapshot(known["code"], known["host"])).get("host"):
            visit().room = known["code"].upper(), known["host"]
    except RefusedError as refusal:
        visit().room_is_over = refusal.status == 404


def _seen(code: str, host: str) -> Seen | None:
    """Return the room as its teacher sees it; None where it is over."""
    try:
        return rooms.call(rooms.snapshot(code, host))
    except RefusedError as refusal:
        if refusal.status in (403, 404):
            visit().room, visit().room_problem, visit().room_is_over = None, "That room is over.", True
        else:
            visit().room_problem = refusal.sentence
        return None


def _act(action: str, **details: object) -> None:
    """Do what a button or a key asks for; where that is refused, say why."""
    room = visit().room
    if room is None:
        return
    try:
        rooms.call(rooms.act(*room, action, details))
        visit().room_problem = ""
    except RefusedError as refusal:
        visit().room_problem = refusal.sentence
    if action == "delete" and not visit().room_problem:
        visit().room, visit().room_is_over = None, True


def _ask(question: object) -> None:
    _act("ask", question=question)


def _turn() -> None:
    """Follow a key of the teacher's remote: the natural next action; there is no way back but in the movie."""
    room = visit().room
    seen = _seen(*room) if room else None
    if seen is not None and st.session_state["class"]["key"] == "next":
        _act(_actions(seen)[0][0])


def _actions(seen: Seen) -> tuple[tuple[str, str], ...]:
    """Return what the teacher can do now, the natural next action first."""
    left = len(seen["questions"]) > (-1 if seen["index"] is None else seen["index"]) + 1
    if seen["question"] is None:
        return (("next", "Ask the first question"),) if left else ()
    actions = _ACTIONS[seen["phase"], seen["round"]]
    own = seen["question"]["kind"] == "own"
    return tuple(each for each in actions if not (each[0] == "next" and not left or each[0] == "twin" and own))


def _room(seen: Seen) -> None:
    _bar(seen)
    stage, side = st.columns([7, 3], gap="medium")
    with stage, st.container(border=True, key="class-stage"):
        _stage(seen, follows=False)
    with side:
        _counts(seen["phase"], len(seen["asked"]))
        for i, (action, label) in enumerate(_actions(seen)):
            st.button(
                label, key=f"class {action}", type="secondary" if i else "primary", width="stretch",
                on_click=partial(_act, action),
            )  # fmt: skip
        if visit().room_problem:
            st.text(f"⚠ {visit().room_problem}")
        _secrets(seen)
        from_the_list(seen, _ask)
    new_question(_ask)


def _bar(seen: Seen) -> None:
    """Show how to join, and what is done with the room as a whole."""
    code, host = visit().room or ("", "")
    with st.container(horizontal=True, vertical_alignment="center", key="class-bar"):
        link = _join_link(code)
        st.html(f'<span class="class-code">{code}</span>')
        st.markdown(f"Join at **{_shown(link)}**", width="content")
        with st.popover("QR code"):
            st.html(_qr(link))
        st.link_button("View for the projector", f"?room={code}&view=projector", icon=":material/cast:")
        with st.popover("Results", on_change="rerun"):
            st.download_button(
                "Answers as CSV", lambda: rooms.call(rooms.answers(code, host)), f"answers-{code}.csv", "text/csv",
                on_click="ignore",
            )  # fmt: skip
        with st.popover("End"):
            st.markdown("End this class? Its votes are deleted: save the answers first.")
            st.button("End the class and delete its votes", on_click=partial(_act, "delete"))


@st.fragment(run_every=_LOOK)
def _counts(phase: str, asked: int) -> None:
    """Count those who have joined and voted; the page follows when another window goes on."""
    room = visit().room
    seen = _seen(*room) if room else None
    if seen is None or (seen["phase"], len(seen["asked"])) != (phase, asked):
        st.rerun()
    assert seen is not None
    _counted(seen)


def _counted(seen: Seen) -> None:
    joined, voted = seen["joined"], seen["voted"]
    of = f"<b>{voted}</b> of {joined} voted" if seen["phase"] in ("vote", "closed", "talk") else f"<b>{joined}</b> joined"
    st.html(f'<p class="class-count">{of}</p>')


def _secrets(seen: Seen) -> None:
    """Offer what nobody but the teacher should see before the answer is shown."""
    if seen["question"] is None or seen["phase"] == "reveal":
        return
    panel = st.popover("For you alone", icon=":material/visibility_off:", width="stretch", on_change="rerun")
    if not panel.open:
        return
    with panel:
        if seen["hint"] is not None:
            st.markdown(f"**{seen['hint']['share']:.0%} right.** {seen['hint']['told']}")
        st.text(f"The answer: {seen['solution'].replace('`', '')}")
        if seen["why"]:
            st.text(seen["why"].replace("`", ""))
        note = seen["asked"][-1].get("note")
        if note:
            st.text(f"Your note: {note}")
        if seen["phase"] != "lobby":
            st.html(_bars(seen))


@st.fragment(run_every=_LOOK)
def _projector(code: str) -> None:
    """Show a room as everybody may see it, large."""
    try:
        seen = rooms.call(rooms.public(code))
    except RefusedError as refusal:
        st.header(refusal.sentence, anchor=False)
        return
    with st.container(key="projector"):
        link = _join_link(seen["code"])
        if seen["question"] is None:
            st.html(
                f'<div class="class-join">{_qr(link)}<div><p>Join at {escape(_shown(link))}</p>'
                f'<p class="class-code">{escape(seen["code"])}</p></div></div>'
            )
        else:
            st.html(f'<p class="class-corner">{escape(_shown(link))}</p>')
            _stage(seen, follows=True)
        _counted(seen)


def _stage(seen: Seen, *, follows: bool) -> None:
    """Show the question, and the answer once it is shown. follows: the movie goes to the teacher's step."""
    asked, phase = seen["question"], seen["phase"]
    if asked is None:
        st.html(f'<div class="class-join">{_qr(_join_link(seen["code"]))}<p>Scan the code to join.</p></div>')
        return
    told = _TOLD["vote 2" if (phase, seen["round"]) == ("vote", 2) else phase]
    with st.container(key="class-question"):
        st.caption(told)
        if asked["kind"] == "own":
            st.html(f'<p class="class-prompt">{escape(asked["prompt"])}</p>')
        else:
            st.markdown(asked["prompt"])
    announce(told, "class", number=len(seen.get("asked", ())))
    if phase == "reveal":
        _revealed(seen, follows=follows)
        return
    if asked.get("rows"):
        batch(asked["rows"])
        st.markdown(" ".join(f"`{setting}`" for setting in asked["settings"]))
    if asked.get("options"):
        options = "".join(f"<li>{escape(option.replace('`', ''))}</li>" for option in asked["options"])
        st.html(f'<ol class="class-options">{options}</ol>')


def _revealed(seen: Seen, *, follows: bool) -> None:
    """Show the movie of the answer at its step, and how often each answer was given."""
    number = seen["question"]["number"]
    film = rooms.call(rooms.shown_film(seen["code"])) if seen["movie"] else None
    st.html(_bars(seen))
    if film is not None:
        step = seen["step"] if follows else film.step
        clip(gzip.decompress(film.data), step or film.step, f"class {seen['code']} {number}")


def _bars(seen: Seen) -> str:
    """Return how often each answer was given before and after the talk, as HTML; the reasons under the wrong ones."""
    bars, two = seen["bars"], seen["rounds"] == 2
    most = max([1, *(bar[side] for bar in bars for side in ("before", "after"))])
    rows = []
    for bar in bars:
        answer = "other answers" if bar["answer"] is None else bar["answer"].replace("`", "")
        mark = '<b aria-label="right">✓</b> ' if bar["right"] else ""
        lines = "".join(
            f'<div class="bar {side}" style="--share:{bar[side] / most:.3f}"><span>{bar[side]}{f" {side}" if two else ""}</span></div>'
            for side in (("before", "after") if two else ("before",))
        )
        given = bar["before"] + bar["after"]
        reason = f"<p>{escape(bar['reason'].replace('`', ''))}</p>" if bar["reason"] and (given or bar["right"]) else ""
        right = " right" if bar["right"] else ""
        rows.append(f'<li class="answer{right}"><div>{mark}{escape(answer)}</div><div>{lines}</div>{reason}</li>')
    return f'<ul class="class-bars" aria-label="Answers">{"".join(rows)}</ul>'


def _join_link(code: str) -> str:
    """Return where phones join: they cannot reach this machine as localhost."""
    here = urlsplit(st.context.url or "http://localhost:8501/")
    host = here.hostname or "localhost"
    if host in ("localhost", "127.0.0.1", "::1"):
        host = _own_address() or host
    port = f":{here.port}" if here.port else ""
    return f"{here.scheme}://{host}{port}/join/{code}"


@st.cache_resource(show_spinner=False, ttl=60)
def _own_address() -> str:
    """Return this machine's address in its network; "" where it has none. Nothing is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as there:
        try:
            there.connect(("192.0.2.1", 9))  # an address for documentation: no packet leaves for a datagram socket
            return str(there.getsockname()[0])
        except OSError:
            return ""


def _shown(link: str) -> str:
    """Return a link as it is read out."""
    return link.partition("://")[2].rpartition("/")[0]


def _qr(link: str) -> str:
    image = quote(svg(qr_code(link)), " /:;,.=-()")
    return f'<img class="class-qr" alt="QR code of {escape(link)}" src="data:image/svg+xml,{image}">'
