"""Long work: in turn, in a process of its own, shared by who asks for the same, ended when nobody wants it any more."""

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
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

from ui.jobs import Jobs
from ui.work import GRACE, MAX_WAITING, MEMORY, TIME_LIMIT, State

pytestmark = pytest.mark.slow


@pytest.fixture
def jobs() -> Jobs:
    return Jobs(lambda _: True)


def test_what_is_yielded_arrives_in_order_from_another_process_which_ends_when_the_job_is_stopped(jobs: Jobs) -> None:
    counted, named = Visitor(jobs, "a", task(count, 50)), Visitor(jobs, "b", task(never_end))
    until(lambda: counted.over and named.results)
    assert (counted.state, counted.results) == ("done", list(range(50)))
    assert jobs.result(counted.key, since=48) == [48, 49]
    assert named.results != [os.getpid()]
    named.stop()
    assert named.state == "stopped"
    until(lambda: is_gone(named.results[0]))


def test_jobs_are_done_in_turn_and_know_their_place(jobs: Jobs) -> None:
    first, second = Visitor(jobs, "a", task(never_end, "1")), Visitor(jobs, "b", task(never_end, "2"))
    third = Visitor(jobs, "c", task(count, 3))
    until(lambda: first.results)
    assert [each.before for each in (first, second, third)] == [0, 1, 2]
    assert (second.state, third.state) == ("waiting", "waiting")
    second.stop()
    assert third.before == 1
    first.stop()
    until(lambda: third.over)
    assert third.results == [0, 1, 2]
    assert second.results == []


def test_thirty_who_ask_for_the_same_start_one_and_it_ends_with_the_last_of_them(jobs: Jobs) -> None:
    pupils = [Visitor(jobs, f"pupil {i}", task(never_end, "the same")) for i in range(30)]
    other = Visitor(jobs, "another", task(never_end, "not the same"))
    until(lambda: pupils[0].results)
    assert {pupil.results[0] for pupil in pupils} == set(pupils[0].results)
    assert (other.before, other.results) == (1, [])
    for pupil in pupils[:-1]:
        pupil.stop()
    time.sleep(0.5)
    assert pupils[-1].state == "running"
    pupils[-1].stop()
    until(lambda: is_gone(pupils[0].results[0]))
    assert jobs.position(other.key) == 0
    other.stop()


def test_who_comes_later_gets_the_results_at_once_but_a_measurement_is_made_anew(jobs: Jobs) -> None:
    first = Visitor(jobs, "a", task(count, 3))
    until(lambda: first.over)
    later = Visitor(jobs, "b", task(count, 3))
    assert (later.state, later.results) == ("done", [0, 1, 2])
    measured, again = task(count, 3, measures=True), task(count, 3, measures=True)
    assert measured.key != again.key


def test_what_did_not_come_to_its_end_is_begun_anew(jobs: Jobs) -> None:
    first = Visitor(jobs, "a", task(never_end))
    until(lambda: first.results)
    process = first.results[0]
    first.stop()
    again = Visitor(jobs, "a", task(never_end))
    until(lambda: again.results and again.results[0] != process)
    again.stop()


def test_measurements_are_made_one_at_a_time_on_a_machine_whoever_has_them_made(tmp_path: Path) -> None:
    servers = Jobs(lambda _: True), Jobs(lambda _: True)
    file = tmp_path / "processes"
    both = [Visitor(server, "a", task(time_it, file, measures=True)) for server in servers]
    until(lambda: all(each.over for each in both))
    began, ended, began_later, ended_later = file.read_text().split()
    assert began == ended != began_later == ended_later


def test_who_is_away_for_a_moment_keeps_the_job_and_who_stays_away_loses_it() -> None:
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
    assert job.state == "stopped"


def test_who_reloads_the_page_is_another_visitor_and_finds_the_same_job() -> None:
    there = {"before"}
    jobs = Jobs(there.__contains__, grace=1)
    job = Visitor(jobs, "before", task(never_end))
    until(lambda: job.results)
    there.remove("before")
    there.add("after")
    found = jobs.progress(job.key, "after")
    assert found is not None
    assert (found.task.told, found.state, found.done) == ("as it is told", "running", 1)
    time.sleep(2)
    assert not is_gone(job.results[0])
    jobs.stop(job.key, "after")
    until(lambda: is_gone(job.results[0]))


def test_nothing_is_known_of_a_job_that_nobody_asked_for_or_whose_results_are_kept_no_more() -> None:
    jobs = Jobs(lambda _: True, kept=0.5)
    assert jobs.progress("0123456789abcdef", "a") is None
    job = Visitor(jobs, "a", task(count, 1))
    until(lambda: job.over)
    time.sleep(1)
    other = Visitor(jobs, "a", task(count, 2))
    until(lambda: other.over)
    assert jobs.progress(job.key, "a") is None


def test_no_process_is_started_for_who_left_while_waiting(tmp_path: Path) -> None:
    there = {"a", "b", "c"}
    jobs = Jobs(there.__contains__, grace=0.5)
    first, left = Visitor(jobs, "a", task(never_end)), Visitor(jobs, "b", task(leave_a_trace, tmp_path / "started"))
    last = Visitor(jobs, "c", task(count, 1))
    until(lambda: first.results)
    assert last.before == 2
    there.remove("b")
    until(lambda: last.before == 1)  # while the first still runs
    assert (first.state, left.state) == ("running", "stopped")
    first.stop()
    until(lambda: last.over)
    assert not (tmp_path / "started").exists()


def test_who_is_away_lets_the_next_one_go_first() -> None:
    there = {"a"}
    jobs = Jobs(there.__contains__)
    away, here = Visitor(jobs, "b", task(count, 1)), Visitor(jobs, "a", task(count, 2))
    until(lambda: here.over)
    assert away.state == "waiting"
    there.add("b")
    until(lambda: away.over)
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
def test_why_a_job_ends_early_is_told_with_its_results_and_the_next_one_has_its_turn(
    work: Callable[..., Iterator[int]], state: State, reason: str
) -> None:
    jobs = Jobs(lambda _: True, limit=8 if state == "timeout" else TIME_LIMIT, memory=3 * 2**29)
    job, after = Visitor(jobs, "a", task(work)), Visitor(jobs, "b", task(count, 2))
    until(lambda: after.over)
    assert (job.state, len(job.results), after.state, after.results) == (state, 1, "done", [0, 1])
    assert reason in job.reason
    if state == "timeout":
        until(lambda: is_gone(job.results[0]))


def test_the_limits_are_five_minutes_four_gigabytes_and_half_a_minute_away() -> None:
    assert (TIME_LIMIT, MEMORY, GRACE) == (300, 4 * 2**30, 30)


def test_the_queue_has_an_end(jobs: Jobs) -> None:
    queued = [Visitor(jobs, f"visitor {i}", task(never_end, str(i))) for i in range(MAX_WAITING + 1)]
    refused = Visitor(jobs, "one more", task(never_end, "one more"))
    assert refused.state == "failed"
    assert str(MAX_WAITING) in refused.reason
    for each in reversed(queued):
        each.stop()
    again = Visitor(jobs, "one more", task(count, 1))
    until(lambda: again.over)
    assert again.state == "done"
