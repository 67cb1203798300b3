"""The teacher's room: which one it is, what its teacher sees, and what a button or a key does in it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import streamlit as st

from classroom.rooms import rooms
from classroom.seen import Seen
from classroom.state import RefusedError
from ui.parts.new_question import put_batch, unfold
from ui.parts.plan import Plan, shown_of
from ui.state.visit import visit


@dataclass
class TeachersRoom:
    """A teacher's class.

    room: its code and the secret. problem: why the last action was refused. is_over: whether the browser should forget
    the class. revealed: by the number of what was shown, the step at which its movie was opened.
    """

    room: tuple[str, str] | None = None
    problem: str = ""
    is_over: bool = False
    revealed: dict[int, int] = field(default_factory=dict)


def open_room(plan: Plan | None = None) -> None:
    """Open a room with a plan, or else with the visitor's own."""
    specs = shown_of((plan or visit(Plan)).items)
    own = visit(TeachersRoom)
    try:
        created = rooms.create(specs, st.context.ip_address, plan=bool(specs))
        own.room, own.problem = rooms.call(created), ""
        unfold(on=not specs)
    except RefusedError as refusal:
        own.problem = refusal.sentence


def come_back(known: Mapping[str, str]) -> bool:
    """Return to the room that the browser remembers after a reload or a server restart, or have it forgotten.

    Return False if the room cannot be read right now.
    """
    own = visit(TeachersRoom)
    try:
        seen = rooms.call(rooms.snapshot(known["code"], known["host"]))
        if seen.get("host"):
            own.room = known["code"].upper(), known["host"]
            put_batch(seen["asked"])
    except RefusedError as refusal:
        if refusal.status not in (403, 404):
            return False
    own.is_over = own.room is None
    return True


def seen_now() -> Seen | None:
    """Return the open room as its teacher sees it; None if there is none, or if it has ended."""
    own = visit(TeachersRoom)
    if own.room is None:
        return None
    try:
        return rooms.call(rooms.snapshot(*own.room))
    except RefusedError as refusal:
        own.problem = refusal.sentence
        if refusal.status in (403, 404):
            own.room, own.problem, own.is_over = None, "That class has ended.", True
        return None


def act(action: str, **details: object) -> None:
    """Do what a button or a key requests; if it is refused, say why."""
    own = visit(TeachersRoom)
    if own.room is None:
        return
    try:
        rooms.call(rooms.act(*own.room, action, details))
        own.problem = ""
    except RefusedError as refusal:
        own.problem = refusal.sentence
    if action == "delete" and not own.problem:
        own.room, own.is_over = None, True
        st.query_params.pop("room", None)
