"""A piece of long work, how it stands, and how it is done in a process of its own, within limits."""

import hashlib
import math
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
MEMORY = 4 * 2**30  # bytes of address space that a job may have; torch and all that is imported take one quarter
GRACE = 30.0  # seconds that a visitor may be away: a phone that locks, a network that drops, a server that is replaced
KEPT = 3600  # seconds that results are kept


@dataclass(frozen=True)
class Task:
    """Say what is to be done, and how it is shown."""

    name: str  # of the work on its page
    told: str  # what it is done for, in words
    steps: int  # how many results there will be
    work: Work
    show: Callable[[Sequence[Any]], None]  # draws the results so far
    measures: bool = False  # whether it times something: then each run has its own numbers, and one runs at a time
    # other work of the same kind with the same arguments has the same one, and who asks for it shares its results
    key: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        of = (self.work.func.__module__, self.work.func.__qualname__, self.work.args, self.work.keywords)
        said = repr(of) if not self.measures else uuid.uuid4().hex
        object.__setattr__(self, "key", self.key or hashlib.sha256(said.encode()).hexdigest()[:16])


@dataclass(frozen=True)
class Progress:
    """Tell how a job stands."""

    task: Task
    state: State
    done: int  # its results so far
    reason: str = ""  # why it ended early, or waits, where there is more to say
    age: float = 0.0  # seconds since it was over

    @property
    def over(self) -> bool:
        """Whether nothing more will come."""
        return self.state not in ("waiting", "running")


class Backend(Protocol):
    """Have work done: on this machine (`ui.jobs`), or by workers anywhere (`ui.redis_jobs`).

    A job is known by the key of its task. It is ended when its time or memory is up, or when nobody wants it any more:
    all who did have stopped it, or have been away for longer than GRACE. Where what does the work is on other machines
    and cannot be reached, all raise OSError with a sentence that says so.
    """

    def submit(self, visitor: str, task: Task) -> None:
        """Have a task done for a visitor, unless it is under way or its results are there already."""

    def position(self, key: str) -> int:
        """Return how many jobs are to be done before this one."""

    def progress(self, key: str, visitor: str) -> Progress | None:
        """Return how a job stands, which the visitor wants; None where it is not known, or not any more."""

    def stop(self, key: str, visitor: str) -> None:
        """Let a visitor want a job no more."""

    def result(self, key: str, since: int = 0) -> list[Any]:
        """Return the results so far, but for the first `since`."""

    def counts(self) -> Mapping[State, int]:
        """Return how many jobs wait and how many run, for whoever runs the server."""


def do(
    work: Work,
    take: Callable[[Any], object],
    *,
    alone: bool,
    memory: int,
    late: type[Exception] = TimeoutError,
) -> tuple[State, str]:
    """Do work in this process, which serves nothing else; return how it ended, and why if it was early.

    take: is given each result. alone: whether to wait until nothing else is measured on this machine.
    late: what is raised in it when its time is up.
    """
    _limit(memory)
    if "torch" in sys.modules:  # work that computes has brought it along
        sys.modules["torch"].set_num_threads(1)  # the matrices are small, and the other cores serve the visitors
    try:
        with _alone() if alone else nullcontext():
            for each in work():
                take(each)
    except late:
        return "timeout", ""
    except Exception as problem:  # told to the visitor, where the work was asked for
        if isinstance(problem, MemoryError) or "allocate memory" in str(problem):
            return "memory", f"It needed more than {memory / 2**30:.2g} GB of memory, which is the limit for one job."
        return "failed", f"{type(problem).__name__}: {problem}"
    return "done", ""


def _limit(memory: int) -> None:
    """Let this process have no more than so many bytes of memory, where the system has such a limit."""
    try:
        import resource
    except ImportError:  # Windows
        return
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    limit = min(memory, most if most != resource.RLIM_INFINITY else math.inf)
    resource.setrlimit(resource.RLIMIT_AS, (int(limit), most))


@contextmanager
def _alone() -> Iterator[None]:
    """Wait until no other process of this machine measures; it ends with this one at the latest."""
    if os.name == "nt":  # without fcntl
        yield
        return
    import fcntl

    with (Path(tempfile.gettempdir()) / f"packviz-measures-{os.getuid()}.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
