"""Where rooms are kept when several machines serve them: a Redis (or Valkey) stream for each room.

The n-th event of a room has the id n-0 in its stream, so a script can compare the last id with what a writer knows.
With `appendfsync always` Redis answers once the events are on disk.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeVar

from redis.asyncio import BlockingConnectionPool, Redis
from redis.exceptions import RedisError, ResponseError

from classroom.state import Event
from classroom.store import KEPT, BehindError, UnavailableError

_WAIT = 2_000  # milliseconds that a reader waits for news
_CONNECTIONS = 32  # of one process; who needs one more waits
_GOODBYE = 60  # seconds for which the end of a deleted room can still be read
_BEHIND = "BEHIND"

_APPEND = f"""
local last = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)
local there = 0
if last[1] then there = tonumber(string.match(last[1][1], '^%d+')) end
if there ~= tonumber(ARGV[1]) then return redis.error_reply('{_BEHIND}') end
for i = 3, #ARGV do redis.call('XADD', KEYS[1], (there + i - 2) .. '-0', 'event', ARGV[i]) end
redis.call('EXPIRE', KEYS[1], ARGV[2])
return there + #ARGV - 2
"""

_COUNT = """
local there = tonumber(redis.call('GET', KEYS[1]) or '0')
if ARGV[1] == '0' then return there end
redis.call('SET', KEYS[1], there + ARGV[1], 'EX', ARGV[2])
return there + ARGV[1]
"""

T = TypeVar("T")


class RedisStore:
    """Keep rooms in the streams of one Redis server. url: such as redis://host:6379/0."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._redis: Any = None
        self._loop: asyncio.AbstractEventLoop | None = None

    async def append(self, room: str, revision: int, events: Sequence[Event]) -> None:
        rows = [json.dumps(event) for event in events]
        await self._do(lambda: self._redis.eval(_APPEND, 1, _key(room), revision, int(KEPT), *rows))

    async def read(self, room: str, since: int = 0) -> list[Event]:
        rows = await self._do(lambda: self._redis.xrange(_key(room), min=f"({since}-0" if since else "-"))
        return [json.loads(fields[b"event"]) for _, fields in rows]

    async def changed(self, rooms: Mapping[str, int]) -> set[str]:
        streams = {_key(room): f"{revision}-0" for room, revision in rooms.items()}
        found = await self._do(lambda: self._redis.xread(streams, block=_WAIT))
        return {name.decode().rpartition(":")[2] for name in dict(found)}

    async def delete(self, room: str) -> None:
        """Remove all events of a room but the last one, which stays for a minute."""
        await self._do(lambda: self._redis.xtrim(_key(room), maxlen=1, approximate=False))
        await self._do(lambda: self._redis.expire(_key(room), _GOODBYE))

    async def expire(self) -> None:
        """Do nothing: Redis itself removes a room without an event for KEPT seconds."""

    async def check(self) -> None:
        await self._do(lambda: self._redis.set("packviz:check", "1", ex=_GOODBYE))

    async def count(self, key: str, seconds: int, number: int = 1) -> int:
        name = f"packviz:count:{key}:{int(time.time() // seconds)}"
        return int(await self._do(lambda: self._redis.eval(_COUNT, 1, name, number, seconds)))

    async def close(self) -> None:
        """Close the connections."""
        if self._redis is not None:
            await self._redis.aclose()
            self._redis = None

    async def _do(self, command: Callable[[], Awaitable[T]]) -> T:
        if self._redis is None or self._loop is not asyncio.get_running_loop():
            self._loop = asyncio.get_running_loop()
            limits = {"max_connections": _CONNECTIONS, "timeout": 10, "socket_connect_timeout": 3, "socket_timeout": 10}
            self._redis = Redis.from_pool(BlockingConnectionPool.from_url(self._url, **limits))
        try:
            return await command()
        except ResponseError as error:
            if _BEHIND in str(error):
                raise BehindError from None
            raise UnavailableError(f"The server's store refused this: {str(error)[:100]}.") from error
        except (RedisError, OSError) as error:
            raise UnavailableError("The server cannot reach its store (Redis). Try again in a moment.") from error


def _key(room: str) -> str:
    return f"packviz:room:{room}"
