"""What the server's operator can turn on: /metrics with PACKVIZ_METRICS=1, lines of JSON with PACKVIZ_LOGS=json."""

import asyncio
import os
import time

from starlette.middleware import Middleware
from starlette.routing import Match, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from classroom import routes as classroom
from classroom.background import going_on
from ui.server import logs

EVERY = 0.05  # seconds between two looks at the event loop


async def watch_loop() -> None:
    """Record repeatedly how late the event loop is, if the metrics are turned on: nothing else ran meanwhile."""
    if not _metrics():
        return
    from ui.server import metrics

    while True:
        due = time.perf_counter() + EVERY
        await asyncio.sleep(EVERY)
        with going_on("Recording how late the event loop is"):
            metrics.late(max(0.0, time.perf_counter() - due))


def routes() -> list[Route]:
    """Return the route of the metrics, if they are turned on."""
    if not _metrics():
        return []
    from ui.server import metrics  # needs a package that is installed for deployments

    return [metrics.route()]


def middleware() -> list[Middleware]:
    """Return the middleware that times the requests to the classroom, if anything is turned on."""
    return [Middleware(Timed)] if _metrics() or logs.wanted() else []


class Timed:
    """Time the requests to the classroom, and report their status by route, because a room's code is a secret."""

    def __init__(self, app: ASGIApp) -> None:
        self.app, self._routes = app, classroom.routes()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not scope["path"].startswith("/api/"):
            await self.app(scope, receive, send)
            return
        start = time.perf_counter()

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                found = (each.path for each in self._routes if each.matches(scope)[0] != Match.NONE)
                _tell(next(found, "other"), message["status"], time.perf_counter() - start)
            await send(message)

        await self.app(scope, receive, sent)


def _tell(route: str, status: int, seconds: float) -> None:
    logs.tell("request", route=route, status=status, milliseconds=round(1000 * seconds, 1))
    if _metrics():
        from ui.server import metrics

        metrics.took(route, status, seconds)


def _metrics() -> bool:
    return os.environ.get("PACKVIZ_METRICS") == "1"
