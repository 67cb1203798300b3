"""Long work: in turn, in a process of its own, one job a visitor, ended when it is stopped or nobody is there."""

import os
import time
from collections.abc import Callable, Iterator
from functools import partial

import pytest

from ui.jobs import MOST_WAITING, Job, Jobs


def count(to: int) -> Iterator[int]:
    yield from range(to)


def name_process() -> Iterator[int]:
    yield os.getpid()


def never_end() -> Iterator[int]:
    yield os.getpid()
    while True:
        time.sleep(0.05)


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
    return Jobs(lambda visitor: visitor != "nobody")


def test_what_is_yielded_arrives_in_order_from_another_process(jobs: Jobs) -> None:
    counted, named = jobs.start("a", partial(count, 50)), jobs.start("b", name_process)
    until(lambda: counted.over and named.over)
    assert (counted.state, counted.results) == ("done", list(range(50)))
    assert named.results != [os.getpid()]


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


def test_a_stopped_job_ends_with_its_process(jobs: Jobs) -> None:
    job = jobs.start("a", never_end)
    until(lambda: bool(job.results))
    jobs.stop(job)
    assert job.state == "stopped"
    until(lambda: is_gone(job.results[0]))


def test_a_visitor_has_one_job_at_most(jobs: Jobs) -> None:
    old = jobs.start("a", never_end)
    until(lambda: bool(old.results))
    new = jobs.start("a", partial(count, 2))
    assert old.state == "stopped"
    until(lambda: new.over)
    assert new.results == [0, 1]


def test_who_has_left_is_waited_for_no_longer(jobs: Jobs) -> None:
    left, there = jobs.start("nobody", never_end), jobs.start("a", partial(count, 1))
    until(lambda: there.over)
    assert (left.state, there.state) == ("stopped", "done")


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
    queued = [jobs.start(f"visitor {i}", never_end) for i in range(MOST_WAITING + 1)]
    refused = jobs.start("one more", never_end)
    assert refused.state == "failed"
    assert str(MOST_WAITING) in refused.reason
    for job in reversed(queued):
        jobs.stop(job)
    until(lambda: jobs.before(queued[-1]) == 0)
    assert isinstance(queued[0], Job)
