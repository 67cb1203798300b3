"""Do long work for the servers that share a Redis: `REDIS_URL=redis://host:6379/0 python -m ui.jobs.worker`.

One job at a time, each in a separate process: with one worker per machine, measurements are undisturbed.
"""

import ctypes
import os
import signal
import sys

from rq import Queue, Worker
from rq.job import Job

from packviz.lab import cost, training
from ui.jobs.redis_jobs import QUEUE, connect

LOST, _EVERY = 20, 5  # seconds without a heartbeat, and between two of them
_WITH_ITS_PARENT = 1  # PR_SET_PDEATHSIG of Linux's prctl


def main() -> None:
    """Work until SIGTERM or SIGINT arrives; a running job is finished first."""
    url = os.environ.get("REDIS_URL")
    if not url:
        sys.exit("Set REDIS_URL to the Redis that the servers use, for example redis://localhost:6379/0.")
    assert cost
    assert training  # loaded once, for all job processes, which are forked from this one
    redis = connect(url)
    queues = [Queue(QUEUE, connection=redis)]
    _Worker(queues, connection=redis, job_monitoring_interval=_EVERY).work(logging_level="WARNING")


class _Worker(Worker):
    """A worker whose loss is noticed quickly; its job's process ends with it."""

    def get_heartbeat_ttl(self, job: Job, working_time: float = 0.0) -> int:  # noqa: ARG002
        """Return after how many seconds without a heartbeat a job counts as lost."""
        return LOST

    def main_work_horse(self, job: Job, queue: Queue) -> None:
        """Do a job in a separate process."""
        if sys.platform == "linux":
            ctypes.CDLL(None).prctl(_WITH_ITS_PARENT, signal.SIGKILL)
        super().main_work_horse(job, queue)


if __name__ == "__main__":
    main()
