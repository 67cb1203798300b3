"""Openings: how many rooms one address may open, kept in memory alone and forgotten soon.

Joining is not counted: a whole class may share one address.
"""

from __future__ import annotations

import os
import time
from collections import deque

from classroom.refusal import RefusedError

MAX_OPENED, _WITHIN = 100, 600.0  # rooms of one address, seconds: a school may have one address, too


class Openings:
    """Count who opens rooms."""

    def __init__(self) -> None:
        self._most = int(os.environ.get("PACKVIZ_ROOMS") or MAX_OPENED)
        self._times: dict[str, deque[float]] = {}

    def count(self, address: str | None) -> None:
        """Count an opening; raises RefusedError where there were too many. address: None for a page of this server."""
        if address is None:
            return
        now = time.monotonic()
        for each, times in list(self._times.items()):
            while times and now - times[0] > _WITHIN:
                times.popleft()
            if not times:
                del self._times[each]
        times = self._times.setdefault(address, deque())
        if len(times) >= self._most:
            raise RefusedError(
                429, f"{self._most} rooms were opened from your address just now. Try again in ten minutes."
            )
        times.append(now)
