"""Where rooms are kept: for each room an append-only list of events.

Any number of processes may use a store at once. A writer passes the number of events that it has seen; if there are
more by now, nothing is appended, and the writer reads them first. `append` returns when the events are stored: on disk
in SQLite, and in Redis with `appendfsync always`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from classroom.state import Event

KEPT = 24 * 3600.0  # seconds after its last event until a room is deleted


class BehindError(Exception):
    """Raised if the room has more or fewer events than the writer has seen."""


class UnavailableError(Exception):
    """Raised if nothing can be stored or read now, with the reason in one sentence: a full disk, for example."""


class Store(Protocol):
    """Keep the events of rooms. Every function may raise UnavailableError."""

    async def append(self, room: str, revision: int, events: Sequence[Event]) -> None:
        """Add events after the first `revision` ones, all or none; raises BehindError if there are more or fewer."""

    async def read(self, room: str, since: int = 0) -> list[Event]:
        """Return the events after the first `since` ones; [] if there is no such room."""

    async def changed(self, rooms: Mapping[str, int]) -> set[str]:
        """Wait up to a few seconds until some rooms may no longer have these numbers of events; return which."""

    async def delete(self, room: str) -> None:
        """Remove all events of a room but the last one, by which others see that it has been deleted."""

    async def expire(self) -> None:
        """Remove the rooms without an event for KEPT seconds."""

    async def check(self) -> None:
        """Write something; raises UnavailableError if nothing can be written now."""

    async def count(self, key: str, seconds: int, number: int = 1) -> int:
        """Add a number to a count that begins again every so many seconds; return it."""

    async def close(self) -> None:
        """Close the file or the connections."""


def data_folder() -> Path:
    """Return the data folder: PACKVIZ_DATA, or packviz in the user's data directory."""
    if given := os.environ.get("PACKVIZ_DATA"):
        return Path(given)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", "~")).expanduser() / "packviz"
    if sys.platform == "darwin":
        return Path("~/Library/Application Support/packviz").expanduser()
    return Path(os.environ.get("XDG_DATA_HOME") or "~/.local/share").expanduser() / "packviz"


def chosen_store() -> Store:
    """Return the store that the environment asks for: Redis if REDIS_URL is set, else a file."""
    if url := os.environ.get("REDIS_URL"):
        from classroom.redis_store import RedisStore  # needs the package redis, which a single machine does not need

        return RedisStore(url)
    from classroom.sqlite_store import SqliteStore

    return SqliteStore(data_folder())
