"""Do long work for the servers that share a Redis: `REDIS_URL=redis://host:6379/0 python -m ui.worker`.

One at a time, each in a process of its own: one worker on a machine leaves its measurements undisturbed.
"""

import os
import sys

from rq import Queue, Worker

from packviz.lab import cost, training
from ui.redis_jobs import QUEUE, connect


def main() -> None:
    """Work until SIGTERM or SIGINT comes; what runs then is finished first."""
    url = os.environ.get("REDIS_URL")
    if not url:
        sys.exit("Set REDIS_URL to the Redis that the servers use, for example redis://localhost:6379/0.")
    assert cost
    assert training  # loaded once, for the processes of all jobs, which are forked from this one
    redis = connect(url)
    Worker([Queue(QUEUE, connection=redis)], connection=redis).work(logging_level="WARNING")


if __name__ == "__main__":
    main()
