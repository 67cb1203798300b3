"""The menu of the open room: how to join it, what phones may tell the teacher, the answers as a file, and the end."""

from functools import partial

import streamlit as st

from classroom.rooms import rooms
from classroom.seen import Seen
from ui.parts.downloads import download
from ui.state.visit import visit
from ui.views.class_stage import as_spoken, join_link, qr
from ui.views.teachers_room import TeachersRoom, act

_CHANNELS = {
    "confidence": "Students say how sure they are",
    "pace": "Students tell you about the pace",
    "wonder": "Students can send you questions",
}


def room_menu(seen: Seen) -> None:
    """Offer what concerns the room as a whole."""
    code, host = visit(TeachersRoom).room or ("", "")
    panel = st.popover("Room", key="class room", on_change="rerun")
    if not panel.open:
        return
    with panel:
        link = join_link(code)
        st.markdown(f"Join at **{as_spoken(link)}** with the code **{code}**, or scan:")
        st.html(qr(link))
        projector_link(code)
        for name, label in _CHANNELS.items():
            st.session_state[f"class {name}"] = name in seen["channels"]
            st.toggle(label, key=f"class {name}", on_change=_switch, args=(name,))
        mark = "\ufeff"  # by which spreadsheets know UTF-8
        download("Answers (CSV)", f"answers-{code}.csv", lambda: mark + rooms.call(rooms.answers(code, host)))
        if st.toggle("End this class", key="class end"):
            st.markdown("This deletes all votes. Save the answers first.")
            st.button("End the class and delete its votes", on_click=partial(act, "delete"))


def projector_link(code: str) -> None:
    """Offer the view for the projector, in a window of its own."""
    st.link_button("View for the projector", f"?room={code}&view=projector", icon=":material/cast:")


def _switch(name: str) -> None:
    act("channels", **{name: st.session_state[f"class {name}"]})
