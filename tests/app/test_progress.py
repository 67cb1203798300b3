"""Long work on a page: its time limit, its progress, who finds it again, and why it ended.

In a browser: it survives a reload, is drawn only when there is something new, and can be stopped.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial

import pytest
import tabs
from playwright.sync_api import expect
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.testing.v1 import AppTest
from visits import Open
from work_cases import until

from packviz.lab.training import Experiment
from pages import opened, texts
from ui.jobs.local import Jobs
from ui.jobs.work import TIME_LIMIT, Progress, State, Task
from ui.parts import progress
from ui.parts.progress import LongWork, Started

LONG = 120_000  # ms that a process may take to start and do a little work on a busy machine
LIMIT = "The time limit is 5 minutes, and results are kept."


@pytest.fixture
def jobs(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[Jobs]:
    """Run the jobs of pages until the test ends. The parameter is the time limit."""
    present = True
    jobs = Jobs(lambda _: present, limit=getattr(request, "param", TIME_LIMIT), grace=0)
    monkeypatch.setattr(progress, "backend", lambda: jobs)
    yield jobs
    present = False


@pytest.fixture
def page(jobs: Jobs) -> AppTest:
    """Open the page of costs."""
    assert not jobs.counts()["running"]
    return opened("cost")


def job(page: AppTest, name: str) -> Started:
    own: LongWork = page.session_state["visit"][LongWork]
    return own.started[name]


def test_the_limits_of_a_measurement_are_said_in_advance(page: AppTest) -> None:
    assert texts(page).count(LIMIT) == 2  # at both buttons
    warning = "Starting this stops the one that is running."
    assert warning not in texts(page)
    page.button(key="start measure").click().run()
    assert texts(page).count(warning) == 1  # at the other button
    page.button(key="start sweep").click().run()
    assert (job(page, "measure").over, job(page, "sweep").over) == (True, False)
    assert "Another one was started instead." in texts(page)


@pytest.mark.slow
@pytest.mark.usefixtures("jobs")
def test_a_finished_training_says_which_settings_it_was_for() -> None:
    page = opened("training", {"cell": "rnn", "train_seeds": 1})
    for key, one in (("train_readouts", "packed"), ("train_pads", 0)):
        page.button_group(key=key).set_value([one]).run()
    assert page.button(key="start train").label == "Train 1 model (rnn)"
    page.button(key="start train").click().run()
    until(lambda: job(page.run(), "train").over)
    page.run()
    assert f"All {Experiment().epochs} are done" in texts(page)
    assert not [each for each in page.button if each.label == "Stop"]
    assert "All epochs as CSV" in [each.proto.label for each in page.get("download_button")]
    page.button_group(key="cell").set_value("lstm").run()
    assert "For settings other than those above:**] RNN, Japanese vowels" in texts(page)


@pytest.mark.slow
@pytest.mark.usefixtures("jobs")
def test_the_address_finds_running_work_again() -> None:
    first = opened("training", {"train_seeds": 2})
    first.button(key="start train").click().run()
    until(lambda: job(first.run(), "train").results)
    again = opened("training", dict(first.query_params))
    assert job(again, "train").task.key == job(first, "train").task.key
    assert again.button(key="start train").disabled
    assert "For settings other" not in texts(again)
    other = opened("cost")
    other.button(key="start sweep").click().run()
    assert "Waiting for 1 job from other visitors." in [each.proto.text for each in other.get("progress")]
    first.switch_page("pages/overview.py").run()
    until(lambda: job(other.run(), "sweep").results)


@pytest.mark.slow
def test_after_back_the_address_has_the_job_again(page: AppTest) -> None:
    page.button(key="start sweep").click().run()
    del page.query_params["job"]
    page.run()
    assert page.query_params["job"] == job(page, "sweep").task.key


@pytest.mark.parametrize("jobs", [0.5], indirect=True)
def test_a_job_that_reaches_its_time_limit_says_so_with_its_results(page: AppTest) -> None:
    page.button(key="start sweep").click().run()
    until(lambda: job(page.run(), "sweep").over)
    page.run()
    assert job(page, "sweep").now.state == "timeout"
    assert "Time limit reached" in texts(page)
    assert f"{len(job(page, 'sweep').results)} of" in texts(page)
    assert not page.button(key="start sweep").disabled


def test_without_the_job_queue_the_page_says_so_and_shows_everything_else(monkeypatch: pytest.MonkeyPatch) -> None:
    def away(*_: object) -> None:
        raise OSError("The job queue cannot be reached.")

    jobs = Jobs(lambda _: True)
    monkeypatch.setattr(jobs, "submit", away)
    monkeypatch.setattr(progress, "backend", lambda: jobs)
    page = opened("cost")
    page.button(key="start measure").click().run()
    assert "⚠ The job queue cannot be reached." in texts(page)
    assert not page.button(key="start measure").disabled
    assert page.get_by_key("counts") is not None


@pytest.mark.parametrize(
    ("state", "age", "told"),
    [
        ("done", 5, ":green[**✓**] All 3 are done."),
        ("done", 1800, "All 3 were done 30 minutes ago: the same settings and seeds give the same numbers."),
        ("memory", 0, ":orange[**Memory limit reached**]: 3 of 4 done. It needed too much."),
        ("stopped", 0, "Stopped after 3 of 4."),
        ("failed", 0, ":red[**It ended early.**] It needed too much."),
    ],
)
def test_how_a_job_ended_is_said_in_a_sentence(state: State, age: float, told: str) -> None:
    task = Task("train", "as it is told", 4, partial(iter, ()), print)
    reason = "It needed too much." if state in ("memory", "failed") else ""
    assert told in progress._ended(Started(task, Progress(task, state, 3, 0, reason, age)))


def test_a_training_survives_a_reload_and_can_be_stopped(visit: Open) -> None:
    long = {"train_seeds": 2, "train_both": True}
    visited = visit(long, path="training")
    other = visit()
    train = visited.main.get_by_role("button", name=re.compile("^Train 24 models"))
    train.click()
    progress = visited.main.get_by_text(re.compile(r"^\d+ of 288$"))
    expect(progress.first).to_be_visible(timeout=LONG)
    asked = visited.query
    heard = Heard()
    visited.page.on("websocket", lambda socket: socket.on("framereceived", heard.take))
    visited.page.reload()
    expect(progress.first).to_be_visible(timeout=LONG)
    assert visited.query == asked
    expect(train).to_be_disabled()
    other.press("ArrowRight")
    assert other.data("step") == "2"
    learning = visited.main.locator(".st-key-learning-0-now").get_by_role("figure")
    expect(learning).to_be_visible(timeout=LONG)
    tabs.until(visited.page, lambda: len(heard.with_charts) >= 3)
    visited.main.get_by_role("button", name="Stop").click()
    expect(visited.main.get_by_text("Stopped after")).to_be_visible(timeout=LONG)
    expect(learning).to_be_visible()
    expect(train).to_be_enabled(timeout=LONG)


@dataclass
class Heard:
    """What the browser received: the progress, and the progress in each run of a fragment that drew charts."""

    progress: str = ""
    runs: int = 0
    of_the_page: bool = True
    with_charts: dict[int, str] = field(default_factory=dict)

    def take(self, data: str | bytes) -> None:
        """Note what a message says."""
        assert isinstance(data, bytes)
        message = ForwardMsg.FromString(data)
        element = message.delta.new_element
        if message.WhichOneof("type") == "new_session":
            self.runs, self.of_the_page = self.runs + 1, not message.metadata.run.fragment_ids
        elif element.WhichOneof("type") == "progress":
            self.progress = element.progress.text
        elif element.WhichOneof("type") == "plotly_chart" and not self.of_the_page:
            self.with_charts.setdefault(self.runs, self.progress)
