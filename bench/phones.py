"""Phones without a browser: each speaks HTTP over a persistent connection, and listens to a push channel."""

import asyncio
import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Any, NamedTuple
from urllib.parse import urlsplit

PATIENCE = 30.0  # timeout for an answer, in seconds


class Answer(NamedTuple):
    """A response: the status, the headers by lower-case name, and the raw body."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def data(self) -> Any:
        """The body, which is JSON."""
        return json.loads(self.body)


class Connection:
    """One connection to a server, opened at the first request and again after it was lost.

    cookies: what the server has set, by name; two connections of one browser share them.
    """

    def __init__(self, address: str, cookies: dict[str, str] | None = None) -> None:
        parts = urlsplit(address)
        self.cookies = {} if cookies is None else cookies
        self._host, self._port = parts.hostname or "localhost", parts.port or 80
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None
        self._turn = asyncio.Lock()
        self.heard = bytearray()  # the headers and bodies of all answers, and everything received over the push channel

    async def ask(
        self, method: str, path: str, body: object = None, *, raw: bytes | None = None, **headers: str
    ) -> Answer:
        """Send a request and wait for its answer; raises OSError if the connection is lost."""
        data = raw if raw is not None else b"" if body is None else json.dumps(body).encode()
        named = {"Content-Length": str(len(data)), "Content-Type": "application/json"}
        named |= {name.replace("_", "-"): value for name, value in headers.items()}
        sent = self._request(method, path, named) + data
        async with asyncio.timeout(PATIENCE), self._turn:
            reused = self._streams is not None
            try:
                answer = await self._exchanged(sent, method)
            except ConnectionError:
                if not reused:
                    raise
                answer = await self._exchanged(sent, method)  # the connection had been idle for too long
        if answer.headers.get("connection") == "close":
            self.close()
        self.heard += " ".join(answer.headers.values()).encode() + answer.body
        return answer

    async def _exchanged(self, sent: bytes, method: str) -> Answer:
        reader, writer = await self._opened()
        try:
            writer.write(sent)
            status, told = await self._head(reader)
            return Answer(status, told, b"" if method == "HEAD" else await _content(reader, told))
        except (OSError, asyncio.IncompleteReadError, ValueError) as error:
            self.close()
            raise ConnectionError(str(error)) from error
        except asyncio.CancelledError:  # the answer may still arrive: no later request may mistake it for its own
            self.close()
            raise

    async def listen(self, path: str) -> AsyncGenerator[int, None]:
        """Yield the revisions from the push channel, until it ends or the connection is lost."""
        reader, writer = await self._opened()
        writer.write(self._request("GET", path, {}))
        try:
            status, _ = await self._head(reader)
            if status != 200:
                raise ConnectionError(f"the push channel answers {status}")
            while size := int((await reader.readline()).strip() or b"0", 16):
                block = await reader.readexactly(size + 2)
                self.heard += block
                for line in block.splitlines():
                    if line.startswith(b"data:"):
                        yield int(json.loads(line[5:])["revision"])
        except (OSError, asyncio.IncompleteReadError, ValueError) as error:
            raise ConnectionError(str(error)) from error
        finally:
            self.close()

    def close(self) -> None:
        """Abort the connection."""
        if self._streams is not None:
            self._streams[1].transport.abort()
            self._streams = None

    async def _opened(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if self._streams is None:
            self._streams = await asyncio.open_connection(self._host, self._port)
        return self._streams

    def _request(self, method: str, path: str, headers: Mapping[str, object]) -> bytes:
        told = {"Host": f"{self._host}:{self._port}", **headers}
        if self.cookies:
            told["Cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in told.items()), "", ""]
        return "\r\n".join(lines).encode()

    async def _head(self, reader: asyncio.StreamReader) -> tuple[int, dict[str, str]]:
        first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").splitlines()
        pairs = [line.partition(":")[::2] for line in lines if line]
        told = {name.lower(): value.strip() for name, value in pairs}
        if "set-cookie" in told:
            name, _, value = told["set-cookie"].partition(";")[0].partition("=")
            self.cookies[name] = value
        return int(first.split()[1]), told


class Room:
    """A room, controlled by the teacher over HTTP."""

    def __init__(self, address: str) -> None:
        self.address, self.code, self.host = address, "", ""
        self.line = Connection(address)

    def close(self) -> None:
        """Abort the teacher's connection."""
        self.line.close()

    async def open(self, *questions: object, plan: bool = False) -> None:
        """Open it with a list of questions, or with the items of a plan."""
        told = (await self.line.ask("POST", "/api/rooms", {"items" if plan else "questions": list(questions)})).data
        self.code, self.host = told["code"], told["host"]

    async def act(self, action: str, **details: object) -> Answer:
        """Send one of the teacher's actions."""
        return await self.line.ask(
            "POST", f"/api/rooms/{self.code}/host", {"host": self.host, "action": action, **details}
        )

    async def seen(self) -> Any:
        """Return the teacher's snapshot."""
        return (await self.line.ask("GET", f"/api/rooms/{self.code}?token={self.host}")).data


class Phone:
    """A phone in a room: it joins, votes, and fetches the snapshot at every new revision, as the page does.

    seen: its last snapshot. changed: when the phase or what is shown was last new, by the clock of the event loop.
    """

    def __init__(self, address: str, code: str) -> None:
        self.path = f"/api/rooms/{code}"
        self.line = Connection(address)
        self.channel = Connection(address, self.line.cookies)
        self.token, self.name = "", ""
        self.seen: dict[str, Any] = {}
        self.changed = 0.0

    async def join(self) -> None:
        """Join the room, or rejoin it with the stored token."""
        told = (await self.line.ask("POST", f"{self.path}/join", {"token": self.token} if self.token else {})).data
        self.token, self.name = told["token"], told["name"]

    async def look(self) -> None:
        """Ask for the snapshot."""
        before, self.seen = self.seen, (await self.line.ask("GET", f"{self.path}?token={self.token}")).data
        if any(before.get(name) != self.seen.get(name) for name in ("shown", "phase", "round", "question")):
            self.changed = asyncio.get_running_loop().time()

    async def film(self) -> Answer:
        """Fetch the movie that is on the screen."""
        return await self.line.ask("GET", f"/{self.seen['movie']['path']}&token={self.token}")

    async def vote(self, number: int, answer: object) -> Answer:
        """Vote in a round."""
        return await self.line.ask(
            "POST", f"{self.path}/vote", {"token": self.token, "round": number, "answer": answer}
        )

    async def follow(self) -> None:
        """Fetch the snapshot after every revision, forever; after a lost connection retry every half second."""
        while True:
            try:
                await self.look()
                path = f"{self.path}/events?token={self.token}&since={self.seen['revision']}"
                async with aclosing(self.channel.listen(path)) as revisions:
                    async for _ in revisions:
                        await self.look()
            except (OSError, TimeoutError, KeyError):
                pass
            await asyncio.sleep(0.5)

    def close(self) -> None:
        """Abort both connections."""
        self.line.close()
        self.channel.close()


async def _content(reader: asyncio.StreamReader, told: dict[str, str]) -> bytes:
    if told.get("transfer-encoding") != "chunked":
        return await reader.readexactly(int(told.get("content-length", "0")))
    content = b""
    while size := int((await reader.readline()).strip(), 16):
        content += (await reader.readexactly(size + 2))[:-2]
    await reader.readline()
    return content
