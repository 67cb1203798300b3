"""Long work on a page: a button that starts it, its progress, a button that stops it, and the results so far.

The key of the work is in the address, so that it is found again
after a reload, or on another server.
"""

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import streamlit as st
from streamlit.runtime import Runtime

from packviz.text import sentences
from ui.jobs.local import Jobs
from ui.jobs.work import TIME_LIMIT, Backend, Progress, Task
from ui.state import address
from ui.state.visit import session_id, visit

_EVERY = {"queued": 3.0, "active": 0.5, "over": None}  # seconds between two checks for new results
_say = sentences(Path(__file__).with_suffix(".toml"))
_MINUTES = f"{TIME_LIMIT / 60:.0f}"


@dataclass(eq=False)
class Started:
    """A task that a visitor wants done: how it stood at the last look, and its results by then."""

    task: Task
    now: Progress
    results: list[Any] = field(default_factory=list)
    left: str | None = None  # why this visitor no longer wants it (others may); None while it is wanted
    seen: str = "queued"  # where it stood when the whole page was last drawn: a key of _EVERY

    @property
    def over(self) -> bool:
        """Whether nothing more will come for this visitor."""
        return self.left is not None or self.now.over

    def look(self) -> None:
        """Update the progress of the job, unless it is over for this visitor."""
        if not self.over:
            gone = Progress(self.task, "failed", len(self.results), reason="Its results are no longer kept.")
            self.now = backend().progress(self.task.key, session_id()) or gone

    def leave(self, reason: str = "") -> None:
        """Stop wanting the job. reason: why, in a sentence for the visitor."""
        if not self.over:
            self.left = reason
            with suppress(OSError):  # then it expires by itself
                backend().stop(self.task.key, session_id())

    @property
    def place(self) -> str:
        """The job's phase: a key of _EVERY."""
        return "over" if self.over else "queued" if self.now.state == "waiting" else "active"


@dataclass
class LongWork:
    """The long work that a visitor has started, by its name."""

    started: dict[str, Started] = field(default_factory=dict)


@st.cache_resource(show_spinner=False)
def backend() -> Backend:
    """Return what does the work of all visitors: this machine, or the workers there if REDIS_URL is set."""
    present, url = Runtime.instance().is_active_session, os.environ.get("REDIS_URL")
    if not url:
        return Jobs(present)
    from ui.jobs.redis_jobs import RedisJobs

    return RedisJobs(url, present)


def long_work(task: Task, label: str, takes: str = "") -> None:
    """Let a visitor start a task, watch its results arrive, and stop it.

    label: of the button. takes: a sentence on how long it takes. The results shown are those of the task as started.
    """
    name, started = task.name, visit(LongWork).started.get(task.name)
    with suppress(OSError):  # reported below
        started = started or _found(name)
        if started is not None:
            started.look()
            if started.left is None and "job" not in st.query_params:  # Back has led here from another page
                address.write("job", started.task.key)
    with st.container(horizontal=True, vertical_alignment="center"):
        pressed = st.button(label, key=f"start {name}", disabled=started is not None and not started.over)
        st.text(f"{takes} {_limit(replaces=bool(_others([name])))}".strip())
    with _or_a_warning():
        if pressed:
            _start(task)
    if started is not None:
        started.seen = started.place
        st.fragment(_watch, run_every=_EVERY[started.seen])(started, task.settings)


def leave_others(*names: str) -> None:
    """Stop wanting the work of other pages, which the visitor has left. names: of this page's work."""
    for started in _others(names):
        started.leave()


def _start(task: Task) -> None:
    """Start a task, and stop the one that the visitor started before."""
    for other in _others([task.name]):
        other.leave("Another one was started instead.")
    backend().submit(session_id(), task)
    visit(LongWork).started[task.name] = Started(task, Progress(task, "waiting", 0))
    address.write("job", task.key)
    st.rerun()


@contextmanager
def _or_a_warning() -> Iterator[None]:
    """Show a warning if the job queue cannot be reached."""
    try:
        yield
    except OSError as problem:
        st.text(f"⚠ {problem}")


def _found(name: str) -> Started | None:
    """Return the work of this name that the address refers to, if its results still exist."""
    key = st.query_params.get("job", "")
    now = backend().progress(key, session_id()) if re.fullmatch("[0-9a-f]{16}", key) else None
    if now is None or now.task.name != name:
        return None
    visit(LongWork).started[name] = Started(now.task, now)
    return visit(LongWork).started[name]


def _others(names: Sequence[str]) -> list[Started]:
    """Return the visitor's unfinished work, except that of these names."""
    return [each for name, each in visit(LongWork).started.items() if name not in names and not each.over]


def _watch(started: Started, settings: str) -> None:
    """Show a job's progress and its results so far, repeatedly until it is over.

    settings: those that it would be started with now.
    """
    with _or_a_warning():
        started.look()
    with st.container(horizontal=True, vertical_alignment="center"):
        if started.over:
            st.markdown(_ended(started))
        else:
            st.progress(min(started.now.done / max(started.task.steps, 1), 1.0), _standing(started))
            # A callback runs first: otherwise another run may end this one before it reaches the button.
            st.button("Stop", key=f"stop {started.task.name}", on_click=started.leave)
    if started.task.settings != settings:
        st.markdown(f":orange[**For settings other than those above:**] {started.task.settings}.")
    _results(started)
    if started.place != started.seen:
        st.rerun()  # to check at another rate; and once it is over the button may be pressed again


def _limit(*, replaces: bool) -> str:
    """Return how long the work may take, and whether it replaces other work."""
    return _say("work.limit", *(["work.replaces"] if replaces else []), minutes=_MINUTES)


def _standing(started: Started) -> str:
    """Return how far a job is that is not over."""
    now = started.now
    if now.reason:
        return now.reason
    said = "waiting" if now.before else "done" if now.done else "starting"
    return _say(f"work.{said}", before=now.before, done=now.done, steps=started.task.steps)


def _ended(started: Started) -> str:
    """Return how a job ended, and why."""
    now, one, reason = started.now, "_one" if started.now.done == 1 else "", started.now.reason
    if started.left is not None or now.state == "stopped":
        said, reason = "stopped", started.left or ""
    elif now.state in ("timeout", "memory", "failed"):
        said = now.state
    elif now.age < 60:
        said = f"finished{one}"
    else:  # of a measurement each run has its own numbers
        said = f"finished_before{one}" if started.task.measures else f"kept{one}"
    known = {"done": now.done, "steps": started.task.steps, "minutes": _MINUTES, "ago": round(now.age / 60)}
    return _say(f"work.{said}", reason=reason, **known)


def _results(started: Started) -> None:
    """Show the results so far."""
    with _or_a_warning():
        if started.left is None:
            started.results += backend().result(started.task.key, len(started.results))
    if started.results:
        started.task.show(started.results)
