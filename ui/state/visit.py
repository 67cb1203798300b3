"""What the app remembers about a visitor from one run to the next: a record for each part of the app that needs one.

The widgets hold their own values, and `ui.state.address` has the address. Everything else is a dataclass beside the
code that it belongs to, with a default for each field.
"""

from typing import TypeVar

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

_KEY = "visit"

Record = TypeVar("Record")


def visit(kind: type[Record]) -> Record:
    """Return the current visitor's record of a class, which is made the first time."""
    records = st.session_state.setdefault(_KEY, {})
    if kind not in records:
        records[kind] = kind()
    found: Record = records[kind]
    return found


def session_id() -> str:
    """Return Streamlit's name of the current visitor's session."""
    context = get_script_run_ctx()
    assert context is not None
    return context.session_id
