"""The app's small components: the script of each, and its style if it has one, are files beside its Python."""

from pathlib import Path
from typing import Any

import streamlit as st


def component(of: str, name: str, html: str | None = None, *, isolated: bool = True) -> Any:
    """Return the function that mounts the component of this name.

    of: the `__file__` of the code beside its files. isolated: whether the styles of the page stay outside of it.
    """
    script, style = (Path(of).with_name(f"{name}.{ending}") for ending in ("js", "css"))
    css = style.read_text("utf-8") if style.exists() else None
    return st.components.v2.component(
        f"packviz_{name}", html=html, css=css, js=script.read_text("utf-8"), isolate_styles=isolated
    )
