"""What the operator of a server can see, and how it stops when it is told to."""

import asyncio
import json
import logging
import socket
import time
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextlib import suppress
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest
from phone_pages import OWN, Room
from prometheus_client.parser import text_string_to_metric_families
from servers import Server, server
from starlette.types import Message
from websockets.sync.client import connect
from websockets.typing import Subprotocol

from bench.visitors import visitor
from classroom import routes
from classroom.rooms import Rooms
from classroom.routes import Front
from classroom.sqlite_store import SqliteStore
from ui.server.logs import JsonLines
from ui.server.observed import Timed

pytestmark = pytest.mark.slow

TYPED = "11 22 33\n44 55"


@pytest.fixture(scope="module")
def observed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    data = tmp_path_factory.mktemp("data")
    asked = {"PACKVIZ_METRICS": "1", "PACKVIZ_LOGS": "json", "PACKVIZ_DATA": str(data)}
    with server(data / "log", asked) as started:
        yield started


def metrics(address: str) -> dict[tuple[str, str], float]:
    """Return the values by the metric's name and the values of its labels."""
    with urlopen(f"{address}/metrics") as answer:
        assert answer.headers["content-type"].startswith("text/plain")
        families = text_string_to_metric_families(answer.read().decode())
        return {
            (each.name, " ".join(each.labels.values())): each.value for family in families for each in family.samples
        }


async def test_metrics_and_logs_say_what_happens_and_nothing_about_visitors(observed: Server) -> None:
    room = Room(observed.address, OWN)
    room.act("next", "open")
    room.vote(phone := room.join(), 0)
    with pytest.raises(HTTPError, match="403"):
        room.vote("somebody else's", 0)
    async with visitor(observed.address, "packing") as here:
        await here.look()
        await here.edit(TYPED)
        seen = await asyncio.to_thread(metrics, observed.address)
    assert seen["packviz_visitors", ""] == 1
    assert seen["packviz_rooms", ""] == 1
    assert seen["packviz_votes_total", ""] == 1
    assert seen["packviz_request_seconds_count", "/api/rooms/{code}/vote 200"] == 1
    assert seen["packviz_request_seconds_count", "/api/rooms/{code}/vote 403"] == 1
    assert (seen["packviz_jobs", "waiting"], seen["packviz_jobs", "running"]) == (0, 0)
    assert 2**27 < seen["process_resident_memory_bytes", ""] < 2**32

    log = observed.log.read_text()
    lines = [json.loads(line) for line in log.splitlines()]
    assert lines[0]["event"] == "ready"
    votes = [line["status"] for line in lines if line.get("route") == "/api/rooms/{code}/vote"]
    assert votes == [200, 403]
    for secret in (room.code, room.host, phone, "127.0.0.1", "11 22 33", OWN["prompt"]):
        assert str(secret) not in log


ROUTES = [route.path for route in routes.routes() if route.path.startswith("/api/")]


@pytest.mark.parametrize("route", [*ROUTES, "other"])
async def test_requests_are_counted_by_route(
    route: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("PACKVIZ_LOGS", "json")
    caplog.set_level(logging.INFO, "packviz")
    path = "/api/nothing" if route == "other" else route.replace("{code}", "QQQQQQ")

    async def receive() -> Message:
        return {"type": "http.request"}

    async def send(_: Message) -> None:
        pass

    async def not_reached(*_: object) -> None:
        raise AssertionError

    scope = {"type": "http", "method": "PATCH", "path": path, "headers": [], "query_string": b""}
    await Timed(Front(not_reached))(scope, receive, send)
    fields = [vars(record)["fields"] for record in caplog.records]
    assert [(each["route"], each["status"]) for each in fields] == [(route, 404 if route == "other" else 405)]


def test_an_error_is_logged_by_type_and_place_without_its_message() -> None:
    try:
        raise ValueError("what the visitor typed")
    except ValueError as error:
        record = logging.LogRecord("any", logging.ERROR, __file__, 1, "%s came from %s", ("text", "10.0.0.7"), None)
        record.exc_info = (type(error), error, error.__traceback__)
    line = JsonLines().format(record)
    told = json.loads(line)
    assert (told["event"], told["error"], told["level"]) == ("%s came from %s", "ValueError", "error")
    assert told["at"][0].startswith("test_observed.py:")
    assert "typed" not in line
    assert "10.0.0.7" not in line


async def test_a_server_told_to_stop_finishes_votes_and_stops_within_ten_seconds(observed: Server) -> None:
    room = Room(observed.address, OWN)
    room.act("next", "open")
    phones = [room.join() for _ in range(20)]
    port = int(observed.address.rpartition(":")[2])
    browser = connect(f"ws://127.0.0.1:{port}/_stcore/stream", subprotocols=[Subprotocol("streamlit")])
    with browser, socket.create_connection(("127.0.0.1", port)) as channel, ThreadPoolExecutor(20) as pool:
        channel.sendall(
            f"GET /api/rooms/{room.code}/events?token={phones[0]}&since=0 HTTP/1.1\r\nHost: here\r\n\r\n".encode()
        )
        assert channel.recv(4096).startswith(b"HTTP/1.1 200")

        def vote(phone: str) -> bool:
            with suppress(OSError):
                room.vote(phone, 1)
                return True
            return False

        votes = [pool.submit(vote, phone) for phone in phones]
        wait(votes, 30, FIRST_COMPLETED)
        start = time.monotonic()
        observed.process.terminate()  # as a container is asked to end
        channel.settimeout(10)
        while channel.recv(4096):  # the channel ends: a phone connects again, to whoever serves then
            pass
        observed.process.wait(10)
        assert time.monotonic() - start < 10
    acknowledged = sum(each.result() for each in votes)
    assert acknowledged >= 1
    seen = await Rooms(SqliteStore(observed.log.parent)).snapshot(room.code, room.host)
    assert (seen["phase"], seen["joined"]) == ("vote", 20)
    assert seen["voted"] >= acknowledged
    assert json.loads(observed.log.read_text().splitlines()[-1])["event"] == "stopped"
