"""Room: one room in this process, with its state, its queue of changes and its watchers.

A change is a function from a state to events. Changes that arrive at the same time are decided one after another and
stored together; if another process was faster, its events are read and the changes are decided again. A change is shown
and acknowledged only once it is on disk.
"""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import suppress
from typing import TypeVar

from classroom import questions
from classroom.question import Question
from classroom.state import Event, OnScreen, RefusedError, State
from classroom.store import KEPT, BehindError, Store

HEARTBEAT = 15.0  # seconds
_TEACHER, _PHONE = (0.2, 0.3), (4.0, 12.0)  # seconds, from and to, until they get the votes of others
_CROWD = 100  # watchers; with fewer, phones get votes proportionally sooner
MAX_CHANNELS = 8  # of one phone, or of the teacher; one more ends the oldest
_IDLE = 600.0  # seconds until a room that nobody uses is dropped from memory

_log = logging.getLogger(__name__)
Decide = Callable[[State], Sequence[Event]]
T = TypeVar("T")


class _Watcher:
    """One push channel: it wakes at once for urgent news, and a little later for the rest."""

    def __init__(self, token: str, *, host: bool) -> None:
        self.woken, self.token, self._host = asyncio.Event(), token, host
        self._timer: asyncio.TimerHandle | None = None

    def notify(self, crowd: int, *, urgent: bool) -> None:
        """Wake up for news. crowd: how many watch the room."""
        if urgent:
            self.woken.set()
        elif self._timer is None:
            wait = random.uniform(*_TEACHER) if self._host else random.uniform(*_PHONE) * min(1, crowd / _CROWD)
            self._timer = asyncio.get_running_loop().call_later(wait, self.woken.set)

    async def wait(self) -> None:
        """Wait until there is news, or for HEARTBEAT seconds."""
        with suppress(TimeoutError):
            async with asyncio.timeout(HEARTBEAT):
                await self.woken.wait()
        self.woken.clear()
        self.stop()

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


class Room:
    """One room in this process."""

    def __init__(self, code: str, store: Store) -> None:
        self.state = State(code)
        self.used_at = time.monotonic()
        self.watchers: dict[_Watcher, None] = {}  # oldest first
        self._store = store
        self._pending: list[tuple[Decide, asyncio.Future[int]]] = []
        self._work: asyncio.Task[None] | None = None
        self._reading = asyncio.Lock()
        self._question: tuple[int, asyncio.Task[Question]] | None = None
        self._lost = False  # whether its events are no longer in the store

    @property
    def gone(self) -> bool:
        """Return whether there is no such room, or none any more."""
        none = self.state.deleted or not self.state.revision or self._lost
        return none or time.time() - self.state.last_at > KEPT

    def idle(self, seconds: float = _IDLE) -> bool:
        """Return whether the room can be dropped from memory: it is gone, or nobody has used it for some seconds."""
        unused = time.monotonic() - self.used_at > seconds
        return not self.watchers and not self._pending and self._work is None and (unused or self.gone)

    async def refresh(self) -> bool:
        """Read what other processes have added; return whether they have."""
        async with self._reading:
            new = await self._store.read(self.state.code, self.state.revision)
            if new:
                state = self.state.copy()
                for event in new:
                    try:
                        state.apply(event)
                    except Exception:  # a newer version may have written it: the room goes on without it
                        _log.exception("An event of a room could not be added and is skipped")
                self._show(state)
            return bool(new)

    async def up_to_date(self, ask: Callable[[], Awaitable[T]]) -> T:
        """Return what a request returns; if it is refused, it is repeated if another process has added something."""
        known = self.state.revision
        try:
            return await ask()
        except RefusedError as refusal:
            if refusal.status not in (403, 404, 409):
                raise
            await self.refresh()
            if self.state.revision == known:  # nor has it been read meanwhile, for another request
                raise
            return await ask()

    async def do(self, decide: Decide) -> int:
        """Add the events that `decide` returns; return the revision once they are stored. Raises what it raises."""
        future: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._pending.append((decide, future))
        if self._work is None:
            self._work = asyncio.create_task(self._store_pending())
        return await future

    async def question(self) -> Question | None:
        """Return the current question, computed in a thread the first time."""
        current, number = self.state.current, self.state.number
        if current is None:
            return None
        if self._question is None or self._question[0] != number:
            task = asyncio.create_task(asyncio.to_thread(questions.question, current.spec))
            self._question = number, task
        try:
            return await asyncio.shield(self._question[1])
        except Exception:  # the next one who asks tries again
            self._question = None
            raise

    async def shown(self, number: int, *, revealed: bool) -> OnScreen:
        """Return what was shown in the room, by its number, counted from 1; raises RefusedError.

        revealed: whether the answer must have been shown, too.
        """

        async def find() -> OnScreen:
            if not 1 <= number <= len(self.state.shown):
                raise RefusedError(404, "Nothing with this number has been shown.")
            found = self.state.shown[number - 1]
            if revealed and found.way[-1][0] != "reveal":
                raise RefusedError(409, "The answer has not been shown yet.")
            return found

        return await self.up_to_date(find)

    async def is_teacher(self, token: str | None) -> bool:
        """Return whether the token is the teacher's secret; raises RefusedError if it is not a phone's either.

        None, which no request can send, is the projector.
        """

        async def compare() -> bool:
            if token is None or token in self.state.phones:
                return False
            if self.state.is_host(token):
                return True
            raise RefusedError(403, "This phone has not joined the room. Join it first.", guess=True)

        return await self.up_to_date(compare)

    async def news(self, since: int, token: str) -> AsyncIterator[int | None]:
        """Yield the revision at once if it is past `since`, and whenever it has changed; None as a heartbeat."""
        watcher = _Watcher(token, host=self.state.is_host(token))
        same = [each for each in self.watchers if each.token == token]
        for oldest in same[: max(len(same) + 1 - MAX_CHANNELS, 0)]:
            del self.watchers[oldest]
            oldest.woken.set()
        self.watchers[watcher] = None
        try:
            while watcher in self.watchers:
                if self.state.revision != since:
                    since = self.state.revision
                    yield since
                elif self.gone:
                    return
                else:
                    await watcher.wait()
                    if self.state.revision == since:
                        yield None
        finally:
            self.watchers.pop(watcher, None)
            watcher.stop()

    async def _store_pending(self) -> None:
        try:
            while self._pending:
                batch, self._pending = self._pending, []
                try:
                    results = await self._stored([decide for decide, _ in batch])
                except Exception as problem:
                    results = [problem] * len(batch)
                for (_, future), result in zip(batch, results, strict=True):
                    if future.done():  # the request was cancelled
                        continue
                    if isinstance(result, Exception):
                        future.set_exception(result)
                    else:
                        future.set_result(result)
        finally:
            self._work = None

    async def _stored(self, changes: Sequence[Decide]) -> list[int | Exception]:
        """Decide changes one after another and store their events together; return the revisions or refusals."""
        while True:
            before = self.state.revision
            working, new = self.state.copy(), list[Event]()
            results = list[int | Exception]()
            for decide in changes:
                try:
                    for event in (added := list(decide(working))):
                        working.apply(event)
                    new += added
                    results.append(working.revision)
                except RefusedError as refusal:
                    results.append(refusal)
            try:
                if new:
                    await self._store.append(self.state.code, before, new)
                    async with self._reading:
                        if self.state.revision == before:
                            self._show(working)
            except BehindError:
                self._lost = not await self.refresh() and self.state.revision == before
                if self.gone:
                    raise RefusedError(404, "There is no such room. The server may have lost its data.") from None
                continue
            return results

    def _show(self, state: State) -> None:
        """Make a state visible, and wake the watchers."""
        urgent = state.urgent > self.state.revision or state.deleted
        self.state = state
        for watcher in self.watchers:
            watcher.notify(len(self.watchers), urgent=urgent)
