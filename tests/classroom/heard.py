"""What a page of the browser receives: the bodies of all answers, what streams in, and the frames of web sockets."""

from base64 import b64decode
from contextlib import suppress

from playwright.sync_api import CDPSession, Error, Page, WebSocket

__all__ = ["Ear"]


class Ear:
    """Everything that a page has received since it was asked last."""

    def __init__(self, page: Page) -> None:
        self._wire: CDPSession = page.context.new_cdp_session(page)
        self._wire.send("Network.enable", {"maxTotalBufferSize": 50_000_000})
        self._ended: list[str] = []
        self._streams: list[str] = []
        self._parts: list[bytes] = []
        self._wire.on("Network.responseReceived", self._begins)
        self._wire.on("Network.loadingFinished", lambda event: self._ended.append(event["requestId"]))
        self._wire.on("Network.dataReceived", lambda event: self._parts.append(b64decode(event.get("data", ""))))
        page.on("websocket", self._listen)

    def _begins(self, event: dict[str, dict[str, str]]) -> None:
        if "/events" in event["response"]["url"]:
            self._streams.append(str(event["requestId"]))

    def _listen(self, socket: WebSocket) -> None:
        socket.on("framereceived", lambda data: self._parts.append(data if isinstance(data, bytes) else data.encode()))

    def heard(self) -> list[str]:
        """Return what has come since the last call."""
        ended, self._ended = self._ended, []
        streams, self._streams = self._streams, []
        for name in streams:
            with suppress(Error):  # it has ended
                told = self._wire.send("Network.streamResourceContent", {"requestId": name})
                self._parts.append(b64decode(told["bufferedData"]))
        for name in ended:
            with suppress(Error):  # the answer had no body
                told = self._wire.send("Network.getResponseBody", {"requestId": name})
                self._parts.append(b64decode(told["body"]) if told["base64Encoded"] else told["body"].encode())
        parts, self._parts = self._parts, []
        return [each.decode(errors="replace") for each in parts if each]
