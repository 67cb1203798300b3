"""packviz in the browser: `streamlit run app.py` serves it warm."""

from pathlib import Path

import streamlit as st
from starlette.middleware import Middleware

from ui.preload import Preload
from ui.warm import warm

ICON = Path(__file__).parent / "ui" / "icon.svg"

if __name__ == "__main__":  # Streamlit runs this file for each visitor ...
    st.set_page_config("packviz", str(ICON), layout="wide", initial_sidebar_state=304)
    st.logo(str(ICON), size="large")
    # Streamlit has no setting for the margins of its main column.
    st.html("<style>@media (width > 56rem) { .stMainBlockContainer { padding-inline: 1.75rem } }</style>")
    overview = "pages/0_overview.py"
    named = st.Page(overview, title="Overview", url_path="overview", visibility="hidden")  # the first page, by its name
    st.navigation([st.Page(overview, title="Overview", url_path="start", default=True), named]).run()
else:  # ... and its server imports it once, before the first one
    app = st.App(__file__, lifespan=warm, middleware=[Middleware(Preload)])
