"""Close connections that block the server: clients that send no request, and clients that read no answer.

uvicorn, the server that Streamlit starts, waits for both forever. It accepts any class as its protocol, so its own
protocols are extended here, before the first visitor comes.
"""

import asyncio
import gc
import socket
from typing import Any

import uvicorn
from uvicorn.protocols.utils import ClientDisconnected
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

PATIENCE = 30.0  # seconds in which something must arrive, or be read, while the server waits for it
GOODBYE = 7  # seconds in which a server that is shutting down finishes its answers
MAX_UNREAD = 16 * 2**20  # bytes that may still be unread when the next message is sent
_LEAST = 1024  # bytes in that time: less counts as nothing


class _Bounded(asyncio.Protocol):
    """Check a connection every PATIENCE seconds, and end it if it has kept the server waiting all that time.

    arrived, sent: bytes since the last check. unread: bytes that were unread then.
    """

    transport: Any
    arrived = sent = unread = 0
    look: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Send small files and answers without waiting for an acknowledgement: 1.5 ms each instead of 45.

        asyncio switches Nagle's algorithm off only for sockets that name their protocol; Streamlit's listener does not.
        """
        super().connection_made(transport)
        connected = transport.get_extra_info("socket")
        if connected is not None and connected.family in (socket.AF_INET, socket.AF_INET6):
            connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._look_later()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop checking."""
        if self.look is not None:
            self.look.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Count what arrives."""
        self.arrived += len(data)
        super().data_received(data)

    def _look_later(self) -> None:
        self.look = asyncio.get_running_loop().call_later(PATIENCE, self._look)

    def _look(self) -> None:
        if self.transport.get_protocol() is not self:  # a request has upgraded the connection to a websocket
            return
        unread = self.transport.get_write_buffer_size()
        read = self.unread + self.sent - unread
        if (self.unread and read < _LEAST) or self.arrived < self._least():
            self.transport.abort()
            return
        self.arrived, self.sent, self.unread = 0, 0, unread
        self._look_later()

    def _least(self) -> int:
        """Return how many bytes must have arrived since the last check."""
        return 0


class _Requests(_Bounded):
    """Requests and their answers."""

    cycle: Any = None  # of the latest request and its answer

    def _least(self) -> int:
        if self.cycle is None or (self.cycle.more_body and not self.cycle.response_complete):
            return _LEAST
        return 1 if self.cycle.response_complete else 0  # soon after an answer uvicorn itself closes idle connections


class _Messages(_Bounded, WebSocketsSansIOProtocol):
    """A visitor's websocket. Messages wait here, where their bytes can be counted, not in Streamlit's queue of 500."""

    def pause_writing(self) -> None:
        """Do nothing: `send` decides how much may wait."""

    async def send(self, message: Any) -> None:
        """Send a message, or end the connection if too much is still unread."""
        if self.transport.get_write_buffer_size() > MAX_UNREAD:
            self.transport.abort()
            raise ClientDisconnected
        self.sent += len(message.get("bytes") or b"")
        await super().send(message)


def bound(config: uvicorn.Config) -> None:
    """Have a server with this loaded configuration watch its connections, and shut down within GOODBYE seconds."""
    config.timeout_graceful_shutdown = GOODBYE
    config.http_protocol_class = type("Requests", (_Requests, config.http_protocol_class), {})
    if config.ws_protocol_class is WebSocketsSansIOProtocol:
        config.ws_protocol_class = _Messages


def bound_all() -> None:
    """Do so for the server of this process. Streamlit gives no access to it, so it is found among all objects."""
    for each in gc.get_objects():
        if type(each) is uvicorn.Config and each.loaded:
            bound(each)
