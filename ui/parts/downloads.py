"""Files that are made when somebody presses a button, and stay until they are fetched."""

from collections.abc import Callable
from functools import partial
from itertools import count
from mimetypes import guess_type

import streamlit as st
from streamlit.runtime import Runtime

_KEPT = 16  # files: as many may wait to be fetched
_MADE = count()


def download(label: str, name: str, made: Callable[[], str | bytes]) -> None:
    """Offer a file, created on request."""
    kind = guess_type(name)[0] or "application/octet-stream"
    kept = partial(_kept, made, name, kind)
    st.download_button(label, kept, name, kind, key=f"save {name}", on_click="ignore", icon=":material/download:")


def _kept(made: Callable[[], str | bytes], name: str, kind: str) -> bytes:
    """Make a file, and have Streamlit keep it: two ends of anybody's runs later it would be gone, fetched or not."""
    file = made()
    data = file.encode() if isinstance(file, str) else file
    files = Runtime.instance().media_file_mgr
    files.add(data, kind, f"download {next(_MADE) % _KEPT}", name, is_for_static_download=True)
    return data
