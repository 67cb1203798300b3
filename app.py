"""packviz in the browser: `streamlit run app.py` serves it warm."""

from pathlib import Path

import streamlit as st
from starlette.middleware import Middleware

from ui.preload import Preload
from ui.warm import warm

# Every page after the overview, by the heading under which the navigation has it; "" is none.
PAGES = {
    "": ("padding", "sorting", "packing", "running", "unpacking"),
    "Padded or packed": ("compare", "cost", "training"),
    "Ask": ("questions", "doctor", "quiz"),
}
UI = Path(__file__).parent / "ui"
ICON = UI / "icon.svg"

if __name__ == "__main__":  # Streamlit runs this file for each visitor ...
    st.set_page_config("packviz", str(ICON), layout="wide", initial_sidebar_state=304)
    st.logo(str(ICON), size="large")
    st.html(UI / "style.css")
    numbers = {name: i for i, name in enumerate((name for names in PAGES.values() for name in names), 1)}
    pages = {
        heading: [st.Page(f"pages/{numbers[name]}_{name}.py", title=name.title(), url_path=name) for name in names]
        for heading, names in PAGES.items()
    }
    pages[""] = [
        st.Page("pages/0_overview.py", title="Overview", url_path="start", default=True),
        st.Page("pages/0_overview.py", title="Overview", url_path="overview", visibility="hidden"),  # by its name
        *pages[""],
    ]
    st.navigation(pages, position="top").run()
else:  # ... and its server imports it once, before the first one
    app = st.App(__file__, lifespan=warm, middleware=[Middleware(Preload)])
