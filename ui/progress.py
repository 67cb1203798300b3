"""Long work on a page: a button that starts it, how far it is, a button that stops it, and what has come so far."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st
from streamlit.runtime import Runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx

from ui.jobs import TIME_LIMIT, Job, Jobs, Work
from ui.visit import visit

__all__ = ["Started", "leave_others", "long_work"]

Show = Callable[[Sequence[Any]], None]
_EVERY = {"queued": 3.0, "active": 0.5, "over": None}  # seconds between two looks at what has come


@dataclass(eq=False)
class Started:
    """Hold a job as it was started: what of, how many results there will be, and how they are shown.

    seen: where the job stood when the whole page was last drawn: a key of _EVERY.
    """

    job: Job
    told: str
    steps: int
    show: Show
    seen: str = "queued"


@st.cache_resource(show_spinner=False)
def _jobs() -> Jobs:
    return Jobs(lambda visitor: Runtime.instance().is_active_session(visitor))


def long_work(name: str, label: str, told: str, work: Work, steps: int, show: Show, takes: str = "") -> None:
    """Let a visitor start a piece of work, see it come, and stop it.

    name: of the work. label: of the button. told: what it would be done for now, in words. steps: how many results
    there will be. show: draws what has come so far. takes: a sentence on how long it takes. What is shown stays what it
    was started for.
    """
    started = visit().jobs.get(name)
    with st.container(horizontal=True, vertical_alignment="center"):
        if st.button(label, key=f"start {name}", disabled=started is not None and not started.job.over):
            visit().jobs[name] = Started(_jobs().start(_visitor(), work), told, steps, show)
            st.rerun()
        st.text(f"{takes} {_in_advance(name)}".strip())
    if started is not None:
        started.seen = _place(started.job)
        st.fragment(_watch, run_every=_EVERY[started.seen])(name, started, told)


def leave_others(names: str) -> None:
    """End the work of every other page, for its visitor has left that. names: of this page's work, with spaces."""
    for started in _others(names.split()):
        _jobs().stop(started.job)


def _others(names: Sequence[str]) -> list[Started]:
    """Return the visitor's work that is not over, but for that of these names."""
    return [each for name, each in visit().jobs.items() if name not in names and not each.job.over]


def _in_advance(name: str) -> str:
    """Say what a visitor should know before starting: the time limit, and what else would be stopped."""
    limit = f"Time limit: {TIME_LIMIT / 60:.0f} minutes; the results so far are kept."
    return f"{limit} Starting this stops the one that is running." if _others([name]) else limit


def _watch(name: str, started: Started, now: str) -> None:
    """Show how a job stands; it runs again and again until the job is over."""
    job, over, results = started.job, started.job.over, list(started.job.results)
    with st.container(horizontal=True, vertical_alignment="center"):
        if over:
            st.markdown(_ended(started, len(results)))
        else:
            st.progress(min(len(results) / max(started.steps, 1), 1.0), _standing(started, len(results)))
            if st.button("Stop", key=f"stop {name}"):
                _jobs().stop(job)
                st.rerun()
    if started.told != now:
        st.markdown(f":orange[**Other settings than those above:**] these are the results of {started.told}.")
    if results:
        started.show(results)
    if _place(job) != started.seen:
        st.rerun()  # to look more often, or no more; and once it is over the button may be pressed again


def _standing(started: Started, done: int) -> str:
    before = _jobs().before(started.job)
    if before:
        return f"Waiting: {before} {'job' if before == 1 else 'jobs'} of other visitors first."
    return f"{done} of {started.steps}" if done else "Starting a separate process."


def _ended(started: Started, done: int) -> str:
    job, so_far = started.job, f"{done} of {started.steps}"
    if job.state == "failed":
        return f":red[**It ended early.**] {job.reason}"
    if job.state == "timeout":
        return f":orange[**Time limit reached**] ({TIME_LIMIT / 60:.0f} minutes): {so_far} are done."
    if job.state == "stopped":
        return f"Stopped after {so_far}. {job.reason}"
    return f":green[**✓**] All {done} are done."


def _place(job: Job) -> str:
    """Return where a job stands: a key of _EVERY."""
    if job.over:
        return "over"
    return "queued" if _jobs().before(job) else "active"


def _visitor() -> str:
    context = get_script_run_ctx()
    assert context is not None
    return context.session_id
