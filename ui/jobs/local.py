"""Long work on this machine, outside the page runs: each job in a separate process, one after another.

A process, not a thread: it does not block the server's Python, it may change process-wide settings, and it can be
ended at any moment.
"""

import multiprocessing
import signal
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from multiprocessing.connection import Connection
from typing import Any

from ui.jobs.work import GRACE, KEPT, MAX_WAITING, MEMORY, TIME_LIMIT, Progress, State, Task, Work, do

_GLANCE = 0.1  # seconds between two checks whether a job is still wanted
_MAX_KEPT = 20  # jobs that are over
_SPAWN = multiprocessing.get_context("spawn")  # a fork would copy the server's locks as they happen to be


@dataclass(eq=False)
class _Job:
    """A task, its results so far, and its state."""

    task: Task
    wanted: dict[str, float] = field(default_factory=dict)  # when each visitor who wants it was last present
    results: list[Any] = field(default_factory=list)
    state: State = "waiting"
    reason: str = ""
    ended: float | None = None  # when it was over


@dataclass(eq=False)
class Jobs:
    """A queue of jobs and the one thread that runs them: the `Backend` of `ui.jobs.work` on this machine.

    present: returns whether a visitor is there; no job is started for visitors who are all away. limit, memory: seconds
    and bytes that a job may have; its results so far stay. grace, kept: as in `ui.jobs.work`.
    """

    present: Callable[[str], bool]
    _: KW_ONLY
    limit: float = TIME_LIMIT
    memory: int = MEMORY
    grace: float = GRACE
    kept: float = KEPT
    _jobs: dict[str, _Job] = field(default_factory=dict, init=False)  # by key, in the order in which they came
    _changed: threading.Condition = field(default_factory=threading.Condition, init=False)
    _thread: threading.Thread | None = field(default=None, init=False)

    def submit(self, visitor: str, task: Task) -> None:
        with self._changed:
            job = self._jobs.get(task.key)
            if job is None or (job.ended and job.state != "done"):
                self._jobs.pop(task.key, None)
                job = self._jobs[task.key] = _Job(task)
                if len(self._queue()) > MAX_WAITING + 1:  # one of them runs
                    self._end(job, "failed", f"{MAX_WAITING} other jobs are already waiting: try again later.")
            job.wanted[visitor] = time.monotonic()
            if self._thread is None or not self._thread.is_alive():  # an error in `present` has ended it
                self._thread = threading.Thread(target=self._serve, name="packviz jobs", daemon=True)
                self._thread.start()
            self._changed.notify_all()

    def progress(self, key: str, visitor: str) -> Progress | None:
        with self._changed:
            job = self._jobs.get(key)
            if job is None:
                return None
            job.wanted[visitor] = now = time.monotonic()
            queue = self._queue()
            before = queue.index(job) if job in queue else 0
            return Progress(job.task, job.state, len(job.results), before, job.reason, now - (job.ended or now))

    def stop(self, key: str, visitor: str) -> None:
        with self._changed:
            job = self._jobs.get(key)
            if job is not None and job.wanted.pop(visitor, None) is not None and not job.wanted:
                self._end(job, "stopped")

    def result(self, key: str, since: int = 0) -> list[Any]:
        with self._changed:
            return self._jobs[key].results[since:] if key in self._jobs else []

    def counts(self) -> Mapping[State, int]:
        with self._changed:
            states = [job.state for job in self._queue()]
        return {"waiting": states.count("waiting"), "running": states.count("running")}

    def _queue(self) -> list[_Job]:
        """Return the unfinished jobs; a running one comes first."""
        return sorted((job for job in self._jobs.values() if not job.ended), key=lambda job: job.state != "running")

    def _end(self, job: _Job, state: State, reason: str = "") -> None:
        with self._changed:
            if not job.ended:
                job.state, job.reason, job.ended = state, reason, time.monotonic()
            self._changed.notify_all()

    def _serve(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(self._queue)
                self._look_after()
                wanted = [job for job in self._queue() if any(map(self.present, job.wanted))]
                if not wanted:
                    self._changed.wait(_GLANCE)
                    continue
                job = wanted[0]
                job.state = "running"
            self._run(job)

    def _look_after(self) -> None:
        """End the jobs of visitors who have been away for too long, and forget old results."""
        now = time.monotonic()
        with self._changed:
            for job in self._queue():
                for visitor, seen in list(job.wanted.items()):
                    if self.present(visitor):
                        job.wanted[visitor] = now
                    elif now - seen > self.grace:
                        self.stop(job.task.key, visitor)
            over = sorted((job.ended, key) for key, job in self._jobs.items() if job.ended)
            for ended, key in over:
                if now - ended > self.kept or key in [each for _, each in over[:-_MAX_KEPT]]:
                    del self._jobs[key]

    def _run(self, job: _Job) -> None:
        """Run a job in a process and take what it sends, until it ends, is stopped, or its time is up."""
        end = time.monotonic() + self.limit
        ours, theirs = _SPAWN.Pipe(duplex=False)
        work = (job.task.work, job.task.measures, self.memory, theirs)
        process = _SPAWN.Process(target=_work, args=work, name="packviz job", daemon=True)
        try:
            process.start()
            theirs.close()
            while not job.ended:
                self._look_after()
                self._take(job, ours)
                if time.monotonic() > end:
                    self._end(job, "timeout")
        except Exception as problem:  # whatever it is, the next job must have its turn
            self._end(job, "failed", f"{type(problem).__name__}: {problem}")
        finally:
            if process.pid is not None:
                process.kill()
                process.join()
            ours.close()

    def _take(self, job: _Job, ours: Connection) -> None:
        if not ours.poll(_GLANCE):
            return
        try:
            state, sent = ours.recv()
        except EOFError:
            state, sent = "failed", "Its process ended before it was done."
        if state != "running":
            self._end(job, state, sent)
        elif not job.ended:
            with self._changed:
                job.results.append(sent)


def _work(work: Work, alone: bool, memory: int, out: Connection) -> None:
    """Do the work in a separate process, and send each result."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is meant for the server, which ends this process
    out.send(do(work, lambda each: out.send(("running", each)), alone=alone, memory=memory))
