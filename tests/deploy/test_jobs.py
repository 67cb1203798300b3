"""Long work: one job after another, each in its own process, shared by all who want the same, ended when nobody does.

On this machine, and by RQ's workers for the visitors of any number of servers.
"""

import os
import threading
import time
from collections.abc import Callable, Iterator
from itertools import count as numbers
from pathlib import Path
from typing import Any

import pytest
from rq.job import Job
from servers import a_worker
from work_cases import (
    Visitor,
    count,
    devour,
    devour_tensors,
    fail,
    is_gone,
    leave_a_trace,
    never_end,
    task,
    time_it,
    until,
    vanish,
)

from bench.servers import free_port
from ui.jobs.local import Jobs
from ui.jobs.redis_jobs import NO_WORKER, RedisJobs
from ui.jobs.work import MAX_WAITING, TIME_LIMIT, Backend, State
from ui.jobs.worker import LOST

pytestmark = pytest.mark.slow

Servers = Callable[..., tuple[Backend, Backend]]  # by who is there, and the limits
_fresh = map(str, numbers())  # what makes a task unlike those of other tests


@pytest.fixture
def jobs() -> Jobs:
    return Jobs(lambda _: True)


@pytest.fixture(params=["here", "redis"])
def servers(request: pytest.FixtureRequest) -> Servers:
    """Return a factory of two servers that share their jobs: the same one twice, or two with an RQ worker."""

    def make(present: Callable[[str], bool] = lambda _: True, **limits: Any) -> tuple[Backend, Backend]:
        if request.param == "here":
            return (Jobs(present, **limits),) * 2
        request.getfixturevalue("worker")
        url = request.getfixturevalue("redis_url")
        return RedisJobs(url, present, **limits), RedisJobs(url, present, **limits)

    return make


def test_jobs_run_in_turn_and_know_their_position(jobs: Jobs) -> None:
    first, second = Visitor(jobs, "a", task(never_end, "1")), Visitor(jobs, "b", task(never_end, "2"))
    third = Visitor(jobs, "c", task(count, 3))
    until(lambda: first.results)
    assert [each.now.before for each in (first, second, third)] == [0, 1, 2]
    assert (second.now.state, third.now.state) == ("waiting", "waiting")
    second.stop()
    assert third.now.before == 1
    first.stop()
    until(lambda: third.now.over)
    assert third.results == [0, 1, 2]
    assert second.results == []


def test_visitors_of_two_servers_share_one_job(servers: Servers) -> None:
    both, same, other = servers(), task(never_end, next(_fresh)), task(count, 50, next(_fresh))
    pupils = [Visitor(both[i % 2], f"pupil {i}", same) for i in range(30)]
    until(lambda: pupils[0].results)
    process = pupils[0].results[0]
    assert process != os.getpid()
    waiting = Visitor(both[1], "another", other)
    assert (waiting.now.state, waiting.now.before, waiting.results) == ("waiting", 1, [])
    for pupil in pupils[:-1]:
        pupil.stop()
    time.sleep(0.5)
    assert (pupils[-1].now.state, pupils[-1].results) == ("running", [process])
    pupils[-1].stop()
    until(lambda: is_gone(process))
    assert pupils[-1].now.state == "stopped"
    until(lambda: waiting.now.over)
    assert (waiting.now.state, waiting.results) == ("done", list(range(50)))
    assert both[0].result(waiting.key, since=48) == [48, 49]
    later = Visitor(both[0], "later", other)  # gets the results at once
    assert (later.now.state, later.results) == ("done", list(range(50)))
    again = Visitor(both[0], "again", same)  # what did not come to its end is begun anew
    until(lambda: again.results and again.results[0] != process)
    again.stop()


def test_measurements_are_repeated_and_run_one_at_a_time_on_a_machine(tmp_path: Path) -> None:
    servers = Jobs(lambda _: True), Jobs(lambda _: True)
    file = tmp_path / "processes"
    both = [Visitor(server, "a", task(time_it, file, measures=True)) for server in servers]
    assert both[0].key != both[1].key
    until(lambda: all(each.now.over for each in both))
    began, ended, began_later, ended_later = file.read_text().split()
    assert began == ended != began_later == ended_later


def test_a_visitor_who_stays_away_loses_the_job() -> None:
    there = {"a"}
    jobs = Jobs(there.__contains__, grace=2)
    job = Visitor(jobs, "a", task(never_end))
    until(lambda: job.results)
    there.remove("a")
    time.sleep(1)
    there.add("a")
    time.sleep(1.5)  # 2.5 seconds after the visitor was first away, who has come back since
    process = job.results[0]
    assert not is_gone(process)
    there.remove("a")
    time.sleep(1)
    assert not is_gone(process)
    until(lambda: is_gone(process))
    assert job.now.state == "stopped"


def test_a_visitor_finds_the_same_job_after_a_reload_and_at_another_server(servers: Servers) -> None:
    there = {"before"}
    lost, other = servers(there.__contains__, grace=4)  # each looks every two seconds
    job = Visitor(lost, "before", task(never_end, next(_fresh)))
    until(lambda: job.results)
    process = job.results[0]
    there.remove("before")
    there.add("after")
    found = other.progress(job.key, "after")
    assert found is not None
    assert (found.task.settings, found.state, found.done) == ("as it is told", "running", 1)
    time.sleep(6)
    assert not is_gone(process)
    other.stop(job.key, "after")
    until(lambda: is_gone(process))


def test_a_job_is_unknown_once_its_results_have_expired() -> None:
    jobs = Jobs(lambda _: True, kept=0.5)
    assert jobs.progress("0123456789abcdef", "a") is None
    job = Visitor(jobs, "a", task(count, 1))
    until(lambda: job.now.over)
    time.sleep(1)
    other = Visitor(jobs, "a", task(count, 2))
    until(lambda: other.now.over)
    assert jobs.progress(job.key, "a") is None


def test_no_process_is_started_for_a_visitor_who_left_while_waiting(servers: Servers, tmp_path: Path) -> None:
    there = {"a", "b", "c"}
    jobs, _ = servers(there.__contains__, grace=4)
    first = Visitor(jobs, "a", task(never_end, next(_fresh)))
    until(lambda: first.results)
    jobs.submit("b", left := task(leave_a_trace, tmp_path / "started"))
    there.remove("b")
    until(lambda: jobs.counts()["waiting"] == 0)  # while the first still runs
    assert first.now.state == "running"
    found = jobs.progress(left.key, "c")
    assert found is not None
    assert found.state == "stopped"
    first.stop()
    until(lambda: is_gone(first.results[0]))
    assert not (tmp_path / "started").exists()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_the_next_job_runs_after_an_error_has_ended_the_thread() -> None:
    failures = [LookupError("once")]

    def present(_: str) -> bool:
        if failures:
            raise failures.pop()
        return True

    jobs = Jobs(present)
    jobs.submit("a", task(count, 1, next(_fresh)))
    until(lambda: jobs._thread is not None and not jobs._thread.is_alive())
    job = Visitor(jobs, "b", task(count, 1, next(_fresh)))
    until(lambda: job.now.over)
    assert job.now.state == "done"


def test_a_job_whose_visitor_is_away_lets_the_next_one_go_first() -> None:
    there = {"a"}
    jobs = Jobs(there.__contains__)
    away, here = Visitor(jobs, "b", task(count, 1)), Visitor(jobs, "a", task(count, 2))
    until(lambda: here.now.over)
    assert away.now.state == "waiting"
    there.add("b")
    until(lambda: away.now.over)
    assert away.results == [0]


DEVOURED = "It needed more than 1.5 GB of memory, which is the limit for one job."


@pytest.mark.parametrize(
    ("work", "state", "reason"),
    [
        (never_end, "timeout", ""),
        (devour, "memory", DEVOURED),
        (devour_tensors, "memory", DEVOURED),
        (fail, "failed", "ValueError: no such thing"),
        (vanish, "failed", "ended before it was done"),
    ],
)
def test_a_job_that_ends_early_keeps_its_results_and_says_why(
    servers: Servers, work: Callable[..., Iterator[int]], state: State, reason: str
) -> None:
    jobs, _ = servers(limit=8 if state == "timeout" else TIME_LIMIT, memory=3 * 2**29)
    job, after = Visitor(jobs, "a", task(work)), Visitor(jobs, "b", task(count, 2, next(_fresh)))
    until(lambda: after.now.over)
    assert (job.now.state, len(job.results), after.now.state, after.results) == (state, 1, "done", [0, 1])
    assert reason in job.now.reason
    if state == "timeout":
        until(lambda: is_gone(job.results[0]))


def test_the_queue_is_bounded(jobs: Jobs) -> None:
    queued = [Visitor(jobs, f"visitor {i}", task(never_end, str(i))) for i in range(MAX_WAITING + 1)]
    refused = Visitor(jobs, "one more", task(never_end, "one more"))
    assert refused.now.state == "failed"
    assert str(MAX_WAITING) in refused.now.reason
    for each in reversed(queued):
        each.stop()
    again = Visitor(jobs, "one more", task(count, 1))
    until(lambda: again.now.over)
    assert again.now.state == "done"


def test_a_job_waits_for_a_worker_and_fails_with_it(redis_url: str) -> None:
    own = redis_url.removesuffix("/0") + "/1"  # whose only worker is killed
    jobs = RedisJobs(own, lambda _: True)
    job = Visitor(jobs, "a", task(never_end, next(_fresh)))
    assert (job.now.state, job.now.reason) == ("waiting", NO_WORKER)
    with a_worker(own) as process:
        until(lambda: job.results)
        assert (job.now.state, job.now.reason) == ("running", "")
        process.kill()
        until(lambda: is_gone(job.results[0]))
        registry = jobs._queue.started_job_registry
        assert not registry.get_expired_job_ids(time.time())
        registry.cleanup(time.time() + LOST)  # as after that time
        until(lambda: job.now.over)
        assert (job.now.state, job.now.reason) == ("failed", "Its process ended before it was done.")


def test_no_server_ends_a_job_while_another_submits_it(redis_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    own = redis_url.removesuffix("/0") + "/2"  # without a worker
    jobs, other = RedisJobs(own, lambda _: True), RedisJobs(own, lambda _: True)
    enqueue = jobs._queue.enqueue_call

    def look_and_enqueue(*arguments: Any, **settings: Any) -> None:
        other._end_the_unwanted()
        enqueue(*arguments, **settings)

    monkeypatch.setattr(jobs._queue, "enqueue_call", look_and_enqueue)
    assert Visitor(jobs, "a", task(count, 1, next(_fresh))).now.state == "waiting"


def test_a_visitor_who_submits_a_job_again_is_not_forgotten(redis_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    jobs = RedisJobs(redis_url.removesuffix("/0") + "/4", lambda _: True)  # without a worker
    jobs._wanted["key"] = {"earlier"}
    again = threading.Thread(target=jobs._want, args=("key", "a"))

    def sismember(*_: object) -> bool:
        again.start()
        again.join(0.3)  # as long as it takes, unless it has to wait for its turn
        return False  # that was true a moment ago: the earlier job is over

    monkeypatch.setattr(jobs._redis, "sismember", sismember)
    monkeypatch.setattr(jobs, "_thread", threading.current_thread())
    jobs._renew()
    again.join()
    assert jobs._wanted["key"] == {"a"}


def test_a_job_is_ended_although_one_of_its_executions_is_gone(redis_url: str) -> None:
    jobs = RedisJobs(redis_url.removesuffix("/0") + "/3", lambda _: True)  # without a worker
    job = Visitor(jobs, "a", task(count, 1, next(_fresh)))
    executions = Job.fetch(job.key, connection=jobs._redis).execution_registry
    jobs._redis.zadd(executions.key, {"0" * 32: time.time() + 60})  # as when a worker ends it at that moment
    jobs._end(job.key)
    assert job.now.state == "stopped"


def test_an_unreachable_redis_is_reported_in_one_sentence() -> None:
    jobs = RedisJobs(f"redis://127.0.0.1:{free_port()}/0", lambda _: True)
    for verb in (lambda: jobs.submit("a", task(count, 1)), lambda: jobs.progress("0123456789abcdef", "a"), jobs.counts):
        with pytest.raises(OSError, match=r"^The job queue cannot be reached\."):
            verb()
