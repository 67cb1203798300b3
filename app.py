"""packviz in the browser: `python -m ui.server` serves it, as does `streamlit run app.py`."""

from pathlib import Path

import streamlit as st
from starlette.middleware import Middleware
from starlette.responses import FileResponse
from starlette.routing import Route

from classroom.routes import Front
from ui.parts import player
from ui.parts.share import hide
from ui.server import handout, observed, sessions
from ui.server.head import PREVIEW, Head, title_and_description
from ui.server.headers import Guarded
from ui.server.menu import mark_group
from ui.server.static import Static
from ui.server.warm import warm
from ui.state.path import pages
from ui.state.visit import session_id

SERVER = Path(__file__).parent / "ui" / "server"
ICON = SERVER / "icon.svg"

if __name__ == "__main__":  # Streamlit runs this file for each visitor ...
    sessions.note(session_id())
    st.logo(str(ICON), size="large")
    page = st.navigation(pages(), position="top", expanded=True)  # in the sidebar of a phone: every page
    mark_group(page.url_path)
    hide()  # it may rerun, which needs to know the page
    title, _ = title_and_description(page.url_path, st.query_params)
    st.set_page_config(title, str(ICON), layout="wide", initial_sidebar_state="collapsed")
    sessions.ask_again()
    page.run()
else:  # ... and its server imports it once, before the first one
    preview = Route(f"/{PREVIEW}", FileResponse(SERVER / PREVIEW))
    own = [preview, player.route(), handout.route(), *observed.routes()]
    between = [Middleware(Guarded), *observed.middleware(), Middleware(Front), Middleware(Static), Middleware(Head)]
    app = st.App(__file__, lifespan=warm, routes=own, middleware=between)
