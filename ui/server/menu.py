"""The menu at the top: the group of the page on the screen is marked. What it does in the browser is in menu.js."""

import streamlit as st

from packviz.teach.pages import PAGES

_GROUP = '[data-testid="stTopNavSection"]'


def mark_group(address: str) -> None:
    """Mark the group of a page, which is given by its name: Streamlit marks only a page that is in the menu itself."""
    group = next((page.group for page in PAGES if page.address == address), "")
    if group:
        groups = [each for each in dict.fromkeys(page.group for page in PAGES) if each]
        item = f".rc-overflow-item:nth-child({groups.index(group) + 1} of :has({_GROUP}))"
        st.html(
            f"<style>{item} {_GROUP} {{ background: color-mix(in srgb, currentColor 12%, transparent); "
            "-webkit-text-stroke: 0.4px; }</style>"  # bold would be wider, and move the rest of the menu
        )
