"""Close connections that block the server: clients that send no request, and clients that read no answer.

uvicorn waits for both forever. It accepts any class as its protocol, so its own protocols are extended here.
"""

import asyncio
from typing import Any

from uvicorn.protocols.http.auto import AutoHTTPProtocol
from uvicorn.protocols.utils import ClientDisconnected
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

PATIENCE = 30.0  # seconds in which something must arrive, or be read, while the server waits for it
GOODBYE = 7  # seconds in which a server that is shutting down finishes its answers
MAX_UNREAD = 16 * 2**20  # bytes that may still be unread when the next message is sent
_LEAST = 1024  # bytes in that time: less counts as nothing


class _Bounded(asyncio.Protocol):
    """Check a connection every PATIENCE seconds, and end it if it has kept the server waiting all that time.

    arrived: bytes since the last check. sent: those that had to wait to be sent. unread: bytes that were unread then.
    client: its address and port.
    """

    transport: Any
    arrived = sent = unread = 0
    client: tuple[str, int] | None = None
    look: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin to check."""
        super().connection_made(transport)
        if self.client is not None:  # FORWARDED_ALLOW_IPS has no ::ffff:1.2.3.4, as a socket for both writes IPv4
            self.client = self.client[0].removeprefix("::ffff:"), self.client[1]
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
        if (self.unread and unread and read < _LEAST) or self.arrived < self._least():
            self.transport.abort()
            return
        self.arrived, self.sent, self.unread = 0, 0, unread
        self._look_later()

    def _least(self) -> int:
        """Return how many bytes must have arrived since the last check."""
        return 0


class Requests(_Bounded, AutoHTTPProtocol):  # type: ignore[misc, valid-type]
    """Requests and their answers."""

    cycle: Any = None  # of the latest request and its answer

    def _least(self) -> int:
        if self.cycle is None or (self.cycle.more_body and not self.cycle.response_complete):
            return _LEAST
        return 1 if self.cycle.response_complete else 0  # soon after an answer uvicorn itself closes idle connections


class Messages(_Bounded, WebSocketsSansIOProtocol):
    """A visitor's websocket. Messages wait here, where their bytes can be counted, not in Streamlit's queue of 500."""

    def pause_writing(self) -> None:
        """Do nothing: `send` decides how much may wait."""

    async def send(self, message: Any) -> None:
        """Send a message, or end the connection if too much is still unread."""
        if self.transport.get_write_buffer_size() > MAX_UNREAD:
            self.transport.abort()
            raise ClientDisconnected
        waiting = self.transport.get_write_buffer_size()
        await super().send(message)
        self.sent += max(0, self.transport.get_write_buffer_size() - waiting)
