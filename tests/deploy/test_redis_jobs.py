"""Long work by RQ's workers: the same five verbs, for the visitors of any number of servers."""

import time
from collections.abc import Callable, Iterator
from itertools import count as numbers

import pytest
from servers import a_worker
from work_cases import Visitor, count, devour, fail, is_gone, never_end, task, until, vanish

from bench.servers import free_port
from ui.redis_jobs import NO_WORKER, RedisJobs
from ui.worker import LOST

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("worker")]

_fresh = numbers()


@pytest.fixture
def servers(redis_url: str) -> tuple[RedisJobs, RedisJobs]:
    """Return two servers whose visitors are all there."""
    return RedisJobs(redis_url, lambda _: True), RedisJobs(redis_url, lambda _: True)


def unlike_before() -> str:
    """Return an argument that makes a task unlike those of other tests."""
    return f"{next(_fresh)}"


def test_thirty_who_ask_two_servers_for_the_same_start_one_and_it_ends_with_the_last_of_them(
    servers: tuple[RedisJobs, RedisJobs],
) -> None:
    same, other = task(never_end, unlike_before()), task(count, 3, unlike_before())
    pupils = [Visitor(servers[i % 2], f"pupil {i}", same) for i in range(30)]
    until(lambda: pupils[0].results)
    process = pupils[0].results[0]
    waiting = Visitor(servers[1], "another", other)
    assert (waiting.state, waiting.before) == ("waiting", 1)
    for pupil in pupils[:-1]:
        pupil.stop()
    assert (pupils[-1].state, pupils[-1].results) == ("running", [process])
    pupils[-1].stop()
    until(lambda: is_gone(process))
    assert pupils[-1].state == "stopped"
    until(lambda: waiting.over)
    assert (waiting.state, waiting.results) == ("done", [0, 1, 2])
    assert servers[0].result(waiting.key, since=2) == [2]
    later = Visitor(servers[0], "later", other)
    assert (later.state, later.results) == ("done", [0, 1, 2])


def test_the_work_of_a_server_that_is_gone_goes_on_if_its_visitor_comes_to_another_and_ends_if_not(
    redis_url: str,
) -> None:
    there = {"a", "b"}
    lost = RedisJobs(redis_url, lambda visitor: visitor in there, grace=2)
    other = RedisJobs(redis_url, lambda _: True, grace=2)
    job = Visitor(lost, "a", task(never_end, unlike_before()))
    until(lambda: job.results)
    process = job.results[0]
    there.clear()  # nobody renews what its visitors want
    found = other.progress(job.key, "a, who is new here")
    assert found is not None
    assert (found.task.told, found.state, found.done) == ("as it is told", "running", 1)
    time.sleep(4)
    assert not is_gone(process)
    other.stop(job.key, "a, who is new here")
    until(lambda: is_gone(process))


@pytest.mark.parametrize(
    ("work", "state", "reason"),
    [
        (never_end, "timeout", ""),
        (devour, "memory", "It needed more than 1.5 GB of memory, which is the limit for one job."),
        (fail, "failed", "ValueError: no such thing"),
        (vanish, "failed", "Its process ended before it was done."),
    ],
)
def test_why_a_job_ends_early_is_told_with_its_results(
    redis_url: str, work: Callable[..., Iterator[int]], state: str, reason: str
) -> None:
    jobs = RedisJobs(redis_url, lambda _: True, limit=3, memory=3 * 2**29)
    job = Visitor(jobs, "a", task(work))
    until(lambda: job.over)
    assert (job.state, job.reason, len(job.results)) == (state, reason, 1)


def test_who_is_away_for_too_long_loses_the_job_even_while_it_waits(redis_url: str) -> None:
    there = {"a", "b"}
    jobs = RedisJobs(redis_url, there.__contains__, grace=3)
    runs = Visitor(jobs, "a", task(never_end, unlike_before()))
    until(lambda: runs.results)
    jobs.submit("b", waits := task(count, 1, unlike_before()))
    there.remove("b")
    until(lambda: jobs._queue.count == 0)
    assert not is_gone(runs.results[0])
    found = jobs.progress(waits.key, "c")
    assert found is not None
    assert found.state == "stopped"
    runs.stop()


def test_a_job_waits_for_a_worker_and_fails_with_it(redis_url: str) -> None:
    own = redis_url.removesuffix("/0") + "/1"  # whose only worker is killed
    jobs = RedisJobs(own, lambda _: True)
    job = Visitor(jobs, "a", task(never_end, unlike_before()))
    assert (job.state, job.reason) == ("waiting", NO_WORKER)
    with a_worker(own) as process:
        until(lambda: job.results)
        assert (job.state, job.reason) == ("running", "")
        process.kill()
        until(lambda: is_gone(job.results[0]))
        registry = jobs._queue.started_job_registry
        assert not registry.get_expired_job_ids(time.time())
        registry.cleanup(time.time() + LOST)  # as after that time
        until(lambda: job.over)
        assert (job.state, job.reason) == ("failed", "Its process ended before it was done.")


def test_a_redis_that_is_away_is_told_in_a_sentence() -> None:
    jobs = RedisJobs(f"redis://127.0.0.1:{free_port()}/0", lambda _: True)
    for verb in (lambda: jobs.submit("a", task(count, 1)), lambda: jobs.progress("0123456789abcdef", "a"), jobs.counts):
        with pytest.raises(OSError, match=r"^The queue of long work cannot be reached now\."):
            verb()
