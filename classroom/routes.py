"""Routes: what phones and other programs send to the classroom, as JSON over HTTP and server-sent events.

    POST /api/rooms {"questions": [...]} or {"items": [...]}            -> {"code", "host"}
    POST /api/rooms/CODE/join {} or {"token"}; also "name", "following" -> {"token", "name"}
    GET  /api/rooms/CODE?token=...                                      -> the snapshot (see classroom/seen.py)
    GET  /api/rooms/CODE/events?token=...&since=N                       -> data: {"revision": N}, one at once if behind
    POST /api/rooms/CODE/vote {"token", "round", "answer"}; also "question", "confidence" -> {"revision"}
    POST /api/rooms/CODE/pace {"token", "pace"}                         -> {"revision"}
    POST /api/rooms/CODE/wonder {"token", "text"}                       -> {"revision"}
    POST /api/rooms/CODE/host {"host", "action", ...}                   -> {"revision"}
    GET  /api/rooms/CODE/movie?token=...&shown=N                        -> the player's data, gzipped
    GET  /api/rooms/CODE/picture?shown=N                                -> the picture of what was shown
    GET  /api/rooms/CODE/answers.csv?host=...
    GET  /api/health                                                    -> {"writes": true}, if the store can be written

A POST must have the content type application/json, and may come from a browser only if one of this server's own pages
sends it. Errors are {"error": "one sentence"}: 400 for what cannot be read, 403 for a wrong token or secret and for
another page, 404 for no room, 409 for what is not possible now, 413 over 16 kB (a plan may have more: specs.py), 415
for another content type, 429 for too often, 507 if nothing can be stored. A token here is a phone's, or the teacher's
secret.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from functools import partial
from typing import Any

import msgspec
from starlette.exceptions import HTTPException
from starlette.middleware.exceptions import ExceptionMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route, Router
from starlette.types import ASGIApp, Receive, Scope, Send

from classroom import events, limits, phone
from classroom.rooms import rooms
from classroom.specs import MAX_PICTURES, MAX_PLAN
from classroom.state import RefusedError
from classroom.store import UnavailableError

MAX_BYTES = 16 * 1024  # of a request's body
MAX_PLAN_BYTES = MAX_PICTURES * 4 // 3 + 4 * MAX_PLAN  # of a plan's, with its pictures as base64
_AGAIN = 500  # milliseconds until a phone whose channel has ended opens it again


def routes() -> list[Route]:
    """Return the routes."""
    room = "/api/rooms/{code}"
    return [
        Route("/api/rooms", _create, methods=["POST"]),
        Route(room, _snapshot),
        Route(f"{room}/join", _join, methods=["POST"]),
        Route(f"{room}/vote", _vote, methods=["POST"]),
        Route(f"{room}/host", _host, methods=["POST"]),
        Route(f"{room}/pace", _pace, methods=["POST"]),
        Route(f"{room}/wonder", _wonder, methods=["POST"]),
        Route(f"{room}/picture", _picture),
        Route(f"{room}/events", _events),
        Route(f"{room}/movie", _movie),
        Route(f"{room}/answers.csv", _answers),
        Route("/api/health", _health),
        *phone.routes(),
    ]


class Front:
    """Answer the classroom's requests before Streamlit's middleware sees them: that takes as long as the answer."""

    def __init__(self, app: ASGIApp) -> None:
        kinds = (RefusedError, UnavailableError, HTTPException, ClientDisconnect)
        self._app, self._router = app, ExceptionMiddleware(Router(routes()), dict.fromkeys(kinds, _error))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope.get("path", "")
        own = scope["type"] == "http" and (path == "/join" or path.startswith(("/api/", "/join/")))
        await (self._router if own else self._app)(scope, receive, send)


async def _error(request: Request, problem: Exception) -> Response:
    """Return the answer to a request that failed. Wrong codes, tokens and secrets are counted."""
    if isinstance(problem, RefusedError) and problem.guess:
        try:
            await limits.count(rooms.store, "guesses", _address(request))
        except (RefusedError, UnavailableError) as other:
            problem = other
    match problem:
        case RefusedError(status=status, sentence=sentence):
            return _json({"error": sentence}, status)
        case UnavailableError():
            return _json({"error": str(problem)}, 507)
        case HTTPException(status_code=405, headers={"Allow": allowed}):
            return _json({"error": f"This address accepts {' and '.join(sorted(allowed.split(', ')))}."}, 405)
        case HTTPException(status_code=status):
            return _json({"error": "There is nothing at this address."}, status)
    return Response(status_code=400)  # of a client that has disconnected


async def _create(request: Request) -> Response:
    body = await _body(request, MAX_PLAN_BYTES)
    if "items" in body:
        code, host = await rooms.create(body["items"], _address(request), plan=True)
    else:
        code, host = await rooms.create(body.get("questions", []), _address(request))
    return _json({"code": code, "host": host})


async def _join(request: Request) -> Response:
    body = await _body(request)
    given = body.get("token")
    if given is not None and not isinstance(given, str):
        raise RefusedError(400, "`token` must be a text.")
    address = _address(request)
    token, name = await rooms.join(_code(request), given, body.get("name"), body.get("following"), address)
    return _json({"token": token, "name": name})


async def _snapshot(request: Request) -> Response:
    return _json(await rooms.snapshot(_code(request), _token(request)))


async def _vote(request: Request) -> Response:
    body = await _body(request)
    if "answer" not in body:
        raise RefusedError(400, "A vote needs `token`, `round` and `answer`.")
    token, number, question = body.get("token"), body.get("round"), body.get("question")
    confidence = body.get("confidence")
    return _json({"revision": await rooms.vote(_code(request), token, number, body["answer"], question, confidence)})


async def _pace(request: Request) -> Response:
    body = await _body(request)
    decide = partial(events.pace, token=body.get("token"), said=body.get("pace"))
    return _json({"revision": await rooms.message(_code(request), decide)})


async def _wonder(request: Request) -> Response:
    body = await _body(request)
    decide = partial(events.wonder, token=body.get("token"), text=body.get("text"))
    return _json({"revision": await rooms.message(_code(request), decide)})


async def _host(request: Request) -> Response:
    body = await _body(request)
    return _json({"revision": await rooms.act(_code(request), body.get("host"), body.get("action"), body)})


async def _events(request: Request) -> Response:
    room = await rooms.room(_code(request))
    token = _token(request)
    await room.is_teacher(token)  # or it has joined the room
    since = _number(request, "since", request.headers.get("last-event-id", "0"))

    async def stream() -> AsyncIterator[bytes]:
        yield f"retry: {_AGAIN}\n\n".encode()
        async for revision in room.news(since, token):
            if rooms.stopping:
                return
            told = ": still here" if revision is None else f'id: {revision}\ndata: {{"revision": {revision}}}'
            yield f"{told}\n\n".encode()

    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    if request.method == "HEAD":
        return Response(headers=headers, media_type="text/event-stream")
    return StreamingResponse(stream(), media_type="text/event-stream", headers=headers)


async def _movie(request: Request) -> Response:
    film = await rooms.film(_code(request), _token(request), _number(request, "shown", "0"))
    headers = {"Content-Encoding": "gzip", "Cache-Control": "private, max-age=86400"}
    return Response(film.data, media_type="application/json", headers=headers)


async def _picture(request: Request) -> Response:
    kind, data = await rooms.picture(_code(request), _number(request, "shown", "0"))
    headers = {"Cache-Control": "private, max-age=86400", "X-Content-Type-Options": "nosniff"}
    return Response(data, media_type=kind, headers=headers)


async def _answers(request: Request) -> Response:
    text = await rooms.answers(_code(request), request.query_params.get("host"))
    return _file(request, text, "text/csv; charset=utf-8")


async def _health(_request: Request) -> Response:
    await rooms.check()
    return _json({"writes": True})


def _file(request: Request, text: str, kind: str) -> Response:
    name, _, ending = request.url.path.rpartition("/")[2].partition(".")
    disposition = f'attachment; filename="{name}-{_code(request)}.{ending}"'
    return Response(
        text.encode(errors="replace"),
        headers={"Content-Disposition": disposition, "Cache-Control": "no-store"},
        media_type=kind,
    )


async def _body(request: Request, for_items: int = 0) -> dict[str, Any]:
    """Return the object that was sent; raises RefusedError for anything else, and for other senders.

    for_items: the largest size in bytes if it has `items`, whose slides may have pictures.
    """
    limits.check_sender(request.headers)
    data = b""
    async for chunk in request.stream():
        data += chunk
        if len(data) > max(MAX_BYTES, for_items):
            raise _too_large(max(MAX_BYTES, for_items))
    try:
        body = msgspec.json.decode(data or b"{}")
    except (msgspec.DecodeError, RecursionError):
        raise RefusedError(400, "The request is not JSON.") from None
    if not isinstance(body, dict):
        raise RefusedError(400, "The request is not a JSON object.")
    if len(data) > MAX_BYTES and "items" not in body:
        raise _too_large(MAX_BYTES)
    return body


def _too_large(most: int) -> RefusedError:
    return RefusedError(413, f"The request is too large: at most {most // 1024} kB.")


def _address(request: Request) -> str | None:
    """Return who asks; behind a balancer it is the one that uvicorn takes from its header: FORWARDED_ALLOW_IPS."""
    return request.client.host if request.client else None


def _code(request: Request) -> str:
    return str(request.path_params["code"]).upper()


def _token(request: Request) -> str:
    return request.query_params.get("token", "")


def _number(request: Request, name: str, otherwise: str) -> int:
    raw = request.query_params.get(name, otherwise)
    if not (raw.isascii() and raw.isdigit() and len(raw) < 10):
        raise RefusedError(400, f"`{name}` must be an integer.")
    return int(raw)


def _json(data: object, status: int = 200) -> Response:
    text = json.dumps(data, allow_nan=False, separators=(",", ":"))  # ASCII: a lone surrogate can be sent, too
    return Response(text, status, {"Cache-Control": "no-store"}, "application/json")
