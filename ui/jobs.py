"""Long work, outside the pages' own runs: each job in a process of its own, one after another, at most one a visitor.

A process, not a thread: it computes without holding up the server's Python, it may set what belongs to a whole process,
and it can be ended at any moment.
"""

import multiprocessing
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import Any, Literal

__all__ = ["GRACE", "MAX_WAITING", "TIME_LIMIT", "Job", "Jobs", "Work"]

Work = Callable[[], Iterator[Any]]  # it and what it yields can be pickled
MAX_WAITING = 40
TIME_LIMIT = 300.0  # seconds that a job may run
GRACE = 30.0  # seconds that a visitor may be away: a phone that locks, a network that drops
_GLANCE = 0.1  # seconds between two looks at whether a job is still wanted
_SPAWN = multiprocessing.get_context("spawn")  # a fork would copy the server's locks as they happen to be


@dataclass(eq=False)
class Job:
    """Hold one piece of work: whose it is, what has come of it so far, and how it stands.

    results: what the work has yielded, in order. reason: why it failed or was stopped, where there is more to say.
    seen: when the visitor was last there.
    """

    visitor: str
    work: Work
    results: list[Any] = field(default_factory=list)
    state: Literal["waiting", "running", "done", "stopped", "timeout", "failed"] = "waiting"
    reason: str = ""
    seen: float = field(default_factory=time.monotonic)

    @property
    def over(self) -> bool:
        """Whether nothing more will come."""
        return self.state not in ("waiting", "running")


class Jobs:
    """A queue of jobs, and the one thread that has them done.

    present: tells whether a visitor is there; the job of a visitor who has been away for longer than `grace` seconds
    is ended, and none is started for a visitor who is away. limit: seconds that a job may run; its results so far stay.
    """

    def __init__(self, present: Callable[[str], bool], *, limit: float = TIME_LIMIT, grace: float = GRACE) -> None:
        self._present = present
        self._limit, self._grace = limit, grace
        self._queue: deque[Job] = deque()  # none of them is over; if one runs, it is the first
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None

    def start(self, visitor: str, work: Work) -> Job:
        """Queue a visitor's work, and end what the same visitor had started before."""
        job = Job(visitor, work)
        with self._changed:
            for other in [each for each in self._queue if each.visitor == visitor]:
                self.stop(other, "Another one was started in its place.")
            if len(self._queue) > MAX_WAITING:
                job.state, job.reason = "failed", f"{MAX_WAITING} others are waiting already: try again later."
                return job
            self._queue.append(job)
            if self._thread is None:
                self._thread = threading.Thread(target=self._serve, name="packviz jobs", daemon=True)
                self._thread.start()
            self._changed.notify_all()
        return job

    def stop(self, job: Job, reason: str = "") -> None:
        """End a job: one that waits at once, one that runs within a moment. reason: why, if its visitor did not ask."""
        self._end(job, "stopped", reason)

    def before(self, job: Job) -> int:
        """Return how many jobs are to be done before this one."""
        with self._changed:
            return self._queue.index(job) if job in self._queue else 0

    def _end(self, job: Job, state: Literal["done", "stopped", "timeout", "failed"], reason: str = "") -> None:
        with self._changed:
            if not job.over:
                job.state, job.reason = state, reason
                self._queue.remove(job)
            self._changed.notify_all()

    def _serve(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._queue)
                job = self._next()
                if job is None:
                    self._changed.wait(_GLANCE)
                    continue
                job.state = "running"
                self._queue.remove(job)
                self._queue.appendleft(job)
            self._have_done(job)

    def _next(self) -> Job | None:
        """Return the first job whose visitor is there."""
        self._forget_the_absent()
        return next((job for job in self._queue if self._present(job.visitor)), None)

    def _forget_the_absent(self) -> None:
        """End the jobs of visitors who have been away for too long."""
        now = time.monotonic()
        with self._changed:
            for job in list(self._queue):
                if self._present(job.visitor):
                    job.seen = now
                elif now - job.seen > self._grace:
                    self.stop(job)

    def _have_done(self, job: Job) -> None:
        """Start a process for a job and take what it sends, until it ends, is stopped, or its time is up."""
        end = time.monotonic() + self._limit
        ours, theirs = _SPAWN.Pipe(duplex=False)
        process = _SPAWN.Process(target=_work, args=(job.work, theirs), name="packviz job", daemon=True)
        try:
            process.start()
            theirs.close()
            while not job.over:
                self._forget_the_absent()
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

    def _take(self, job: Job, ours: Connection) -> None:
        if not ours.poll(_GLANCE):
            return
        try:
            kind, sent = ours.recv()
        except EOFError:
            kind, sent = "failed", "its process ended before it was done."
        if kind != "result":
            self._end(job, kind, sent)
        elif not job.over:
            job.results.append(sent)


def _work(work: Work, out: Connection) -> None:
    """Do the work, in a separate process, and send all that it yields."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is meant for the server, which ends this process
    if "torch" in sys.modules:  # work that computes has brought it along
        sys.modules["torch"].set_num_threads(1)  # the matrices are small, and the other cores serve the visitors
    try:
        for each in work():
            out.send(("result", each))
        out.send(("done", ""))
    except Exception as problem:  # told to the visitor, where the work was asked for
        out.send(("failed", f"{type(problem).__name__}: {problem}"))
