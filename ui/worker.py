"""Do long work for the servers that share a Redis: `REDIS_URL=redis://host:6379/0 python -m ui.worker`.

One at a time, each in a process of its own: one worker on a machine leaves its measurements undisturbed.
"""

import ctypes
import os
import signal
import sys

from rq import Queue, Worker
from rq.job import Job

from packviz.lab import cost, training
from ui.redis_jobs import QUEUE, connect

LOST, _EVERY = 20, 5  # seconds without a sign of life, and between two
_WITH_ITS_PARENT = 1  # PR_SET_PDEATHSIG of Linux's prctl


def main() -> None:
    """Work until SIGTERM or SIGINT comes; what runs then is finished first."""
    url = os.environ.get("REDIS_URL")
    if not url:
        sys.exit("Set REDIS_URL to the Redis that the servers use, for example redis://localhost:6379/0.")
    assert cost
    assert training  # loaded once, for the processes of all jobs, which are forked from this one
    redis = connect(url)
    queues = [Queue(QUEUE, connection=redis)]
    _Worker(queues, connection=redis, job_monitoring_interval=_EVERY).work(logging_level="WARNING")


class _Worker(Worker):
    """A worker whose loss is noticed soon; the process of its job ends with it."""

    def get_heartbeat_ttl(self, job: Job, working_time: float = 0.0) -> int:  # noqa: ARG002
        """Return after how many seconds without a sign of life a job counts as lost."""
        return LOST

    def main_work_horse(self, job: Job, queue: Queue) -> None:
        """Do a job, in a process of its own."""
        if sys.platform == "linux":
            ctypes.CDLL(None).prctl(_WITH_ITS_PARENT, signal.SIGKILL)
        super().main_work_horse(job, queue)


if __name__ == "__main__":
    main()
