"""Markdown of teachers on the app's own pages: as the HTML that phones show."""

from ui.parts.component import component

_mount = component(__file__, "rendered", '<div class="rendered"></div>', isolated=False)


def rendered(html: str, key: str) -> None:
    """Show HTML of classroom.slide, which is safe, with the styles of the page. Streamlit's own would drop the math."""
    _mount(data=html, key=key)
