"""Rooms: the rooms in use in this process, and everything that phones and the teacher can request."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any, TypeVar

from classroom import events, limits, questions
from classroom.actions import checked, checked_of_plan, prepared
from classroom.background import going_on
from classroom.export import answers_csv
from classroom.names import code as new_code
from classroom.question import Film
from classroom.room import Room
from classroom.seen import Seen
from classroom.shutdown import before_the_end
from classroom.slide import picture
from classroom.snapshot import snapshot
from classroom.specs import check_plan
from classroom.state import Event, RefusedError, State
from classroom.store import BehindError, Store, UnavailableError, chosen_store

MAX_ROOMS = 2000  # in use at once in one process
MAX_QUESTIONS = 100
_CHECKED = 1.0  # seconds for which the store counts as one that can be written
_EXPIRE = 600.0  # seconds between two checks for expired rooms
_QUIET = 60.0  # seconds without use after which a room is dropped if there are too many
_AGAIN = 1.0  # seconds until background work that failed is tried again

T = TypeVar("T")


class Rooms:
    """All rooms that are in use in this process, on one event loop."""

    def __init__(self, store: Store | None = None) -> None:
        self._store = store
        self._rooms: dict[str, Room] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._lock = threading.Lock()
        self._added = asyncio.Event()
        self._behind = set[str]()  # rooms to which other processes have added something
        self._checked_at = -_CHECKED
        self.stopping = False

    @property
    def store(self) -> Store:
        """Return the store, chosen at the first use."""
        if self._store is None:
            self._store = chosen_store()
        return self._store

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[None]:
        """Serve rooms on the running loop: follow what other processes write, and drop expired rooms."""
        self._loop, self.stopping = asyncio.get_running_loop(), False
        tasks = [asyncio.create_task(self._forever(work)) for work in (self._follow, self._clean)]
        try:
            with before_the_end(self.stop):
                yield
        finally:
            self.stop()
            for task in tasks:
                task.cancel()
            self._loop = None
            if self._store is not None:
                await self._store.close()

    def stop(self) -> None:
        """End all push channels, so that the server can end: phones then connect again."""
        self.stopping = True
        for room in self.all():
            for watcher in room.watchers:
                watcher.woken.set()

    # What the routes and the teacher's page call.

    async def create(self, specs: object, address: str | None = None, *, plan: bool = False) -> tuple[str, str]:
        """Open a room with questions or a plan, for a sender's address; return its code and the teacher's secret."""
        if not isinstance(specs, list) or len(specs) > MAX_QUESTIONS:
            name = "items" if plan else "questions"
            raise RefusedError(400, f"`{name}` must be a list of at most {MAX_QUESTIONS} {name}.")
        check_plan(specs)
        if len(self._rooms) >= MAX_ROOMS:
            self._drop(_QUIET)
        if len(self._rooms) >= MAX_ROOMS:
            raise RefusedError(429, "There are too many open rooms on this server. Try again later.")
        await limits.count(self.store, "rooms", address)
        known = [await (checked_of_plan if plan else checked)(spec) for spec in specs]
        event, host = events.opened(known, plan=plan)
        while True:
            code = new_code()
            try:
                await self.store.append(code, 0, [event])
            except BehindError:  # the code is taken
                continue
            await self.room(code)
            return code, host

    def all(self) -> Sequence[Room]:
        """Return the rooms that this process has in memory."""
        return tuple(self._rooms.values())

    async def room(self, code: str) -> Room:
        """Return a room by its code; raises RefusedError if there is none."""
        code = code.upper()
        if not (len(code) == 6 and code.isascii() and code.isalnum()):
            raise RefusedError(404, "There is no such room.", guess=True)
        room = self._rooms.get(code)
        if room is None:
            read = Room(code, self.store)
            await read.refresh()
            if not read.gone:  # a code that nobody has leaves nothing here
                room = self._rooms.setdefault(code, read)
                self._added.set()
        if room is None or room.gone:
            self._rooms.pop(code, None)
            raise RefusedError(404, "There is no such room. It may have been deleted.", guess=True)
        room.used_at = time.monotonic()
        return room

    async def join(
        self, code: str, token: str | None, name: object, following: object, address: str | None = None
    ) -> tuple[str, str]:
        """Let a phone join, or come back and change its name or whether it follows; return its token and name."""
        room, held = await self.room(code), list[str]()
        if token is None or token not in room.state.phones:
            await limits.count(self.store, "joins", address)

        def decide(state: State) -> Sequence[Event]:
            added, held[:] = (found := events.join(state, token, name, following))[0], [found[1]]
            return added

        await room.do(decide)
        return held[0], room.state.phones[held[0]].name

    async def vote(
        self,
        code: str,
        token: object,
        number: object,
        answer: object,
        question: object = None,
        confidence: object = None,
    ) -> int:
        """Count a vote; return the revision once it is stored.

        number: the round. question: the number of the question that is answered, where the phone says it: a vote that
        was long on its way does not count for another one.
        """
        room = await self.room(code)

        async def count() -> int:
            given, asked = room.state.number, await room.question()
            if asked is None or room.state.number != given or question not in (None, given):
                raise RefusedError(409, "The vote is closed.")
            return await room.do(lambda state: events.vote(state, token, number, given, answer, asked, confidence))

        return await room.up_to_date(count)

    async def act(self, code: str, host: object, action: object, given: dict[str, Any]) -> int:
        """Do what the teacher asks for; return the revision once it is stored.

        given: what is sent with the action. `at`: the place in the lesson (State.place) that the teacher saw, or else
        where the lesson is as the request arrives. Elsewhere nothing is done, so a click that comes twice, or from two
        windows, counts once.
        """
        room = await self._room_of(code, host)
        await room.refresh()  # the action before may have come to another process
        name = events.known(action)
        place = room.state.place
        if given.get("at") not in (None, place):
            return room.state.revision
        does, known = await prepared(room.state, name, given)

        def decide(state: State) -> Sequence[Event]:  # another window may have been faster meanwhile
            return events.act(state, does, **known) if state.place == place else []

        revision = await room.do(decide)
        if name == "delete":
            await self.store.delete(room.state.code)
        return revision

    async def snapshot(self, code: str, token: str | None) -> Seen:
        """Return what a token, or the teacher's secret, may see; for None what is on the projector."""
        room = await self.room(code)
        host = await room.is_teacher(token)
        while True:
            state, asked = room.state, await room.question()
            if state.at == room.state.at:
                return snapshot(room.state, asked, token or "", host=host)

    async def message(self, code: str, decide: Callable[[State], Sequence[Event]]) -> int:
        """Store a phone's message to the teacher; return the revision."""
        room = await self.room(code)
        return await room.up_to_date(lambda: room.do(decide))

    async def film(self, code: str, token: str | None, number: int) -> Film:
        """Return the movie of a question's answer or of a step, which phones get once it is shown.

        number: of what was shown in the room, counted from 1.
        """
        room = await self.room(code)
        host = await room.is_teacher(token)
        shown = await room.shown(number, revealed=not host)
        film = await asyncio.to_thread(questions.film, shown.spec) if shown.kind != "slide" else None
        if film is None:
            raise RefusedError(404, "There is no movie of this.")
        return film

    async def picture(self, code: str, number: int) -> tuple[str, bytes]:
        """Return the type and the bytes of the picture of a question or a slide. number: as in `film`."""
        shown = await (await self.room(code)).shown(number, revealed=False)
        found = picture(shown.spec.get("prompt", shown.spec.get("slide", "")))
        if found is None:
            raise RefusedError(404, "There is no such picture.")
        return found

    async def answers(self, code: str, host: object) -> str:
        """Return all votes as CSV."""
        room = await self._room_of(code, host)
        asked = [await asyncio.to_thread(questions.question, each.spec) for each in room.state.asked]
        return answers_csv(room.state, asked)

    async def check(self) -> None:
        """Write to the store, unless that was done just now; raises UnavailableError if nothing can be written."""
        if time.monotonic() - self._checked_at > _CHECKED:
            await self.store.check()
            self._checked_at = time.monotonic()

    def call(self, work: Coroutine[Any, Any, T]) -> T:
        """Run one of these on the loop that serves the rooms, and wait for it. For other threads: Streamlit's pages."""
        with self._lock:
            if self._loop is None:  # no server: the page runs in a test
                self._loop = asyncio.new_event_loop()
                threading.Thread(target=self._loop.run_forever, name="classroom", daemon=True).start()
        try:
            return asyncio.run_coroutine_threadsafe(work, self._loop).result()
        except UnavailableError as problem:
            raise RefusedError(507, str(problem)) from problem

    async def _room_of(self, code: str, host: object) -> Room:
        """Return a room to its teacher; raises RefusedError for a wrong secret."""
        room = await self.room(code)
        if not room.state.is_host(host):
            raise RefusedError(403, "This is not the teacher's secret for this room.", guess=True)
        return room

    async def _follow(self) -> None:
        """Read what other processes have added to the rooms that are in use here."""
        for code in [*self._behind]:  # kept until they have been read: the store names them once
            if room := self._rooms.get(code):
                await room.refresh()
            self._behind.discard(code)
        self._added.clear()
        added = asyncio.create_task(self._added.wait())
        tasks: list[asyncio.Task[Any]] = [added]
        if known := {code: room.state.revision for code, room in self._rooms.items()}:
            tasks.append(asyncio.create_task(self.store.changed(known)))
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
        for task in done - {added}:
            self._behind.update(task.result())

    async def _clean(self) -> None:
        with suppress(UnavailableError):
            await self.store.expire()
        self._drop()
        await asyncio.sleep(_EXPIRE)

    def _drop(self, *unused: float) -> None:
        """Drop from memory the rooms that nobody has used for some seconds; they are still in the store."""
        for code in [code for code, room in self._rooms.items() if room.idle(*unused)]:
            del self._rooms[code]

    async def _forever(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        while True:
            with going_on("Reading what other processes wrote, or removing old rooms,"), suppress(UnavailableError):
                await work()
                continue
            await asyncio.sleep(_AGAIN)


rooms = Rooms()
