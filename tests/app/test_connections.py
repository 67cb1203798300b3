"""Connections that keep the server waiting forever are closed, and no others."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket
from websockets.asyncio.client import connect

from ui.server import connections
from ui.server.__main__ import listen

pytestmark = pytest.mark.slow

ORDINARY, PATIENCE = connections.PATIENCE, 1.0
LIMIT = 60 * PATIENCE  # for what a test waits for: a connection that stays open fails it
HEAD = b"Host: here\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
UPGRADE = b"GET /talk HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n" + HEAD + b"\r\n"
MEGABYTE = 2**20

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def length(request: Request) -> PlainTextResponse:
    """Answer with the length of what was sent."""
    return PlainTextResponse(str(len(await request.body())))


async def client(request: Request) -> PlainTextResponse:
    """Answer with the address that the request came from."""
    return PlainTextResponse(str(request.client and request.client.host))


class Talk:
    """Send messages of a megabyte until all are sent or the visitor is gone, and note how it ended."""

    def __init__(self, messages: int = 1, pause: float = 0.0) -> None:
        self.messages, self.pause = messages, pause
        self.sent, self.over = 0, asyncio.Event()

    async def serve(self, websocket: WebSocket) -> None:
        """Send them, and wait for an answer."""
        await websocket.accept()
        try:
            while self.sent < self.messages:
                await websocket.send_bytes(bytes(MEGABYTE))
                self.sent += 1
                await asyncio.sleep(self.pause)
            await websocket.receive_bytes()
        finally:
            self.over.set()


@asynccontextmanager
async def server(talk: Talk, address: str = "127.0.0.1") -> AsyncIterator[int]:
    """Serve with bounded connections, and yield the port."""
    routes = [Route("/", length, methods=["GET", "PUT"]), Route("/client", client)]
    app = Starlette(routes=[*routes, WebSocketRoute("/talk", talk.serve)])
    http, ws = connections.Requests, connections.Messages
    served = uvicorn.Server(uvicorn.Config(app, http=http, ws=ws, log_level="critical", timeout_keep_alive=60))
    listener = listen([0], address)
    task = asyncio.create_task(served.serve([listener]))
    while not served.started:
        await asyncio.sleep(0.01)
    try:
        async with asyncio.timeout(LIMIT):
            yield listener.getsockname()[1]
    finally:
        served.should_exit = served.force_exit = True
        await task


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "PATIENCE", PATIENCE)


@asynccontextmanager
async def connected(port: int, said: bytes) -> AsyncIterator[Streams]:
    """Connect and send something."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(said)
        yield reader, writer
    finally:
        writer.transport.abort()
        await asyncio.sleep(0)


async def closed(reader: asyncio.StreamReader) -> None:
    """Wait until the server has closed a connection."""
    with suppress(ConnectionError):
        while await reader.read(MEGABYTE):
            pass


@pytest.mark.parametrize(
    "said",
    [b"", b"GET / HTTP/1.1\r\nHos", b"PUT / HTTP/1.1\r\nHost: here\r\nContent-Length: 9000\r\n\r\nsome"],
    ids=["nothing", "half a request", "half a body"],
)
async def test_a_client_that_stops_in_the_middle_of_a_request_is_disconnected(said: bytes) -> None:
    async with server(Talk()) as port, connected(port, said) as (reader, _):
        await closed(reader)


async def test_a_slow_upload_may_go_on_as_long_as_data_arrives() -> None:
    head = b"PUT / HTTP/1.1\r\nHost: here\r\nConnection: close\r\nContent-Length: 60000\r\n\r\n"
    async with server(Talk()) as port, connected(port, head) as (reader, writer):
        for _ in range(20):
            writer.write(bytes(3000))
            await asyncio.sleep(PATIENCE / 5)
        assert (await reader.read()).endswith(b"60000")


async def test_a_client_that_reads_no_message_is_disconnected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "MAX_UNREAD", 1000 * MEGABYTE)
    talk = Talk(60)
    async with server(talk) as port, connected(port, UPGRADE) as (_, writer):
        writer.transport.pause_reading()  # type: ignore[attr-defined]
        await talk.over.wait()
        assert talk.sent == 60  # it was not too much; it was not read


async def test_unread_messages_are_limited_in_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "PATIENCE", 1000)
    monkeypatch.setattr(connections, "MAX_UNREAD", 3 * MEGABYTE)
    talk = Talk(1000)
    async with server(talk) as port, connected(port, UPGRADE) as (_, writer):
        writer.transport.pause_reading()  # type: ignore[attr-defined]
        await talk.over.wait()
        assert 4 <= talk.sent < 60  # what the system's own buffers take comes on top


async def test_a_client_that_reads_slowly_stays_connected() -> None:
    talk = Talk(8, PATIENCE / 4)
    async with server(talk) as port, connect(f"ws://127.0.0.1:{port}/talk", max_size=None, max_queue=1) as socket:
        for _ in range(8):
            await asyncio.sleep(PATIENCE / 2)
            assert len(await socket.recv()) == MEGABYTE
        await asyncio.sleep(3 * PATIENCE)  # nothing is to be read now, and nothing to be sent
        assert not talk.over.is_set()


async def test_small_answers_are_sent_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    delays, made = [], connections.Requests.connection_made

    def look(self: connections.Requests, transport: asyncio.BaseTransport) -> None:
        made(self, transport)
        at_once = transport.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        delays.append(not at_once)

    monkeypatch.setattr(connections.Requests, "connection_made", look)
    async with server(Talk()) as port, connected(port, b"GET / HTTP/1.1\r\nHost: here\r\n\r\n") as (reader, _):
        await reader.readline()
        assert delays == [False]


def test_the_first_free_port_is_taken() -> None:
    with listen([0], "127.0.0.1") as one:
        taken = one.getsockname()[1]
        with pytest.raises(SystemExit, match=f"^Port {taken} is in use. "):
            listen([taken], "127.0.0.1")
        with listen([taken, 0], "127.0.0.1") as other:
            assert other.getsockname()[1] != taken


def test_the_limits_leave_time_for_a_slow_phone() -> None:
    assert ORDINARY >= 30
    assert connections.MAX_UNREAD >= 3 * 5 * MEGABYTE  # three of the largest pictures


async def test_on_a_socket_for_both_protocols_a_balancer_of_ipv4_is_believed() -> None:
    asked = b"GET /client HTTP/1.1\r\nHost: here\r\nConnection: close\r\n"
    for forwarded, told in ((b"", b"127.0.0.1"), (b"X-Forwarded-For: 192.0.2.1\r\n", b"192.0.2.1")):
        async with server(Talk(), "") as port, connected(port, asked + forwarded + b"\r\n") as (reader, _):
            assert (await reader.read()).endswith(b"\r\n\r\n" + told)
