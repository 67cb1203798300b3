"""Long work: in turn, in a process of its own, one job a visitor, ended when it is stopped or nobody is there."""

import os
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from ui.jobs import GRACE, MAX_WAITING, TIME_LIMIT, Jobs


def count(to: int) -> Iterator[int]:
    yield from range(to)


def never_end() -> Iterator[int]:
    yield os.getpid()
    while True:
        time.sleep(0.05)


def leave_a_trace(file: Path) -> Iterator[int]:
    file.touch()
    yield 1


def fail() -> Iterator[int]:
    yield 1
    raise ValueError("no such thing")


def vanish() -> Iterator[int]:
    yield 1
    os._exit(3)


def until(true: Callable[[], bool]) -> None:
    """Wait until something is so; if it never is, that is a failure."""
    deadline = time.monotonic() + 60
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def is_gone(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    return False


@pytest.fixture
def jobs() -> Jobs:
    return Jobs(lambda _: True)


def test_what_is_yielded_arrives_in_order_from_another_process_which_ends_when_the_job_is_stopped(jobs: Jobs) -> None:
    counted, named = jobs.start("a", partial(count, 50)), jobs.start("b", never_end)
    until(lambda: counted.over and bool(named.results))
    assert (counted.state, counted.results) == ("done", list(range(50)))
    assert named.results != [os.getpid()]
    jobs.stop(named)
    assert str(named.state) == "stopped"
    until(lambda: is_gone(named.results[0]))


def test_jobs_are_done_in_turn_and_know_their_place(jobs: Jobs) -> None:
    first, second, third = jobs.start("a", never_end), jobs.start("b", never_end), jobs.start("c", partial(count, 3))
    until(lambda: bool(first.results))
    assert [jobs.before(job) for job in (first, second, third)] == [0, 1, 2]
    assert (second.state, third.state) == ("waiting", "waiting")
    jobs.stop(second)
    assert jobs.before(third) == 1
    jobs.stop(first)
    until(lambda: third.over)
    assert third.results == [0, 1, 2]
    assert second.results == []


def test_a_visitor_has_one_job_at_most(jobs: Jobs) -> None:
    old = jobs.start("a", never_end)
    until(lambda: bool(old.results))
    new = jobs.start("a", partial(count, 2))
    assert (old.state, old.reason) == ("stopped", "Another one was started in its place.")
    until(lambda: new.over)
    assert new.results == [0, 1]


def test_who_is_away_for_a_moment_keeps_the_job_and_who_stays_away_loses_it() -> None:
    there = {"a"}
    jobs = Jobs(there.__contains__, grace=2)
    job = jobs.start("a", never_end)
    until(lambda: bool(job.results))
    there.remove("a")
    time.sleep(1)
    there.add("a")
    time.sleep(1.5)  # 2.5 seconds after the visitor was first away, who has come back since
    assert job.state == "running"
    there.remove("a")
    until(lambda: job.over)
    assert str(job.state) == "stopped"
    until(lambda: is_gone(job.results[0]))


def test_no_process_is_started_for_who_left_while_waiting(tmp_path: Path) -> None:
    there = {"a", "b", "c"}
    jobs = Jobs(there.__contains__, grace=0.5)
    first, left, last = (
        jobs.start("a", never_end),
        jobs.start("b", partial(leave_a_trace, tmp_path / "started")),
        jobs.start("c", partial(count, 1)),
    )
    until(lambda: bool(first.results))
    assert jobs.before(last) == 2
    there.remove("b")
    until(lambda: jobs.before(last) == 1)  # while the first still runs
    assert (first.state, left.state) == ("running", "stopped")
    jobs.stop(first)
    until(lambda: last.over)
    assert not (tmp_path / "started").exists()


def test_who_is_away_lets_the_next_one_go_first() -> None:
    there = {"a"}
    jobs = Jobs(there.__contains__)
    away, here = jobs.start("b", partial(count, 1)), jobs.start("a", partial(count, 1))
    until(lambda: here.over)
    assert away.state == "waiting"
    there.add("b")
    until(lambda: away.over)
    assert away.results == [0]


def test_a_job_has_a_time_limit_and_keeps_what_it_has_by_then() -> None:
    jobs = Jobs(lambda _: True, limit=8)
    job, after = jobs.start("a", never_end), jobs.start("b", partial(count, 2))
    until(lambda: job.over)
    assert job.state == "timeout"
    until(lambda: is_gone(job.results[0]))
    until(lambda: after.over)
    assert (after.state, after.results) == ("done", [0, 1])


def test_the_time_limit_is_five_minutes_and_the_grace_half_a_minute() -> None:
    assert (TIME_LIMIT, GRACE) == (300, 30)


@pytest.mark.parametrize(
    ("work", "reason"), [(fail, "ValueError: no such thing"), (vanish, "ended before it was done")]
)
def test_what_fails_says_why_and_the_next_job_has_its_turn(
    jobs: Jobs, work: Callable[[], Iterator[int]], reason: str
) -> None:
    failing, next_one = jobs.start("a", work), jobs.start("b", partial(count, 1))
    until(lambda: next_one.over)
    assert (failing.state, failing.results) == ("failed", [1])
    assert reason in failing.reason
    assert next_one.state == "done"


def test_the_queue_has_an_end(jobs: Jobs) -> None:
    queued = [jobs.start(f"visitor {i}", never_end) for i in range(MAX_WAITING + 1)]
    refused = jobs.start("one more", never_end)
    assert refused.state == "failed"
    assert str(MAX_WAITING) in refused.reason
    for job in reversed(queued):
        jobs.stop(job)
    again = jobs.start("one more", partial(count, 1))
    until(lambda: again.over)
    assert again.state == "done"
