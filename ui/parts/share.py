"""The share panel: a link to what is on the screen, its QR code, a frame for other pages, and the movie as a file.

Only the browser knows the whole address, because the player writes its step there: a small component reports it while
the panel is open.
"""

from collections.abc import Callable, Collection
from html import escape
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import streamlit as st

from ui.parts.component import component
from ui.parts.downloads import download
from ui.parts.game import Games
from ui.parts.network import for_others, is_local
from ui.parts.new_question import add_step
from ui.parts.plan import Item, item_of
from ui.parts.player import stage_on_screen
from ui.parts.qr import MAX_BYTES, qr_code
from ui.parts.quiz_views import way_to
from ui.state import address, names
from ui.state.runs import Request, run
from ui.state.visit import visit

# names that the panel itself puts into a link
_OWN = {"hide", "lock", "theme", "question", "worksheet", "embed", "embed_options"}
_WITHOUT_SETTINGS = ("questions", "do_i_need_it", "doctor", "quiz", "class")  # pages
_KEY = "share link"
# The page in a frame reports its height (player/frame.js); one listener is enough for all frames.
_FRAME = """<iframe src="{source}" title="packviz" width="100%" height="720" allow="fullscreen"></iframe>
<script>
addEventListener("message", ({{ data, source }}) => {{
  for (const frame of document.querySelectorAll('iframe[src^="{start}"]'))
    if (frame.contentWindow === source && data?.packviz?.height) frame.height = data.packviz.height;
}});
</script>"""
_SELECTORS = {
    "sidebar": '[data-testid="stSidebar"], [data-testid="stExpandSidebarButton"]',
    "menu": '[data-testid="stTopNav"], [data-testid="stSidebarNav"], [data-testid="stLogoLink"]',
    "sidebar menu": '[data-testid="stHeader"]',
}  # what to hide; the player hides its code itself
_NO_HEADER = (
    " @media (width > 30rem) { .stApp .stMainBlockContainer { padding-top: 1rem; } }"  # on a phone Share is there
)

_mount = component(
    __file__,
    "link",
    '<input readonly aria-label="Link to this page"><button type="button" aria-live="polite">Copy</button>',
)


def hide() -> None:
    """Hide the parts that the link hides, on every page."""
    address.remember()
    parts = address.hidden()
    hiding = [selectors for names, selectors in _SELECTORS.items() if set(names.split()) <= set(parts)]
    if hiding:
        top = _NO_HEADER if len(hiding) == len(_SELECTORS) else ""
        st.html(f"<style>{', '.join(hiding)} {{ display: none !important; }}{top}</style>")


@st.fragment
def share(film: Callable[[], Request] | None) -> None:
    """Offer the panel, on pages with a movie once that has been painted; nothing is computed until it is opened.

    film: returns the request whose movie the page shows; None for a page without one.
    """
    if film is not None and stage_on_screen() is None:
        return
    key = "share sheet" if st.query_params.get("worksheet") else "share"  # so that the panel that led there is closed
    panel = st.popover("Share", icon=":material/share:", key=key, on_change="rerun")
    if panel.open:
        with panel, st.container(key="sharing"):
            _panel(film)


def link(
    here: str,
    *,
    step: bool = True,
    hidden: Collection[str] = (),
    locked: Collection[str] = (),
    theme: str = names.THEMES[0],
    question: int = 1,
) -> str:
    """Return a link to an address with these options.

    step: whether to include the player's step. hidden, theme: how the page is shown. locked: the settings that it
    fixes. question: the first question, of a quiz round or of a lesson.
    """
    parts = urlsplit(here)
    left_out = _OWN if step else _OWN | {"step"}
    query = [(name, value) for name, value in parse_qsl(parts.query, True) if name not in left_out]
    chosen = {"hide": ",".join(hidden), "lock": ",".join(locked), "theme": theme, "question": question}
    query += names.changed(chosen).items()
    return parts._replace(query=urlencode(query, safe=","), fragment="").geturl()


def frame(link: str) -> str:
    """Return the HTML that shows a link within another page, in a frame that adapts to the height of its content."""
    source = escape(f"{link}{'&' if urlsplit(link).query else '?'}embed=true")
    return _FRAME.format(source=source, start=escape(urlsplit(link)._replace(path="/", query="").geturl()))


def frame_of_file(name: str) -> str:
    """Return the same for a saved movie in the folder of the other page."""
    return _FRAME.format(source=f"{name}#fit", start=name)


def _panel(film: Callable[[], Request] | None) -> None:
    here = str(st.session_state.get(_KEY, {}).get("url") or "")  # "" until the browser has reported it
    page = urlsplit(here).path.rpartition("/")[2] or "overview"
    st.markdown("**Link to this page, as it is now**")
    top, onward = st.columns([3, 2], vertical_alignment="center"), st.container(gap="small")
    with st.expander("What the link opens, hides and fixes", key="share options"):
        chosen = _choices(page, here, with_step=film is not None)
    shared = link(for_others(here), **chosen) if here else ""
    with top[0]:
        _mount(key=_KEY, data={"known": here, "link": shared}, default={"url": ""}, on_url_change=lambda: None)
    if here:
        with top[1]:
            _code(shared)
        with st.expander("Embed it in another page", key="share embed"):
            st.code(frame(shared), language="html", wrap_lines=True)
            if film is not None:
                st.markdown("You can also put the movie beside that page as a file:")
                st.code(frame_of_file(f"packviz-{page}.html"), language="html", wrap_lines=True)
    with onward:
        if is_local(here):
            _warn(shared)
        _onward(film, page, here, shared)


def _warn(shared: str) -> None:
    """Say who can open the link, since the address of this page is of no use to others."""
    if is_local(shared):
        told = "Only this computer can open the link, because it is in no network."
    else:
        told = (
            "The link opens on every device in your local network; the page's own address opens only on this computer."
        )
    st.caption(told)


def _onward(film: Callable[[], Request] | None, page: str, here: str, shared: str) -> None:
    """Offer what else can be done with the page: add it to the plan, print it, save its movie."""
    played = visit(Games).current if page == "quiz" else None
    if film is not None:
        request, name = film(), f"packviz-{page}.html"
        add_step(item_of(page, request, _in(here, "step")))
        download("The movie as a file that plays offline", name, lambda: run(request).film.to_html())
    elif played is not None:
        add_step(Item(question={"level": played[0], "round": played[1], "question": visit(Games).question - 1}))
        way_to(*played)
    elif here and page != "class":
        add_step(Item(page=page, link=urlsplit(shared).query))


def _in(here: str, name: str) -> int:
    return address.ordinal(dict(parse_qsl(urlsplit(here).query)), name, 99_999) or 1


def _choices(page: str, here: str, *, with_step: bool) -> dict[str, Any]:
    """Let the visitor choose what the link contains; return the keywords of `link`."""
    chosen: dict[str, Any] = {}
    if with_step:
        chosen["step"] = st.checkbox("Open on this step", value=True, key="share step")
    at = visit(Games).question if page == "quiz" else _in(here, "question") if with_step else 1
    if at > 1 and st.checkbox(f"Open on question {at}", value=True, key="share question"):
        chosen["question"] = at
    chosen["hidden"] = st.pills("Hide", names.PARTS, selection_mode="multi", default=address.hidden(), key="share hide")
    if page not in _WITHOUT_SETTINGS:
        hint = "People who open the link see these settings, but cannot change them."
        kept = list(address.locked())
        chosen["locked"] = st.multiselect("Lock settings", names.SETTINGS, kept, key="share lock", help=hint)
    chosen["theme"] = st.segmented_control(
        "Colors", names.THEMES, default=address.theme(), required=True, key="share theme"
    )
    return chosen


def _code(shared: str) -> None:
    size = len(shared.encode())
    if size > MAX_BYTES:
        st.text(f"This link is too long for a QR code: {size:,} characters, at most {MAX_BYTES}.")
        return
    st.html(f'<img alt="QR code of the link" src="{qr_code(shared)}">')
