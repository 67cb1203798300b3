"""The headers of every answer: no foreign pictures, no guessing of types, frames only where embedding is meant."""

import asyncio
from collections.abc import Mapping

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.routing import Route
from starlette.types import Message

from ui.server.headers import Guarded


async def plain(_: Request) -> PlainTextResponse:
    return PlainTextResponse("")


async def strict(_: Request) -> PlainTextResponse:
    return PlainTextResponse("", headers={"Content-Security-Policy": "default-src 'none'"})


async def data(_: Request) -> JSONResponse:
    return JSONResponse({})


def headers(path: str) -> Mapping[str, str]:
    """Return the headers of the answer to a request for a path, with their names in lower case."""
    app = Guarded(Starlette(routes=[Route("/", plain), Route("/strict", strict), Route("/data", data)]))
    name, _, query = path.partition("?")
    scope = {"type": "http", "method": "GET", "path": name, "query_string": query.encode(), "headers": []}
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request"}

    async def send(message: Message) -> None:
        sent.append(message)

    asyncio.run(app(scope, receive, send))
    return {name.decode(): value.decode() for name, value in sent[0]["headers"]}


@pytest.mark.parametrize("path", ["/", "/strict", "/nowhere"])
def test_every_answer_has_the_headers(path: str) -> None:
    found = headers(path)
    assert found["x-content-type-options"] == "nosniff"
    assert found["referrer-policy"] == "same-origin"
    assert "frame-ancestors 'self'" in found["content-security-policy"]


def test_pictures_come_from_this_server_alone() -> None:
    assert "img-src 'self' data: blob:;" in headers("/")["content-security-policy"]


def test_an_answers_own_policy_stays() -> None:
    assert headers("/strict")["content-security-policy"] == "default-src 'none'; frame-ancestors 'self'"


@pytest.mark.parametrize(("query", "framed"), [("embed=true", True), ("embed=false", False), ("embed=truex", False)])
def test_only_an_embedded_page_may_be_framed(query: str, framed: bool) -> None:
    assert ("frame-ancestors" not in headers(f"/?{query}")["content-security-policy"]) is framed


def test_data_has_no_policy_for_a_page() -> None:
    found = headers("/data")
    assert "content-security-policy" not in found
    assert found["x-content-type-options"] == "nosniff"  # so that no browser takes it for a page
