"""Where rooms are kept on a single machine: in one SQLite file. Appends that wait at the same time share one commit."""

from __future__ import annotations

import asyncio
import json
import queue
import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from classroom.state import Event
from classroom.store import KEPT, BehindError, UnavailableError

_FILE = "rooms.sqlite"
_LOOK = 0.25  # seconds between two checks whether another process has written
_MAX_COUNTS = 100_000  # addresses that are counted at once
_OPEN = """
PRAGMA journal_mode = WAL;
PRAGMA synchronous = FULL; -- a commit returns when it is on disk
PRAGMA secure_delete = ON; -- nothing of a deleted room is left in the file
CREATE TABLE IF NOT EXISTS rooms (room TEXT PRIMARY KEY, revision INTEGER, at REAL) STRICT;
CREATE TABLE IF NOT EXISTS checks (at REAL) STRICT;
CREATE TABLE IF NOT EXISTS events (room TEXT, revision INTEGER, event TEXT, PRIMARY KEY (room, revision))
STRICT, WITHOUT ROWID;
"""

T = TypeVar("T")


class SqliteStore:
    """Keep rooms in one SQLite file, opened at the first use by one thread, which does all reading and writing."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / _FILE
        self._waiting: queue.SimpleQueue[tuple[Callable[[_File], Any], Future[Any]] | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()
        self._counts = Counter[str]()  # of this process alone
        self._counted = 0  # in which stretch of time these were counted

    async def append(self, room: str, revision: int, events: Sequence[Event]) -> None:
        rows = [json.dumps(event) for event in events]
        await self._do(lambda file: file.append(room, revision, rows))

    async def read(self, room: str, since: int = 0) -> list[Event]:
        return [json.loads(row) for row in await self._do(lambda file: file.read(room, since))]

    async def changed(self, rooms: Mapping[str, int]) -> set[str]:
        """Check whether other processes have written; the rooms know what this one writes."""
        await asyncio.sleep(_LOOK)
        return set(rooms) if await self._do(lambda file: file.others_wrote()) else set()

    async def delete(self, room: str) -> None:
        await self._do(lambda file: file.delete(room))

    async def expire(self) -> None:
        if self._path.exists():
            await self._do(lambda file: file.expire(time.time() - KEPT))

    async def check(self) -> None:
        await self._do(lambda file: file.check(time.time()))

    async def count(self, key: str, seconds: int, number: int = 1) -> int:
        if self._counted != (now := int(time.time() // seconds)) or len(self._counts) > _MAX_COUNTS:
            self._counts.clear()
            self._counted = now
        if number:
            self._counts[key] += number
        return self._counts[key]

    async def close(self) -> None:
        """Finish the waiting tasks, and close the file."""
        thread, self._thread = self._thread, None
        if thread is not None:
            self._waiting.put(None)
            await asyncio.to_thread(thread.join)

    async def _do(self, task: Callable[[_File], T]) -> T:
        """Have the thread do a task; return its result once it is on disk."""
        future: Future[T] = Future()
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._serve, name="classroom store", daemon=True)
                self._thread.start()
        self._waiting.put((task, future))
        return await asyncio.wrap_future(future)

    def _serve(self) -> None:
        """Do whatever is waiting, all of it in one transaction, until the store is closed."""
        file, serving = _File(self._path), True
        while serving:
            tasks = [self._waiting.get()]
            while not self._waiting.empty():
                tasks.append(self._waiting.get())
            _settle(file, [task for task in tasks if task and task[1].set_running_or_notify_cancel()])
            serving = None not in tasks
        file.close()


def _settle(file: _File, tasks: Sequence[tuple[Callable[[_File], Any], Future[Any]]]) -> None:
    """Do tasks in one transaction, and give the results to those who wait for them once it is on disk."""
    results = list[Callable[[], None]]()
    try:
        file.begin()
        for task, future in tasks:
            try:
                results.append(partial(future.set_result, task(file)))
            except BehindError as behind:  # nothing has been written by this task
                results.append(partial(future.set_exception, behind))
        file.commit()
    except Exception as error:  # whatever it is, nobody may wait for ever
        file.roll_back()
        if _damaged(error):
            told = f"The file of the classes was damaged. It is kept as {file.set_aside()}, and a new one was begun."
            results = [partial(future.set_exception, UnavailableError(told)) for _, future in tasks]
        elif len(tasks) > 1:  # those that only read can still be done
            results = [partial(_settle, file, [task]) for task in tasks]
        else:
            results = [
                partial(future.set_exception, UnavailableError(_explained(error, file.path))) for _, future in tasks
            ]
    for each in results:
        each()


def _damaged(error: Exception) -> bool:
    """Return whether an error says that the file cannot be read, now or ever."""
    codes = sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in codes  # the last byte, without the details


def _explained(error: Exception, path: Path) -> str:
    """Explain an error of the file in a sentence, with what a teacher can do about it."""
    if isinstance(error, _RemovedError):
        return "The file of the classes was removed while they were using it. A new one was begun: open a new room."
    text = str(error).lower()
    if "full" in text or "i/o" in text or "too large" in text or "no space" in text:
        return "The server's disk is full, so nothing can be stored. Free some space: the class then goes on by itself."
    if "readonly" in text or "unable to open" in text or isinstance(error, PermissionError | FileExistsError):
        return "The server cannot write its data. Set PACKVIZ_DATA to a folder that it may write to."
    if "locked" in text:
        return "Another process has locked the server's data. Try again."
    return f"The server cannot store this now ({type(error).__name__} in {path.name}). Try again."


class _RemovedError(Exception):
    """Raised if the open file is no longer the one at its path."""


class _File:
    """The SQLite file, as its thread uses it; opened by the first transaction."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._db: sqlite3.Connection | None = None
        self._seen = 0  # SQLite's count of the changes that others have made
        self._inode = 0
        self._removed = False

    def begin(self) -> None:
        """Begin a transaction; it writes only once something is written."""
        self._opened().execute("BEGIN")

    def commit(self) -> None:
        """Put on disk what was written; raises _RemovedError if the file is no longer at its path."""
        if self._replaced():
            self.close()
            raise _RemovedError
        self._opened().execute("COMMIT")
        if self._removed:  # nor may anything of it stay in the file's write-ahead log
            self._removed = False
            with suppress(sqlite3.Error):
                self._opened().execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def roll_back(self) -> None:
        """Undo what was written since the beginning, if anything."""
        if self._db is not None and self._db.in_transaction:
            with suppress(sqlite3.Error):  # SQLite has undone it by itself
                self._db.execute("ROLLBACK")

    def append(self, room: str, revision: int, rows: Sequence[str]) -> None:
        """Insert events after the first `revision` ones."""
        db = self._opened()
        db.execute("INSERT OR IGNORE INTO rooms VALUES (?, 0, 0)", (room,))  # takes the lock, before we look
        (there,) = db.execute("SELECT revision FROM rooms WHERE room = ?", (room,)).fetchone()
        if there != revision:
            if there == 0:
                db.execute("DELETE FROM rooms WHERE room = ?", (room,))
            raise BehindError
        numbered = [(room, revision + i, row) for i, row in enumerate(rows, 1)]
        db.executemany("INSERT INTO events VALUES (?, ?, ?)", numbered)
        update = "UPDATE rooms SET revision = ?, at = ? WHERE room = ?"
        db.execute(update, (revision + len(rows), time.time(), room))

    def read(self, room: str, since: int) -> list[str]:
        """Return the events of a room after the first `since` ones."""
        select = "SELECT event FROM events WHERE room = ? AND revision > ? ORDER BY revision"
        return [event for (event,) in self._opened().execute(select, (room, since))]

    def delete(self, room: str) -> None:
        """Remove all events of a room but the last one."""
        last = "SELECT revision FROM rooms WHERE room = ?"
        remove = f"DELETE FROM events WHERE room = ? AND revision < ({last})"
        self._removed |= self._opened().execute(remove, (room, room)).rowcount > 0

    def expire(self, before: float) -> None:
        """Remove the rooms whose last event was before a time."""
        remove = "DELETE FROM events WHERE room IN (SELECT room FROM rooms WHERE at < ?)"
        self._removed |= self._opened().execute(remove, (before,)).rowcount > 0
        self._opened().execute("DELETE FROM rooms WHERE at < ?", (before,))

    def others_wrote(self) -> bool:
        """Return whether another process has changed the file since this was asked last."""
        (now,) = self._opened().execute("PRAGMA data_version").fetchone()
        before, self._seen = self._seen, now
        return bool(now != before)

    def check(self, now: float) -> None:
        """Write a row, which replaces the one before."""
        self._opened().execute("INSERT OR REPLACE INTO checks (rowid, at) VALUES (1, ?)", (now,))

    def close(self) -> None:
        """Close the file; the next transaction opens it again."""
        if self._db is not None:
            self._db.close()
            self._db = None

    def set_aside(self) -> str:
        """Close the file and rename it, with what belongs to it; return its new name."""
        with suppress(sqlite3.Error):
            self.close()
        self._db = None
        name = f"{self.path.name}.damaged-{datetime.now():%Y%m%d-%H%M%S}"
        for part in ("", "-wal", "-shm"):
            with suppress(FileNotFoundError):
                self.path.with_name(self.path.name + part).rename(self.path.with_name(name + part))
        return name

    def _replaced(self) -> bool:
        """Return whether the open file has been removed from its path, or another one is there."""
        try:
            return self.path.stat().st_ino != self._inode
        except FileNotFoundError:
            return True

    def _opened(self) -> sqlite3.Connection:
        if self._db is None:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            db = sqlite3.connect(self.path, timeout=5, isolation_level=None)
            self.path.chmod(0o600)
            self._db, self._inode = db, self.path.stat().st_ino
            try:
                db.executescript(_OPEN)
            except sqlite3.Error:
                self.close()
                raise
        return self._db
