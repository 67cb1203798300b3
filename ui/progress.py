"""Long work on a page: a button that starts it, how far it is, a button that stops it, and what has come so far."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st
from streamlit.runtime import Runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx

from ui.jobs import Job, Jobs, Work

__all__ = ["leave_others", "long_work"]

Show = Callable[[Sequence[Any]], None]
_EVERY = 0.5  # seconds between two looks at what has come


@dataclass(eq=False)
class _Started:
    """Hold a job as it was started: what of, how many results there will be, and how they are shown."""

    job: Job
    told: str
    steps: int
    show: Show
    seen: bool = False  # whether the page has been drawn since the job was over


@st.cache_resource(show_spinner=False)
def _jobs() -> Jobs:
    return Jobs(lambda visitor: Runtime.instance().is_active_session(visitor))


def long_work(name: str, label: str, told: str, work: Work, steps: int, show: Show) -> None:
    """Let a visitor start a piece of work, see it come, and stop it.

    name: of the work. label: of the button. told: what it would be done for now, in words. steps: how many results
    there will be. show: draws what has come so far. What is shown stays what it was started for.
    """
    started: _Started | None = st.session_state.get(_key(name))
    if st.button(label, key=f"start {name}", disabled=started is not None and not started.job.over):
        st.session_state[_key(name)] = _Started(_jobs().start(_visitor(), work), told, steps, show)
        st.rerun()
    if started is not None:
        started.seen = started.job.over
        st.fragment(_watch, run_every=None if started.seen else _EVERY)(name, started, told)


def leave_others(names: str) -> None:
    """End the work of every other page, for its visitor has left that. names: of this page's work, with spaces."""
    here = [_key(name) for name in names.split()]
    for key, started in st.session_state.to_dict().items():
        if isinstance(started, _Started) and key not in here:
            _jobs().stop(started.job)


def _watch(name: str, started: _Started, now: str) -> None:
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
        st.markdown(f":orange[**Not the settings above:**] these are the results of {started.told}.")
    if results:
        started.show(results)
    if over and not started.seen:
        st.rerun()  # the button may be pressed again, and nobody needs to look any more


def _standing(started: _Started, done: int) -> str:
    before = _jobs().before(started.job)
    if before:
        return f"Waiting: {before} {'job' if before == 1 else 'jobs'} of other visitors first."
    return f"{done} of {started.steps}" if done else "Starting a process of its own."


def _ended(started: _Started, done: int) -> str:
    if started.job.state == "failed":
        return f":red[**It ended early.**] {started.job.reason}"
    stopped = started.job.state == "stopped"
    return f"Stopped after {done} of {started.steps}." if stopped else f":green[**✓**] All {done} are done."


def _key(name: str) -> str:
    return f"job {name}"


def _visitor() -> str:
    context = get_script_run_ctx()
    assert context is not None
    return context.session_id
