"""Long work on a page: a button that starts it, how far it is, a button that stops it, and what has come so far."""

from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st
from streamlit.runtime import Runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx

from ui.jobs import Job, Jobs, Work

__all__ = ["leave_others", "long_work"]

_EVERY = 0.5  # seconds between two looks at what has come


@st.cache_resource(show_spinner=False)
def _jobs() -> Jobs:
    return Jobs(lambda visitor: Runtime.instance().is_active_session(visitor))


def long_work(name: str, label: str, work: Work, steps: int, show: Callable[[Sequence[Any]], None]) -> None:
    """Let a visitor start a piece of work, see it come, and stop it.

    name: of the work, one for each page. label: of the button. steps: how many results there will be.
    show: draws what has come so far.
    """
    job: Job | None = st.session_state.get(_key(name))
    started = st.button(label, key=f"start {name}", disabled=job is not None and not job.over)
    if started:
        st.session_state[_key(name)] = job = _jobs().start(_visitor(), work)
        st.rerun()
    if job is not None:
        st.fragment(_watch, run_every=None if job.over else _EVERY)(job, steps, show)


def leave_others(names: str) -> None:
    """End the work of every other page, for its visitor has left that. names: of this page's work, with spaces."""
    here = [_key(name) for name in names.split()]
    for key, job in st.session_state.to_dict().items():
        if isinstance(job, Job) and key not in here and not job.over:
            _jobs().stop(job)


def _watch(job: Job, steps: int, show: Callable[[Sequence[Any]], None]) -> None:
    """Show how a job stands; it runs again and again until the job is over."""
    over, results = job.over, list(job.results)
    with st.container(horizontal=True, vertical_alignment="center"):
        if over:
            st.markdown(_ended(job, len(results), steps))
        else:
            st.progress(min(len(results) / max(steps, 1), 1.0), _standing(job, len(results), steps))
            if st.button("Stop", key="stop"):
                _jobs().stop(job)
                st.rerun()
    if results:
        show(results)
    if over and not st.session_state.get(f"told {id(job)}"):
        st.session_state[f"told {id(job)}"] = True
        st.rerun()  # the button may be pressed again, and nobody needs to look any more


def _standing(job: Job, done: int, steps: int) -> str:
    before = _jobs().before(job)
    if before:
        return f"Waiting: {before} {'job' if before == 1 else 'jobs'} of other visitors first."
    return f"{done} of {steps}" if done else "Starting a process of its own."


def _ended(job: Job, done: int, steps: int) -> str:
    if job.state == "failed":
        return f":red[**It ended early.**] {job.reason}"
    return f"Stopped after {done} of {steps}." if job.state == "stopped" else f":green[**✓**] All {done} are done."


def _key(name: str) -> str:
    return f"job {name}"


def _visitor() -> str:
    context = get_script_run_ctx()
    assert context is not None
    return context.session_id
