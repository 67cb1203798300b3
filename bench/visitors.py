"""Visitors without a browser: each speaks the app's websocket protocol, types batches, and may read the answers."""

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Subprotocol

from ui.parts.controls import LABEL

PATIENCE = 60.0  # timeout for a picture, in seconds
AT_ONCE = 10  # visitors that arrive at the same time
_PLAYER = "packviz_player"
_EARLY = ForwardMsg.FINISHED_EARLY_FOR_RERUN


class _Counted(ClientConnection):
    """A connection that counts the bytes on the wire, which are compressed."""

    arrived = 0

    def data_received(self, data: bytes) -> None:
        """Count what arrives."""
        self.arrived += len(data)
        super().data_received(data)


class Visitor:
    """One visitor of a lesson or the overview: what is on the page, and what has been typed.

    received: bytes of messages so far. runs: the fragments of each run, none of them for a run of the whole page.
    """

    def __init__(self, socket: _Counted, page: str) -> None:
        self._socket = socket
        self._name = page
        self._page = ""  # the hash of its script
        self._fragment = ""  # the id of the fragment with the text and the picture
        self._text = ""  # the id of the text area
        self.picture: dict[str, Any] = {}  # the movie on the screen, as the player receives it
        self.received = 0
        self.runs: list[list[str]] = []

    @property
    def lengths(self) -> list[int]:
        """The lengths of the sequences on the screen, in their order."""
        tokens = self.picture["tokens"]["b"]
        return [tokens.count(number) for number in range(len(self.picture["sequences"]))]

    @property
    def arrived(self) -> int:
        """Bytes on the wire so far."""
        return self._socket.arrived

    async def look(self) -> None:
        """Request the page, and wait for its first picture and the end of the run."""
        await self._send(ClientState(page_name=self._name))
        await self._read(time.monotonic() + PATIENCE)

    async def edit(self, text: str) -> float:
        """Type a batch; return the seconds until its picture arrives."""
        start = time.monotonic()
        await self.type(text)
        await self._read(start + PATIENCE)
        return time.monotonic() - start

    async def type(self, text: str) -> None:
        """Type a batch without waiting for the answer."""
        state = ClientState(page_script_hash=self._page, fragment_id=self._fragment)
        state.widget_states.widgets.add(id=self._text, string_value=text)
        await self._send(state)

    async def _send(self, state: ClientState) -> None:
        await self._socket.send(BackMsg(rerun_script=state).SerializeToString())

    async def _read(self, deadline: float) -> None:
        """Read until a run with a picture is over; raises TimeoutError if none arrives in time."""
        there = False
        async with asyncio.timeout(deadline - time.monotonic()):
            while True:
                data = await self._socket.recv()
                assert isinstance(data, bytes)
                self.received += len(data)
                message: ForwardMsg = ForwardMsg.FromString(data)
                kind = message.WhichOneof("type")
                if kind == "new_session":
                    self.runs.append(list(message.metadata.run.fragment_ids))
                elif kind == "navigation":
                    self._page = message.navigation.page_script_hash
                elif kind == "delta":
                    there |= self._take(message)
                elif there and kind == "script_finished" and message.script_finished != _EARLY:
                    return

    def _take(self, message: ForwardMsg) -> bool:
        """Store what is needed from an element; return whether it is the picture."""
        element = message.delta.new_element
        if element.text_area.label == LABEL:
            self._text, self._fragment = element.text_area.id, message.delta.fragment_id
        if not element.bidi_component.component_name.endswith(_PLAYER):
            return False
        self.picture = json.loads(element.bidi_component.bytes)["movie"]
        return True


@asynccontextmanager
async def visitor(address: str, page: str = "") -> AsyncIterator[Visitor]:
    """Connect as the app's own frontend does, without requesting the page yet. page: its name in the address."""
    url = f"{address.replace('http', 'ws', 1)}/_stcore/stream"
    protocol = Subprotocol("streamlit")
    socket = await connect(
        url,
        subprotocols=[protocol],
        max_size=None,
        max_queue=1,
        open_timeout=PATIENCE,
        ping_interval=None,
        create_connection=_Counted,
    )
    assert isinstance(socket, _Counted)
    try:
        yield Visitor(socket, page)
    finally:
        socket.transport.abort()  # like a closed tab; a clean close would wait for unread answers


@asynccontextmanager
async def crowd(address: str, number: int) -> AsyncIterator[list[Visitor]]:
    """Open visits, AT_ONCE at a time, each until its first picture; then yield all of them."""
    there = list[Visitor]()
    async with AsyncExitStack() as here:
        while len(there) < number:
            some = [await here.enter_async_context(visitor(address)) for _ in range(min(AT_ONCE, number - len(there)))]
            await asyncio.gather(*(each.look() for each in some))
            there += some
        yield there
