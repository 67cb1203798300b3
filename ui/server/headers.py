"""Headers of every answer: what a browser may load, who may show a page in a frame, what other sites learn of it."""

from urllib.parse import parse_qs

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

POLICY = "img-src 'self' data: blob:; object-src 'none'; base-uri 'self'"
_NO_FRAMES = "; frame-ancestors 'self'"  # of other sites
_NO_PAGES = ("application/json", "application/javascript", "text/javascript", "text/css")  # a policy does nothing there


class Guarded:
    """Add the headers that restrict what a browser does with an answer; one that an answer has already stays as it is.

    Pictures come from this server alone, so no text of a visitor can make a browser fetch one from elsewhere. Only a
    page with `embed=true` in its address may be shown in a frame of another site.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, and add the headers to its answer."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        policy = POLICY if _embedded(scope) else POLICY + _NO_FRAMES

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.setdefault("X-Content-Type-Options", "nosniff")
                headers.setdefault("Referrer-Policy", "same-origin")  # the address may hold a room's code
                given = headers.get("Content-Security-Policy")
                if given is not None or not headers.get("Content-Type", "").startswith(_NO_PAGES):
                    headers["Content-Security-Policy"] = policy if given is None else f"{given}{_NO_FRAMES}"
            await send(message)

        await self.app(scope, receive, sent)


def _embedded(scope: Scope) -> bool:
    return parse_qs(scope["query_string"].decode("latin-1")).get("embed") == ["true"]
