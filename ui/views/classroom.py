"""The teacher's page of a class: open a room, ask, open and close the votes, show the answer.

What must stay secret until the answer is shown is in one panel that the teacher opens; the rest may be projected.
"""

from functools import partial
from pathlib import Path
from typing import Literal

import streamlit as st

from classroom.seen import Seen
from classroom.specs import is_question
from classroom.state import Place
from packviz.text import counted
from ui.parts.lesson import apart
from ui.parts.new_question import new_question, unfold
from ui.parts.plan import Plan, shown_of
from ui.parts.plan_file import ready_lessons
from ui.parts.plan_view import from_the_list, plan_view, set_plan
from ui.state import widgets
from ui.state.visit import visit
from ui.views.class_menu import projector_link, room_menu
from ui.views.class_stage import LOOK, counted_votes, join_link, projector, stage
from ui.views.presenter import presenter
from ui.views.teachers_room import TeachersRoom, act, come_back, open_room, seen_now

_HERE = Path(__file__).parent
_mount = st.components.v2.component(
    "packviz_class",
    html='<div class="cover" hidden></div>',
    css=".cover { position: fixed; inset: 0; z-index: 10000000; background: black; }\n",
    js=(_HERE / "classroom.js").read_text("utf-8"),
)

# The teacher's other windows can also step through the movie: this tells the component above.
_tell = st.components.v2.component(
    "packviz_class_step",
    js="""export default ({ data }) => {
  document.dispatchEvent(new CustomEvent("packviz class", { detail: data }));
}
""",
)


_LABELS = {
    "open": "Open the vote",
    "close": "Close the vote",
    "talk": "Let them talk",
    "reopen": "Vote again",
    "reveal": "Show the answer",
    "next": "Next question",
}
_MORE = {"twin": "Same question, new numbers", "seen": "What did you see?"}  # questions on what was just answered
_HELP = {"seen": "This asks the question again, because about one student in five remembers a demonstration wrongly."}
_PRIVATE = (
    "This view shows your notes, the answers so far and what students tell you. Switch it on only in a window that "
    "students cannot see. **Room** has a view for the projector."
)
_FIRST = "Ask the first question"


def classroom() -> None:
    """Show the class: how to open a room, the open room, or the projector's view."""
    for sheet in ("quiz.css", "classroom.css"):
        st.html(_HERE / sheet)
    if st.query_params.get("view") == "projector":
        _mount(key="class", data={"code": "", "projector": True})
        projector(st.query_params.get("room", ""))
        return
    seen = seen_now()
    code, host = visit(TeachersRoom).room or ("", "")
    revealed = seen is not None and seen["phase"] == "reveal"
    asked = len(seen["asked"]) if seen else 0
    data = {"code": code, "host": host, "asked": asked, "revealed": revealed, "forget": visit(TeachersRoom).is_over}
    data["place"] = None if seen is None else seen["place"]
    visit(TeachersRoom).is_over = False
    with st.container(key="class-keys"):
        told = _mount(key="class", data=data, default={"room": None}, on_room_change=lambda: None, on_key_change=_turn)
    if told["room"] and not (code or data["forget"]) and come_back(told["room"]):
        st.rerun()
    apart("Ask your class" if seen is None else f"Class {seen['code']}", "")
    if seen is None:
        _begin()
        new_question("Create a question", None)
    else:
        _room(seen)
        title = "Ask something else" if asked or seen["questions"] or seen["items"] else "The first question"
        new_question(title, partial(_ask_new, seen["place"]))
    plan_view(None if seen is None else partial(_ask, seen["place"]))


def _begin() -> None:
    """Explain the class, and offer to open a room."""
    plan = shown_of(visit(Plan).items)
    what = "question" if all(map(is_question, plan)) else "item"
    with st.container(border=True):
        st.markdown(
            "Your students vote on their phones and need no accounts. They vote alone, talk to a neighbor and "
            "vote again. "
            "Then everyone sees what PyTorch does, step by step. "
            "Students learn more from a demonstration if they predict its result first."
        )
        st.button(
            f"Open a room with {counted(len(plan), what)}" if plan else "Open a room",
            key="class open", type="primary", on_click=open_room,
        )  # fmt: skip
        if visit(TeachersRoom).problem:
            st.text(f"⚠ {visit(TeachersRoom).problem}")
        _lessons()
        code = st.query_params.get("room", "")
        if len(code) == 6 and code.isascii() and code.isalnum():
            st.markdown(f"This is the teacher's page. Students join room **{code}** here: [join]({join_link(code)}).")


def _lessons() -> None:
    """Offer the ready lessons, each opened with one click."""
    st.markdown("Or open a ready lesson, with questions, movies, slides and notes for you:")
    lessons = ready_lessons()
    for row in (lessons[:2], lessons[2:]):
        for place, plan in zip(st.columns(2), row, strict=False):
            with place.container(border=True, height="stretch"):
                st.markdown(f"**{plan.title}** · {plan.minutes} minutes · {counted(len(plan.items), 'item')}")
                st.markdown(plan.goal)
                with st.container(horizontal=True):
                    st.button("Open a room with it", key=f"open {plan.title}", on_click=open_room, args=(plan,))
                    st.button("Put it into my plan", key=f"take {plan.title}", on_click=set_plan, args=(plan,))


def _do(action: str, seen: Seen) -> None:
    """Do what a button offers, at the point of the lesson at which it was shown."""
    if action == "seen":
        _ask(seen["place"], {**(seen["spec"] or {}), "seen": True})
    else:
        act(action, at=seen["place"])


def _ask(place: Place, item: object) -> None:
    """Ask a question, or show a slide or a step, that need not be in the room's list."""
    act("item", item=item, at=place)


def _from_the_list(seen: Seen, index: int) -> None:
    """Show an item of the plan, or ask a question of the list."""
    if seen["items"] is None:
        act("ask", question=index, at=seen["place"])
    else:
        _ask(seen["place"], index)


def _ask_new(place: Place, item: object) -> None:
    """Show a question or a slide that was just created, and fold the panel."""
    _ask(place, item)
    unfold(on=bool(visit(TeachersRoom).problem))


def _turn() -> None:
    """Follow a key of the teacher's remote: the action that is advised or usual, or back to what was shown before.

    A key counts at the place where it was pressed. Streamlit can report one press twice: if a fragment's timer fires
    between the press and the message about it, it sends the press, too.
    """
    seen, pressed = seen_now(), st.session_state["class"]["key"]
    if seen is None or pressed["place"] != seen["place"]:
        return
    if pressed["way"] == "next":
        for action, _ in _actions(seen)[:1]:
            if action not in _MORE:
                _do(action, seen)
    elif _can_go_back(seen):
        act("back", at=seen["place"])


def _actions(seen: Seen) -> tuple[tuple[str, str], ...]:
    """Return what the teacher can do now and the labels of its buttons, first the action that is advised or usual."""
    if seen["question"] is None:
        first = "Begin" if seen["items"] and not is_question(seen["items"][0]) else _FIRST
        return (("next", first if seen["kind"] is None else "Next"),) if seen["after"] else ()
    labels = _LABELS | ({"next": "Next"} if seen["items"] is not None else {})  # it need not be a question
    offered: list[tuple[str, str]] = [
        (action, labels[action]) for action in seen["offered"] if action != "next" or seen["after"]
    ]
    if seen["phase"] == "reveal" and seen["question"]["kind"] != "own":
        offered += [more for more in _MORE.items() if more[0] != "seen" or not (seen["spec"] or {}).get("seen")]
    return tuple(offered)


def _can_go_back(seen: Seen) -> bool:
    """Return whether something can be undone, or was shown before what is on the screen."""
    return bool(seen["undo"] or seen["before"])


def _room(seen: Seen) -> None:
    with st.container(horizontal=True, vertical_alignment="center", key="class-actions"):
        _counts(seen["place"])
        for i, (action, label) in enumerate(_actions(seen)):
            kind: Literal["primary", "secondary"] = "secondary" if i else "primary"
            do = partial(_do, action, seen)
            st.button(label, key=f"class {action}", type=kind, help=_HELP.get(action), on_click=do)
        if seen["kind"] is None and not seen["left"]:  # one has to be created: classroom.js scrolls there
            st.button(_FIRST, key="class first", type="primary", on_click=partial(unfold, on=True))
        if _can_go_back(seen):
            back = partial(act, "back", at=seen["place"])
            label = "Undo" if seen["undo"] else "Back"
            st.button(label, key="class back", icon=":material/undo:", help="Page Up", on_click=back)
        from_the_list(seen, partial(_from_the_list, seen))
        room_menu(seen)
        private = widgets.switch("presenter", _PRIVATE, label="Presenter view")
    if visit(TeachersRoom).problem:
        st.text(f"⚠ {visit(TeachersRoom).problem}")
    with st.container(horizontal=True, key="class-windows"):
        with st.container(border=True, key="class-stage"):
            stage(seen, first=visit(TeachersRoom).revealed)
            if seen["kind"] is None:
                projector_link(seen["code"])
        if private:
            following = [label for action, label in _actions(seen)[:1] if action not in _MORE]
            presenter("".join(following))


@st.fragment(run_every=LOOK)
def _counts(drawn: Place) -> None:
    """Count those who have joined and voted; rerun the page when another window has moved the class on."""
    seen = seen_now()
    if seen is None or seen["place"] != drawn:
        st.rerun()
    assert seen is not None
    st.html(f'<p class="class-count">{counted_votes(seen)}</p>')
    if seen["phase"] == "reveal":
        _tell(key="class step", data={"step": seen["step"], "revision": seen["revision"]}, height=0)
