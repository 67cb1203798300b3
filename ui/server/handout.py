"""The head of a printed page: its address and QR code, by which the paper leads back to the picture."""

from html import escape

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from packviz.text import visible
from ui.parts.network import for_others
from ui.parts.qr import MAX_BYTES, qr_svg

_MAX_SHOWN = 90  # characters of an address that somebody would type


def route() -> Route:
    """Return the route that print.js asks while a page is printed."""
    return Route("/handout", _handout)


async def _handout(request: Request) -> Response:
    """Return the address, as others can open it, with its QR code; no code if the address is too long for one."""
    link = request.query_params.get("link", "")
    if not link.startswith(("http://", "https://")) or len(link.encode()) > MAX_BYTES:
        return Response(status_code=204)
    try:
        link = for_others(link)
    except ValueError:  # a bracket without its partner, or a port that no machine has
        return Response("The link is not a valid address.", 400, media_type="text/plain")
    shown = visible(link if len(link) <= _MAX_SHOWN else link.partition("?")[0])
    told = f"<p>This page with its movie: {escape(shown)}</p>"
    part = f'<div id="packviz-handout">{told}{qr_svg(link)}</div>'
    return Response(part, media_type="text/plain")  # part of a page: an HTML page would get the app's head
