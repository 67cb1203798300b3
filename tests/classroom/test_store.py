"""The stores: acknowledged events are stored, two writers lose nothing, and a waiting reader hears of changes."""

import asyncio
import os
import resource
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from lecture import PICTURE
from starlette.responses import JSONResponse
from starlette.types import Message

from classroom import events, limits, routes
from classroom.redis_store import RedisStore
from classroom.rooms import Rooms
from classroom.seen import Seen
from classroom.sqlite_store import SqliteStore
from classroom.state import RefusedError
from classroom.store import BehindError, Store, UnavailableError

OWN = {"prompt": "Which?", "options": ["this", "that"], "answer": 1}
SIZES = {"kind": "batch_sizes", "sequences": "1 2 3\n4\n5 6"}
Open = Callable[[], Store]  # another store on the same data, as another process has it


@pytest.fixture(params=["sqlite", "redis"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Open:
    if request.param == "sqlite":
        return lambda: SqliteStore(tmp_path)
    url = request.getfixturevalue("redis_url")
    return lambda: RedisStore(url)


def numbered(*numbers: int) -> list[dict[str, Any]]:
    return [{"type": "joined", "at": 0.0, "token": str(number), "name": f"é \ud800 {number}"} for number in numbers]


def unused() -> str:
    """Return a room that no other test uses: they share one Redis."""
    return os.urandom(6).hex()


async def test_appended_events_are_read_in_order_by_other_processes_too(opened: Open) -> None:
    one, other, room = opened(), opened(), unused()
    await one.append(room, 0, numbered(1, 2))
    await other.append(room, 2, numbered(3))
    assert await one.read(room) == numbered(1, 2, 3)
    assert await other.read(room, 2) == numbered(3)
    assert await one.read(unused()) == []
    await one.close()
    await other.close()
    again = opened()
    assert await again.read(room) == numbered(1, 2, 3)
    await again.close()


@pytest.mark.parametrize("known", [0, 1, 3])
async def test_a_writer_with_a_different_number_of_events_appends_nothing(opened: Open, known: int) -> None:
    store, room = opened(), unused()
    await store.append(room, 0, numbered(1, 2))
    with pytest.raises(BehindError):
        await store.append(room, known, numbered(3, 4))
    assert await store.read(room) == numbered(1, 2)
    await store.close()


async def test_the_first_event_of_a_room_is_stored_once(opened: Open) -> None:
    store, room = opened(), unused()
    tries = [store.append(room, 0, numbered(number)) for number in range(5)]
    results = await asyncio.gather(*tries, return_exceptions=True)
    assert sum(isinstance(result, BehindError) for result in results) == 4
    assert len(await store.read(room)) == 1
    await store.close()


async def test_a_waiting_process_hears_of_what_another_appends(opened: Open) -> None:
    async def heard(store: Store, room: str) -> None:
        while room not in await store.changed({room: 1}) or len(await store.read(room)) < 2:
            pass

    one, other, room = opened(), opened(), unused()
    await one.append(room, 0, numbered(1))
    waiting = asyncio.create_task(heard(one, room))
    await asyncio.sleep(0.3)
    assert not waiting.done()
    await other.append(room, 1, numbered(2))
    await asyncio.wait_for(waiting, 2)
    await one.close()
    await other.close()


async def test_two_processes_serving_one_room_lose_no_join_and_no_vote(opened: Open) -> None:
    """Each of 60 phones joins and votes at one of two servers, all at the same time."""
    servers = [Rooms(opened()), Rooms(opened())]
    async with servers[0].serving(), servers[1].serving():
        code, host = await servers[0].create([OWN])
        joined = await asyncio.gather(*(servers[i % 2].join(code, None, None, None) for i in range(60)))
        tokens = [token for token, _ in joined]
        assert len(set(tokens)) == 60
        assert len({name for _, name in joined}) == 60
        await servers[1].act(code, host, "open", {})
        await asyncio.wait_for(_until(servers, code, lambda seen: seen["phase"] == "vote", host), 3)
        await asyncio.gather(*(servers[i % 2].vote(code, token, 1, i % 2) for i, token in enumerate(tokens)))
        await asyncio.wait_for(_until(servers, code, lambda seen: seen["voted"] == 60, host), 3)
        for server in servers:
            seen = await server.snapshot(code, host)
            assert (seen["joined"], [row["before"] for row in seen["bars"]]) == (60, [30, 30])


async def test_what_one_process_has_acknowledged_another_does_not_refuse(opened: Open) -> None:
    """A request that reaches another process before that has heard of the one before."""
    servers = [Rooms(opened()), Rooms(opened())]
    async with servers[0].serving(), servers[1].serving():
        code, host = await servers[0].create([OWN])
        await servers[1].room(code)
        for i, action in enumerate(("next", "open")):
            await servers[i].act(code, host, action, {})
        for number, action in ((1, "reopen"), (2, "reveal")):
            token, _ = await servers[0].join(code, None, None, None)
            assert (await servers[1].snapshot(code, token))["mine"] is None
            await servers[0].vote(code, token, number, 1)
            await servers[1].act(code, host, "close", {})
            await servers[0].act(code, host, action, {})
        assert (await servers[0].snapshot(code, token))["right"]


async def test_a_phone_that_has_just_joined_is_known_to_every_process(opened: Open) -> None:
    servers = [Rooms(opened()), Rooms(opened())]
    async with servers[0].serving(), servers[1].serving():
        code, host = await servers[0].create([{**OWN, "prompt": f"Which? {PICTURE}"}])
        for ask in (
            partial(servers[1].snapshot, code),
            lambda token: servers[1].message(code, partial(events.pace, token=token, said="lost")),
            lambda token: servers[1].message(code, partial(events.wonder, token=token, text="Why?")),
        ):
            await servers[1].room(code)
            token, _ = await servers[0].join(code, None, None, None)
            await ask(token)
        with pytest.raises(RefusedError, match="has not joined"):
            await servers[1].message(code, partial(events.pace, token="nobody", said="lost"))
        await servers[0].act(code, host, "next", {})
        assert (await servers[1].picture(code, 1))[0] == "image/png"


async def test_in_every_phase_a_server_started_later_has_everything(opened: Open) -> None:
    """As after kill -9: the next server has what was acknowledged, and nothing else."""
    rooms = Rooms(opened())
    async with rooms.serving():
        code, host = await rooms.create([SIZES])
        token, _ = await rooms.join(code, None, None, None)
        for action in ("next", "open", "close", "talk", "reopen", "reveal", "twin"):
            await rooms.act(code, host, action, {})
            if action in ("open", "reopen"):
                await rooms.vote(code, token, 1 if action == "open" else 2, "3 2 1")
            later = Rooms(opened())
            for who in (host, token):
                assert await later.snapshot(code, who) == await rooms.snapshot(code, who)
            await later.store.close()


async def test_a_deleted_room_is_gone_for_all_processes_and_from_the_store(opened: Open) -> None:
    stores = [opened(), opened()]
    servers = [Rooms(store) for store in stores]
    async with servers[0].serving(), servers[1].serving():
        code, host = await servers[0].create([OWN])
        await servers[1].join(code, None, "Ada", None)
        await servers[0].act(code, host, "delete", {})
        assert [event["type"] for event in await stores[1].read(code)] == ["deleted"]
        with pytest.raises(RefusedError, match="may have been deleted"):
            await asyncio.wait_for(_until(servers[1:], code, lambda _: False, host), 3)


async def test_nothing_of_a_deleted_room_remains_on_disk(tmp_path: Path) -> None:
    rooms = Rooms(SqliteStore(tmp_path))
    async with rooms.serving():
        code, host = await rooms.create([OWN])
        token, _ = await rooms.join(code, None, "Ada Lovelace", None)
        assert any(token.encode() in path.read_bytes() for path in tmp_path.iterdir())
        await rooms.act(code, host, "delete", {})
        left = b"".join(path.read_bytes() for path in tmp_path.iterdir())
        assert [word for word in (token, "Ada Lovelace", OWN["prompt"]) if str(word).encode() in left] == []


async def _until(servers: list[Rooms], code: str, condition: Callable[[Seen], bool], host: str) -> None:
    for server in servers:
        while not condition(await server.snapshot(code, host)):
            await asyncio.sleep(0.02)


@pytest.mark.parametrize(
    "event",
    [
        {"type": "whispered", "token": "anybody's"},
        {"type": "joined", "by": "a field that only a newer version has"},
        {"type": "voted", "token": "nobody's", "round": 1},
    ],
    ids=lambda event: event["type"],
)
async def test_an_event_of_a_newer_version_is_skipped_and_logged(
    opened: Open, event: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    servers = [Rooms(opened()), Rooms(opened())]
    async with servers[0].serving(), servers[1].serving():
        made = [await servers[0].create([OWN]) for _ in range(2)]
        for code, _ in made:
            await servers[1].room(code)
        await servers[0].store.append(made[0][0], 1, [{**event, "at": time.time()}])
        for code, host in made:
            await servers[0].join(code, None, None, None)
            await asyncio.wait_for(_until(servers, code, lambda seen: seen["joined"] == 1, host), 5)
            assert len({(await each.snapshot(code, host))["revision"] for each in servers}) == 1
    told = [record for record in caplog.records if "is skipped" in record.message]
    assert [record.name for record in told] == ["classroom.room"] * 2
    assert all(record.exc_info for record in told)


async def test_following_goes_on_after_any_failure(
    opened: Open, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    servers = [Rooms(opened()), Rooms(opened())]
    failed = asyncio.Event()

    async def fails(_: object) -> set[str]:
        failed.set()
        raise RuntimeError

    async with servers[0].serving(), servers[1].serving():
        code, host = await servers[0].create([OWN])
        with monkeypatch.context() as patch:
            patch.setattr(servers[1].store, "changed", fails)
            await servers[1].room(code)
            await asyncio.wait_for(failed.wait(), 5)
        await servers[0].join(code, None, None, None)
        await asyncio.wait_for(_until(servers, code, lambda seen: seen["joined"] == 1, host), 5)
    assert [record.name for record in caplog.records] == ["classroom.background"]


async def test_what_another_process_wrote_is_read_again_after_a_failed_read(
    opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    servers = [Rooms(opened()), Rooms(opened())]
    async with servers[0].serving(), servers[1].serving():
        code, _ = await servers[0].create([OWN])
        room, read, failures = await servers[1].room(code), servers[1].store.read, [UnavailableError("locked")]

        async def fails_once(*asked: Any) -> Any:
            if failures:
                raise failures.pop()
            return await read(*asked)

        monkeypatch.setattr(servers[1].store, "read", fails_once)
        await servers[0].join(code, None, None, None)
        async with asyncio.timeout(10):
            while not room.state.phones:  # nothing else asks for the room here
                await asyncio.sleep(0.05)
    assert not failures


async def test_an_old_room_expires(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = SqliteStore(tmp_path)
    await store.append("OLD", 0, numbered(1))
    tomorrow = time.time() + 86_401
    monkeypatch.setattr("classroom.sqlite_store.time.time", lambda: tomorrow)
    await store.append("NEW", 0, numbered(1))
    await store.expire()
    assert (await store.read("OLD"), await store.read("NEW")) == ([], numbered(1))
    await store.close()


def test_a_store_that_cannot_be_reached_says_so_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for store in (SqliteStore(tmp_path / "file"), RedisStore("redis://127.0.0.1:1/0")):
        with pytest.raises(UnavailableError, match=r"^The server .*\.$"):
            asyncio.run(store.read("ROOM"))
    rooms = Rooms(SqliteStore(tmp_path / "file"))
    with pytest.raises(RefusedError, match=r"^The server cannot write its data\.") as refusal:
        rooms.call(rooms.create([]))
    assert refusal.value.status == 507


async def test_next_from_two_windows_at_once_asks_one_question(tmp_path: Path) -> None:
    rooms = Rooms(SqliteStore(tmp_path))
    async with rooms.serving():
        code, host = await rooms.create([OWN] * 5)
        for number in range(1, 6):
            await asyncio.gather(*(rooms.act(code, host, "next", {}) for _ in range(2)))
            assert len((await rooms.snapshot(code, host))["asked"]) == number


async def test_a_question_that_could_not_be_computed_is_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rooms = Rooms(SqliteStore(tmp_path))
    async with rooms.serving():
        code, host = await rooms.create([SIZES])
        await rooms.act(code, host, "next", {})

        def fails(_: object) -> None:
            raise MemoryError

        with monkeypatch.context() as patch:
            patch.setattr("classroom.questions.question", fails)
            with pytest.raises(MemoryError):
                await rooms.snapshot(code, host)
        assert (await rooms.snapshot(code, host))["answer"] == [3, 2, 1]


@pytest.mark.parametrize("away", [False, True])
async def test_unknown_codes_leave_nothing_in_memory(tmp_path: Path, *, away: bool) -> None:
    if away:
        (tmp_path / "rooms.sqlite").mkdir()
    rooms = Rooms(SqliteStore(tmp_path))
    async with rooms.serving():
        for _ in range(20):
            with pytest.raises(UnavailableError if away else RefusedError):
                await rooms.room("QQQQQQ")
        assert rooms.all() == ()


async def test_a_damaged_file_is_set_aside_and_a_new_one_begun(tmp_path: Path) -> None:
    path = tmp_path / "rooms.sqlite"
    for damage in (b"no database" * 1000, b"SQLite format 3\0" + b"\xff" * 10_000):
        path.write_bytes(damage)
        store = SqliteStore(tmp_path)
        with pytest.raises(UnavailableError, match=r"was damaged\. It is kept as rooms\.sqlite\.damaged-"):
            await store.append("ROOM", 0, numbered(1))
        assert damage in [kept.read_bytes() for kept in tmp_path.glob("*.damaged-*")]
        await store.append("ROOM", 0, numbered(1))
        assert await store.read("ROOM") == numbered(1)
        await store.close()


async def test_no_vote_is_acknowledged_into_a_file_that_was_removed(tmp_path: Path) -> None:
    rooms = Rooms(SqliteStore(tmp_path))
    code, host = await rooms.create([OWN])
    token, _ = await rooms.join(code, None, None, None)
    await rooms.act(code, host, "open", {})
    for part in tmp_path.iterdir():
        part.unlink()
    with pytest.raises(UnavailableError, match="was removed"):
        await rooms.vote(code, token, 1, 1)
    with pytest.raises(RefusedError, match="lost its data") as refusal:
        await rooms.vote(code, token, 1, 1)
    assert refusal.value.status == 404
    code, host = await rooms.create([OWN])
    assert (await rooms.snapshot(code, host))["phase"] == "lobby"
    await rooms.store.close()


async def test_health_fails_while_the_store_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "rooms.sqlite").mkdir()
    rooms = Rooms(SqliteStore(tmp_path))
    with pytest.raises(UnavailableError, match="cannot write"):
        await rooms.check()
    (tmp_path / "rooms.sqlite").rmdir()
    await rooms.check()
    await rooms.store.close()


async def test_one_address_may_not_open_or_guess_without_end(opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """The count is shared by the servers that share a Redis."""
    stores, address = [opened(), opened()], f"2001:db8::{unused()[:4]}:{unused()[:4]}:1:1"
    shared = isinstance(stores[0], RedisStore)
    for what in ("rooms", "joins", "guesses"):
        monkeypatch.setenv(f"PACKVIZ_{what.upper()}", "6")
        for number in range(6):
            await limits.count(stores[number % 2 if shared else 0], what, address)
        with pytest.raises(RefusedError, match="from your address") as refusal:
            await limits.count(stores[0], what, address)
        assert refusal.value.status == 429
        await limits.count(stores[0], what, f"other {address}")
    for store in stores:
        await store.close()


async def test_only_wrong_codes_tokens_and_secrets_count_as_guesses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    served = Rooms(SqliteStore(tmp_path))
    monkeypatch.setattr(routes, "rooms", served)
    monkeypatch.setenv("PACKVIZ_GUESSES", "3")
    async with served.serving():
        code, host = await served.create([OWN])
        await served.act(code, host, "next", {})
        known = (f"{code}/picture?shown=1", f"{code}/picture?shown=9", f"{code}/movie?shown=1&token={host}")
        assert [await _status(path) for path in known * 3] == [404] * 9
        wrong = ("NOBODY", f"{code}?token=nobody", f"{code}/answers.csv?host=nobody", "QQQQQQ/picture?shown=1")
        assert [await _status(path) for path in wrong] == [404, 403, 403, 429]


async def _status(path: str) -> int:
    """Return the status of the answer to a GET request."""
    sent = list[Message]()

    async def receive() -> Message:
        return {"type": "http.request"}

    async def send(message: Message) -> None:
        sent.append(message)

    name, _, query = f"/api/rooms/{path}".partition("?")
    scope = {"type": "http", "method": "GET", "path": name, "query_string": query.encode(), "headers": []}
    await routes.Front(JSONResponse({}))({**scope, "client": ("192.0.2.1", 1)}, receive, send)
    return int(sent[0]["status"])


async def test_clients_of_ipv4_are_counted_separately(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A socket for both IPv4 and IPv6 writes the address 192.0.2.1 as ::ffff:192.0.2.1."""
    monkeypatch.setenv("PACKVIZ_ROOMS", "2")
    store = SqliteStore(tmp_path)
    for address in ("192.0.2.1", "::ffff:192.0.2.1", "::ffff:192.0.2.2", "::1", "::2"):
        await limits.count(store, "rooms", address)
    for address in ("::ffff:c000:201", "::3"):
        with pytest.raises(RefusedError, match="from your address"):
            await limits.count(store, "rooms", address)


async def test_cancelled_readers_do_not_stop_the_store(opened: Open) -> None:
    store, room = opened(), unused()
    for _ in range(20):
        waiting = [asyncio.create_task(store.changed({room: 0})), asyncio.create_task(store.read(room))]
        await asyncio.sleep(0)
        for task in waiting:
            task.cancel()
    await asyncio.wait_for(store.append(room, 0, numbered(1)), 5)
    assert await store.read(room) == numbered(1)
    await store.close()


@contextmanager
def limited(folder: Path) -> Iterator[None]:
    """Let no file grow by more than 100 kB: writing fails in the same place as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    size = (folder / "rooms.sqlite-wal").stat().st_size
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + 100_000, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


async def test_on_a_full_disk_a_room_can_be_read_and_later_written(tmp_path: Path) -> None:
    rooms = Rooms(SqliteStore(tmp_path))
    async with rooms.serving():
        code, host = await rooms.create([OWN])
        tokens = [(await rooms.join(code, None, None, None))[0] for _ in range(100)]
        await rooms.act(code, host, "open", {})
        with limited(tmp_path):
            votes = await asyncio.gather(*map(_voted(rooms, code), tokens), return_exceptions=True)
            for token in tokens:
                votes += await asyncio.gather(_voted(rooms, code)(token, 0), return_exceptions=True)
            lost = [each for each in votes if isinstance(each, UnavailableError)]
            assert 0 < len(lost) < len(votes)
            assert "server's disk is full" in str(lost[0])
            seen = await rooms.snapshot(code, host)
            assert (seen["phase"], seen["joined"], seen["voted"]) == ("vote", 100, 100)
            assert await Rooms(SqliteStore(tmp_path)).snapshot(code, host) == seen  # as after a restart
        await rooms.vote(code, tokens[-1], 1, 0)
        assert (await rooms.snapshot(code, tokens[-1]))["mine"] == 0


def _voted(rooms: Rooms, code: str) -> Callable[..., Coroutine[Any, Any, int]]:
    return lambda token, answer=1: rooms.vote(code, token, 1, answer)
