"""What a page says about long work: its time limit in advance, and why a job has ended."""

import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from ui import progress
from ui.jobs import Jobs
from ui.progress import Started
from ui.visit import Visit
from ui.work import TIME_LIMIT, Progress, State, Task

COST = str(Path(__file__).parents[2] / "pages" / "7_cost.py")
VISITOR = "test session id"  # as AppTest calls it
LIMIT = "Time limit: 5 minutes; the results so far are kept."


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[AppTest]:
    """Open the page of costs, for a visitor who is there; no job is left running. The parameter is the time limit."""
    jobs = Jobs(lambda _: True, limit=getattr(request, "param", TIME_LIMIT))
    monkeypatch.setattr(progress, "backend", lambda: jobs)
    page = AppTest.from_file(COST, default_timeout=60).run()
    yield page
    for each in page.session_state["visit"].jobs.values():
        jobs.stop(each.task.key, VISITOR)


def job(page: AppTest, name: str) -> Started:
    visited: Visit = page.session_state["visit"]
    return visited.jobs[name]


def texts(page: AppTest) -> str:
    return "\n".join(each.value for each in (*page.text, *page.markdown))


def until(page: AppTest, true: Callable[[], bool]) -> None:
    """Look at the page again and again until something is so."""
    deadline = time.monotonic() + 60
    while not true():
        assert time.monotonic() < deadline, texts(page)
        time.sleep(0.2)
        page.run()


def test_the_time_limit_is_said_in_advance(page: AppTest) -> None:
    assert texts(page).count(LIMIT) == 2  # at both buttons


def test_a_second_measurement_says_that_it_stops_the_first_and_the_first_says_so_too(page: AppTest) -> None:
    warning = "Starting this stops the one that is running."
    assert warning not in texts(page)
    page.button(key="start measure").click().run()
    assert texts(page).count(warning) == 1  # at the other button
    page.button(key="start sweep").click().run()
    assert (job(page, "measure").over, job(page, "sweep").over) == (True, False)
    assert "Another one was started in its place." in texts(page)


@pytest.mark.slow
def test_after_back_the_address_names_the_work_again(page: AppTest) -> None:
    page.button(key="start sweep").click().run()
    del page.query_params["job"]
    page.run()
    assert page.query_params["job"] == job(page, "sweep").task.key


@pytest.mark.parametrize("page", [0.5], indirect=True)
def test_a_job_that_reaches_its_time_limit_says_so_with_its_results(page: AppTest) -> None:
    page.button(key="start sweep").click().run()
    until(page, lambda: job(page, "sweep").over)
    page.run()
    assert job(page, "sweep").now.state == "timeout"
    assert "Time limit reached" in texts(page)
    assert f"{len(job(page, 'sweep').results)} of" in texts(page)
    assert not page.button(key="start sweep").disabled


def test_without_the_queue_the_page_says_so_and_shows_all_else(monkeypatch: pytest.MonkeyPatch) -> None:
    def away(*_: object) -> None:
        raise OSError("The queue of long work cannot be reached now.")

    jobs = Jobs(lambda _: True)
    monkeypatch.setattr(jobs, "submit", away)
    monkeypatch.setattr(progress, "backend", lambda: jobs)
    page = AppTest.from_file(COST, default_timeout=60).run()
    page.button(key="start measure").click().run()
    assert "⚠ The queue of long work cannot be reached now." in texts(page)
    assert not page.button(key="start measure").disabled
    assert page.get_by_key("counts") is not None


@pytest.mark.parametrize(
    ("state", "age", "told"),
    [
        ("done", 5, ":green[**✓**] All 3 are done."),
        ("done", 1800, "All 3 were done 30 minutes ago: the same settings and seeds give the same numbers."),
        ("memory", 0, ":orange[**Memory limit reached**]: 3 of 4 are done. It needed too much."),
        ("stopped", 0, "Stopped after 3 of 4."),
        ("failed", 0, ":red[**It ended early.**] It needed too much."),
    ],
)
def test_how_a_job_ended_is_said_in_a_sentence(state: State, age: float, told: str) -> None:
    task = Task("train", "as it is told", 4, partial(iter, ()), print)
    reason = "It needed too much." if state in ("memory", "failed") else ""
    assert told in progress._ended(Started(task, Progress(task, state, 3, reason, age)))
