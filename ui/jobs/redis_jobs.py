"""Long work done by RQ's workers, on any machine, for the visitors of any number of servers, if REDIS_URL is set.

For each job Redis holds its task, how it ended, its results, and when each visitor who wants it was last present; RQ
holds its place in the queue, and ends it on timeout. The servers end the jobs that nobody wants any more.
"""

import pickle
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from redis import Redis, RedisError
from redis.backoff import ExponentialBackoff
from redis.retry import Retry
from rq import Queue, Worker, get_current_job
from rq.command import send_stop_job_command
from rq.exceptions import InvalidJobOperation, NoSuchJobError
from rq.job import Job, JobStatus
from rq.timeouts import JobTimeoutException

from classroom.background import going_on
from ui.jobs.work import GRACE, KEPT, MAX_WAITING, MEMORY, TIME_LIMIT, Progress, State, Task, Work, do

QUEUE = "packviz"
_OPEN = "packviz:open"  # the keys of all unfinished jobs
_EVERY = 2.0  # seconds between two checks of who is present
NO_WORKER = "No worker is running. This starts as soon as one does."
_AWAY = "The job queue cannot be reached. Running jobs continue; their results appear once it is back."
_STATES: dict[JobStatus | None, State] = {JobStatus.QUEUED: "waiting", JobStatus.STARTED: "running"}


def connect(url: str) -> Any:
    """Return a connection that retries for some seconds when it fails: a restart of Redis is not an error."""
    return Redis.from_url(url, retry=Retry(ExponentialBackoff(cap=1, base=0.05), 5), retry_on_error=[RedisError])


@contextmanager
def _reaching() -> Iterator[None]:
    """Raise OSError if Redis cannot be reached."""
    try:
        yield
    except RedisError as problem:
        raise OSError(_AWAY) from problem


class RedisJobs:
    """The jobs in Redis: the `Backend` of `ui.jobs.work` for any number of machines.

    present: returns whether a visitor of this server is present. limit, memory, grace: as in `ui.jobs.work`.
    """

    def __init__(
        self,
        url: str,
        present: Callable[[str], bool],
        *,
        limit: float = TIME_LIMIT,
        memory: int = MEMORY,
        grace: float = GRACE,
    ) -> None:
        self._redis, self._present = connect(url), present
        self._limit, self._memory, self._grace = limit, memory, grace
        self._queue = Queue(QUEUE, connection=self._redis)
        self._wanted: dict[str, set[str]] = {}  # by key: this server's visitors who want the job
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    @_reaching()
    def submit(self, visitor: str, task: Task) -> None:
        with self._redis.lock(f"packviz:submit:{task.key}", timeout=10):
            now = self.progress(task.key, visitor)
            if now is None or (now.over and now.state != "done"):
                self._enqueue(task, visitor)
            self._want(task.key, visitor)

    @_reaching()
    def progress(self, key: str, visitor: str) -> Progress | None:
        kept = self._redis.hgetall(_of(key))
        if not kept:
            return None
        done, place = self._redis.llen(_of(key, "results")), self._queue.get_job_position(key)
        before = 0 if place is None else place + self._queue.started_job_registry.count
        task, state, reason = pickle.loads(kept[b"task"]), self._state(key, kept), kept.get(b"reason", b"").decode()
        age = time.time() - float(kept.get(b"ended", b"inf")) if state == "done" else 0.0
        if state not in ("waiting", "running"):
            self._redis.srem(_OPEN, key)
        else:
            self._want(key, visitor)
        return Progress(task, state, done, before, reason or self._unsaid(state), max(age, 0.0))

    @_reaching()
    def stop(self, key: str, visitor: str) -> None:
        with self._lock:
            self._wanted.get(key, set()).discard(visitor)
        self._redis.zrem(_of(key, "wanted"), visitor)
        if not self._redis.zcard(_of(key, "wanted")):
            self._end(key)

    @_reaching()
    def result(self, key: str, since: int = 0) -> list[Any]:
        return [pickle.loads(each) for each in self._redis.lrange(_of(key, "results"), since, -1)]

    @_reaching()
    def counts(self) -> Mapping[State, int]:
        return {"waiting": self._queue.count, "running": self._queue.started_job_registry.count}

    def _enqueue(self, task: Task, visitor: str) -> None:
        """Put a visitor's task at the end of the queue, and delete what was stored under its key."""
        self._redis.delete(*_all_of(task.key))
        with suppress(NoSuchJobError):
            Job.fetch(task.key, connection=self._redis).delete()
        self._redis.hset(_of(task.key), "task", pickle.dumps(task))
        if self._queue.count > MAX_WAITING:
            _over(self._redis, task.key, "failed", f"{MAX_WAITING} other jobs are already waiting: try again later.")
            return
        self._redis.expire(_of(task.key), 24 * KEPT)
        self._redis.zadd(_of(task.key, "wanted"), {visitor: time.time()})  # or another server would end it at once
        self._redis.sadd(_OPEN, task.key)
        self._queue.enqueue_call(
            work_off,
            (task.key, task.work, task.measures, self._memory),
            timeout=self._limit,  # type: ignore[arg-type]
            result_ttl=KEPT,
            failure_ttl=KEPT,
            description=f"{task.name} {task.key}",
            job_id=task.key,
        )

    def _state(self, key: str, kept: dict[bytes, bytes]) -> State:
        """Return the state that the job itself recorded, or else what RQ knows."""
        if b"state" in kept:
            return kept[b"state"].decode()  # type: ignore[return-value]
        try:
            status = Job.fetch(key, connection=self._redis).get_status()
        except (NoSuchJobError, InvalidJobOperation):  # or it has been ended since
            said = self._redis.hget(_of(key), "state")
            return said.decode() if said else "failed"
        return "stopped" if status is JobStatus.STOPPED else _STATES.get(status, "failed")

    def _unsaid(self, state: State) -> str:
        if state == "waiting" and not Worker.count(queue=self._queue):
            return NO_WORKER
        return "Its process ended before it was done." if state == "failed" else ""

    def _end(self, key: str) -> None:
        """End a job that nobody wants."""
        if self._redis.hexists(_of(key), "state") or not self._redis.exists(_of(key)):
            return
        _over(self._redis, key, "stopped", "")
        with suppress(NoSuchJobError, InvalidJobOperation, ValueError):  # the last: an execution that has just ended
            job = Job.fetch(key, connection=self._redis)
            if job.get_status() is JobStatus.STARTED:
                send_stop_job_command(self._redis, key)
            else:
                job.delete()

    def _want(self, key: str, visitor: str) -> None:
        """Record that a visitor is present, and keep doing so while that is true."""
        self._redis.zadd(_of(key, "wanted"), {visitor: time.time()})
        with self._lock:
            self._wanted.setdefault(key, set()).add(visitor)
            if self._thread is None:
                self._thread = threading.Thread(target=self._look_after, name="packviz jobs", daemon=True)
                self._thread.start()

    def _look_after(self) -> None:
        while True:
            time.sleep(_EVERY)
            with going_on("Looking after the jobs"), suppress(RedisError):  # Redis may come back
                self._queue.started_job_registry.cleanup()  # of jobs whose worker is gone
                self._renew()
                self._end_the_unwanted()

    def _renew(self) -> None:
        """Record which of this server's visitors are present."""
        with self._lock:
            keys = {key: [each for each in visitors if self._present(each)] for key, visitors in self._wanted.items()}
        for key, there in keys.items():
            with self._lock:  # or a visitor who submits it again between these two lines would be forgotten
                if not (is_open := self._redis.sismember(_OPEN, key)):
                    del self._wanted[key]
            if is_open and there:
                self._redis.zadd(_of(key, "wanted"), dict.fromkeys(there, time.time()))

    def _end_the_unwanted(self) -> None:
        """End all servers' jobs whose visitors have been away for too long."""
        for key in (each.decode() for each in self._redis.smembers(_OPEN)):
            self._redis.zremrangebyscore(_of(key, "wanted"), 0, time.time() - self._grace)
            if not self._redis.zcard(_of(key, "wanted")):
                self._end(key)


def work_off(key: str, work: Work, alone: bool, memory: int) -> None:
    """Do the work of a job, in an RQ worker process."""
    job = get_current_job()
    assert job is not None
    redis: Any = job.connection

    def keep(result: Any) -> None:
        redis.rpush(_of(key, "results"), pickle.dumps(result))

    _over(redis, key, *do(work, keep, alone=alone, memory=memory, late=JobTimeoutException))


def _over(redis: Any, key: str, state: State, reason: str) -> None:
    """Record how a job ended, and keep its results for a while."""
    redis.hset(_of(key), mapping={"state": state, "reason": reason, "ended": time.time()})
    redis.srem(_OPEN, key)
    for name in _all_of(key):
        redis.expire(name, KEPT)


def _of(key: str, what: str = "") -> str:
    """Return the Redis key of a job, of its results, or of the visitors who want it."""
    return f"packviz:job:{key}{what and ':'}{what}"


def _all_of(key: str) -> Iterator[str]:
    return (_of(key, what) for what in ("", "results", "wanted"))
