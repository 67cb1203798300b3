"""Long work, outside the pages' own runs: each job in a process of its own, one after another, at most one a visitor.

A process, not a thread: it computes without holding up the server's Python, it may set what belongs to a whole process,
and it can be ended at any moment.
"""

import multiprocessing
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import Any, Literal

import torch

__all__ = ["MOST_WAITING", "Job", "Jobs", "Work"]

Work = Callable[[], Iterator[Any]]  # it and what it yields can be pickled
MOST_WAITING = 40
_GLANCE = 0.1  # seconds between two looks at whether a job is still wanted
_SPAWN = multiprocessing.get_context("spawn")  # a fork would copy the server's locks as they happen to be


@dataclass(eq=False)
class Job:
    """Hold one piece of work: whose it is, what has come of it so far, and how it stands.

    results: what the work has yielded, in order. reason: why it failed, if it did.
    """

    visitor: str
    work: Work
    results: list[Any] = field(default_factory=list)
    state: Literal["waiting", "running", "done", "stopped", "failed"] = "waiting"
    reason: str = ""

    @property
    def over(self) -> bool:
        """Whether nothing more will come."""
        return self.state in ("done", "stopped", "failed")


class Jobs:
    """A queue of jobs, and the one thread that has them done.

    present: tells whether a visitor is still there; the work of one who has left is ended.
    """

    def __init__(self, present: Callable[[str], bool]) -> None:
        self._present = present
        self._queue: deque[Job] = deque()  # the first one is the one that runs
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None

    def start(self, visitor: str, work: Work) -> Job:
        """Queue a visitor's work, and end what the same visitor had started before."""
        job = Job(visitor, work)
        with self._changed:
            self.leave(visitor)
            if sum(not each.over for each in self._queue) > MOST_WAITING:
                job.state, job.reason = "failed", f"{MOST_WAITING} others are waiting already: try again later."
                return job
            self._queue.append(job)
            if self._thread is None:
                self._thread = threading.Thread(target=self._serve, name="packviz jobs", daemon=True)
                self._thread.start()
            self._changed.notify_all()
        return job

    def stop(self, job: Job) -> None:
        """End a job: one that waits at once, one that runs within a moment."""
        with self._changed:
            if not job.over:
                job.state = "stopped"
            self._changed.notify_all()

    def leave(self, visitor: str) -> None:
        """End whatever a visitor has started."""
        with self._changed:
            for job in self._queue:
                if job.visitor == visitor:
                    self.stop(job)

    def before(self, job: Job) -> int:
        """Return how many jobs are to be done before this one."""
        with self._changed:
            wanted = [each for each in self._queue if not each.over]
            return wanted.index(job) if job in wanted else 0

    def _serve(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._queue)
                job = self._queue[0]
                if not job.over:
                    job.state = "running"
            if not job.over:
                self._have_done(job)
            with self._changed:
                self._queue.popleft()

    def _have_done(self, job: Job) -> None:
        """Start a process for a job and take what it sends, until it ends, is stopped, or nobody waits for it."""
        ours, theirs = _SPAWN.Pipe(duplex=False)
        process = _SPAWN.Process(target=_work, args=(job.work, theirs), name="packviz job", daemon=True)
        try:
            process.start()
            theirs.close()
            while not job.over:
                self._take(job, ours)
        except Exception as problem:  # whatever it is, the next job must have its turn
            job.state, job.reason = "failed", f"{type(problem).__name__}: {problem}"
        finally:
            if process.pid is not None:
                process.kill()
                process.join()
            ours.close()

    def _take(self, job: Job, ours: Connection) -> None:
        if not self._present(job.visitor):
            self.stop(job)
        elif ours.poll(_GLANCE):
            try:
                kind, sent = ours.recv()
            except EOFError:
                kind, sent = "failed", "its process ended before it was done."
            with self._changed:
                if job.over:
                    return
                if kind == "result":
                    job.results.append(sent)
                else:
                    job.state, job.reason = kind, sent


def _work(work: Work, out: Connection) -> None:
    """Do the work, in a process of its own, and send whatever it yields."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who presses Ctrl-C means the server, which ends this process
    torch.set_num_threads(1)  # the matrices are small, and the other cores serve the visitors
    try:
        for each in work():
            out.send(("result", each))
        out.send(("done", ""))
    except Exception as problem:  # told to the visitor, where the work was asked for
        out.send(("failed", f"{type(problem).__name__}: {problem}"))
