"""Phones of a class behind a balancer: each has its own cookie, votes until that is acknowledged, and follows."""

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Phone"]

_AGAIN = 0.5  # seconds until a phone tries again, as the server tells it to


@dataclass(eq=False)
class Phone:
    """One phone: its token and cookie, and what happened to it.

    replicas: where its channel was opened, each with when it had seen the room there. acknowledged: the answer that was
    acknowledged, if any was. errors: statuses of 500 and above, and connections that broke, at any request.
    """

    port: int
    code: str
    token: str = ""
    cookie: str = ""
    replicas: list[tuple[str, float]] = field(default_factory=list)
    acknowledged: int | None = None
    broken: int = 0

    async def join(self) -> None:
        """Join the room."""
        _, answer = await self.ask("POST", "/join", {})
        self.token = answer["token"]

    async def vote(self, answer: int) -> None:
        """Vote, and try again until it is acknowledged."""
        while self.acknowledged is None:
            try:
                status, _ = await self.ask("POST", "/vote", {"token": self.token, "round": 1, "answer": answer})
            except (OSError, EOFError, ValueError):
                status = 503
            if status == 200:
                self.acknowledged = answer
            else:
                self.broken += 1
                await asyncio.sleep(_AGAIN)

    async def follow(self) -> None:
        """Keep a channel open, and open it again when it ends."""
        while True:
            with suppress(OSError, EOFError, ValueError):
                async with self._asked("GET", f"/events?token={self.token}&since=0") as (status, reader):
                    if status == 200:
                        _, seen = await self.ask("GET", f"?token={self.token}")
                        assert seen["phase"] in ("lobby", "vote")
                        self.replicas.append((self.cookie, time.monotonic()))
                    while await reader.readline():
                        pass
            await asyncio.sleep(_AGAIN)

    async def ask(self, method: str, path: str, body: object = None) -> tuple[int, dict[str, Any]]:
        """Send a request to the room; return the status and the answer."""
        async with self._asked(method, path, body) as (status, reader):
            return status, json.loads(await reader.read())

    @asynccontextmanager
    async def _asked(
        self, method: str, path: str, body: object = None
    ) -> AsyncIterator[tuple[int, asyncio.StreamReader]]:
        """Send a request and read the head of the answer."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        data = b"" if body is None else json.dumps(body).encode()
        head = [f"{method} /api/rooms/{self.code}{path} HTTP/1.1", "Host: here", "Connection: close"]
        head += [f"Content-Length: {len(data)}", f"Cookie: packviz={self.cookie}"]
        try:
            writer.write("\r\n".join([*head, "", ""]).encode() + data)
            status = int((await reader.readline()).split()[1:2][0] or 0)
            while line := (await reader.readline()).strip().decode():
                name, _, value = line.partition(": ")
                if name.lower() == "set-cookie" and value.startswith("packviz="):
                    self.cookie = value.removeprefix("packviz=").partition(";")[0]
            yield status, reader
        finally:
            writer.transport.abort()
