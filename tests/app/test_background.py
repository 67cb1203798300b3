"""Background work goes on after an error, which is logged: closing sessions, and looking after jobs and rooms."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from classroom import rooms
from ui.jobs import redis_jobs
from ui.server import sessions

ROUNDS = 3


def failing(end: type[BaseException]) -> Callable[..., Any]:
    """Return work that fails in ROUNDS rounds, and ends its loop in the next one."""
    left = [*range(ROUNDS)]

    def work(*_: object) -> None:
        raise LookupError(left.pop()) if left else end()

    return work


def test_sessions_are_closed_after_an_error(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setattr(sessions, "EVERY", 0.0)
    monkeypatch.setattr(sessions, "close_those_left", failing(asyncio.CancelledError))
    with suppress(asyncio.CancelledError):
        asyncio.run(sessions.close_repeatedly())
    assert len(caplog.records) == ROUNDS


def test_jobs_are_looked_after_after_an_error(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    jobs = redis_jobs.RedisJobs("redis://localhost:1", lambda _: True)
    monkeypatch.setattr(redis_jobs, "_EVERY", 0.0)
    monkeypatch.setattr(jobs, "_renew", failing(SystemExit))
    monkeypatch.setattr(type(jobs._queue.started_job_registry), "cleanup", lambda _: None)
    with pytest.raises(SystemExit):
        jobs._look_after()
    assert len(caplog.records) == ROUNDS


def test_rooms_are_followed_after_an_error(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    work = failing(asyncio.CancelledError)

    async def follow() -> None:
        work()

    monkeypatch.setattr(rooms, "_AGAIN", 0.0)
    with suppress(asyncio.CancelledError):
        asyncio.run(rooms.Rooms()._forever(follow))
    assert len(caplog.records) == ROUNDS
