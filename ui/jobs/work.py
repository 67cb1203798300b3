"""Long work: the task, its progress, and how it is done in a separate process within limits."""

import hashlib
import os
import sys
import tempfile
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal, Protocol

Work = partial[Iterator[Any]]  # it and what it yields can be pickled
State = Literal["waiting", "running", "done", "stopped", "timeout", "memory", "failed"]
MAX_WAITING = 40
TIME_LIMIT = 300.0  # seconds that a job may run
MEMORY = 4 * 2**30  # bytes of address space that a job may use; torch and the other imports take a quarter
GRACE = 30.0  # seconds that a visitor may be away: a phone locks, a network drops, a server is replaced
KEPT = 3600  # seconds that results are kept


@dataclass(frozen=True)
class Task:
    """What is to be done, and how it is shown."""

    name: str  # of the work on its page
    settings: str  # in words
    steps: int  # the number of results
    work: Work
    show: Callable[[Sequence[Any]], None]  # draws the results so far
    measures: bool = False  # whether it measures time: then every run has its own results, and only one runs at a time
    # equal for the same kind of work with the same arguments, so that visitors share its results
    key: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        of = (self.work.func.__module__, self.work.func.__qualname__, self.work.args, self.work.keywords)
        said = repr(of) if not self.measures else uuid.uuid4().hex
        object.__setattr__(self, "key", self.key or hashlib.sha256(said.encode()).hexdigest()[:16])


@dataclass(frozen=True)
class Progress:
    """The progress of a job."""

    task: Task
    state: State
    done: int  # its results so far
    before: int = 0  # jobs that are to be done first
    reason: str = ""  # why it ended early, or waits, if there is more to say
    age: float = 0.0  # seconds since it was over

    @property
    def over(self) -> bool:
        """Whether nothing more will come."""
        return self.state not in ("waiting", "running")


class Backend(Protocol):
    """Run jobs: on this machine (`ui.jobs.local`), or by workers on any machine (`ui.jobs.redis_jobs`).

    A job is known by the key of its task. It is ended when its time or memory is up, or when nobody wants it any more:
    all who did have stopped it, or have been away for longer than GRACE. Where the job queue is on another machine and
    cannot be reached, all methods raise OSError with a sentence that says so.
    """

    def submit(self, visitor: str, task: Task) -> None:
        """Queue a task for a visitor, unless it is under way or its results are there already."""

    def progress(self, key: str, visitor: str) -> Progress | None:
        """Return the status of a job that the visitor wants; None if it is unknown or expired."""

    def stop(self, key: str, visitor: str) -> None:
        """Note that a visitor no longer wants a job."""

    def result(self, key: str, since: int = 0) -> list[Any]:
        """Return the results so far, without the first `since`."""

    def counts(self) -> Mapping[State, int]:
        """Return how many jobs wait and how many run, for the server's metrics."""


def do(
    work: Work, take: Callable[[Any], object], *, alone: bool, memory: int, late: type[Exception] = TimeoutError
) -> tuple[State, str]:
    """Do work in this process, which does nothing else; return how it ended, and the reason if it ended early.

    take: called with each result. alone: whether to wait until nothing else is measured on this machine.
    late: the exception that is raised in it on timeout.
    """
    _limit(memory)
    if "torch" in sys.modules:  # imported by work that computes
        sys.modules["torch"].set_num_threads(1)  # the matrices are small, and the other cores serve the visitors
    try:
        with _alone() if alone else nullcontext():
            for each in work():
                take(each)
    except late:
        return "timeout", ""
    except Exception as problem:  # reported to the visitor who started the work
        if isinstance(problem, MemoryError) or "allocate memory" in str(problem):
            return "memory", f"It needed more than {memory / 2**30:.2g} GB of memory, which is the limit for one job."
        return "failed", f"{type(problem).__name__}: {problem}"
    return "done", ""


def _limit(memory: int) -> None:
    """Limit the memory of this process to so many bytes, if the system has such a limit."""
    if os.name == "nt":
        return
    import resource

    _, most = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (memory if most == resource.RLIM_INFINITY else min(memory, most), most))


@contextmanager
def _alone() -> Iterator[None]:
    """Wait until no other process on this machine measures; the lock is released when this process ends."""
    if os.name == "nt":  # without fcntl
        yield
        return
    import fcntl

    with (Path(tempfile.gettempdir()) / f"packviz-measures-{os.getuid()}.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
