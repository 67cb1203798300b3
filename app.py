"""packviz in the browser: `streamlit run app.py` serves it warm."""

from pathlib import Path

import streamlit as st
from starlette.middleware import Middleware

from ui.preload import Preload
from ui.warm import warm

PAGES = (
    *("padding", "sorting", "packing", "running", "unpacking"),
    *("compare", "cost", "training"),
    *("questions", "doctor", "quiz"),
)
UI = Path(__file__).parent / "ui"
ICON = UI / "icon.svg"

if __name__ == "__main__":  # Streamlit runs this file for each visitor ...
    st.set_page_config("packviz", str(ICON), layout="wide", initial_sidebar_state=304)
    st.logo(str(ICON), size="large")
    st.html(UI / "style.css")
    overview = "pages/0_overview.py"
    pages = [
        st.Page(overview, title="Overview", url_path="start", default=True),
        st.Page(overview, title="Overview", url_path="overview", visibility="hidden"),  # the first page, by its name
        *(st.Page(f"pages/{i}_{name}.py", title=name.title(), url_path=name) for i, name in enumerate(PAGES, 1)),
    ]
    st.navigation(pages, position="top").run()
else:  # ... and its server imports it once, before the first one
    app = st.App(__file__, lifespan=warm, middleware=[Middleware(Preload)])
